//! Which lines match a pattern.

use std::ffi::OsString;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::filter::PathFilter;
use super::list::cancelled;
use super::matches::{FileSearch, Found};
use super::order::{self, Collect, Job, Step};
use super::pattern::{Pattern, file_types};
use super::walk::{Contents, DirTask, Place, Skipped, Walk};
use super::{Notice, Notices, WalkOptions, WalkRoot};
use crate::error::Result;
use crate::fs::directory::EntryKind;

/// How many files one thread takes at a time: enough that taking them costs nothing beside searching them, and few
/// enough that a search that stops early has not begun much that it doesn't need.
const BATCH: usize = 16;

/// What is told of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The matching lines.
    #[default]
    Content,
    /// The files that have any.
    Files,
    /// The files, and how many lines match in each.
    Count,
}

/// What to search for, where, and how much to tell.
#[derive(Clone, Debug)]
pub struct GrepOptions {
    /// A regular expression in Rust's syntax, or plain text if `literal`.
    pub pattern: String,
    /// The pattern is plain text.
    pub literal: bool,
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// Only matches that stand as words of their own.
    pub word: bool,
    /// A match may span lines. `.` still stops at the end of a line, unless the pattern begins with `(?s)`.
    pub multiline: bool,
    /// How many lines to show before a match.
    pub before: usize,
    /// How many lines to show after a match.
    pub after: usize,
    /// Globs as in [`GlobOptions`](super::GlobOptions): only these files, `!` for all but these.
    pub include: Vec<String>,
    /// ripgrep's file types (`rust`, `py`); a leading `!` for all but these.
    pub types: Vec<String>,
    /// What to tell.
    pub mode: Mode,
    /// How many matching lines (in `Content` mode) or files to pass over.
    pub offset: usize,
    /// How many matching lines or files to return at most; at least one.
    pub limit: usize,
    /// Longer lines are cut around their match to this many characters.
    pub max_line: usize,
    /// Larger files are passed over.
    pub max_file_bytes: u64,
    /// How to walk.
    pub walk: WalkOptions,
}

impl Default for GrepOptions {
    fn default() -> Self {
        Self {
            pattern: String::new(),
            literal: false,
            ignore_case: false,
            word: false,
            multiline: false,
            before: 0,
            after: 0,
            include: Vec::new(),
            types: Vec::new(),
            mode: Mode::Content,
            offset: 0,
            limit: 100,
            max_line: 500,
            max_file_bytes: 256 << 20,
            walk: WalkOptions::default(),
        }
    }
}

impl GrepOptions {
    /// A search for `pattern`, all else as by default.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self { pattern: pattern.into(), ..Self::default() }
    }

    /// One past the last match of the page.
    fn end(&self) -> usize {
        self.offset.saturating_add(self.limit.max(1))
    }
}

/// A line that matches or stands near one that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number from 1.
    pub number: u64,
    /// Where the first match in it begins, in characters from 1; `None` if it is only context. A line into which a match
    /// of several lines continues has 1.
    pub column: Option<usize>,
    /// Its text without the line break.
    pub text: String,
    /// Whether it matches. A match beyond the end of the page that stands near one on it is given as context.
    pub is_match: bool,
    /// Whether it was too long; `…` stands at each end where text is missing.
    pub cut: bool,
}

/// The matches in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    /// Its path as shown.
    pub path: String,
    /// How many lines match: of the file, or in `Content` mode of this page.
    pub count: usize,
    /// The lines, in `Content` mode.
    pub lines: Vec<Line>,
}

/// A page of matches.
#[derive(Clone, Debug, Default)]
pub struct GrepResult {
    /// Files with matches by path, component by component.
    pub files: Vec<FileMatches>,
    /// How many matching lines (in `Content` mode) or files there are in all; `None` if the search stopped at the limit.
    pub total: Option<usize>,
    /// Where the next page begins; `None` at the end.
    pub next_offset: Option<usize>,
    /// How many files were searched to know this.
    pub searched_files: usize,
    /// How many of them turned out to be binary.
    pub binary_skipped: usize,
    /// How many files were larger than allowed.
    pub too_large: usize,
    /// How many entries ignore rules left out; a directory counts as one, whatever is in it.
    pub ignored: usize,
    /// What else is missing.
    pub notices: Vec<Notice>,
}

