//! From a path to the lines that are shown.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use base64::Engine;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{Attachment, ErrorCode, ToolError, tokens};
use toolcrib_workspace::{OpenFile, ReadWorkspace, text};

use super::File;
use crate::support::change::MAX_EDIT_BYTES;
use crate::support::errors::tool_error;
use crate::support::outline::outline;

/// Files up to this size are read whole; larger ones are streamed. Whatever can be edited must count as read.
const MAX_WHOLE: u64 = MAX_EDIT_BYTES;
/// A streamed file is scanned this far, for counting its lines and finding a range.
const MAX_SCAN: u64 = 2 << 30;
/// Lines shown at most.
const MAX_LINES: usize = 2_000;
/// Characters of a line shown at most.
const MAX_LINE_CHARS: usize = 2_000;
/// Images up to this size are attached.
const MAX_IMAGE: u64 = 5 << 20;
/// Lines of a file too long to show that come with its outline.
const HEAD_LINES: usize = 60;
/// How far back from the end a streamed file is remembered, in lines.
const MAX_TAIL: usize = 100_000;

/// Which lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub offset: Option<i64>,
    pub limit: Option<usize>,
}

/// A file, what it costs, and all of its bytes if they are all shown.
pub(super) struct Loaded {
    pub file: File,
    pub tokens: usize,
    pub whole: Option<Vec<u8>>,
}

/// The path of `a.rs:10-20`, if it is a range.
pub(super) fn without_range(given: &str) -> Option<&str> {
    parse_range(given).map(|(path, _)| path)
}

/// `a.rs:10-20` is a range, unless there is a file of that name.
pub(super) fn split_range<'a>(workspace: &ReadWorkspace, given: &'a str, range: Range) -> (&'a str, Range) {
    match parse_range(given) {
        Some((path, found)) if workspace.stat(given).is_err() => (path, found),
        _ => (given, range),
    }
}

fn parse_range(given: &str) -> Option<(&str, Range)> {
    let (path, lines) = given.rsplit_once(':')?;
    if path.is_empty() || lines.is_empty() {
        return None;
    }
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
    let (first, limit) = match lines.split_once('-') {
        Some((first, "")) => (number(first)?, None),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            (first, Some(last.checked_sub(first)? + 1))
        }
        None => (number(lines)?, Some(1)),
    };
    Some((path, Range { offset: i64::try_from(first).ok(), limit }))
}

pub(super) fn load(
    workspace: &ReadWorkspace,
    path: &str,
    range: Range,
    budget: usize,
) -> Result<Loaded, ToolError> {
    let open = workspace.open_file(path).map_err(|error| tool_error(&error))?;
    if open.size > MAX_WHOLE {
        return stream(open, range, budget);
    }
    drop(open);
    let data = workspace.read(path, MAX_WHOLE + (1 << 20)).map_err(|error| tool_error(&error))?;
    let mut file = File {
        path: data.path,
        start_line: 0,
        end_line: 0,
        total_lines: 0,
        bytes: data.size,
        hash: Some(data.hash.to_string()),
        content: String::new(),
        outline: None,
        mime: None,
        notes: Vec::new(),
        next_line: None,
        cut: false,
        attachment: None,
    };
    if let Some(mime) = image_type(&data.bytes) {
        attach(&mut file, mime, &data.bytes)?;
        return Ok(Loaded { file, tokens: 0, whole: None });
    }
    if text::is_binary(&data.bytes) {
        return Err(binary(&file.path, data.size));
    }
    let decoded = text::decode(&data.bytes);
    file.notes.extend(encoding_note(&decoded));
    let tokens = fill(&mut file, &decoded.text, range, budget);
    let complete = file.start_line <= 1 && file.end_line == file.total_lines;
    Ok(Loaded { file, tokens, whole: complete.then_some(data.bytes) })
}

fn binary(path: &str, size: u64) -> ToolError {
    ToolError::new(ErrorCode::BinaryFile, format!("{} is a binary file of {size} bytes", visible_path(path)))
}

