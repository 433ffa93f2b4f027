//! The directories that file tools may see and change.
//!
//! Reading is here; [`builder`] opens roots, `resolve` turns a caller's path into an open directory and a name,
//! `protect` says what must not change, `change` plans, `commit` applies, `undo` reverts.

mod access;
pub mod builder;
mod change;
mod commit;
mod near;
mod plan;
mod protect;
mod recover;
mod resolve;
pub mod sensitivity;
#[doc(hidden)]
pub mod testing;
mod undo;

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::fs::directory::{DirEntry, Directory, EntryKind, EntryStat};
use crate::fs::{Folder, Meta, ReadSeek};
use crate::journal::Journal;
use crate::{Error, ErrorKind, Hash, Result, path};

pub use builder::{MountSource, WorkspaceBuilder};
pub use change::{Action, Change, ChangeLabel, Committed, Expect, FileChange};
pub use undo::{ChangeFilter, ChangeId, ChangeInfo, ChangedFile, Undone};

use protect::Guard;
use resolve::Place;

/// Whether a root may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Files may be read and changed.
    ReadWrite,
    /// Files may only be read.
    ReadOnly,
}

/// One root, as it was opened.
#[derive(Clone, Debug)]
pub struct RootInfo {
    /// The canonical path on the host; none for memory.
    pub path: Option<PathBuf>,
    /// Whether it may be changed.
    pub access: Access,
    /// The name by which `name://` addresses it, for a mount.
    pub mount: Option<String>,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The canonical path: relative to the first root, absolute in other roots, `name://` in mounts.
    pub display: String,
    /// Whether something is there.
    pub exists: bool,
    /// What is there, symlinks followed.
    pub kind: Option<EntryKind>,
    /// Whether the root allows changes there and the path is not protected.
    pub writable: bool,
}

/// What is known of a file or directory without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The canonical path.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// Last modification, in nanoseconds since the epoch.
    pub modified_ns: i128,
    /// Permission bits.
    pub mode: u32,
    /// Hard links to it.
    pub links: u64,
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct FileData {
    /// The canonical path.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// The hash of `bytes`.
    pub hash: Hash,
    /// Bytes read.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Last modification, in nanoseconds since the epoch.
    pub modified_ns: i128,
}

/// A file open for reading, for those too large to hold.
pub struct OpenFile {
    /// The canonical path.
    pub path: String,
    /// Size when it was opened.
    pub size: u64,
    /// Last modification when it was opened.
    pub modified_ns: i128,
    /// Its bytes.
    pub reader: Box<dyn ReadSeek + Send>,
}

/// A directory to walk.
pub struct DirLocation {
    /// The canonical path.
    pub display: String,
    /// The directory itself.
    pub dir: Arc<dyn Directory>,
    /// The directories above it up to its root, the root first: canonical path and handle.
    pub parents: Vec<(String, Arc<dyn Directory>)>,
}

pub(crate) struct Root {
    info: RootInfo,
    folder: Arc<dyn Folder>,
    identity: (u64, u64),
    /// The canonical path and the spelling it was opened by, as names from the top; empty for memory.
    spellings: Vec<Vec<OsString>>,
    /// Names this root in the journal.
    key: String,
    /// Whether another root lies inside, so that walks must look out for it.
    has_nested: bool,
}

pub(crate) struct Inner {
    roots: Vec<Root>,
    guard: Guard,
    journal: Journal,
    /// Directories already swept of stale temporary files.
    swept: Mutex<std::collections::HashSet<(u64, u64)>>,
}

/// The reading half of a workspace: what a tool gets that must not change files.
#[derive(Clone)]
pub struct ReadWorkspace {
    inner: Arc<Inner>,
}

/// Confined files: read, changed all-or-nothing, journaled and undoable. Cheap to clone.
///
/// ```
/// use toolcrib_workspace::{ChangeLabel, Expect, Workspace};
///
/// let workspace = Workspace::memory();
/// let mut change = workspace.begin(ChangeLabel::default());
/// change.put("src/main.rs", b"fn main() {}\n".to_vec(), Expect::Absent)?;
/// change.put("README.md", b"# Hello\n".to_vec(), Expect::Absent)?;
/// let done = change.commit(&|| false)?;
/// assert_eq!(workspace.read("README.md", 1000)?.bytes, b"# Hello\n");
///
/// workspace.undo(&[done.change_id], ChangeLabel::default(), false)?;
/// assert!(workspace.list(".")?.is_empty());
/// # Ok::<(), toolcrib_workspace::Error>(())
/// ```
#[derive(Clone)]
pub struct Workspace {
    read: ReadWorkspace,
}

impl Deref for Workspace {
    type Target = ReadWorkspace;

    fn deref(&self) -> &ReadWorkspace {
        &self.read
    }
}

impl std::fmt::Debug for ReadWorkspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadWorkspace").field("roots", &self.roots()).finish()
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("roots", &self.roots()).finish()
    }
}

