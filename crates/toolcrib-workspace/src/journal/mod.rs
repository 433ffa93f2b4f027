//! The record of every change, kept so that a crash at any moment leaves all of a change or nothing of it.
//!
//! A change's old contents go to `blobs/`, named by their hash, and its record to `pending/`, both durable, before the
//! first file is touched; moving the record to `changes/` is what commits it. Whoever holds the lock and finds a
//! pending record knows that its writer is dead, and finishes or reverts the change.
//!
//! New contents are kept too, for doing a change again, but without waiting for the disk: they are checked by their
//! hash when read, and undoing a change makes what it takes back durable first.
//!
//! The same code keeps the journal in memory, on a file system in memory.

pub(crate) mod record;

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::fs::memory::MemoryFs;
use crate::fs::{Attributes, Folder, LockGuard, is_passing};
use crate::state::{StateDir, open_or_create};
use crate::workspace::read_all;
use crate::{Error, ErrorKind, Hash, Result};
use record::{Outline, Record, VERSION};

/// How long to wait for another process that is changing files.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
const READ_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_RECORD: u64 = 256 << 20;
pub(crate) const MAX_BLOB: u64 = 1 << 30;
/// Clean-up happens when so many changes have come on top of the limit.
const SLACK: usize = 32;

/// How much the journal keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) changes: usize,
    pub(crate) bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { changes: 1_000, bytes: 1 << 30 }
    }
}

enum Source {
    Memory(Arc<dyn Folder>),
    Disk(StateDir),
}

/// The open directories of a journal.
#[derive(Clone)]
pub(crate) struct Dirs {
    base: Arc<dyn Folder>,
    pending: Arc<dyn Folder>,
    changes: Arc<dyn Folder>,
    blobs: Arc<dyn Folder>,
    quarantine: Arc<dyn Folder>,
}

impl Dirs {
    /// Whether the directories still have names: somebody may have removed the state meanwhile.
    fn are_there(&self) -> bool {
        let all = [&self.base, &self.pending, &self.changes, &self.blobs, &self.quarantine];
        all.into_iter().all(|folder| folder.own_meta().is_ok_and(|meta| meta.links > 0))
    }

    /// The directories in which a crash may have left temporary files.
    pub(crate) fn written(&self) -> [&Arc<dyn Folder>; 3] {
        [&self.base, &self.pending, &self.blobs]
    }
}

/// A record as it was found.
pub(crate) enum Loaded {
    Good(Record),
    /// Written by a newer version: kept, shown, not touched.
    Newer(String, Outline),
}

impl Loaded {
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Good(record) => &record.id,
            Self::Newer(id, _) => id,
        }
    }
}

pub(crate) struct Journal {
    source: Source,
    open: Mutex<Option<Dirs>>,
    problems: Mutex<Vec<String>>,
    limits: Limits,
    /// Steps until a simulated crash; negative: never.
    crash: AtomicI64,
    crashed: AtomicBool,
}

/// Why a record could not be loaded.
enum Unloaded {
    /// It is none, or none of ours: reading it again will not help.
    Damaged,
    /// The system could not read it this time.
    Unread(io::Error),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: &io::Error) -> Error {
    let known = Error::from_io(error, "journal");
    Error::new(known.kind(), format!("the change cannot be journaled: {}", known.message())).at("journal")
}

fn newer() -> Error {
    let message = "the journal was written by a newer version of Toolcrib; this one must not change it";
    Error::new(ErrorKind::NewerVersion, message).at("journal")
}

/// The number of a change, from its id or the name of its record.
fn number(id: &str) -> Option<u64> {
    id.strip_suffix(".json").unwrap_or(id).strip_prefix('c')?.parse().ok()
}

fn file_name(id: &str) -> OsString {
    format!("{id}.json").into()
}

impl Journal {
    pub(crate) fn in_memory(limits: Limits) -> Self {
        Self::new(Source::Memory(MemoryFs::new().root()), limits)
    }

    pub(crate) fn on_disk(state: StateDir, limits: Limits) -> Self {
        Self::new(Source::Disk(state), limits)
    }

    fn new(source: Source, limits: Limits) -> Self {
        Self {
            source,
            open: Mutex::new(None),
            problems: Mutex::new(Vec::new()),
            limits,
            crash: AtomicI64::new(-1),
            crashed: AtomicBool::new(false),
        }
    }

    pub(crate) fn crash_after(&self, steps: u64) {
        self.crash.store(i64::try_from(steps).unwrap_or(i64::MAX), Ordering::SeqCst);
    }

