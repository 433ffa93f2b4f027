//! Refusals that help: what was found instead, where, and what to do next.

use std::ops::Range;

use super::closest::{closest, show};
use super::find::{self, Found, MAX_MATCHES};
use super::lines::{self, Lines};
use super::settle::is_missing;
use super::{Candidate, Edit, Refusal, RefusalKind, Splice, variants};

/// How many matches an ambiguous edit lists with their content.
const MAX_CANDIDATES: usize = 8;

/// What every message ends with.
const UNWRITTEN: &str = " Nothing was written.";

/// Adds a sentence to a message.
fn add(refusal: &mut Refusal, sentence: &str) {
    let said = refusal.message.strip_suffix(UNWRITTEN).unwrap_or(&refusal.message);
    refusal.message = format!("{said} {sentence}{UNWRITTEN}");
}

fn refusal(kind: RefusalKind, edit_index: usize, message: String, suggestion: &str) -> Refusal {
    Refusal {
        kind,
        edit_index,
        message: message + UNWRITTEN,
        candidates: Vec::new(),
        first_divergence: None,
        suggestion: suggestion.to_owned(),
    }
}

pub(crate) fn empty_old(index: usize) -> Refusal {
    refusal(
        RefusalKind::EmptyOld,
        index,
        "old_string is empty, so there is no place to edit.".to_owned(),
        "To insert, repeat a neighbouring line in old_string and in new_string and add the new lines to the latter. \
         To create a file or replace all of it, write the whole file.",
    )
}

pub(crate) fn no_change(index: usize) -> Refusal {
    refusal(
        RefusalKind::NoChange,
        index,
        "old_string and new_string are the same.".to_owned(),
        "Give the text as it should become in new_string.",
    )
}

pub(crate) fn nothing_left(bytes: &[u8], index: usize, splices: &[Splice]) -> Refusal {
    let mut out = refusal(
        RefusalKind::NoChange,
        index,
        "The file already reads as new_string says; the difference from old_string is only in what the file does not \
         have."
            .to_owned(),
        "If something should change, read the region again and repeat its exact text in old_string.",
    );
    let file = Lines::new(bytes, false);
    out.candidates.extend(splices.first().map(|(range, _)| region(&file, range, 0)));
    out
}

pub(crate) fn placeholder(index: usize, line: &str) -> Refusal {
    refusal(
        RefusalKind::Placeholder,
        index,
        format!(
            "new_string contains `{line}`, which stands for code that was left out and would replace it."
        ),
        "Write out the whole replacement, or make several smaller edits that leave the code between them alone.",
    )
}

pub(crate) fn not_lossless(index: usize, message: String) -> Refusal {
    refusal(
        RefusalKind::NotLossless,
        index,
        message,
        "Keep the edit to ASCII text away from those bytes, or convert the file to UTF-8 first.",
    )
}

/// A byte range as a region with line numbers.
fn region(file: &Lines<'_>, range: &Range<usize>, around: usize) -> Candidate {
    let last = range.end.saturating_sub(1).max(range.start);
    show(file, file.at(range.start), file.at(last), around, 1.0)
}

pub(crate) fn already_applied(file: &Lines<'_>, index: usize, at: Range<usize>) -> Refusal {
    let candidate = region(file, &at, 0);
    let mut out = refusal(
        RefusalKind::AlreadyApplied,
        index,
        format!(
            "This edit has been made already: the file has new_string at lines {}-{}.",
            candidate.start_line, candidate.end_line
        ),
        "Go on with the next step; if something else was meant, read the region again.",
    );
    out.candidates.push(candidate);
    out
}

/// The search text as it was probably meant, to find the region it was meant for.
fn meant(old: &str) -> String {
    if !old.contains('\n') && old.contains("\\n") {
        return old.replace("\\n", "\n");
    }
    let plain = variants::without_line_numbers(old, "").into_iter().next();
    plain.map_or_else(|| old.to_owned(), |plain| plain.old)
}

pub(crate) fn no_match(file: &Lines<'_>, index: usize, old: &str) -> Refusal {
    let meant = meant(old);
    if file.bytes.contains(&b'\r') && !file.bytes.contains(&b'\n') && old.contains('\n') {
        return lone_cr(file.bytes, index, &meant);
    }
    let found = closest(file, &lines::pieces(&meant));
    let Some((candidate, candidates, divergence)) = found
        .and_then(|(candidates, divergence)| Some((candidates.first()?.clone(), candidates, divergence)))
    else {
        return refusal(
            RefusalKind::NoMatch,
            index,
            "old_string is not in the file, and no region is similar to it.".to_owned(),
            "Check the path, or search for a distinctive word of it; then read the region and repeat its exact text.",
        );
    };
    let mut out = refusal(
        RefusalKind::NoMatch,
        index,
        format!(
            "old_string is not in the file. The closest region is lines {}-{} ({:.0} % alike).",
            candidate.start_line,
            candidate.end_line,
            // What does not match is never wholly alike.
            (candidate.similarity * 100.0).min(99.0)
        ),
        "Repeat the region's exact text in old_string (without the line numbers), or read the file again.",
    );
    out.candidates = candidates;
    out.first_divergence = divergence;
    out
}

/// The search text is not there, but the replacement is, which for a deletion says little.
pub(crate) fn perhaps_made(
    file: &Lines<'_>,
    index: usize,
    old: &str,
    at: Range<usize>,
    deletes: bool,
) -> Refusal {
    let kept = region(file, &at, 1);
    let mut out = no_match(file, index, old);
    let lines = format!("lines {}-{}", kept.start_line, kept.end_line);
    let sentence = if deletes {
        format!(
            "What new_string keeps of it is at {lines}; the rest may be gone already, or reads differently."
        )
    } else {
        format!("new_string is at {lines} already, perhaps for another reason.")
    };
    add(&mut out, &sentence);
    if !out
        .candidates
        .iter()
        .any(|other| other.start_line <= kept.start_line && kept.end_line <= other.end_line)
    {
        out.candidates.push(kept);
    }
    out
}

