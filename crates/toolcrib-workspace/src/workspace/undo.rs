//! Listing, undoing and redoing changes.
//!
//! Undoing is a change like any other, so it can be undone itself. Which changes count as undone is read off the order
//! of the records and stored nowhere.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::change::{Action, ChangeLabel, FileChange, file_changes, stale};
use super::commit::{Batch, Held};
use super::plan::{Plan, Planned};
use super::{Access, Inner, Workspace};
use crate::journal::Loaded;
use crate::journal::record::{Record, State};
use crate::{Error, ErrorKind, Hash, Result};

/// Names a change in the journal.
pub type ChangeId = String;

/// Which changes to list; an empty filter lists all.
#[derive(Clone, Debug, Default)]
pub struct ChangeFilter {
    /// Only this change.
    pub change_id: Option<ChangeId>,
    /// Only changes of this file, or of files below this directory, by canonical path.
    pub path: Option<String>,
    /// Only changes of this session.
    pub session: Option<String>,
    /// Only changes of this turn.
    pub turn: Option<u64>,
    /// Only changes at or after this time, RFC 3339.
    pub since: Option<String>,
    /// Only changes that are not undone, and neither undoing nor redoing: what an undo may be asked for.
    pub standing: bool,
    /// At most so many.
    pub limit: Option<usize>,
}

/// A file of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// The canonical path; for a move, the new one.
    pub path: String,
    /// What happened.
    pub action: Action,
    /// The old path, for a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
}

/// A change in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeInfo {
    /// Its name.
    pub change_id: ChangeId,
    /// The tool that made it.
    pub tool: String,
    /// All paths it touched.
    pub paths: Vec<String>,
    /// When, RFC 3339.
    pub at: String,
    /// Whether it has been undone.
    pub undone: bool,
    /// The session that made it.
    pub session: String,
    /// The turn that made it.
    pub turn: Option<u64>,
    /// The call that made it.
    pub call_id: String,
    /// The changes it took back.
    pub undoes: Vec<ChangeId>,
    /// The changes it made again.
    pub redoes: Vec<ChangeId>,
    /// Its files.
    pub files: Vec<ChangedFile>,
    /// Whether a newer version wrote it, so that this one cannot undo it.
    pub newer_version: bool,
}

/// What an undo or redo did, or would do.
#[derive(Clone, Debug)]
pub struct Undone {
    /// The change that took back or made again; empty for a dry run.
    pub change_id: ChangeId,
    /// The paths that are as they were.
    pub restored: Vec<String>,
    /// What changed.
    pub files: Vec<FileChange>,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Undo,
    Redo,
}

impl Workspace {
    /// The changes in the journal, newest first.
    pub fn changes(&self, filter: &ChangeFilter) -> Result<Vec<ChangeInfo>> {
        let inner = self.inner();
        let loaded = inner.load_changes()?;
        let undone = undone(&loaded);
        let since = match &filter.since {
            Some(text) => Some(text.parse::<jiff::Timestamp>().map_err(|_| {
                Error::new(
                    ErrorKind::InvalidPattern,
                    format!("`{text}` is not a time such as 2026-01-31T08:00:00Z"),
                )
            })?),
            None => None,
        };
        let limit = filter.limit.unwrap_or(usize::MAX);
        let infos = loaded.iter().rev().map(|loaded| info(loaded, &undone));
        Ok(infos.filter(|info| filter.matches(info, since)).take(limit).collect())
    }

    /// The contents before and after a change. A content that is no longer kept is left out with its file.
    pub fn change_content(&self, id: &str) -> Result<Vec<FileChange>> {
        let inner = self.inner();
        let loaded = inner.load_changes()?;
        let record = find(&loaded, id)?;
        let Some(dirs) = inner.journal.dirs(false)? else { return Err(unknown(id)) };
        let plan = inner.plan_of(record).ok_or_else(|| closed(id))?;
        let mut contents = HashMap::new();
        for planned in plan.values() {
            for hash in [planned.before.hash(), planned.after.hash()].into_iter().flatten() {
                if let Ok(bytes) = inner.journal.content(&dirs, hash) {
                    contents.insert(hash, bytes);
                }
            }
        }
        Ok(file_changes(inner, &plan, &contents))
    }