/// Searches the files below a directory.
pub fn grep(root: &WalkRoot, options: &GrepOptions) -> Result<GrepResult> {
    let pattern = Pattern::new(options)?;
    let filter = PathFilter::new(&options.include, file_types(&options.types)?, &root.prefix())?;
    let seen = AtomicUsize::new(0);
    let job = Grep { walk: Walk::new(&options.walk, filter), pattern, options, seen: &seen };
    let (start, notices) = job.walk.start(root)?;
    let mut gather = Gather::new(options, &seen);
    gather.notices.extend(notices);
    let gather = order::run(&job, Task::Dir(start), gather, options.walk.thread_count());
    gather.finish()
}

/// Searches one file, whatever its name. Globs, types and ignore rules do not count.
pub fn grep_file(reader: impl Read, display_path: &str, options: &GrepOptions) -> Result<GrepResult> {
    let pattern = Pattern::new(options)?;
    let seen = AtomicUsize::new(0);
    let mut gather = Gather::new(options, &seen);
    let wanted = options.end().saturating_add(1);
    let found = FileSearch::new(&pattern, options).search(reader, None, wanted, &AtomicBool::new(false));
    let _ = gather.file(found.named(|| display_path.to_owned()));
    gather.finish()
}

enum Task {
    Dir(DirTask),
    Files(Arc<Place>, Vec<OsString>),
}

/// What a task found.
enum Out {
    Files(Vec<Found>),
    Skipped(Skipped),
}

struct Grep<'a> {
    walk: Walk<'a>,
    pattern: Pattern,
    options: &'a GrepOptions,
    /// How many matches are handed on already: so many fewer are wanted of any file.
    seen: &'a AtomicUsize,
}

impl<'a> Job for Grep<'a> {
    type Task = Task;
    type Out = Out;
    type Scratch = FileSearch<'a>;

    fn scratch(&self) -> FileSearch<'a> {
        FileSearch::new(&self.pattern, self.options)
    }

    fn run(&self, search: &mut FileSearch<'a>, task: Task, stop: &AtomicBool) -> Vec<Step<Task, Out>> {
        match task {
            Task::Dir(dir) => match self.walk.read(dir) {
                Ok(contents) => self.batches(contents),
                Err(skipped) => vec![Step::Out(Out::Skipped(skipped))],
            },
            Task::Files(place, names) => {
                vec![Step::Out(Out::Files(self.files(search, &place, &names, stop)))]
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        self.walk.options.is_cancelled()
    }
}

impl Grep<'_> {
    /// The files of a directory in batches, broken where a subdirectory comes in.
    fn batches(&self, contents: Contents) -> Vec<Step<Task, Out>> {
        let Contents { place, entries, mut skipped } = contents;
        let descends = self.walk.descends(&place);
        let mut steps = Vec::new();
        let mut names = Vec::new();
        for entry in entries {
            match entry.kind {
                EntryKind::File => names.push(entry.name),
                EntryKind::Dir if descends => {
                    if !names.is_empty() {
                        steps.push(Step::Task(Task::Files(Arc::clone(&place), std::mem::take(&mut names))));
                    }
                    steps.push(Step::Task(Task::Dir(DirTask::Below(Arc::clone(&place), entry.name))));
                }
                EntryKind::Dir => skipped.notices.extend(self.walk.depth_notice(&place, &entry.name)),
                EntryKind::Symlink | EntryKind::Other => {}
            }
            if names.len() == BATCH {
                steps.push(Step::Task(Task::Files(Arc::clone(&place), std::mem::take(&mut names))));
            }
        }
        if !names.is_empty() {
            steps.push(Step::Task(Task::Files(place, names)));
        }
        if skipped.ignored > 0 || !skipped.notices.is_empty() {
            steps.push(Step::Out(Out::Skipped(skipped)));
        }
        steps
    }

    fn files(
        &self,
        search: &mut FileSearch<'_>,
        place: &Place,
        names: &[OsString],
        stop: &AtomicBool,
    ) -> Vec<Found> {
        let mut wanted =
            self.options.end().saturating_add(1).saturating_sub(self.seen.load(Ordering::Relaxed));
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            // What follows would not be used, so the result may lack it.
            if wanted == 0 || stop.load(Ordering::Relaxed) || self.is_cancelled() {
                break;
            }
            let one = match place.dir.open_file(name) {
                Ok(reader) => {
                    let size = || place.dir.stat(name).ok().map(|stat| stat.size);
                    search.search(reader, Some(&size), wanted, stop)
                }
                Err(error) => Found::from_error(error),
            };
            wanted = wanted.saturating_sub(one.weight(self.options.mode));
            found.push(one.named(|| place.shown_path(name)));
        }
        found
    }
}

