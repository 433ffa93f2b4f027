//! One `tools/call`, through the executor.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, InputRequiredResult, ProtocolVersion,
    RequestMetaObject,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::mpsc;
use toolcrib_core::permission::Approver;
use toolcrib_core::{CallRequest, Mode, Services, Session};

use crate::client::{Client, Link, Stop};
use crate::confirm::{QUESTION, take_answer};
use crate::content;
use crate::progress::Reporter;
use crate::server::Shared;
use crate::state::{State, bound_to};

/// Whether a request is of the protocol without sessions.
pub(crate) fn is_modern(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// A call to be made, and the conversation it is part of.
pub(crate) struct Incoming {
    pub(crate) session: Arc<Session>,
    /// Whether there will be a next call of the same conversation.
    pub(crate) keeps_session: bool,
    pub(crate) request: CallToolRequestParams,
    pub(crate) cx: RequestContext<RoleServer>,
}

pub(crate) async fn call(shared: &Shared, incoming: Incoming) -> Result<CallToolResponse, ErrorData> {
    let Incoming { session, keeps_session, request, cx } = incoming;
    let name = request.name.into_owned();
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    let bound = bound_to(&session.id, &name, &arguments);
    let state = opened(shared, request.request_state.as_deref(), &bound)?;
    let answers = request.input_responses.unwrap_or_default();
    let (stop, mut stops) = mpsc::unbounded_channel();
    let client = client(&cx, state, answers, keeps_session, stop);

    let profile = shared.executor.profile();
    let tool = profile.get(&name).filter(|tool| tool.tool.spec().modes.contains(&Mode::Mcp));
    let declares_data = tool.map(|tool| tool.tool.spec().output_schema.is_some());
    let call_id = format!("mcp_{:016x}", call_number());
    // Where a model's turn begins and ends is not known; what is undone by turn is then one call.
    session.next_turn();
    let approver = client.can_ask().then(|| Arc::new(client.clone()) as Arc<dyn Approver>);
    let made = CallRequest {
        mode: Mode::Mcp,
        call_id: Some(call_id.clone()),
        cancel: cx.ct.clone(),
        approver,
        services: Some(Arc::new(Services::new().with(client))),
        ..CallRequest::new(&session, name, arguments)
    };
    let mut route = None;
    let mut reporter = None;
    if let Some(token) = cx.meta.get_progress_token() {
        route = Some(shared.progress.open(&call_id));
        reporter = Some(Reporter::new(cx.peer.clone(), token));
    }
    let mut running = std::pin::pin!(shared.executor.call(made));
    let outcome = loop {
        let step = async {
            match &mut route {
                Some(route) => route.steps.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(step) = step => if let Some(reporter) = &mut reporter { reporter.tell(step).await },
            Some(stop) = stops.recv() => return stopped(shared, stop, &bound),
            outcome = &mut running => break outcome,
        }
    };
    if let (Some(route), Some(reporter)) = (&mut route, &mut reporter) {
        while let Ok(step) = route.steps.try_recv() {
            reporter.tell(step).await;
        }
    }
    match declares_data {
        Some(declares_data) => Ok(content::result(outcome, declares_data).into()),
        // Not a failed call but a request for what is not there; the text names what is.
        None => Err(ErrorData::invalid_params(outcome.output, None)),
    }
}

fn opened(shared: &Shared, sealed: Option<&str>, bound: &[u8]) -> Result<State, ErrorData> {
    match sealed {
        None => Ok(State::default()),
        Some(sealed) => shared.states.open(sealed, bound).map_err(|why| ErrorData::invalid_params(why, None)),
    }
}

/// The client of a request, with the answers that it brings.
pub(crate) fn client(
    cx: &RequestContext<RoleServer>,
    mut state: State,
    answers: rmcp::model::InputResponses,
    keeps_session: bool,
    stop: mpsc::UnboundedSender<Stop>,
) -> Client {
    let declined = take_answer(&mut state, answers.get(QUESTION));
    Client(Arc::new(Link {
        peer: cx.peer.clone(),
        capabilities: cx.client_capabilities().unwrap_or_default(),
        modern: is_modern(cx),
        keeps_session,
        answers,
        state,
        declined,
        log_level: log_level(&cx.meta),
        stop,
    }))
}

#[allow(deprecated, reason = "logging is on its way out of the protocol")]
fn log_level(meta: &RequestMetaObject) -> Option<rmcp::model::LoggingLevel> {
    meta.log_level()
}

fn stopped(shared: &Shared, stop: Stop, bound: &[u8]) -> Result<CallToolResponse, ErrorData> {
    match stop {
        Stop::Fail(error) => Err(error),
        Stop::Ask { requests, state } => {
            let sealed =
                match state {
                    None => None,
                    Some(state) => Some(shared.states.seal(state, bound).ok_or_else(|| {
                        ErrorData::internal_error("the question could not be sealed", None)
                    })?),
                };
            Ok(InputRequiredResult::new(Some(requests), sealed).into())
        }
    }
}

fn call_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
