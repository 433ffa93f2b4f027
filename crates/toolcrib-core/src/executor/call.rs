//! One call on its way through the stages.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Executor;
use crate::activity::{ActivityStream, EventKind};
use crate::context::{CallContext, CallIds, ContextParts, Record};
use crate::effects::Effects;
use crate::error::{ErrorCode, ToolError};
use crate::permission::{Approver, PermissionSet};
use crate::profile::ProfileTool;
use crate::services::Services;
use crate::session::Session;
use crate::spec::Mode;

/// Arguments as they came: decoded, or as text that is yet to be parsed (strictly).
#[derive(Clone, Debug)]
pub enum Arguments {
    /// Decoded.
    Json(Value),
    /// JSON text.
    Text(Vec<u8>),
}

/// A call to be made.
#[derive(Clone)]
pub struct CallRequest {
    /// The tool, by the profile's name.
    pub tool: String,
    /// Its arguments, by the profile's names.
    pub arguments: Arguments,
    /// The conversation it belongs to.
    pub session: Arc<Session>,
    /// Where it comes from.
    pub mode: Mode,
    /// The model's own id of the call; made up if absent.
    pub call_id: Option<String>,
    /// The message it is part of.
    pub message_id: Option<String>,
    /// The agent that makes it.
    pub agent_id: Option<String>,
    /// How long it may take; the tool's own default if absent.
    pub timeout: Option<Duration>,
    /// The cap of its text in tokens; the tool's own default if absent.
    pub max_output_tokens: Option<usize>,
    /// Says what would happen instead of doing it.
    pub dry_run: bool,
    /// Cancels it.
    pub cancel: CancellationToken,
    /// Who is asked about it, where that depends on the caller; the executor's approver if absent.
    pub approver: Option<Arc<dyn Approver>>,
    /// Services for this call alone, found before the executor's.
    pub services: Option<Arc<Services>>,
}

impl CallRequest {
    /// A call of `tool` with `arguments`.
    pub fn new(session: &Arc<Session>, tool: impl Into<String>, arguments: Value) -> Self {
        Self {
            tool: tool.into(),
            arguments: Arguments::Json(arguments),
            session: Arc::clone(session),
            mode: Mode::Agent,
            call_id: None,
            message_id: None,
            agent_id: None,
            timeout: None,
            max_output_tokens: None,
            dry_run: false,
            cancel: CancellationToken::new(),
            approver: None,
            services: None,
        }
    }
}

/// One call on its way through the stages: what is known of it so far.
pub(super) struct Call {
    pub name: String,
    pub arguments: Value,
    pub text: Option<Vec<u8>>,
    pub ids: CallIds,
    pub session: Arc<Session>,
    pub mode: Mode,
    pub timeout: Option<Duration>,
    pub max_output_tokens: Option<usize>,
    pub dry_run: bool,
    pub cancel: CancellationToken,
    pub approver: Option<Arc<dyn Approver>>,
    pub services: Option<Arc<Services>>,
    pub entry: Option<Arc<ProfileTool>>,
    pub effects: Effects,
    pub key: [u8; 32],
    pub context: Option<CallContext>,
    pub record: Record,
    pub attempts: u32,
    pub time: Duration,
    pub terminal: Terminal,
    _cancel_on_drop: DropGuard,
}

impl Call {
    /// Takes the request in and announces it.
    pub(super) fn begin(executor: &Executor, request: CallRequest) -> Self {
        let mut call = Self::unannounced(executor, request);
        executor.activity().emit(&call.session.id, Some(&call.ids.call_id), Some(&call.name), || {
            let parsed = call.text.as_deref().and_then(|text| serde_json::from_slice(text).ok());
            EventKind::ToolCallStart { arguments: clipped(parsed.as_ref().unwrap_or(&call.arguments), 0) }
        });
        call.terminal.done = false;
        call
    }

