//! Looking before a change: may this path be changed, and what is it as such?

use super::resolve::Place;
use super::{Access, Inner, Location, ReadWorkspace, Stat};
use crate::{Error, ErrorKind, Result};

impl ReadWorkspace {
    /// Where `path` leads, if something may be written or deleted there; otherwise the error that a change would end
    /// with.
    pub fn locate_for_change(&self, path: &str) -> Result<Location> {
        let place = self.inner.resolve(path, true)?;
        self.inner.check_writable_as(&place, path)?;
        Ok(self.inner.location(&place, true))
    }

    /// Looks at a file, directory or symlink as such: a last symlink is not followed.
    pub fn stat_link(&self, path: &str) -> Result<Stat> {
        let place = self.inner.resolve(path, false)?;
        self.inner.stat_of(&place, path)
    }
}

impl Inner {
    /// Refuses a place that may not be changed.
    pub(super) fn check_writable(&self, place: &Place) -> Result<()> {
        self.refuse_protected(place)?;
        if place.access == Access::ReadOnly {
            let message = "this part of the workspace is read-only";
            return Err(Error::new(ErrorKind::ReadOnly, message).at(self.display(place)));
        }
        Ok(())
    }

    /// The same, also by the names that the caller used: a link must not lead around what its name means.
    pub(super) fn check_writable_as(&self, place: &Place, path: &str) -> Result<()> {
        self.check_writable(place)?;
        let (root, names) = self.choose_root(path)?;
        if names.is_empty() { Ok(()) } else { self.refuse_protected_names(root, &names) }
    }

    pub(super) fn location(&self, place: &Place, writable: bool) -> Location {
        Location {
            display: self.display(place),
            exists: place.meta.is_some(),
            kind: place.meta.map(|meta| meta.kind),
            writable,
        }
    }

    pub(super) fn stat_of(&self, place: &Place, path: &str) -> Result<Stat> {
        let meta = self.demand(place, path)?;
        Ok(Stat {
            path: self.display(place),
            kind: meta.kind,
            size: meta.size,
            modified_ns: meta.modified_ns,
            mode: meta.mode,
            links: meta.links,
        })
    }
}