/// A file that ends its lines as old systems did is one line to everybody else.
fn lone_cr(bytes: &[u8], index: usize, old: &str) -> Refusal {
    let file = Lines::new(bytes, true);
    let mut out = refusal(
        RefusalKind::NoMatch,
        index,
        "The file's lines end in a carriage return (CR) alone, so old_string, which has newlines, cannot match."
            .to_owned(),
        "Edit within one line, or convert the file's line endings to newlines first.",
    );
    if let Some((candidates, divergence)) = closest(&file, &lines::pieces(old)) {
        if let Some(region) = candidates.first() {
            let sentence = format!("The closest region is lines {}-{}.", region.start_line, region.end_line);
            add(&mut out, &sentence);
        }
        out.candidates = candidates;
        out.first_divergence = divergence;
    }
    out
}

pub(crate) fn uncertain(file: &Lines<'_>, index: usize, old: &str, found: &Found, why: &str) -> Refusal {
    let candidate = region(file, &(found.start..found.end), 0);
    let mut out = refusal(
        RefusalKind::NoMatch,
        index,
        format!(
            "Lines {}-{} match old_string, whitespace aside; however, {why}.",
            candidate.start_line, candidate.end_line
        ),
        "Repeat the region's exact text, with its indentation and blank lines, in old_string and new_string.",
    );
    out.first_divergence = closest(file, &lines::pieces(old)).and_then(|(_, divergence)| divergence);
    out.candidates.push(candidate);
    out
}

fn list(bytes: &[u8], found: &[Found]) -> Vec<Candidate> {
    let file = Lines::new(bytes, false);
    found.iter().take(MAX_CANDIDATES).map(|found| region(&file, &(found.start..found.end), 2)).collect()
}

/// The lines at which the first matches start.
fn starts(bytes: &[u8], found: &[Found]) -> String {
    let file = Lines::new(bytes, false);
    let lines = found.iter().take(MAX_CANDIDATES).map(|found| (file.at(found.start) + 1).to_string());
    let more = if found.len() > MAX_CANDIDATES { ", …" } else { "" };
    format!("at lines {}{more}", lines.collect::<Vec<_>>().join(", "))
}

fn count(found: usize) -> String {
    let more = if found >= find::MAX_MATCHES { "at least " } else { "" };
    let rest = found.saturating_sub(MAX_CANDIDATES);
    if rest > 0 {
        format!("{more}{found} (the first {MAX_CANDIDATES} are shown)")
    } else {
        format!("{more}{found}")
    }
}

pub(crate) fn ambiguous(bytes: &[u8], index: usize, found: &[Found], near_line: Option<usize>) -> Refusal {
    let near =
        near_line.map_or(String::new(), |line| format!(", and line {line} is equally near to two of them"));
    let mut out = refusal(
        RefusalKind::Ambiguous,
        index,
        format!("old_string matches {} places{near} ({}).", count(found.len()), starts(bytes, found)),
        "Add neighbouring lines to old_string until it matches one place, pass near_line, or set replace_all.",
    );
    out.candidates = list(bytes, found);
    out
}

pub(crate) fn count_mismatch(bytes: &[u8], index: usize, expected: usize, found: &[Found]) -> Refusal {
    let mut out = refusal(
        RefusalKind::CountMismatch,
        index,
        format!(
            "old_string matches {} places, but expected_count is {expected} ({}).",
            count(found.len()),
            starts(bytes, found)
        ),
        "Check the places, then correct expected_count or old_string.",
    );
    out.candidates = list(bytes, found);
    out
}

/// If the text was there before this call's earlier edits, those are the cause and not the caller's memory.
pub(crate) fn explain_overlap(
    refused: Refusal,
    original: &[u8],
    current: &[u8],
    edit: &Edit,
    earlier: &[Range<usize>],
) -> Refusal {
    if earlier.is_empty() || !is_missing(refused.kind) {
        return refused;
    }
    let file = Lines::new(original, false);
    let exact = find::exact(original, &edit.old);
    let was_there =
        if exact.is_empty() { find::tolerant(&file, &edit.old).map(|(_, found)| found) } else { Some(exact) };
    // What no earlier edit touched is still there, and so not the reason.
    let touched = |found: &Found| {
        let text = original.get(found.start..found.end).unwrap_or_default();
        !text.is_empty() && !current.windows(text.len()).any(|window| window == text)
    };
    if !was_there.is_some_and(|found| found.iter().take(MAX_CANDIDATES).any(touched)) {
        return refused;
    }
    let mut out = refusal(
        RefusalKind::Overlap,
        refused.edit_index,
        "old_string was in the file, but an earlier edit of this call replaced part of it; each edit applies to the \
         result of the one before."
            .to_owned(),
        "Join the overlapping edits into one, or write this one against the text that the earlier one leaves.",
    );
    let now = Lines::new(current, false);
    out.candidates = earlier.iter().take(MAX_CANDIDATES).map(|range| region(&now, range, 0)).collect();
    out.first_divergence = refused.first_divergence;
    out
}

/// More matches than are counted: replacing only some of them would be wrong.
pub(super) fn too_many(index: usize) -> Refusal {
    Refusal {
        kind: RefusalKind::CountMismatch,
        edit_index: index,
        message: format!("old_string matches {MAX_MATCHES} places or more. Nothing was written."),
        candidates: Vec::new(),
        first_divergence: None,
        suggestion: "Make old_string longer, so that it matches fewer places.".to_owned(),
    }
}
