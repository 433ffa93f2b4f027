//! Which files or packages need which others.
//!
//! An edge is an import that leads to a file of the workspace. Rust's `mod x;` is an edge too, but one that says where a
//! module is and not that it is needed, so it counts neither for cycles nor for layers: every child that uses something
//! of its parent would be a cycle.

mod cycles;
mod edges;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;
use serde::Serialize;
use toolcrib_workspace::{Error, ErrorKind, Result};

use crate::index::Control;
use crate::resolve::Program;
use crate::search::PathFilter;
use cycles::Shape;
use edges::{FileEdges, edges_of};

/// Cycles to show at most.
const MAX_CYCLES: usize = 50;
/// Imports that lead nowhere to show at most.
const MAX_UNRESOLVED: usize = 20;
/// What makes a folder a package.
pub const MANIFESTS: [&str; 8] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
];

/// What the nodes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Files.
    #[default]
    File,
    /// Folders with a manifest; within one of those, folders.
    Package,
}

/// What to look at.
pub struct GraphQuery<'a> {
    /// Only what starts at or below this path.
    pub path: Option<String>,
    /// Files or packages.
    pub level: Level,
    /// How many steps to follow from there; none for as far as it goes from a file, and one step from a folder.
    pub depth: Option<usize>,
    /// Nodes to show at most.
    pub limit: usize,
    /// Whether there is a manifest at a path.
    pub is_manifest: &'a dyn Fn(&str) -> bool,
}

/// A file or package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its path.
    pub id: String,
    /// `file` or `package`.
    pub kind: &'static str,
    /// How many need it.
    pub fan_in: usize,
    /// How many it needs.
    pub fan_out: usize,
    /// 0 if it needs nothing of the others; else one more than the highest it needs.
    pub layer: usize,
}

/// That one needs another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// What needs.
    pub from: String,
    /// What is needed.
    pub to: String,
    /// How: the kind of the import, or `mod`.
    pub kind: &'static str,
}

/// A package outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct External {
    /// Its name.
    pub package: String,
    /// How many nodes import it.
    pub importers: usize,
}

/// An import that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unresolved {
    /// Where it is: `path:line`.
    pub at: String,
    /// The module, as written.
    pub source: String,
    /// Why.
    pub why: String,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Graph {
    /// By id.
    pub nodes: Vec<Node>,
    /// By ids.
    pub edges: Vec<Edge>,
    /// Every cycle in its order from its first id on; those of all nodes, shown or not.
    pub cycles: Vec<Vec<String>>,
    /// The most imported first.
    pub external: Vec<External>,
    /// The first imports that lead nowhere.
    pub unresolved: Vec<Unresolved>,
    /// How many of those there are.
    pub unresolved_total: usize,
    /// How many nodes there are, shown or not.
    pub total_nodes: usize,
    /// How many edges.
    pub total_edges: usize,
    /// How many cycles.
    pub total_cycles: usize,
    /// How many layers.
    pub layers: usize,
}

/// An edge between nodes by their numbers.
type Links = BTreeMap<(usize, usize), &'static str>;

/// The graph of what starts at a path.
pub fn graph(program: &Program, query: &GraphQuery<'_>, control: &Control<'_>) -> Result<Graph> {
    let files = program.snapshot().files();
    let filter = PathFilter::new(query.path.as_deref())?;
    let starts: Vec<u32> =
        (0_u32..).zip(files).filter(|(_, file)| filter.keeps(&file.path)).map(|(at, _)| at).collect();
    let is_file = query.path.as_deref().is_some_and(|path| program.file_at(path).is_some());
    let depth = query.depth.unwrap_or(if is_file { usize::MAX } else { 1 });
    let found = follow(program, &starts, depth, control)?;
    let members: BTreeSet<u32> =
        found.iter().flat_map(|(file, edges)| edges.to.keys().copied().chain([*file])).collect();
    let (ids, of_file) = match query.level {
        Level::File => {
            named(members.iter().filter_map(|file| Some((*file, program.file(*file)?.path.clone()))))
        }
        Level::Package => packages(program, &members, query.is_manifest),
    };
    let mut graph = Graph::default();
    let (links, loops) = links(program, query.level, &found, &of_file);
    outside(program, &found, &of_file, &mut graph);
    fill(graph, ids, &links, &loops, query)
}

