//! Stage 8: the tool itself, under timeout and cancellation, run again only where that is allowed.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

use super::Executor;
use super::call::Call;
use super::prepare;
use crate::context::CallContext;
use crate::error::{ErrorCode, ToolError};
use crate::tool::{BoundCall, ToolOutput};

pub(super) async fn run(
    executor: &Executor,
    call: &mut Call,
    bound: Box<dyn BoundCall>,
) -> Result<ToolOutput, ToolError> {
    let capabilities = call.entry()?.tool.spec().capabilities;
    let limits = executor.0.limits;
    let allowed = call.timeout.unwrap_or(call.entry()?.tool.spec().timeout).min(limits.max_timeout);
    let started = Instant::now();
    let context = call.context(executor)?;
    let attempt = Attempt {
        executor,
        context,
        started,
        allowed,
        grace: if capabilities.is_read_only() { Duration::ZERO } else { limits.grace },
    };
    let mut next = Some(bound);
    let result = loop {
        let bound = match next.take() {
            Some(bound) => bound,
            None => match prepare::bind(call) {
                Ok(bound) => bound,
                Err(error) => break Err(error),
            },
        };
        call.attempts += 1;
        match attempt.run(bound).await {
            Err(error) if capabilities.retryable && may_retry(&error, call.attempts, limits.max_attempts) => {
                let wait = backoff(limits.backoff, call.attempts);
                if !attempt.pause(wait).await {
                    break Err(error);
                }
            }
            result => break result,
        }
    };
    call.time = started.elapsed();
    result
}

fn may_retry(error: &ToolError, attempts: u32, max: u32) -> bool {
    // A timeout has used up the time; there is none left to try again.
    error.is_retryable() && error.code != ErrorCode::Timeout && attempts < max
}

/// Exponential, with full jitter on the upper half so that parallel calls spread.
fn backoff(base: Duration, attempts: u32) -> Duration {
    let full = base.saturating_mul(1 << attempts.saturating_sub(1).min(10));
    full.mul_f64(0.5 + fastrand::f64() / 2.0)
}

struct Attempt<'a> {
    executor: &'a Executor,
    context: CallContext,
    started: Instant,
    allowed: Duration,
    grace: Duration,
}

impl Attempt<'_> {
    async fn run(&self, bound: Box<dyn BoundCall>) -> Result<ToolOutput, ToolError> {
        let mut work = pin!(caught(bound.run(&self.context)));
        let stopped = tokio::select! {
            biased;
            result = &mut work => return result,
            () = self.context.cancellation().cancelled() => cancelled(),
            () = self.executor.0.shutdown.cancelled() => cancelled(),
            () = sleep_until(self.started + self.allowed) => timed_out(self.allowed),
        };
        self.context.cancellation().cancel();
        if self.grace.is_zero() {
            return Err(stopped);
        }
        // What changes the world is not abandoned half-way: it may finish, or stop by itself and say what it did.
        match timeout(self.grace, work).await {
            Ok(Ok(output)) => {
                self.context.warn("the call was to be stopped, but had already done its work");
                Ok(output)
            }
            Ok(Err(error)) if error.code == ErrorCode::Cancelled => {
                Err(ToolError { more: error.more, ..stopped })
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(stopped
                .suggest("The tool did not stop in time; look at the state of things before you go on.")),
        }
    }

    /// Waits before the next attempt; says whether there is time for one.
    async fn pause(&self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        if until >= self.started + self.allowed {
            return false;
        }
        tokio::select! {
            () = sleep_until(until) => true,
            () = self.context.cancellation().cancelled() => false,
            () = self.executor.0.shutdown.cancelled() => false,
        }
    }
}

pub(super) fn cancelled() -> ToolError {
    ToolError::new(ErrorCode::Cancelled, "the call was cancelled")
}

fn timed_out(allowed: Duration) -> ToolError {
    ToolError::new(ErrorCode::Timeout, format!("the call took longer than {:.1} s", allowed.as_secs_f64()))
}

/// Runs `work`, and turns a panic into an error. The panic's text goes to the log, never to the model.
pub(super) async fn caught<T>(work: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
    let mut work = pin!(work);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(poll) => poll,
        Err(panic) => Poll::Ready(Err(ToolError::internal(panic_text(panic.as_ref())))),
    })
    .await
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without text")
}