impl Workspace {
    /// Starts with no root.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder::default()
    }

    /// One directory, to read and write, with a journal that lives as long as the workspace.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        Self::builder().root(root, Access::ReadWrite).build()
    }

    /// An empty workspace in memory.
    pub fn memory() -> Self {
        builder::memory()
    }

    /// The reading half.
    pub fn read_only(&self) -> ReadWorkspace {
        self.read.clone()
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.read.inner
    }
}

impl ReadWorkspace {
    /// The roots in the order they were given, then the mounts.
    pub fn roots(&self) -> Vec<RootInfo> {
        self.inner.roots.iter().map(|root| root.info.clone()).collect()
    }

    /// Where `path` leads: symlinks inside the root are resolved, and the last names may be missing.
    pub fn locate(&self, path: &str) -> Result<Location> {
        let place = self.inner.resolve(path, true)?;
        let writable = self.inner.check_writable(&place).is_ok();
        Ok(self.inner.location(&place, writable))
    }

    /// Looks at a file or directory.
    pub fn stat(&self, path: &str) -> Result<Stat> {
        let place = self.inner.resolve(path, true)?;
        self.inner.stat_of(&place, path)
    }

    /// Reads a whole file of at most `max_bytes`; one that grows meanwhile is refused too.
    pub fn read(&self, path: &str, max_bytes: u64) -> Result<FileData> {
        let (reader, meta, display) = self.inner.open_regular(path)?;
        let too_large = |size: u64| {
            let message = format!("the file has {size} bytes, more than the {max_bytes} allowed");
            Error::new(ErrorKind::TooLarge, message).at(display.clone())
        };
        if meta.size > max_bytes {
            return Err(too_large(meta.size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.size).unwrap_or(0).min(1 << 24));
        let read = reader.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| Error::from_io(&error, display.clone()))?;
        if bytes.len() as u64 > max_bytes {
            return Err(too_large(bytes.len() as u64));
        }
        let (hash, size) = (Hash::of(&bytes), bytes.len() as u64);
        Ok(FileData { path: display, bytes, hash, size, mode: meta.mode, modified_ns: meta.modified_ns })
    }

    /// Opens a file for reading in parts.
    pub fn open_file(&self, path: &str) -> Result<OpenFile> {
        let (reader, meta, display) = self.inner.open_regular(path)?;
        Ok(OpenFile { path: display, size: meta.size, modified_ns: meta.modified_ns, reader })
    }

    /// The names in a directory, sorted, with what is known of each.
    pub fn list(&self, path: &str) -> Result<Vec<(DirEntry, EntryStat)>> {
        let (place, folder) = self.inner.open_folder(path)?;
        let display = self.inner.display(&place);
        let entries = folder.entries().map_err(|error| Error::from_io(&error, display))?;
        // A name that vanished since is no longer in the directory.
        let with_stat = |entry: DirEntry| folder.stat(&entry.name).ok().map(|stat| (entry, stat));
        let mut found: Vec<_> = entries.into_iter().filter_map(with_stat).collect();
        found.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        Ok(found)
    }

    /// A directory to walk, with those above it.
    pub fn directory(&self, path: &str) -> Result<DirLocation> {
        let (place, dir) = self.inner.open_folder(path)?;
        let mut parents: Vec<(String, Arc<dyn Directory>)> = Vec::new();
        for depth in 0..place.names.len() {
            let names = place.names.get(..depth).unwrap_or_default();
            let folder = self.inner.root(place.root)?.folder.descend(names);
            let folder = folder.map_err(|error| Error::from_io(&error, path::printable(path)))?;
            parents.push((self.inner.display_of(place.root, names), folder));
        }
        Ok(DirLocation { display: self.inner.display(&place), dir, parents })
    }

    /// The path of a directory on the host, for programs to run in; none for memory.
    pub fn host_directory(&self, path: &str) -> Result<Option<PathBuf>> {
        let (place, _) = self.inner.open_folder(path)?;
        let root = self.inner.root(place.root)?.info.path.clone();
        Ok(root.map(|root| place.names.iter().fold(root, |path, name| path.join(name))))
    }

    /// Paths of repositories inside the roots from which git takes commands, as they are now: what a sandbox must
    /// protect besides [`ReadWorkspace::protected_paths`]. Looked for only a few folders deep.
    pub fn nested_git_paths(&self) -> Vec<PathBuf> {
        self.inner.nested_git_paths()
    }

    /// The repositories of which roots are linked worktrees: commands must write there to commit. Only where the
    /// repository itself knows of the worktree, since a `.git` file alone can point anywhere.
    pub fn linked_repositories(&self) -> Vec<PathBuf> {
        self.inner.linked_repositories()
    }

    /// Paths on the host that nothing may change, whether they exist or not: for sandboxes around commands.
    pub fn protected_paths(&self) -> Vec<PathBuf> {
        self.inner.protected_paths()
    }
}

