//! Whether an edit has been made before, told apart from one that only seems so because it deletes.

use std::ops::Range;

use super::closest::closest;
use super::find::{self, Found, Level};
use super::lines::{self, Lines, fold, occurrences};
use super::pairing::alike;

/// A region this close to the search text is where the edit was meant, even if it is not the one with `new`.
const MEANT: f32 = 0.8;

/// Texts without a common line must be this much alike for one to have become the other.
const RELATED: f32 = 0.35;

fn solid(text: &str) -> Vec<u64> {
    let hashes = lines::pieces(text).into_iter().map(|piece| lines::bare_hash(piece.as_bytes()));
    hashes.filter(|hash| *hash != 0).collect()
}

/// For every line of `new` its place among the lines of `old`, if `new` adds none: blanks and typography aside.
fn kept_lines(old: &[u64], new: &[u64]) -> Option<Vec<usize>> {
    let mut from = 0;
    let mut kept = Vec::with_capacity(new.len());
    for hash in new {
        let at = from + old.get(from..)?.iter().position(|other| other == hash)?;
        kept.push(at);
        from = at + 1;
    }
    Some(kept)
}

/// Where the replacement already is: once, and long enough not to be a coincidence.
fn applied_at(file: &Lines<'_>, new: &str) -> Option<Range<usize>> {
    let bare = new.trim();
    if bare.len() < 8 || bare.chars().filter(|c| c.is_alphanumeric()).count() < 4 {
        return None;
    }
    match occurrences(file.bytes, new, 2).as_slice() {
        [at] => Some(*at..at + new.len()),
        [] => match find::tolerant(file, new) {
            Some((level, found)) if level <= Level::Reindent => match found.as_slice() {
                [one] => Some(one.start..one.end),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Where the edit has been made, for one whose search text was found: the replacement is there and the match is part
/// of it. What a deletion leaves is there before it is made, so one is never taken for made.
pub(crate) fn around(file: &Lines<'_>, found: &Found, old: &str, new: &str) -> bool {
    if kept_lines(&solid(old), &solid(new)).is_some() {
        return false;
    }
    let region = file.bytes.get(found.start..found.end).unwrap_or_default();
    let start = found.start + (region.len() - region.trim_ascii_start().len());
    let end = found.end - (region.len() - region.trim_ascii_end().len());
    applied_at(file, new).is_some_and(|at| at.start <= start && end <= at.end)
}

/// What is in the file of an edit whose search text is not.
pub(crate) enum Instead {
    /// The replacement: the edit has been made.
    Made(Range<usize>),
    /// What a deletion leaves; whether it has been made cannot be told from lines that were remembered wrongly.
    Kept(Range<usize>),
    /// The replacement, but nothing says that the search text became it.
    There(Range<usize>),
}

/// Where the replacement is, for an edit whose search text is not in the file.
pub(crate) fn instead(file: &Lines<'_>, old: &str, new: &str) -> Option<Instead> {
    let at = applied_at(file, new)?;
    let (was, is) = (solid(old), solid(new));
    // Only lines taken from between others leave those next to each other.
    let at_an_end = kept_lines(&was, &is)
        .is_some_and(|kept| kept.first() != Some(&0) || kept.last() != was.len().checked_sub(1).as_ref());
    if at_an_end || fold(old.as_bytes()).contains(fold(new.as_bytes()).trim()) {
        return Some(Instead::Kept(at));
    }
    // Nothing of the search text is in the replacement, so it may just as well be there for another reason.
    if is.iter().any(|hash| was.contains(hash)) {
        return Some(Instead::Made(at));
    }
    let (first, last) = (file.at(at.start) + 1, file.at(at.end.saturating_sub(1).max(at.start)) + 1);
    let elsewhere = closest(file, &lines::pieces(old)).is_some_and(|(regions, _)| {
        regions.first().is_some_and(|region| {
            region.similarity >= MEANT && (region.end_line < first || last < region.start_line)
        })
    });
    let related = alike(old, new) >= RELATED;
    Some(if related && !elsewhere { Instead::Made(at) } else { Instead::There(at) })
}