/// The edges of the files, and of those they lead to, and so on.
fn follow(
    program: &Program,
    starts: &[u32],
    depth: usize,
    control: &Control<'_>,
) -> Result<BTreeMap<u32, FileEdges>> {
    let mut found: BTreeMap<u32, FileEdges> = BTreeMap::new();
    let mut next: Vec<u32> = starts.to_vec();
    let mut step = 0;
    while !next.is_empty() && step < depth.max(1) {
        let read: Vec<(u32, FileEdges)> = next
            .par_iter()
            .filter(|_| !control.is_cancelled())
            .map(|file| (*file, edges_of(program, *file)))
            .collect();
        if control.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
        }
        found.extend(read);
        let reached: BTreeSet<u32> = next
            .iter()
            .filter_map(|file| found.get(file))
            .flat_map(|edges| edges.to.keys().copied())
            .collect();
        next = reached.into_iter().filter(|file| !found.contains_key(file)).collect();
        step += 1;
    }
    Ok(found)
}

/// Numbers for names, in the order of the names, and the number of every file.
fn named(files: impl Iterator<Item = (u32, String)>) -> (Vec<String>, HashMap<u32, usize>) {
    let all: Vec<(u32, String)> = files.collect();
    let ids: BTreeSet<&String> = all.iter().map(|(_, id)| id).collect();
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    let of_file = all.iter().filter_map(|(file, id)| Some((*file, ids.binary_search(id).ok()?))).collect();
    (ids, of_file)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn shown(folder: &str) -> String {
    if folder.is_empty() { ".".to_owned() } else { folder.to_owned() }
}

/// Every file's package; where all of them are in one, its folder.
fn packages(
    program: &Program,
    members: &BTreeSet<u32>,
    is_manifest: &dyn Fn(&str) -> bool,
) -> (Vec<String>, HashMap<u32, usize>) {
    let mut known: HashMap<String, Option<String>> = HashMap::new();
    let mut nearest = |path: &str| {
        let mut passed: Vec<String> = Vec::new();
        let mut at = folder(path);
        let found = loop {
            if let Some(found) = known.get(at) {
                break found.clone();
            }
            passed.push(at.to_owned());
            let full = |name: &&str| if at.is_empty() { (*name).to_owned() } else { format!("{at}/{name}") };
            if MANIFESTS.iter().any(|name| is_manifest(&full(name))) {
                break Some(at.to_owned());
            }
            if at.is_empty() {
                break None;
            }
            at = folder(at);
        };
        known.extend(passed.into_iter().map(|folder| (folder, found.clone())));
        found
    };
    let paths: Vec<(u32, String)> =
        members.iter().filter_map(|file| Some((*file, program.file(*file)?.path.clone()))).collect();
    let own: Vec<Option<String>> = paths.iter().map(|(_, path)| nearest(path)).collect();
    let distinct: BTreeSet<&Option<String>> = own.iter().collect();
    let by_folder = distinct.len() <= 1;
    let id = |path: &str, own: &Option<String>| match own {
        Some(own) if !by_folder => shown(own),
        _ => shown(folder(path)),
    };
    named(paths.iter().zip(&own).map(|((file, path), own)| (*file, id(path, own))))
}

/// Edges between nodes, the strongest kind of each, and the nodes that need themselves.
fn links(
    program: &Program,
    level: Level,
    found: &BTreeMap<u32, FileEdges>,
    of_file: &HashMap<u32, usize>,
) -> (Links, BTreeSet<usize>) {
    let (mut links, mut loops) = (Links::new(), BTreeSet::new());
    for (file, edges) in found {
        for (to, kind) in &edges.to {
            let (Some(from), Some(to)) = (of_file.get(file), of_file.get(to)) else { continue };
            if from == to {
                // A module inside a Rust file that uses the one around it is no cycle.
                let rust = program.file(*file).is_some_and(|file| file.language.name == "rust");
                if level == Level::File && !rust {
                    loops.insert(*from);
                }
                continue;
            }
            let known = links.entry((*from, *to)).or_insert(kind);
            if edges::strength(kind) > edges::strength(known) {
                *known = kind;
            }
        }
    }
    (links, loops)
}

fn outside(
    program: &Program,
    found: &BTreeMap<u32, FileEdges>,
    of_file: &HashMap<u32, usize>,
    graph: &mut Graph,
) {
    let mut packages: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (file, edges) in found {
        let Some(node) = of_file.get(file) else { continue };
        for package in &edges.packages {
            packages.entry(package).or_default().insert(*node);
        }
        graph.unresolved_total += edges.unresolved.len();
        let Some(entry) = program.file(*file) else { continue };
        let room = MAX_UNRESOLVED.saturating_sub(graph.unresolved.len());
        graph.unresolved.extend(edges.unresolved.iter().take(room).map(|(line, source, why)| Unresolved {
            at: format!("{}:{line}", entry.path),
            source: source.clone(),
            why: why.clone(),
        }));
    }
    graph.external = packages
        .into_iter()
        .map(|(package, importers)| External { package: package.to_owned(), importers: importers.len() })
        .collect();
    graph.external.sort_by(|a, b| b.importers.cmp(&a.importers).then_with(|| a.package.cmp(&b.package)));
}

/// Shape and size, cut to what may be shown.
fn fill(
    mut graph: Graph,
    ids: Vec<String>,
    links: &Links,
    loops: &BTreeSet<usize>,
    query: &GraphQuery<'_>,
) -> Result<Graph> {
    let name = |node: &usize| ids.get(*node).cloned().unwrap_or_default();
    let needed = links.iter().filter(|(_, kind)| **kind != edges::MOD).map(|(pair, _)| *pair);
    let shape = Shape::of(ids.len(), needed);
    let (mut fan_in, mut fan_out) = (vec![0_usize; ids.len()], vec![0_usize; ids.len()]);
    for (from, to) in links.keys() {
        if let (Some(out), Some(into)) = (fan_out.get_mut(*from), fan_in.get_mut(*to)) {
            *out += 1;
            *into += 1;
        }
    }
    let kind = if query.level == Level::File { "file" } else { "package" };
    let at = |list: &[usize], node: usize| list.get(node).copied().unwrap_or(0);
    let node = |(number, id): (usize, &String)| Node {
        id: id.clone(),
        kind,
        fan_in: at(&fan_in, number),
        fan_out: at(&fan_out, number),
        layer: at(&shape.layers, number),
    };
    let all: Vec<Node> = ids.iter().enumerate().map(node).collect();
    // The best connected stay.
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|number| (usize::MAX - at(&fan_in, *number) - at(&fan_out, *number), *number));
    let kept: BTreeSet<usize> = order.into_iter().take(query.limit.max(1)).collect();
    let mut cycles = shape.cycles(MAX_CYCLES);
    cycles.listed.extend(loops.iter().map(|node| vec![*node]));
    graph.total_nodes = all.len();
    graph.total_edges = links.len();
    graph.total_cycles = cycles.total + loops.len();
    graph.layers = shape.layers.iter().max().map_or(0, |highest| highest + 1);
    graph.cycles = cycles.listed.iter().take(MAX_CYCLES).map(|one| one.iter().map(name).collect()).collect();
    graph.edges = links
        .iter()
        .filter(|((from, to), _)| kept.contains(from) && kept.contains(to))
        .take(query.limit.saturating_mul(8).max(1))
        .map(|((from, to), kind)| Edge { from: name(from), to: name(to), kind })
        .collect();
    graph.nodes = all
        .into_iter()
        .enumerate()
        .filter(|(number, _)| kept.contains(number))
        .map(|(_, node)| node)
        .collect();
    Ok(graph)
}
