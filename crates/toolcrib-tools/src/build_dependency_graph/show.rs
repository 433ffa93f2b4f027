//! A graph in the forms it is asked for.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;
use toolcrib_code::query::graph::{Edge, Graph, Node};
use toolcrib_core::sanitize::{visible_field, visible_path};

use crate::support::listing::counted;

/// The kinds of import that go without saying.
const PLAIN: [&str; 4] = ["names", "module", "glob", "include"];
/// Names on one line at most.
const MANY: usize = 12;

pub(super) fn is_cut(graph: &Graph) -> bool {
    graph.nodes.len() < graph.total_nodes || graph.edges.len() < graph.total_edges
}

pub(super) fn what_is_cut(graph: &Graph, what: &str) -> String {
    format!(
        "{} of {} {what}s and {} of {} edges are shown: raise `limit`, or give a `path`",
        graph.nodes.len(),
        graph.total_nodes,
        graph.edges.len(),
        graph.total_edges
    )
}

/// For models: who needs what, a line a node, then what stands out.
pub(super) fn text(graph: &Graph, what: &str) -> String {
    let cycles = match graph.total_cycles {
        0 => "no cycles".to_owned(),
        count => counted(count, "cycle"),
    };
    let mut lines = vec![format!(
        "{}, {}, {cycles}, {}",
        counted(graph.total_nodes, what),
        counted(graph.total_edges, "edge"),
        counted(graph.layers, "layer"),
    )];
    for cycle in graph.cycles.iter().take(MANY) {
        let first = cycle.first().into_iter();
        let names: Vec<_> = cycle.iter().chain(first).map(|id| visible_path(id)).collect();
        lines.push(format!("cycle: {}", names.join(" -> ")));
    }
    if graph.total_cycles > MANY {
        lines.push(format!("and {} more cycles", graph.total_cycles - MANY));
    }
    let mut needs: BTreeMap<&str, Vec<&Edge>> = BTreeMap::new();
    for edge in &graph.edges {
        needs.entry(&edge.from).or_default().push(edge);
    }
    for (from, edges) in &needs {
        lines.push(format!("{} -> {}", visible_path(from), targets(edges)));
    }
    lines.extend(most_used(&graph.nodes));
    lines.extend(layers(graph));
    if !graph.external.is_empty() {
        let all = graph.external.iter();
        lines.push(listed(
            "external",
            all.map(|one| format!("{} {}", visible_field(&one.package, 80), one.importers)),
        ));
    }
    if graph.unresolved_total > 0 {
        let all = graph.unresolved.iter().take(MANY);
        let some: Vec<String> =
            all.map(|one| format!("{} {}", visible_path(&one.at), visible_field(&one.source, 80))).collect();
        let more = graph.unresolved_total.saturating_sub(some.len());
        let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
        lines.push(format!("unresolved: {}{rest}", some.join(", ")));
    }
    if is_cut(graph) {
        lines.push(format!("[{}]", what_is_cut(graph, what)));
    }
    lines.join("\n")
}

/// `lib/a.ts, src/{b.ts, c.ts (type)}`: several of one folder name it once.
fn targets(edges: &[&Edge]) -> String {
    let mut folders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for edge in edges {
        let (folder, name) = edge.to.rsplit_once('/').unwrap_or(("", &edge.to));
        let name = visible_path(name);
        let kind = if PLAIN.contains(&edge.kind) { String::new() } else { format!(" ({})", edge.kind) };
        folders.entry(folder).or_default().push(format!("{name}{kind}"));
    }
    let group = |(folder, names): (&str, Vec<String>)| {
        let folder = visible_path(folder);
        match names.as_slice() {
            names if folder.is_empty() => names.join(", "),
            [only] => format!("{folder}/{only}"),
            names => format!("{folder}/{{{}}}", names.join(", ")),
        }
    };
    folders.into_iter().map(group).collect::<Vec<_>>().join(", ")
}

fn listed(name: &str, items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(MANY);
    let shown: Vec<String> = items.take(MANY).collect();
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{name}: {}{rest}", shown.join(", "))
}

/// Those that several others need, and those that need several.
fn most_used(nodes: &[Node]) -> Vec<String> {
    let top = |name: &str, count: fn(&Node) -> usize| {
        let mut some: Vec<&Node> = nodes.iter().filter(|node| count(node) > 1).collect();
        some.sort_by_key(|node| (usize::MAX - count(node), node.id.clone()));
        some.truncate(8);
        let shown = some.iter().map(|node| format!("{} {}", visible_path(&node.id), count(node)));
        (!some.is_empty()).then(|| listed(name, shown))
    };
    [top("fan-in", |node| node.fan_in), top("fan-out", |node| node.fan_out)].into_iter().flatten().collect()
}

fn layers(graph: &Graph) -> Vec<String> {
    if graph.layers < 2 {
        return Vec::new();
    }
    let mut by: BTreeMap<usize, Vec<&Node>> = BTreeMap::new();
    for node in &graph.nodes {
        by.entry(node.layer).or_default().push(node);
    }
    let line = |(layer, nodes): (&usize, &Vec<&Node>)| {
        listed(&format!("layer {layer}"), nodes.iter().map(|node| visible_path(&node.id).into_owned()))
    };
    // The top ones say most; a deep chain is told by its length.
    by.iter().rev().take(MANY).map(line).collect()
}

pub(super) fn json(graph: &Graph) -> String {
    let nodes: Vec<_> = graph.nodes.iter().map(|node| json!({"id": node.id, "kind": node.kind})).collect();
    let all = json!({
        "nodes": nodes, "edges": graph.edges, "cycles": graph.cycles, "external": graph.external,
    });
    all.to_string()
}

/// Ids are numbers, because Mermaid takes some words and signs of a path for its own.
pub(super) fn mermaid(graph: &Graph) -> String {
    let numbers: HashMap<&str, usize> =
        graph.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let mut lines = vec!["graph LR".to_owned()];
    for (at, node) in graph.nodes.iter().enumerate() {
        let name = visible_path(&node.id).replace('#', "#35;").replace('"', "#quot;");
        lines.push(format!("  n{at}[\"{name}\"]"));
    }
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (numbers.get(edge.from.as_str()), numbers.get(edge.to.as_str())) else {
            continue;
        };
        let arrow = if matches!(edge.kind, "mod" | "type") { "-.->" } else { "-->" };
        lines.push(format!("  n{from} {arrow} n{to}"));
    }
    lines.join("\n")
}

pub(super) fn dot(graph: &Graph) -> String {
    let quoted = |id: &str| format!("\"{}\"", visible_path(id).replace('\\', "\\\\").replace('"', "\\\""));
    let mut lines = vec!["digraph dependencies {".to_owned()];
    lines.extend(graph.nodes.iter().map(|node| format!("  {};", quoted(&node.id))));
    lines.extend(graph.edges.iter().map(|edge| {
        let label = match edge.kind {
            kind if PLAIN.contains(&kind) => String::new(),
            kind => format!(" [label=\"{kind}\"]"),
        };
        format!("  {} -> {}{label};", quoted(&edge.from), quoted(&edge.to))
    }));
    lines.push("}".into());
    lines.join("\n")
}
