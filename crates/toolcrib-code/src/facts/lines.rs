//! From byte offsets to lines, and to columns in characters where the source is at hand.

use serde::{Deserialize, Serialize};

use super::Span;

/// Where lines begin, as distances: a line of less than 128 bytes takes one byte when stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineTable {
    starts: Vec<u32>,
}

impl LineTable {
    /// Of a source.
    pub fn of(source: &[u8]) -> Self {
        let breaks = source.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Self { starts: std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect() }
    }

    /// The line of an offset, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|start| *start <= offset).max(1) as u32
    }

    /// The last line that a span has a byte in.
    pub fn last_line(&self, span: Span) -> u32 {
        self.line(span.end.saturating_sub(1).max(span.start))
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no line at all.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Where a line begins and ends, without its line break.
    pub fn span(&self, line: u32, source: &[u8]) -> Span {
        let index = (line as usize).saturating_sub(1);
        let start = self.starts.get(index).copied().unwrap_or(source.len() as u32);
        let end = self.starts.get(index + 1).map_or(source.len() as u32, |next| next - 1);
        let crlf = Span::new(start, end).of(source).last() == Some(&b'\r');
        Span::new(start, end - u32::from(crlf))
    }

    /// The line and the column in characters of an offset, both from 1.
    pub fn position(&self, offset: u32, source: &[u8]) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or(0);
        let before = Span::new(start, offset).of(source);
        (line, String::from_utf8_lossy(before).chars().count() as u32 + 1)
    }

    /// The offset of a line and a column in characters, both from 1.
    pub fn offset(&self, line: u32, column: u32, source: &[u8]) -> u32 {
        let span = self.span(line, source);
        let text = String::from_utf8_lossy(span.of(source));
        let before: usize = text.chars().take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        span.start + before as u32
    }

    pub(super) fn shrink(&mut self) {
        let mut last = 0;
        for start in &mut self.starts {
            (last, *start) = (*start, start.wrapping_sub(last));
        }
    }

    pub(super) fn grow(&mut self) {
        let mut last: u32 = 0;
        for start in &mut self.starts {
            last = last.wrapping_add(*start);
            *start = last;
        }
    }
}
