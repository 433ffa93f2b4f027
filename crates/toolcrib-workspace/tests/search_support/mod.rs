//! Directories to search in tests and benchmarks: one on disk, one in memory.

// Each user takes only a part of it.
#![allow(dead_code, unreachable_pub)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use toolcrib_workspace::fs::directory::{DirEntry, Directory, EntryKind, EntryStat};
use toolcrib_workspace::search::WalkRoot;

/// A directory on disk, by handle.
pub struct Disk(OwnedFd);

impl Disk {
    pub fn open(path: &Path) -> Arc<dyn Directory> {
        Arc::new(Self(rustix::fs::open(path, DIR, Mode::empty()).unwrap()))
    }
}

const DIR: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Dir,
        FileType::Symlink => EntryKind::Symlink,
        _ => EntryKind::Other,
    }
}

impl Directory for Disk {
    fn entries(&self) -> io::Result<Vec<DirEntry>> {
        rustix::fs::seek(&self.0, rustix::fs::SeekFrom::Start(0))?;
        let mut buffer = [const { MaybeUninit::uninit() }; 32 << 10];
        let mut raw = RawDir::new(&self.0, &mut buffer);
        let mut entries = Vec::new();
        while let Some(entry) = raw.next() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                entries.push(DirEntry { name: name.to_owned(), kind: kind_of(entry.file_type()) });
            }
        }
        Ok(entries)
    }

    fn open_dir(&self, name: &OsStr) -> io::Result<Arc<dyn Directory>> {
        Ok(Arc::new(Self(rustix::fs::openat(&self.0, name, DIR, Mode::empty())?)))
    }

    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Read + Send>> {
        let fd = rustix::fs::openat(&self.0, name, FILE, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        Ok(Box::new(File::from(fd)))
    }

    fn stat(&self, name: &OsStr) -> io::Result<EntryStat> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let modified_ns = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
        let kind = kind_of(FileType::from_raw_mode(stat.st_mode));
        Ok(EntryStat { kind, size: stat.st_size as u64, modified_ns, changed_ns: modified_ns, inode: 0 })
    }
}

/// What a name in memory stands for.
#[derive(Clone)]
pub enum Node {
    File(Arc<Vec<u8>>),
    /// A file of so many equal bytes, never held in memory.
    Endless(u8, u64),
    Dir(Arc<Memory>),
    Symlink,
    Fifo,
    /// A directory or file that can't be opened.
    Denied(EntryKind),
}

/// A directory in memory. Names are given back in reverse order, as a disk owes no order.
#[derive(Default)]
pub struct Memory {
    pub nodes: BTreeMap<OsString, Node>,
    pub opened: Arc<AtomicUsize>,
}

impl Memory {
    /// From paths and contents.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Arc<dyn Directory> {
        let mut root = Self::default();
        for (path, content) in files {
            root.add(path, Node::File(Arc::new(content.as_bytes().to_vec())));
        }
        Arc::new(root)
    }

    pub fn add(&mut self, path: &str, node: Node) {
        match path.split_once('/') {
            None => {
                self.nodes.insert(path.into(), node);
            }
            Some((first, rest)) => {
                let opened = Arc::clone(&self.opened);
                let slot = self
                    .nodes
                    .entry(first.into())
                    .or_insert_with(|| Node::Dir(Arc::new(Memory { opened, ..Memory::default() })));
                let Node::Dir(dir) = slot else { panic!("{first} is no directory") };
                Arc::get_mut(dir).unwrap().add(rest, node);
            }
        }
    }
}

impl Directory for Memory {
    fn entries(&self) -> io::Result<Vec<DirEntry>> {
        let kind = |node: &Node| match node {
            Node::File(_) | Node::Endless(..) => EntryKind::File,
            Node::Dir(_) => EntryKind::Dir,
            Node::Symlink => EntryKind::Symlink,
            Node::Fifo => EntryKind::Other,
            Node::Denied(kind) => *kind,
        };
        Ok(self
            .nodes
            .iter()
            .rev()
            .map(|(name, node)| DirEntry { name: name.clone(), kind: kind(node) })
            .collect())
    }

    fn open_dir(&self, name: &OsStr) -> io::Result<Arc<dyn Directory>> {
        match self.nodes.get(name) {
            Some(Node::Dir(dir)) => Ok(Arc::clone(dir) as Arc<dyn Directory>),
            Some(Node::Denied(_)) => Err(io::ErrorKind::PermissionDenied.into()),
            Some(_) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Read + Send>> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        match self.nodes.get(name) {
            Some(Node::File(bytes)) => Ok(Box::new(io::Cursor::new(Bytes(Arc::clone(bytes))))),
            Some(Node::Endless(byte, size)) => Ok(Box::new(io::repeat(*byte).take(*size))),
            Some(Node::Denied(_)) => Err(io::ErrorKind::PermissionDenied.into()),
            Some(_) => Err(io::Error::other("not a regular file")),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn stat(&self, name: &OsStr) -> io::Result<EntryStat> {
        let node = self.nodes.get(name).ok_or(io::ErrorKind::NotFound)?;
        let (kind, size) = match node {
            Node::File(bytes) => (EntryKind::File, bytes.len() as u64),
            Node::Endless(_, size) => (EntryKind::File, *size),
            Node::Dir(_) => (EntryKind::Dir, 0),
            _ => (EntryKind::Other, 0),
        };
        Ok(EntryStat { kind, size, modified_ns: i128::from(size), changed_ns: i128::from(size), inode: 0 })
    }
}

struct Bytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A walk from a directory in memory.
pub fn memory<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> WalkRoot {
    WalkRoot::new(Memory::of(files))
}

/// A walk from a directory on disk.
pub fn disk(path: &Path) -> WalkRoot {
    WalkRoot::new(Disk::open(path))
}
