//! One sweep: from what was known to what is there.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rayon::prelude::*;
use toolcrib_workspace::search::FoundFile;
use toolcrib_workspace::{Error, ErrorKind, Hash, ReadWorkspace, Result};

use super::entry::{Content, FileEntry, Stamp, names_of};
use super::store::{Row, Store};
use super::{Control, IndexReport, Snapshot, walk};
use crate::facts::{self, Skipped};
use crate::lang::Language;

/// So many files are read before what they gave is stored.
const BATCH: usize = 512;
/// With more files to read than these, facts are kept in the store only and loaded when they are asked for.
const MAX_HELD: usize = 20_000;
/// More files without facts than these are only counted.
const MAX_NOTES: usize = 20;

fn report(files: &[Arc<FileEntry>], reread: usize) -> IndexReport {
    let mut report = IndexReport { reread, ..IndexReport::default() };
    for file in files {
        let why = match &file.content {
            Content::Facts { parse_errors, .. } => {
                report.files += 1;
                report.parse_errors += *parse_errors as usize;
                continue;
            }
            Content::Skipped(why) => why.as_str(),
            Content::Unreadable(why) => why.as_str(),
        };
        report.unsupported += 1;
        if report.notes.len() < MAX_NOTES {
            report.notes.push(format!("{}: {why}", file.path));
        }
    }
    report
}

#[derive(Default)]
struct Sorted {
    kept: Vec<Arc<FileEntry>>,
    todo: Vec<(FoundFile, Option<Arc<FileEntry>>)>,
    gone: Vec<String>,
    was_plain: HashSet<String>,
}

/// A file that was looked at again.
struct Made {
    entry: Arc<FileEntry>,
    /// The facts to store; none if the store has them.
    encoded: Option<Vec<u8>>,
    was_read: bool,
}

