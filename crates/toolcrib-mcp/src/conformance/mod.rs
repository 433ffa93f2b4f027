//! The fixtures of the official conformance suite, as one more tool pack.
//!
//! The suite wants tools, prompts and resources of its own. They are data (`tools.json`, `others.json`) and
//! are called like every other tool, through registry and executor, so that what the suite tests is the real
//! path. Off by default.

mod others;

use std::sync::{Arc, OnceLock, Weak};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolcrib_core::outcome::Attachment;
use toolcrib_core::permission::BoxFuture;
use toolcrib_core::registry::RegisterError;
use toolcrib_core::tool::{BoundCall, DynTool, ToolOutput, Violations};
use toolcrib_core::{
    CallContext, Effects, ErrorCode, Mode, Preview, Registry, Render, RenderContext, ToolError, ToolSpec,
};

use crate::changes::Changes;
use crate::client::Client;

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// The pack: its prompts and resources, and what its tools change.
#[derive(Clone)]
pub struct Pack {
    others: Arc<others::Others>,
    changes: Arc<OnceLock<Changes>>,
}

fn load<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, RegisterError> {
    let text = text.replace("@PNG@", PNG).replace("@WAV@", WAV);
    serde_json::from_str(&text).map_err(|error| RegisterError::BadSpec(error.to_string()))
}

impl Pack {
    /// Adds the pack's tools to the registry.
    pub fn register(registry: &Arc<Registry>) -> Result<Self, RegisterError> {
        let changes = Arc::new(OnceLock::new());
        for fixture in load::<Vec<Fixture>>(include_str!("tools.json"))? {
            let registry_of = Arc::downgrade(registry);
            registry.register_dyn(tool(fixture, registry_of, Arc::clone(&changes)))?;
        }
        Ok(Self { others: Arc::new(load(include_str!("others.json"))?), changes })
    }

    pub(crate) fn announce_with(&self, changes: &Changes) {
        let _ = self.changes.set(changes.clone());
    }

    pub(crate) fn subscribe(&self, uri: &str) -> Result<(), ErrorData> {
        if self.read(uri).is_some() {
            Ok(())
        } else {
            Err(ErrorData::resource_not_found("no such resource", None))
        }
    }
}

/// One tool, as data.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fixture {
    name: String,
    input_schema: Option<Value>,
    /// A capability that the client must have.
    needs: Option<String>,
    /// The list that it changes.
    changes: Option<String>,
    log: Vec<String>,
    progress: Vec<(u64, u64, String)>,
    elicit: Option<Value>,
    sample: Option<Value>,
    /// What the client is asked, round by round.
    rounds: Vec<Map<String, Value>>,
    keeps_state: bool,
    /// Asks only what the client says it can answer.
    only_declared: bool,
    /// `{/pointer}` stands for a part of the arguments, the answers or the reply.
    text: String,
    error: Option<String>,
    attachments: Vec<Part>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Part {
    mime: String,
    name: String,
    text: Option<String>,
    base64: String,
}

struct FixtureTool {
    fixture: Fixture,
    spec: ToolSpec,
    registry: Weak<Registry>,
    changes: Arc<OnceLock<Changes>>,
}

fn tool(fixture: Fixture, registry: Weak<Registry>, changes: Arc<OnceLock<Changes>>) -> Arc<dyn DynTool> {
    let about = format!("A fixture of the MCP conformance suite: {}.", fixture.name.replace('_', " "));
    let mut spec = ToolSpec::new(&fixture.name, &fixture.name, about).modes(&[Mode::Mcp]);
    spec.input_schema =
        fixture.input_schema.clone().unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    Arc::new(FixtureTool { fixture, spec, registry, changes })
}

impl DynTool for FixtureTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn bind(self: Arc<Self>, input: Value) -> Result<Box<dyn BoundCall>, Violations> {
        Ok(Box::new(Bound { tool: self, input }))
    }
}

struct Bound {
    tool: Arc<FixtureTool>,
    input: Value,
}

impl BoundCall for Bound {
    fn effects(&self) -> Effects {
        Effects::none()
    }

    fn preview<'a>(&'a self, _cx: &'a CallContext) -> BoxFuture<'a, Result<Preview, ToolError>> {
        Box::pin(async { Ok(Preview::default()) })
    }

    fn run<'a>(self: Box<Self>, cx: &'a CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let client = cx.get::<Client>()?;
            let fixture = &self.tool.fixture;
            let reply = self.tool.act(cx, &client, &self.input).await?;
            if let Some(error) = &fixture.error {
                return Err(ToolError::new(ErrorCode::Conflict, error));
            }
            let known = json!({"arguments": self.input, "answers": client.answers(), "reply": reply});
            let view = Shown { text: filled(&fixture.text, &known), parts: fixture.attachments.clone() };
            Ok(ToolOutput { data: Value::Null, view: Box::new(view) })
        })
    }
}

