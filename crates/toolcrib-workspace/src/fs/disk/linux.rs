//! Directories on Linux: `openat2`, `O_TMPFILE`, `renameat2`.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::attributes;
use crate::fs::directory::{DirEntry, Directory, EntryKind, EntryStat};
use crate::fs::{
    Attributes, Folder, LockGuard, Meta, NotRegular, Reader, Staged, demand_regular, demand_single, temp_name,
};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

/// Beneath the handle, and through no symlink of any kind.
const CONFINED: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
const OPEN_DIR: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
/// Never waits for a FIFO's other end and never becomes a terminal's process.
const OPEN_FILE: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);
const PROC_SUPER_MAGIC: u64 = 0x9fa0;

/// An open directory.
#[derive(Clone)]
pub(super) struct LinuxFolder {
    fd: Arc<OwnedFd>,
}

impl LinuxFolder {
    /// Opens a host directory, or `None` when this kernel (or its filter) has no `openat2`.
    pub(super) fn open_root(path: &Path) -> io::Result<Option<Self>> {
        let fd = rustix::fs::openat(CWD, path, OPEN_DIR.difference(OFlags::NOFOLLOW), Mode::empty())?;
        match rustix::fs::openat2(&fd, ".", OPEN_DIR, Mode::empty(), CONFINED) {
            Ok(_) => Ok(Some(Self { fd: Arc::new(fd) })),
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn open_beneath(&self, path: impl rustix::path::Arg + Copy) -> io::Result<Self> {
        // EAGAIN: a rename anywhere on the system made the kernel unsure; it asks to try again.
        for _ in 0..128 {
            match rustix::fs::openat2(&self.fd, path, OPEN_DIR, Mode::empty(), CONFINED) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                Ok(fd) => return Ok(Self { fd: Arc::new(fd) }),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    fn open_regular(&self, name: &OsStr) -> io::Result<(File, Meta)> {
        demand_single(name)?;
        // Looking first keeps devices from being opened at all: opening alone can have effects.
        demand_regular(self.meta(name)?.kind)?;
        let file = File::from(rustix::fs::openat(&self.fd, name, OPEN_FILE, Mode::empty())?);
        let meta = from_stat(&rustix::fs::fstat(&file)?);
        demand_regular(meta.kind)?;
        // Files of /proc claim to be regular and empty, and are neither.
        if meta.size == 0 && rustix::fs::fstatfs(&file)?.f_type as u64 == PROC_SUPER_MAGIC {
            return Err(io::Error::other(NotRegular));
        }
        Ok((file, meta))
    }
}

fn from_stat(stat: &rustix::fs::Stat) -> Meta {
    Meta {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified_ns: i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec),
        changed_ns: i128::from(stat.st_ctime) * 1_000_000_000 + i128::from(stat.st_ctime_nsec),
        mode: stat.st_mode & 0o7777,
        #[allow(clippy::useless_conversion, reason = "narrower on other architectures")]
        links: u64::from(stat.st_nlink),
        identity: (stat.st_dev, stat.st_ino),
    }
}

fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Dir,
        FileType::Symlink => EntryKind::Symlink,
        _ => EntryKind::Other,
    }
}

impl Directory for LinuxFolder {
    fn entries(&self) -> io::Result<Vec<DirEntry>> {
        self.entries_up_to(usize::MAX)
    }

    fn open_dir(&self, name: &OsStr) -> io::Result<Arc<dyn Directory>> {
        Ok(self.folder(name)?)
    }

    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.open_regular(name)?.0))
    }

    fn stat(&self, name: &OsStr) -> io::Result<EntryStat> {
        Ok(self.meta(name)?.entry_stat())
    }
}

