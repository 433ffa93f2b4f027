//! From text to tree, and what must be true of a text before its tree can be believed.
//!
//! tree-sitter and bash do not agree on everything: to the grammar any Unicode space separates words, and an escaped space
//! may too. Whatever would be read differently is found here and makes the text not understood.

use super::word::HOLE;
use std::ops::ControlFlow;
use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// The longest text that is read.
pub(super) const LONGEST: usize = 64 * 1024;
/// How deep brackets may be nested.
const DEEPEST: usize = 64;
/// How often the parser may report progress before it is stopped.
const PATIENCE: usize = 20_000;

/// Parses bash; `None` when it would take too long.
pub(super) fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut left = PATIENCE;
    let mut progress = |_: &tree_sitter::ParseState| {
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Why a text is not even parsed.
pub(super) fn unreadable(text: &str) -> Option<&'static str> {
    if text.contains(HOLE) {
        return Some("what it does is only known by running it");
    }
    if text.len() > LONGEST {
        return Some("it is too long to be understood");
    }
    let (mut depth, mut deepest) = (0_usize, 0);
    for c in text.bytes() {
        match c {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > DEEPEST {
        return Some("it is nested too deeply to be understood");
    }
    text.chars().any(deceives).then_some("it has characters that hide what it does")
}

/// Characters that make a person read something else than the shell does.
pub(super) fn deceives(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
        || matches!(c, '\u{e0000}'..='\u{e007f}' | '\u{fff9}'..='\u{fffc}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}')
}

/// Whether a word looks like something else than it is: full-width letters, foreign slashes and dashes.
pub(super) fn lookalike(word: &str) -> bool {
    word.chars().any(|c| {
        matches!(c, '\u{ff01}'..='\u{ff5e}' | '\u{2010}'..='\u{2015}' | '\u{2044}' | '\u{2212}' | '\u{2215}' | '\u{2571}' | '\u{29f8}')
    })
}

/// Whether what lies between the leaves is what bash takes for a gap, and comments are where bash sees them. Here-documents
/// are left out: their text is not made of words.
pub(super) fn gaps_agree(node: Node<'_>, text: &str) -> bool {
    let mut cursor = node.walk();
    let mut end = node.start_byte();
    loop {
        let node = cursor.node();
        let body = node.kind() == "heredoc_body";
        if node.child_count() == 0 && !body {
            let gap = text.get(end..node.start_byte()).unwrap_or_default();
            // The grammar loses a lone dash before a here-document; it only says "standard input".
            let dash = node.kind().starts_with("<<")
                && gap.trim_matches([' ', '\t']) == "-"
                && gap.starts_with([' ', '\t']);
            if !(is_gap(gap) || dash) || !comment_agrees(node, text) {
                return false;
            }
            end = end.max(node.end_byte());
        }
        if body {
            end = end.max(node.end_byte());
        }
        if !body && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return is_gap(text.get(end..cursor.node().end_byte()).unwrap_or_default());
            }
        }
    }
}

fn is_gap(text: &str) -> bool {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\\\n") {
            rest = after;
        } else if matches!(c, ' ' | '\t' | '\n') {
            rest = rest.get(1..).unwrap_or_default();
        } else {
            return false;
        }
    }
    true
}

fn comment_agrees(node: Node<'_>, text: &str) -> bool {
    if node.kind() != "comment" {
        return true;
    }
    let before = text.get(..node.start_byte()).and_then(|before| before.chars().next_back());
    before.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'))
}

/// The text with line continuations inside words undone, if it has any.
pub(super) fn joined(text: &str) -> Option<String> {
    let mut found = false;
    let mut before = ' ';
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once("\\\n") {
        before = head.chars().next_back().unwrap_or(before);
        found |= !before.is_whitespace() && tail.chars().next().is_some_and(|c| !c.is_whitespace());
        rest = tail;
    }
    found.then(|| text.replace("\\\n", ""))
}

/// A piece of the text.
pub(super) fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}
