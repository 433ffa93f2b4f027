//! One look at a folder: which files there are, and what is in those that are asked for.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::search::{ListOptions, WalkOptions, WalkRoot, list};
use toolcrib_workspace::{Error, ErrorKind, ReadWorkspace, Result};

use super::language::{self, Language};

/// Files and folders looked at, at most.
const MAX_ENTRIES: usize = 300_000;
/// A manifest larger than this is not read.
const MAX_MANIFEST: u64 = 2 << 20;
/// A source file larger than this is not read.
pub(crate) const MAX_SOURCE: u64 = 2 << 20;
/// More warnings than these are only counted.
const MAX_WARNINGS: usize = 50;

/// A file that was seen.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) language: Option<&'static Language>,
    /// Whether it lies in a folder of foreign code.
    pub(crate) vendored: bool,
}

/// A folder (or all roots) as it was found.
pub struct Scan<'a> {
    workspace: &'a ReadWorkspace,
    walk: WalkOptions,
    /// What each start is called: empty for the first root, else with a `/` at the end.
    pub(crate) bases: Vec<String>,
    pub(crate) files: Vec<File>,
    known: HashSet<String>,
    texts: RefCell<HashMap<String, Option<Rc<str>>>>,
    warnings: RefCell<Vec<String>>,
}

impl<'a> Scan<'a> {
    /// Looks at everything below these starts.
    pub fn new(workspace: &'a ReadWorkspace, starts: &[WalkRoot], walk: WalkOptions) -> Result<Self> {
        let mut scan = Self {
            workspace,
            walk,
            bases: starts.iter().map(|start| start.display_prefix.clone()).collect(),
            files: Vec::new(),
            known: HashSet::new(),
            texts: RefCell::default(),
            warnings: RefCell::default(),
        };
        for start in starts {
            scan.look(start)?;
        }
        scan.known = scan.files.iter().map(|file| file.path.clone()).collect();
        Ok(scan)
    }

    fn look(&mut self, start: &WalkRoot) -> Result<()> {
        let walk = WalkOptions { max_entries: MAX_ENTRIES, ..self.walk.clone() };
        let options = ListOptions { walk, depth: 128, sizes: true, offset: 0, limit: MAX_ENTRIES };
        let found = list(start, &options)?;
        found.notices.into_iter().for_each(|notice| self.warn(String::from(notice)));
        // Caches say so themselves (bford.info/cachedir); so does a virtual environment of Python.
        let marks = ["/CACHEDIR.TAG", "/pyvenv.cfg"];
        let caches: HashSet<String> = found
            .entries
            .iter()
            .filter_map(|entry| marks.iter().find_map(|mark| entry.path.strip_suffix(mark)))
            .map(|folder| format!("{folder}/"))
            .collect();
        for entry in found.entries {
            let below = entry.path.strip_prefix(&start.display_prefix).unwrap_or(&entry.path);
            let in_cache =
                !caches.is_empty() && caches.iter().any(|cache| entry.path.starts_with(cache.as_str()));
            let vendored = in_cache || language::is_vendored(below);
            if entry.kind == EntryKind::File {
                self.files.push(File {
                    language: language::of(&entry.path),
                    size: entry.size.unwrap_or(0),
                    path: entry.path,
                    vendored,
                });
            }
        }
        Ok(())
    }

    /// Notes something that makes the answer less than it seems.
    pub(crate) fn warn(&self, warning: String) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    /// Whether there is such a file.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.known.contains(path)
    }

    /// The path as seen from the start it lies below.
    pub(crate) fn below<'p>(&self, path: &'p str) -> &'p str {
        let starts = self.bases.iter().filter_map(|base| path.strip_prefix(base.as_str()));
        starts.min_by_key(|rest| rest.len()).unwrap_or(path)
    }

    /// How many folders lead to a path from its start.
    pub(crate) fn depth(&self, path: &str) -> usize {
        self.below(path).matches('/').count()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.walk.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The error of a scan that was given up.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            Err(Error::new(ErrorKind::Cancelled, "the call was given up"))
        } else {
            Ok(())
        }
    }

    /// The text of a small file; what is not UTF-8 in it is replaced. A file that is too large is warned of.
    pub(crate) fn text(&self, path: &str) -> Option<Rc<str>> {
        if let Some(known) = self.texts.borrow().get(path) {
            return known.clone();
        }
        let text = match read(self.workspace, path, MAX_MANIFEST) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                Some(Rc::from(text.strip_prefix('\u{feff}').unwrap_or(&text)))
            }
            Err(error) => {
                self.warn(format!("{path} was not read: {}", error.message()));
                None
            }
        };
        self.texts.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }

    /// Files with this name in one of the folders above the starts, the nearest first: a lock file or a pin there
    /// holds here too.
    pub(crate) fn above(&self, names: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        for base in &self.bases {
            let mut folder = base.trim_end_matches('/');
            // A start that is a whole root (its path is absolute, or it is a mount) has nothing above it.
            while !folder.is_empty() && !folder.starts_with('/') && !folder.contains("://") {
                folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
                let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
                let paths = names.iter().map(|name| format!("{prefix}{name}"));
                found.extend(paths.filter(|path| {
                    self.workspace.stat_link(path).is_ok_and(|stat| stat.kind == EntryKind::File)
                }));
            }
        }
        found
    }

    /// Applies `work` to the bytes of many files on a few threads. Results come in the order of the paths; files that
    /// can't be read or are too large give none.
    pub(crate) fn map_files<T: Send>(
        &self,
        paths: &[&str],
        work: impl Fn(usize, &[u8]) -> T + Sync,
    ) -> Result<BTreeMap<usize, T>> {
        let next = AtomicUsize::new(0);
        let workspace = self.workspace;
        let cancel = self.walk.cancel.as_deref();
        let worker = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(index) else { return done };
                if cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                    return done;
                }
                if let Ok(bytes) = read(workspace, path, MAX_SOURCE) {
                    done.push((index, work(index, &bytes)));
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
        let all = std::thread::scope(|scope| {
            let running: Vec<_> = (1..threads.min(paths.len())).map(|_| scope.spawn(worker)).collect();
            let mut all = worker();
            for thread in running {
                // A thread that panicked has lost its files; the caller's panic is the better report.
                match thread.join() {
                    Ok(done) => all.extend(done),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        self.check()?;
        Ok(all.into_iter().collect())
    }
}

fn read(workspace: &ReadWorkspace, path: &str, max: u64) -> Result<Vec<u8>> {
    let file = workspace.open_file(path)?;
    let too_large = || Error::new(ErrorKind::TooLarge, format!("it has more than {max} bytes"));
    if file.size > max {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(file.size).unwrap_or(0));
    let read = file.reader.take(max + 1).read_to_end(&mut bytes);
    read.map_err(|_| Error::new(ErrorKind::Io, "it could not be read"))?;
    if bytes.len() as u64 > max { Err(too_large()) } else { Ok(bytes) }
}
