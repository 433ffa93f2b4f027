//! What must be the same after a command as before it: placeholders are put up and taken away, and what no mount can
//! protect is compared and put back.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use crate::platform::sandbox::{Confinement, How, Protected};

/// More than this is not kept in memory to compare with.
const MAX_BYTES: u64 = 8 << 20;
const MAX_ENTRIES: usize = 2000;

pub(super) struct Guard {
    placeholders: Vec<(PathBuf, File)>,
    before: Vec<(PathBuf, State)>,
    /// Where what was put back is kept, so that nothing is lost.
    aside: Option<PathBuf>,
}

impl Guard {
    pub(super) fn set(confinement: &Confinement) -> Result<Self, String> {
        let mut guard = Self { placeholders: Vec::new(), before: Vec::new(), aside: confinement.aside() };
        for item in confinement.guarded() {
            match item.how {
                How::EmptyDirectory | How::EmptyFile => {
                    let held = hold(item).map_err(|error| format!("{}: {error}", item.path.display()))?;
                    guard.placeholders.push((item.path.clone(), held));
                }
                How::Compare | How::ReadOnly | How::Pin => {}
            }
        }
        for path in confinement.compared() {
            guard.before.push((path.clone(), State::of(&path, &mut Budget::new())));
        }
        Ok(guard)
    }

    /// Takes the placeholders away and puts back what changed; says what that was.
    pub(super) fn restore(self) -> Vec<PathBuf> {
        for (path, held) in self.placeholders.into_iter().rev() {
            release(&path, &held);
        }
        let mut changed = Vec::new();
        for (path, before) in self.before {
            let after = State::of(&path, &mut Budget::new());
            if after == before {
                continue;
            }
            if before != State::TooLarge && keep(&path, self.aside.as_deref()) {
                before.put(&path);
            }
            changed.push(path);
        }
        changed
    }
}

/// Puts up a placeholder and holds it: others may need it at the same time, and the last one takes it away.
fn hold(item: &Protected) -> std::io::Result<File> {
    for _ in 0..100 {
        let made = match item.how {
            How::EmptyDirectory => fs::create_dir(&item.path),
            _ => File::create_new(&item.path).map(drop),
        };
        if let Err(error) = made
            && error.kind() != std::io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
        let Ok(held) = File::open(&item.path) else { continue };
        rustix::fs::flock(&held, FlockOperation::LockShared)?;
        // It may have been taken away while we waited.
        let same = fs::symlink_metadata(&item.path)
            .is_ok_and(|now| held.metadata().is_ok_and(|own| own.ino() == now.ino()));
        if same {
            return Ok(held);
        }
    }
    Err(std::io::ErrorKind::ResourceBusy.into())
}

fn release(path: &Path, held: &File) {
    if rustix::fs::flock(held, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    // Only what is still empty is ours: a directory goes only then, and a file is looked at.
    match held.metadata() {
        Ok(meta) if meta.is_dir() => drop(fs::remove_dir(path)),
        Ok(meta) if meta.len() == 0 => drop(fs::remove_file(path)),
        _ => {}
    }
}

/// Moves what is there now to where it can be looked at: it may be somebody else's work. Says whether the place is
/// free.
fn keep(path: &Path, aside: Option<&Path>) -> bool {
    let now = State::of(path, &mut Budget::new());
    let Some(aside) = aside else { return now == State::Absent };
    if now == State::Absent {
        return true;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let to = aside.join(format!("{name}-{}", rustix::process::getpid().as_raw_nonzero()));
    if fs::create_dir_all(aside).is_err() {
        return false;
    }
    if fs::rename(path, &to).is_ok() {
        return true;
    }
    // Another file system: a copy, and only what was copied is removed.
    now.put(&to);
    State::of(&to, &mut Budget::new()) == now && remove(path)
}

fn remove(path: &Path) -> bool {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if is_folder { fs::remove_dir_all(path).is_ok() } else { fs::remove_file(path).is_ok() }
}

struct Budget {
    bytes: u64,
    entries: usize,
}

impl Budget {
    fn new() -> Self {
        Self { bytes: MAX_BYTES, entries: MAX_ENTRIES }
    }

    fn take(&mut self, bytes: u64) -> bool {
        let fits = self.bytes >= bytes && self.entries > 0;
        self.bytes = self.bytes.saturating_sub(bytes);
        self.entries = self.entries.saturating_sub(1);
        fits
    }
}

#[derive(PartialEq, Eq)]
enum State {
    Absent,
    File(Vec<u8>, u32),
    Link(PathBuf),
    Folder(BTreeMap<OsString, State>, u32),
    TooLarge,
}

impl State {
    fn of(path: &Path, budget: &mut Budget) -> Self {
        let Ok(meta) = fs::symlink_metadata(path) else { return Self::Absent };
        if !budget.take(if meta.is_file() { meta.len() } else { 0 }) {
            return Self::TooLarge;
        }
        if meta.is_symlink() {
            return fs::read_link(path).map_or(Self::Absent, Self::Link);
        }
        if meta.is_file() {
            return fs::read(path).map_or(Self::TooLarge, |bytes| Self::File(bytes, meta.mode()));
        }
        let Ok(entries) = fs::read_dir(path) else { return Self::TooLarge };
        let below =
            entries.flatten().map(|entry| (entry.file_name(), Self::of(&entry.path(), budget))).collect();
        Self::Folder(below, meta.mode())
    }

    fn put(&self, path: &Path) {
        match self {
            Self::Absent | Self::TooLarge => {}
            Self::File(bytes, mode) => {
                let _ = fs::write(path, bytes);
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
            }
            Self::Link(target) => drop(symlink(target, path)),
            Self::Folder(below, mode) => {
                let _ = fs::create_dir(path);
                for (name, state) in below {
                    state.put(&path.join(name));
                }
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
            }
        }
    }
}
