//! Search and replace in a file's bytes, by a ladder of ever more tolerant matches.
//!
//! Every rung demands one match. A wrong edit is far worse than a refused one, so below certainty the answer is a
//! [`Refusal`] that shows the closest region and where it first differs. An edit splices: bytes outside of it stay,
//! whatever they are.

mod anchored;
pub(crate) mod build;
pub(crate) mod closest;
mod edges;
mod escapes;
pub(crate) mod find;
pub(crate) mod indent;
mod inline;
pub(crate) mod lines;
mod pairing;
mod reading;
mod refuse;
mod repeated;
mod settle;
pub(crate) mod variants;

use std::ops::Range;

use serde::Serialize;

use crate::text::{self, Encoding};

/// One replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The text to find.
    pub old: String,
    /// What takes its place.
    pub new: String,
    /// Replace every match instead of demanding a single one.
    pub replace_all: bool,
    /// Among several equal matches, take the one nearest to this line.
    pub near_line: Option<usize>,
    /// How many matches there must be; above one, all of them are replaced.
    pub expected_count: Option<usize>,
}

impl Edit {
    /// Replaces the one place that has `old`.
    pub fn new(old: impl Into<String>, new: impl Into<String>) -> Edit {
        Edit { old: old.into(), new: new.into(), ..Edit::default() }
    }
}

/// The rung of the ladder that found the match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Byte for byte.
    Exact,
    /// Line endings differed.
    LineEndings,
    /// Trailing whitespace, blank lines or typographic punctuation differed.
    Whitespace,
    /// Indentation differed, and the replacement was re-indented.
    Reindent,
    /// Line numbers were left in.
    LineNumbers,
    /// Newlines or quotes were escaped.
    Unescape,
    /// A line that stays was remembered wrongly; the file's line was kept.
    Anchored,
}

impl Strategy {
    /// The name used in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Exact => "exact",
            Strategy::LineEndings => "line_endings",
            Strategy::Whitespace => "whitespace",
            Strategy::Reindent => "reindent",
            Strategy::LineNumbers => "line_numbers",
            Strategy::Unescape => "unescape",
            Strategy::Anchored => "anchored",
        }
    }
}

/// How one edit was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// The rung that matched.
    pub strategy: Strategy,
    /// How many places were replaced.
    pub count: usize,
    /// First and last line of what was written, 1-based, in the resulting file.
    pub lines: (usize, usize),
    /// What the caller should know about it, if anything.
    pub note: Option<String>,
}

/// A file with all edits applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole new content.
    pub bytes: Vec<u8>,
    /// What was done, in the order of the edits.
    pub edits: Vec<Applied>,
}

/// Why an edit was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalKind {
    /// The text is not in the file, or not with certainty.
    NoMatch,
    /// It is there more than once.
    Ambiguous,
    /// There is nothing to look for.
    EmptyOld,
    /// Old and new are the same, or the result would be.
    NoChange,
    /// Another number of matches than expected.
    CountMismatch,
    /// The new text is there and the old is not.
    AlreadyApplied,
    /// The result could not be stored in the file's encoding without loss.
    NotLossless,
    /// It needs text that an earlier edit of the same call replaced.
    Overlap,
    /// The new text leaves code out (`// ... existing code ...`).
    Placeholder,
}

impl RefusalKind {
    /// The name used in results.
    pub fn as_str(self) -> &'static str {
        match self {
            RefusalKind::NoMatch => "no_match",
            RefusalKind::Ambiguous => "ambiguous",
            RefusalKind::EmptyOld => "empty_old",
            RefusalKind::NoChange => "no_change",
            RefusalKind::CountMismatch => "count_mismatch",
            RefusalKind::AlreadyApplied => "already_applied",
            RefusalKind::NotLossless => "not_lossless",
            RefusalKind::Overlap => "overlap",
            RefusalKind::Placeholder => "placeholder",
        }
    }
}

/// A region of the file that may have been meant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// First line, 1-based.
    pub start_line: usize,
    /// Last line, 1-based.
    pub end_line: usize,
    /// Its lines with their numbers (`N⇥text`), bounded.
    pub text: String,
    /// From 0 to 1.
    pub similarity: f32,
}

/// The first line at which a search text and the closest region differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// The line of the file, 1-based.
    pub file_line: usize,
    /// What the search text has there.
    pub expected: String,
    /// What the file has there.
    pub found: String,
    /// Both in one sentence, with whitespace made visible if nothing else differs.
    pub how: String,
}

/// An edit that was not applied; nothing was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    /// Why.
    pub kind: RefusalKind,
    /// Which edit, from 0.
    pub edit_index: usize,
    /// What happened, in words.
    pub message: String,
    /// The regions that match, or the one that comes closest.
    pub candidates: Vec<Candidate>,
    /// Where the closest region first differs.
    pub first_divergence: Option<Divergence>,
    /// What to do next.
    pub suggestion: String,
}

