//! The client behind a call.
//!
//! In the older protocol the server asks a client by requests of its own while the call waits. In the newer
//! one it must not: the call ends with what is to be asked, and the client makes it again with the answers.

// Sampling, roots and logging are on their way out of the protocol; the conformance suite still asks for
// them.
#![allow(deprecated, reason = "see above")]

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams, ErrorData, InputRequests,
    InputResponses, LoggingLevel, LoggingMessageNotificationParam,
};
use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolcrib_core::permission::BoxFuture;

use crate::state::{ANSWER_WITHIN, State};

/// Why a call ends before its tool is done.
pub(crate) enum Stop {
    /// The client is asked, and makes the call again.
    Ask { requests: InputRequests, state: Option<State> },
    /// The request itself is wrong.
    Fail(ErrorData),
}

pub(crate) struct Link {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) capabilities: ClientCapabilities,
    /// Whether the client speaks the protocol without sessions.
    pub(crate) modern: bool,
    /// Whether what is granted for the session is still known at the next call.
    pub(crate) keeps_session: bool,
    pub(crate) answers: InputResponses,
    pub(crate) state: State,
    /// The input that the person said no to.
    pub(crate) declined: Option<String>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) stop: mpsc::UnboundedSender<Stop>,
}

/// The client behind a call, as a service: `cx.get::<Client>()`. Only tools that are made for MCP need it.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Link>);

impl Client {
    /// Whether the client speaks 2026-07-28 or later, in which a server cannot send requests.
    pub fn is_modern(&self) -> bool {
        self.0.modern
    }

    /// What the client says it can do, as the protocol has it.
    pub fn capabilities(&self) -> Value {
        serde_json::to_value(&self.0.capabilities).unwrap_or_default()
    }

    /// The answers that came with this call, by the name of the question.
    pub fn answers(&self) -> Value {
        self.0.answers.iter().map(|(key, answer)| (key.clone(), answer.clone())).collect()
    }

    /// What the tool kept when it asked, unaltered.
    pub fn kept(&self) -> &Value {
        &self.0.state.tool
    }

    /// Ends the call with questions: `{"name": {"method": "elicitation/create", "params": {…}}}`. What is
    /// kept comes back with the answers, if it is not null.
    pub async fn ask_and_end(&self, questions: Value, keep: Value) {
        let stop = match serde_json::from_value::<InputRequests>(questions) {
            Ok(requests) => {
                let state = (!keep.is_null()).then(|| State { tool: keep, ..self.0.state.clone() });
                Stop::Ask { requests, state }
            }
            Err(error) => Stop::Fail(ErrorData::internal_error(error.to_string(), None)),
        };
        self.end(stop).await;
    }

    /// Ends the call because the client lacks a capability that it needs.
    pub async fn end_for_missing(&self, capabilities: Value) {
        let wanted = serde_json::from_value(capabilities).unwrap_or_default();
        self.end(Stop::Fail(ErrorData::missing_required_client_capability(wanted))).await;
    }

    /// The call is dropped while it waits here.
    pub(crate) async fn end(&self, stop: Stop) {
        let _ = self.0.stop.send(stop);
        std::future::pending::<()>().await;
    }

    /// Asks the person behind an older client to fill in a form: its answer, as the protocol has it.
    pub async fn elicit(&self, params: Value) -> Result<Value, String> {
        let params: ElicitRequestParams = serde_json::from_value(params).map_err(|e| e.to_string())?;
        let asked = self.0.peer.create_elicitation_with_timeout(params, Some(ANSWER_WITHIN));
        answer(asked).await
    }

    /// Asks an older client's model.
    pub async fn sample(&self, params: Value) -> Result<Value, String> {
        let params: CreateMessageRequestParams = serde_json::from_value(params).map_err(|e| e.to_string())?;
        answer(self.0.peer.create_message(params)).await
    }

    /// Sends a line for the client's log: in the newer protocol only to clients that asked for it with this
    /// call.
    pub fn log<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let level = match (self.0.modern, self.0.log_level) {
                (false, _) => LoggingLevel::Info,
                (true, Some(level)) => level,
                (true, None) => return,
            };
            let line = LoggingMessageNotificationParam::new(level, json!(text)).with_logger("toolcrib");
            let _ = self.0.peer.notify_logging_message(line).await;
        })
    }
}

async fn answer<T: serde::Serialize, E: std::fmt::Display>(
    asked: impl Future<Output = Result<T, E>>,
) -> Result<Value, String> {
    let said = asked.await.map_err(|error| error.to_string())?;
    serde_json::to_value(said).map_err(|error| error.to_string())
}
