//! The head and the tail of a stream in memory, the count of what lies between, and all of it on disk if there is a
//! place for it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Gives a file for output that is too long for memory, and the name under which it can be read.
pub type Spill = Arc<dyn Fn() -> Option<(File, String)> + Send + Sync>;

/// How much of the beginning and of the end is kept.
const HEAD: usize = 128 << 10;
const TAIL: usize = 384 << 10;
/// How much goes to disk at most.
const MAX_SPILLED: u64 = 64 << 20;

/// Part of a stream, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The text before what is missing, or all of it.
    pub head: String,
    /// How many bytes are missing in between.
    pub skipped: u64,
    /// The text after what is missing.
    pub tail: String,
}

impl Piece {
    /// The text in one; what is missing is named in its place.
    pub fn text(&self) -> String {
        if self.skipped == 0 {
            return format!("{}{}", self.head, self.tail);
        }
        let line = if self.head.is_empty() || self.head.ends_with('\n') { "" } else { "\n" };
        format!("{}{line}[… {} bytes left out]\n{}", self.head, self.skipped, self.tail)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty() && self.skipped == 0
    }
}

/// One stream of a command.
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    ended: bool,
    spill: Option<Spill>,
    spilled: Option<(File, String, u64)>,
}

impl Capture {
    pub(crate) fn new(spill: Option<Spill>) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), total: 0, ended: false, spill, spilled: None }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        let (to_head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        if self.tail.len() + rest.len() > TAIL {
            self.begin_spill();
        }
        self.write_spill(bytes);
        self.head.extend_from_slice(to_head);
        self.total += bytes.len() as u64;
        let kept = rest.get(rest.len().saturating_sub(TAIL)..).unwrap_or_default();
        let surplus = (self.tail.len() + kept.len()).saturating_sub(TAIL);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(kept);
    }

    /// Opens the spill file with what is still whole in memory.
    fn begin_spill(&mut self) {
        let Some(make) = self.spill.take() else { return };
        let Some((mut file, name)) = make() else { return };
        let (front, back) = self.tail.as_slices();
        let written = file
            .write_all(&self.head)
            .and_then(|()| file.write_all(front))
            .and_then(|()| file.write_all(back));
        if written.is_ok() {
            self.spilled = Some((file, name, self.total));
        }
    }

    fn write_spill(&mut self, bytes: &[u8]) {
        if let Some((file, _, written)) = &mut self.spilled {
            let room = usize::try_from(MAX_SPILLED.saturating_sub(*written)).unwrap_or(usize::MAX);
            let part = bytes.get(..room.min(bytes.len())).unwrap_or_default();
            if file.write_all(part).is_ok() {
                *written += part.len() as u64;
            }
        }
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Where the whole is, and how much of it.
    pub(crate) fn spilled(&self) -> Option<(&str, u64)> {
        self.spilled.as_ref().map(|(_, name, bytes)| (name.as_str(), *bytes))
    }

    /// What came after `from`, and where the next piece begins. A character that is not whole yet waits for its rest.
    pub(crate) fn since(&self, from: u64) -> (Piece, u64) {
        let from = from.min(self.total);
        let tail_start = self.total - self.tail.len() as u64;
        let head_end = self.head.len() as u64;
        let in_head = self.head.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default();
        let skip_tail = usize::try_from(from.saturating_sub(tail_start)).unwrap_or(usize::MAX);
        let mut in_tail: Vec<u8> = self.tail.iter().copied().skip(skip_tail).collect();
        let skipped = tail_start.saturating_sub(from.max(head_end));
        if skipped == 0 {
            let mut all = in_head.to_vec();
            all.append(&mut in_tail);
            let held = if self.ended { 0 } else { unfinished(&all) };
            all.truncate(all.len() - held);
            return (Piece { head: lossy(&all), ..Piece::default() }, self.total - held as u64);
        }
        let held = if self.ended { 0 } else { unfinished(&in_tail) };
        in_tail.truncate(in_tail.len() - held);
        // A cut inside a character leaves bytes that are not one.
        let begun = in_head.get(..in_head.len() - unfinished(in_head)).unwrap_or_default();
        let loose = in_tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let piece = Piece {
            head: lossy(begun),
            skipped: skipped + (in_head.len() - begun.len() + loose) as u64,
            tail: lossy(in_tail.get(loose..).unwrap_or_default()),
        };
        (piece, self.total - held as u64)
    }

    /// Everything that is kept.
    pub(crate) fn whole(&self) -> Piece {
        let (piece, end) = self.since(0);
        // What is held back belongs to the whole all the same.
        if end == self.total {
            return piece;
        }
        let (rest, _) = Self { ended: true, ..self.ends_only() }.since(end);
        Piece { tail: piece.tail + &rest.head + &rest.tail, ..piece }
    }

    fn ends_only(&self) -> Self {
        Self {
            head: self.head.clone(),
            tail: self.tail.clone(),
            total: self.total,
            ended: self.ended,
            spill: None,
            spilled: None,
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let Some(byte) = bytes.get(bytes.len() - back) else { return 0 };
        let needs = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if needs > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[&[u8]]) -> Capture {
        let mut capture = Capture::new(None);
        for chunk in chunks {
            capture.push(chunk);
        }
        capture
    }

    #[test]
    fn characters_survive_being_read_in_parts() {
        let text = "aä€🦀z".repeat(3);
        for cut in 0..text.len() {
            let (one, two) = text.as_bytes().split_at(cut);
            let mut capture = captured(&[one]);
            let (first, at) = capture.since(0);
            capture.push(two);
            let (second, _) = capture.since(at);
            assert_eq!(first.head + &second.head, text, "cut at {cut}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_marked_and_break_nothing() {
        let mut capture = captured(&[b"ok \xff\xfe \xe2\x82", b"\xac \xf0\x9f"]);
        capture.end();
        assert_eq!(capture.whole().text(), "ok \u{fffd}\u{fffd} € \u{fffd}");
    }

    #[test]
    fn memory_is_bounded_and_what_is_missing_is_counted() {
        let mut capture = Capture::new(None);
        let line = b"0123456789abcde\n";
        for _ in 0..(4 << 20) / line.len() {
            capture.push(line);
        }
        let whole = capture.whole();
        assert!(capture.head.len() + capture.tail.len() <= HEAD + TAIL);
        assert_eq!(whole.head.len() as u64 + whole.skipped + whole.tail.len() as u64, 4 << 20);
        assert!(whole.text().contains("bytes left out"));
    }

    #[test]
    fn one_push_larger_than_everything() {
        let mut capture = captured(&[&vec![b'x'; 3 << 20]]);
        capture.end();
        let whole = capture.whole();
        assert_eq!((whole.head.len(), whole.tail.len()), (HEAD, TAIL));
        assert_eq!(whole.skipped as usize, (3 << 20) - HEAD - TAIL);
    }

    #[test]
    fn the_spill_holds_everything_in_order() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_owned();
        let spill: Spill = Arc::new(move || Some((File::create(&path).ok()?, "name".into())));
        let mut capture = Capture::new(Some(spill));
        let mut expected = Vec::new();
        for n in 0..60_000 {
            let line = format!("line {n}\n");
            expected.extend_from_slice(line.as_bytes());
            capture.push(line.as_bytes());
        }
        assert_eq!(capture.spilled(), Some(("name", expected.len() as u64)));
        assert!(std::fs::read(file.path()).unwrap() == expected);
    }

    #[test]
    fn pieces_follow_each_other_without_gap_or_overlap() {
        let mut capture = Capture::new(None);
        let (mut at, mut seen) = (0, String::new());
        for n in 0..1000 {
            capture.push(format!("{n} ").as_bytes());
            if n % 7 == 0 {
                let (piece, next) = capture.since(at);
                seen += &piece.text();
                at = next;
            }
        }
        seen += &capture.since(at).0.text();
        let all: String = (0..1000).map(|n| format!("{n} ")).collect();
        assert_eq!(seen, all);
    }
}
