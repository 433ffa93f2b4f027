//! A file as lines, with a hash of each line's bare content.
//!
//! All tolerant matching starts from equal hashes, so its cost is one pass over the file and not a comparison of
//! every line with every other.

use std::borrow::Cow;
use std::ops::Range;

/// One line of a file: where its body and its ending lie, and the hash of the body folded and trimmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) hash: u64,
}

impl Line {
    pub(crate) fn body(self) -> Range<usize> {
        self.start..self.end
    }

    /// Only whitespace, or nothing.
    pub(crate) fn is_blank(self) -> bool {
        self.hash == 0
    }
}

/// A file split into lines. As with `str::split`, a final ending leaves an empty last line.
pub(crate) struct Lines<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) lines: Vec<Line>,
    /// The indexes of lines with content.
    pub(crate) solid: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Splits at `\n` (a `\r` before it belongs to the ending), and with `lone_cr` also at every other `\r`.
    pub(crate) fn new(bytes: &'a [u8], lone_cr: bool) -> Self {
        let mut lines = Vec::new();
        let mut solid = Vec::new();
        for (body, _) in split(bytes, lone_cr) {
            let hash = bytes.get(body.clone()).map_or(0, bare_hash);
            if hash != 0 {
                solid.push(lines.len());
            }
            lines.push(Line { start: body.start, end: body.end, hash });
        }
        Lines { bytes, lines, solid }
    }

    pub(crate) fn get(&self, index: usize) -> Option<Line> {
        self.lines.get(index).copied()
    }

    /// The bytes of a line without its ending; empty when there is no such line.
    pub(crate) fn body(&self, index: usize) -> &'a [u8] {
        self.get(index).and_then(|line| self.bytes.get(line.body())).unwrap_or_default()
    }

    /// The index of the line that holds this byte.
    pub(crate) fn at(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }

    /// How many lines people would count.
    pub(crate) fn count(&self) -> usize {
        let phantom = self.lines.last().is_some_and(|line| line.start == self.bytes.len());
        self.lines.len().saturating_sub(usize::from(phantom))
    }
}

/// Bodies and starts of the next line.
pub(crate) fn split(bytes: &[u8], lone_cr: bool) -> Vec<(Range<usize>, usize)> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(rest) = bytes.get(at..) {
        let found = rest.iter().position(|b| *b == b'\n' || (lone_cr && *b == b'\r'));
        let Some(stop) = found.map(|p| at + p) else { break };
        let after = match (bytes.get(stop), bytes.get(stop + 1)) {
            (Some(b'\r'), Some(b'\n')) => stop + 2,
            _ => stop + 1,
        };
        let crlf = !lone_cr && stop > start && bytes.get(stop - 1) == Some(&b'\r');
        out.push((start..stop - usize::from(crlf), after));
        start = after;
        at = after;
    }
    out.push((start..bytes.len(), bytes.len()));
    out
}

/// The pieces of a text between its newlines, each without the `\r` that belongs to one.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut out: Vec<&str> = text.split('\n').collect();
    let last = out.len().saturating_sub(1);
    for piece in out.iter_mut().take(last) {
        *piece = piece.strip_suffix('\r').unwrap_or(piece);
    }
    out
}

/// The characters of some bytes with their lengths; an invalid sequence counts as one U+FFFD.
pub(crate) fn units(bytes: &[u8]) -> impl Iterator<Item = (char, usize)> + '_ {
    bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = chunk.invalid().len();
        let bad = (invalid > 0).then_some((char::REPLACEMENT_CHARACTER, invalid));
        chunk.valid().chars().map(|c| (c, c.len_utf8())).chain(bad)
    })
}

/// The plain form of a typographic character that models and editors swap freely.
pub(crate) fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => "'",
        '\u{201c}'..='\u{201f}' | '\u{2033}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        '\u{2026}' => "...",
        _ => return None,
    })
}

/// Bytes as text with typographic characters made plain.
pub(crate) fn fold(bytes: &[u8]) -> Cow<'_, str> {
    if bytes.is_ascii() {
        return String::from_utf8_lossy(bytes);
    }
    let mut out = String::with_capacity(bytes.len());
    for (c, _) in units(bytes) {
        match plain(c) {
            Some(simple) => out.push_str(simple),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Folded and trimmed: equal for two lines that differ in whitespace at the borders and in typography only.
pub(crate) fn same_bare(a: &[u8], b: &[u8]) -> bool {
    fold(a).trim() == fold(b).trim()
}

/// Folded and trimmed at the end.
pub(crate) fn same_but_trailing(a: &[u8], b: &[u8]) -> bool {
    fold(a).trim_end() == fold(b).trim_end()
}

/// The hash of the folded and trimmed line; zero means blank.
pub(crate) fn bare_hash(body: &[u8]) -> u64 {
    let folded = fold(body);
    let bare = folded.trim();
    if bare.is_empty() { 0 } else { hash(bare.as_bytes()) | 1 }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state = (state.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    for byte in rest {
        state = (state.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state ^ (state >> 29)
}

/// The whitespace a line starts with.
pub(crate) fn indent(line: &str) -> &str {
    let bare = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - bare.len()).unwrap_or_default()
}

/// Every place where `needle` occurs in `bytes`, overlapping ones too, at most `limit`.
///
/// The needle is valid UTF-8, so an occurrence never crosses an invalid sequence, and the standard library's
/// linear-time search can be used on what lies between those.
pub(crate) fn occurrences(bytes: &[u8], needle: &str, limit: usize) -> Vec<usize> {
    let mut out = Vec::new();
    let Some(first) = needle.chars().next() else { return out };
    let mut search = |text: &str, base: usize| {
        let mut from = 0;
        while let Some(at) = text.get(from..).filter(|_| out.len() < limit).and_then(|rest| rest.find(needle))
        {
            out.push(base + from + at);
            from += at + first.len_utf8();
        }
    };
    // Validating at once is many times faster than going through the chunks.
    if let Ok(text) = std::str::from_utf8(bytes) {
        search(text, 0);
        return out;
    }
    let mut base = 0;
    for chunk in bytes.utf8_chunks() {
        search(chunk.valid(), base);
        base += chunk.valid().len() + chunk.invalid().len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_split_as_asked() {
        let bodies = |bytes: &'static [u8], cr| {
            let lines = Lines::new(bytes, cr);
            (0..lines.lines.len()).map(|i| lines.body(i)).collect::<Vec<_>>()
        };
        assert_eq!(bodies(b"a\r\nb\rc\n", false), [&b"a"[..], b"b\rc", b""]);
        assert_eq!(bodies(b"a\r\nb\rc\n", true), [&b"a"[..], b"b", b"c", b""]);
        assert_eq!(bodies(b"", false), [&b""[..]]);
        assert_eq!(bodies(b"\r\n\r\n", false), [&b""[..], b"", b""]);
    }

    #[test]
    fn occurrences_overlap_and_skip_invalid_bytes() {
        assert_eq!(occurrences(b"aaa", "aa", 9), [0, 1]);
        assert_eq!(occurrences(b"\xffab\xfeab", "ab", 9), [1, 4]);
        assert_eq!(occurrences(b"abab", "", 9), Vec::<usize>::new());
    }

    #[test]
    fn folding_makes_typography_plain() {
        assert_eq!(fold("“a” – b…".as_bytes()), "\"a\" - b...");
        assert_eq!(bare_hash(b"  x "), bare_hash(b"x"));
        assert_eq!(bare_hash(b" \t"), 0);
    }
}
