//! The region of a file that looks most like a search text that is not there, for refusals that help.

use std::collections::HashMap;

use super::lines::{self, Lines, fold};
use super::pairing::alike;
use super::{Candidate, Divergence};

/// How often a line may occur before its further occurrences are ignored.
const MAX_FREQUENCY: usize = 5_000;
/// How much of a file is compared line by line when no line is equal.
const MAX_FUZZY_LINES: usize = 20_000;
/// Lines of the search text that take part.
const MAX_SEARCH_LINES: usize = 400;
/// Below this, a region is not worth showing.
const MIN_SIMILARITY: f32 = 0.3;
/// Regions that come this near to the best are shown too, but not many.
const AS_CLOSE: f32 = 0.03;
const MAX_CLOSEST: usize = 3;
/// Lines and characters of a region that are shown.
const SHOWN_LINES: usize = 30;
const SHOWN_CHARS: usize = 200;

/// The closest region and where it first differs, and others that are as close.
pub(crate) fn closest(file: &Lines<'_>, pieces: &[&str]) -> Option<(Vec<Candidate>, Option<Divergence>)> {
    let solid: Vec<(usize, &str)> = pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| !piece.trim().is_empty())
        .take(MAX_SEARCH_LINES)
        .map(|(index, piece)| (index, *piece))
        .collect();
    let (&(first, _), &(last, _)) = (solid.first()?, solid.last()?);
    let mut starts = by_equal_lines(file, &solid);
    starts.extend(by_similar_lines(file, &solid));
    starts.sort_unstable();
    starts.dedup();
    let mut scored: Vec<(f32, isize)> =
        starts.into_iter().map(|start| (score(file, &solid, start), start)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let &(best, start) = scored.first().filter(|(best, _)| *best >= MIN_SIMILARITY)?;
    scored.retain(|(similarity, other)| best - similarity < AS_CLOSE && (*other == start || best > 0.5));
    let end = file.count().saturating_sub(1);
    let line =
        |start: isize, piece: usize| start.saturating_add_unsigned(piece).max(0).unsigned_abs().min(end);
    let regions = scored.iter().take(MAX_CLOSEST);
    let regions = regions
        .map(|(similarity, start)| show(file, line(*start, first), line(*start, last), 0, *similarity));
    Some((regions.collect(), divergence(file, &solid, start)))
}

/// Starts (as file line of the first piece, possibly negative) where whole lines are equal, best few.
fn by_equal_lines(file: &Lines<'_>, solid: &[(usize, &str)]) -> Vec<isize> {
    let mut places: HashMap<u64, (Vec<usize>, usize)> = HashMap::new();
    for (index, piece) in solid {
        places.entry(lines::bare_hash(piece.as_bytes())).or_default().0.push(*index);
    }
    let mut votes: HashMap<isize, usize> = HashMap::new();
    for index in &file.solid {
        let Some(line) = file.get(*index) else { continue };
        let Some((places, seen)) = places.get_mut(&line.hash) else { continue };
        *seen += 1;
        // A line as common as a bracket does not tell places apart.
        if *seen > MAX_FREQUENCY {
            continue;
        }
        for place in places.iter().take(8) {
            let weight = 1 + (line.end - line.start).min(40) / 4;
            *votes.entry(*index as isize - *place as isize).or_default() += weight;
        }
    }
    let mut best: Vec<(usize, isize)> = votes.into_iter().map(|(start, votes)| (votes, start)).collect();
    best.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    best.into_iter().take(4).map(|(_, start)| start).collect()
}

/// Starts where the longest lines of the search text have their most similar line.
fn by_similar_lines(file: &Lines<'_>, solid: &[(usize, &str)]) -> Vec<isize> {
    let mut longest: Vec<&(usize, &str)> = solid.iter().collect();
    longest.sort_by_key(|(index, piece)| (usize::MAX - piece.trim().len(), *index));
    let wanted: Vec<(usize, Bigrams)> =
        longest.iter().take(3).map(|(index, piece)| (*index, Bigrams::of(piece.as_bytes()))).collect();
    let mut best: Vec<Vec<(f32, isize)>> = vec![Vec::new(); wanted.len()];
    for index in file.solid.iter().take(MAX_FUZZY_LINES) {
        let bigrams = Bigrams::of(file.body(*index));
        for ((place, wanted), best) in wanted.iter().zip(&mut best) {
            let similarity = wanted.similarity(&bigrams);
            if similarity > 0.3 && best.last().is_none_or(|(least, _)| best.len() < 3 || similarity > *least)
            {
                best.push((similarity, *index as isize - *place as isize));
                best.sort_by(|a, b| b.0.total_cmp(&a.0));
                best.truncate(3);
            }
        }
    }
    best.into_iter().flatten().map(|(_, start)| start).collect()
}

