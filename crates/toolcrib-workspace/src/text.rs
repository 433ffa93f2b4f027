//! What kind of text a file holds, and how to give new text the same form.
//!
//! Nothing here is allowed to lose a byte silently: decoding says whether it was lossy, and whoever writes a file
//! back goes through [`encode`] and compares.

use serde::Serialize;

const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";
const UTF16_LE_BOM: &[u8] = b"\xff\xfe";
const UTF16_BE_BOM: &[u8] = b"\xfe\xff";

/// How far into a file to look for signs that it is not text.
const SNIFF: usize = 8 * 1024;

/// How a file stores its characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// UTF-8 without a byte order mark.
    Utf8,
    /// UTF-8 that starts with a byte order mark.
    Utf8Bom,
    /// UTF-16, little endian, with a byte order mark.
    Utf16Le,
    /// UTF-16, big endian, with a byte order mark.
    Utf16Be,
    /// Not valid UTF-8; edited as raw bytes.
    Bytes,
}

impl Encoding {
    /// The name used in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf8Bom => "utf-8-bom",
            Encoding::Utf16Le => "utf-16le",
            Encoding::Utf16Be => "utf-16be",
            Encoding::Bytes => "bytes",
        }
    }

    /// The byte order mark that files of this encoding start with.
    pub fn bom(self) -> &'static [u8] {
        match self {
            Encoding::Utf8Bom => UTF8_BOM,
            Encoding::Utf16Le => UTF16_LE_BOM,
            Encoding::Utf16Be => UTF16_BE_BOM,
            Encoding::Utf8 | Encoding::Bytes => b"",
        }
    }

    /// The encoding of these bytes, by byte order mark first and validity second.
    pub fn of(bytes: &[u8]) -> Encoding {
        if let Some(rest) = bytes.strip_prefix(UTF8_BOM) {
            return if std::str::from_utf8(rest).is_ok() { Encoding::Utf8Bom } else { Encoding::Bytes };
        }
        if bytes.starts_with(UTF16_LE_BOM) && !utf16_has_nul(bytes, u16::from_le_bytes) {
            return Encoding::Utf16Le;
        }
        if bytes.starts_with(UTF16_BE_BOM) && !utf16_has_nul(bytes, u16::from_be_bytes) {
            return Encoding::Utf16Be;
        }
        if std::str::from_utf8(bytes).is_ok() { Encoding::Utf8 } else { Encoding::Bytes }
    }
}

