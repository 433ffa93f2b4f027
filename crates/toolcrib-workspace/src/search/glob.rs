//! Which files have names like these.

use std::sync::atomic::AtomicBool;

use super::filter::PathFilter;
use super::list::{Page, Run, cancelled, steps};
use super::order::{self, Job, Step};
use super::walk::{DirTask, Walk};
use super::{Notice, WalkOptions, WalkRoot};
use crate::error::{Error, ErrorKind, Result};
use crate::fs::directory::EntryKind;

/// How found paths are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// By path, component by component.
    #[default]
    Path,
    /// The most recently modified first; equal ones by path.
    Modified,
}

/// What to find.
#[derive(Clone, Debug)]
pub struct GlobOptions {
    /// Globs relative to the start: `*`, `?`, `[a-z]`, `{a,b}`, `**` across directories. Without a `/` a glob matches at
    /// any depth; with a leading `!` it excludes, and excludes win. Only excludes: everything else is found.
    pub patterns: Vec<String>,
    /// The order.
    pub sort: Sort,
    /// How many paths to pass over.
    pub offset: usize,
    /// How many paths to return at most.
    pub limit: usize,
    /// How to walk.
    pub walk: WalkOptions,
}

impl Default for GlobOptions {
    fn default() -> Self {
        Self { patterns: Vec::new(), sort: Sort::Path, offset: 0, limit: 1000, walk: WalkOptions::default() }
    }
}

/// A page of paths.
#[derive(Clone, Debug, Default)]
pub struct GlobResult {
    /// Files and symlinks, as shown.
    pub paths: Vec<String>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page begins, if there is one.
    pub next_offset: Option<usize>,
    /// How many entries ignore rules left out; a directory counts as one, whatever is in it.
    pub ignored: usize,
    /// What else is missing.
    pub notices: Vec<Notice>,
}

/// Finds files by name.
pub fn glob(root: &WalkRoot, options: &GlobOptions) -> Result<GlobResult> {
    if options.patterns.is_empty() {
        return Err(Error::new(ErrorKind::InvalidPattern, "no glob was given; `**` finds every file"));
    }
    let filter = PathFilter::new(&options.patterns, None, &root.prefix())?;
    let finder = Finder { walk: Walk::new(&options.walk, filter), sort: options.sort };
    let (start, notices) = finder.walk.start(root)?;
    let max_entries = options.walk.max_entries;
    // Which paths are the newest is known only at the end, so sorting by time keeps all of them until then.
    let mut page = match options.sort {
        Sort::Path => Page::new(options.offset, options.limit, max_entries),
        Sort::Modified => Page::new(0, usize::MAX, max_entries),
    };
    page.notices.extend(notices);
    let mut page = order::run(&finder, start, page, options.walk.thread_count());
    if options.walk.is_cancelled() {
        return Err(cancelled());
    }
    if options.sort == Sort::Modified {
        // The sort is stable, so equal times stay in path order.
        page.kept.sort_by_key(|found| std::cmp::Reverse(found.modified_ns));
        page = page.turned_to(options.offset, options.limit);
    }
    Ok(GlobResult {
        next_offset: page.next_offset(),
        total: page.total,
        paths: page.kept.into_iter().map(|found| found.path).collect(),
        ignored: page.ignored,
        notices: page.notices.finish(),
    })
}

struct Found {
    path: String,
    modified_ns: i128,
}

struct Finder<'a> {
    walk: Walk<'a>,
    sort: Sort,
}

impl Job for Finder<'_> {
    type Task = DirTask;
    type Out = Run<Found>;
    type Scratch = ();

    fn scratch(&self) {}

    fn run(&self, (): &mut (), task: DirTask, _: &AtomicBool) -> Vec<Step<DirTask, Run<Found>>> {
        match self.walk.read(task) {
            Ok(contents) => steps(&self.walk, contents, |place, entry| {
                if entry.kind == EntryKind::Dir {
                    return None;
                }
                let modified_ns = match self.sort {
                    Sort::Path => 0,
                    Sort::Modified => place.dir.stat(&entry.name).map_or(i128::MIN, |stat| stat.modified_ns),
                };
                Some(Found { path: place.shown_path(&entry.name), modified_ns })
            }),
            Err(skipped) => vec![Step::Out(Run::missing(skipped))],
        }
    }

    fn is_cancelled(&self) -> bool {
        self.walk.options.is_cancelled()
    }
}
