//! One conversation, as the executor sees it: turns, what was called lately, grants, the turn's token budget.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::permission::Grant;
use crate::render::ResourceTracker;

/// How many of the latest calls are remembered for duplicates and loops.
const REMEMBERED: usize = 200;

/// A call that was made lately.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub call_id: String,
    pub turn: u64,
    /// Tool and arguments.
    pub key: [u8; 32],
    /// The text that it returned; `None` for failures and for calls that change something.
    pub output: Option<[u8; 32]>,
}

/// One conversation. Held in an `Arc` by every call of it.
pub struct Session {
    /// Its name.
    pub id: String,
    turn: AtomicU64,
    tracker: Mutex<Option<ResourceTracker>>,
    recent: Mutex<VecDeque<Remembered>>,
    grants: Mutex<Vec<Grant>>,
    turn_budget: Option<usize>,
    unknown_history: bool,
    spent: Mutex<(u64, usize)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A new conversation.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            turn: AtomicU64::new(0),
            tracker: Mutex::new(None),
            recent: Mutex::default(),
            grants: Mutex::default(),
            turn_budget: None,
            unknown_history: false,
            spent: Mutex::new((0, 0)),
        }
    }

    /// The same session, naming resources that the conversation already holds instead of repeating them. Only for
    /// callers that manage the history, and tell the tracker what they dropped from it.
    #[must_use]
    pub fn with_tracker(self, tracker: ResourceTracker) -> Self {
        *locked(&self.tracker) = Some(tracker);
        self
    }

    /// The same session, with so many tokens of output for all calls of one turn together.
    #[must_use]
    pub fn with_turn_budget(mut self, tokens: usize) -> Self {
        self.turn_budget = Some(tokens);
        self
    }

    /// The same session, of whose history only the caller knows what is left: every answer is given in full, since an
    /// earlier, equal one may be gone from it.
    #[must_use]
    pub fn with_unknown_history(mut self) -> Self {
        self.unknown_history = true;
        self
    }

    /// The same session, with standing grants.
    #[must_use]
    pub fn with_grants(self, grants: Vec<Grant>) -> Self {
        *locked(&self.grants) = grants;
        self
    }

    /// The turn that calls belong to now.
    pub fn turn(&self) -> u64 {
        self.turn.load(Ordering::Relaxed)
    }

    /// Begins the next turn.
    pub fn next_turn(&self) -> u64 {
        self.turn.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Sets the turn, when a session is taken up again.
    pub fn set_turn(&self, turn: u64) {
        self.turn.store(turn, Ordering::Relaxed);
    }

    /// The grants given so far.
    pub fn grants(&self) -> Vec<Grant> {
        locked(&self.grants).clone()
    }

    /// Works with the tracker, if there is one.
    pub fn tracker<R>(&self, work: impl FnOnce(Option<&mut ResourceTracker>) -> R) -> R {
        work(locked(&self.tracker).as_mut())
    }

    /// Whether an earlier answer of this turn can stand for an equal one.
    pub(crate) fn knows_history(&self) -> bool {
        !self.unknown_history
    }

    pub(crate) fn grant(&self, grant: Grant) {
        let mut grants = locked(&self.grants);
        if !grants.contains(&grant) {
            grants.push(grant);
        }
    }

    pub(crate) fn remember(&self, call: Remembered) {
        let mut recent = locked(&self.recent);
        if recent.len() == REMEMBERED {
            recent.pop_front();
        }
        recent.push_back(call);
    }

    pub(crate) fn with_recent<R>(&self, look: impl FnOnce(&VecDeque<Remembered>) -> R) -> R {
        look(&locked(&self.recent))
    }

    /// Sets aside up to `wanted` tokens of a turn's budget; says how many. Calls that run at the same time share it.
    pub(crate) fn reserve(&self, turn: u64, wanted: usize) -> usize {
        let Some(budget) = self.turn_budget else { return wanted };
        let mut spent = locked(&self.spent);
        if spent.0 != turn {
            *spent = (turn, 0);
        }
        // A call is never silenced: it may always say what it has and where the rest is.
        let granted = wanted.min(budget.saturating_sub(spent.1).max(MIN_ALLOWANCE));
        spent.1 = spent.1.saturating_add(granted);
        granted
    }

    /// Gives back what was not used of it.
    pub(crate) fn settle(&self, turn: u64, reserved: usize, used: usize) {
        let mut spent = locked(&self.spent);
        if self.turn_budget.is_some() && spent.0 == turn {
            spent.1 = spent.1.saturating_sub(reserved).saturating_add(used);
        }
    }
}

/// What a call may use even when the turn's budget is gone.
const MIN_ALLOWANCE: usize = 200;
