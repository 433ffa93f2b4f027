//! The file systems beneath a workspace: the disk, held by directory handles, and memory.
//!
//! Everything above this module works on `Folder`: an open directory in which one name at a time is looked at,
//! opened, published or removed, and in which no symlink is ever followed. Confinement rests on that: whoever walks
//! from a root's handle one name at a time, and never asks for `..`, cannot leave the root, whatever others rename
//! meanwhile. Symlinks are resolved by the workspace, in one place, for every backend.

pub mod directory;
pub(crate) mod disk;
pub(crate) mod memory;

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Read, Seek};
use std::sync::Arc;

use directory::{DirEntry, Directory, EntryKind, EntryStat};

/// Names of temporary files begin so; the process id and a random part follow.
pub(crate) const TEMP_PREFIX: &str = ".toolcrib-tmp-";
/// How many names to look at for stale temporary files.
const MAX_SWEPT: usize = 20_000;

/// Bytes that can be read from any position.
pub trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// What is known of a file, directory or link without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) kind: EntryKind,
    pub(crate) size: u64,
    pub(crate) modified_ns: i128,
    /// Last change of content or attributes; the modification where the platform does not say.
    pub(crate) changed_ns: i128,
    /// Permission bits only.
    pub(crate) mode: u32,
    pub(crate) links: u64,
    /// Device and inode: what makes it the same object. Zeros where the platform does not say.
    pub(crate) identity: (u64, u64),
}

impl Meta {
    pub(crate) fn entry_stat(&self) -> EntryStat {
        EntryStat {
            kind: self.kind,
            size: self.size,
            modified_ns: self.modified_ns,
            changed_ns: self.changed_ns,
            inode: self.identity.1,
        }
    }
}

/// What a new file should take over from an old one. Empty: a fresh file with the process's defaults.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(unix), allow(dead_code, reason = "only unix has owners and attributes"))]
pub(crate) struct Attributes {
    pub(crate) mode: Option<u32>,
    pub(crate) owner: Option<(u32, u32)>,
    pub(crate) xattrs: Vec<(OsString, Vec<u8>)>,
}

impl Attributes {
    pub(crate) fn with_mode(mode: u32) -> Self {
        Self { mode: Some(mode), ..Self::default() }
    }
}

/// A whole new file content, written and durable, but without its final name.
pub(crate) trait Staged: Send {
    /// Gives it a name that must be free.
    fn publish_new(self: Box<Self>, name: &OsStr) -> io::Result<()>;
    /// Gives it a name in place of what has it now.
    fn publish_over(self: Box<Self>, name: &OsStr) -> io::Result<()>;
    /// Whether owner and group of the old file could be kept.
    fn owner_kept(&self) -> bool;
}

/// An advisory lock; dropped, it is free again.
pub(crate) type LockGuard = Box<dyn Any + Send>;

/// An open file for reading.
pub(crate) type Reader = Box<dyn ReadSeek + Send>;