impl Inner {
    fn root(&self, index: usize) -> Result<&Root> {
        self.roots.get(index).ok_or_else(|| Error::new(ErrorKind::NotFound, "there is no such root"))
    }

    /// What is at `place`, or that there is nothing, with names that are near.
    fn demand(&self, place: &Place, path: &str) -> Result<Meta> {
        place.meta.ok_or_else(|| {
            let missing = place.names.get(place.existing).map(OsString::as_os_str).unwrap_or_default();
            let above = place.names.get(..place.existing).unwrap_or_default();
            let rest = place.names.get(place.existing + 1..).unwrap_or_default();
            let full = |name: String| {
                let mut names = above.to_vec();
                names.push(OsString::from(name));
                names.extend_from_slice(rest);
                self.display_of(place.root, &names)
            };
            let near = near::near_names(&*place.parent, missing).into_iter().map(full).collect();
            Error::from_io(&io::ErrorKind::NotFound.into(), path::printable(path)).with_near(near)
        })
    }

    fn open_regular(&self, path: &str) -> Result<(Box<dyn ReadSeek + Send>, Meta, String)> {
        self.retry(path, |place| {
            let Some(meta) = place.meta else { return Err(Failed::Known(self.not_found(&place, path))) };
            let last = match (meta.kind, place.names.last()) {
                (EntryKind::File, Some(last)) => last,
                (EntryKind::Dir, _) | (_, None) => {
                    return Err(known(io::ErrorKind::IsADirectory.into(), path));
                }
                _ => return Err(known(io::Error::other(crate::fs::NotRegular), path)),
            };
            let (reader, meta) = place.parent.open(last).map_err(Failed::Raced)?;
            Ok((reader, meta, self.display(&place)))
        })
    }

    fn open_folder(&self, path: &str) -> Result<(Place, Arc<dyn Folder>)> {
        self.retry(path, |place| {
            let Some(meta) = place.meta else { return Err(Failed::Known(self.not_found(&place, path))) };
            if meta.kind != EntryKind::Dir {
                return Err(known(io::ErrorKind::NotADirectory.into(), path));
            }
            let folder = match place.names.last() {
                Some(last) => place.parent.folder(last).map_err(Failed::Raced)?,
                None => place.parent.clone(),
            };
            Ok((place, folder))
        })
    }

    fn not_found(&self, place: &Place, path: &str) -> Error {
        match self.demand(place, path) {
            Err(error) => error,
            Ok(_) => Error::from_io(&io::ErrorKind::NotFound.into(), path::printable(path)),
        }
    }

    /// Resolves and acts, and begins again when what was resolved changed before it could be used.
    fn retry<T>(&self, path: &str, act: impl Fn(Place) -> Result<T, Failed>) -> Result<T> {
        let mut last = io::Error::from(io::ErrorKind::ResourceBusy);
        for _ in 0..resolve::ATTEMPTS {
            match act(self.resolve(path, true)?) {
                Ok(done) => return Ok(done),
                Err(Failed::Known(error)) => return Err(error),
                Err(Failed::Raced(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(Error::from_io(&error, path::printable(path)));
                }
                Err(Failed::Raced(error)) => last = error,
            }
        }
        Err(Error::from_io(&last, path::printable(path)))
    }

    fn display(&self, place: &Place) -> String {
        self.display_of(place.root, &place.names)
    }

    /// The canonical path of names below a root.
    fn display_of(&self, root: usize, names: &[OsString]) -> String {
        let Some(info) = self.roots.get(root) else { return path::join(names) };
        if let Some(mount) = &info.info.mount {
            return format!("{mount}://{}", if names.is_empty() { String::new() } else { path::join(names) });
        }
        let (Some(own), Some(first)) = (info.spellings.first(), self.roots.first()) else {
            return path::join(names);
        };
        let full: Vec<OsString> = own.iter().chain(names).cloned().collect();
        match first.spellings.first().and_then(|first| path::strip(&full, first)) {
            Some(relative) if first.info.mount.is_none() => path::join(relative),
            _ => absolute_text(info, names),
        }
    }
}

fn absolute_text(root: &Root, names: &[OsString]) -> String {
    let base = root.info.path.clone().unwrap_or_default();
    names.iter().fold(base, |path, name| path.join(name)).to_string_lossy().into_owned()
}

fn known(error: io::Error, path: &str) -> Failed {
    Failed::Known(Error::from_io(&error, path::printable(path)))
}

enum Failed {
    /// What was resolved is no longer there: try again.
    Raced(io::Error),
    Known(Error),
}

/// Reads a file that a place was resolved to; at most `max` bytes.
pub(crate) fn read_all(folder: &dyn Folder, name: &OsStr, max: u64) -> io::Result<(Vec<u8>, Meta)> {
    let (reader, meta) = folder.open(name)?;
    // Known before it is read: a sparse file of terabytes costs nothing to make.
    if meta.size > max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.size).unwrap_or(0).min(1 << 24));
    reader.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok((bytes, meta))
}
