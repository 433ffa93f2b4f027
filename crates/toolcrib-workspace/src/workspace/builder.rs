//! Opening a workspace.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::protect::Guard;
use super::{Access, Inner, ReadWorkspace, Root, RootInfo, Workspace};
use crate::fs::memory::MemoryFs;
use crate::fs::{Folder, disk};
use crate::journal::{Journal, Limits};
use crate::state::StateDir;
use crate::{Error, ErrorKind, Result, path};

/// What stands behind a mount.
#[derive(Clone, Debug)]
pub enum MountSource {
    /// A directory on the host.
    Disk(PathBuf),
    /// Memory.
    Memory,
}

/// Collects what a workspace is made of.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceBuilder {
    roots: Vec<(Option<String>, MountSource, Access)>,
    state: Option<StateDir>,
    protect: Vec<String>,
    portable: bool,
    limits: Limits,
    crash_after: Option<u64>,
}

impl WorkspaceBuilder {
    /// Adds a directory; the first is the one that relative paths mean.
    #[must_use]
    pub fn root(mut self, path: impl AsRef<Path>, access: Access) -> Self {
        self.roots.push((None, MountSource::Disk(path.as_ref().to_path_buf()), access));
        self
    }

    /// Makes memory the first root.
    #[must_use]
    pub fn memory_root(mut self) -> Self {
        self.roots.insert(0, (None, MountSource::Memory, Access::ReadWrite));
        self
    }

    /// Adds a root that is addressed as `name://`.
    #[must_use]
    pub fn mount(mut self, name: &str, source: MountSource, access: Access) -> Self {
        self.roots.push((Some(name.to_owned()), source, access));
        self
    }

    /// Keeps the journal on disk, so that changes can be undone later and a crash can be recovered from.
    #[must_use]
    pub fn state(mut self, state: StateDir) -> Self {
        self.state = Some(state);
        self
    }

    /// Protects more paths: a glob relative to a root, without regard to case.
    #[must_use]
    pub fn protect(mut self, pattern: impl Into<String>) -> Self {
        self.protect.push(pattern.into());
        self
    }

    /// How many changes and how many bytes of old content the journal keeps.
    #[must_use]
    pub fn journal_limits(mut self, changes: usize, bytes: u64) -> Self {
        self.limits = Limits { changes, bytes };
        self
    }

    /// Uses the implementation for platforms without `openat2`.
    #[doc(hidden)]
    #[must_use]
    pub fn portable(mut self, portable: bool) -> Self {
        self.portable = portable;
        self
    }

    /// Makes commits stop dead after so many steps, as if the process had been killed there.
    #[doc(hidden)]
    #[must_use]
    pub fn crash_after(mut self, steps: u64) -> Self {
        self.crash_after = Some(steps);
        self
    }

    /// Opens everything.
    pub fn build(self) -> Result<Workspace> {
        let mut roots: Vec<Root> = Vec::new();
        for (mount, source, access) in &self.roots {
            roots.push(open_root(mount.as_deref(), source, *access, self.portable)?);
        }
        if !roots.iter().any(|root| root.info.mount.is_none()) {
            return Err(Error::new(ErrorKind::NotFound, "a workspace needs a root"));
        }
        // Mounts come last, so that the first root is a root.
        roots.sort_by_key(|root| root.info.mount.is_some());
        mark_nested(&mut roots);
        let journal = match &self.state {
            Some(state) => Journal::on_disk(state.clone(), self.limits),
            None => Journal::in_memory(self.limits),
        };
        if let Some(steps) = self.crash_after {
            journal.crash_after(steps);
        }
        let own = own_directories(self.state.as_ref());
        let guard = Guard::new(own, &self.protect)?;
        let inner = Inner { roots, guard, journal, swept: Mutex::new(HashSet::new()) };
        Ok(Workspace { read: ReadWorkspace { inner: Arc::new(inner) } })
    }
}

/// Toolcrib's directories, also those of this user when the state lies elsewhere or nowhere.
fn own_directories(state: Option<&StateDir>) -> Vec<PathBuf> {
    let mut own = state.map(|state| state.protected().to_vec()).unwrap_or_default();
    if let Ok(usual) = StateDir::for_roots(&[]) {
        own.extend_from_slice(usual.protected());
    }
    own.sort();
    own.dedup();
    own
}

pub(super) fn memory() -> Workspace {
    let root = memory_root(None, Access::ReadWrite);
    let journal = Journal::in_memory(Limits::default());
    let inner =
        Inner { roots: vec![root], guard: Guard::default(), journal, swept: Mutex::new(HashSet::new()) };
    Workspace { read: ReadWorkspace { inner: Arc::new(inner) } }
}

fn memory_root(mount: Option<&str>, access: Access) -> Root {
    let folder: Arc<dyn Folder> = MemoryFs::new().root();
    let identity = folder.own_meta().map(|meta| meta.identity).unwrap_or_default();
    let key = mount.map_or_else(|| "memory".to_owned(), |name| format!("mount:{name}"));
    let info = RootInfo { path: None, access, mount: mount.map(str::to_owned) };
    Root { info, folder, identity, spellings: Vec::new(), key, has_nested: false }
}

fn open_root(mount: Option<&str>, source: &MountSource, access: Access, portable: bool) -> Result<Root> {
    if let Some(name) = mount.filter(|name| !path::valid_mount(name)) {
        return Err(Error::new(
            ErrorKind::InvalidPath,
            "a mount's name is lower-case letters, digits, `-`, `_`",
        )
        .at(name));
    }
    let MountSource::Disk(given) = source else { return Ok(memory_root(mount, access)) };
    let shown = given.to_string_lossy().into_owned();
    let failed = |error: std::io::Error| Error::from_io(&error, shown.clone());
    // A root that is a symlink is resolved once, here, and never again.
    let canonical = given.canonicalize().map_err(failed)?;
    let folder = disk::open_root(&canonical, portable).map_err(failed)?;
    let identity = folder.own_meta().map_err(failed)?.identity;
    let key = mount.map_or_else(|| path::encode_text(canonical.as_os_str()), |name| format!("mount:{name}"));
    let mut spellings: Vec<Vec<OsString>> = Vec::new();
    if mount.is_none() {
        spellings.push(path::absolute_names(&canonical));
        let spelled = path::absolute_names(&std::path::absolute(given).map_err(failed)?);
        if !spellings.contains(&spelled) {
            spellings.push(spelled);
        }
    }
    let info = RootInfo { path: Some(canonical), access, mount: mount.map(str::to_owned) };
    Ok(Root { info, folder, identity, spellings, key, has_nested: false })
}

fn mark_nested(roots: &mut [Root]) {
    let paths: Vec<Option<PathBuf>> = roots.iter().map(|root| root.info.path.clone()).collect();
    for (index, root) in roots.iter_mut().enumerate() {
        let Some(own) = root.info.path.clone() else { continue };
        let inside = |(other, path): (usize, &Option<PathBuf>)| {
            other != index && path.as_ref().is_some_and(|path| path.starts_with(&own))
        };
        root.has_nested = paths.iter().enumerate().any(inside);
    }
}
