//! From lines and columns to bytes.

use crate::facts::{LineTable, Span};

/// What the columns of a document count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

/// A range as it is written down: from 0, the end not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub struct Range {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

impl Range {
    /// The bytes of it in a source; none if the source has no such place.
    pub fn span(&self, source: &[u8], lines: &LineTable, encoding: Encoding) -> Option<Span> {
        let start = offset(source, lines, encoding, self.line, self.column)?;
        let end = offset(source, lines, encoding, self.end_line, self.end_column)?;
        (start <= end).then(|| Span::new(start, end))
    }
}

fn offset(source: &[u8], lines: &LineTable, encoding: Encoding, line: u32, column: u32) -> Option<u32> {
    if line as usize >= lines.len() {
        return None;
    }
    let span = lines.span(line.checked_add(1)?, source);
    let text = span.of(source);
    let bytes = match encoding {
        Encoding::Utf8 => column,
        _ if text.iter().take(column as usize).all(u8::is_ascii) => column,
        _ => {
            let text = std::str::from_utf8(text).ok()?;
            let (mut units, mut bytes) = (0, 0);
            for c in text.chars() {
                if units >= column {
                    break;
                }
                units += if encoding == Encoding::Utf16 { c.len_utf16() as u32 } else { 1 };
                bytes += c.len_utf8() as u32;
            }
            // Past the end of the line, or in the middle of a character.
            if units != column {
                return None;
            }
            bytes
        }
    };
    let at = span.start.checked_add(bytes)?;
    (at <= span.end).then_some(at)
}
