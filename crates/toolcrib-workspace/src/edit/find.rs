//! Where a search text lies in a file, from strict to tolerant.
//!
//! Every rung returns all its matches; whether several are a refusal is decided in one place, above.

use super::indent::IndentMap;
use super::lines::{self, Line, Lines, fold, plain, same_bare, same_but_trailing, units};

/// How many matches are looked for before counting stops.
pub(crate) const MAX_MATCHES: usize = 100_000;

/// How far blank lines may differ in number, over a whole match.
const MAX_BLANK_DRIFT: usize = 4;

/// How much had to be forgiven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Exact,
    LineEndings,
    Whitespace,
    /// As before, and blank lines are missing or surplus.
    BlankLines,
    Reindent,
    /// Re-indented, and blank lines are missing or surplus.
    ReindentBlankLines,
    /// A line that stays is remembered wrongly.
    Anchored,
}

impl Level {
    pub(crate) fn moves_indent(self) -> bool {
        matches!(self, Level::Reindent | Level::ReindentBlankLines | Level::Anchored)
    }
}

/// One match: a byte range, and for every piece of the search text the piece of the range it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) map: Vec<Option<usize>>,
}

impl Found {
    fn plain(start: usize, end: usize, pieces: usize) -> Found {
        Found { start, end, map: (0..pieces).map(Some).collect() }
    }
}

/// Matches byte for byte.
pub(crate) fn exact(bytes: &[u8], old: &str) -> Vec<Found> {
    let pieces = lines::pieces(old).len();
    let at = lines::occurrences(bytes, old, MAX_MATCHES);
    at.into_iter().map(|start| Found::plain(start, start + old.len(), pieces)).collect()
}

/// The strictest tolerant level that finds anything, and all it finds.
pub(crate) fn tolerant(file: &Lines<'_>, old: &str) -> Option<(Level, Vec<Found>)> {
    let pieces = lines::pieces(old);
    if pieces.iter().all(|piece| piece.trim().is_empty()) {
        return None;
    }
    for level in [Level::LineEndings, Level::Whitespace] {
        let found =
            if pieces.len() == 1 { inside_lines(file, old, level) } else { over_lines(file, &pieces, level) };
        if !found.is_empty() {
            return Some((level, found));
        }
    }
    let mut whole = whole_lines(file, &pieces);
    let best = whole.iter().map(|(level, _)| *level).min()?;
    whole.retain(|(level, _)| *level == best);
    Some((best, whole.into_iter().map(|(_, found)| found).collect()))
}

/// A search text without a newline, typography aside, anywhere in a line.
fn inside_lines(file: &Lines<'_>, old: &str, level: Level) -> Vec<Found> {
    let mut out = Vec::new();
    if level == Level::LineEndings {
        return out;
    }
    let wanted = fold(old.as_bytes());
    let first = wanted.chars().next().map_or(1, char::len_utf8);
    for line in &file.lines {
        let body = file.bytes.get(line.body()).unwrap_or_default();
        // Plain text in a plain line: the exact rung has looked there.
        if body.len() < wanted.len() || (old.is_ascii() && body.is_ascii()) {
            continue;
        }
        let folded = fold(body);
        let mut borders: Option<Vec<(usize, usize)>> = None;
        let mut from = 0;
        while let Some(at) = folded.get(from..).and_then(|rest| rest.find(wanted.as_ref())) {
            let (start, end) = (from + at, from + at + wanted.len());
            // Made once a line: a long line may match many times.
            let borders = borders.get_or_insert_with(|| borders_of(body));
            let raw = |target: usize| {
                let at = borders.binary_search_by_key(&target, |(folded, _)| *folded).ok()?;
                borders.get(at).map(|(_, raw)| *raw)
            };
            if let (Some(start), Some(end)) = (raw(start), raw(end)) {
                out.push(Found::plain(line.start + start, line.start + end, 1));
            }
            if out.len() >= MAX_MATCHES {
                return out;
            }
            from += at + first;
        }
    }
    out
}

/// Where characters start (and the last one ends), in the folded form and in `body`.
fn borders_of(body: &[u8]) -> Vec<(usize, usize)> {
    let (mut raw, mut folded) = (0, 0);
    let mut out = vec![(0, 0)];
    for (c, len) in units(body) {
        raw += len;
        folded += plain(c).map_or(c.len_utf8(), str::len);
        match out.last() {
            // A character that folds to nothing starts where the next one does.
            Some(last) if last.0 == folded => {}
            _ => out.push((folded, raw)),
        }
    }
    out
}

/// The offset in `body` that corresponds to an offset in its folded form, if a character starts there.
fn unfold(body: &[u8], target: usize) -> Option<usize> {
    let (mut raw, mut folded) = (0, 0);
    for (c, len) in units(body) {
        if folded >= target {
            break;
        }
        raw += len;
        folded += plain(c).map_or(c.len_utf8(), str::len);
    }
    (folded == target).then_some(raw)
}