/// Which pairs of neighbouring bytes occur, as a small bit set.
struct Bigrams {
    bits: [u64; 4],
}

impl Bigrams {
    fn of(body: &[u8]) -> Bigrams {
        let mut bits = [0u64; 4];
        let bare = body.trim_ascii();
        for pair in bare.get(..bare.len().min(300)).unwrap_or_default().windows(2) {
            let &[a, b] = pair else { continue };
            let hash = (u32::from(a) << 8 | u32::from(b)).wrapping_mul(0x9e37_79b1) >> 24;
            if let Some(word) = bits.get_mut((hash >> 6) as usize) {
                *word |= 1 << (hash & 63);
            }
        }
        Bigrams { bits }
    }

    fn similarity(&self, other: &Bigrams) -> f32 {
        let ones = |bits: &[u64; 4]| bits.iter().map(|word| word.count_ones()).sum::<u32>();
        let both: u32 = self.bits.iter().zip(&other.bits).map(|(a, b)| (a & b).count_ones()).sum();
        let all = ones(&self.bits) + ones(&other.bits);
        if all == 0 { 0.0 } else { 2.0 * both as f32 / all as f32 }
    }
}

/// The mean likeness of the lines of the search text to those of the file at this start.
fn score(file: &Lines<'_>, solid: &[(usize, &str)], start: isize) -> f32 {
    let mut sum = 0.0;
    for (index, piece) in solid {
        let Ok(line) = usize::try_from(start + *index as isize) else { continue };
        let body = file.body(line);
        sum += if lines::same_bare(body, piece.as_bytes()) {
            1.0
        } else {
            alike(&fold(body.get(..body.len().min(400)).unwrap_or_default()), piece)
        };
    }
    sum / solid.len().max(1) as f32
}

/// The first line whose content differs, else the first whose whitespace does.
fn divergence(file: &Lines<'_>, solid: &[(usize, &str)], start: isize) -> Option<Divergence> {
    let at = |index: usize| usize::try_from(start + index as isize).ok();
    let differs = |same: fn(&[u8], &[u8]) -> bool| {
        solid
            .iter()
            .find(|(index, piece)| at(*index).is_none_or(|line| !same(file.body(line), piece.as_bytes())))
    };
    let content = differs(lines::same_bare);
    let (index, piece) = content.or_else(|| differs(|a, b| a == b))?;
    let Some(line) = at(*index).filter(|line| *line < file.count()) else {
        return Some(Divergence {
            file_line: file.count(),
            expected: cut(piece),
            found: String::new(),
            how: "the file ends before this line".to_owned(),
        });
    };
    let found = String::from_utf8_lossy(file.body(line)).into_owned();
    if content.is_some() {
        let how =
            format!("line {}: expected `{}`, file has `{}`", line + 1, cut(piece.trim()), cut(found.trim()));
        return Some(Divergence { file_line: line + 1, expected: cut(piece), found: cut(&found), how });
    }
    let (expected, found) = (visible(piece), visible(&found));
    let how = format!(
        "line {}: only whitespace or punctuation differs: expected `{expected}`, file has `{found}`",
        line + 1
    );
    Some(Divergence { file_line: line + 1, expected, found, how })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Whitespace made visible.
fn visible(text: &str) -> String {
    let shown: String = text
        .chars()
        .map(|c| match c {
            ' ' => '·',
            '\t' => '→',
            '\r' => '␍',
            '\u{a0}' => '⍽',
            c => c,
        })
        .collect();
    cut(&shown)
}

/// Lines `top..=bottom` of the file with numbers, and some more around them.
pub(crate) fn show(file: &Lines<'_>, top: usize, bottom: usize, around: usize, similarity: f32) -> Candidate {
    let bottom = bottom.max(top);
    let last = bottom.saturating_add(around).min(file.count().saturating_sub(1));
    let mut text = String::new();
    let lines = top.saturating_sub(around)..=last;
    let total = lines.clone().count();
    for index in lines.take(SHOWN_LINES) {
        let body = file.body(index);
        let body = String::from_utf8_lossy(body.get(..body.len().min(SHOWN_CHARS * 4)).unwrap_or_default());
        text.push_str(&format!("{}\t{}\n", index + 1, cut(&body)));
    }
    if total > SHOWN_LINES {
        text.push_str(&format!("… {} more lines\n", total - SHOWN_LINES));
    }
    Candidate { start_line: top + 1, end_line: bottom + 1, text, similarity }
}