/// An open directory with all that a workspace does in one. Every `name` is a single component.
pub(crate) trait Folder: Directory {
    fn as_any(&self) -> &dyn Any;
    /// At most so many names, so that a huge directory costs no more than its caller can use.
    fn entries_up_to(&self, limit: usize) -> io::Result<Vec<DirEntry>>;
    /// What this directory itself is.
    fn own_meta(&self) -> io::Result<Meta>;
    /// Opens a subdirectory; a symlink is an error.
    fn folder(&self, name: &OsStr) -> io::Result<Arc<dyn Folder>>;
    /// Opens a directory some levels down; a symlink anywhere is an error.
    fn descend(&self, names: &[OsString]) -> io::Result<Arc<dyn Folder>>;
    /// Looks at a name without following it.
    fn meta(&self, name: &OsStr) -> io::Result<Meta>;
    fn read_link(&self, name: &OsStr) -> io::Result<OsString>;
    /// Opens a regular file; anything else fails at once.
    fn open(&self, name: &OsStr) -> io::Result<(Reader, Meta)>;
    /// What a file that replaces this one should take over.
    fn attributes(&self, name: &OsStr) -> io::Result<Attributes>;
    /// Writes and syncs `bytes` under a temporary name, or none.
    fn stage(&self, bytes: &[u8], attributes: &Attributes, durable: bool) -> io::Result<Box<dyn Staged>>;
    fn make_folder(&self, name: &OsStr, mode: Option<u32>) -> io::Result<()>;
    fn set_folder_mode(&self, name: &OsStr, mode: u32) -> io::Result<()>;
    fn make_link(&self, name: &OsStr, target: &OsStr) -> io::Result<()>;
    /// Removes a name that is not a directory.
    fn remove_file(&self, name: &OsStr) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_folder(&self, name: &OsStr) -> io::Result<()>;
    /// Moves a file to another directory of the same backend, replacing what is there.
    fn move_to(&self, name: &OsStr, to: &dyn Folder, to_name: &OsStr) -> io::Result<()>;
    /// Makes the names in this directory durable.
    fn sync(&self) -> io::Result<()>;
    /// Makes the content of a file durable.
    fn sync_file(&self, name: &OsStr) -> io::Result<()>;
    /// Locks a file in here (created if missing), or this directory itself; `None` when somebody else has it.
    fn try_lock(&self, name: Option<&OsStr>) -> io::Result<Option<LockGuard>>;
}

/// The error of opening something that is neither a regular file nor a directory.
#[derive(Debug)]
pub(crate) struct NotRegular;

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a regular file")
    }
}

impl std::error::Error for NotRegular {}

/// Refuses what [`Folder::open`] must not open.
pub(crate) fn demand_regular(kind: EntryKind) -> io::Result<()> {
    match kind {
        EntryKind::File => Ok(()),
        EntryKind::Dir => Err(io::ErrorKind::IsADirectory.into()),
        EntryKind::Symlink | EntryKind::Other => Err(io::Error::other(NotRegular)),
    }
}

/// Refuses names that are not a single component, whoever asks.
pub(crate) fn demand_single(name: &OsStr) -> io::Result<()> {
    let bytes = name.as_encoded_bytes();
    let separator = |byte: &u8| *byte == b'/' || *byte == 0 || (cfg!(windows) && *byte == b'\\');
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.iter().any(separator) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(())
}

/// A fresh name for a temporary file.
pub(crate) fn temp_name() -> OsString {
    format!("{TEMP_PREFIX}{}-{:016x}", std::process::id(), fastrand::u64(..)).into()
}

/// The process that made a temporary file, if `name` is one of ours.
fn temp_owner(name: &OsStr) -> Option<u32> {
    name.to_str()?.strip_prefix(TEMP_PREFIX)?.split('-').next()?.parse().ok()
}

/// Whether a failure to read may pass by itself (too many open files, no memory, a bad network) and so says nothing
/// about what was to be read.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind as K;
    let resources = matches!(
        error.kind(),
        K::OutOfMemory | K::StorageFull | K::ResourceBusy | K::TimedOut | K::StaleNetworkFileHandle
    );
    #[cfg(unix)]
    let resources = resources || {
        use rustix::io::Errno;
        let passing = [Errno::IO, Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
        error.raw_os_error().is_some_and(|code| passing.contains(&code))
    };
    resources
}

/// Removes temporary files that dead processes left in a directory.
pub(crate) fn sweep(folder: &dyn Folder) {
    for entry in folder.entries_up_to(MAX_SWEPT).unwrap_or_default() {
        if entry.kind == EntryKind::File && temp_owner(&entry.name).is_some_and(|pid| !process_alive(pid)) {
            let _ = folder.remove_file(&entry.name);
        }
    }
}

/// Whether a process is still there; when in doubt it is.
fn process_alive(pid: u32) -> bool {
    #[cfg(unix)]
    {
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        pid == std::process::id()
    }
}
