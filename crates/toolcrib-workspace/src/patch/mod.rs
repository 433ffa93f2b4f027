//! Patches in the two formats models write: `*** Begin Patch` and unified diffs.
//!
//! Parsing is forgiving about the wrapping (heredocs, code fences, padded markers, wrong line counts), and applying
//! is not forgiving about the place: a hunk that fits several places is refused unless an anchor, the order of the
//! hunks or a line number picks one. Context lines always stay as the file has them.

mod begin;
mod hunks;
mod place;
mod unified;

pub use hunks::apply_hunks;

use serde::Serialize;

use crate::edit::{Candidate, Divergence, RefusalKind};

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePatch {
    /// Creates a file, or overwrites one.
    Add {
        /// Where.
        path: String,
        /// The whole content.
        content: Vec<u8>,
    },
    /// Deletes a file.
    Delete {
        /// Which.
        path: String,
    },
    /// Changes a file, renames it, or both.
    Update {
        /// Which.
        path: String,
        /// Its new path.
        move_to: Option<String>,
        /// The changes, in the order of the file; none for a mere rename.
        hunks: Vec<Hunk>,
    },
}

impl FilePatch {
    /// The path that is patched.
    pub fn path(&self) -> &str {
        match self {
            FilePatch::Add { path, .. } | FilePatch::Delete { path } | FilePatch::Update { path, .. } => path,
        }
    }
}

/// One connected change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Lines that come before the change, outermost first (`@@ class A`, `@@ def b`).
    pub anchors: Vec<String>,
    /// What stays, goes and comes.
    pub lines: Vec<HunkLine>,
    /// The change is at the end of the file.
    pub end_of_file: bool,
    /// The line of the old file at which the change starts, 1-based, if the patch says so.
    pub old_start: Option<usize>,
    /// The patch says that the new file has no newline at its end.
    pub no_final_newline: bool,
}

/// One line of a hunk, without its sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkLine {
    /// Stays.
    Context(String),
    /// Goes.
    Remove(String),
    /// Comes.
    Add(String),
}

/// A patch that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PatchError {
    /// The line of the patch, 1-based.
    pub line: usize,
    /// What is wrong there, and what was expected.
    pub message: String,
}

impl PatchError {
    fn new(line: usize, message: impl Into<String>) -> PatchError {
        PatchError { line, message: message.into() }
    }
}

impl std::fmt::Display for PatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} of the patch: {}", self.line, self.message)
    }
}

impl std::error::Error for PatchError {}

/// A hunk that was not applied; nothing was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HunkRefusal {
    /// Why.
    pub kind: RefusalKind,
    /// Which hunk of the file, from 1.
    pub hunk: usize,
    /// What happened, in words.
    pub message: String,
    /// The places that fit, or the one that comes closest.
    pub candidates: Vec<Candidate>,
    /// Where the closest place first differs.
    pub first_divergence: Option<Divergence>,
    /// What to do next.
    pub suggestion: String,
}

impl std::fmt::Display for HunkRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.message)?;
        if let Some(divergence) = &self.first_divergence {
            writeln!(f, "First difference: {}", divergence.how)?;
        }
        for candidate in &self.candidates {
            write!(f, "Lines {}-{}:\n{}", candidate.start_line, candidate.end_line, candidate.text)?;
        }
        write!(f, "{}", self.suggestion)
    }
}

impl std::error::Error for HunkRefusal {}

impl Hunk {
    /// The lines without carriage returns: which ending a line gets is the file's affair.
    fn without_cr(mut self) -> Self {
        for line in &mut self.lines {
            let (HunkLine::Context(text) | HunkLine::Remove(text) | HunkLine::Add(text)) = line;
            text.truncate(text.trim_end_matches('\r').len());
        }
        self
    }
}

/// The lines of a patch. A carriage return belongs to the content (of a new file), unless the patch itself is written
/// with CRLF: then its own lines, the headers, end in it too.
fn lines(patch: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = patch.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let own =
        |line: &&str| ["@@", "--- ", "+++ ", "***", "diff --git "].iter().any(|mark| line.starts_with(mark));
    if lines.iter().filter(|line| own(line)).any(|line| line.ends_with('\r')) {
        lines.iter_mut().for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
    }
    lines
}

/// Whether a patch asks for file modes, which are not changed.
pub fn asks_for_modes(patch: &str) -> bool {
    lines(patch).windows(2).any(
        |pair| matches!(pair, [old, new] if old.starts_with("old mode ") && new.starts_with("new mode ")),
    )
}

/// Parses a patch of either format.
pub fn parse(patch: &str) -> Result<Vec<FilePatch>, PatchError> {
    let lines = lines(patch);
    let files = if let Some(start) = lines.iter().position(|line| begin::starts(line)) {
        begin::parse(&lines, start)?
    } else if let Some(start) = unified::start(&lines) {
        unified::parse(&lines, start)?
    } else {
        return Err(PatchError::new(
            1,
            "this is neither a `*** Begin Patch` patch nor a unified diff; start with `*** Begin Patch`, then \
             `*** Update File: path`, `@@`, lines that start with ' ', '-' or '+', and `*** End Patch`",
        ));
    };
    if files.is_empty() {
        return Err(PatchError::new(lines.len().max(1), "the patch changes no file's content"));
    }
    Ok(files)
}