fn encoding_note(decoded: &text::Decoded) -> Option<String> {
    match decoded.encoding {
        text::Encoding::Utf16Le | text::Encoding::Utf16Be => Some("the file is UTF-16".into()),
        _ if decoded.lossy => {
            Some("the file is not valid UTF-8; bytes that could not be decoded are shown as \u{fffd}".into())
        }
        _ => None,
    }
}

/// Fills in the lines of `range` that fit; returns what they cost.
fn fill(file: &mut File, text: &str, range: Range, budget: usize) -> usize {
    // With their newlines, which the last one may lack.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    file.total_lines = lines.len();
    let explicit = range.offset.is_some() || range.limit.is_some();
    let (start, wanted) = bounds(range, lines.len());
    let chosen = lines.get(start..start.saturating_add(wanted).min(lines.len())).unwrap_or_default();
    let mut taken = take(chosen, start, budget, explicit);
    let entries =
        if explicit || taken.lines == lines.len() { Vec::new() } else { outline(lines.iter().copied()) };
    if !entries.is_empty() {
        // Too long to show: a beginning, and a map to choose from.
        let cost: usize = entries.iter().map(|entry| entry.text.len() / 3 + 3).sum();
        taken = take(chosen.get(..HEAD_LINES).unwrap_or(chosen), start, budget.saturating_sub(cost), true);
        file.outline = Some(entries);
    }
    file.start_line = if taken.lines == 0 { 0 } else { start + 1 };
    file.end_line = if taken.lines == 0 { 0 } else { start + taken.lines };
    file.content = taken.content;
    file.cut = taken.lines < chosen.len() || (!explicit && taken.lines < lines.len());
    if taken.cut > 0 {
        file.notes
            .push(format!("{} lines were longer than {MAX_LINE_CHARS} characters and are cut", taken.cut));
    }
    if taken.lines == 0 && !lines.is_empty() {
        file.notes.push(format!("the file has only {} lines", lines.len()));
    }
    let end = start + taken.lines;
    file.next_line = (end < lines.len() && taken.lines > 0).then_some(end + 1);
    taken.tokens
}

/// First line (from 0) and number of lines.
fn bounds(range: Range, total: usize) -> (usize, usize) {
    let start = match range.offset {
        Some(offset) if offset < 0 => {
            total.saturating_sub(usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX))
        }
        Some(offset) => usize::try_from(offset - 1).unwrap_or(usize::MAX),
        None => 0,
    };
    (start, range.limit.unwrap_or(MAX_LINES))
}

struct Taken {
    content: String,
    lines: usize,
    tokens: usize,
    cut: usize,
}

/// As many whole lines as the budget allows; at least one if `some`.
fn take(lines: &[&str], start: usize, budget: usize, some: bool) -> Taken {
    let mut taken = Taken { content: String::new(), lines: 0, tokens: 0, cut: 0 };
    let mut shown_bytes = 0usize;
    for (index, line) in lines.iter().enumerate() {
        let (shown, cut) = clip(line);
        let number = start + index + 1;
        // A number costs a token or two, the rest at most a token a byte.
        shown_bytes += shown.len() + number.to_string().len() + 2;
        if shown_bytes > budget {
            let rendered = format!("{number}\t{shown}");
            let before = if taken.tokens == 0 {
                tokens::count(&numbered(&taken.content, start))
            } else {
                taken.tokens
            };
            let cost = before + tokens::count(&rendered);
            if cost > budget && !(some && taken.lines == 0) {
                break;
            }
            taken.tokens = cost;
        }
        taken.content.push_str(&shown);
        taken.lines += 1;
        taken.cut += usize::from(cut);
    }
    if taken.tokens == 0 {
        taken.tokens = shown_bytes.min(budget);
    }
    taken
}