/// U+0000 in UTF-16 means it is something else, for example UTF-32 or a blob that happens to start like a mark.
fn utf16_has_nul(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> bool {
    let (pairs, _) = bytes.get(..bytes.len().min(SNIFF)).unwrap_or(bytes).as_chunks::<2>();
    pairs.iter().any(|pair| unit(*pair) == 0)
}

/// Whether these bytes are something other than text: a NUL in the first 8 KiB (UTF-16 with a mark excepted), or
/// more control characters than any text has.
pub fn is_binary(bytes: &[u8]) -> bool {
    if matches!(Encoding::of_mark(bytes), Some(Encoding::Utf16Le | Encoding::Utf16Be)) {
        return false;
    }
    let head = bytes.get(..bytes.len().min(SNIFF)).unwrap_or(bytes);
    if head.contains(&0) {
        return true;
    }
    let odd = head.iter().filter(|b| matches!(b, 0x01..=0x07 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    odd * 10 > head.len()
}

impl Encoding {
    /// The encoding a byte order mark claims, without validating the rest.
    fn of_mark(bytes: &[u8]) -> Option<Encoding> {
        if bytes.starts_with(UTF8_BOM) {
            Some(Encoding::Utf8Bom)
        } else if bytes.starts_with(UTF16_LE_BOM) && !utf16_has_nul(bytes, u16::from_le_bytes) {
            Some(Encoding::Utf16Le)
        } else if bytes.starts_with(UTF16_BE_BOM) && !utf16_has_nul(bytes, u16::from_be_bytes) {
            Some(Encoding::Utf16Be)
        } else {
            None
        }
    }
}

/// A file as text, for showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text without a byte order mark.
    pub text: String,
    /// How the bytes were stored.
    pub encoding: Encoding,
    /// Whether something could not be represented, and shows as U+FFFD.
    pub lossy: bool,
}

/// Decodes a file for showing: the byte order mark goes, UTF-16 is transcoded, invalid bytes become U+FFFD.
pub fn decode(bytes: &[u8]) -> Decoded {
    let encoding = Encoding::of(bytes);
    let (text, lossy) = match encoding {
        Encoding::Utf16Le => decode_utf16(bytes, u16::from_le_bytes),
        Encoding::Utf16Be => decode_utf16(bytes, u16::from_be_bytes),
        Encoding::Utf8 | Encoding::Utf8Bom | Encoding::Bytes => {
            let rest = bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes);
            (String::from_utf8_lossy(rest).into_owned(), encoding == Encoding::Bytes)
        }
    };
    Decoded { text, encoding, lossy }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (String, bool) {
    let (pairs, rest) = bytes.get(2..).unwrap_or_default().as_chunks::<2>();
    let mut lossy = !rest.is_empty();
    let mut text: String = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .map(|c| {
            c.unwrap_or_else(|_| {
                lossy = true;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    (text, lossy)
}

/// The inverse of [`decode`] where that was not lossy.
pub fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    let mut out = encoding.bom().to_vec();
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom | Encoding::Bytes => out.extend_from_slice(text.as_bytes()),
        Encoding::Utf16Le => text.encode_utf16().for_each(|u| out.extend_from_slice(&u.to_le_bytes())),
        Encoding::Utf16Be => text.encode_utf16().for_each(|u| out.extend_from_slice(&u.to_be_bytes())),
    }
    out
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    Crlf,
    /// A lone `\r`
    Cr,
}

impl LineEnding {
    /// The bytes of this ending.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            LineEnding::Lf => b"\n",
            LineEnding::Crlf => b"\r\n",
            LineEnding::Cr => b"\r",
        }
    }
}

/// How many lines end in each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineEndings {
    /// Lines that end in `\n`.
    pub lf: usize,
    /// Lines that end in `\r\n`.
    pub crlf: usize,
    /// Lone `\r`.
    pub cr: usize,
}

impl LineEndings {
    /// Counts the endings in (UTF-8 or unknown) bytes.
    pub fn count(bytes: &[u8]) -> LineEndings {
        let mut count = LineEndings::default();
        let mut previous = 0u8;
        for &byte in bytes {
            match (previous, byte) {
                (b'\r', b'\n') => {
                    count.cr = count.cr.saturating_sub(1);
                    count.crlf += 1;
                }
                (_, b'\n') => count.lf += 1,
                (_, b'\r') => count.cr += 1,
                _ => {}
            }
            previous = byte;
        }
        count
    }

    /// The most frequent ending; `\n` when there is none or nothing else wins.
    pub fn dominant(self) -> LineEnding {
        if self.crlf > self.lf && self.crlf >= self.cr {
            LineEnding::Crlf
        } else if self.cr > self.lf && self.cr > self.crlf {
            LineEnding::Cr
        } else {
            LineEnding::Lf
        }
    }

    /// Whether every line that ends, ends in `\r\n`.
    pub fn only_crlf(self) -> bool {
        self.crlf > 0 && self.lf == 0 && self.cr == 0
    }
}

/// The most frequent line ending; `\n` when there is none or nothing else wins.
pub fn dominant_line_ending(bytes: &[u8]) -> LineEnding {
    match Encoding::of_mark(bytes) {
        Some(Encoding::Utf16Le | Encoding::Utf16Be) => {
            LineEndings::count(decode(bytes).text.as_bytes()).dominant()
        }
        _ => LineEndings::count(bytes).dominant(),
    }
}

/// The byte offset at which each line starts, splitting at `\n` only; empty for empty input.
pub fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    if bytes.is_empty() {
        return starts;
    }
    starts.push(0);
    let after = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
    starts.extend(after.filter(|start| *start < bytes.len()));
    starts
}

