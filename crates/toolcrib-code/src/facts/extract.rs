//! The walk over a syntax tree.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree, TreeCursor};

use super::cx::{Cx, Flow};
use super::{ARGS_UNKNOWN, DefId, ExprId, FileFacts, LineTable, Role, ScopeId};
use crate::lang::Language;

/// Larger files are not parsed: what is that large is generated or data.
pub const MAX_BYTES: u64 = 2 << 20;
/// A line longer than this in a file without many makes it a bundle.
const MAX_LINE: usize = 50_000;
/// No file may take longer to parse; error recovery can be slow on what is not the language at all.
const MAX_TIME: Duration = Duration::from_secs(5);

/// Why a file has no facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// More than [`MAX_BYTES`].
    TooLarge,
    /// Minified or generated: a line longer than any person writes.
    Bundle,
    /// Not text.
    Binary,
    /// The parser gave up.
    Unparsable,
}

impl Skipped {
    /// Said in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Skipped::TooLarge => "larger than 2 MiB",
            Skipped::Bundle => "a minified or generated bundle",
            Skipped::Binary => "not text",
            Skipped::Unparsable => "the parser gave up",
        }
    }
}

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// The facts of a file.
pub fn extract(bytes: &[u8], language: &'static Language) -> Result<FileFacts, Skipped> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Skipped::TooLarge);
    }
    if bytes.iter().take(8192).any(|byte| *byte == 0) {
        return Err(Skipped::Binary);
    }
    if is_bundle(bytes) {
        return Err(Skipped::Bundle);
    }
    let source = text_of(bytes);
    let tree = parse(&source, language)?;
    let rewritten = language.rewrite.and_then(|rewrite| rewrite(&source, &tree, language));
    let mut facts = match &rewritten {
        Some(instead) => walk(&instead.text, &instead.tree, &instead.macros, language),
        None => walk(&source, &tree, &[], language),
    };
    facts.lines = LineTable::of(source.as_bytes());
    Ok(facts)
}

/// The text, with one `?` for every byte that is no text, so that offsets stay what they are in the file.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let mut error = match std::str::from_utf8(bytes) {
        Ok(text) => return Cow::Borrowed(text),
        Err(error) => error,
    };
    let mut fixed = bytes.to_vec();
    let mut from = 0;
    loop {
        let bad = from + error.valid_up_to();
        let len = error.error_len().unwrap_or(fixed.len() - bad).max(1);
        fixed.iter_mut().skip(bad).take(len).for_each(|byte| *byte = b'?');
        from = bad + len;
        match std::str::from_utf8(fixed.get(from..).unwrap_or_default()) {
            Ok(_) => break,
            Err(next) => error = next,
        }
    }
    Cow::Owned(String::from_utf8_lossy(&fixed).into_owned())
}

fn is_bundle(bytes: &[u8]) -> bool {
    bytes.len() > MAX_LINE && bytes.split(|byte| *byte == b'\n').any(|line| line.len() > MAX_LINE)
}

/// Parses a text, within [`MAX_TIME`].
pub(crate) fn parse(source: &str, language: &'static Language) -> Result<Tree, Skipped> {
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&language.compiled().grammar).map_err(|_| Skipped::Unparsable)?;
        let started = Instant::now();
        let mut stop = |_: &tree_sitter::ParseState| {
            if started.elapsed() > MAX_TIME { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let bytes = source.as_bytes();
        let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
        let options = ParseOptions::new().progress_callback(&mut stop);
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        tree.ok_or(Skipped::Unparsable)
    })
}

fn walk(source: &str, tree: &Tree, macros: &[(u32, String)], language: &'static Language) -> FileFacts {
    let compiled = language.compiled();
    let mut cx = Cx::new(source, compiled);
    let mut saved: Vec<(ScopeId, DefId)> = Vec::new();
    let mut cursor: TreeCursor<'_> = tree.walk();
    // Most files have none, and asking every node costs.
    let has_errors = tree.root_node().has_error();
    loop {
        let node = cursor.node();
        saved.push((cx.scope, cx.definition));
        let mut flow = Flow::Children;
        if has_errors && (node.is_error() || node.is_missing()) {
            cx.facts.parse_errors += 1;
        } else if let Some(handler) = compiled.handler(node.kind_id()) {
            flow = handler(&mut cx, node);
        }
        if flow == Flow::Children && cursor.goto_first_child() {
            cx.above.push(node);
            continue;
        }
        loop {
            if let Some((scope, definition)) = saved.pop() {
                (cx.scope, cx.definition) = (scope, definition);
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                for (start, name) in macros {
                    let name = cx.intern(name);
                    cx.reference_at(name, *start, Role::Macro, ARGS_UNKNOWN, ExprId::NONE);
                }
                return cx.finish();
            }
            cx.above.pop();
        }
    }
}
