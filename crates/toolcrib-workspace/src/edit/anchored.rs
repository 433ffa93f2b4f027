//! A block of which one line that stays is remembered wrongly.
//!
//! This rung causes the false accepts of every ladder that has it, because test files are full of blocks that differ
//! in one line. So it applies only when the lines to be changed are right and found nowhere else, when no other
//! block comes near, and when the wrong line is not one that names a block. A file without the block that was meant
//! may still have its twin, which differs in a name or a number; so where code differs, and not just a comment or a
//! text in quotes, the rest has to be long and unusual enough to be no twin. Everything else is a proposal.

use std::collections::HashMap;

use super::build::Op;
use super::find::{Found, line_up};
use super::lines::{self, Lines};
use super::pairing::alike;

/// Fewer lines than this cannot vouch for a place.
const MIN_LINES: usize = 5;
/// How many lines with content must occur nowhere else in the file.
const MIN_UNIQUE: usize = 3;
/// The same, and how many letters and digits they must have together, where the wrong line differs in code.
const MIN_UNIQUE_CODE: usize = 4;
const MIN_LETTERS_CODE: usize = 80;
/// How alike the wrong line and the real one must be.
const MIN_ALIKE: f32 = 0.5;
/// Beyond this many lines a search text is not a memory any more.
const MAX_LINES: usize = 2_000;

/// How often a line of the search text may occur in the file.
const MAX_FREQUENCY: usize = 20_000;

/// The one certain match, if there is one.
pub(crate) fn anchored(file: &Lines<'_>, pieces: &[&str], new: &[&str], ops: &[Op]) -> Option<Found> {
    let solid: Vec<usize> =
        (0..pieces.len()).filter(|i| pieces.get(*i).is_some_and(|p| !p.trim().is_empty())).collect();
    if solid.len() < MIN_LINES || solid.len() > MAX_LINES || file.solid.len() < solid.len() {
        return None;
    }
    let hashes: Vec<u64> =
        solid.iter().filter_map(|i| pieces.get(*i)).map(|piece| lines::bare_hash(piece.as_bytes())).collect();
    let (offset, frequency) = clear_winner(file, &hashes)?;
    let window = file.solid.get(offset..offset + solid.len())?;
    let (found, drift) = line_up(file, pieces, &solid, window)?;
    let wrong: Vec<usize> = (0..solid.len())
        .filter(|k| {
            window.get(*k).and_then(|line| file.get(*line)).map(|line| line.hash) != hashes.get(*k).copied()
        })
        .collect();
    let allowed = if solid.len() >= 15 { 2 } else { 1 };
    let borders = |k: &usize| *k == 0 || *k + 1 == solid.len();
    if drift > 0 || wrong.is_empty() || wrong.len() > allowed || wrong.iter().any(borders) {
        return None;
    }
    let mut code = false;
    for k in &wrong {
        let piece = pieces.get(*solid.get(*k)?)?;
        let real = String::from_utf8_lossy(file.body(*window.get(*k)?));
        let next = file.body(*window.get(*k + 1)?);
        let stays = ops.contains(&Op::Keep(*solid.get(*k)?));
        if !stays || alike(piece, &real) < MIN_ALIKE || opens_block(real.as_bytes(), next) {
            return None;
        }
        if spreads(piece, &real, *solid.get(*k)?, new, ops) {
            return None;
        }
        code |= !is_text(piece, &real);
    }
    let unique =
        |k: usize| hashes.get(k).is_some_and(|hash| frequency.get(hash) == Some(&1)) && !wrong.contains(&k);
    let vouching: Vec<usize> = (0..solid.len()).filter(|k| unique(*k)).collect();
    let letters = |k: &usize| {
        let piece = solid.get(*k).and_then(|at| pieces.get(*at)).copied().unwrap_or_default();
        piece.chars().filter(|c| c.is_alphanumeric()).count()
    };
    let weak = code
        && (vouching.len() < MIN_UNIQUE_CODE
            || vouching.iter().map(letters).sum::<usize>() < MIN_LETTERS_CODE);
    if vouching.len() < MIN_UNIQUE || weak {
        return None;
    }
    changes_are_anchored(ops, &solid, &unique).then_some(found)
}