/// Puts a page together.
struct Gather<'a> {
    options: &'a GrepOptions,
    seen: &'a AtomicUsize,
    result: GrepResult,
    notices: Notices,
    files: usize,
    stopped: bool,
}

impl<'a> Gather<'a> {
    fn new(options: &'a GrepOptions, seen: &'a AtomicUsize) -> Self {
        let (result, notices) = (GrepResult::default(), Notices::default());
        Self { options, seen, result, notices, files: 0, stopped: false }
    }

    fn finish(mut self) -> Result<GrepResult> {
        if self.options.walk.is_cancelled() {
            return Err(cancelled());
        }
        if self.stopped {
            self.result.next_offset = Some(self.options.end());
        } else {
            self.result.total = Some(self.seen.load(Ordering::Relaxed));
        }
        self.result.notices = self.notices.finish();
        Ok(self.result)
    }

    fn file(&mut self, found: Found) -> ControlFlow<()> {
        if self.files == self.options.walk.max_entries {
            self.notices.push(format!("stopped after {} files: there are more", self.files));
            return ControlFlow::Break(());
        }
        self.files += 1;
        let matches = match found {
            Found::Gone => return ControlFlow::Continue(()),
            Found::Failed(notice) => {
                self.notices.push(notice);
                return ControlFlow::Continue(());
            }
            Found::TooLarge => {
                self.result.too_large += 1;
                return ControlFlow::Continue(());
            }
            Found::Nothing => None,
            Found::Binary => {
                self.result.binary_skipped += 1;
                None
            }
            Found::Matches(matches, notice) => {
                notice.into_iter().for_each(|notice| self.notices.push(notice));
                Some(matches)
            }
        };
        self.result.searched_files += 1;
        matches.map_or(ControlFlow::Continue(()), |matches| self.matches(matches))
    }

    fn matches(&mut self, matches: FileMatches) -> ControlFlow<()> {
        if matches.count == 0 {
            return ControlFlow::Continue(());
        }
        let seen = self.seen.load(Ordering::Relaxed);
        let count = if self.options.mode == Mode::Content { matches.count } else { 1 };
        let from = self.options.offset.saturating_sub(seen).min(count);
        let to = self.options.end().saturating_sub(seen).min(count);
        if from < to {
            self.result.files.push(match self.options.mode {
                Mode::Content => cut(matches, from, to, self.options),
                Mode::Files | Mode::Count => matches,
            });
        }
        let seen = seen + count;
        self.seen.store(seen, Ordering::Relaxed);
        if seen > self.options.end() {
            self.stopped = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Collect for Gather<'_> {
    type Out = Out;

    fn accept(&mut self, out: Out) -> ControlFlow<()> {
        match out {
            Out::Files(files) => files.into_iter().try_for_each(|found| self.file(found)),
            Out::Skipped(skipped) => {
                self.result.ignored += skipped.ignored;
                self.notices.extend(skipped.notices);
                ControlFlow::Continue(())
            }
        }
    }

    fn weight(&self, out: &Out) -> usize {
        match out {
            Out::Files(files) => files.iter().map(|found| found.weight(self.options.mode)).sum(),
            Out::Skipped(_) => 0,
        }
    }

    fn wanted(&self) -> usize {
        self.options.end().saturating_add(1).saturating_sub(self.seen.load(Ordering::Relaxed))
    }
}

/// The matches `from..to` of a file with the context that is theirs.
fn cut(mut matches: FileMatches, from: usize, to: usize, options: &GrepOptions) -> FileMatches {
    if from == 0 && to == matches.count {
        return matches;
    }
    let numbers: Vec<u64> =
        matches.lines.iter().filter(|line| line.is_match).map(|line| line.number).collect();
    let kept = numbers.get(from..to).unwrap_or_default();
    let (before, after) = (options.before as u64, options.after as u64);
    matches.lines.retain_mut(|line| {
        // The first kept match that reaches up to this line, if any does.
        let next = kept.partition_point(|&number| number < line.number);
        let is_kept = kept.get(next) == Some(&line.number);
        if line.is_match && !is_kept {
            line.is_match = false;
            line.column = None;
        }
        let leads = kept.get(next).is_some_and(|&number| number - line.number <= before);
        let follows = next
            .checked_sub(1)
            .and_then(|i| kept.get(i))
            .is_some_and(|&number| line.number - number <= after);
        is_kept || leads || follows
    });
    matches.count = kept.len();
    matches
}