/// Several lines of which the first may be the end of a line and the last the beginning of one.
fn over_lines(file: &Lines<'_>, pieces: &[&str], level: Level) -> Vec<Found> {
    let inner = pieces.get(1..pieces.len().saturating_sub(1)).unwrap_or_default();
    let hashes: Vec<u64> = inner.iter().map(|piece| lines::bare_hash(piece.as_bytes())).collect();
    let key = hashes.iter().position(|hash| *hash != 0);
    let key = key.and_then(|at| hashes.get(at).map(|hash| (at + 1, *hash)));
    let mut out = Vec::new();
    for first in 0..file.lines.len().saturating_sub(pieces.len() - 1) {
        if let Some((at, hash)) = key
            && file.get(first + at).is_none_or(|line| line.hash != hash)
        {
            continue;
        }
        if let Some(found) = over_lines_at(file, pieces, level, first) {
            out.push(found);
            if out.len() >= MAX_MATCHES {
                break;
            }
        }
    }
    out
}

fn over_lines_at(file: &Lines<'_>, pieces: &[&str], level: Level, first: usize) -> Option<Found> {
    let (head, rest) = pieces.split_first()?;
    let (tail, inner) = rest.split_last()?;
    let start = suffix_start(file.body(first), head, level)?;
    for (index, piece) in inner.iter().enumerate() {
        let body = file.body(first + 1 + index);
        let same = match level {
            Level::LineEndings => body == piece.as_bytes(),
            _ => body == piece.as_bytes() || same_but_trailing(body, piece.as_bytes()),
        };
        if !same {
            return None;
        }
    }
    let last = file.get(first + pieces.len() - 1)?;
    let end = prefix_end(file.body(first + pieces.len() - 1), tail, level)?;
    let first = file.get(first)?;
    Some(Found::plain(first.start + start, last.start + end, pieces.len()))
}

fn suffix_start(body: &[u8], head: &str, level: Level) -> Option<usize> {
    if body.ends_with(head.as_bytes()) {
        return Some(body.len() - head.len());
    }
    if level == Level::LineEndings {
        return None;
    }
    let (folded, wanted) = (fold(body), fold(head.as_bytes()));
    let (folded, wanted) = (folded.trim_end(), wanted.trim_end());
    if !folded.ends_with(wanted) {
        return None;
    }
    unfold(body, folded.len() - wanted.len())
}

fn prefix_end(body: &[u8], tail: &str, level: Level) -> Option<usize> {
    let rest_is_blank = |end: usize| body.get(end..).is_some_and(|rest| fold(rest).trim().is_empty());
    if body.starts_with(tail.as_bytes()) {
        // What is left of the line is whitespace the search text did not see: it goes with the line.
        let swallow = level != Level::LineEndings && !tail.is_empty() && rest_is_blank(tail.len());
        return Some(if swallow { body.len() } else { tail.len() });
    }
    if level == Level::LineEndings {
        return None;
    }
    let (folded, wanted) = (fold(body), fold(tail.as_bytes()));
    if folded.starts_with(wanted.as_ref()) {
        let end = unfold(body, wanted.len())?;
        return Some(if rest_is_blank(end) { body.len() } else { end });
    }
    (folded.trim_end() == wanted.trim_end()).then_some(body.len())
}

/// Whole lines, compared bare; blank lines may differ in number.
fn whole_lines(file: &Lines<'_>, pieces: &[&str]) -> Vec<(Level, Found)> {
    let solid: Vec<usize> =
        (0..pieces.len()).filter(|i| pieces.get(*i).is_some_and(|p| !p.trim().is_empty())).collect();
    let hashes: Vec<u64> =
        solid.iter().filter_map(|i| pieces.get(*i)).map(|piece| lines::bare_hash(piece.as_bytes())).collect();
    let mut out = Vec::new();
    if hashes.is_empty() {
        return out;
    }
    for window in file.solid.windows(hashes.len()) {
        let hash = |index: &usize| file.get(*index).map(|line| line.hash);
        if !window.iter().map(hash).eq(hashes.iter().copied().map(Some)) {
            continue;
        }
        out.extend(whole_lines_at(file, pieces, &solid, window));
        if out.len() >= MAX_MATCHES {
            break;
        }
    }
    out
}