/// Content as it is shown.
pub(super) fn numbered(content: &str, start: usize) -> String {
    let mut text = String::with_capacity(content.len() + content.len() / 8);
    for (index, line) in content.split_inclusive('\n').enumerate() {
        text.push_str(&(start + index + 1).to_string());
        text.push('\t');
        // A carriage return belongs to the line's ending, and is not shown.
        match line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\r')) {
            Some(body) => text.extend([body, "\n"]),
            None => text.push_str(line),
        }
    }
    text
}

/// A line that is not too long to show.
fn clip(line: &str) -> (std::borrow::Cow<'_, str>, bool) {
    if line.len() <= MAX_LINE_CHARS {
        return (line.into(), false);
    }
    match line.char_indices().nth(MAX_LINE_CHARS) {
        None => (line.into(), false),
        Some((end, _)) if line.get(end..) == Some("\n") => (line.into(), false),
        Some((end, _)) => {
            let rest = line.get(end..).unwrap_or_default().trim_end_matches('\n').chars().count();
            (format!("{}[… {rest} more characters]\n", line.get(..end).unwrap_or_default()).into(), true)
        }
    }
}

/// A file too large to hold: only the wanted lines are kept.
fn stream(open: OpenFile, range: Range, budget: usize) -> Result<Loaded, ToolError> {
    let OpenFile { path, size, mut reader, .. } = open;
    let io_error =
        |error: &std::io::Error| tool_error(&toolcrib_workspace::Error::from_io(error, path.clone()));
    let mut head = vec![0; 8 << 10];
    let got = reader.read(&mut head).map_err(|error| io_error(&error))?;
    head.truncate(got);
    if text::is_binary(&head) {
        return Err(binary(&path, size));
    }
    reader.seek(SeekFrom::Start(0)).map_err(|error| io_error(&error))?;
    let mut file = File {
        path: path.clone(),
        start_line: 0,
        end_line: 0,
        total_lines: 0,
        bytes: size,
        hash: None,
        content: String::new(),
        outline: None,
        mime: None,
        notes: Vec::new(),
        next_line: None,
        cut: false,
        attachment: None,
    };
    let mut scan = Scan::new(BufReader::with_capacity(1 << 20, reader.take(MAX_SCAN)), range);
    scan.run().map_err(|error| io_error(&error))?;
    let start = scan.first;
    let shown = range.limit.unwrap_or(MAX_LINES).min(MAX_LINES);
    let lines: Vec<&str> = scan.kept.iter().map(String::as_str).take(shown).collect();
    let taken = take(&lines, start, budget, true);
    file.total_lines = scan.total;
    file.start_line = if taken.lines == 0 { 0 } else { start + 1 };
    file.end_line = if taken.lines == 0 { 0 } else { start + taken.lines };
    file.content = taken.content;
    file.notes.push(format!("the file has {size} bytes"));
    if size > MAX_SCAN {
        file.notes
            .push(format!("only its first {MAX_SCAN} bytes were looked at; it has more lines than counted"));
    }
    if taken.lines == 0 {
        file.notes.push(format!("the file has only {} lines", scan.total));
    }
    file.cut = taken.lines < lines.len();
    let end = start + taken.lines;
    file.next_line = (end < scan.total && taken.lines > 0).then_some(end + 1);
    Ok(Loaded { file, tokens: taken.tokens, whole: None })
}

/// Counts lines and keeps the wanted ones, each cut to what could be shown.
struct Scan<R> {
    reader: R,
    start: usize,
    from_end: bool,
    wanted: usize,
    first: usize,
    total: usize,
    kept: std::collections::VecDeque<String>,
}

