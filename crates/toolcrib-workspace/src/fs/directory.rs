//! A directory that can be listed and descended without ever following a symlink.
//!
//! Walking and searching stand on this trait alone, so the disk and the in-memory workspace are walked by the same
//! code, and a directory that is exchanged for a symlink in the middle of a walk leads nowhere.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::sync::Arc;

/// What a name in a directory stands for. Symlinks are never followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket, device or anything else.
    Other,
}

/// One name in a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    /// The name, a single path component.
    pub name: OsString,
    /// What it stands for.
    pub kind: EntryKind,
}

/// What is known of one name in a directory without opening it.
#[derive(Clone, Copy, Debug)]
pub struct EntryStat {
    /// What it stands for.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// Last modification, in nanoseconds since the epoch.
    pub modified_ns: i128,
    /// Last change of content or attributes, which no program can set, in nanoseconds since the epoch; the same as
    /// `modified_ns` where the platform does not say.
    pub changed_ns: i128,
    /// What makes it the same object as before, within its file system; zero where the platform does not say.
    pub inode: u64,
}

/// An open directory. Implementations resolve `name` as a single component and never follow a symlink.
pub trait Directory: Send + Sync {
    /// All names but `.` and `..`, in no particular order.
    fn entries(&self) -> io::Result<Vec<DirEntry>>;
    /// Opens a subdirectory.
    fn open_dir(&self, name: &OsStr) -> io::Result<Arc<dyn Directory>>;
    /// Opens a regular file for reading; anything else is an error at once, never a hang.
    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Read + Send>>;
    /// Looks at a name without following or opening it.
    fn stat(&self, name: &OsStr) -> io::Result<EntryStat>;
}
