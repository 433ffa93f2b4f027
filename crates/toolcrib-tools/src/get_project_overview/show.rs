//! The text of an overview: sections of lines, of which the least important go first when there is no room.

use toolcrib_code::project::{Folder, Overview, StackPart};
use toolcrib_core::sanitize::{visible, visible_field};
use toolcrib_core::tokens;

use crate::support::project::{command_lines, field};

/// A section: its name, its heading, and its lines from the most to the least important.
struct Section {
    name: &'static str,
    heading: &'static str,
    lines: Vec<String>,
}

/// The text within `budget` tokens, and what it leaves out.
pub(super) fn within(overview: &Overview, budget: usize) -> (String, Vec<String>) {
    let mut sections = sections(overview);
    if sections.is_empty() {
        return ("Nothing found: no README, no manifest, no code.".into(), Vec::new());
    }
    let full: Vec<usize> = sections.iter().map(|section| section.lines.len()).collect();
    let mut text = render(&sections, &full);
    // Always from the section that is least important for its length: halve it, then the next one, until it fits.
    const ORDER: &[&str] = &["docs", "layout", "stack", "entry_points", "commands", "purpose"];
    const KEEP: &[usize] = &[8, 4, 2, 1, 0];
    for keep in KEEP {
        for name in ORDER {
            if tokens::fits(&visible(&text), budget) {
                return (text, omitted(&sections, &full));
            }
            if let Some(section) = sections.iter_mut().find(|section| section.name == *name) {
                let keep = if *name == "purpose" && *keep > 0 { 1 } else { *keep };
                section.lines.truncate(keep);
                text = render(&sections, &full);
            }
        }
    }
    let left = omitted(&sections, &full);
    (if tokens::fits(&visible(&text), budget) { text } else { "[no room]".to_owned() }, left)
}

/// `docs: 3 of 12`, for every section that lost lines.
fn omitted(sections: &[Section], full: &[usize]) -> Vec<String> {
    let lost = sections.iter().zip(full).filter(|(section, all)| section.lines.len() < **all);
    lost.map(|(section, all)| format!("{}: {} of {all}", section.name, all - section.lines.len())).collect()
}

fn render(sections: &[Section], full: &[usize]) -> String {
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.lines.is_empty()) {
        if !section.heading.is_empty() {
            text.push_str(section.heading);
            text.push('\n');
        }
        for line in &section.lines {
            text.push_str(line);
            text.push('\n');
        }
    }
    let left = omitted(sections, full);
    if !left.is_empty() {
        text.push_str(&format!("[left out: {}]", left.join(", ")));
    }
    text.trim_end().to_owned()
}

fn sections(overview: &Overview) -> Vec<Section> {
    let purpose = overview
        .purpose
        .iter()
        .map(|said| format!("{} ({})", visible_field(&said.text, 700), field(&said.source)));
    let entries = overview.entry_points.iter().map(|entry| {
        let source = if entry.source == format!("{}:1", entry.path) {
            String::new()
        } else {
            format!(" ({})", field(&entry.source))
        };
        format!("  {}: {}{source}", entry.kind, field(&entry.path))
    });
    let docs = overview.docs.iter().map(|doc| {
        let headings = doc.headings.join("; ");
        let headings = if headings.is_empty() { headings } else { format!(": {headings}") };
        format!("  {} {}{}", field(&doc.source), field(&doc.title), visible_field(&headings, 160))
    });
    let all = [
        Section { name: "purpose", heading: "", lines: purpose.collect() },
        Section { name: "stack", heading: "Stack:", lines: stack(&overview.stack) },
        Section { name: "layout", heading: "Layout:", lines: overview.layout.iter().map(folder).collect() },
        Section { name: "entry_points", heading: "Entry points:", lines: entries.collect() },
        Section { name: "commands", heading: "Commands:", lines: commands(overview) },
        Section { name: "docs", heading: "Documents:", lines: docs.collect() },
    ];
    all.into_iter().filter(|section| !section.lines.is_empty()).collect()
}

/// The most important of each kind first, so that cutting keeps one to build and one to test with.
fn commands(overview: &Overview) -> Vec<String> {
    let first = command_lines(&overview.commands, 1);
    let mut all = first;
    for line in command_lines(&overview.commands, 4) {
        if !all.contains(&line) {
            all.push(line);
        }
    }
    all
}

/// A line a kind.
fn stack(parts: &[StackPart]) -> Vec<String> {
    let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
    for part in parts {
        let detail = part.detail.as_ref().map_or(String::new(), |detail| format!(" {}", field(detail)));
        let shown = format!("{}{detail} ({})", field(&part.name), field(&part.source));
        match kinds.iter_mut().find(|(kind, _)| *kind == part.kind) {
            Some((_, list)) => list.push(shown),
            None => kinds.push((part.kind, vec![shown])),
        }
    }
    let line = |(kind, list): (&str, Vec<String>)| {
        let more = list.len().saturating_sub(10);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        format!("  {kind}: {}{more}", list.into_iter().take(10).collect::<Vec<_>>().join(", "))
    };
    kinds.into_iter().map(line).collect()
}

fn folder(folder: &Folder) -> String {
    let language = folder.language.map_or(String::new(), |language| format!(", {language}"));
    let about = folder.about.as_ref().map_or_else(
        || {
            format!(
                ": {}",
                folder.contains.iter().take(8).map(|name| field(name)).collect::<Vec<_>>().join(" ")
            )
        },
        |about| format!(": {} ({})", field(about), field(&folder.source)),
    );
    format!("  {} {} files{language}{about}", field(&folder.path), folder.files)
}
