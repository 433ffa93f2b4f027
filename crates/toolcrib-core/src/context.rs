//! What a running tool can reach.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::activity::{ActivityStream, EventKind};
use crate::effects::Effects;
use crate::error::{ErrorCode, ToolError};
use crate::executor::Executor;
use crate::permission::{Answer, Approver, ConfirmRequest, PermissionSet};
use crate::services::Services;
use crate::session::Session;
use crate::tool::Preview;

/// Who calls.
#[derive(Clone, Debug, Default)]
pub struct CallIds {
    /// The call.
    pub call_id: String,
    /// The message of the model that it is part of.
    pub message_id: Option<String>,
    /// The agent that calls.
    pub agent_id: Option<String>,
    /// The turn of the session.
    pub turn: u64,
}

/// What a tool touched, noted while it runs and merged into the outcome's metadata.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Bytes written to files.
    pub bytes_written: u64,
    /// Files, each once.
    pub files: Vec<String>,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

pub(crate) struct ContextParts {
    pub ids: CallIds,
    pub tool: String,
    pub session: Arc<Session>,
    pub cancel: CancellationToken,
    pub services: Arc<Services>,
    /// Those of this call alone.
    pub call_services: Option<Arc<Services>>,
    pub granted: PermissionSet,
    pub activity: ActivityStream,
    pub approver: Option<Arc<dyn Approver>>,
    pub executor: Option<Executor>,
    /// The cap of the call's text.
    pub max_output_tokens: usize,
    /// The time that the caller allowed, if it said so.
    pub timeout: Option<Duration>,
    /// Whether a person has said yes to this very call.
    pub approved: AtomicBool,
}

struct Inner {
    parts: ContextParts,
    record: Mutex<Record>,
}

/// What a running tool can reach: its ids, cancellation, streaming, and the services that its capabilities allow.
/// Cheap to clone.
#[derive(Clone)]
pub struct CallContext(Arc<Inner>);

impl CallContext {
    pub(crate) fn new(parts: ContextParts) -> Self {
        Self(Arc::new(Inner { parts, record: Mutex::default() }))
    }

    /// A context outside any executor, for testing a tool alone.
    pub fn for_test(granted: PermissionSet, services: Services) -> Self {
        Self::new(ContextParts {
            ids: CallIds { call_id: "test".into(), ..CallIds::default() },
            tool: "test".into(),
            session: Arc::new(Session::new("test")),
            cancel: CancellationToken::new(),
            services: Arc::new(services),
            call_services: None,
            granted,
            activity: ActivityStream::new(),
            approver: None,
            executor: None,
            max_output_tokens: 10_000,
            timeout: None,
            approved: AtomicBool::new(false),
        })
    }

    /// Who calls.
    pub fn ids(&self) -> &CallIds {
        &self.0.parts.ids
    }

    /// The session of the call.
    pub fn session(&self) -> &Arc<Session> {
        &self.0.parts.session
    }

    /// How many tokens of text the call may return: a tool that can choose what to show keeps within it.
    pub fn max_output_tokens(&self) -> usize {
        self.0.parts.max_output_tokens
    }

    /// The time that the caller allowed for this call, if it said so: a tool with a limit of its own goes by it.
    pub fn allowed_time(&self) -> Option<Duration> {
        self.0.parts.timeout
    }

    /// Ends when the caller gave up or time ran out. A tool that changes something looks at it before its point of
    /// no return, and finishes after it.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.parts.cancel
    }

    /// A service by its type. Missing, or not allowed by the tool's capabilities: `ENGINE_NOT_AVAILABLE`.
    pub fn get<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, ToolError> {
        let parts = &self.0.parts;
        match &parts.call_services {
            Some(own) if own.offers::<T>() => own.get(parts.granted),
            _ => parts.services.get(parts.granted),
        }
    }

    /// Says how far the call is.
    pub fn progress(&self, message: impl Into<String>, done: Option<u64>, total: Option<u64>) {
        self.emit(|| EventKind::ToolProgress { message: message.into(), done, total });
    }

    /// Streams a piece of output while the call runs.
    pub fn output(&self, stream: &str, chunk: impl Into<String>) {
        self.emit(|| EventKind::ToolOutputChunk { stream: stream.to_owned(), chunk: chunk.into() });
    }

    /// Notes that a file was read.
    pub fn record_read(&self, path: &str, bytes: u64) {
        self.record(path, |record| record.bytes_read = record.bytes_read.saturating_add(bytes));
    }

    /// Notes that a file was written.
    pub fn record_write(&self, path: &str, bytes: u64) {
        self.record(path, |record| record.bytes_written = record.bytes_written.saturating_add(bytes));
    }

    /// Tells the caller something besides the output.
    pub fn warn(&self, warning: impl Into<String>) {
        self.0.record.lock().unwrap_or_else(PoisonError::into_inner).warnings.push(warning.into());
    }

    /// Asks a person in the middle of a call. With nobody to ask the answer is no.
    pub async fn confirm(&self, request: ConfirmRequest) -> Answer {
        self.emit(|| EventKind::PermissionRequest { request: Box::new(request.clone()) });
        match &self.0.parts.approver {
            Some(approver) => approver.confirm(&request).await,
            None => Answer::Deny { reason: Some("there is nobody to ask".into()) },
        }
    }

    /// Asks the policy again, once it is known exactly what the call touches: for calls whose effects could only say
    /// "anything". `preview` is what a person is shown if they must be asked. To be called before anything is changed.
    pub async fn authorise(&self, effects: Effects, preview: Preview) -> Result<(), ToolError> {
        match &self.0.parts.executor {
            Some(executor) => executor.authorise_known(self, effects, preview).await,
            None => Ok(()),
        }
    }

    /// Runs work that blocks (files, parsing) without holding up other calls.
    pub async fn blocking<T, F>(&self, work: F) -> Result<T, ToolError>
    where
        T: Send + 'static,
        F: FnOnce(&CallContext) -> Result<T, ToolError> + Send + 'static,
    {
        let cx = self.clone();
        match tokio::task::spawn_blocking(move || work(&cx)).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(ToolError::new(ErrorCode::Cancelled, "the work was stopped by a shutdown")),
        }
    }

    pub(crate) fn parts(&self) -> &ContextParts {
        &self.0.parts
    }

    pub(crate) fn take_record(&self) -> Record {
        std::mem::take(&mut *self.0.record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn record(&self, path: &str, note: impl FnOnce(&mut Record)) {
        let mut record = self.0.record.lock().unwrap_or_else(PoisonError::into_inner);
        note(&mut record);
        if !record.files.iter().any(|file| file == path) {
            record.files.push(path.to_owned());
        }
    }

    fn emit(&self, kind: impl FnOnce() -> EventKind) {
        let parts = &self.0.parts;
        parts.activity.emit(&parts.session.id, Some(&parts.ids.call_id), Some(&parts.tool), kind);
    }
}

/// What a tool can reach while it is initialized.
pub struct InitContext {
    /// The services on offer.
    pub services: Arc<Services>,
    /// Settings of the embedder, by tool name.
    pub settings: Value,
}