    /// Takes changes back, all or none. Refused where a file has been changed since.
    pub fn undo(&self, ids: &[ChangeId], label: ChangeLabel, dry_run: bool) -> Result<Undone> {
        self.inner().turn(ids, label, dry_run, Way::Undo)
    }

    /// Makes undone changes again, all or none.
    pub fn redo(&self, ids: &[ChangeId], label: ChangeLabel, dry_run: bool) -> Result<Undone> {
        self.inner().turn(ids, label, dry_run, Way::Redo)
    }

    /// What was found wrong with the journal since this workspace was opened, and what recovery did about it.
    pub fn journal_problems(&self) -> Vec<String> {
        self.inner().journal.problems()
    }
}

impl ChangeFilter {
    fn matches(&self, info: &ChangeInfo, since: Option<jiff::Timestamp>) -> bool {
        let under = |path: &String, wanted: &str| {
            path == wanted || path.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'))
        };
        self.change_id.as_ref().is_none_or(|id| *id == info.change_id)
            && self.path.as_ref().is_none_or(|wanted| {
                wanted == "." || info.paths.iter().any(|path| under(path, wanted.trim_end_matches('/')))
            })
            && self.session.as_ref().is_none_or(|session| *session == info.session)
            && self.turn.is_none_or(|turn| Some(turn) == info.turn)
            && since.is_none_or(|since| info.at.parse().is_ok_and(|at: jiff::Timestamp| at >= since))
            && !(self.standing && (info.undone || info.newer_version || turns(info)))
    }
}

/// Whether a change only takes back or makes again what others did.
fn turns(info: &ChangeInfo) -> bool {
    !info.undoes.is_empty() || !info.redoes.is_empty()
}

impl Inner {
    /// All records, oldest first; a pending one of a dead process is recovered on the way if nobody is writing.
    fn load_changes(&self) -> Result<Vec<Loaded>> {
        let Some(dirs) = self.journal.dirs(false)? else { return Ok(Vec::new()) };
        // Listing works without the lock; with it, what is broken can be mended.
        let guard = self.journal.lock_to_read(&dirs);
        if guard.is_some()
            && self.journal.has_pending(&dirs)
            && self.journal.check_version(&dirs).is_ok()
            && let Err(error) = self.recover(&dirs)
        {
            self.journal.report(error.to_string());
        }
        self.journal.changes(&dirs, guard.is_some())
    }

    fn turn(&self, ids: &[ChangeId], label: ChangeLabel, dry_run: bool, way: Way) -> Result<Undone> {
        let held = self.hold()?;
        let loaded = self.journal.changes(&held.dirs, true)?;
        let mut records = self.select(&loaded, ids, way)?;
        // Undone from the newest back, made again from the oldest on.
        if way == Way::Undo {
            records.reverse();
        }
        let mut plan = self.combine(&records, way)?;
        self.keep_modes(&mut plan);
        let contents = self.collect(&plan, &held)?;
        let files = file_changes(self, &plan, &contents);
        let mut restored: Vec<String> = plan.keys().map(|key| self.display_of(key.0, &key.1)).collect();
        restored.sort();
        if dry_run {
            return Ok(Undone { change_id: String::new(), restored, files, warnings: held.warnings.clone() });
        }
        let ids: Vec<ChangeId> = records.iter().map(|record| record.id.clone()).collect();
        let (undoes, redoes) = if way == Way::Undo { (ids, Vec::new()) } else { (Vec::new(), ids) };
        let batch = Batch { plan, contents, label, undoes, redoes };
        let (change_id, warnings) = self.commit_held(batch, &held, &|| false)?;
        Ok(Undone { change_id, restored, files, warnings })
    }