impl Folder for LinuxFolder {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn entries_up_to(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match self.meta(name) {
                    Ok(meta) => meta.kind,
                    Err(_) => continue,
                },
                known => kind_of(known),
            };
            if found.len() >= limit {
                break;
            }
            found.push(DirEntry { name: name.to_os_string(), kind });
        }
        Ok(found)
    }

    fn own_meta(&self) -> io::Result<Meta> {
        Ok(from_stat(&rustix::fs::fstat(&self.fd)?))
    }

    fn folder(&self, name: &OsStr) -> io::Result<Arc<dyn Folder>> {
        demand_single(name)?;
        Ok(Arc::new(self.open_beneath(name)?))
    }

    fn descend(&self, names: &[OsString]) -> io::Result<Arc<dyn Folder>> {
        if names.is_empty() {
            return Ok(Arc::new(self.clone()));
        }
        names.iter().try_for_each(|name| demand_single(name))?;
        Ok(Arc::new(self.open_beneath(&names.iter().collect::<PathBuf>())?))
    }

    fn meta(&self, name: &OsStr) -> io::Result<Meta> {
        demand_single(name)?;
        Ok(from_stat(&rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn read_link(&self, name: &OsStr) -> io::Result<OsString> {
        demand_single(name)?;
        let target = rustix::fs::readlinkat(&self.fd, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    fn open(&self, name: &OsStr) -> io::Result<(Reader, Meta)> {
        let (file, meta) = self.open_regular(name)?;
        Ok((Box::new(file), meta))
    }

    fn attributes(&self, name: &OsStr) -> io::Result<Attributes> {
        attributes::read(&self.open_regular(name)?.0)
    }

    fn stage(&self, bytes: &[u8], attributes: &Attributes, durable: bool) -> io::Result<Box<dyn Staged>> {
        let (mut file, temp) = create_temp(&self.fd, attributes.mode)?;
        // From here on the guard removes a named temporary file on every way out.
        let mut staged =
            LinuxStaged { dir: self.fd.clone(), file: file.try_clone()?, temp, owner_kept: true };
        file.write_all(bytes)?;
        staged.owner_kept = attributes::apply(&file, attributes)?;
        if durable {
            rustix::fs::fsync(&file)?;
        }
        Ok(Box::new(staged))
    }

    fn make_folder(&self, name: &OsStr, mode: Option<u32>) -> io::Result<()> {
        demand_single(name)?;
        rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(mode.unwrap_or(0o777)))?;
        // The process's mask has been applied; an exact mode is set afterwards.
        mode.map_or(Ok(()), |mode| self.set_folder_mode(name, mode))
    }

    fn set_folder_mode(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        demand_single(name)?;
        let folder = self.open_beneath(name)?;
        Ok(rustix::fs::fchmod(&folder.fd, Mode::from_raw_mode(mode))?)
    }

    fn make_link(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        Ok(rustix::fs::symlinkat(target, &self.fd, name)?)
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
    }

    fn move_to(&self, name: &OsStr, to: &dyn Folder, to_name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        demand_single(to_name)?;
        let to = to.as_any().downcast_ref::<Self>().ok_or(io::ErrorKind::CrossesDevices)?;
        Ok(rustix::fs::renameat(&self.fd, name, &to.fd, to_name)?)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }

    fn sync_file(&self, name: &OsStr) -> io::Result<()> {
        self.open_regular(name)?.0.sync_all()
    }

    fn try_lock(&self, name: Option<&OsStr>) -> io::Result<Option<LockGuard>> {
        // A lock belongs to the open file description, so each taker opens its own.
        let fd = match name {
            None => rustix::fs::openat(&self.fd, ".", OPEN_DIR, Mode::empty())?,
            Some(name) => {
                demand_single(name)?;
                let flags =
                    OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
                rustix::fs::openat(&self.fd, name, flags, Mode::from_raw_mode(0o600))?
            }
        };
        let file = File::from(fd);
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// A new file in `dir`: without a name where the file system can, so that a crash leaves nothing behind.
fn create_temp(dir: &OwnedFd, mode: Option<u32>) -> io::Result<(File, Option<OsString>)> {
    // Private until the right mode is set; a fresh file gets the process's default mode at once.
    let mode = Mode::from_raw_mode(if mode.is_some() { 0o600 } else { 0o666 });
    match rustix::fs::openat(dir, ".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode) {
        Ok(fd) => return Ok((File::from(fd), None)),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {}
        Err(error) => return Err(error.into()),
    }
    create_named(dir, mode)
}

/// The same under a name, for file systems that cannot do without.
fn create_named(dir: &OwnedFd, mode: Mode) -> io::Result<(File, Option<OsString>)> {
    let name = temp_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name.as_os_str(), flags, mode)?;
    Ok((File::from(fd), Some(name)))
}

struct LinuxStaged {
    dir: Arc<OwnedFd>,
    file: File,
    temp: Option<OsString>,
    owner_kept: bool,
}

impl LinuxStaged {
    /// Links the nameless file to `name`, which must be free.
    fn link(&self, name: &OsStr) -> io::Result<()> {
        match rustix::fs::linkat(&self.file, "", &self.dir, name, AtFlags::EMPTY_PATH) {
            // Unprivileged processes need a newer kernel for that; the way through /proc works everywhere else.
            Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {
                let magic = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                Ok(rustix::fs::linkat(CWD, magic, &self.dir, name, AtFlags::SYMLINK_FOLLOW)?)
            }
            other => Ok(other?),
        }
    }
}

impl Staged for LinuxStaged {
    fn publish_new(mut self: Box<Self>, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        let Some(temp) = self.temp.clone() else {
            return self.link(name);
        };
        match rustix::fs::renameat_with(&self.dir, &temp, &self.dir, name, RenameFlags::NOREPLACE) {
            // This file system cannot: a hard link fails on an existing name just as well. The guard removes the temp.
            Err(Errno::INVAL | Errno::NOSYS) => {
                Ok(rustix::fs::linkat(&self.dir, &temp, &self.dir, name, AtFlags::empty())?)
            }
            other => {
                other?;
                self.temp = None;
                Ok(())
            }
        }
    }

    fn publish_over(mut self: Box<Self>, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        let temp = match self.temp.clone() {
            Some(temp) => temp,
            None => {
                let temp = temp_name();
                self.link(&temp)?;
                self.temp.insert(temp).clone()
            }
        };
        rustix::fs::renameat(&self.dir, &temp, &self.dir, name)?;
        self.temp = None;
        Ok(())
    }

    fn owner_kept(&self) -> bool {
        self.owner_kept
    }
}

impl Drop for LinuxStaged {
    fn drop(&mut self) {
        if let Some(temp) = self.temp.take() {
            let _ = rustix::fs::unlinkat(&self.dir, temp, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use xattr::FileExt;

    use super::*;

    /// What happens on file systems without `O_TMPFILE`.
    #[test]
    fn named_temporary_files() {
        let temp = tempfile::tempdir().unwrap();
        let folder = LinuxFolder::open_root(temp.path()).unwrap().unwrap();
        let stage = || {
            let (file, name) = create_named(&folder.fd, Mode::from_raw_mode(0o644)).unwrap();
            (&file).write_all(b"x").unwrap();
            Box::new(LinuxStaged { dir: folder.fd.clone(), file, temp: name, owner_kept: true })
        };
        let names = || folder.entries().unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        stage().publish_new(OsStr::new("f")).unwrap();
        assert_eq!(names(), ["f"]);
        assert_eq!(stage().publish_new(OsStr::new("f")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        stage().publish_over(OsStr::new("f")).unwrap();
        drop(stage());
        assert_eq!(names(), ["f"]);
        assert!(stage().publish_over(OsStr::new("../f")).is_err());
    }

    #[test]
    fn attributes_bound_to_content_are_not_copied() {
        let temp = tempfile::tempdir().unwrap();
        let folder = LinuxFolder::open_root(temp.path()).unwrap().unwrap();
        let file = File::create(temp.path().join("f")).unwrap();
        if file.set_xattr("user.note", b"kept").is_err() {
            return;
        }
        let attributes = folder.attributes(OsStr::new("f")).unwrap();
        folder.stage(b"new", &attributes, true).unwrap().publish_over(OsStr::new("f")).unwrap();
        let replaced = File::open(temp.path().join("f")).unwrap();
        assert_eq!(replaced.get_xattr("user.note").unwrap().as_deref(), Some(&b"kept"[..]));
    }
}