/// Whether what was remembered wrongly is written elsewhere too: the line again, or words of it that the file's line
/// does not have.
fn spreads(piece: &str, real: &str, at: usize, new: &[&str], ops: &[Op]) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| word.chars().count() >= 2).map(str::to_owned).collect()
    };
    let known = words(real);
    let made_up: Vec<String> = words(piece).into_iter().filter(|word| !known.contains(word)).collect();
    let wrong =
        |line: &str| line.trim() == piece.trim() || words(line).iter().any(|word| made_up.contains(word));
    let stays_twice = new.iter().filter(|line| line.trim() == piece.trim()).count() > 1;
    stays_twice
        || ops.iter().any(|op| match op {
            Op::Insert(n) | Op::Change(_, n) => new.get(*n).is_some_and(|line| wrong(line)),
            Op::Keep(_) => false,
            Op::Drop(o) => *o == at,
        })
}

/// Whether two lines differ only in a comment, in a text between quotes, or as prose does.
fn is_text(a: &str, b: &str) -> bool {
    const MARKS: [&str; 7] = ["//", "# ", "-- ", "/*", "* ", "; ", "<!--"];
    let (a, b) = (a.trim(), b.trim());
    let prose = |line: &str| {
        line.split_whitespace().count() >= 5
            && !line.contains(['(', ')', '{', '}', '[', ']', '=', ';', '<', '>'])
    };
    if MARKS.iter().any(|mark| a.starts_with(mark) && b.starts_with(mark)) || (prose(a) && prose(b)) {
        return true;
    }
    let head = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
    let (before, a, b) = (
        a.get(..head).unwrap_or_default(),
        a.get(head..).unwrap_or_default(),
        b.get(head..).unwrap_or_default(),
    );
    if [" //", " # ", "\t//", "/*"].iter().any(|mark| before.contains(mark)) {
        return true;
    }
    let tail = a
        .chars()
        .rev()
        .zip(b.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum::<usize>();
    let middle = |text: &str| text.get(..text.len() - tail).unwrap_or_default().to_owned();
    let (a, b) = (middle(a), middle(b));
    ['"', '\'', '`']
        .iter()
        .any(|quote| before.matches(*quote).count() % 2 == 1 && !a.contains(*quote) && !b.contains(*quote))
}

/// A line with deeper lines below it names what they are; two blocks that differ there are different things.
fn opens_block(line: &[u8], next: &[u8]) -> bool {
    let depth = |body: &[u8]| body.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    depth(next) > depth(line)
}

/// The offset among lines with content where most lines agree, if no other place comes near it.
fn clear_winner(file: &Lines<'_>, hashes: &[u64]) -> Option<(usize, HashMap<u64, usize>)> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (k, hash) in hashes.iter().enumerate() {
        places.entry(*hash).or_default().push(k);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut frequency: HashMap<u64, usize> = HashMap::new();
    for (at, line) in file.solid.iter().filter_map(|index| file.get(*index)).enumerate() {
        let Some(places) = places.get(&line.hash) else { continue };
        let seen = frequency.entry(line.hash).or_default();
        *seen += 1;
        // So common that it says nothing about a place; without its votes no margin could be trusted.
        if *seen > MAX_FREQUENCY {
            return None;
        }
        for start in places.iter().take(16).filter_map(|k| at.checked_sub(*k)) {
            *votes.entry(start).or_default() += 1;
        }
    }
    let (best, most) = votes.iter().max_by_key(|(start, votes)| (**votes, usize::MAX - **start))?;
    let near = votes.iter().filter(|(start, _)| *start != best).map(|(_, votes)| *votes).max().unwrap_or(0);
    (near * 4 < most * 3 && near + 1 < *most).then_some((*best, frequency))
}

/// Every change touches, or lies next to, a line that is right and found nowhere else.
fn changes_are_anchored(ops: &[Op], solid: &[usize], unique: &dyn Fn(usize) -> bool) -> bool {
    let vouches = |op: &Op| match op {
        Op::Keep(o) | Op::Drop(o) | Op::Change(o, _) => solid.binary_search(o).is_ok_and(unique),
        Op::Insert(_) => false,
    };
    let mut at = 0;
    while at < ops.len() {
        if matches!(ops.get(at), Some(Op::Keep(_)) | None) {
            at += 1;
            continue;
        }
        let run = ops.iter().skip(at).take_while(|op| !matches!(op, Op::Keep(_))).count();
        let around = ops.get(at.saturating_sub(1)..(at + run + 1).min(ops.len())).unwrap_or_default();
        if !around.iter().any(vouches) {
            return false;
        }
        at += run;
    }
    true
}
