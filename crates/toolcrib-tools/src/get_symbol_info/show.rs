//! How it is told.

use serde_json::json;
use toolcrib_code::query::{Callee, Caller, Member, SymbolInfo, Touch};
use toolcrib_code::resolve::Label;
use toolcrib_core::sanitize::{visible, visible_field, visible_path};
use toolcrib_core::{Hint, Render, RenderContext};

use super::Output;
use crate::support::code::notes;
use crate::support::listing::{counted, given};
use crate::support::symbols::{ambiguous, unless_resolved};

impl Render for Output {
    fn title(&self) -> String {
        let symbol = visible_field(&self.input.symbol, 60);
        match &self.info {
            Some(info) => {
                let name = visible_field(&info.name, 60);
                format!("{} {name} at {}:{}", info.kind, visible_path(&info.path), info.line)
            }
            None => format!("{} fit {symbol}", counted(self.fitting, "definition")),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let Some(info) = &self.info else {
            return ambiguous(&self.input.symbol, &self.candidates, self.fitting);
        };
        let mut text = head(info);
        let member = |one: &Member| {
            let path = one.path.as_ref().map_or_else(String::new, |path| format!("{}:", visible_path(path)));
            format!("{path}{}\t{}", one.line, visible_field(&one.signature, 300))
        };
        list(&mut text, "members", info.members.iter().map(member), info.members_total);
        let touched = |one: &Touch| {
            let name = one.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
            let place = format!("{}:{}{name}", visible_path(&one.path), one.line);
            format!("{}{}", visible_field(&place, 300), label(one.label))
        };
        list(&mut text, "implementors", info.implementors.iter().map(touched), info.implementors_total);
        let is_code = |caller: &&Caller| {
            let same = |test: &Touch| (&test.path, test.line) == (&caller.path, caller.line);
            !info.tests.iter().any(same)
        };
        let caller = |one: &Caller| {
            let name = one.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
            let times = if one.calls > 1 { format!(" ×{}", one.calls) } else { String::new() };
            let place = format!("{}:{}{name}{times}", visible_path(&one.path), one.line);
            format!("{}{}", visible_field(&place, 300), label(one.label))
        };
        let callers = info.callers.iter().filter(is_code).map(caller);
        list(&mut text, "callers", callers, info.callers_total.saturating_sub(info.tests_total));
        list(&mut text, "tests", info.tests.iter().map(touched), info.tests_total);
        let callee = |one: &Callee| {
            let place = format!("{} {}:{}", one.name, visible_path(&one.path), one.line);
            format!("{}{}", visible_field(&place, 300), label(one.label))
        };
        list(&mut text, "callees", info.callees.iter().map(callee), info.callees_total);
        if let Some(body) = &info.body {
            text.push_str(&format!("body:\n{}", visible(body)));
            if let Some(left) = info.body_lines_left {
                text.push_str(&format!("[{} more]\n", counted(left, "line")));
            }
        }
        text.push_str(&summary(info));
        text
    }

    fn hints(&self) -> Vec<Hint> {
        let Some(info) = &self.info else { return Vec::new() };
        let place = format!("{}:{}", info.path, info.line);
        let all = info.callers_total > info.callers.len();
        let callers = Hint::new("for all uses", "find_references", json!({"symbol": place}));
        let more = || {
            let mut input = given(&serde_json::to_value(&self.input).ok()?);
            input.as_object_mut()?.insert("limit".into(), json!(500));
            Some(Hint::new("for more of each", "get_symbol_info", input))
        };
        let left =
            info.members_total > info.members.len() || info.implementors_total > info.implementors.len();
        let members = left.then(more).flatten();
        all.then_some(callers).into_iter().chain(members).collect()
    }

    fn truncated(&self) -> bool {
        self.info.as_ref().is_some_and(|info| {
            info.members_total > info.members.len()
                || info.callers_total > info.callers.len()
                || info.callees_total > info.callees.len()
                || info.implementors_total > info.implementors.len()
                || info.body_lines_left.is_some()
        })
    }

    fn warnings(&self) -> Vec<String> {
        notes(&self.index)
    }
}

/// What and where it is, and what is written about it.
fn head(info: &SymbolInfo) -> String {
    let lines = match info.end_line > info.line {
        true => format!("{}-{}", info.line, info.end_line),
        false => info.line.to_string(),
    };
    let inside = info.parent.as_ref().map_or_else(String::new, |parent| format!("  [in {parent}]"));
    let hidden = if info.exported { "" } else { ", private" };
    let mut text = format!("{}{hidden} {}:{lines}{inside}\n", info.kind, visible_path(&info.path));
    if info.body.is_none() {
        text.push_str(&format!("{}\n", visible_field(&info.signature, 400)));
        if let Some(doc) = &info.doc {
            text.push_str(&format!("{}\n", visible(doc)));
        }
    }
    if !info.bases.is_empty() {
        text.push_str(&format!("bases: {}\n", visible_field(&info.bases.join(", "), 400)));
    }
    text
}

fn label(label: Label) -> String {
    unless_resolved(label).map_or_else(String::new, |label| format!(" ({label})"))
}

/// A list under its name, if there is anything in it.
fn list(text: &mut String, name: &str, items: impl Iterator<Item = String>, total: usize) {
    let lines: Vec<String> = items.collect();
    if lines.is_empty() {
        return;
    }
    text.push_str(&format!("{name}:\n"));
    for line in &lines {
        text.push_str(&format!("{line}\n"));
    }
    let left = total.saturating_sub(lines.len());
    if left > 0 {
        text.push_str(&format!("[{left} more]\n"));
    }
}

/// How much is known of its uses.
fn summary(info: &SymbolInfo) -> String {
    let counts = info.references;
    let mut text = counted(counts.resolved + counts.likely, "use");
    if counts.name_match > 0 {
        text.push_str(&format!("; {} more of the same name not resolved", counts.name_match));
    }
    if info.unresolved_calls > 0 {
        text.push_str(&format!("; {} in it not resolved", counted(info.unresolved_calls, "call")));
    }
    if !info.complete {
        text.push_str("; may be incomplete");
    }
    format!("[{text}]\n")
}
