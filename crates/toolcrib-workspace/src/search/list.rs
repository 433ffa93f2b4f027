//! What is in a directory.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::filter::PathFilter;
use super::order::{self, Collect, Job, Step};
use super::walk::{Contents, DirTask, Skipped, Walk};
use super::{Notice, Notices, WalkOptions, WalkRoot};
use crate::error::{Error, ErrorKind, Result};
use crate::fs::directory::{DirEntry, EntryKind};

/// What to list.
#[derive(Clone, Debug)]
pub struct ListOptions {
    /// How to walk.
    pub walk: WalkOptions,
    /// How many levels; 1 is the directory's own entries.
    pub depth: usize,
    /// Whether files come with their size.
    pub sizes: bool,
    /// How many entries to pass over.
    pub offset: usize,
    /// How many entries to return at most.
    pub limit: usize,
}

impl Default for ListOptions {
    fn default() -> Self {
        Self { walk: WalkOptions::default(), depth: 1, sizes: false, offset: 0, limit: 1000 }
    }
}

/// One entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// Its path as shown.
    pub path: String,
    /// What it is; never [`EntryKind::Other`].
    pub kind: EntryKind,
    /// A file's size, if asked for and known.
    pub size: Option<u64>,
}

/// A page of entries.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The entries by path, a directory before what is in it.
    pub entries: Vec<ListEntry>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page begins, if there is one.
    pub next_offset: Option<usize>,
    /// How many entries ignore rules left out; a directory counts as one, whatever is in it.
    pub ignored: usize,
    /// What else is missing.
    pub notices: Vec<Notice>,
}

/// Lists what is in a directory.
pub fn list(root: &WalkRoot, options: &ListOptions) -> Result<Listing> {
    let mut walk_options = options.walk.clone();
    let deepest = walk_options.max_depth.map_or(options.depth, |depth| depth.min(options.depth));
    walk_options.max_depth = Some(deepest.max(1));
    let lister = Lister { walk: Walk::new(&walk_options, PathFilter::default()), sizes: options.sizes };
    let (start, notices) = lister.walk.start(root)?;
    let mut page = Page::new(options.offset, options.limit, walk_options.max_entries);
    page.notices.extend(notices);
    let page = order::run(&lister, start, page, walk_options.thread_count());
    if walk_options.is_cancelled() {
        return Err(cancelled());
    }
    Ok(Listing {
        next_offset: page.next_offset(),
        total: page.total,
        entries: page.kept,
        ignored: page.ignored,
        notices: page.notices.finish(),
    })
}

pub(super) fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "cancelled")
}

/// A run of entries of one directory, or what is missing from it.
pub(super) struct Run<E> {
    pub(super) entries: Vec<E>,
    pub(super) skipped: Skipped,
}

impl<E> Run<E> {
    pub(super) fn missing(skipped: Skipped) -> Self {
        Self { entries: Vec::new(), skipped }
    }

    pub(super) fn of(entries: Vec<E>) -> Self {
        Self { entries, skipped: Skipped::default() }
    }
}

/// Keeps the entries of one page and counts the others.
pub(super) struct Page<E> {
    pub(super) kept: Vec<E>,
    pub(super) total: usize,
    pub(super) ignored: usize,
    pub(super) notices: Notices,
    offset: usize,
    limit: usize,
    max_entries: usize,
}

impl<E> Page<E> {
    pub(super) fn new(offset: usize, limit: usize, max_entries: usize) -> Self {
        let notices = Notices::default();
        Self { kept: Vec::new(), total: 0, ignored: 0, notices, offset, limit: limit.max(1), max_entries }
    }

    /// Another page, from one that holds everything.
    pub(super) fn turned_to(self, offset: usize, limit: usize) -> Self {
        let limit = limit.max(1);
        let kept = self.kept.into_iter().skip(offset).take(limit).collect();
        Self { kept, offset, limit, ..self }
    }

    pub(super) fn next_offset(&self) -> Option<usize> {
        let end = self.offset.saturating_add(self.limit);
        (end < self.total).then_some(end)
    }
}

impl<E: Send> Collect for Page<E> {
    type Out = Run<E>;

    fn accept(&mut self, run: Run<E>) -> ControlFlow<()> {
        self.ignored += run.skipped.ignored;
        self.notices.extend(run.skipped.notices);
        let end = self.offset.saturating_add(self.limit);
        for entry in run.entries {
            if self.total == self.max_entries {
                self.notices.push(format!("stopped after {} entries: there are more", self.max_entries));
                return ControlFlow::Break(());
            }
            if (self.offset..end).contains(&self.total) {
                self.kept.push(entry);
            }
            self.total += 1;
        }
        ControlFlow::Continue(())
    }

    fn weight(&self, run: &Run<E>) -> usize {
        run.entries.len()
    }

    fn wanted(&self) -> usize {
        (self.max_entries - self.total).saturating_add(1)
    }
}

struct Lister<'a> {
    walk: Walk<'a>,
    sizes: bool,
}

impl Job for Lister<'_> {
    type Task = DirTask;
    type Out = Run<ListEntry>;
    type Scratch = ();

    fn scratch(&self) {}

    fn run(&self, (): &mut (), task: DirTask, _: &AtomicBool) -> Vec<Step<DirTask, Run<ListEntry>>> {
        match self.walk.read(task) {
            Ok(contents) => steps(&self.walk, contents, |place, entry| {
                let size = (self.sizes && entry.kind == EntryKind::File)
                    .then(|| place.dir.stat(&entry.name).ok().map(|stat| stat.size))
                    .flatten();
                Some(ListEntry { path: place.shown_path(&entry.name), kind: entry.kind, size })
            }),
            Err(skipped) => vec![Step::Out(Run::missing(skipped))],
        }
    }

    fn is_cancelled(&self) -> bool {
        self.walk.options.is_cancelled()
    }
}

/// The entries of a directory in runs, broken where a subdirectory's own entries come in.
pub(super) fn steps<E>(
    walk: &Walk<'_>,
    contents: Contents,
    shape: impl Fn(&super::walk::Place, &DirEntry) -> Option<E>,
) -> Vec<Step<DirTask, Run<E>>> {
    let Contents { place, entries, mut skipped } = contents;
    let descends = walk.descends(&place);
    let mut steps = Vec::new();
    let mut run = Vec::new();
    for entry in entries {
        run.extend(shape(&place, &entry));
        if entry.kind == EntryKind::Dir {
            if descends {
                if !run.is_empty() {
                    steps.push(Step::Out(Run::of(std::mem::take(&mut run))));
                }
                steps.push(Step::Task(DirTask::Below(std::sync::Arc::clone(&place), entry.name)));
            } else {
                skipped.notices.extend(walk.depth_notice(&place, &entry.name));
            }
        }
    }
    steps.push(Step::Out(Run { entries: run, skipped }));
    steps
}
