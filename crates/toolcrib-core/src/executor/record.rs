//! Stage 10: figures, and the one terminal event.

use super::Executor;
use super::call::Call;
use crate::activity::EventKind;
use crate::outcome::Outcome;

pub(super) fn record(executor: &Executor, call: &mut Call, outcome: &Outcome) {
    // Names that do not exist are not tools: they get no figures, or a caller could fill the memory with them.
    if call.entry.is_some() {
        executor.stats().record(&outcome.tool, outcome.success, call.attempts, call.time);
    }
    let metadata = &outcome.metadata;
    call.terminal.emit(|| match &outcome.error {
        None => EventKind::ToolCallEnd {
            title: outcome.title.clone(),
            execution_time_ms: metadata.execution_time_ms,
            tokens: metadata.tokens,
            truncated: metadata.truncated,
            attempts: metadata.attempts,
        },
        Some(error) => EventKind::Error {
            code: error.code,
            message: error.message.clone(),
            execution_time_ms: metadata.execution_time_ms,
            attempts: metadata.attempts,
        },
    });
}
