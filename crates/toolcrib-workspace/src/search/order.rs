//! Work in parallel, results in order.
//!
//! A task is known by its place in the order: a key like `3.0.7`, the seventh step of the first step of the third.
//! Running a task gives steps, which are results or further tasks, each with the task's own key and one digit more. The
//! lowest task is always taken first, by whichever thread is free, and a result is handed on once no task before it is
//! left. So threads never wait for each other while there is anything to do, a directory that takes long to read is
//! overtaken, and what is handed on does not depend on timing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

type Key = Vec<u32>;

/// What running a task gives, in order.
pub(super) enum Step<T, O> {
    /// A task that takes this place.
    Task(T),
    /// A result.
    Out(O),
}

/// What is to be done with a task.
pub(super) trait Job: Sync {
    type Task: Send;
    type Out: Send;
    /// What a thread keeps from task to task.
    type Scratch;

    fn scratch(&self) -> Self::Scratch;

    /// Runs a task. If `stop` becomes true the result will not be used.
    fn run(
        &self,
        scratch: &mut Self::Scratch,
        task: Self::Task,
        stop: &AtomicBool,
    ) -> Vec<Step<Self::Task, Self::Out>>;

    /// Whether the caller no longer wants an answer.
    fn is_cancelled(&self) -> bool;
}

/// Where results go, in order.
pub(super) trait Collect: Send {
    type Out;

    /// Takes the next result; `Break` when no further one is needed.
    fn accept(&mut self, out: Self::Out) -> ControlFlow<()>;

    /// How much of what is still wanted this result holds.
    fn weight(&self, out: &Self::Out) -> usize;

    /// How much is still wanted. When results that wait for their turn hold this much, nothing behind them is started.
    fn wanted(&self) -> usize;
}

struct State<T, O, C> {
    ready: BTreeMap<Key, T>,
    running: BTreeSet<Key>,
    done: BTreeMap<Key, O>,
    done_weight: usize,
    collector: C,
    threads: usize,
    idle: usize,
}

struct Shared<'a, J: Job, C> {
    job: &'a J,
    state: Mutex<State<J::Task, J::Out, C>>,
    wake: Condvar,
    stop: AtomicBool,
    max_threads: usize,
}

/// Runs `first` and all that follows from it, and returns the collector.
pub(super) fn run<J, C>(job: &J, first: J::Task, collector: C, threads: usize) -> C
where
    J: Job,
    C: Collect<Out = J::Out>,
{
    let state = State {
        ready: BTreeMap::from([(Vec::new(), first)]),
        running: BTreeSet::new(),
        done: BTreeMap::new(),
        done_weight: 0,
        collector,
        threads: 1,
        idle: 0,
    };
    let shared = Shared {
        job,
        state: Mutex::new(state),
        wake: Condvar::new(),
        stop: AtomicBool::new(false),
        max_threads: threads.max(1),
    };
    std::thread::scope(|scope| shared.work(scope));
    shared.state.into_inner().unwrap_or_else(PoisonError::into_inner).collector
}

impl<J, C> Shared<'_, J, C>
where
    J: Job,
    C: Collect<Out = J::Out>,
{
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let _guard = StopOnPanic { stop: &self.stop, wake: &self.wake };
        let mut scratch = self.job.scratch();
        let (mut state, mut next) = self.take(self.lock());
        while let Some((key, task)) = next {
            // Threads start when there is work for them: a search that ends in the first directory needs no second one.
            if state.ready.len() > state.idle && state.threads < self.max_threads {
                state.threads += 1;
                scope.spawn(|| self.work(scope));
            }
            drop(state);
            let steps = self.job.run(&mut scratch, task, &self.stop);
            state = self.lock();
            // Once another thread has stopped, what was found here may be cut short and must not be handed on.
            let stopped = self.stop.load(Ordering::Relaxed);
            if !stopped && (self.job.is_cancelled() || state.put(&key, steps).is_break()) {
                self.stop.store(true, Ordering::Relaxed);
            }
            if state.idle > 0 {
                self.wake.notify_all();
            }
            (state, next) = self.take(state);
        }
    }

    /// The lowest task; waits if there is none yet, and gives `None` when there will be none.
    fn take<'g>(&'g self, mut state: Guard<'g, J, C>) -> (Guard<'g, J, C>, Next<J>) {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return (state, None);
            }
            if let Some((key, task)) = state.pop() {
                state.running.insert(key.clone());
                return (state, Some((key, task)));
            }
            if state.running.is_empty() {
                return (state, None);
            }
            state.idle += 1;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    fn lock(&self) -> Guard<'_, J, C> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Next<J> = Option<(Key, <J as Job>::Task)>;
type Guard<'g, J, C> = MutexGuard<'g, State<<J as Job>::Task, <J as Job>::Out, C>>;

impl<T, O, C: Collect<Out = O>> State<T, O, C> {
    /// The lowest task that is worth starting.
    fn pop(&mut self) -> Option<(Key, T)> {
        let first = self.ready.first_entry()?;
        if self.done_weight >= self.collector.wanted()
            && self.done.last_key_value().is_none_or(|(last, _)| last < first.key())
        {
            return None;
        }
        Some(first.remove_entry())
    }

    /// Puts what a task gave in its place, and hands on all results whose turn it is.
    fn put(&mut self, key: &Key, steps: Vec<Step<T, O>>) -> ControlFlow<()> {
        self.running.remove(key);
        for (i, step) in (0u32..).zip(steps) {
            let mut place = Vec::with_capacity(key.len() + 1);
            place.extend_from_slice(key);
            place.push(i);
            match step {
                Step::Task(task) => {
                    self.ready.insert(place, task);
                }
                Step::Out(out) => {
                    self.done_weight += self.collector.weight(&out);
                    self.done.insert(place, out);
                }
            }
        }
        while let Some(first) = self.done.first_entry() {
            let is_before = |other: Option<&Key>| other.is_none_or(|other| first.key() < other);
            if !is_before(self.running.first())
                || !is_before(self.ready.first_key_value().map(|(key, _)| key))
            {
                break;
            }
            let out = first.remove();
            self.done_weight -= self.collector.weight(&out);
            self.collector.accept(out)?;
        }
        ControlFlow::Continue(())
    }
}

/// Without this a panic in one thread would leave the others waiting for its task for ever.
struct StopOnPanic<'a> {
    stop: &'a AtomicBool,
    wake: &'a Condvar,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.stop.store(true, Ordering::Relaxed);
            self.wake.notify_all();
        }
    }
}
