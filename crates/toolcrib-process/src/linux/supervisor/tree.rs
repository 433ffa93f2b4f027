//! Processes below a process: finding them, and ending them all.
//!
//! The children of a process that ends pass to the nearest subreaper, which the supervisor is: whoever left the
//! session, forked twice or was orphaned is below it. New ones can appear while one looks, so everything found is
//! frozen first, until a look finds nothing new, and only then killed.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process};

/// How long freezing may take before it is killing at once: a fork bomb may win the race to be frozen.
const FREEZING: Duration = Duration::from_millis(500);
/// When to give up: what cannot be killed by now sleeps in the kernel.
pub(crate) const KILLING: Duration = Duration::from_secs(5);

/// Every process below `root`, nearest first.
pub(crate) fn descendants(root: Pid) -> Vec<Pid> {
    let mut found = children(root);
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        found.extend(children(pid));
        at += 1;
        if found.len() > 100_000 {
            break;
        }
    }
    found
}

/// The children of a process, of all its threads.
pub(crate) fn children(of: Pid) -> Vec<Pid> {
    let threads = format!("/proc/{}/task", of.as_raw_nonzero());
    let Ok(threads) = std::fs::read_dir(threads) else { return Vec::new() };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        let Ok(list) = std::fs::read_to_string(thread.path().join("children")) else { continue };
        found.extend(list.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
    }
    found
}

/// Sends a signal to everything below `root`, or to what lies deeper than `skip` levels.
pub(crate) fn signal(root: Pid, skip: usize, signal: Signal) {
    let mut level = vec![root];
    for _ in 0..skip {
        level = level.iter().flat_map(|pid| children(*pid)).collect();
    }
    for pid in level.iter().flat_map(|pid| descendants(*pid)) {
        let _ = kill_process(pid, signal);
    }
}

/// Ends everything below `root`, and says how many processes that were. Our own dead children are reaped on the way
/// if `root` is our own process.
pub(crate) fn kill_all(root: Pid) -> usize {
    let own = root == rustix::process::getpid();
    let started = Instant::now();
    let mut seen = HashSet::new();
    let mut empty_looks = 0;
    loop {
        // What was below a process that ends comes to its supervisor: only without any child is nothing left. A look
        // can miss a process whose parent ends meanwhile, so an empty one proves nothing.
        if own && !reap() {
            return seen.len();
        }
        let found = descendants(root);
        let alive: Vec<Pid> = found.iter().copied().filter(|pid| !is_zombie(*pid)).collect();
        let fresh: Vec<Pid> = alive.iter().copied().filter(|pid| seen.insert(*pid)).collect();
        empty_looks = if alive.is_empty() { empty_looks + 1 } else { 0 };
        if started.elapsed() > KILLING || (!own && empty_looks > 1) {
            return seen.len();
        }
        if !fresh.is_empty() && started.elapsed() < FREEZING {
            for pid in fresh {
                let _ = kill_process(pid, Signal::STOP);
            }
            continue;
        }
        // The dead too: the first thread of a process may have ended before the others.
        for pid in found {
            let _ = kill_process(pid, Signal::KILL);
        }
        // Dying takes a moment, and there is nothing to wait on but the clock: they need not be our children.
        std::thread::sleep(Duration::from_micros(300));
    }
}

/// Reaps our dead children; says whether there are living ones.
fn reap() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

fn is_zombie(pid: Pid) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())) else {
        return true;
    };
    // The name before it may hold anything, parentheses too.
    stat.rsplit_once(')')
        .is_none_or(|(_, rest)| matches!(rest.trim_start().chars().next(), Some('Z' | 'X') | None))
}