    /// Marks a point where a process may die; fails there when a test asked for it.
    pub(crate) fn step(&self) -> Result<()> {
        if self.crash.load(Ordering::SeqCst) < 0 {
            return Ok(());
        }
        if self.crash.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.crashed.store(true, Ordering::SeqCst);
        }
        if self.crashed() { Err(Error::new(ErrorKind::Io, "simulated crash")) } else { Ok(()) }
    }

    pub(crate) fn crashed(&self) -> bool {
        self.crashed.load(Ordering::SeqCst)
    }

    pub(crate) fn report(&self, problem: String) {
        lock(&self.problems).push(problem);
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        lock(&self.problems).clone()
    }

    /// The journal's directories; `None` when nothing was ever journaled and nothing shall be created.
    pub(crate) fn dirs(&self, create: bool) -> Result<Option<Dirs>> {
        let mut open = lock(&self.open);
        if let Some(dirs) = open.as_ref().filter(|dirs| dirs.are_there()) {
            return Ok(Some(dirs.clone()));
        }
        let base = match &self.source {
            Source::Memory(base) => Some(base.clone()),
            Source::Disk(state) => state.folder("journal", create)?,
        };
        let Some(base) = base else { return Ok(None) };
        let sub = |name: &str| open_or_create(&*base, OsStr::new(name), true).map_err(|error| failed(&error));
        let dirs = Dirs {
            pending: sub("pending")?,
            changes: sub("changes")?,
            blobs: sub("blobs")?,
            quarantine: sub("quarantine")?,
            base: base.clone(),
        };
        *open = Some(dirs.clone());
        Ok(Some(dirs))
    }

    /// Waits for the journal's lock.
    pub(crate) fn lock(&self, dirs: &Dirs) -> Result<LockGuard> {
        self.lock_within(dirs, LOCK_TIMEOUT)?.ok_or_else(|| {
            let message = "another process has been changing this workspace for too long; try again";
            Error::new(ErrorKind::Conflict, message).at("journal")
        })
    }

    /// The lock for a reader, who can do without. Only a pending change is worth waiting for: its writer is about to
    /// finish, or dead and leaves the lock free. (A process that is just being started can still hold a copy of it.)
    pub(crate) fn lock_to_read(&self, dirs: &Dirs) -> Option<LockGuard> {
        let patience = if self.has_pending(dirs) { READ_LOCK_TIMEOUT } else { Duration::ZERO };
        self.lock_within(dirs, patience).unwrap_or(None)
    }

    fn lock_within(&self, dirs: &Dirs, timeout: Duration) -> Result<Option<LockGuard>> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            if let Some(guard) = self.try_lock(dirs)? {
                return Ok(Some(guard));
            }
            if start.elapsed() >= timeout {
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn try_lock(&self, dirs: &Dirs) -> Result<Option<LockGuard>> {
        dirs.base.try_lock(Some(OsStr::new("lock"))).map_err(|error| failed(&error))
    }

    /// Refuses to write to a journal of a newer layout, and marks a new one with ours.
    pub(crate) fn check_version(&self, dirs: &Dirs) -> Result<()> {
        let name = OsStr::new("version");
        match read_all(&*dirs.base, name, 64) {
            Ok((bytes, _)) => {
                let found = String::from_utf8_lossy(&bytes).trim().parse::<u32>();
                match found {
                    Ok(version) if version > VERSION => Err(newer()),
                    Ok(_) => Ok(()),
                    Err(_) => write_file(&*dirs.base, name, VERSION.to_string().as_bytes()),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                write_file(&*dirs.base, name, VERSION.to_string().as_bytes())
            }
            Err(error) => Err(failed(&error)),
        }
    }

    /// The id for the next change.
    pub(crate) fn next_id(&self, dirs: &Dirs) -> Result<String> {
        let mut last = 0;
        for folder in [&dirs.pending, &dirs.changes, &dirs.quarantine] {
            for entry in folder.entries().map_err(|error| failed(&error))? {
                last = last.max(entry.name.to_str().and_then(number).unwrap_or(0));
            }
        }
        Ok(format!("c{}", last + 1))
    }

    /// Keeps a content. `durable`: it is on the disk when this returns.
    pub(crate) fn keep(&self, dirs: &Dirs, hash: Hash, bytes: &[u8], durable: bool) -> Result<()> {
        let name = OsString::from(hash.to_string());
        let present = dirs.blobs.meta(&name).is_ok_and(|meta| meta.size == bytes.len() as u64);
        if present && !durable {
            return Ok(());
        }
        // A blob that was not waited for may have been damaged by a power cut: only a checked one is reused.
        if present && read_all(&*dirs.blobs, &name, MAX_BLOB).is_ok_and(|(kept, _)| kept == bytes) {
            return dirs.blobs.sync_file(&name).map_err(|error| failed(&error));
        }
        let staged = dirs.blobs.stage(bytes, &Attributes::with_mode(0o600), durable);
        staged.and_then(|staged| staged.publish_over(&name)).map_err(|error| failed(&error))
    }

    /// A content that was kept.
    pub(crate) fn content(&self, dirs: &Dirs, hash: Hash) -> Result<Arc<Vec<u8>>> {
        let lost = || {
            Error::new(ErrorKind::Corrupt, format!("the kept content {hash} is missing or damaged"))
                .at("journal")
        };
        let read = read_all(&*dirs.blobs, OsStr::new(&hash.to_string()), MAX_BLOB);
        let (bytes, _) = read.map_err(|error| if is_passing(&error) { failed(&error) } else { lost() })?;
        if Hash::of(&bytes) == hash { Ok(Arc::new(bytes)) } else { Err(lost()) }
    }

    /// Makes the names of blobs durable.
    pub(crate) fn sync_contents(&self, dirs: &Dirs) -> Result<()> {
        dirs.blobs.sync().map_err(|error| failed(&error))
    }

    /// Announces a change; durable when this returns.
    pub(crate) fn announce(&self, dirs: &Dirs, record: &Record) -> Result<()> {
        let text =
            serde_json::to_vec(record).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        write_file(&*dirs.pending, &file_name(&record.id), &text)
    }

    /// Marks an announced change as done.
    pub(crate) fn committed(&self, dirs: &Dirs, id: &str) -> Result<()> {
        let name = file_name(id);
        let moved = dirs.pending.move_to(&name, &*dirs.changes, &name);
        moved.and_then(|()| dirs.changes.sync()).map_err(|error| failed(&error))
    }

    /// Takes a mark back that could not be made durable.
    pub(crate) fn uncommit(&self, dirs: &Dirs, id: &str) {
        let name = file_name(id);
        let _ = dirs.changes.move_to(&name, &*dirs.pending, &name);
    }

    /// Forgets an announced change of which nothing is left.
    pub(crate) fn forget(&self, dirs: &Dirs, id: &str) -> Result<()> {
        let removed = dirs.pending.remove_file(&file_name(id));
        removed.and_then(|()| dirs.pending.sync()).map_err(|error| failed(&error))
    }

    /// Puts an announced change aside that can be neither finished nor reverted.
    pub(crate) fn set_aside(&self, dirs: &Dirs, id: &str) {
        quarantine(dirs, &dirs.pending, &file_name(id));
    }

    pub(crate) fn has_pending(&self, dirs: &Dirs) -> bool {
        dirs.pending.entries().is_ok_and(|entries| entries.iter().any(|entry| is_record(&entry.name)))
    }

    /// Announced changes; call with the lock held.
    pub(crate) fn pending(&self, dirs: &Dirs) -> Result<Vec<Loaded>> {
        let (found, unread) = self.load_all(dirs, &dirs.pending, true)?;
        // To go on without it would leave its change half done for ever.
        if let Some(error) = unread {
            return Err(failed(&error));
        }
        // A crash between the two halves of a rename, on file systems where it has halves.
        let both = |loaded: &Loaded| dirs.changes.meta(&file_name(loaded.id())).is_ok();
        let (done, open): (Vec<_>, Vec<_>) = found.into_iter().partition(both);
        done.iter().for_each(|loaded| drop(self.forget(dirs, loaded.id())));
        Ok(open)
    }

    /// Committed changes, oldest first. With the lock held (`mend`), what is damaged is put aside.
    pub(crate) fn changes(&self, dirs: &Dirs, mend: bool) -> Result<Vec<Loaded>> {
        Ok(self.load_all(dirs, &dirs.changes, mend)?.0)
    }

    /// The records of a folder, and why one of them could not be read, if so. That one stays where it is.
    fn load_all(
        &self,
        dirs: &Dirs,
        folder: &Arc<dyn Folder>,
        mend: bool,
    ) -> Result<(Vec<Loaded>, Option<io::Error>)> {
        let entries = folder.entries().map_err(|error| failed(&error))?;
        let mut names: Vec<(u64, OsString)> = Vec::new();
        for entry in entries.into_iter().filter(|entry| is_record(&entry.name)) {
            match entry.name.to_str().and_then(number) {
                Some(number) => names.push((number, entry.name)),
                None => self.put_aside(dirs, folder, &entry.name, mend),
            }
        }
        names.sort();
        let (mut found, mut unread) = (Vec::with_capacity(names.len()), None);
        for (number, name) in names {
            match load(&**folder, &name, &format!("c{number}")) {
                Ok(Some(loaded)) => found.push(loaded),
                // Gone since it was listed: another process cleaned up.
                Ok(None) => {}
                Err(Unloaded::Damaged) => self.put_aside(dirs, folder, &name, mend),
                Err(Unloaded::Unread(error)) => {
                    let shown = name.to_string_lossy();
                    self.report(format!("the journal record {shown} cannot be read at the moment: {error}"));
                    unread = Some(error);
                }
            }
        }
        Ok((found, unread))
    }

    fn put_aside(&self, dirs: &Dirs, folder: &Arc<dyn Folder>, name: &OsStr, mend: bool) {
        let shown = name.to_string_lossy();
        self.report(format!("the journal record {shown} cannot be read and was put aside"));
        if mend {
            quarantine(dirs, folder, name);
        }
    }

    /// Drops the oldest changes beyond the limits, and contents that no change needs any more. Call with the lock held.
    pub(crate) fn prune(&self, dirs: &Dirs, id: &str) {
        let count = dirs.changes.entries().map_or(0, |entries| entries.len());
        let due = number(id).is_some_and(|number| number % (SLACK as u64) == 0);
        if (count <= self.limits.changes + SLACK && !due) || self.has_pending(dirs) {
            return;
        }
        if let Err(error) = self.prune_now(dirs) {
            self.report(format!("the journal could not be cleaned up: {error}"));
        }
    }

    fn prune_now(&self, dirs: &Dirs) -> Result<()> {
        let (loaded, unread) = self.load_all(dirs, &dirs.changes, true)?;
        // What an unread record needs is not known.
        if let Some(error) = unread {
            return Err(failed(&error));
        }
        let mut keep: HashSet<Hash> = HashSet::new();
        let (mut bytes, mut kept) = (0_u64, 0_usize);
        let mut drop_from_here = false;
        for loaded in loaded.iter().rev() {
            let Loaded::Good(record) = loaded else { return Ok(()) };
            let mut own: HashMap<Hash, u64> = HashMap::new();
            for state in record.entries.iter().flat_map(|entry| [&entry.before, &entry.after]) {
                if let record::State::File { hash, size, .. } = state
                    && !keep.contains(hash)
                {
                    own.insert(*hash, *size);
                }
            }
            bytes += own.values().sum::<u64>();
            // The newest stays whatever its size.
            drop_from_here |= kept > 0 && (kept >= self.limits.changes || bytes > self.limits.bytes);
            if drop_from_here {
                let removed = dirs.changes.remove_file(&file_name(&record.id));
                removed.map_err(|error| failed(&error))?;
            } else {
                keep.extend(own.into_keys());
                kept += 1;
            }
        }
        dirs.changes.sync().map_err(|error| failed(&error))?;
        // What a person may yet want to mend needs its contents.
        if dirs.quarantine.entries().map_or(true, |aside| !aside.is_empty()) {
            return Ok(());
        }
        for entry in dirs.blobs.entries().map_err(|error| failed(&error))? {
            let hash = entry.name.to_str().and_then(|name| name.parse::<Hash>().ok());
            if hash.is_none_or(|hash| !keep.contains(&hash)) {
                let _ = dirs.blobs.remove_file(&entry.name);
            }
        }
        Ok(())
    }
}

fn is_record(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(".json"))
}

