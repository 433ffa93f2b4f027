//! The commands of a conversation that outlive the call that started them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::process::Process;

/// How many may run at a time.
pub const MAX_LIVE: usize = 32;
/// How many that have ended are remembered.
const MAX_ENDED: usize = 32;

/// A command with a name.
#[derive(Clone)]
pub struct Entry {
    /// Its name.
    pub id: String,
    /// The conversation that it belongs to.
    pub session: String,
    /// What was run, for people.
    pub command: String,
    /// The process.
    pub process: Process,
}

#[derive(Default)]
struct Entries {
    all: Vec<Entry>,
    last: u64,
}

/// Commands by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Table(Arc<Mutex<Entries>>);

impl Table {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many are running.
    pub fn live(&self) -> usize {
        self.with(|entries| entries.all.iter().filter(|entry| entry.process.end().is_none()).count())
    }

    /// Names a process. The oldest of those that have ended are forgotten; `None` if too many are running.
    pub fn add(&self, session: &str, command: &str, process: Process) -> Option<String> {
        if self.live() >= MAX_LIVE {
            return None;
        }
        self.with(|entries| {
            let ended = |entry: &Entry| entry.process.end().is_some();
            let surplus =
                (entries.all.iter().filter(|entry| ended(entry)).count() + 1).saturating_sub(MAX_ENDED);
            for _ in 0..surplus {
                if let Some(oldest) = entries.all.iter().position(ended) {
                    entries.all.remove(oldest);
                }
            }
            entries.last += 1;
            let id = format!("p{}", entries.last);
            entries.all.push(Entry {
                id: id.clone(),
                session: session.into(),
                command: command.into(),
                process,
            });
            Some(id)
        })
    }

    /// The process of this name in a conversation.
    pub fn get(&self, session: &str, id: &str) -> Option<Entry> {
        self.with(|entries| {
            entries.all.iter().find(|entry| entry.id == id && entry.session == session).cloned()
        })
    }

    /// All processes of a conversation, oldest first.
    pub fn of(&self, session: &str) -> Vec<Entry> {
        self.with(|entries| entries.all.iter().filter(|entry| entry.session == session).cloned().collect())
    }

    /// Stops and forgets what belongs to a conversation that is over, without waiting for it. Needs a runtime if
    /// anything runs.
    pub fn stop_session(&self, session: &str) {
        let over = self.with(|entries| {
            let (over, kept) =
                std::mem::take(&mut entries.all).into_iter().partition(|e: &Entry| e.session == session);
            entries.all = kept;
            let over: Vec<Entry> = over;
            over
        });
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        for entry in over.into_iter().filter(|entry| entry.process.end().is_none()) {
            runtime.spawn(async move { entry.process.stop().await });
        }
    }

    /// Stops everything that runs, and forgets it.
    pub async fn stop_all(&self, at_most: Duration) {
        let all = self.with(|entries| std::mem::take(&mut entries.all));
        let running: Vec<_> = all.into_iter().filter(|entry| entry.process.end().is_none()).collect();
        let stops = running.iter().map(|entry| {
            let process = entry.process.clone();
            tokio::spawn(async move { process.stop().await })
        });
        let stops: Vec<_> = stops.collect();
        let _ = tokio::time::timeout(at_most, async {
            for stop in stops {
                let _ = stop.await;
            }
        })
        .await;
    }

    fn with<R>(&self, work: impl FnOnce(&mut Entries) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
