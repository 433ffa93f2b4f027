//! Applying a plan: journaled first, then file by file, and taken back whole if anything fails.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::Inner;
use super::change::{ChangeLabel, stale};
use super::plan::{Key, Plan, Step, observe, steps};
use crate::fs::directory::EntryKind;
use crate::fs::{Attributes, Folder, LockGuard, Staged, sweep};
use crate::journal::Dirs;
use crate::journal::record::{Entry, JournalPath, Record, State, VERSION};
use crate::{Error, ErrorKind, Hash, Result, path};

/// How many new files are written ahead of the first visible change: each holds an open file.
pub(super) const MAX_STAGED: usize = 64;
/// How long to wait for processes that share a root but not the journal.
const ROOT_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// A planned change with all it needs.
pub(super) struct Batch {
    pub(super) plan: Plan,
    pub(super) contents: HashMap<Hash, Arc<Vec<u8>>>,
    pub(super) label: ChangeLabel,
    pub(super) undoes: Vec<String>,
    pub(super) redoes: Vec<String>,
}

/// Everything held while files change.
pub(super) struct Held {
    pub(super) dirs: Dirs,
    /// What recovery of an earlier crash had to say.
    pub(super) warnings: Vec<String>,
    _journal: LockGuard,
}

/// What applying leaves to be done at the end.
#[derive(Default)]
struct Finish {
    /// Directories whose names have changed.
    touched: HashMap<(u64, u64), Arc<dyn Folder>>,
    /// Modes that would have kept us from writing into new directories.
    modes: Vec<(Arc<dyn Folder>, OsString, u32)>,
    warnings: Vec<String>,
}

impl Inner {
    pub(super) fn commit(&self, batch: Batch, cancelled: &dyn Fn() -> bool) -> Result<(String, Vec<String>)> {
        let held = self.hold()?;
        self.commit_held(batch, &held, cancelled)
    }

    /// Takes the journal's lock and brings to an end what a crash left open.
    pub(super) fn hold(&self) -> Result<Held> {
        let missing = || Error::new(ErrorKind::NotFound, "there is no journal");
        let dirs = self.journal.dirs(true)?.ok_or_else(missing)?;
        let guard = self.journal.lock(&dirs)?;
        self.journal.check_version(&dirs)?;
        let warnings = self.recover(&dirs)?;
        Ok(Held { dirs, warnings, _journal: guard })
    }

