//! Planning a change: everything is checked and held in memory until it is committed.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use serde::Serialize;

use super::commit::Batch;
use super::plan::{Key, Plan, Planned, observe};
use super::resolve::Place;
use super::{Inner, Workspace};
use crate::fs::Folder;
use crate::journal::record::State;
use crate::{Error, ErrorKind, Hash, Result, path};

/// A tree of more than this is not deleted in one change: its content must fit the journal.
const MAX_TREE_BYTES: u64 = 512 << 20;
const MAX_TREE_ENTRIES: usize = 100_000;
/// Folders are not created deeper than they can be deleted again.
const MAX_DEPTH: usize = 390;
/// Each level down holds a directory open.
const MAX_TREE_DEPTH: usize = 400;

/// Who makes a change, for the journal.
#[derive(Clone, Debug, Default)]
pub struct ChangeLabel {
    /// The tool.
    pub tool: String,
    /// The call.
    pub call_id: String,
    /// The session.
    pub session: String,
    /// The turn of that session.
    pub turn: Option<u64>,
}

/// What a caller believes about a path before changing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing in particular.
    Any,
    /// That nothing is there.
    Absent,
    /// That a file with this content is there.
    Hash(Hash),
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It did not exist before.
    Created,
    /// It existed, with another content.
    Modified,
    /// It no longer exists.
    Deleted,
    /// It came from another path.
    Moved,
}

/// What a change does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The canonical path; for a move, the new one.
    pub path: String,
    /// What happens.
    pub action: Action,
    /// The old path, for a move.
    pub moved_from: Option<String>,
    /// The content before, if there was a file; for a move, that of the old path. For a symlink, its target.
    pub before: Option<Vec<u8>>,
    /// The content after, if there is a file.
    pub after: Option<Vec<u8>>,
}

/// A change that happened.
#[derive(Clone, Debug)]
pub struct Committed {
    /// Names the change in the journal; empty when there was nothing to change.
    pub change_id: String,
    /// What changed, by path.
    pub files: Vec<FileChange>,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

/// Changes to any number of files that will happen together or not at all.
#[must_use = "a change does nothing until it is committed"]
pub struct Change {
    inner: Arc<Inner>,
    label: ChangeLabel,
    plan: Plan,
    contents: HashMap<Hash, Arc<Vec<u8>>>,
}

impl Workspace {
    /// Starts a change.
    pub fn begin(&self, label: ChangeLabel) -> Change {
        Change { inner: self.inner().clone(), label, plan: Plan::new(), contents: HashMap::new() }
    }
}

impl Change {
    /// Creates or overwrites a file whole; missing directories are created. A symlink is written through.
    pub fn put(&mut self, path: &str, bytes: Vec<u8>, expect: Expect) -> Result<()> {
        let place = self.place_to_write(path)?;
        self.put_at(&place, path, bytes, expect, None)
    }

    /// Deletes a file, or a symlink as such.
    pub fn delete(&mut self, path: &str, expect: Expect) -> Result<()> {
        let place = self.inner.resolve(path, false)?;
        self.inner.check_writable_as(&place, path)?;
        let now = self.current(&place)?;
        match now {
            State::Absent => return Err(self.inner.not_found(&place, path)),
            State::Dir { .. } => {
                return Err(Error::from_io(&io::ErrorKind::IsADirectory.into(), path::printable(path)));
            }
            State::Other => return Err(not_a_file(path)),
            State::Link { .. } => self.check_link(path, expect)?,
            State::File { .. } => check(&now, expect, path)?,
        }
        self.set(&place, State::Absent, false, None);
        Ok(())
    }

