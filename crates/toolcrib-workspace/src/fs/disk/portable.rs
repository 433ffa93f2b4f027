//! Directories through `cap-std`: every platform but Linux, and Linux without `openat2`.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::fs::TryLockError;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

#[cfg(unix)]
use super::attributes;
use crate::fs::directory::{DirEntry, Directory, EntryKind, EntryStat};
use crate::fs::{
    Attributes, Folder, LockGuard, Meta, Reader, Staged, demand_regular, demand_single, temp_name,
};

/// An open directory.
#[derive(Clone)]
pub(super) struct PortableFolder {
    dir: Arc<Dir>,
}

impl PortableFolder {
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        Ok(Self { dir: Arc::new(Dir::open_ambient_dir(path, ambient_authority())?) })
    }

    fn child(&self, name: &OsStr) -> io::Result<Self> {
        demand_single(name)?;
        let seen = self.meta(name)?;
        if seen.kind != EntryKind::Dir {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let child = Self { dir: Arc::new(self.dir.open_dir(name)?) };
        // cap-std follows symlinks that stay beneath; what was opened must be the directory that was seen.
        same_object(&seen, &child.own_meta()?)?;
        Ok(child)
    }

    fn open_regular(&self, name: &OsStr) -> io::Result<(std::fs::File, Meta)> {
        demand_single(name)?;
        let seen = self.meta(name)?;
        demand_regular(seen.kind)?;
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            // Should a FIFO have taken the name meanwhile: no waiting for its other end.
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
        }
        let file = self.dir.open_with(name, &options)?;
        let meta = meta_of(&file.metadata()?);
        demand_regular(meta.kind)?;
        same_object(&seen, &meta)?;
        Ok((file.into_std(), meta))
    }
}

fn same_object(seen: &Meta, opened: &Meta) -> io::Result<()> {
    if seen.identity == opened.identity { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}

fn meta_of(metadata: &Metadata) -> Meta {
    let file_type = metadata.file_type();
    let kind = if file_type.is_symlink() {
        EntryKind::Symlink
    } else if file_type.is_dir() {
        EntryKind::Dir
    } else if file_type.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    };
    #[cfg(unix)]
    let (mode, links, identity, modified_ns) = {
        use cap_std::fs::MetadataExt;
        let modified = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        (metadata.mode() & 0o7777, metadata.nlink(), (metadata.dev(), metadata.ino()), modified)
    };
    #[cfg(not(unix))]
    let (mode, links, identity, modified_ns) = {
        let modified = metadata.modified().map(cap_std::time::SystemTime::into_std).ok();
        let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let mode = if metadata.permissions().readonly() { 0o444 } else { 0o644 };
        (mode, 1, (0, 0), since.map_or(0, |since| since.as_nanos() as i128))
    };
    Meta { kind, size: metadata.len(), modified_ns, changed_ns: modified_ns, mode, links, identity }
}

impl Directory for PortableFolder {
    fn entries(&self) -> io::Result<Vec<DirEntry>> {
        self.entries_up_to(usize::MAX)
    }

    fn open_dir(&self, name: &OsStr) -> io::Result<Arc<dyn Directory>> {
        Ok(Arc::new(self.child(name)?))
    }

    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.open_regular(name)?.0))
    }

    fn stat(&self, name: &OsStr) -> io::Result<EntryStat> {
        Ok(self.meta(name)?.entry_stat())
    }
}

impl Folder for PortableFolder {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn entries_up_to(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        let mut found = Vec::new();
        for entry in self.dir.entries()?.take(limit) {
            let entry = entry?;
            let file_type = entry.file_type()?;
            let kind = if file_type.is_symlink() {
                EntryKind::Symlink
            } else if file_type.is_dir() {
                EntryKind::Dir
            } else if file_type.is_file() {
                EntryKind::File
            } else {
                EntryKind::Other
            };
            found.push(DirEntry { name: entry.file_name(), kind });
        }
        Ok(found)
    }

    fn own_meta(&self) -> io::Result<Meta> {
        Ok(meta_of(&self.dir.dir_metadata()?))
    }

    fn folder(&self, name: &OsStr) -> io::Result<Arc<dyn Folder>> {
        Ok(Arc::new(self.child(name)?))
    }

    fn descend(&self, names: &[OsString]) -> io::Result<Arc<dyn Folder>> {
        let mut at = self.clone();
        for name in names {
            at = at.child(name)?;
        }
        Ok(Arc::new(at))
    }

    fn meta(&self, name: &OsStr) -> io::Result<Meta> {
        demand_single(name)?;
        Ok(meta_of(&self.dir.symlink_metadata(name)?))
    }

