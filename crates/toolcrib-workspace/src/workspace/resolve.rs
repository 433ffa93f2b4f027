//! From a caller's path to an open directory and a name in it.
//!
//! The walk holds a handle on every directory it passes and reads symlinks itself, so `..` in a link's target goes back
//! to a handle already held and never above the root. What others rename meanwhile can make the walk fail, and then it
//! begins again, but it cannot lead it out.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{Access, Inner, Root};
use crate::fs::directory::EntryKind;
use crate::fs::{Folder, Meta};
use crate::path::{self, Request};
use crate::{Error, ErrorKind, Result};

/// How often a walk is begun again when others rename beneath it.
pub(super) const ATTEMPTS: usize = 64;
/// As many links as Linux itself would follow.
const MAX_LINKS: usize = 40;

/// Where a path leads: `names` below a root, of which `existing` are directories that are there.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) root: usize,
    /// The canonical names.
    pub(crate) names: Vec<OsString>,
    /// The last directory that exists; the one that holds the last name, when that exists.
    pub(crate) parent: Arc<dyn Folder>,
    /// How many names lead to `parent`.
    pub(crate) existing: usize,
    /// What is there.
    pub(crate) meta: Option<Meta>,
    /// What the most specific root allows.
    pub(crate) access: Access,
}

enum Stop {
    Raced,
    Known(Error),
}

/// The directories passed so far.
struct Trail {
    passed: Vec<(OsString, Arc<dyn Folder>, Access)>,
}

impl Inner {
    /// Resolves a path; a symlink as its last name is followed only if `follow`.
    pub(super) fn resolve(&self, path: &str, follow: bool) -> Result<Place> {
        let (root, names) = self.choose_root(path)?;
        self.resolve_names(root, &names, follow, path)
    }

    pub(super) fn resolve_names(
        &self,
        root: usize,
        names: &[OsString],
        follow: bool,
        path: &str,
    ) -> Result<Place> {
        for _ in 0..ATTEMPTS {
            match self.walk(root, names, follow, path) {
                Ok(place) => return Ok(place),
                Err(Stop::Known(error)) => return Err(error),
                Err(Stop::Raced) => {}
            }
        }
        let message = "the directories on this path keep changing; try again";
        Err(Error::new(ErrorKind::Conflict, message).at(path::printable(path)))
    }

    /// The most specific root of a path, and the names below it.
    pub(super) fn choose_root(&self, path: &str) -> Result<(usize, Vec<OsString>)> {
        let outside = || path::outside(path);
        match path::parse(path)? {
            Request::Mount(mount, names) => {
                let index = self.roots.iter().position(|root| root.info.mount.as_deref() == Some(&mount));
                let missing = || {
                    let message = format!("nothing is mounted as `{mount}://`");
                    Error::new(ErrorKind::NotFound, message).at(path::printable(path))
                };
                Ok((index.ok_or_else(missing)?, names))
            }
            Request::Absolute(full) => self.most_specific(&full).ok_or_else(outside),
            Request::Relative(names) => {
                let first = self.root(0)?;
                match first.spellings.first() {
                    Some(base) if first.has_nested => {
                        let full: Vec<OsString> = base.iter().chain(&names).cloned().collect();
                        self.most_specific(&full).ok_or_else(outside)
                    }
                    _ => Ok((0, names)),
                }
            }
        }
    }

    fn most_specific(&self, full: &[OsString]) -> Option<(usize, Vec<OsString>)> {
        let below = |root: &Root| {
            root.spellings.iter().filter_map(|own| path::strip(full, own)).min_by_key(|rest| rest.len())
        };
        let candidates =
            self.roots.iter().enumerate().filter_map(|(index, root)| Some((index, below(root)?)));
        let (index, rest) = candidates.min_by_key(|(_, rest)| rest.len())?;
        Some((index, rest.to_vec()))
    }

