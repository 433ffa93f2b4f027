//! Searching one file.
//!
//! Files are read, not mapped: for many small files that is several times faster, and a file that shrinks meanwhile does
//! no harm. One that fits the thread's buffer is searched there; a larger one streams through the searcher's own.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use grep_matcher::{Match, Matcher};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::grep::{FileMatches, GrepOptions, Line, Mode};
use super::lines::{Shown, show, without_break};
use super::pattern::Pattern;

/// A file is binary if there is a NUL in this much of it. Only its head is looked at, because a page of matches must not
/// depend on what comes later in the file.
const HEAD: usize = 1 << 20;
/// A line longer than this is not searched, nor what comes after it.
const MAX_LINE_BYTES: usize = 16 << 20;
/// A search across lines needs the whole file in memory.
const MAX_MULTILINE_BYTES: usize = 64 << 20;
/// More lines around a match than these are no longer its context.
const MAX_CONTEXT: usize = 1000;
/// Even a caller who asks for less gets this much of a line.
const MIN_SHOWN: usize = 20;
/// Most binary files show it here, before anything is searched; the rest of the head is looked at only if there is a
/// match to withhold.
const FIRST_LOOK: usize = 8 << 10;

/// What a file turned out to hold. Its path is put in only where it is needed.
pub(super) enum Found {
    Nothing,
    /// With what may have been left unsearched.
    Matches(FileMatches, Option<String>),
    Binary,
    TooLarge,
    /// No longer there.
    Gone,
    Failed(String),
}

impl Found {
    pub(super) fn from_error(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            return Self::Gone;
        }
        // The path is put in by `named`; until then its place is kept by an empty one.
        Self::Failed(crate::error::Error::from_io(&error, "").message().to_owned())
    }

    /// With the path that only now need be put together.
    pub(super) fn named(self, path: impl FnOnce() -> String) -> Self {
        match self {
            Self::Matches(mut matches, notice) => {
                matches.path = path();
                let notice = notice.map(|notice| format!("{}: {notice}", matches.path));
                Self::Matches(matches, notice)
            }
            Self::Failed(why) => Self::Failed(format!("could not read the file {}: {why}", path())),
            other => other,
        }
    }

    /// How many results this is: lines or files.
    pub(super) fn weight(&self, mode: Mode) -> usize {
        match (self, mode) {
            (Self::Matches(matches, _), Mode::Content) => matches.count,
            (Self::Matches(matches, _), Mode::Files | Mode::Count) => usize::from(matches.count > 0),
            _ => 0,
        }
    }
}

/// What one thread needs to search files, kept from file to file. The matcher is the thread's own copy: a shared one
/// would have the threads take turns at its caches.
pub(super) struct FileSearch<'a> {
    options: &'a GrepOptions,
    pattern: Pattern,
    searcher: Searcher,
    head: Vec<u8>,
    max_file_bytes: u64,
}

impl<'a> FileSearch<'a> {
    pub(super) fn new(pattern: &Pattern, options: &'a GrepOptions) -> Self {
        let shows_lines = options.mode == Mode::Content;
        let context = |lines: usize| if shows_lines { lines.min(MAX_CONTEXT) } else { 0 };
        let (heap, max_file_bytes) = if options.multiline {
            // Twice, because UTF-16 grows when it is made UTF-8.
            (2 * MAX_MULTILINE_BYTES, options.max_file_bytes.min(MAX_MULTILINE_BYTES as u64))
        } else {
            (MAX_LINE_BYTES, options.max_file_bytes)
        };
        let searcher = SearcherBuilder::new()
            .line_terminator(pattern.line_end)
            .line_number(shows_lines)
            .multi_line(options.multiline)
            .before_context(context(options.before))
            .after_context(context(options.after))
            .heap_limit(Some(heap))
            .build();
        Self { options, pattern: pattern.clone(), searcher, head: Vec::new(), max_file_bytes }
    }

