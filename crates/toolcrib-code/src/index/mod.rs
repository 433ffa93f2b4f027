//! The facts of all files, fresh before every answer.
//!
//! [`CodeIndex::refresh`] looks at every file of the workspace (names and stamps, not contents), reads again exactly those
//! whose stamp is another than last time, and hands out a [`Snapshot`] that no later change touches. Facts are kept by
//! content hash in a cache, if there is one. Nothing that depends on two files is kept anywhere, so an index that was
//! brought up to date is the same as one that was built anew; a property test holds it to that.

mod entry;
mod refresh;
mod store;
mod walk;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use toolcrib_workspace::{ReadWorkspace, Result};

pub(crate) use entry::name_key;
pub use entry::{Content, FileEntry, Stamp};
use store::Store;

/// How an index is asked to work.
#[derive(Clone, Default)]
pub struct Control<'a> {
    /// Set to true by another thread, it ends the work with `Cancelled`.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Told how many of how many files are done, from any thread.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
    /// Also files that ignore rules leave out.
    pub include_ignored: bool,
    /// How many source files to read at most; without it, [`MAX_FILES`].
    pub max_files: Option<usize>,
}

/// More source files than these are not read, unless told otherwise: they would be most of a machine's memory.
pub const MAX_FILES: usize = 200_000;

impl Control<'_> {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}

/// What an answer stands on.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct IndexReport {
    /// Files with facts.
    pub files: usize,
    /// Places in them where the grammar did not fit.
    pub parse_errors: usize,
    /// Source files without facts: too large, generated, not text, unreadable.
    pub unsupported: usize,
    /// How long it took to bring the index up to date.
    pub duration_ms: u64,
    /// Files that were read again for it.
    pub reread: usize,
    /// The first files without facts and why, and what the walk could not read.
    pub notes: Vec<String>,
}

/// All files at one moment.
pub struct Snapshot {
    files: Vec<Arc<FileEntry>>,
    /// Files that turned out to be no source when they were opened.
    plain: HashMap<String, Stamp>,
    report: IndexReport,
    workspace: ReadWorkspace,
    store: Option<Arc<Mutex<Store>>>,
}

/// The index of a workspace.
pub struct CodeIndex {
    workspace: ReadWorkspace,
    store: Option<Arc<Mutex<Store>>>,
    current: RwLock<Option<Arc<Snapshot>>>,
    /// One sweep at a time: whoever waits gets the benefit of the one before.
    sweep: Mutex<()>,
}

impl CodeIndex {
    /// The index of a workspace, kept in the `cache` directory or, without one, in memory. Nothing is read yet.
    pub fn open(workspace: ReadWorkspace, cache: Option<PathBuf>) -> Self {
        // A cache that cannot be used is no reason to fail: everything works without.
        let store = cache.and_then(|dir| Store::open(&dir)).map(|store| Arc::new(Mutex::new(store)));
        Self { workspace, store, current: RwLock::new(None), sweep: Mutex::new(()) }
    }

    /// Brings the index up to date and gives what there is now.
    pub fn refresh(&self, control: &Control<'_>) -> Result<Arc<Snapshot>> {
        let _sweep = self.sweep.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let (before, plain) = match before {
            Some(snapshot) => (snapshot.files.clone(), snapshot.plain.clone()),
            None => (self.stored(), HashMap::new()),
        };
        let sweep = refresh::Sweep::new(&self.workspace, self.store.as_ref());
        let snapshot = Arc::new(sweep.run(before, plain, control)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// The workspace that is indexed.
    pub fn workspace(&self) -> &ReadWorkspace {
        &self.workspace
    }

    fn stored(&self) -> Vec<Arc<FileEntry>> {
        let Some(store) = &self.store else { return Vec::new() };
        store.lock().unwrap_or_else(PoisonError::into_inner).files()
    }
}

impl Snapshot {
    /// All source files by path.
    pub fn files(&self) -> &[Arc<FileEntry>] {
        &self.files
    }

    /// What this stands on.
    pub fn report(&self) -> &IndexReport {
        &self.report
    }

    /// A file by its path.
    pub fn file(&self, path: &str) -> Option<&Arc<FileEntry>> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(at)
    }

    /// The files in which an identifier is written.
    pub fn files_with<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Arc<FileEntry>> + use<'a> {
        let key = entry::name_key(name);
        self.files.iter().filter(move |file| file.has_name(key))
    }

    /// The facts of a file; none if it has none, or is no longer what it was.
    pub fn facts(&self, file: &FileEntry) -> Option<Arc<crate::facts::FileFacts>> {
        file.facts(|| {
            let stored = self.store.as_ref().and_then(|store| {
                let store = store.lock().unwrap_or_else(PoisonError::into_inner);
                store.facts(&file.hash, file.language)
            });
            stored.or_else(|| {
                // The cache lost it, or another process cleared it away.
                let data = self.workspace.read(&file.path, crate::facts::MAX_BYTES).ok()?;
                (data.hash == file.hash)
                    .then(|| crate::facts::extract(&data.bytes, file.language).ok())
                    .flatten()
            })
        })
    }

    /// The facts of all files in which an identifier is written.
    pub fn facts_with(&self, name: &str) -> Vec<(Arc<FileEntry>, Arc<crate::facts::FileFacts>)> {
        let files = self.files_with(name);
        files.filter_map(|file| self.facts(file).map(|facts| (Arc::clone(file), facts))).collect()
    }

    /// The content of a small file that is no source, as a manifest.
    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.workspace.read(path, 1 << 20).ok().map(|data| data.bytes)
    }

    /// The text of a file, if it is still what the facts were read off.
    pub fn source(&self, file: &FileEntry) -> Option<Vec<u8>> {
        let data = self.workspace.read(&file.path, crate::facts::MAX_BYTES).ok()?;
        (data.hash == file.hash).then_some(data.bytes)
    }
}