/// How many lines people would count: `\n` ends a line, and a rest without one is a line too.
pub fn count_lines(bytes: &[u8]) -> usize {
    let ends = bytes.iter().filter(|b| **b == b'\n').count();
    ends + usize::from(bytes.last().is_some_and(|b| *b != b'\n'))
}

/// The bytes for overwriting `old` with `new`: the byte order mark and encoding stay, and so does a line ending that
/// the old file has throughout, if the new text uses another throughout. Anything else is exactly `new`.
pub fn adapt_overwrite(old: &[u8], new: &str) -> Vec<u8> {
    let encoding = Encoding::of(old);
    if encoding == Encoding::Bytes || is_binary(old) {
        return new.as_bytes().to_vec();
    }
    let text = if encoding.bom().is_empty() { new } else { new.strip_prefix('\u{feff}').unwrap_or(new) };
    let was = LineEndings::count(decode(old).text.as_bytes());
    let is = LineEndings::count(text.as_bytes());
    if was.only_crlf() && !text.contains('\r') {
        encode(&text.replace('\n', "\r\n"), encoding)
    } else if was.lf > 0 && was.crlf + was.cr == 0 && is.only_crlf() {
        encode(&text.replace("\r\n", "\n"), encoding)
    } else {
        encode(text, encoding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_apart_and_round_trip() {
        for (bytes, encoding) in [
            (&b"plain"[..], Encoding::Utf8),
            (b"\xef\xbb\xbfmark", Encoding::Utf8Bom),
            (b"\xff\xfea\0", Encoding::Utf16Le),
            (b"\xfe\xff\0a", Encoding::Utf16Be),
            (b"caf\xe9", Encoding::Bytes),
        ] {
            let decoded = decode(bytes);
            assert_eq!(decoded.encoding, encoding);
            if !decoded.lossy {
                assert_eq!(encode(&decoded.text, encoding), bytes);
            }
        }
        assert!(decode(b"\xff\xfea\0b").lossy);
        assert_eq!(decode(b"\xff\xfe\0\0a\0\0\0").encoding, Encoding::Bytes);
    }

    #[test]
    fn binary_is_recognised() {
        assert!(is_binary(b"\x7fELF\x02\x01\x01\0\0"));
        assert!(is_binary(&[1, 2, 3, 4, 5]));
        assert!(!is_binary(b""));
        assert!(!is_binary(b"\xff\xfea\0\n\0"));
        assert!(!is_binary("\u{1b}[31mred\u{1b}[0m text and caf\u{e9}\n".as_bytes()));
        assert!(!is_binary(b"latin \xe9\xe8\xe7\n"));
    }

    #[test]
    fn line_helpers_split_at_newlines_only() {
        assert_eq!(line_starts(b"a\r\nb\rc\n\n"), [0, 3, 7]);
        assert_eq!(count_lines(b"a\r\nb\rc\n\n"), 3);
        assert_eq!(count_lines(b""), 0);
        assert_eq!(count_lines(b"a"), 1);
        assert_eq!(dominant_line_ending(b"a\r\nb\r\nc\n"), LineEnding::Crlf);
        assert_eq!(dominant_line_ending(b"a\rb\rc"), LineEnding::Cr);
        assert_eq!(dominant_line_ending(b""), LineEnding::Lf);
    }

    #[test]
    fn overwriting_keeps_the_form_of_the_file() {
        assert_eq!(adapt_overwrite(b"a\r\nb\r\n", "x\ny\n"), b"x\r\ny\r\n");
        assert_eq!(adapt_overwrite(b"a\r\nb\n", "x\ny\n"), b"x\ny\n");
        assert_eq!(adapt_overwrite(b"a\r\nb\r\n", "x\r\ny\n"), b"x\r\ny\n");
        assert_eq!(adapt_overwrite(b"\xef\xbb\xbfa\n", "x\n"), b"\xef\xbb\xbfx\n");
        assert_eq!(adapt_overwrite(b"\xef\xbb\xbfa\n", "\u{feff}x\n"), b"\xef\xbb\xbfx\n");
        assert_eq!(adapt_overwrite(b"\xff\xfea\0", "x"), b"\xff\xfex\0");
        assert_eq!(adapt_overwrite(b"", "x\n"), b"x\n");
    }
}
