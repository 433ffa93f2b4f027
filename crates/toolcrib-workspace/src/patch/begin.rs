//! The `*** Begin Patch` format.

use super::{FilePatch, Hunk, HunkLine, PatchError, unified};

const HEADERS: &str =
    "`*** Add File: path`, `*** Update File: path`, `*** Delete File: path` or `*** End Patch`";

/// Whether a line starts such a patch: the marker, or a file header where the marker was forgotten.
pub(super) fn starts(line: &str) -> bool {
    is_begin(line) || matches!(header(line), Some(Header::Add(_) | Header::Update(_) | Header::Delete(_)))
}

fn is_begin(line: &str) -> bool {
    marker(line) == Some("Begin Patch")
}

/// The words of a marker line, which models also write as `*** Begin Patch ***`.
fn marker(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("***")?.trim_start();
    Some(rest.strip_suffix("***").unwrap_or(rest).trim())
}

enum Header<'a> {
    Add(&'a str),
    Update(&'a str),
    Delete(&'a str),
    Move(&'a str),
    EndOfFile,
    End,
}

fn header(line: &str) -> Option<Header<'_>> {
    let words = marker(line)?;
    let path = |name: &str| words.strip_prefix(name).map(str::trim);
    if words == "End Patch" {
        Some(Header::End)
    } else if words == "End of File" {
        Some(Header::EndOfFile)
    } else if let Some(path) = path("Add File:") {
        Some(Header::Add(path))
    } else if let Some(path) = path("Update File:") {
        Some(Header::Update(path))
    } else if let Some(path) = path("Delete File:") {
        Some(Header::Delete(path))
    } else {
        path("Move to:").map(Header::Move)
    }
}

struct Parser<'a> {
    lines: &'a [&'a str],
    at: usize,
    /// The line of `*** End Patch`.
    end: usize,
}

/// Parses from the marker on; what comes before it (a fence, a heredoc, a sentence) does not matter.
pub(super) fn parse(lines: &[&str], start: usize) -> Result<Vec<FilePatch>, PatchError> {
    let marked = lines.get(start).is_some_and(|line| is_begin(line));
    let end = lines.iter().rposition(|line| matches!(header(line), Some(Header::End)));
    let end = match end.filter(|end| *end >= start) {
        Some(end) => end,
        None if !marked => lines.len(),
        None => {
            return Err(PatchError::new(
                lines.len().max(1),
                "`*** End Patch` is missing; the patch may be cut off",
            ));
        }
    };
    let mut parser = Parser { lines, at: start + usize::from(marked), end };
    let mut files = Vec::new();
    while let Some(line) = parser.peek() {
        if line.trim().is_empty() || matches!(header(line), Some(Header::End)) || is_begin(line) {
            parser.at += 1;
            continue;
        }
        files.push(parser.file(line)?);
    }
    Ok(files)
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied().filter(|_| self.at < self.end)
    }

    fn error(&self, message: impl Into<String>) -> PatchError {
        PatchError::new(self.at + 1, message)
    }

    fn file(&mut self, line: &'a str) -> Result<FilePatch, PatchError> {
        let header = header(line);
        let path = match header {
            Some(Header::Add(path) | Header::Update(path) | Header::Delete(path)) => path,
            _ => return Err(self.error(format!("expected {HEADERS}, found `{}`", line.trim()))),
        };
        if path.is_empty() {
            return Err(self.error("the path is missing"));
        }
        let path = path.to_owned();
        self.at += 1;
        match header {
            Some(Header::Add(_)) => Ok(FilePatch::Add { path, content: self.added() }),
            Some(Header::Delete(_)) => Ok(FilePatch::Delete { path }),
            _ => self.update(path),
        }
    }

    fn added(&mut self) -> Vec<u8> {
        let mut content = Vec::new();
        while let Some(line) = self.peek() {
            let continues = || self.lines.get(self.at + 1).is_some_and(|next| next.starts_with('+'));
            let text = match line.strip_prefix('+') {
                Some(text) => text,
                // A blank line whose sign was forgotten, within the file.
                None if line.trim_end_matches('\r').is_empty() && continues() => line,
                None => break,
            };
            content.extend_from_slice(text.as_bytes());
            content.push(b'\n');
            self.at += 1;
        }
        content
    }

    fn update(&mut self, path: String) -> Result<FilePatch, PatchError> {
        let mut move_to = None;
        if let Some(Header::Move(to)) = self.peek().and_then(header) {
            if to.is_empty() {
                return Err(self.error("the path is missing"));
            }
            move_to = Some(to.to_owned());
            self.at += 1;
        }
        let mut hunks = Vec::new();
        while let Some(line) = self.peek() {
            let next_file = line.starts_with("***") && !matches!(header(line), Some(Header::EndOfFile));
            if next_file || (hunks.is_empty() && starts(line)) {
                break;
            }
            if line.trim().is_empty() && self.only_blank_until_next() {
                self.at += 1;
                continue;
            }
            hunks.push(self.hunk()?);
        }
        if hunks.is_empty() && move_to.is_none() {
            return Err(self.error(format!("the update of `{path}` has no hunk; start one with `@@`")));
        }
        Ok(FilePatch::Update { path, move_to, hunks })
    }

    /// Whether nothing but blank lines is left before the next header or hunk.
    fn only_blank_until_next(&self) -> bool {
        let rest = self.lines.get(self.at..self.end).unwrap_or_default();
        rest.iter()
            .find(|line| !line.trim().is_empty())
            .is_none_or(|line| line.starts_with("***") || line.starts_with("@@"))
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let mut hunk = Hunk::default();
        while let Some(rest) = self.peek().and_then(|line| line.strip_prefix("@@")) {
            match unified::ranges(rest) {
                Some((old_start, _, _)) => hunk.old_start = Some(old_start),
                None => {
                    let anchor = rest.strip_suffix("@@").unwrap_or(rest);
                    let anchor = anchor.strip_prefix(' ').unwrap_or(anchor).trim_end();
                    if !anchor.trim().is_empty() {
                        hunk.anchors.push(anchor.to_owned());
                    }
                }
            }
            self.at += 1;
        }
        while let Some(line) = self.peek() {
            if line.starts_with("@@") || (line.trim().is_empty() && self.only_blank_until_next()) {
                break;
            }
            if line.starts_with("***") {
                if matches!(header(line), Some(Header::EndOfFile)) {
                    hunk.end_of_file = true;
                    self.at += 1;
                }
                break;
            }
            let Some(line) = signed(line) else {
                let shown: String = line.chars().take(80).collect();
                return Err(self.error(format!(
                    "a line of a hunk must start with ' ' (stays), '-' (goes) or '+' (comes); found `{shown}`"
                )));
            };
            hunk.lines.push(line);
            self.at += 1;
        }
        let hunk = hunk.without_cr();
        if hunk.lines.is_empty() {
            return Err(self.error("the hunk is empty"));
        }
        Ok(hunk)
    }
}

/// A line of a hunk by its sign; an empty one is a blank line that stays.
pub(super) fn signed(line: &str) -> Option<HunkLine> {
    let mut chars = line.chars();
    let sign = chars.next();
    let text = chars.as_str().to_owned();
    match sign {
        // A blank line whose sign was forgotten.
        Some('\r') if text.is_empty() => Some(HunkLine::Context(text)),
        None | Some(' ') => Some(HunkLine::Context(text)),
        Some('-') => Some(HunkLine::Remove(text)),
        Some('+') => Some(HunkLine::Add(text)),
        Some(_) => None,
    }
}