    fn walk(&self, index: usize, names: &[OsString], follow: bool, path: &str) -> Result<Place, Stop> {
        let root = self.root(index).map_err(Stop::Known)?;
        if let Some(place) = self.fast(index, root, names, follow) {
            return Ok(place);
        }
        let known = |error: &io::Error| Stop::Known(Error::from_io(error, path::printable(path)));
        let mut trail = Trail { passed: Vec::new() };
        let mut todo: VecDeque<OsString> = names.iter().cloned().collect();
        let mut links = 0;
        while let Some(name) = todo.pop_front() {
            if name == ".." {
                trail.passed.pop().ok_or_else(|| Stop::Known(path::outside(path)))?;
                continue;
            }
            let here = trail.folder(root).clone();
            let meta = match here.meta(&name) {
                Ok(meta) => meta,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    todo.push_front(name);
                    return trail.missing(index, root, todo.into()).ok_or_else(|| known(&error));
                }
                Err(error) => return Err(known(&error)),
            };
            match meta.kind {
                EntryKind::Symlink if follow || !todo.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        let error =
                            Error::new(ErrorKind::InvalidPath, "the symlinks on this path form a loop");
                        return Err(Stop::Known(error.at(path::printable(path))));
                    }
                    let target = here.read_link(&name).map_err(|_| Stop::Raced)?;
                    let parts = match path::link_parts(&target) {
                        Some(parts) => parts,
                        None => {
                            trail.passed.clear();
                            back_inside(root, &target).ok_or_else(|| Stop::Known(path::outside(path)))?
                        }
                    };
                    parts.into_iter().rev().for_each(|part| todo.push_front(part));
                }
                EntryKind::Dir => {
                    let folder = match here.folder(&name) {
                        Ok(folder) => folder,
                        // A directory that may not be entered is fine as the end of a path.
                        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                            if todo.is_empty() {
                                return Ok(trail.end(index, root, name, meta));
                            }
                            return Err(known(&error));
                        }
                        Err(_) => return Err(Stop::Raced),
                    };
                    let so_far = trail.access(root);
                    trail.passed.push((name, folder, so_far));
                    let access = self.access_at(root, &trail, so_far);
                    trail.passed.last_mut().into_iter().for_each(|passed| passed.2 = access);
                }
                _ if todo.is_empty() => return Ok(trail.end(index, root, name, meta)),
                _ => return Err(known(&io::ErrorKind::NotADirectory.into())),
            }
        }
        trail.directory(index, root).map_err(|_| Stop::Raced)
    }

    /// The common case in two system calls: no symlink on the way. Anything else is left to the walk.
    fn fast(&self, index: usize, root: &Root, names: &[OsString], follow: bool) -> Option<Place> {
        let (last, above) = names.split_last()?;
        if root.has_nested {
            return None;
        }
        let parent = root.folder.descend(above).ok()?;
        let meta = match parent.meta(last) {
            Ok(meta) if meta.kind == EntryKind::Symlink && follow => return None,
            Ok(meta) => Some(meta),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        let existing = above.len();
        Some(Place { root: index, names: names.to_vec(), parent, existing, meta, access: root.info.access })
    }

    /// A root inside another root decides for itself; it is known by what it is, or failing that by its names.
    fn access_at(&self, root: &Root, trail: &Trail, so_far: Access) -> Access {
        if !root.has_nested {
            return so_far;
        }
        let Ok(meta) = trail.folder(root).own_meta() else { return Access::ReadOnly };
        let names = trail.names();
        let spelled = |other: &Root| {
            let full =
                root.spellings.first().map(|own| own.iter().chain(&names).map(|name| path::folded(name)));
            let own = other.spellings.first().map(|own| own.iter().map(|name| path::folded(name)));
            full.zip(own).is_some_and(|(full, own)| full.eq(own))
        };
        let same = |other: &&Root| match meta.identity {
            (0, 0) => spelled(other),
            identity => other.identity == identity,
        };
        self.roots.iter().find(same).map_or(so_far, |other| other.info.access)
    }
}

/// The names below the root that an absolute link points to, if it points inside.
fn back_inside(root: &Root, target: &std::ffi::OsStr) -> Option<Vec<OsString>> {
    let full = path::absolute_names(Path::new(target));
    root.spellings.iter().find_map(|own| path::strip(&full, own)).map(<[OsString]>::to_vec)
}

impl Trail {
    fn folder<'a>(&'a self, root: &'a Root) -> &'a Arc<dyn Folder> {
        self.passed.last().map_or(&root.folder, |(_, folder, _)| folder)
    }

    fn access(&self, root: &Root) -> Access {
        self.passed.last().map_or(root.info.access, |(_, _, access)| *access)
    }

    fn names(&self) -> Vec<OsString> {
        self.passed.iter().map(|(name, _, _)| name.clone()).collect()
    }

    /// A place of which the names in `rest` do not exist; none when they go back up from nothing.
    fn missing(self, root_index: usize, root: &Root, rest: Vec<OsString>) -> Option<Place> {
        if rest.iter().any(|name| name == "..") {
            return None;
        }
        let mut names = self.names();
        let existing = names.len();
        names.extend(rest);
        let (parent, access) = (self.folder(root).clone(), self.access(root));
        Some(Place { root: root_index, names, parent, existing, meta: None, access })
    }

    /// A place that is the name `last` in the directory reached.
    fn end(self, root_index: usize, root: &Root, last: OsString, meta: Meta) -> Place {
        let mut names = self.names();
        let existing = names.len();
        names.push(last);
        let (parent, access) = (self.folder(root).clone(), self.access(root));
        Place { root: root_index, names, parent, existing, meta: Some(meta), access }
    }

    /// A place that is the directory reached.
    fn directory(mut self, root_index: usize, root: &Root) -> io::Result<Place> {
        let access = self.access(root);
        let Some((name, folder, _)) = self.passed.pop() else {
            let meta = Some(root.folder.own_meta()?);
            let parent = root.folder.clone();
            return Ok(Place { root: root_index, names: Vec::new(), parent, existing: 0, meta, access });
        };
        let meta = folder.own_meta()?;
        Ok(Place { access, ..self.end(root_index, root, name, meta) })
    }
}
