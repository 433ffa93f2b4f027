//! Stage 6: the same call again.
//!
//! A repeated read-only call is run all the same, and its text compared with the earlier one's: equal means that the
//! world did not change, whoever could have changed it, and the text becomes a stub that names the earlier call. What
//! is saved is the tokens; the milliseconds are the price for never being wrong.

use super::call::Call;
use crate::session::Remembered;

/// Names loops to the model: the third same call in a row, and A-B-A-B.
pub(super) fn notice_loops(call: &mut Call) {
    if polls(call) {
        return;
    }
    let key = call.key;
    let notice = call.session.with_recent(|recent| {
        let mut last = recent.iter().rev().map(|remembered| remembered.key);
        match (last.next(), last.next(), last.next()) {
            (Some(a), Some(b), _) if a == key && b == key => {
                Some("this is at least the third time in a row that you make exactly this call")
            }
            (Some(a), Some(b), Some(c)) if a != key && b == key && c == a => {
                Some("you are alternating between the same two calls")
            }
            _ => None,
        }
    });
    if let Some(what) = notice {
        call.record
            .warnings
            .push(format!("{what}; the answer will not change unless you do something else first"));
    }
}

/// Whether each call takes something away, as looking for new output does: the same answer twice is then two answers.
fn polls(call: &Call) -> bool {
    let capabilities = call.entry.as_ref().map(|entry| entry.tool.spec().capabilities);
    capabilities.is_some_and(|capabilities| capabilities.is_read_only() && !capabilities.idempotent)
}

/// Remembers the call; returns the earlier call of this turn that gave the same text.
pub(super) fn remember(call: &Call, text: Option<&str>) -> Option<String> {
    let repeatable = call.effects.is_read_only() && !polls(call) && call.session.knows_history();
    let output =
        text.filter(|_| repeatable && !call.dry_run).map(|text| *blake3::hash(text.as_bytes()).as_bytes());
    let earlier = output.and_then(|output| {
        call.session.with_recent(|recent| {
            recent
                .iter()
                .find(|other| {
                    other.turn == call.ids.turn && other.key == call.key && other.output == Some(output)
                })
                .map(|other| other.call_id.clone())
        })
    });
    call.session.remember(Remembered {
        call_id: call.ids.call_id.clone(),
        turn: call.ids.turn,
        key: call.key,
        // A stub is no answer that a later call could point to.
        output: output.filter(|_| earlier.is_none()),
    });
    earlier
}