    /// Deletes a directory with everything in it and says how many files that were; symlinks go as such.
    pub fn delete_tree(&mut self, path: &str) -> Result<usize> {
        let place = self.inner.resolve(path, false)?;
        self.inner.check_writable_as(&place, path)?;
        if !self.current(&place)?.is_dir() {
            return self.delete(path, Expect::Any).map(|()| 1);
        }
        self.inner.refuse_ancestor(place.root, &place.names)?;
        // Gathered aside, so that a refusal in the middle plans nothing.
        let mut gathered = Gathered::default();
        if let Some(last) = place.names.last()
            && let Ok(folder) = place.parent.folder(last)
        {
            self.gather(&place, &place.names, &*folder, &mut gathered)?;
        }
        let mut files = 0;
        for (key, planned) in gathered.plan {
            files += usize::from(!planned.before.is_dir());
            self.plan.entry(key).and_modify(|old| old.after = State::Absent).or_insert(planned);
        }
        // What this change itself had planned to create in there goes too.
        for (key, planned) in &mut self.plan {
            if key.0 == place.root && key.1.starts_with(&place.names) && !planned.after.is_absent() {
                files += usize::from(!planned.after.is_dir());
                planned.after = State::Absent;
            }
        }
        self.contents.extend(gathered.contents);
        self.set(&place, State::Absent, true, None);
        Ok(files)
    }

    /// Moves a file, and changes its content on the way if `bytes` are given.
    pub fn rename(
        &mut self,
        from: &str,
        to: &str,
        bytes: Option<Vec<u8>>,
        expect_from: Expect,
        expect_to: Expect,
    ) -> Result<()> {
        let source = self.inner.resolve(from, false)?;
        self.inner.check_writable_as(&source, from)?;
        let now = match self.current(&source)? {
            State::Absent => return Err(self.inner.not_found(&source, from)),
            State::Dir { .. } => {
                return Err(Error::from_io(&io::ErrorKind::IsADirectory.into(), path::printable(from)));
            }
            State::Other => return Err(not_a_file(from)),
            State::Link { .. } => {
                self.check_link(from, expect_from)?;
                None
            }
            file @ State::File { .. } => {
                check(&file, expect_from, from)?;
                Some(file)
            }
        };
        let target = self.place_to_write(to)?;
        if (target.root, &target.names) == (source.root, &source.names) {
            return bytes.map_or(Ok(()), |bytes| self.put(from, bytes, expect_from));
        }
        let content = match (bytes, &now) {
            (Some(bytes), _) => bytes,
            (None, Some(State::File { hash, .. })) => {
                self.contents.get(hash).map(|kept| kept.to_vec()).ok_or_else(|| not_a_file(from))?
            }
            // A link is moved by what it leads to; moved itself, it would point elsewhere.
            (None, _) => super::ReadWorkspace { inner: self.inner.clone() }.read(from, MAX_TREE_BYTES)?.bytes,
        };
        let like = now.map(|state| (key_of(&source), state));
        self.put_at(&target, to, content, expect_to, like)?;
        self.set(&source, State::Absent, false, None);
        Ok(())
    }

    /// What the change would do.
    pub fn preview(&self) -> Vec<FileChange> {
        file_changes(&self.inner, &self.plan, &self.contents)
    }

    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.plan.values().all(|planned| planned.before == planned.after)
    }

    /// Does it: all, or nothing. `cancelled` is asked one last time before the first file is touched.
    pub fn commit(self, cancelled: &dyn Fn() -> bool) -> Result<Committed> {
        let mut plan = self.plan;
        plan.retain(|_, planned| planned.before != planned.after);
        let files = file_changes(&self.inner, &plan, &self.contents);
        if plan.is_empty() {
            return Ok(Committed { change_id: String::new(), files, warnings: Vec::new() });
        }
        self.inner.refuse_new_git_dirs(&plan)?;
        let batch = Batch {
            plan,
            contents: self.contents,
            label: self.label,
            undoes: Vec::new(),
            redoes: Vec::new(),
        };
        let (change_id, warnings) = self.inner.commit(batch, cancelled)?;
        Ok(Committed { change_id, files, warnings })
    }

