//! Walking, listing, glob and grep.
//!
//! Matching is ripgrep's own (`ignore`, `globset`, `grep-regex`, `grep-searcher`); the walk is not, for two reasons. It
//! goes over [`Directory`] handles, so it can't be led out of a root by a rename in its middle and works the same in
//! memory. And it is ordered: results come by path, component by component, whatever the number of threads, and a
//! search that stops at its limit gives the same answer as a search that ran to the end and was cut.
//!
//! What is walked: hidden files are (agents need `.github`), `.git` never is, ignore files count as in ripgrep except
//! that `.gitignore` also counts outside a repository. Symlinks are listed and never followed. FIFOs, sockets and
//! devices do not exist here.

mod files;
mod filter;
mod glob;
mod grep;
mod ignore_rules;
mod lines;
mod list;
mod matches;
mod order;
mod pattern;
mod walk;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fs::directory::Directory;

pub use files::{Files, FoundFile, files};
pub use glob::{GlobOptions, GlobResult, Sort, glob};
pub use grep::{FileMatches, GrepOptions, GrepResult, Line, Mode, grep, grep_file};
pub use ignore_rules::GlobalIgnore;
pub use list::{ListEntry, ListOptions, Listing, list};
pub use pattern::type_names;

/// Directories deeper than this below the start are not opened.
pub const MAX_DEPTH: usize = 128;

/// As many threads as pay off: beyond these the kernel's directory locks are what is waited for.
const MAX_THREADS: usize = 12;

/// More notices than these are only counted.
const MAX_NOTICES: usize = 20;

/// Where a walk starts.
#[derive(Clone)]
pub struct WalkRoot {
    /// The directory to walk.
    pub dir: Arc<dyn Directory>,
    /// Put before every path that is shown: empty, or a directory like `src/`.
    pub display_prefix: String,
    /// The directories above `dir` whose ignore files count, outermost first, each with the name of the next one
    /// down; the last name is that of `dir`. Empty if `dir` is itself the outermost.
    pub ancestors: Vec<(Arc<dyn Directory>, String)>,
}

impl WalkRoot {
    /// A walk from `dir`, with nothing above it.
    pub fn new(dir: Arc<dyn Directory>) -> Self {
        Self { dir, display_prefix: String::new(), ancestors: Vec::new() }
    }

    /// The path of `dir` below the outermost ancestor.
    fn base(&self) -> PathBuf {
        self.ancestors.iter().map(|(_, name)| OsString::from(name)).collect()
    }

    /// What comes before every shown path, with its `/`.
    fn prefix(&self) -> String {
        match self.display_prefix.trim_end_matches('/') {
            "" => String::new(),
            path => format!("{path}/"),
        }
    }

    /// What to call `dir` itself in a message.
    fn shown(&self) -> &str {
        match self.display_prefix.trim_end_matches('/') {
            "" => ".",
            path => path,
        }
    }
}

impl fmt::Debug for WalkRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WalkRoot").field("display_prefix", &self.display_prefix).finish_non_exhaustive()
    }
}

/// How to walk.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Turns every ignore rule off; `.git` is still skipped.
    pub include_ignored: bool,
    /// How many levels below the start are seen; 1 is the start's own entries. At most [`MAX_DEPTH`].
    pub max_depth: Option<usize>,
    /// How many threads work; 0 for one per core, at most 12.
    pub threads: usize,
    /// After this many entries (files, for a search) the walk stops with a notice.
    pub max_entries: usize,
    /// Set to true by another thread, it ends the walk with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub cancel: Option<Arc<AtomicBool>>,
    /// The user's own ignore rules, for every repository.
    pub global_ignore: Option<Arc<GlobalIgnore>>,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            include_ignored: false,
            max_depth: None,
            threads: 0,
            max_entries: 1_000_000,
            cancel: None,
            global_ignore: None,
        }
    }
}

impl WalkOptions {
    fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS),
            n => n.min(256),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Something that makes a result less than it seems: a directory that could not be read, a limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice(pub String);

impl Notice {
    /// The sentence.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Notice> for String {
    fn from(notice: Notice) -> Self {
        notice.0
    }
}

/// The first few notices in walk order, and how many more there were: a tree can have a million unreadable directories.
#[derive(Debug, Default)]
struct Notices {
    kept: Vec<Notice>,
    dropped: usize,
}

impl Notices {
    fn push(&mut self, text: String) {
        if self.kept.len() < MAX_NOTICES {
            self.kept.push(Notice(text));
        } else {
            self.dropped += 1;
        }
    }

    fn extend(&mut self, texts: Vec<String>) {
        texts.into_iter().for_each(|text| self.push(text));
    }

    fn finish(mut self) -> Vec<Notice> {
        if self.dropped > 0 {
            self.kept.push(Notice(format!("and {} more notices like these", self.dropped)));
        }
        self.kept
    }
}
