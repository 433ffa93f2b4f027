//! Bringing to an end what a crash left half done.
//!
//! A pending record is only ever seen here with the journal's lock held, so its writer is dead. If all its files are as
//! it meant to leave them, it is committed; otherwise those that are get their old content back. A file that is neither
//! as before nor as after was changed by somebody since, and is left alone.

use std::sync::Arc;

use super::Inner;
use super::commit::MAX_STAGED;
use super::plan::{Key, Plan, Planned, inverse, steps};
use crate::fs::is_passing;
use crate::journal::record::{JournalPath, Record, State};
use crate::journal::{Dirs, Loaded};
use crate::{Error, ErrorKind, Hash, Result, path};

/// In which order a change is taken back.
#[derive(Clone, Copy)]
enum Rollback {
    /// Everything that comes back is written before anything goes.
    WriteFirst,
    /// Files that go, go first, and what comes back is written one by one.
    RemoveFirst,
}

impl Inner {
    /// Recovers every pending change; call with the lock held. Says what a person should know.
    pub(super) fn recover(&self, dirs: &Dirs) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        dirs.written().into_iter().for_each(|folder| self.sweep(&**folder));
        // The newest first: should several be pending, the later ones stand on the earlier.
        for loaded in self.journal.pending(dirs)?.into_iter().rev() {
            match loaded {
                Loaded::Newer(id, _) => {
                    let message = format!(
                        "change {id} was left open by a newer version of Toolcrib, which must finish it"
                    );
                    return Err(Error::new(ErrorKind::NewerVersion, message).at("journal"));
                }
                Loaded::Good(record) => notes.extend(self.recover_one(dirs, &record)?),
            }
        }
        notes.iter().for_each(|note: &String| self.journal.report(note.clone()));
        Ok(notes)
    }

    fn recover_one(&self, dirs: &Dirs, record: &Record) -> Result<Option<String>> {
        let id = &record.id;
        let Some(plan) = self.plan_of(record) else {
            // Its roots are not open here; whoever has them open will recover it.
            return Ok(Some(format!("change {id} was interrupted in a root that is not open here")));
        };
        if self.was_through(&plan)? {
            self.journal.committed(dirs, id)?;
            return Ok(Some(format!("change {id} was interrupted at its very end; it is complete")));
        }
        self.sweep_for(&plan);
        let note = self.revert(dirs, record)?;
        Ok(Some(note.unwrap_or_else(|| format!("change {id} was interrupted and has been taken back"))))
    }

    /// Whether all steps of a plan were done. A file that somebody changed since counts as done if a later step was.
    fn was_through(&self, plan: &Plan) -> Result<bool> {
        let mut through = true;
        for step in steps(plan) {
            let now = self.state_at(&step.key)?;
            // A name that turns from one kind of thing to another is freed by an earlier step.
            let Some(planned) = plan.get(&step.key).filter(|planned| planned.after == step.to) else {
                continue;
            };
            if now.same(&planned.after) {
                through = true;
            } else if now.same(&planned.before) {
                return Ok(false);
            } else {
                through = false;
            }
        }
        Ok(through)
    }

    /// Gives back their old state to all names that have the new one. Says so if somebody else changed one since.
    pub(super) fn revert(&self, dirs: &Dirs, record: &Record) -> Result<Option<String>> {
        match self.revert_by(dirs, record, Rollback::WriteFirst) {
            // On a full disk, what goes makes room for what comes back. All of it is in the journal.
            Err(error) if error.kind() == ErrorKind::NoSpace => {
                self.revert_by(dirs, record, Rollback::RemoveFirst)
            }
            result => result,
        }
    }

    fn revert_by(&self, dirs: &Dirs, record: &Record, rollback: Rollback) -> Result<Option<String>> {
        let id = &record.id;
        let mut back = Plan::new();
        let mut foreign = Vec::new();
        for (key, planned) in self.plan_of(record).unwrap_or_default() {
            let now = self.state_at(&key)?;
            // Between two kinds of thing the name is free for a moment.
            let turned = !planned.before.same_kind(&planned.after) && now.is_absent();
            if now.same(&planned.before) {
                continue;
            }
            if now.same(&planned.after) || turned {
                back.insert(key, Planned { after: now, ..planned });
            } else {
                foreign.push(self.display_of(key.0, &key.1));
            }
        }
        let content = |hash: Hash| -> Result<Arc<Vec<u8>>> { self.journal.content(dirs, hash) };
        let mut steps = steps(&inverse(&back));
        let ahead = match rollback {
            Rollback::WriteFirst => MAX_STAGED,
            Rollback::RemoveFirst => {
                steps.sort_by_key(|step| !(step.to.is_absent() && step.from.hash().is_some()));
                0
            }
        };
        match self.apply(&steps, ahead, &content) {
            Ok(_) if foreign.is_empty() => {
                self.journal.forget(dirs, id)?;
                Ok(None)
            }
            Err(error) if error.kind() != ErrorKind::Corrupt => Err(error),
            reverted => {
                self.journal.set_aside(dirs, id);
                let lost = reverted.err().map(|error| format!(" ({error})")).unwrap_or_default();
                let whose = match foreign.as_slice() {
                    [] => String::new(),
                    files => format!("; changed by somebody since, and left alone: {}", files.join(", ")),
                };
                Ok(Some(format!(
                    "change {id} was interrupted and could not be taken back whole{lost}{whose}"
                )))
            }
        }
    }

    /// What is there now. A failure of the system is no sign that somebody changed it: recovery has to wait.
    fn state_at(&self, key: &Key) -> Result<State> {
        match self.observe_key(key) {
            Ok(seen) => Ok(seen.state),
            Err(error) if is_passing(&error) => Err(Error::from_io(&error, self.display_of(key.0, &key.1))),
            Err(_) => Ok(State::Other),
        }
    }

    fn sweep_for(&self, plan: &Plan) {
        for key in plan.keys() {
            if let Ok(folder) = self.folder_of(key) {
                self.sweep(&*folder);
            }
        }
    }

    /// The place of a journaled path, if its root is open.
    pub(super) fn key_of(&self, at: &JournalPath) -> Option<Key> {
        let root = self.roots.iter().position(|root| root.key == at.root)?;
        Some((root, path::decode(&at.path)?))
    }

    /// A record as a plan; none if one of its roots is not open.
    pub(super) fn plan_of(&self, record: &Record) -> Option<Plan> {
        let mut plan = Plan::new();
        for entry in &record.entries {
            let moved_from = entry.moved_from.as_ref().and_then(|from| self.key_of(from));
            let (before, after) = (entry.before.clone(), entry.after.clone());
            plan.insert(self.key_of(&entry.at)?, Planned { before, after, strict: entry.strict, moved_from });
        }
        Some(plan)
    }
}