impl std::fmt::Display for Refusal {
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

impl std::error::Error for Refusal {}

/// Applies edits in order, each to the result of the one before: all of them, or none.
pub fn apply(bytes: &[u8], edits: &[Edit]) -> Result<Edited, Box<Refusal>> {
    let body = Body::open(bytes).map_err(|message| Box::new(refuse::not_lossless(0, message)))?;
    let original = body.bytes.clone();
    let mut current = body.bytes.clone();
    let mut applied: Vec<(Applied, Range<usize>)> = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let step = settle::settle(&current, edit, index, body.encoding).map_err(|refusal| {
            let touched = applied.iter().map(|(_, range)| range.clone()).collect::<Vec<_>>();
            Box::new(refuse::explain_overlap(*refusal, &original, &current, edit, &touched))
        })?;
        let range = splice(&mut current, &step.splices, &mut applied);
        let applied_now =
            Applied { strategy: step.strategy, count: step.splices.len(), lines: (0, 0), note: step.note };
        applied.push((applied_now, range));
    }
    let edits = number_lines(&current, applied);
    Ok(Edited { bytes: body.close(current), edits })
}

/// A file without its byte order mark, in the form that is edited.
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) encoding: Encoding,
    mark: &'static [u8],
}

impl Body {
    /// Opens a file for editing, unless that would lose something.
    pub(crate) fn open(bytes: &[u8]) -> Result<Body, String> {
        let encoding = Encoding::of(bytes);
        if matches!(encoding, Encoding::Utf16Le | Encoding::Utf16Be) {
            let decoded = text::decode(bytes);
            if text::encode(&decoded.text, encoding) != bytes {
                return Err(format!("The file claims to be {} but is not valid.", encoding.as_str()));
            }
            return Ok(Body { bytes: decoded.text.into_bytes(), encoding, mark: b"" });
        }
        let mark = Encoding::Utf8Bom.bom();
        match bytes.strip_prefix(mark) {
            Some(rest) => Ok(Body { bytes: rest.to_vec(), encoding, mark }),
            None => Ok(Body { bytes: bytes.to_vec(), encoding, mark: b"" }),
        }
    }

    /// The whole file again.
    pub(crate) fn close(&self, bytes: Vec<u8>) -> Vec<u8> {
        if matches!(self.encoding, Encoding::Utf16Le | Encoding::Utf16Be) {
            // Only valid text was spliced into valid text, at character borders.
            return text::encode(&String::from_utf8_lossy(&bytes), self.encoding);
        }
        let mut out = self.mark.to_vec();
        out.extend(bytes);
        out
    }
}

/// A byte range and what takes its place.
pub(crate) type Splice = (Range<usize>, Vec<u8>);

/// Puts non-overlapping splices in place, moves the ranges of earlier edits along, and returns where it all went.
fn splice(
    current: &mut Vec<u8>,
    splices: &[Splice],
    earlier: &mut [(Applied, Range<usize>)],
) -> Range<usize> {
    let mut out = Vec::with_capacity(current.len());
    let mut from = 0;
    let mut written: Option<Range<usize>> = None;
    for (range, bytes) in splices {
        out.extend_from_slice(current.get(from..range.start).unwrap_or_default());
        let start = out.len();
        out.extend_from_slice(bytes);
        written = Some(written.map_or(start, |range| range.start)..out.len());
        from = range.end;
    }
    out.extend_from_slice(current.get(from..).unwrap_or_default());
    *current = out;
    let moved = |offset: usize, end: bool| {
        let mut at = offset;
        for (range, bytes) in splices {
            if range.end <= offset {
                at = (at + bytes.len()).saturating_sub(range.len());
            } else if range.start < offset {
                // Inside of what was replaced: its border is the best there is.
                let into = offset - range.start;
                at = if end { at - into + bytes.len() } else { at - into };
            }
        }
        at
    };
    for (_, range) in earlier {
        *range = moved(range.start, false)..moved(range.end, true);
    }
    written.unwrap_or(0..0)
}

fn number_lines(bytes: &[u8], applied: Vec<(Applied, Range<usize>)>) -> Vec<Applied> {
    let newlines =
        |range: Range<usize>| bytes.get(range).unwrap_or_default().iter().filter(|b| **b == b'\n').count();
    applied
        .into_iter()
        .map(|(mut applied, range)| {
            let start = range.start.min(bytes.len());
            let end = range.end.clamp(start, bytes.len());
            let first = 1 + newlines(0..start);
            // A final newline belongs to the line it ends.
            let last = first + newlines(start..end.saturating_sub(1).max(start));
            applied.lines = (first, last);
            applied
        })
        .collect()
}