    pub(super) fn commit_held(
        &self,
        batch: Batch,
        held: &Held,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(String, Vec<String>)> {
        let dirs = &held.dirs;
        let _roots = self.lock_roots(&batch.plan);
        let mut warnings = self.verify(&batch.plan)?;
        warnings.splice(0..0, held.warnings.iter().cloned());
        if cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "cancelled before anything was changed"));
        }
        let id = self.journal.next_id(dirs)?;
        let record = self.record(&batch, &id);
        if let Err(error) = self.announce(dirs, &record, &batch) {
            if !self.journal.crashed() {
                let _ = self.journal.forget(dirs, &id);
            }
            return Err(error);
        }
        let content = |hash: Hash| {
            let kept = batch.contents.get(&hash).cloned();
            kept.map_or_else(|| self.journal.content(dirs, hash), Ok)
        };
        let applied = self.apply(&steps(&batch.plan), MAX_STAGED, &content).and_then(|notes| {
            self.journal.step()?;
            self.journal.committed(dirs, &id).inspect_err(|_| self.journal.uncommit(dirs, &id))?;
            Ok(notes)
        });
        match applied {
            Ok(notes) => {
                warnings.extend(notes);
                self.journal.prune(dirs, &id);
                Ok((id, warnings))
            }
            Err(error) if self.journal.crashed() => Err(error),
            Err(error) => Err(self.take_back(dirs, &record, error)),
        }
    }

    /// Reverts what was done; what can't be reverted now stays announced, and recovery tries again.
    fn take_back(&self, dirs: &Dirs, record: &Record, error: Error) -> Error {
        match self.revert(dirs, record) {
            Ok(None) => error,
            Ok(Some(note)) => Error::new(error.kind(), format!("{}; {note}", error.message()))
                .at(error.path().unwrap_or_default())
                .partial(),
            Err(second) => {
                let message = format!("{}; taking it back failed too: {second}", error.message());
                Error::new(error.kind(), message).at(error.path().unwrap_or_default()).partial()
            }
        }
    }

    /// A courtesy among processes that keep their journals apart: it narrows the races that the checks then catch.
    fn lock_roots(&self, plan: &Plan) -> Vec<LockGuard> {
        let mut roots: Vec<_> = plan.keys().filter_map(|key| self.roots.get(key.0)).collect();
        // The same order for all, so that two cannot wait for each other.
        roots.sort_by_key(|root| root.identity);
        roots.dedup_by_key(|root| root.identity);
        let start = Instant::now();
        let mut guards = Vec::new();
        for root in roots {
            loop {
                match root.folder.try_lock(None) {
                    Ok(Some(guard)) => guards.push(guard),
                    Ok(None) if start.elapsed() < ROOT_LOCK_TIMEOUT => {
                        std::thread::sleep(Duration::from_millis(1));
                        continue;
                    }
                    Ok(None) | Err(_) => {}
                }
                break;
            }
        }
        guards
    }

    /// Holds the tree against what the plan was made for.
    fn verify(&self, plan: &Plan) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        for (key, planned) in plan {
            let shown = || self.display_of(key.0, &key.1);
            let seen = self.observe_key(key).map_err(|error| Error::from_io(&error, shown()))?;
            let made_meanwhile = planned.before.is_absent() && planned.after.is_dir() && seen.state.is_dir();
            if !seen.state.same(&planned.before) && !made_meanwhile {
                return Err(stale(shown()));
            }
            let links = seen.meta.filter(|meta| meta.kind == EntryKind::File).map_or(1, |meta| meta.links);
            if links > 1 && !planned.after.is_absent() {
                let others = links - 1;
                warnings.push(format!(
                    "{} had {others} other hard link{}; it is now a file of its own and they keep the old content",
                    shown(),
                    if others == 1 { "" } else { "s" },
                ));
            }
        }
        Ok(warnings)
    }

    fn record(&self, batch: &Batch, id: &str) -> Record {
        let at = |key: &Key| JournalPath {
            root: self.roots.get(key.0).map(|root| root.key.clone()).unwrap_or_default(),
            path: path::encode(&key.1),
        };
        let entry = |(key, planned): (&Key, &super::plan::Planned)| Entry {
            at: at(key),
            display: self.display_of(key.0, &key.1),
            before: planned.before.clone(),
            after: planned.after.clone(),
            strict: planned.strict,
            moved_from: planned.moved_from.as_ref().map(at),
        };
        Record {
            version: VERSION,
            id: id.to_owned(),
            at: jiff::Timestamp::now().to_string(),
            tool: batch.label.tool.clone(),
            call_id: batch.label.call_id.clone(),
            session: batch.label.session.clone(),
            turn: batch.label.turn,
            undoes: batch.undoes.clone(),
            redoes: batch.redoes.clone(),
            entries: batch.plan.iter().map(entry).collect(),
        }
    }

    fn announce(&self, dirs: &Dirs, record: &Record, batch: &Batch) -> Result<()> {
        let mut kept = BTreeSet::new();
        for (durable, hashes) in [
            (true, batch.plan.values().filter_map(|planned| planned.before.hash()).collect::<Vec<_>>()),
            (false, batch.plan.values().filter_map(|planned| planned.after.hash()).collect()),
        ] {
            for hash in hashes.into_iter().filter(|hash| kept.insert(*hash)) {
                self.journal.step()?;
                if let Some(bytes) = batch.contents.get(&hash) {
                    self.journal.keep(dirs, hash, bytes, durable)?;
                }
            }
        }
        if batch.plan.values().any(|planned| planned.before.hash().is_some()) {
            self.journal.sync_contents(dirs)?;
        }
        self.journal.step()?;
        self.journal.announce(dirs, record)?;
        self.journal.step()
    }

    /// Does all steps, or some of them and fails.
    pub(super) fn apply(
        &self,
        steps: &[Step],
        ahead: usize,
        content: &dyn Fn(Hash) -> Result<Arc<Vec<u8>>>,
    ) -> Result<Vec<String>> {
        let mut finish = Finish::default();
        let mut staged: HashMap<usize, Box<dyn Staged>> = HashMap::new();
        // Writing ahead shows a full disk before anything is visible.
        for (index, step) in steps.iter().enumerate().filter(|(_, step)| step.to.hash().is_some()).take(ahead)
        {
            if let Ok(folder) = self.folder_of(&step.key) {
                self.sweep(&*folder);
                staged.insert(index, self.stage(&*folder, step, content, &mut finish)?);
            }
        }
        for (index, step) in steps.iter().enumerate() {
            self.journal.step()?;
            let shown = || self.display_of(step.key.0, &step.key.1);
            let (Ok(folder), Some(name)) = (self.folder_of(&step.key), step.key.1.last()) else {
                return Err(stale(shown()));
            };
            if let Ok(meta) = folder.own_meta() {
                finish.touched.insert(meta.identity, folder.clone());
            }
            let ready = match staged.remove(&index) {
                Some(ready) => Some(ready),
                None if step.to.hash().is_some() => Some(self.stage(&*folder, step, content, &mut finish)?),
                None => None,
            };
            do_step(&folder, name, step, ready, &mut finish).map_err(|error| match error {
                Undone::Changed => stale(shown()),
                Undone::Failed(error) => Error::from_io(&error, shown()),
            })?;
        }
        self.finish(finish)
    }

    fn finish(&self, finish: Finish) -> Result<Vec<String>> {
        let failed = |error: io::Error| {
            let known = Error::from_io(&error, "workspace");
            Error::new(known.kind(), format!("the change could not be made durable: {}", known.message()))
        };
        for (folder, name, mode) in finish.modes {
            folder.set_folder_mode(&name, mode).map_err(failed)?;
        }
        for folder in finish.touched.values() {
            match folder.sync() {
                // A directory that this change removed needs no sync.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other.map_err(failed)?,
            }
        }
        Ok(finish.warnings)
    }

    fn stage(
        &self,
        folder: &dyn Folder,
        step: &Step,
        content: &dyn Fn(Hash) -> Result<Arc<Vec<u8>>>,
        finish: &mut Finish,
    ) -> Result<Box<dyn Staged>> {
        let shown = || self.display_of(step.key.0, &step.key.1);
        let (State::File { hash, mode, .. }, Some(name)) = (&step.to, step.key.1.last()) else {
            return Err(Error::new(ErrorKind::Io, "only files have content").at(shown()));
        };
        let attributes = match (&step.from, &step.like) {
            (State::File { .. }, _) => folder.attributes(name).ok(),
            (_, Some(like)) => {
                self.folder_of(like).and_then(|from| from.attributes(like.1.last().unwrap_or(name))).ok()
            }
            _ => None,
        };
        let mut attributes = attributes.unwrap_or_else(Attributes::default);
        attributes.mode = mode.or(attributes.mode);
        let bytes = content(*hash)?;
        let staged =
            folder.stage(&bytes, &attributes, true).map_err(|error| Error::from_io(&error, shown()))?;
        if !staged.owner_kept() {
            finish
                .warnings
                .push(format!("{} now belongs to this user: its owner could not be kept", shown()));
        }
        Ok(staged)
    }

    /// Removes temporary files that dead processes left in a directory; once a directory.
    pub(super) fn sweep(&self, folder: &dyn Folder) {
        let Ok(meta) = folder.own_meta() else { return };
        if !self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(meta.identity) {
            return;
        }
        sweep(folder);
    }
}