    fn read_link(&self, name: &OsStr) -> io::Result<OsString> {
        demand_single(name)?;
        Ok(self.dir.read_link_contents(name)?.into_os_string())
    }

    fn open(&self, name: &OsStr) -> io::Result<(Reader, Meta)> {
        let (file, meta) = self.open_regular(name)?;
        Ok((Box::new(file), meta))
    }

    fn attributes(&self, name: &OsStr) -> io::Result<Attributes> {
        attributes::read(&self.open_regular(name)?.0)
    }

    fn stage(&self, bytes: &[u8], attributes: &Attributes, durable: bool) -> io::Result<Box<dyn Staged>> {
        let name = temp_name();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            options.mode(if attributes.mode.is_some() { 0o600 } else { 0o666 });
        }
        let file = self.dir.open_with(&name, &options)?.into_std();
        let mut staged = PortableStaged { dir: self.dir.clone(), temp: Some(name), owner_kept: true };
        (&file).write_all(bytes)?;
        staged.owner_kept = attributes::apply(&file, attributes)?;
        if durable {
            file.sync_all()?;
        }
        Ok(Box::new(staged))
    }

    fn make_folder(&self, name: &OsStr, mode: Option<u32>) -> io::Result<()> {
        demand_single(name)?;
        self.dir.create_dir(name)?;
        mode.map_or(Ok(()), |mode| self.set_folder_mode(name, mode))
    }

    fn set_folder_mode(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let folder = self.child(name)?;
        #[cfg(unix)]
        {
            use cap_std::fs::PermissionsExt;
            folder.dir.set_permissions(".", cap_std::fs::Permissions::from_mode(mode))?;
        }
        let _ = (folder, mode);
        Ok(())
    }

    fn make_link(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        #[cfg(unix)]
        return self.dir.symlink_contents(target, name);
        #[cfg(not(unix))]
        return self.dir.symlink_file(target, name);
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        self.dir.remove_file(name)
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        self.dir.remove_dir(name)
    }

    fn move_to(&self, name: &OsStr, to: &dyn Folder, to_name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        demand_single(to_name)?;
        let to = to.as_any().downcast_ref::<Self>().ok_or(io::ErrorKind::CrossesDevices)?;
        self.dir.rename(name, &to.dir, to_name)
    }

    fn sync(&self) -> io::Result<()> {
        // Elsewhere than on unix a directory cannot be synced; names there are as durable as the system makes them.
        #[cfg(unix)]
        self.dir.open(".")?.into_std().sync_all()?;
        Ok(())
    }

    fn sync_file(&self, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        // Syncing asks for a writable handle on Windows.
        let mut options = OpenOptions::new();
        options.read(true).write(cfg!(windows));
        self.dir.open_with(name, &options)?.sync_all()
    }

    fn try_lock(&self, name: Option<&OsStr>) -> io::Result<Option<LockGuard>> {
        let file = match name {
            // Directories cannot be locked everywhere; the journal's own lock file still is.
            None if cfg!(not(unix)) => return Ok(Some(Box::new(()))),
            None => self.dir.open(".")?.into_std(),
            Some(name) => {
                demand_single(name)?;
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true);
                #[cfg(unix)]
                {
                    use cap_std::fs::OpenOptionsExt;
                    options.mode(0o600);
                }
                self.dir.open_with(name, &options)?.into_std()
            }
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Elsewhere there is nothing to take over that the system would not set by itself.
#[cfg(not(unix))]
mod attributes {
    use super::{Attributes, io};

    pub(super) fn read(_file: &std::fs::File) -> io::Result<Attributes> {
        Ok(Attributes::default())
    }

    pub(super) fn apply(_file: &std::fs::File, _attributes: &Attributes) -> io::Result<bool> {
        Ok(true)
    }
}

struct PortableStaged {
    dir: Arc<Dir>,
    temp: Option<OsString>,
    owner_kept: bool,
}

impl Staged for PortableStaged {
    fn publish_new(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        let temp = self.temp.as_deref().ok_or(io::ErrorKind::NotFound)?;
        // A hard link fails on an existing name, as a rename would not; the guard then removes the temporary name.
        self.dir.hard_link(temp, &self.dir, name)
    }

    fn publish_over(mut self: Box<Self>, name: &OsStr) -> io::Result<()> {
        demand_single(name)?;
        let temp = self.temp.clone().ok_or(io::ErrorKind::NotFound)?;
        self.dir.rename(&temp, &self.dir, name)?;
        self.temp = None;
        Ok(())
    }

    fn owner_kept(&self) -> bool {
        self.owner_kept
    }
}

impl Drop for PortableStaged {
    fn drop(&mut self) {
        if let Some(temp) = self.temp.take() {
            let _ = self.dir.remove_file(temp);
        }
    }
}
