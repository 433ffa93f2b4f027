//! Where a hunk belongs.

use crate::edit::find::Level;
use crate::edit::lines::{self, Lines, fold, same_bare, same_but_trailing};

use super::Hunk;

/// From strict to tolerant; the first that fits anywhere is used.
const PASSES: [(Level, Same); 3] =
    [(Level::Exact, |a, b| a == b), (Level::Whitespace, same_but_trailing), (Level::Reindent, same_bare)];

/// Whether a line of the file is a line of the hunk.
type Same = fn(&[u8], &[u8]) -> bool;

/// What the hunks before this one determined.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// The first line that is not taken.
    pub(super) cursor: usize,
    /// By how much the last stated line number was off.
    pub(super) drift: isize,
}

pub(super) enum Place {
    /// At this line, with so much forgiven.
    At(usize, Level),
    /// At any of these lines.
    Several(Vec<usize>),
    /// Nowhere.
    Nowhere,
    /// This anchor is nowhere.
    NoAnchor(String),
}

/// Where lines that stay or go are in the file.
pub(super) fn place(file: &Lines<'_>, hunk: &Hunk, old: &[&str], progress: Progress) -> Place {
    for (level, same) in PASSES {
        let all = fits(file, old, same);
        if all.is_empty() {
            continue;
        }
        let end = file.count().saturating_sub(old.len());
        if hunk.end_of_file && all.contains(&end) && end >= progress.cursor {
            return Place::At(end, level);
        }
        let ahead: Vec<usize> = all.iter().copied().filter(|at| *at >= progress.cursor).collect();
        let mut pool = if ahead.is_empty() { all } else { ahead };
        if !hunk.anchors.is_empty() {
            let Ok(anchors) = anchors(file, &hunk.anchors, progress.cursor) else {
                return Place::NoAnchor(hunk.anchors.join(" / "));
            };
            let mut after: Vec<usize> =
                anchors.iter().filter_map(|anchor| pool.iter().copied().find(|at| at >= anchor)).collect();
            after.dedup();
            pool = after;
        }
        return match pool.as_slice() {
            [] => Place::Nowhere,
            [at] => Place::At(*at, level),
            _ => match hunk.old_start.and_then(|line| nearest(&pool, line, progress.drift)) {
                Some(at) => Place::At(at, level),
                None => Place::Several(pool),
            },
        };
    }
    Place::Nowhere
}

/// Where a hunk that only adds goes: the line before which it is inserted.
pub(super) fn insertion(file: &Lines<'_>, hunk: &Hunk, progress: Progress) -> Place {
    if !hunk.anchors.is_empty() {
        return match anchors(file, &hunk.anchors, progress.cursor) {
            Err(()) => Place::NoAnchor(hunk.anchors.join(" / ")),
            Ok(found) => match found.as_slice() {
                [at] => Place::At(at + 1, Level::Exact),
                _ => Place::Several(found),
            },
        };
    }
    let end = file.count();
    let stated = hunk.old_start.filter(|_| !hunk.end_of_file);
    let at = stated.map_or(end, |line| line.saturating_add_signed(progress.drift).min(end));
    Place::At(at, Level::Exact)
}

fn fits(file: &Lines<'_>, old: &[&str], same: Same) -> Vec<usize> {
    let key =
        old.iter().map(|piece| lines::bare_hash(piece.as_bytes())).enumerate().find(|(_, hash)| *hash != 0);
    let count = (file.count() + 1).saturating_sub(old.len());
    (0..count)
        .filter(|at| key.is_none_or(|(k, hash)| file.get(at + k).is_some_and(|line| line.hash == hash)))
        .filter(|at| old.iter().enumerate().all(|(k, piece)| same(file.body(at + k), piece.as_bytes())))
        .collect()
}

/// The lines that end the chain of anchors, wherever it can start.
fn anchors(file: &Lines<'_>, chain: &[String], from: usize) -> Result<Vec<usize>, ()> {
    let passes: [fn(&str, &str) -> bool; 4] = [
        |line, anchor| line == anchor,
        |line, anchor| line.trim_end() == anchor.trim_end(),
        |line, anchor| line.trim() == anchor.trim(),
        |line, anchor| anchor.trim().len() >= 3 && line.contains(anchor.trim()),
    ];
    let mut heads: Option<Vec<usize>> = None;
    for anchor in chain {
        let anchor = fold(anchor.as_bytes());
        let hits = |pass: fn(&str, &str) -> bool| -> Vec<usize> {
            (0..file.count()).filter(|at| pass(&fold(file.body(*at)), &anchor)).collect()
        };
        let next = passes.iter().find_map(|pass| {
            let hits = hits(*pass);
            let next: Vec<usize> = match &heads {
                None => hits.into_iter().filter(|at| *at >= from).collect(),
                Some(heads) => {
                    let mut next: Vec<usize> =
                        heads.iter().filter_map(|head| hits.iter().copied().find(|at| at > head)).collect();
                    next.dedup();
                    next
                }
            };
            (!next.is_empty()).then_some(next)
        });
        heads = Some(next.ok_or(())?);
    }
    heads.ok_or(())
}

/// The place nearest to a stated line, if it is clearly nearer than any other.
fn nearest(pool: &[usize], line: usize, drift: isize) -> Option<usize> {
    let stated = line.saturating_sub(1).saturating_add_signed(drift);
    let mut byd: Vec<(usize, usize)> = pool.iter().map(|at| (at.abs_diff(stated), *at)).collect();
    byd.sort_unstable();
    match byd.as_slice() {
        [(best, at), (second, _), ..] if best * 2 < *second => Some(*at),
        [(_, at)] => Some(*at),
        _ => None,
    }
}
