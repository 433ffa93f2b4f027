//! A change as data: what each name is now and shall be, and the order in which to get there.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;

use super::resolve::Place;
use super::{Inner, read_all};
use crate::fs::directory::EntryKind;
use crate::fs::{Folder, Meta};
use crate::journal::MAX_BLOB;
use crate::journal::record::State;
use crate::{Hash, Result, path};

/// A canonical place: the index of a root and names below it.
pub(super) type Key = (usize, Vec<OsString>);

/// What shall happen to one name.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) before: State,
    pub(super) after: State,
    /// For directories: whether one that is not empty when it shall go is a failure.
    pub(super) strict: bool,
    pub(super) moved_from: Option<Key>,
}

/// All of a change.
pub(super) type Plan = BTreeMap<Key, Planned>;

/// One thing to do, after which the tree is still sound.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) key: Key,
    pub(super) from: State,
    pub(super) to: State,
    pub(super) strict: bool,
    /// A file whose owner and attributes a new file takes over.
    pub(super) like: Option<Key>,
}

/// The steps of a plan: first what stands in the way of something new, then everything new from the top down, then
/// what goes, from the bottom up. So a reader never misses a file that is only being moved.
pub(super) fn steps(plan: &Plan) -> Vec<Step> {
    let turned: BTreeSet<&Key> = plan
        .iter()
        .filter(|(_, planned)| {
            !planned.before.is_absent()
                && !planned.after.is_absent()
                && !planned.before.same_kind(&planned.after)
        })
        .map(|(key, _)| key)
        .collect();
    let in_the_way = |key: &Key| {
        (0..=key.1.len())
            .any(|depth| turned.contains(&(key.0, key.1.get(..depth).unwrap_or_default().to_vec())))
    };
    let (mut first, mut middle, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for (key, planned) in plan {
        let step = |from: &State, to: &State| Step {
            key: key.clone(),
            from: from.clone(),
            to: to.clone(),
            strict: planned.strict,
            like: planned.moved_from.clone(),
        };
        if turned.contains(key) {
            first.push(step(&planned.before, &State::Absent));
            middle.push(step(&State::Absent, &planned.after));
        } else if !planned.after.is_absent() {
            if planned.before != planned.after {
                middle.push(step(&planned.before, &planned.after));
            }
        } else if in_the_way(key) {
            first.push(step(&planned.before, &State::Absent));
        } else {
            last.push(step(&planned.before, &State::Absent));
        }
    }
    first.reverse();
    last.reverse();
    first.into_iter().chain(middle).chain(last).collect()
}

/// The same plan the other way round.
pub(super) fn inverse(plan: &Plan) -> Plan {
    let turn = |(key, planned): (&Key, &Planned)| {
        let (before, after) = (planned.after.clone(), planned.before.clone());
        (key.clone(), Planned { before, after, strict: false, moved_from: None })
    };
    plan.iter().map(turn).collect()
}

/// What was found under a name.
pub(super) struct Observed {
    pub(super) state: State,
    pub(super) bytes: Option<Arc<Vec<u8>>>,
    pub(super) meta: Option<Meta>,
}

impl Observed {
    fn absent() -> Self {
        Self { state: State::Absent, bytes: None, meta: None }
    }
}

/// Looks at a name, and at its content if it is a file.
pub(super) fn observe(folder: &dyn Folder, name: &OsStr) -> io::Result<Observed> {
    let meta = match folder.meta(name) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Observed::absent()),
        Err(error) => return Err(error),
    };
    let mut bytes = None;
    let state = match meta.kind {
        EntryKind::File => {
            let (content, meta) = read_all(folder, name, MAX_BLOB)?;
            let state =
                State::File { hash: Hash::of(&content), size: content.len() as u64, mode: Some(meta.mode) };
            bytes = Some(Arc::new(content));
            state
        }
        EntryKind::Dir => State::Dir { mode: Some(meta.mode) },
        EntryKind::Symlink => State::Link { target: path::encode_text(&folder.read_link(name)?) },
        EntryKind::Other => State::Other,
    };
    Ok(Observed { state, bytes, meta: Some(meta) })
}

impl Inner {
    /// The directory that holds a place, through no symlink.
    pub(super) fn folder_of(&self, key: &Key) -> io::Result<Arc<dyn Folder>> {
        let root = self.roots.get(key.0).ok_or(io::ErrorKind::NotFound)?;
        let (_, above) = key.1.split_last().ok_or(io::ErrorKind::InvalidInput)?;
        root.folder.descend(above)
    }

    /// Resolves names as if a plan were done: a file or link on the way that it removes is no longer there.
    pub(super) fn resolve_over(
        &self,
        plan: &Plan,
        root: usize,
        names: &[OsString],
        follow: bool,
        path: &str,
    ) -> Result<Place> {
        let gone = |depth: &usize| {
            let planned = plan.get(&(root, names.get(..*depth).unwrap_or_default().to_vec()));
            planned.is_some_and(|planned| !planned.before.is_dir() && planned.before != planned.after)
        };
        let Some(depth) = (1..=names.len()).find(gone) else {
            return self.resolve_names(root, names, follow, path);
        };
        let place = self.resolve_names(root, names.get(..depth).unwrap_or_default(), false, path)?;
        Ok(Place { meta: place.meta.filter(|_| depth == names.len()), names: names.to_vec(), ..place })
    }

    /// What is at a place now; a missing directory above it means nothing is.
    pub(super) fn observe_key(&self, key: &Key) -> io::Result<Observed> {
        let last = key.1.last().ok_or(io::ErrorKind::InvalidInput)?;
        match self.folder_of(key) {
            Ok(folder) => observe(&*folder, last),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Observed::absent())
            }
            Err(error) => Err(error),
        }
    }
}