enum Undone {
    /// Somebody else changed it.
    Changed,
    Failed(io::Error),
}

impl From<io::Error> for Undone {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Does one step, if the name still is what the step starts from.
fn do_step(
    folder: &Arc<dyn Folder>,
    name: &OsStr,
    step: &Step,
    staged: Option<Box<dyn Staged>>,
    finish: &mut Finish,
) -> Result<(), Undone> {
    let now = observe(&**folder, name)?.state;
    // Directories are shared with everybody: one that is there already, or gone already, is as good.
    if (step.from.is_dir() || step.to.is_dir()) && now.same(&step.to) {
        return Ok(());
    }
    if !now.same(&step.from) {
        return Err(Undone::Changed);
    }
    let taken = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => Undone::Changed,
        _ => Undone::Failed(error),
    };
    match (&step.from, &step.to) {
        (State::Dir { .. }, State::Absent) => match folder.remove_folder(name) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                if step.strict {
                    Err(Undone::Changed)
                } else {
                    Ok(())
                }
            }
            other => Ok(other?),
        },
        (State::Absent, State::Absent) | (State::Dir { .. }, State::Dir { .. }) => Ok(()),
        (_, State::Absent) => Ok(folder.remove_file(name)?),
        (State::Absent, State::Dir { mode }) => {
            folder.make_folder(name, mode.map(|mode| mode | 0o700)).map_err(taken)?;
            if let Some(mode) = mode.filter(|mode| mode & 0o700 != 0o700) {
                finish.modes.push((folder.clone(), name.to_os_string(), mode));
            }
            Ok(())
        }
        (State::Absent, State::Link { target }) => {
            let target = path::decode_text(target).ok_or(io::Error::from(io::ErrorKind::InvalidData))?;
            folder.make_link(name, &target).map_err(taken)
        }
        (from, State::File { .. }) => {
            let staged = staged.ok_or(io::Error::from(io::ErrorKind::InvalidData))?;
            if from.is_absent() {
                staged.publish_new(name).map_err(taken)
            } else {
                Ok(staged.publish_over(name)?)
            }
        }
        _ => Err(io::Error::from(io::ErrorKind::Unsupported).into()),
    }
}