impl<R: BufRead> Scan<R> {
    fn new(reader: R, range: Range) -> Self {
        let from_end = range.offset.is_some_and(|offset| offset < 0);
        let limit = range.limit.unwrap_or(MAX_LINES).min(MAX_LINES);
        let start = match range.offset {
            Some(offset) if offset > 0 => usize::try_from(offset - 1).unwrap_or(usize::MAX),
            _ => 0,
        };
        let tail =
            range.offset.map_or(0, |offset| usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX));
        let wanted = if from_end { tail.min(MAX_TAIL) } else { limit };
        Self {
            reader,
            start,
            from_end,
            wanted,
            first: start,
            total: 0,
            kept: std::collections::VecDeque::new(),
        }
    }

    fn run(&mut self) -> std::io::Result<()> {
        let mut line: Vec<u8> = Vec::new();
        let mut open = false;
        loop {
            let wanted = self.is_wanted();
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let used = newline.map_or(chunk.len(), |at| at + 1);
            let text = chunk.get(..newline.unwrap_or(chunk.len())).unwrap_or_default();
            let room = (MAX_LINE_CHARS * 4 + 4).saturating_sub(line.len());
            if wanted {
                line.extend_from_slice(text.get(..text.len().min(room)).unwrap_or_default());
            }
            self.reader.consume(used);
            open = newline.is_none();
            if !open {
                self.end_line(&mut line);
            }
        }
        if open {
            self.end_line(&mut line);
        }
        if self.from_end {
            self.first = self.total - self.kept.len();
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        self.from_end || (self.total >= self.start && self.kept.len() < self.wanted)
    }

    fn end_line(&mut self, line: &mut Vec<u8>) {
        if self.is_wanted() {
            self.kept.push_back(format!("{}\n", String::from_utf8_lossy(line)));
            if self.from_end && self.kept.len() > self.wanted {
                self.kept.pop_front();
            }
        }
        line.clear();
        self.total += 1;
    }
}

/// The media type, by the first bytes.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    match bytes {
        _ if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        _ if bytes.starts_with(b"\xff\xd8\xff") => Some("image/jpeg"),
        _ if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") => Some("image/gif"),
        _ if webp => Some("image/webp"),
        _ => None,
    }
}

fn attach(file: &mut File, mime: &'static str, bytes: &[u8]) -> Result<(), ToolError> {
    if bytes.len() as u64 > MAX_IMAGE {
        let message = format!(
            "{} is an image of {} bytes; at most {MAX_IMAGE} are shown",
            visible_path(&file.path),
            bytes.len()
        );
        return Err(ToolError::new(ErrorCode::LimitExceeded, message));
    }
    let name = file.path.rsplit('/').next().unwrap_or_default().to_owned();
    let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
    file.attachment = Some(Attachment { mime: mime.to_owned(), name, base64 });
    file.mime = Some(mime);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_in_paths() {
        let range = |offset, limit| Range { offset: Some(offset), limit };
        for (given, expected) in [
            ("a.rs:10-20", Some(("a.rs", range(10, Some(11))))),
            ("a.rs:10", Some(("a.rs", range(10, Some(1))))),
            ("a.rs:10-", Some(("a.rs", range(10, None)))),
            ("a.rs", None),
            ("a:b", None),
            ("a:20-10", None),
            ("a:0", None),
            (":5", None),
            ("spill://x.txt", None),
        ] {
            assert_eq!(parse_range(given), expected, "{given}");
        }
    }

    #[test]
    fn scanning_keeps_only_what_is_wanted() {
        let text: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
        let scan = |offset, limit| {
            let mut scan = Scan::new(std::io::Cursor::new(&text), Range { offset, limit });
            scan.run().unwrap();
            (scan.first, scan.total, scan.kept.len(), scan.kept.front().cloned().unwrap_or_default())
        };
        assert_eq!(scan(Some(100), Some(3)), (99, 5000, 3, "line 100\n".into()));
        assert_eq!(scan(Some(-2), None), (4998, 5000, 2, "line 4999\n".into()));
        assert_eq!(scan(Some(9000), None), (8999, 5000, 0, String::new()));
    }

    #[test]
    fn one_endless_line_is_bounded() {
        let text = "x".repeat(50 << 20);
        let mut scan = Scan::new(std::io::Cursor::new(&text), Range::default());
        scan.run().unwrap();
        assert_eq!((scan.total, scan.kept.len()), (1, 1));
        assert!(scan.kept[0].len() < 10_000);
    }
}