impl FixtureTool {
    /// Everything that a fixture does before it answers; returns the client's reply to a request of its own.
    async fn act(&self, cx: &CallContext, client: &Client, input: &Value) -> Result<Value, ToolError> {
        let fixture = &self.fixture;
        if let Some(needed) = &fixture.needs
            && client.capabilities().get(needed).is_none()
        {
            client.end_for_missing(json!({needed: {}})).await;
        }
        match fixture.changes.as_deref() {
            Some("tools") => self.change_tools(),
            Some(_) => self.changes.get().map(Changes::prompts_changed).unwrap_or_default(),
            None => {}
        }
        for line in &fixture.log {
            client.log(line).await;
        }
        for (done, total, message) in &fixture.progress {
            cx.progress(message, Some(*done), Some(*total));
        }
        self.ask(client).await;
        let known = json!({"arguments": input});
        let failed = |why: String| ToolError::new(ErrorCode::Conflict, why);
        match (&fixture.elicit, &fixture.sample) {
            (Some(params), _) => client.elicit(filled_value(params, &known)).await.map_err(failed),
            (None, Some(params)) => client.sample(filled_value(params, &known)).await.map_err(failed),
            (None, None) => Ok(Value::Null),
        }
    }

    /// Really changes the list: a tool comes and goes.
    fn change_tools(&self) {
        let Some(registry) = self.registry.upgrade() else { return };
        let fleeting = Fixture { name: "test_fleeting_tool".into(), ..Fixture::default() };
        let fleeting = tool(fleeting, Weak::clone(&self.registry), Arc::clone(&self.changes));
        if registry.register_dyn(fleeting).is_ok() {
            registry.unregister("test_fleeting_tool");
        }
    }

    /// Ends the call with the questions of the round that is due, if one is.
    async fn ask(&self, client: &Client) {
        let Fixture { rounds, keeps_state, only_declared, .. } = &self.fixture;
        let answers = client.answers();
        let answered = |round: &Map<String, Value>| {
            round.keys().all(|key| answers.get(key).is_some_and(Value::is_object))
        };
        let asked = client.kept().as_u64().and_then(|round| usize::try_from(round).ok()).unwrap_or(0);
        let due = match (keeps_state, asked) {
            (true, 0) => 0,
            (true, asked) if rounds.get(asked - 1).is_some_and(answered) => asked,
            (true, asked) => asked - 1,
            (false, _) => usize::from(rounds.first().is_some_and(answered)),
        };
        let Some(round) = rounds.get(due) else { return };
        let mut questions: Map<String, Value> =
            round.iter().map(|(key, short)| (key.clone(), question(short))).collect();
        if *only_declared {
            if answers.as_object().is_some_and(|answers| !answers.is_empty()) {
                return;
            }
            let can = client.capabilities();
            questions.retain(|_, question| can.get(capability(question)).is_some());
            if questions.is_empty() {
                return;
            }
        }
        let keep = if *keeps_state { json!(due + 1) } else { Value::Null };
        client.ask_and_end(Value::Object(questions), keep).await;
    }
}

/// A question in the protocol's form.
fn question(short: &Value) -> Value {
    let text = |name: &str| short.get(name).and_then(Value::as_str);
    if let (Some(message), Some(field)) = (text("ask"), text("field")) {
        let kind = text("type").unwrap_or("string");
        let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        return json!({"method": "elicitation/create", "params": params});
    }
    if let Some(prompt) = text("sample") {
        let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
        let params = json!({"messages": [message], "maxTokens": 100});
        return json!({"method": "sampling/createMessage", "params": params});
    }
    json!({"method": "roots/list"})
}

fn capability(question: &Value) -> &'static str {
    match question.get("method").and_then(Value::as_str) {
        Some("elicitation/create") => "elicitation",
        Some("sampling/createMessage") => "sampling",
        _ => "roots",
    }
}

/// `text` with every `{/pointer}` replaced.
fn filled(text: &str, known: &Value) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{/") {
        out.push_str(before);
        let (pointer, after) = after.split_once('}').unwrap_or((after, ""));
        match known.pointer(&format!("/{pointer}")) {
            Some(Value::String(text)) => out.push_str(text),
            Some(value) => out.push_str(&value.to_string()),
            None => {}
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn filled_value(value: &Value, known: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(filled(text, known)),
        Value::Array(items) => items.iter().map(|item| filled_value(item, known)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), filled_value(value, known))).collect()
        }
        other => other.clone(),
    }
}

struct Shown {
    text: String,
    parts: Vec<Part>,
}

impl Render for Shown {
    fn title(&self) -> String {
        "A conformance fixture".into()
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        self.text.clone()
    }

    fn attachments(&self) -> Vec<Attachment> {
        let attachment = |part: &Part| Attachment {
            mime: part.mime.clone(),
            name: part.name.clone(),
            base64: part.text.as_ref().map_or_else(|| part.base64.clone(), |text| STANDARD.encode(text)),
        };
        self.parts.iter().map(attachment).collect()
    }
}
