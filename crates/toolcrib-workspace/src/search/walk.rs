//! Reading one directory of a walk: its entries in order, without what the rules or the filter leave out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::filter::PathFilter;
use super::ignore_rules::{Rules, below};
use super::{MAX_DEPTH, WalkOptions, WalkRoot};
use crate::error::{Error, Result};
use crate::fs::directory::{DirEntry, Directory, EntryKind};

/// What all directories of a walk share.
pub(super) struct Walk<'a> {
    pub(super) options: &'a WalkOptions,
    pub(super) filter: PathFilter,
    max_depth: usize,
}

/// An open directory in a walk.
pub(super) struct Place {
    pub(super) dir: Arc<dyn Directory>,
    /// Its path as shown, empty or ending in `/`.
    pub(super) shown: String,
    /// Its path below the outermost ancestor of the start.
    full: PathBuf,
    /// How many components of `full` lead to the start.
    base: usize,
    /// How far it lies below the start.
    depth: usize,
    rules: Rules,
}

/// A directory that is still to be read.
pub(super) enum DirTask {
    /// The start with its entries: if those can't be read there is no walk.
    Start(Place, Vec<DirEntry>),
    /// A subdirectory.
    Below(Arc<Place>, OsString),
}

/// A directory that was read.
pub(super) struct Contents {
    pub(super) place: Arc<Place>,
    /// Files, symlinks and directories by name.
    pub(super) entries: Vec<DirEntry>,
    pub(super) skipped: Skipped,
}

/// What is missing from a directory, and why.
#[derive(Default)]
pub(super) struct Skipped {
    /// Entries left out by ignore rules; a directory is one.
    pub(super) ignored: usize,
    pub(super) notices: Vec<String>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(options: &'a WalkOptions, filter: PathFilter) -> Self {
        let max_depth = options.max_depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH);
        Self { options, filter, max_depth }
    }

    /// The start of a walk, with the rules of all directories above it.
    pub(super) fn start(&self, root: &WalkRoot) -> Result<(DirTask, Vec<String>)> {
        let mut notices = Vec::new();
        let mut rules = Rules::default();
        if !self.options.include_ignored {
            rules = Rules::new(self.options.global_ignore.clone());
            for (depth, (dir, _)) in root.ancestors.iter().enumerate() {
                // Asked by name: a listing of the directories above could be far larger than the walk itself.
                let has = |name: &str| dir.stat(name.as_ref()).is_ok();
                rules = rules.enter(&**dir, depth, "", has, &mut notices);
            }
        }
        let entries = root.dir.entries().map_err(|error| Error::from_io(&error, root.shown()))?;
        let place = Place {
            dir: Arc::clone(&root.dir),
            shown: root.prefix(),
            full: root.base(),
            base: root.ancestors.len(),
            depth: 0,
            rules,
        };
        Ok((DirTask::Start(place, entries), notices))
    }

    /// Reads a directory.
    pub(super) fn read(&self, task: DirTask) -> Result<Contents, Skipped> {
        let (mut place, mut entries) = match task {
            DirTask::Start(place, entries) => (place, entries),
            DirTask::Below(parent, name) => self.open(&parent, &name)?,
        };
        let mut skipped = Skipped::default();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        if !self.options.include_ignored {
            let has = |name: &str| {
                entries.binary_search_by(|entry| entry.name.as_os_str().cmp(name.as_ref())).is_ok()
            };
            let depth = place.base + place.depth;
            place.rules = place.rules.enter(&*place.dir, depth, &place.shown, has, &mut skipped.notices);
        }
        self.leave_out(&mut place, &mut entries, &mut skipped);
        Ok(Contents { place: Arc::new(place), entries, skipped })
    }

    /// Whether the entries of a subdirectory of `place` are to be read too.
    pub(super) fn descends(&self, place: &Place) -> bool {
        place.depth + 1 < self.max_depth
    }

    /// Says that a subdirectory is not read because of the fixed limit; one that the caller set goes without saying.
    pub(super) fn depth_notice(&self, place: &Place, name: &OsString) -> Option<String> {
        (self.max_depth == MAX_DEPTH)
            .then(|| format!("stopped at depth {MAX_DEPTH} below {}", place.shown_path(name)))
    }

    fn open(&self, parent: &Place, name: &OsString) -> Result<(Place, Vec<DirEntry>), Skipped> {
        let shown = parent.shown_path(name);
        let opened = parent.dir.open_dir(name).and_then(|dir| dir.entries().map(|entries| (dir, entries)));
        match opened {
            Ok((dir, entries)) => {
                let place = Place {
                    dir,
                    shown: shown + "/",
                    full: parent.full.join(name),
                    base: parent.base,
                    depth: parent.depth + 1,
                    rules: parent.rules.clone(),
                };
                Ok((place, entries))
            }
            Err(error) => Err(unreadable(&error, &shown)),
        }
    }

    /// Drops what rules or filter leave out.
    fn leave_out(&self, place: &mut Place, entries: &mut Vec<DirEntry>, skipped: &mut Skipped) {
        let by_rules = !place.rules.is_empty();
        let mut full = std::mem::take(&mut place.full);
        entries.retain(|entry| {
            if entry.kind == EntryKind::Other || entry.name == ".git" {
                return false;
            }
            if !by_rules && self.filter.is_empty() {
                return true;
            }
            let is_dir = entry.kind == EntryKind::Dir;
            full.push(&entry.name);
            let ignored = by_rules && place.rules.is_ignored(&full, is_dir);
            let kept = !ignored && self.filter.keeps(below(&full, place.base), &entry.name, is_dir);
            full.pop();
            skipped.ignored += usize::from(ignored);
            kept
        });
        place.full = full;
    }
}

impl Place {
    /// The path of an entry, as shown.
    pub(super) fn shown_path(&self, name: &OsString) -> String {
        let name = name.to_string_lossy();
        let mut path = String::with_capacity(self.shown.len() + name.len() + 1);
        path.push_str(&self.shown);
        path.push_str(&name);
        path
    }
}

/// A directory that can't be read is worth a notice, one that is gone by now is not.
fn unreadable(error: &std::io::Error, shown: &str) -> Skipped {
    let mut skipped = Skipped::default();
    if error.kind() != std::io::ErrorKind::NotFound {
        let why = Error::from_io(error, shown);
        skipped.notices.push(format!("could not read the directory {shown}: {}", why.message()));
    }
    skipped
}