    /// The records asked for, oldest first.
    fn select<'a>(&self, loaded: &'a [Loaded], ids: &[ChangeId], way: Way) -> Result<Vec<&'a Record>> {
        let done = undone(loaded);
        let mut records = Vec::new();
        for id in ids {
            let record = find(loaded, id)?;
            if done.contains(id) != (way == Way::Redo) {
                let state = if way == Way::Undo { "has been undone already" } else { "is not undone" };
                return Err(Error::new(ErrorKind::Conflict, format!("change {id} {state}")).at(id.clone()));
            }
            records.push(record);
        }
        if records.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, "no change was named"));
        }
        let order = |record: &&Record| loaded.iter().position(|loaded| loaded.id() == record.id);
        records.sort_by_key(order);
        records.dedup_by_key(|record| record.id.clone());
        Ok(records)
    }

    /// The net effect of several changes, in the order given. Each must start from what the one before leaves.
    fn combine(&self, records: &[&Record], way: Way) -> Result<Plan> {
        let mut plan = Plan::new();
        for record in records {
            for (key, planned) in self.plan_of(record).ok_or_else(|| closed(&record.id))? {
                let moved_from = planned.moved_from.filter(|_| way == Way::Redo);
                let (from, to) = match way {
                    Way::Undo => (planned.after, planned.before),
                    Way::Redo => (planned.before, planned.after),
                };
                match plan.get_mut(&key) {
                    None => {
                        // Only a directory that the change itself removed on purpose is removed on purpose again.
                        let strict = planned.strict && way == Way::Redo;
                        plan.insert(key, Planned { before: from, after: to, strict, moved_from });
                    }
                    Some(so_far) if so_far.after.same(&from) => {
                        (so_far.after, so_far.moved_from) = (to, None)
                    }
                    Some(_) => {
                        let shown = self.display_of(key.0, &key.1);
                        let message =
                            "a change in between, which is not among those named, stands in the way";
                        return Err(Error::new(ErrorKind::Conflict, message).at(shown));
                    }
                }
            }
        }
        plan.retain(|_, planned| planned.before != planned.after);
        Ok(plan)
    }

    /// A mode that somebody has changed since stays as it is now.
    fn keep_modes(&self, plan: &mut Plan) {
        for (key, planned) in plan {
            let State::File { mode: left, .. } = &planned.before else { continue };
            let now = self.folder_of(key).ok().and_then(|folder| folder.meta(key.1.last()?).ok());
            if let (Some(now), State::File { mode, .. }) = (now, &mut planned.after)
                && left.is_some_and(|left| left != now.mode)
            {
                *mode = Some(now.mode);
            }
        }
    }

    /// Holds the plan against the tree as it is, and gathers the contents that it needs.
    fn collect(&self, plan: &Plan, held: &Held) -> Result<HashMap<Hash, Arc<Vec<u8>>>> {
        let mut contents = HashMap::new();
        for (key, planned) in plan {
            let shown = || self.display_of(key.0, &key.1);
            let place = self.resolve_over(plan, key.0, &key.1, false, &shown())?;
            self.refuse_protected(&place)?;
            if place.names != key.1 {
                return Err(stale(shown()));
            }
            if place.access == Access::ReadOnly {
                return Err(
                    Error::new(ErrorKind::ReadOnly, "this part of the workspace is read-only").at(shown())
                );
            }
            let seen = self.observe_key(key).map_err(|error| Error::from_io(&error, shown()))?;
            let shared = planned.before.is_dir() || planned.after.is_dir();
            let as_left = seen.state.same(&planned.before) || (shared && seen.state.same(&planned.after));
            if !as_left {
                let message = "it has been changed since; nothing was undone";
                return Err(Error::new(ErrorKind::Stale, message).at(shown()));
            }
            if let (Some(hash), Some(bytes)) = (seen.state.hash(), seen.bytes) {
                contents.insert(hash, bytes);
            }
        }
        for hash in plan.values().filter_map(|planned| planned.after.hash()) {
            if let Entry::Vacant(vacant) = contents.entry(hash) {
                vacant.insert(self.journal.content(&held.dirs, hash)?);
            }
        }
        Ok(contents)
    }
}

fn unknown(id: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no change {id} in the journal")).at(id)
}

fn closed(id: &str) -> Error {
    Error::new(ErrorKind::Conflict, format!("change {id} belongs to a root that is not open")).at(id)
}

