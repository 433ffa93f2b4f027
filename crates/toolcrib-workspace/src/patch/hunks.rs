//! Applies hunks to a file's bytes.

use crate::edit::build::{self, Builder, Op};
use crate::edit::closest::{closest, show};
use crate::edit::find::{Found, Level};
use crate::edit::lines::Lines;
use crate::edit::{Body, RefusalKind, Splice, variants};
use crate::text::{Encoding, LineEndings};

use super::place::{Place, Progress, insertion, place};
use super::{Hunk, HunkLine, HunkRefusal};

/// How many fitting places a refusal lists.
const MAX_CANDIDATES: usize = 8;

/// Applies all hunks, or none. Bytes outside of what they change stay as they are.
pub fn apply_hunks(bytes: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, Box<HunkRefusal>> {
    let body =
        Body::open(bytes).map_err(|message| Box::new(refusal(RefusalKind::NotLossless, 1, message)))?;
    let file = Lines::new(&body.bytes, true);
    let ending = LineEndings::count(&body.bytes).dominant().bytes();
    let mut progress = Progress::default();
    let mut splices: Vec<Splice> = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        let patcher = Patcher { file: &file, hunk, number: index + 1, ending, encoding: body.encoding };
        let (splice, next) = patcher.splice(progress)?;
        let overlaps = |other: &&Splice| splice.0.start < other.0.end && other.0.start < splice.0.end;
        if splices.iter().any(|other| overlaps(&other)) {
            let message = "It changes lines that an earlier hunk of this file changes.".to_owned();
            return Err(Box::new(refusal(RefusalKind::Overlap, index + 1, message)));
        }
        progress = next;
        splices.push(splice);
    }
    // Stable, so that insertions at one place keep their order.
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = Vec::with_capacity(body.bytes.len());
    let mut from = 0;
    for (range, new) in &splices {
        out.extend_from_slice(body.bytes.get(from..range.start).unwrap_or_default());
        out.extend_from_slice(new);
        from = range.end;
    }
    out.extend_from_slice(body.bytes.get(from..).unwrap_or_default());
    Ok(body.close(out))
}

fn refusal(kind: RefusalKind, hunk: usize, message: String) -> HunkRefusal {
    HunkRefusal {
        kind,
        hunk,
        message: format!("Hunk {hunk}: {message} Nothing was written."),
        candidates: Vec::new(),
        first_divergence: None,
        suggestion: "Read the region again and repeat its exact lines as context.".to_owned(),
    }
}

struct Patcher<'a> {
    file: &'a Lines<'a>,
    hunk: &'a Hunk,
    number: usize,
    ending: &'static [u8],
    encoding: Encoding,
}

/// The hunk as old and new text and the steps between them.
struct Parts<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ops: Vec<Op>,
}

impl<'a> Parts<'a> {
    fn of(lines: &'a [HunkLine]) -> Parts<'a> {
        let mut parts = Parts { old: Vec::new(), new: Vec::new(), ops: Vec::new() };
        let (mut removed, mut added) = (0, 0);
        for line in lines {
            match line {
                HunkLine::Context(text) => {
                    parts.flush(&mut removed, &mut added);
                    parts.ops.push(Op::Keep(parts.old.len()));
                    parts.old.push(text);
                    parts.new.push(text);
                }
                HunkLine::Remove(text) => {
                    if added > 0 {
                        parts.flush(&mut removed, &mut added);
                    }
                    parts.old.push(text);
                    removed += 1;
                }
                HunkLine::Add(text) => {
                    parts.new.push(text);
                    added += 1;
                }
            }
        }
        parts.flush(&mut removed, &mut added);
        parts
    }

    /// Lines that go, directly followed by lines that come, are lines that change.
    fn flush(&mut self, removed: &mut usize, added: &mut usize) {
        let (old, new) = (self.old.len(), self.new.len());
        build::replace_ops(&mut self.ops, &self.old, &self.new, old - *removed..old, new - *added..new);
        (*removed, *added) = (0, 0);
    }

    fn without_last_blank(mut self) -> Option<Parts<'a>> {
        let last = self.old.len().checked_sub(1)?;
        if self.ops.last() != Some(&Op::Keep(last)) || !self.old.last()?.is_empty() || last == 0 {
            return None;
        }
        self.ops.pop();
        self.old.pop();
        self.new.pop();
        Some(self)
    }
}

