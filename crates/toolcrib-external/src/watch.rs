//! Follows the folders: by the kernel's word where it can be had, by looking twice a second where it cannot.
//!
//! Events are not queued, only noted: however many there are, they are one scan. A folder that does not exist yet
//! is awaited in the nearest one above it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::catalog::ExternalTools;

/// How long it must have been quiet before the files are read: they are written piece by piece.
const QUIET: Duration = Duration::from_millis(30);
/// How long that is waited for at most.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often one looks where nothing tells.
const POLL: Duration = Duration::from_millis(400);

#[derive(Default)]
struct Noted {
    changed: bool,
    stop: bool,
}

/// What the watcher's callback tells the thread that scans.
#[derive(Default)]
struct Signal {
    noted: Mutex<Noted>,
    news: Condvar,
}

impl Signal {
    fn note(&self, note: impl FnOnce(&mut Noted)) {
        note(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner));
        self.news.notify_all();
    }

    /// Waits for news; says whether to go on.
    fn wait(&self, at_most: Option<Duration>) -> bool {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |noted: &mut Noted| !noted.changed && !noted.stop;
        let noted = match at_most {
            Some(time) => {
                self.news.wait_timeout_while(noted, time, idle).unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.news.wait_while(noted, idle).unwrap_or_else(PoisonError::into_inner),
        };
        !noted.stop
    }

    /// Waits until nothing more comes, or for long enough.
    fn settle(&self) {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::take(&mut noted.changed) || noted.stop || Instant::now() >= until {
                return;
            }
            let idle = |noted: &mut Noted| !noted.changed && !noted.stop;
            drop(self.news.wait_timeout_while(noted, QUIET, idle));
        }
    }
}

/// Follows the folders until it is dropped.
#[must_use = "the folders are followed only as long as this is held"]
pub struct Watch {
    signal: Arc<Signal>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.signal.note(|noted| noted.stop = true);
    }
}

impl ExternalTools {
    /// Follows the folders from now on: what is added, edited or removed is in the registry within a second.
    pub fn watch(&self) -> Watch {
        self.follow(true)
    }

    /// The same without the kernel's help, as where it gives none.
    pub fn watch_by_polling(&self) -> Watch {
        self.follow(false)
    }

    fn follow(&self, by_events: bool) -> Watch {
        let signal = Arc::new(Signal::default());
        let (tools, heard) = (self.clone(), Arc::clone(&signal));
        let thread = std::thread::Builder::new().name("toolcrib-tools".into());
        if let Err(error) = thread.spawn(move || run(&tools, &heard, by_events)) {
            tracing::error!(%error, "the tool folders are not followed");
        }
        Watch { signal }
    }
}

fn run(tools: &ExternalTools, signal: &Arc<Signal>, by_events: bool) {
    let mut eyes = Eyes { watcher: None, on: Vec::new() };
    loop {
        // First the eyes, then the look: what changes in between is seen by one of them.
        let told = by_events && eyes.open(&tools.paths(), signal);
        tools.reload();
        let poll = !told || tools.has_links();
        if !signal.wait(poll.then_some(POLL)) {
            return;
        }
        signal.settle();
    }
}

struct Eyes {
    watcher: Option<RecommendedWatcher>,
    on: Vec<PathBuf>,
}

impl Eyes {
    /// Watches the folders, or what is nearest to them; says whether everything is watched.
    fn open(&mut self, folders: &[PathBuf], signal: &Arc<Signal>) -> bool {
        if self.watcher.is_none() {
            self.watcher = watcher(folders, signal);
        }
        let Some(watcher) = &mut self.watcher else { return false };
        // Again each time: a folder that was removed and made anew is another one.
        for path in self.on.drain(..) {
            let _ = watcher.unwatch(&path);
        }
        for folder in folders {
            // What appears while this is done would be missed where it is not watched yet.
            for _ in 0..8 {
                let Some(near) = nearest(folder) else { return false };
                if self.on.contains(&near) {
                    break;
                }
                if let Err(error) = watcher.watch(&near, RecursiveMode::NonRecursive) {
                    tracing::debug!(%error, "a tool folder is not watched but looked at now and then");
                    if nearest(folder).as_ref() == Some(&near) {
                        return false;
                    }
                    continue;
                }
                self.on.push(near);
            }
        }
        true
    }
}

/// The folder, or the nearest one above it that is there.
fn nearest(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|path| path.is_dir()).map(Path::to_owned)
}

fn watcher(folders: &[PathBuf], signal: &Arc<Signal>) -> Option<RecommendedWatcher> {
    let (signal, folders) = (Arc::clone(signal), folders.to_vec());
    let made = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.as_ref().map_or(true, |event| concerns(event, &folders)) {
            signal.note(|noted| noted.changed = true);
        }
    });
    made.inspect_err(|error| tracing::debug!(%error, "folders cannot be watched here")).ok()
}

/// Whether an event may be about one of the folders. Reading them is no change, and must not look like one.
fn concerns(event: &Event, folders: &[PathBuf]) -> bool {
    if event.need_rescan() {
        return true;
    }
    if let EventKind::Access(kind) = event.kind
        && kind != AccessKind::Close(AccessMode::Write)
    {
        return false;
    }
    let about =
        |path: &PathBuf| folders.iter().any(|folder| path.starts_with(folder) || folder.starts_with(path));
    event.paths.is_empty() || event.paths.iter().any(about)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{CreateKind, Flag, ModifyKind};

    #[test]
    fn only_what_is_about_the_folders_counts() {
        let folders = [PathBuf::from("/p/.toolcrib/tools")];
        let event = |kind, path: &str| Event::new(kind).add_path(path.into());
        let create = EventKind::Create(CreateKind::Any);
        for (event, expected) in [
            (event(create, "/p/.toolcrib/tools/a.tool.toml"), true),
            (event(create, "/p/.toolcrib"), true),
            (event(EventKind::Modify(ModifyKind::Any), "/p/src"), false),
            (event(EventKind::Access(AccessKind::Open(AccessMode::Any)), "/p/.toolcrib/tools"), false),
            (event(EventKind::Access(AccessKind::Close(AccessMode::Write)), "/p/.toolcrib/tools/x"), true),
            (Event::new(EventKind::Other).set_flag(Flag::Rescan), true),
        ] {
            assert_eq!(concerns(&event, &folders), expected, "{event:?}");
        }
    }
}