fn load(folder: &dyn Folder, name: &OsStr, id: &str) -> Result<Option<Loaded>, Unloaded> {
    let bytes = match read_all(folder, name, MAX_RECORD) {
        Ok((bytes, _)) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if is_passing(&error) => return Err(Unloaded::Unread(error)),
        Err(_) => return Err(Unloaded::Damaged),
    };
    let outline: Outline = serde_json::from_slice(&bytes).map_err(|_| Unloaded::Damaged)?;
    if outline.version > VERSION {
        return Ok(Some(Loaded::Newer(id.to_owned(), outline)));
    }
    let record: Record = serde_json::from_slice(&bytes).map_err(|_| Unloaded::Damaged)?;
    if record.id == id { Ok(Some(Loaded::Good(record))) } else { Err(Unloaded::Damaged) }
}

fn quarantine(dirs: &Dirs, folder: &Arc<dyn Folder>, name: &OsStr) {
    let _ = folder.move_to(name, &*dirs.quarantine, name);
    let _ = dirs.quarantine.sync();
}

/// Writes a small file whole and durable.
fn write_file(folder: &dyn Folder, name: &OsStr, bytes: &[u8]) -> Result<()> {
    let staged = folder.stage(bytes, &Attributes::with_mode(0o600), true);
    let written = staged.and_then(|staged| staged.publish_over(name));
    written.and_then(|()| folder.sync()).map_err(|error| failed(&error))
}
