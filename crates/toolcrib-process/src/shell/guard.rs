//! The last line: whatever could run or write something and was not looked at makes a text risky.
//!
//! The walk follows the tree, and the tree may hang something where the walk does not look, or hold it as text that only
//! bash would take apart. So after the walk every redirection, command and substitution must have been seen.

use super::Judgement;
use super::heredoc;
use super::parse::source;
use super::run::{Flow, Run};
use std::collections::HashSet;
use std::ops::Range;
use tree_sitter::Node;

/// What must be seen, apart from substitutions.
const SEEN: &[&str] = &["command", "file_redirect", "herestring_redirect", "heredoc_redirect"];

/// How many missed parts are searched; one is enough to make a text risky.
const MOST: usize = 32;

/// What was looked at of one text.
#[derive(Default)]
pub(super) struct Seen {
    nodes: HashSet<usize>,
    /// Where substitutions begin and, in backticks, end.
    marks: HashSet<usize>,
    /// What was read as a text of its own.
    wholes: Vec<Range<usize>>,
}

impl Seen {
    pub(super) fn node(&mut self, node: Node<'_>) {
        self.nodes.insert(node.id());
    }

    pub(super) fn substitution(&mut self, node: Node<'_>) {
        self.marks.insert(node.start_byte());
        self.marks.insert(node.end_byte().saturating_sub(1));
    }

    pub(super) fn whole(&mut self, range: Range<usize>) {
        self.wholes.push(range);
    }

    fn covers(&self, at: usize) -> bool {
        self.wholes.iter().any(|range| range.contains(&at))
    }
}

impl Run<'_> {
    /// Looks for what the walk has missed.
    pub(super) fn unseen(&mut self, root: Node<'_>, text: &str) {
        let mut stack = vec![root];
        let mut left = MOST;
        while let Some(node) = stack.pop() {
            // When more was there than is looked at, the text is risky already.
            if self.is_exhausted() || left == 0 {
                return;
            }
            if self.seen.covers(node.start_byte()) && node.kind() != "program" {
                // A here-document's text may begin where the whole does; what follows it is its sibling.
                if self.seen.covers(node.end_byte().saturating_sub(1)) {
                    continue;
                }
            }
            if SEEN.contains(&node.kind()) && !self.seen.nodes.contains(&node.id()) {
                left -= 1;
                self.not_understood(source(node, text), "it cannot be understood");
            }
            if node.kind() == "arithmetic_expansion" && !is_arithmetic(source(node, text)) {
                self.not_understood(source(node, text), "it cannot be understood");
            }
            let mut cursor = node.walk();
            stack.extend(node.named_children(&mut cursor));
        }
        self.unseen_marks(root, text);
    }

    /// Substitutions in text that the tree did not take apart.
    fn unseen_marks(&mut self, root: Node<'_>, text: &str) {
        let mut at = 0;
        while let Some(found) = text.get(at..).and_then(next_mark) {
            at += found;
            let rest = text.get(at..).unwrap_or_default();
            let step = if rest.starts_with('`') { 1 } else { 2 };
            if self.seen.marks.contains(&at) || self.seen.covers(at) || is_text(root, text, at) {
                at += step;
                continue;
            }
            if !self.burn() {
                return;
            }
            let code = heredoc::first(rest);
            let length = code.as_ref().map_or(rest.len(), |(_, end)| *end);
            match code {
                Some((code, _)) => {
                    self.apart(|run| run.nested(&code, &Flow::new().substituted()));
                    // Where it ends is certain only if nothing in it could hide a bracket.
                    if code.contains(['#', '\\', '\'', '"', '`'])
                        || code.contains("<<")
                        || code.contains("case")
                    {
                        self.found(rest, Vec::new(), 0, Judgement::risky("it cannot be understood"));
                    }
                }
                None => self.not_understood(rest, "it cannot be understood"),
            }
            at += length.max(step);
        }
    }
}

/// The distance to what could begin a substitution.
fn next_mark(text: &str) -> Option<usize> {
    ["`", "$(", "<(", ">("].iter().filter_map(|mark| text.find(mark)).min()
}

/// Whether what stands here is only text to bash: escaped, in single quotes, in a comment, or arithmetic.
fn is_text(root: Node<'_>, text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let escapes = before.bytes().rev().take_while(|c| *c == b'\\').count();
    let process = text.get(at..).is_some_and(|rest| rest.starts_with(['<', '>']));
    let mut node = root.descendant_for_byte_range(at, at + 1);
    let mut single = false;
    while let Some(inner) = node {
        match inner.kind() {
            "comment" => return true,
            "raw_string" | "ansi_c_string" => single = true,
            // Single quotes in double quotes are characters like any other.
            "string" | "translated_string" | "heredoc_body" => {
                return escapes % 2 == 1 || process;
            }
            "arithmetic_expansion" if inner.start_byte() == at || process => return true,
            "compound_statement" if process && source(inner, text).starts_with("((") => return true,
            "c_style_for_statement" if process && !in_body(inner, at) => return true,
            "command_substitution" | "process_substitution" => break,
            _ => {}
        }
        node = inner.parent();
    }
    single || escapes % 2 == 1
}

fn in_body(node: Node<'_>, at: usize) -> bool {
    node.child_by_field_name("body").is_some_and(|body| body.byte_range().contains(&at))
}

/// Whether bash takes `$((…))` for arithmetic too: the inner bracket must close right before the outer one.
fn is_arithmetic(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))")) else {
        // `$[…]`
        return text.starts_with("$[");
    };
    let mut depth = 0_i32;
    inner.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    }) && depth == 0
}
