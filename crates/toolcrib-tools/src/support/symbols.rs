//! Symbols in questions and answers: what the tools about one symbol share.

use serde_json::json;
use toolcrib_code::index::Content;
use toolcrib_code::lang::Language;
use toolcrib_code::query::{Candidate, Missing, Wanted, split_place};
use toolcrib_code::resolve::{Label, Program};
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::sanitize::{visible_field, visible_path};
use toolcrib_core::{CallContext, ErrorCode, Hint, ToolError, Violations};
use toolcrib_workspace::ReadWorkspace;
use toolcrib_workspace::fs::directory::EntryKind;

use super::errors::tool_error;

/// No name is longer, nor any path to one.
const MAX_SYMBOL: usize = 1_000;

/// A symbol as it is asked for, with paths as the index has them.
pub(crate) struct Asked {
    symbol: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

/// What cannot be meant.
pub(crate) fn check(symbol: &str, line: Option<u32>, column: Option<u32>) -> Result<(), Violations> {
    let mut wrong = Vec::new();
    let mut add = |path: &str, expected: &str, got: String| {
        wrong.push(Violation { path: path.into(), expected: expected.into(), got });
    };
    let odd = symbol.trim().is_empty() || symbol.len() > MAX_SYMBOL || symbol.chars().any(char::is_control);
    if odd {
        let got = format!("{:?}", visible_field(symbol, 40));
        add("symbol", "a name, `Parent/name` or `path:line`", got);
    }
    for (path, number) in [("line", line), ("column", column)] {
        if number == Some(0) {
            add(path, "a number from 1", "0".into());
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

impl Asked {
    /// From the input of a tool.
    pub(crate) fn new(
        cx: &CallContext,
        symbol: &str,
        file: Option<&str>,
        line: Option<u32>,
        column: Option<u32>,
    ) -> Result<Self, ToolError> {
        let workspace = cx.get::<ReadWorkspace>()?;
        if let Some((path, line, at)) = split_place(symbol) {
            let (path, is_file) = place(&workspace, path)?;
            if !is_file {
                let message = format!("{}: a line is of a file, not of a folder", visible_path(&path));
                return Err(ToolError::new(ErrorCode::IsDirectory, message));
            }
            return Ok(Self {
                symbol: String::new(),
                file: Some(path),
                line: Some(line),
                column: at.or(column),
            });
        }
        let file = file.filter(|file| !file.trim().is_empty());
        let file = file.map(|file| place(&workspace, file)).transpose()?.map(|(path, _)| path);
        Ok(Self { symbol: symbol.trim().to_owned(), file, line, column })
    }

    pub(crate) fn wanted(&self) -> Wanted<'_> {
        Wanted { symbol: &self.symbol, file: self.file.as_deref(), line: self.line, column: self.column }
    }

    /// That a file which is named is one of the index, or why not.
    pub(crate) fn is_indexed(&self, cx: &CallContext, program: &Program) -> Result<(), ToolError> {
        let Some(path) = &self.file else { return Ok(()) };
        let shown = visible_path(path);
        let (why, suggestion) = match program.snapshot().file(path).map(|entry| &entry.content) {
            Some(Content::Facts { .. }) => return Ok(()),
            Some(Content::Skipped(why)) => (why.as_str().to_owned(), "Use grep or read_file on it."),
            Some(Content::Unreadable(why)) => (why.clone(), "Check that it can be read."),
            None => {
                let workspace = cx.get::<ReadWorkspace>()?;
                if workspace.stat(path).is_ok_and(|stat| stat.kind == EntryKind::Dir) {
                    return Ok(());
                }
                match Language::of_path(path) {
                    Some(_) => ("it is ignored".into(), "Use grep or read_file on it."),
                    None => ("it is in no language that is known".into(), "Use grep or read_file on it."),
                }
            }
        };
        let message = format!("{shown} is not in the index: {}", visible_field(&why, 200));
        Err(ToolError::new(ErrorCode::SymbolNotFound, message).suggest(suggestion))
    }
}

/// A path as the index has it, and whether it is a file's.
pub(crate) fn place(workspace: &ReadWorkspace, path: &str) -> Result<(String, bool), ToolError> {
    let stat = workspace.stat(path).map_err(|error| tool_error(&error))?;
    let found = workspace.locate(path).map_err(|error| tool_error(&error))?;
    Ok((found.display, stat.kind != EntryKind::Dir))
}

/// Nothing was found: what comes near, and how to look on.
pub(crate) fn not_found(missing: &Missing, symbol: &str) -> ToolError {
    let error = ToolError::new(ErrorCode::SymbolNotFound, visible_field(&missing.message, 400));
    let error = error.details(json!({"near": missing.near}));
    if missing.near.is_empty() {
        let query = visible_field(symbol, 80);
        return error.hint(Hint::new(
            "to look for the text",
            "grep",
            json!({"pattern": query, "literal": true}),
        ));
    }
    let near: Vec<String> = missing.near.iter().map(short).collect();
    error.suggest(format!("Did you mean {}?", near.join(", ")))
}

/// `Parent.name (path:line)`.
fn short(one: &Candidate) -> String {
    let parent = one.parent.as_ref().map_or_else(String::new, |parent| format!("{parent}."));
    let name = format!("{parent}{}", one.name);
    format!("{} ({}:{})", visible_field(&name, 100), visible_path(&one.path), one.line)
}

/// Candidates, a line each.
pub(crate) fn listed(candidates: &[Candidate], total: usize) -> String {
    let mut text = String::new();
    for one in candidates {
        let parent = one.parent.as_ref().map_or_else(String::new, |parent| format!("  [in {parent}]"));
        let head = format!("{}{parent}", one.signature);
        text.push_str(&format!("{}:{}\t{}", visible_path(&one.path), one.line, visible_field(&head, 400)));
        text.push('\n');
    }
    let left = total.saturating_sub(candidates.len());
    if left > 0 {
        text.push_str(&format!("[{left} more]\n"));
    }
    text
}

/// What to do about several definitions of a name.
pub(crate) fn ambiguous(symbol: &str, candidates: &[Candidate], total: usize) -> String {
    let symbol = visible_field(symbol, 100);
    let list = listed(candidates, total);
    format!("{total} definitions fit {symbol}. Name one by `path:line`, `Parent/name` or file:\n{list}")
}

/// The label where it is not the best.
pub(crate) fn unless_resolved(label: Label) -> Option<&'static str> {
    (label != Label::Resolved).then_some(label.as_str())
}
