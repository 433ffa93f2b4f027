//! Stages 4 and 11: hooks before and after a call.

use serde_json::Value;

use super::Executor;
use super::call::Call;
use super::prepare;
use super::run::caught;
use crate::context::CallIds;
use crate::error::{ErrorCode, ToolError};
use crate::outcome::Outcome;
use crate::permission::BoxFuture;
use crate::sanitize;

/// The call that a hook looks at.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The tool, by its own name.
    pub tool: String,
    /// The arguments, by the tool's own names.
    pub arguments: Value,
    /// Who calls.
    pub ids: CallIds,
    /// The session.
    pub session: String,
}

/// What a hook says before a call.
#[derive(Clone, Debug)]
pub enum Before {
    /// Go on.
    Continue,
    /// Refuse, and tell the model why.
    Deny(String),
    /// Go on with these arguments (by the tool's own names), which are validated again.
    Rewrite(Value),
}

/// What a hook says after a call.
#[derive(Clone, Debug)]
pub enum After {
    /// Leave it.
    Keep,
    /// Append this to the text.
    AddContext(String),
    /// Replace the text.
    ReplaceText(String),
}

/// Looks at calls before and after they run. A hook that panics before a call denies it.
pub trait Hook: Send + Sync {
    /// Before the call is authorised.
    fn before<'a>(&'a self, _call: &'a HookCall) -> BoxFuture<'a, Before> {
        Box::pin(async { Before::Continue })
    }

    /// After the call ended, well or badly.
    fn after<'a>(&'a self, _call: &'a HookCall, _outcome: &'a Outcome) -> BoxFuture<'a, After> {
        Box::pin(async { After::Keep })
    }
}

fn hook_call(call: &Call) -> HookCall {
    HookCall {
        tool: call.entry.as_ref().map_or_else(|| call.name.clone(), |entry| entry.tool.spec().name.clone()),
        arguments: call.arguments.clone(),
        ids: call.ids.clone(),
        session: call.session.id.clone(),
    }
}

pub(super) async fn before(executor: &Executor, call: &mut Call) -> Result<(), ToolError> {
    for hook in &executor.0.hooks {
        let seen = hook_call(call);
        let said = tokio::select! {
            said = caught(async { Ok(hook.before(&seen).await) }) => said,
            () = call.cancel.cancelled() => return Err(super::run::cancelled()),
            () = executor.0.shutdown.cancelled() => return Err(super::run::cancelled()),
        };
        match said {
            Ok(Before::Continue) => {}
            Ok(Before::Deny(reason)) => return Err(ToolError::new(ErrorCode::PermissionDenied, reason)),
            Ok(Before::Rewrite(arguments)) => {
                call.arguments = arguments;
                prepare::validate_native(call)?;
                call.record.warnings.push("a hook changed the arguments of this call".into());
            }
            Err(_) => {
                return Err(ToolError::new(
                    ErrorCode::PermissionDenied,
                    "a check before the call failed, so the call was not made",
                ));
            }
        }
    }
    Ok(())
}

/// What a hook may add, in bytes: it must not undo the output cap.
const MAX_CONTEXT: usize = 10_000;

pub(super) async fn after(executor: &Executor, call: &Call, outcome: &mut Outcome) {
    if executor.0.hooks.is_empty() {
        return;
    }
    let seen = hook_call(call);
    for hook in &executor.0.hooks {
        let said = caught(async { Ok(hook.after(&seen, outcome).await) }).await;
        match said {
            Ok(After::Keep) => {}
            Ok(After::AddContext(text)) => {
                outcome.output.push_str("\n\n");
                outcome.output.push_str(&shortened(&text));
            }
            Ok(After::ReplaceText(text)) => outcome.output = shortened(&text),
            Err(_) => outcome.metadata.warnings.push("a hook after the call failed".into()),
        }
    }
}

fn shortened(text: &str) -> String {
    let visible = sanitize::visible(text);
    let mut end = visible.len().min(MAX_CONTEXT);
    while !visible.is_char_boundary(end) {
        end -= 1;
    }
    visible.get(..end).unwrap_or_default().to_owned()
}