    fn place_to_write(&self, path: &str) -> Result<Place> {
        let (root, names) = self.inner.choose_root(path)?;
        let place = self.inner.resolve_over(&self.plan, root, &names, true, path)?;
        self.inner.check_writable_as(&place, path)?;
        if place.names.len() > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} folders deep");
            return Err(Error::new(ErrorKind::InvalidPath, message).at(self.inner.display(&place)));
        }
        Ok(place)
    }

    fn put_at(
        &mut self,
        place: &Place,
        path: &str,
        bytes: Vec<u8>,
        expect: Expect,
        like: Option<(Key, State)>,
    ) -> Result<()> {
        let now = self.current(place)?;
        match now {
            State::Dir { .. } => {
                return Err(Error::from_io(&io::ErrorKind::IsADirectory.into(), path::printable(path)));
            }
            State::Other => return Err(not_a_file(path)),
            _ => check(&now, expect, path)?,
        }
        self.plan_parents(place, path)?;
        let bytes = Arc::new(bytes);
        let (hash, size) = (Hash::of(&bytes), bytes.len() as u64);
        let mode = match (&now, &like) {
            (State::File { mode, .. }, _) | (_, Some((_, State::File { mode, .. }))) => {
                mode.map(|mode| mode & 0o1777)
            }
            _ => None,
        };
        self.contents.insert(hash, bytes);
        self.set(place, State::File { hash, size, mode }, false, like.map(|(key, _)| key));
        Ok(())
    }

    /// What is at a place, as far as this change is concerned. Remembers what is on disk.
    fn current(&mut self, place: &Place) -> Result<State> {
        let key = key_of(place);
        if let Some(planned) = self.plan.get(&key) {
            return Ok(planned.after.clone());
        }
        let Some(last) = place.names.last().filter(|_| place.meta.is_some()) else {
            return Ok(State::Absent);
        };
        let seen = observe(&*place.parent, last);
        let seen = seen.map_err(|error| Error::from_io(&error, self.inner.display(place)))?;
        if let (Some(hash), Some(bytes)) = (seen.state.hash(), seen.bytes) {
            self.contents.insert(hash, bytes);
        }
        let planned = Planned {
            before: seen.state.clone(),
            after: seen.state.clone(),
            strict: false,
            moved_from: None,
        };
        self.plan.insert(key, planned);
        Ok(seen.state)
    }

    fn set(&mut self, place: &Place, after: State, strict: bool, moved_from: Option<Key>) {
        let fresh = Planned { before: State::Absent, after: State::Absent, strict, moved_from: None };
        let planned = self.plan.entry(key_of(place)).or_insert(fresh);
        planned.after = after;
        planned.strict = strict;
        planned.moved_from = moved_from;
    }

    /// Plans the directories above a place that are not there, or would be gone by then.
    fn plan_parents(&mut self, place: &Place, path: &str) -> Result<()> {
        for depth in 1..place.names.len() {
            let key: Key = (place.root, place.names.get(..depth).unwrap_or_default().to_vec());
            match self.plan.get_mut(&key) {
                Some(planned) => match &planned.after {
                    State::Dir { .. } => {}
                    State::Absent => {
                        let mode = if let State::Dir { mode } = planned.before { mode } else { None };
                        (planned.after, planned.strict) = (State::Dir { mode }, false);
                    }
                    _ => {
                        return Err(Error::from_io(
                            &io::ErrorKind::NotADirectory.into(),
                            path::printable(path),
                        ));
                    }
                },
                None if depth > place.existing => {
                    let after = State::Dir { mode: None };
                    self.plan.insert(
                        key,
                        Planned { before: State::Absent, after, strict: false, moved_from: None },
                    );
                }
                None => {}
            }
        }
        Ok(())
    }

    /// A link goes as such, but what a caller expects of it is about what it leads to.
    fn check_link(&self, path: &str, expect: Expect) -> Result<()> {
        match expect {
            Expect::Any => Ok(()),
            Expect::Absent => Err(exists(path)),
            Expect::Hash(_) => {
                let read = super::ReadWorkspace { inner: self.inner.clone() }.read(path, MAX_TREE_BYTES)?;
                check(&State::File { hash: read.hash, size: read.size, mode: None }, expect, path)
            }
        }
    }

    fn gather(
        &self,
        place: &Place,
        above: &[OsString],
        folder: &dyn Folder,
        into: &mut Gathered,
    ) -> Result<()> {
        let shown = |names: &[OsString]| self.inner.display_of(place.root, names);
        let entries = folder.entries().map_err(|error| Error::from_io(&error, shown(above)))?;
        for entry in entries {
            let names: Vec<OsString> = above.iter().chain([&entry.name]).cloned().collect();
            let child = Place { names, existing: above.len(), ..place.clone() };
            let failed = |error: &io::Error| Error::from_io(error, shown(&child.names));
            self.inner.refuse_protected_in(&child, folder)?;
            let seen = observe(folder, &entry.name).map_err(|error| failed(&error))?;
            into.bytes += seen.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
            let deep = child.names.len() > place.names.len() + MAX_TREE_DEPTH;
            if into.bytes > MAX_TREE_BYTES || into.plan.len() >= MAX_TREE_ENTRIES || deep {
                let message = "the directory holds more than can be journaled; delete parts of it";
                return Err(Error::new(ErrorKind::TooLarge, message).at(shown(&place.names)));
            }
            if seen.state == State::Other {
                return Err(not_a_file(&shown(&child.names)));
            }
            if seen.state.is_dir() {
                let below = folder.folder(&entry.name).map_err(|error| failed(&error))?;
                self.gather(place, &child.names, &*below, into)?;
            }
            if let (Some(hash), Some(bytes)) = (seen.state.hash(), seen.bytes) {
                into.contents.insert(hash, bytes);
            }
            let planned =
                Planned { before: seen.state, after: State::Absent, strict: true, moved_from: None };
            into.plan.insert(key_of(&child), planned);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Gathered {
    plan: Plan,
    contents: HashMap<Hash, Arc<Vec<u8>>>,
    bytes: u64,
}

fn key_of(place: &Place) -> Key {
    (place.root, place.names.clone())
}

fn not_a_file(path: &str) -> Error {
    Error::from_io(&io::Error::other(crate::fs::NotRegular), path::printable(path))
}

fn exists(path: &str) -> Error {
    Error::from_io(&io::ErrorKind::AlreadyExists.into(), path::printable(path))
}

pub(super) fn stale(path: impl Into<String>) -> Error {
    Error::new(ErrorKind::Stale, "it has changed since it was read; nothing was written").at(path)
}

/// Holds what is there against what the caller expects.
fn check(now: &State, expect: Expect, path: &str) -> Result<()> {
    match expect {
        Expect::Any => Ok(()),
        Expect::Absent if now.is_absent() => Ok(()),
        Expect::Absent => Err(exists(path)),
        Expect::Hash(hash) if now.hash() == Some(hash) => Ok(()),
        Expect::Hash(_) => Err(stale(path::printable(path))),
    }
}

/// A plan as callers see it: files only, a move as one.
pub(super) fn file_changes(
    inner: &Inner,
    plan: &Plan,
    contents: &HashMap<Hash, Arc<Vec<u8>>>,
) -> Vec<FileChange> {
    let bytes = |state: &State| match state {
        State::File { hash, .. } => contents.get(hash).map(|bytes| bytes.to_vec()),
        State::Link { target } => Some(target.clone().into_bytes()),
        _ => None,
    };
    let moved: Vec<&Key> = plan.values().filter_map(|planned| planned.moved_from.as_ref()).collect();
    let mut files = Vec::new();
    for (key, planned) in plan {
        let folders = |state: &State| state.is_dir() || state.is_absent();
        let nothing = folders(&planned.before) && folders(&planned.after);
        if nothing || planned.before == planned.after || (planned.after.is_absent() && moved.contains(&key)) {
            continue;
        }
        let source = planned.moved_from.as_ref().and_then(|from| Some((from, plan.get(from)?)));
        let (action, before) = match (&source, folders(&planned.before), folders(&planned.after)) {
            (Some((_, from)), _, false) => {
                (Action::Moved, bytes(&from.before).or_else(|| bytes(&planned.before)))
            }
            (_, true, _) => (Action::Created, None),
            (_, false, true) => (Action::Deleted, bytes(&planned.before)),
            (_, false, false) => (Action::Modified, bytes(&planned.before)),
        };
        files.push(FileChange {
            path: inner.display_of(key.0, &key.1),
            action,
            moved_from: source.map(|(from, _)| inner.display_of(from.0, &from.1)),
            before,
            after: bytes(&planned.after),
        });
    }
    files
}
