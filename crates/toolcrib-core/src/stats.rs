//! Figures per tool.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

/// How many of the latest durations the percentiles look at.
const WINDOW: usize = 1024;

/// Figures of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolStats {
    /// Calls that reached the tool or were refused on the way.
    pub calls: u64,
    /// Calls that did what was asked.
    pub successes: u64,
    /// Calls that did not.
    pub errors: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Mean time in the tool.
    pub average_ms: f64,
    /// Median of the latest calls.
    pub p50_ms: f64,
    /// 95th percentile of the latest calls.
    pub p95_ms: f64,
    /// The slowest call.
    pub max_ms: f64,
}

#[derive(Default)]
struct Tally {
    calls: u64,
    errors: u64,
    retries: u64,
    total: Duration,
    max: Duration,
    latest: Vec<Duration>,
}

/// Figures of all tools.
#[derive(Default)]
pub struct Stats(Mutex<BTreeMap<String, Tally>>);

impl Stats {
    pub(crate) fn record(&self, tool: &str, success: bool, attempts: u32, time: Duration) {
        let mut tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !tallies.contains_key(tool) {
            tallies.insert(tool.to_owned(), Tally::default());
        }
        let Some(tally) = tallies.get_mut(tool) else { return };
        let slot = usize::try_from(tally.calls).unwrap_or(usize::MAX) % WINDOW;
        tally.calls += 1;
        tally.errors += u64::from(!success);
        tally.retries += u64::from(attempts.saturating_sub(1));
        tally.total = tally.total.saturating_add(time);
        tally.max = tally.max.max(time);
        match tally.latest.get_mut(slot) {
            Some(oldest) => *oldest = time,
            None => tally.latest.push(time),
        }
    }

    /// The figures of one tool.
    pub fn of(&self, tool: &str) -> Option<ToolStats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(tool).map(summary)
    }

    /// The figures of every tool that was called.
    pub fn all(&self) -> BTreeMap<String, ToolStats> {
        let tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tallies.iter().map(|(name, tally)| (name.clone(), summary(tally))).collect()
    }
}

fn summary(tally: &Tally) -> ToolStats {
    let mut sorted = tally.latest.clone();
    sorted.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let percentile = |share: usize| {
        let index = (sorted.len() * share).div_ceil(100).saturating_sub(1);
        sorted.get(index).copied().map_or(0.0, ms)
    };
    ToolStats {
        calls: tally.calls,
        successes: tally.calls.saturating_sub(tally.errors),
        errors: tally.errors,
        retries: tally.retries,
        average_ms: if tally.calls == 0 { 0.0 } else { ms(tally.total) / tally.calls as f64 },
        p50_ms: percentile(50),
        p95_ms: percentile(95),
        max_ms: ms(tally.max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_counts() {
        let stats = Stats::default();
        for ms in 1..=100 {
            stats.record("t", ms % 10 != 0, if ms == 1 { 3 } else { 1 }, Duration::from_millis(ms));
        }
        let got = stats.of("t").unwrap();
        assert_eq!((got.calls, got.successes, got.errors, got.retries), (100, 90, 10, 2));
        assert_eq!((got.p50_ms, got.p95_ms, got.max_ms), (50.0, 95.0, 100.0));
        assert!((got.average_ms - 50.5).abs() < 1e-9);
        assert!(stats.of("other").is_none());
    }

    #[test]
    fn the_window_moves() {
        let stats = Stats::default();
        for _ in 0..WINDOW {
            stats.record("t", true, 1, Duration::from_millis(900));
        }
        for _ in 0..WINDOW {
            stats.record("t", true, 1, Duration::from_millis(1));
        }
        let got = stats.of("t").unwrap();
        assert_eq!((got.p95_ms, got.max_ms), (1.0, 900.0));
    }
}