    /// Takes the request in. It has no event of its own until it is announced.
    pub(super) fn unannounced(executor: &Executor, request: CallRequest) -> Self {
        let call_id = request.call_id.unwrap_or_else(new_call_id);
        let cancel = request.cancel.child_token();
        let (arguments, text) = match request.arguments {
            Arguments::Json(value) => (value, None),
            Arguments::Text(text) => (Value::Null, Some(text)),
        };
        let terminal = Terminal {
            activity: executor.activity().clone(),
            session: Arc::clone(&request.session),
            call_id: call_id.clone(),
            tool: request.tool.clone(),
            done: true,
        };
        Self {
            ids: CallIds {
                call_id,
                message_id: request.message_id,
                agent_id: request.agent_id,
                turn: request.session.turn(),
            },
            name: request.tool,
            arguments,
            text,
            session: request.session,
            mode: request.mode,
            timeout: request.timeout,
            max_output_tokens: request.max_output_tokens,
            dry_run: request.dry_run,
            _cancel_on_drop: cancel.clone().drop_guard(),
            cancel,
            approver: request.approver.or_else(|| executor.0.approver.clone()),
            services: request.services,
            entry: None,
            effects: Effects::none(),
            key: [0; 32],
            context: None,
            record: Record::default(),
            attempts: 0,
            time: Duration::ZERO,
            terminal,
        }
    }

    /// The tool, once it is resolved.
    pub(super) fn entry(&self) -> Result<&Arc<ProfileTool>, ToolError> {
        self.entry.as_ref().ok_or_else(|| ToolError::internal("a stage ran before the tool was resolved"))
    }

    /// The context, made when it is first needed.
    pub(super) fn context(&mut self, executor: &Executor) -> Result<CallContext, ToolError> {
        if let Some(context) = &self.context {
            return Ok(context.clone());
        }
        let spec = self.entry()?.tool.spec();
        let context = CallContext::new(ContextParts {
            ids: self.ids.clone(),
            tool: spec.name.clone(),
            session: Arc::clone(&self.session),
            cancel: self.cancel.clone(),
            services: Arc::clone(&executor.0.services),
            call_services: self.services.clone(),
            granted: spec.permissions(),
            activity: executor.activity().clone(),
            approver: self.approver.clone(),
            executor: Some(executor.clone()),
            max_output_tokens: super::bound::cap(executor, self),
            timeout: self.timeout,
            approved: AtomicBool::new(false),
        });
        self.context = Some(context.clone());
        Ok(context)
    }

    /// The permissions that the tool's capabilities give it.
    pub(super) fn permissions(&self) -> PermissionSet {
        self.entry.as_ref().map(|entry| entry.tool.spec().permissions()).unwrap_or_default()
    }
}

/// Sees to it that a call ends with exactly one terminal event, also when its future is dropped.
pub(super) struct Terminal {
    activity: ActivityStream,
    session: Arc<Session>,
    call_id: String,
    tool: String,
    done: bool,
}

impl Terminal {
    pub(super) fn emit(&mut self, kind: impl FnOnce() -> EventKind) {
        if !std::mem::replace(&mut self.done, true) {
            self.activity.emit(&self.session.id, Some(&self.call_id), Some(&self.tool), kind);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.emit(|| EventKind::Error {
            code: ErrorCode::Cancelled,
            message: "the caller gave up on the call".into(),
            execution_time_ms: 0.0,
            attempts: 0,
        });
    }
}

/// Short, unique enough for a conversation, and cheap in tokens.
fn new_call_id() -> String {
    const ALPHABET: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut id = String::from("call_");
    for _ in 0..10 {
        id.push(fastrand::choice(ALPHABET).map_or('a', |byte| char::from(*byte)));
    }
    id
}

/// Arguments for the log: long strings and lists are cut.
fn clipped(value: &Value, depth: usize) -> Value {
    const STRING: usize = 256;
    const ITEMS: usize = 20;
    match value {
        Value::String(text) if text.len() > STRING => {
            let head: String = text.chars().take(STRING).collect();
            Value::String(format!("{head}… ({} bytes)", text.len()))
        }
        Value::Array(_) | Value::Object(_) if depth > 4 => Value::String("…".into()),
        Value::Array(items) => items.iter().take(ITEMS).map(|item| clipped(item, depth + 1)).collect(),
        Value::Object(fields) => fields
            .iter()
            .take(ITEMS)
            .map(|(key, value)| (key.chars().take(64).collect(), clipped(value, depth + 1)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}