    /// Searches a file for at least `wanted` matching lines; more are not counted in `Content` mode. `size` is asked
    /// only of large files.
    pub(super) fn search(
        &mut self,
        reader: impl Read,
        size: Option<&dyn Fn() -> Option<u64>>,
        wanted: usize,
        stop: &AtomicBool,
    ) -> Found {
        self.head.resize(HEAD, 0);
        let cancel = self.options.walk.cancel.as_deref();
        let mut reader = Watched { reader, stop, cancel };
        let filled = match fill(&mut reader, &mut self.head) {
            Ok(filled) => filled,
            Err(error) => return Found::from_error(error),
        };
        let (head, is_whole) = (self.head.get(..filled).unwrap_or_default(), filled < HEAD);
        if filled as u64 > self.max_file_bytes {
            return Found::TooLarge;
        }
        let is_utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        let first_look = head.get(..FIRST_LOOK.min(filled)).unwrap_or_default();
        if !is_utf16 && (first_look.contains(&0) || (!is_whole && head.contains(&0))) {
            return Found::Binary;
        }
        let mut sink = Lines::new(&self.pattern, self.options, wanted);
        let outcome = if is_whole {
            self.searcher.search_slice(&self.pattern.matcher, head, &mut sink)
        } else {
            if size.and_then(|size| size()).is_some_and(|size| size > self.max_file_bytes) {
                return Found::TooLarge;
            }
            // The file may grow while it is read.
            let all = head.chain(reader).take(self.max_file_bytes);
            self.searcher.search_reader(&self.pattern.matcher, all, &mut sink)
        };
        let notice = match outcome {
            Ok(()) => None,
            Err(error) if error.to_string().contains("allocation limit") => {
                Some(format!("searched only up to a line of more than {} MiB", MAX_LINE_BYTES >> 20))
            }
            Err(error) => return Found::from_error(error),
        };
        if sink.count == 0 && notice.is_none() {
            return Found::Nothing;
        }
        if is_whole && !is_utf16 && head.contains(&0) {
            return Found::Binary;
        }
        Found::Matches(FileMatches { path: String::new(), count: sink.count, lines: sink.lines }, notice)
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..)
        && !rest.is_empty()
    {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A reader that fails as soon as nobody waits for it any more, so that a large file does not hold up a cancelled search.
struct Watched<'a, R> {
    reader: R,
    stop: &'a AtomicBool,
    cancel: Option<&'a AtomicBool>,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        if is_set(self.stop) || self.cancel.is_some_and(is_set) {
            return Err(io::Error::other("stopped"));
        }
        self.reader.read(buffer)
    }
}

/// Takes what the searcher finds.
struct Lines<'a> {
    pattern: &'a Pattern,
    options: &'a GrepOptions,
    wanted: usize,
    count: usize,
    lines: Vec<Line>,
    /// No line after this one is needed.
    last: u64,
}

impl<'a> Lines<'a> {
    fn new(pattern: &'a Pattern, options: &'a GrepOptions, wanted: usize) -> Self {
        Self { pattern, options, wanted, count: 0, lines: Vec::new(), last: u64::MAX }
    }

    fn push(&mut self, number: u64, line: &[u8], found: Option<Range<usize>>) {
        let is_match = found.is_some();
        let shown = show(line, found, self.options.max_line.max(MIN_SHOWN));
        let Shown { text, column, cut } = shown;
        self.lines.push(Line { number, column, text, is_match, cut });
    }

    fn push_match(&mut self, number: u64, line: &[u8], found: Range<usize>) -> bool {
        if number > self.last {
            return false;
        }
        self.push(number, line, Some(found));
        self.count += 1;
        if self.count == self.wanted {
            // Its context is needed still, and may hold further matches.
            self.last = number.saturating_add(self.options.after as u64);
        }
        number < self.last
    }

    /// The lines of one or more matches that hang together, each with the first match in it.
    fn push_block(&mut self, found: &SinkMatch<'_>, first: u64) -> io::Result<bool> {
        let block = found.bytes_range_in_buffer();
        let mut matches = Vec::new();
        let each = |one: Match| {
            let is_inside = one.start() < block.end;
            if is_inside {
                matches.push(one.start()..one.end());
            }
            is_inside
        };
        self.pattern.matcher.find_iter_at(found.buffer(), block.start, each).map_err(io::Error::other)?;
        let mut matches = matches.into_iter().peekable();
        let mut start = block.start;
        for (number, line) in (first..).zip(found.lines()) {
            let end = start + line.len();
            let visible = without_break(line).len();
            let mut in_line = None;
            while let Some(one) = matches.next_if(|one| one.start < end) {
                in_line.get_or_insert(
                    (one.start - start).min(visible)..one.end.saturating_sub(start).min(visible),
                );
            }
            if !self.push_match(number, line, in_line.unwrap_or(0..0)) {
                return Ok(false);
            }
            start = end;
        }
        Ok(true)
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let Some(number) = found.line_number() else {
            self.count += if self.options.multiline { found.lines().count() } else { 1 };
            return Ok(true);
        };
        if self.options.multiline {
            return self.push_block(found, number);
        }
        let line = without_break(found.bytes());
        let one = self.pattern.matcher.find(line).map_err(io::Error::other)?;
        Ok(self.push_match(number, line, one.map_or(0..0, |one| one.start()..one.end())))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number().unwrap_or(0);
        if number <= self.last {
            self.push(number, context.bytes(), None);
        }
        Ok(number < self.last)
    }
}