impl Patcher<'_> {
    fn splice(&self, progress: Progress) -> Result<(Splice, Progress), Box<HunkRefusal>> {
        let parts = Parts::of(&self.hunk.lines);
        self.check(&parts)?;
        if parts.old.is_empty() {
            return match insertion(self.file, self.hunk, progress) {
                Place::At(line, _) => Ok((self.insert(&parts, line), Progress { cursor: line, ..progress })),
                other => Err(self.refuse(&parts, other)),
            };
        }
        match place(self.file, self.hunk, &parts.old, progress) {
            Place::At(line, level) => self.replace(&parts, line, level, progress),
            // A blank last line of context is often just the end of the patch text.
            Place::Nowhere => {
                let shorter = Parts::of(&self.hunk.lines).without_last_blank();
                match shorter.map(|shorter| (place(self.file, self.hunk, &shorter.old, progress), shorter)) {
                    Some((Place::At(line, level), shorter)) => self.replace(&shorter, line, level, progress),
                    _ => Err(self.refuse(&parts, Place::Nowhere)),
                }
            }
            other => Err(self.refuse(&parts, other)),
        }
    }

    fn check(&self, parts: &Parts<'_>) -> Result<(), Box<HunkRefusal>> {
        let old = parts.old.join("\n");
        let new = parts.new.join("\n");
        let strange = |c: char| !c.is_ascii() && !old.contains(c);
        if self.encoding == Encoding::Bytes && new.chars().any(strange) {
            let message = "The file is not valid UTF-8, and the patch adds characters beyond ASCII; writing them as \
                           UTF-8 would mix encodings.";
            return Err(Box::new(refusal(RefusalKind::NotLossless, self.number, message.to_owned())));
        }
        match variants::placeholder(&old, &new) {
            Some(line) if !String::from_utf8_lossy(self.file.bytes).contains(line) => {
                let message = format!("It adds `{line}`, which stands for code that was left out.");
                Err(Box::new(refusal(RefusalKind::Placeholder, self.number, message)))
            }
            _ => Ok(()),
        }
    }

    /// The byte at which a line starts; the end of the file if there is none.
    fn start(&self, line: usize) -> usize {
        self.file.get(line).map_or(self.file.bytes.len(), |line| line.start)
    }

    fn ends_open(&self) -> bool {
        self.file.bytes.last().is_some_and(|byte| !matches!(byte, b'\n' | b'\r'))
    }

    fn insert(&self, parts: &Parts<'_>, line: usize) -> Splice {
        let at = if line >= self.file.count() { self.file.bytes.len() } else { self.start(line) };
        let mut out = Vec::new();
        if at == self.file.bytes.len() && self.ends_open() {
            out.extend_from_slice(self.ending);
        }
        for text in &parts.new {
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(self.ending);
        }
        if self.hunk.no_final_newline && at == self.file.bytes.len() {
            out.truncate(out.len().saturating_sub(self.ending.len()));
        }
        (at..at, out)
    }

    fn replace(
        &self,
        parts: &Parts<'_>,
        line: usize,
        level: Level,
        progress: Progress,
    ) -> Result<(Splice, Progress), Box<HunkRefusal>> {
        let after = line + parts.old.len();
        let (start, end) = (self.start(line), self.start(after));
        let at_end = after >= self.file.count();
        // The start of the line after the match, so that every line of it has its ending.
        let closed = !(at_end && self.ends_open());
        let mut map: Vec<Option<usize>> = (0..parts.old.len()).map(Some).collect();
        let (mut old, mut new, mut ops) = (parts.old.clone(), parts.new.clone(), parts.ops.clone());
        map.push(closed.then_some(parts.old.len()));
        ops.push(Op::Keep(old.len()));
        old.push("");
        new.push("");
        let builder = Builder {
            bytes: self.file.bytes,
            file: Some(self.file),
            old: &old,
            new: &new,
            ops: &ops,
            level,
            lone_cr: true,
            ending: Some(self.ending),
        };
        let built = builder.build(&Found { start, end, map });
        let mut out = built.map_err(|uncertain| self.uncertain(parts, line, &uncertain.0))?;
        let last_stays = matches!(parts.ops.last(), Some(Op::Keep(_)));
        if !closed && !last_stays && !parts.new.is_empty() && !self.hunk.no_final_newline {
            out.extend_from_slice(self.ending);
        }
        if closed && at_end && self.hunk.no_final_newline && out.ends_with(self.ending) {
            out.truncate(out.len() - self.ending.len());
        }
        let stated = self.hunk.old_start.map(|stated| line as isize - stated.saturating_sub(1) as isize);
        let progress =
            Progress { cursor: after.max(progress.cursor), drift: stated.unwrap_or(progress.drift) };
        Ok(((start..end, out), progress))
    }

    fn uncertain(&self, parts: &Parts<'_>, line: usize, why: &str) -> Box<HunkRefusal> {
        let message =
            format!("Its lines match from line {} on but for whitespace; however, {why}.", line + 1);
        let mut out = refusal(RefusalKind::NoMatch, self.number, message);
        out.candidates.push(show(self.file, line, line + parts.old.len().saturating_sub(1), 0, 1.0));
        Box::new(out)
    }

    fn refuse(&self, parts: &Parts<'_>, place: Place) -> Box<HunkRefusal> {
        Box::new(match place {
            Place::Several(places) => self.several(parts, &places),
            Place::NoAnchor(anchor) => {
                let message = format!("The file has no line `{anchor}` (after the hunks before).");
                self.with_closest(&[anchor.as_str()], &message)
            }
            Place::At(..) | Place::Nowhere => match self.made_already(parts) {
                Some(refused) => refused,
                None => self.with_closest(&parts.old, "Its context is not in the file."),
            },
        })
    }

    fn several(&self, parts: &Parts<'_>, places: &[usize]) -> HunkRefusal {
        let lines: Vec<String> = places.iter().take(20).map(|at| (at + 1).to_string()).collect();
        let message = format!("It fits {} places (lines {}).", places.len(), lines.join(", "));
        let mut out = refusal(RefusalKind::Ambiguous, self.number, message);
        out.suggestion =
            "Add lines of context, or name the enclosing line with `@@ that line`, until one place fits."
                .to_owned();
        let last = parts.old.len().saturating_sub(1);
        let shown = places.iter().take(MAX_CANDIDATES);
        out.candidates = shown.map(|at| show(self.file, *at, at + last, 2, 1.0)).collect();
        out
    }

    fn made_already(&self, parts: &Parts<'_>) -> Option<HunkRefusal> {
        let telling = parts.new != parts.old && parts.new.iter().any(|line| line.trim().len() >= 8);
        let found = telling.then(|| place(self.file, self.hunk, &parts.new, Progress::default()));
        let Some(Place::At(line, _)) = found else { return None };
        let message = format!("This change has been made already, at line {}.", line + 1);
        let mut out = refusal(RefusalKind::AlreadyApplied, self.number, message);
        out.candidates.push(show(self.file, line, line + parts.new.len().saturating_sub(1), 0, 1.0));
        out.suggestion = "Leave this hunk out.".to_owned();
        Some(out)
    }

    fn with_closest(&self, wanted: &[&str], message: &str) -> HunkRefusal {
        let found = closest(self.file, wanted);
        let message = match found.as_ref().and_then(|(candidates, _)| candidates.first()) {
            None => format!("{message} No region is similar to it."),
            Some(candidate) => format!(
                "{message} The closest region is lines {}-{} ({:.0} % alike).",
                candidate.start_line,
                candidate.end_line,
                candidate.similarity * 100.0
            ),
        };
        let mut out = refusal(RefusalKind::NoMatch, self.number, message);
        if let Some((candidates, divergence)) = found {
            out.candidates = candidates;
            out.first_divergence = divergence;
        }
        out
    }
}