/// One look at everything.
pub(super) struct Sweep<'a> {
    workspace: &'a ReadWorkspace,
    store: Option<&'a Arc<Mutex<Store>>>,
    now: i128,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(workspace: &'a ReadWorkspace, store: Option<&'a Arc<Mutex<Store>>>) -> Self {
        // Taken before anything is looked at: what changes from now on is in doubt.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
        Self { workspace, store, now }
    }

    /// From what was known to what is there.
    pub(super) fn run(
        &self,
        before: Vec<Arc<FileEntry>>,
        mut plain: HashMap<String, Stamp>,
        control: &Control<'_>,
    ) -> Result<Snapshot> {
        let started = Instant::now();
        let found = walk::sweep(self.workspace, control)?;
        let Sorted { mut kept, todo, gone, was_plain } = self.sort_out(found.files, before, &plain);
        plain.retain(|path, _| was_plain.contains(path));
        let (total, done) = (todo.len(), AtomicUsize::new(0));
        let hold = total <= MAX_HELD || self.store.is_none();
        let mut reread = 0;
        for batch in todo.chunks(BATCH) {
            let look = |(file, known): &(FoundFile, Option<Arc<FileEntry>>)| {
                if control.is_cancelled() {
                    return None;
                }
                let made = self.read(file, known.as_ref(), hold);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                if let Some(progress) = control.progress {
                    progress(done, total);
                }
                made
            };
            let made: Vec<Option<Made>> = batch.par_iter().map(look).collect();
            if control.is_cancelled() {
                return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
            }
            for ((file, _), made) in batch.iter().zip(&made) {
                let stamp = Stamp::of(&file.stat);
                if made.is_none() && !stamp.is_doubtful(self.now) {
                    plain.insert(file.path.clone(), stamp);
                }
            }
            let made: Vec<Made> = made.into_iter().flatten().collect();
            reread += made.iter().filter(|made| made.was_read).count();
            self.keep(&made);
            kept.extend(made.into_iter().map(|made| made.entry));
        }
        if let Some(store) = self.store.filter(|_| !gone.is_empty()) {
            store.lock().unwrap_or_else(PoisonError::into_inner).forget(&gone);
        }
        if let Some(store) = self.store.filter(|_| reread >= BATCH / 4) {
            store.lock().unwrap_or_else(PoisonError::into_inner).settle();
        }
        kept.sort_by(|a, b| a.path.cmp(&b.path));
        let mut report = report(&kept, reread);
        report.notes.extend(found.notices.into_iter().map(String::from));
        report.duration_ms = started.elapsed().as_millis() as u64;
        let (workspace, store) = (self.workspace.clone(), self.store.cloned());
        Ok(Snapshot { files: kept, plain, report, workspace, store })
    }

    /// What is as it was, what must be read, what is gone.
    fn sort_out(
        &self,
        found: Vec<FoundFile>,
        before: Vec<Arc<FileEntry>>,
        plain: &HashMap<String, Stamp>,
    ) -> Sorted {
        let mut sorted = Sorted::default();
        let mut old = before.into_iter().peekable();
        for file in found {
            while let Some(past) = old.next_if(|past| past.path < file.path) {
                sorted.gone.push(past.path.clone());
            }
            let stamp = Stamp::of(&file.stat);
            match old.next_if(|past| past.path == file.path) {
                Some(known) if known.stamp == stamp && !known.doubtful => sorted.kept.push(known),
                None if plain.get(&file.path) == Some(&stamp) => {
                    sorted.was_plain.insert(file.path);
                }
                known => sorted.todo.push((file, known)),
            }
        }
        sorted.gone.extend(old.map(|past| past.path.clone()));
        sorted
    }

    /// Reads one file; none if it is not source, or gone.
    fn read(&self, file: &FoundFile, known: Option<&Arc<FileEntry>>, hold: bool) -> Option<Made> {
        let stamp = Stamp::of(&file.stat);
        let doubtful = stamp.is_doubtful(self.now);
        let by_name = Language::of_path(&file.path);
        let entry = |language: &'static Language, hash: Hash, content: Content| {
            let is_test = language.is_test(&file.path);
            Arc::new(FileEntry { path: file.path.clone(), language, stamp, doubtful, hash, content, is_test })
        };
        let done = |entry: Arc<FileEntry>, encoded| Some(Made { entry, encoded, was_read: true });
        if stamp.size > facts::MAX_BYTES {
            let nothing = Hash::of(b"");
            return done(entry(by_name?, nothing, Content::Skipped(Skipped::TooLarge)), None);
        }
        let data = match self.workspace.read(&file.path, facts::MAX_BYTES) {
            Ok(data) => data,
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => {
                let why = error.message().to_owned();
                return done(entry(by_name?, Hash::of(b""), Content::Unreadable(why)), None);
            }
        };
        let language = Language::of_file(&file.path, &data.bytes)?;
        if let Some(known) = known.filter(|known| {
            known.hash == data.hash
                && known.language == language
                && !matches!(known.content, Content::Unreadable(_))
        }) {
            let entry = Arc::new(known.restamped(stamp, doubtful));
            return Some(Made { entry, encoded: None, was_read: false });
        }
        if let Some((names, parse_errors)) = self.stored(&data.hash, language) {
            let content = Content::Facts { names, parse_errors, loaded: OnceLock::new() };
            return done(entry(language, data.hash, content), None);
        }
        match facts::extract(&data.bytes, language) {
            Ok(facts) => {
                let (names, parse_errors) = (names_of(&facts, &data.bytes), facts.parse_errors);
                let encoded = self.store.map(|_| facts.encode());
                let loaded = if hold { OnceLock::from(Some(Arc::new(facts))) } else { OnceLock::new() };
                done(entry(language, data.hash, Content::Facts { names, parse_errors, loaded }), encoded)
            }
            Err(why) => done(entry(language, data.hash, Content::Skipped(why)), None),
        }
    }

    fn stored(&self, hash: &Hash, language: &Language) -> Option<(Box<[u32]>, u32)> {
        let store = self.store?.lock().unwrap_or_else(PoisonError::into_inner);
        store.names(hash, language)
    }

    fn keep(&self, made: &[Made]) {
        let Some(store) = self.store else { return };
        let rows = made.iter().map(|made| Row { entry: &made.entry, encoded: made.encoded.as_deref() });
        store.lock().unwrap_or_else(PoisonError::into_inner).keep(rows);
    }
}
