//! How a line is shown: as text, cut around its match if it is long.

use std::ops::Range;

/// What stands where a line was cut.
const CUT: char = '…';

/// A line's text, where its match begins, and whether it was cut.
pub(super) struct Shown {
    pub(super) text: String,
    /// In characters from 1.
    pub(super) column: Option<usize>,
    pub(super) cut: bool,
}

/// Shows `line`, which may end in a line break, with at most `max` characters. Bytes that are no UTF-8 are replaced.
pub(super) fn show(line: &[u8], found: Option<Range<usize>>, max: usize) -> Shown {
    let line = without_break(line);
    let text = String::from_utf8_lossy(line);
    let start = found.as_ref().map(|range| chars_before(line, range.start));
    let column = start.map(|start| start + 1);
    // A line can't have more characters than bytes, so most need no counting.
    if line.len() <= max || text.chars().count() <= max {
        return Shown { text: text.into_owned(), column, cut: false };
    }
    let end = found.map_or(0, |range| chars_before(line, range.end));
    Shown { text: window(&text, start.unwrap_or(0), end, max), column, cut: true }
}

/// `line` without `\n` or `\r\n` at its end.
pub(super) fn without_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn chars_before(line: &[u8], end: usize) -> usize {
    match line.get(..end) {
        Some(before) if before.is_ascii() => before.len(),
        Some(before) => String::from_utf8_lossy(before).chars().count(),
        None => 0,
    }
}

/// `max` characters of `text` with the match in view: a quarter of what is left over before it, the rest behind.
fn window(text: &str, start: usize, end: usize, max: usize) -> String {
    let count = text.chars().count();
    let spare = max.saturating_sub(end.saturating_sub(start));
    let from = if end <= max { 0 } else { start.saturating_sub(spare / 4).min(count.saturating_sub(max)) };
    let mut shown = String::new();
    if from > 0 {
        shown.push(CUT);
    }
    shown.extend(text.chars().skip(from).take(max));
    if from + max < count {
        shown.push(CUT);
    }
    shown
}
