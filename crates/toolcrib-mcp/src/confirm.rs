//! Asking the person behind a client whether a call may be made.

use rmcp::ServiceError;
use rmcp::model::{ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest};
use serde_json::{Value, json};
use toolcrib_core::permission::{Answer, Approver, BoxFuture, ConfirmRequest, Grant, GrantScope};

use crate::client::{Client, Stop};
use crate::state::{ANSWER_WITHIN, Approved, State};

/// How much of a preview is shown in a question.
const PREVIEW_CHARS: usize = 4000;
/// How long the words for a standing yes may be.
const GRANT_BYTES: usize = 300;
/// The name of the question.
pub(crate) const QUESTION: &str = "confirm";

impl Approver for Client {
    fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            if self.is_modern() {
                self.confirm_by_ending(request).await
            } else {
                self.confirm_now(request).await
            }
        })
    }
}

impl Client {
    /// Whether there is anybody to ask.
    pub(crate) fn can_ask(&self) -> bool {
        self.0.capabilities.elicitation.is_some()
    }

    /// A yes reaches no further than was offered.
    fn yes(&self, request: &ConfirmRequest, session: bool) -> Answer {
        let session = session && lasting(request, self.0.keeps_session).is_some();
        let scope = if session { GrantScope::Session } else { GrantScope::Once };
        Answer::Approve { input_hash: request.input_hash.clone(), scope }
    }

    async fn confirm_now(&self, request: &ConfirmRequest) -> Answer {
        let Some(question) = question(request, self.0.keeps_session) else {
            return no("it could not be asked");
        };
        match self.0.peer.create_elicitation_with_timeout(question, Some(ANSWER_WITHIN)).await {
            Ok(result) => match said(&result) {
                Some(Said::Yes { session }) => self.yes(request, session),
                Some(Said::No) => Answer::Deny { reason: None },
                None => no("the answer was neither yes nor no"),
            },
            Err(ServiceError::Timeout { .. }) => no("nobody answered in time"),
            Err(error) => {
                tracing::warn!(%error, "the client could not ask");
                no("the client could not ask")
            }
        }
    }

    async fn confirm_by_ending(&self, request: &ConfirmRequest) -> Answer {
        let state = &self.0.state;
        if let Some(given) = state.approved.iter().find(|given| given.input_hash == request.input_hash) {
            return self.yes(request, given.session);
        }
        if self.0.declined.as_deref() == Some(&request.input_hash) {
            return Answer::Deny { reason: None };
        }
        let Some(question) = question(request, self.0.keeps_session) else {
            return no("it could not be asked");
        };
        let question = InputRequest::Elicitation(ElicitRequest::new(question));
        let state = State { asking: Some(request.input_hash.clone()), ..state.clone() };
        let requests = [(QUESTION.to_owned(), question)].into();
        self.end(Stop::Ask { requests, state: Some(state) }).await;
        no("the call ended")
    }
}

/// Takes the answer that came with a repeated call into the state; returns the input that was declined. An
/// answer that is neither is none: the question is put again.
pub(crate) fn take_answer(state: &mut State, answer: Option<&Value>) -> Option<String> {
    let asking = state.asking.take()?;
    let result: ElicitResult = serde_json::from_value(answer?.clone()).ok()?;
    match said(&result)? {
        Said::Yes { session } => {
            state.approved.push(Approved { input_hash: asking, session });
            None
        }
        Said::No => Some(asking),
    }
}

enum Said {
    Yes { session: bool },
    No,
}

fn said(result: &ElicitResult) -> Option<Said> {
    let field = |name: &str| result.content.as_ref().and_then(|content| content.get(name)?.as_bool());
    match result.action {
        ElicitationAction::Accept if field("confirm")? => {
            Some(Said::Yes { session: field("for_session").unwrap_or(false) })
        }
        ElicitationAction::Accept | ElicitationAction::Decline | ElicitationAction::Cancel => Some(Said::No),
        _ => None,
    }
}

fn no(reason: &str) -> Answer {
    Answer::Deny { reason: Some(reason.to_owned()) }
}

/// As much of the preview as is shown, and whether that is all.
fn shown(request: &ConfirmRequest) -> (&str, bool) {
    match request.preview.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => (request.preview.get(..end).unwrap_or_default(), false),
        None => (&request.preview, true),
    }
}

/// What a yes for the rest of the session would cover. What could not be shown as a whole is not answered for
/// good.
fn lasting(request: &ConfirmRequest, keeps_session: bool) -> Option<String> {
    let may = keeps_session && shown(request).1 && request.scopes.contains(&GrantScope::Session);
    let covers = request.grant.as_ref().filter(|_| may).map(Grant::describe)?;
    (covers.len() <= GRANT_BYTES).then_some(covers)
}

/// The form: one yes or no, and whether it holds for the session where that can be.
fn question(request: &ConfirmRequest, keeps_session: bool) -> Option<ElicitRequestParams> {
    let mut message = format!("{}\n{}", request.title, request.reason);
    let (preview, whole) = shown(request);
    if !preview.is_empty() {
        message.push_str(&format!("\n\n{preview}{}", if whole { "" } else { "\n…" }));
    }
    let mut properties = json!({"confirm": {"type": "boolean", "title": "Allow this call?"}});
    if let (Some(covers), Some(fields)) = (lasting(request, keeps_session), properties.as_object_mut()) {
        let title = format!("Also for the rest of the session: {covers}");
        fields.insert("for_session".into(), json!({"type": "boolean", "title": title, "default": false}));
    }
    let schema = json!({"type": "object", "properties": properties, "required": ["confirm"]});
    let requested_schema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}