/// Lines up a run of solid file lines with the solid pieces, and the blank ones between and around them.
pub(crate) fn line_up(
    file: &Lines<'_>,
    pieces: &[&str],
    solid: &[usize],
    window: &[usize],
) -> Option<(Found, usize)> {
    let (first_piece, last_piece) = (*solid.first()?, *solid.last()?);
    let (first_line, last_line) = (*window.first()?, *window.last()?);
    let blank = |index: usize| file.get(index).is_some_and(Line::is_blank);
    let mut map: Vec<Option<usize>> = vec![None; pieces.len()];
    let mut drift = 0;
    // Above: as many of the blank pieces as the file has blank lines, nearest first.
    let above = (0..first_piece).take_while(|k| first_line > *k && blank(first_line - k - 1)).count();
    drift += first_piece - above;
    let start = first_line - above;
    let mut set = |piece: usize, line: usize| {
        if let Some(slot) = map.get_mut(piece) {
            *slot = Some(line - start);
        }
    };
    (0..above).for_each(|k| set(first_piece - k - 1, first_line - k - 1));
    for (pair, lines) in solid.windows(2).zip(window.windows(2)) {
        let (&[a, b], &[x, y]) = (pair, lines) else { continue };
        let (asked, there) = (b - a - 1, y - x - 1);
        (0..asked.min(there)).for_each(|k| set(a + 1 + k, x + 1 + k));
        drift += asked.abs_diff(there);
    }
    solid.iter().zip(window).for_each(|(piece, line)| set(*piece, *line));
    // Below: the last blank piece only says that the match includes the newline before it.
    let below = pieces.len() - last_piece - 1;
    let mut end = file.get(last_line)?.end;
    if below > 0 {
        // The empty end of a file that ends in a newline is no line.
        let there = |line: usize| line < file.count() && blank(line);
        let there = (0..below - 1).take_while(|k| there(last_line + k + 1)).count();
        (0..there).for_each(|k| set(last_piece + 1 + k, last_line + 1 + k));
        drift += below - 1 - there;
        end = file.get(last_line + there)?.end;
        if let Some(next) = file.get(last_line + there + 1) {
            set(pieces.len() - 1, last_line + there + 1);
            end = next.start;
        }
    }
    Some((Found { start: file.get(start)?.start, end, map }, drift))
}

fn whole_lines_at(
    file: &Lines<'_>,
    pieces: &[&str],
    solid: &[usize],
    window: &[usize],
) -> Option<(Level, Found)> {
    let (found, drift) = line_up(file, pieces, solid, window)?;
    if drift > MAX_BLANK_DRIFT {
        return None;
    }
    let mut same_indent = true;
    for (piece, line) in solid.iter().zip(window) {
        let (piece, body) = (pieces.get(*piece)?.as_bytes(), file.body(*line));
        if !same_bare(piece, body) {
            return None;
        }
        same_indent &= same_but_trailing(piece, body);
    }
    if !same_indent && !uniform_indent(file, pieces, solid, window, drift == 0) {
        return None;
    }
    let level = match (same_indent, drift == 0) {
        (true, true) => Level::Whitespace,
        (true, false) => Level::BlankLines,
        (false, true) => Level::Reindent,
        (false, false) => Level::ReindentBlankLines,
    };
    Some((level, found))
}

/// Whether one rule turns the indentation of the search text into that of the file. Else the shapes differ, and the
/// lines that happen to agree (closing brackets, mostly) are not those that were meant. A first line without
/// indentation says nothing: it is lost easily, which is forgiven if nothing else is.
fn uniform_indent(
    file: &Lines<'_>,
    pieces: &[&str],
    solid: &[usize],
    window: &[usize],
    forgive_first: bool,
) -> bool {
    let mut pairs = Vec::with_capacity(solid.len());
    for (piece, line) in solid.iter().zip(window) {
        let text = pieces.get(*piece).copied().unwrap_or_default();
        let telling = text.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
        let own = lines::indent(text);
        if forgive_first && *piece == 0 && own.is_empty() && telling {
            continue;
        }
        let body = file.body(*line);
        let depth = body.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let real = String::from_utf8_lossy(body.get(..depth).unwrap_or_default()).into_owned();
        pairs.push((own.to_owned(), real));
    }
    IndentMap::learn(pairs, None).is_uniform()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(file: &str, old: &str) -> Option<(Level, usize)> {
        let lines = Lines::new(file.as_bytes(), false);
        tolerant(&lines, old).map(|(level, found)| (level, found.len()))
    }

    #[test]
    fn each_level_forgives_one_thing_more() {
        assert_eq!(level("a\r\nb\r\n", "a\nb\n"), Some((Level::LineEndings, 1)));
        assert_eq!(level("a\nb\n", "a\r\nb\r\n"), Some((Level::LineEndings, 1)));
        assert_eq!(level("a  \nb\n", "a\nb\n"), Some((Level::Whitespace, 1)));
        assert_eq!(level("say “hi”\n", "\"hi\""), Some((Level::Whitespace, 1)));
        assert_eq!(level("a\n\nb\n", "a\nb\n"), Some((Level::BlankLines, 1)));
        assert_eq!(level("\ta\n\t\tb\n", "    a\n        b\n"), Some((Level::Reindent, 1)));
        assert_eq!(level("a\nx\nb\n", "a\nb\n"), None);
        assert_eq!(level("a\nb\n", "\n\n"), None);
    }

    #[test]
    fn a_missing_final_newline_does_not_hide_the_last_line() {
        let lines = Lines::new(b"x\nlast", false);
        let (_, found) = tolerant(&lines, "last\n").unwrap();
        assert_eq!(found, [Found { start: 2, end: 6, map: vec![Some(0), None] }]);
    }
}