fn find<'a>(loaded: &'a [Loaded], id: &str) -> Result<&'a Record> {
    match loaded.iter().find(|loaded| loaded.id() == id) {
        Some(Loaded::Good(record)) => Ok(record),
        Some(Loaded::Newer(..)) => {
            let message = format!("change {id} was written by a newer version of Toolcrib");
            Err(Error::new(ErrorKind::NewerVersion, message).at(id))
        }
        None => Err(unknown(id)),
    }
}

/// The changes that are undone, given all of them in order. Undoing an undo makes its changes stand again.
fn undone(loaded: &[Loaded]) -> HashSet<ChangeId> {
    fn mark(all: &HashMap<&str, &Record>, id: &str, taken_back: bool, undone: &mut HashSet<ChangeId>) {
        if taken_back {
            undone.insert(id.to_owned());
        } else {
            undone.remove(id);
        }
        if let Some(record) = all.get(id) {
            // Records only ever name older ones, so this ends.
            record.undoes.iter().for_each(|older| mark(all, older, !taken_back, undone));
            record.redoes.iter().for_each(|older| mark(all, older, taken_back, undone));
        }
    }
    let mut all: HashMap<&str, &Record> = HashMap::new();
    let mut undone = HashSet::new();
    for loaded in loaded {
        let Loaded::Good(record) = loaded else { continue };
        record.undoes.iter().for_each(|id| mark(&all, id, true, &mut undone));
        record.redoes.iter().for_each(|id| mark(&all, id, false, &mut undone));
        all.insert(&record.id, record);
    }
    undone
}

fn info(loaded: &Loaded, undone: &HashSet<ChangeId>) -> ChangeInfo {
    match loaded {
        Loaded::Good(record) => ChangeInfo {
            change_id: record.id.clone(),
            tool: record.tool.clone(),
            paths: paths(record),
            at: record.at.clone(),
            undone: undone.contains(&record.id),
            session: record.session.clone(),
            turn: record.turn,
            call_id: record.call_id.clone(),
            undoes: record.undoes.clone(),
            redoes: record.redoes.clone(),
            files: files(record),
            newer_version: false,
        },
        Loaded::Newer(id, outline) => ChangeInfo {
            change_id: id.clone(),
            tool: outline.tool.clone(),
            paths: Vec::new(),
            at: outline.at.clone(),
            undone: false,
            session: String::new(),
            turn: None,
            call_id: String::new(),
            undoes: Vec::new(),
            redoes: Vec::new(),
            files: Vec::new(),
            newer_version: true,
        },
    }
}

/// The files of a change, or its directories when it has no files.
fn paths(record: &Record) -> Vec<String> {
    let folders = |state: &State| state.is_dir() || state.is_absent();
    let of = |with_files: bool| -> Vec<String> {
        let entries = record.entries.iter();
        let chosen = entries.filter(|entry| with_files != (folders(&entry.before) && folders(&entry.after)));
        chosen.map(|entry| entry.display.clone()).collect()
    };
    let files = of(true);
    if files.is_empty() { of(false) } else { files }
}

fn files(record: &Record) -> Vec<ChangedFile> {
    let folders = |state: &State| state.is_dir() || state.is_absent();
    let sources: Vec<_> = record.entries.iter().filter_map(|entry| entry.moved_from.as_ref()).collect();
    let mut files = Vec::new();
    for entry in &record.entries {
        let (before, after) = (folders(&entry.before), folders(&entry.after));
        if (before && after) || (entry.after.is_absent() && sources.contains(&&entry.at)) {
            continue;
        }
        let source =
            entry.moved_from.as_ref().and_then(|from| record.entries.iter().find(|entry| entry.at == *from));
        let action = match (source, before, after) {
            (Some(_), _, false) => Action::Moved,
            (_, true, _) => Action::Created,
            (_, _, true) => Action::Deleted,
            _ => Action::Modified,
        };
        let moved_from = source.map(|entry| entry.display.clone());
        files.push(ChangedFile { path: entry.display.clone(), action, moved_from });
    }
    files
}
