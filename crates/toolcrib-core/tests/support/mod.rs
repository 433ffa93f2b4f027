//! A tool that does what a script says, for tests of the executor.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib_core::activity::Subscription;
use toolcrib_core::{
    CallContext, Capabilities, Effects, ErrorCode, Event, Executor, Registry, Render, RenderContext, Session,
    Tool, ToolError, ToolSpec,
};

/// What the tool does in one run.
#[derive(Clone, Debug)]
pub enum Step {
    /// Returns this text.
    Say(String),
    /// Waits, then returns this text.
    Slow(u64, &'static str),
    /// Fails.
    Fail(ErrorCode),
    /// Panics.
    Panic,
    /// Never ends, and does not look at the cancellation.
    Hang,
    /// Ends as soon as it is cancelled, reporting that it finished anyway.
    FinishWhenCancelled,
    /// Ends as soon as it is cancelled, with an error of its own.
    StopWhenCancelled,
}

/// How many runs of the tool are under way, and how many were at most.
#[derive(Default)]
pub struct Overlap {
    now: AtomicUsize,
    most: AtomicUsize,
    pub runs: AtomicUsize,
}

impl Overlap {
    pub fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

pub struct Scripted {
    pub name: &'static str,
    pub capabilities: Capabilities,
    pub steps: Mutex<VecDeque<Step>>,
    pub overlap: Arc<Overlap>,
}

impl Scripted {
    pub fn reading(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::new("scripted", Capabilities::read_only(), steps)
    }

    pub fn writing(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::new("scripted", Capabilities::writes(), steps)
    }

    pub fn new(
        name: &'static str,
        capabilities: Capabilities,
        steps: impl IntoIterator<Item = Step>,
    ) -> Self {
        Self { name, capabilities, steps: Mutex::new(steps.into_iter().collect()), overlap: Arc::default() }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The path to touch.
    pub path: Option<String>,
    /// A number, to have another type.
    pub count: Option<u32>,
}

#[derive(Serialize)]
pub struct Said {
    text: String,
}

impl Said {
    pub fn new(text: &str) -> Self {
        Self { text: text.into() }
    }
}

impl Render for Said {
    fn title(&self) -> String {
        "Said something".into()
    }
    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        self.text.clone()
    }
}

impl Tool for Scripted {
    type Input = Input;
    type Output = Said;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name, "Scripted", "Does what a script says.")
            .capabilities(self.capabilities)
            .timeout(Duration::from_secs(10))
            .example("touch a file", serde_json::json!({"path": "a.txt"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        let paths = input.path.iter().cloned();
        if self.capabilities.writes_files { Effects::writes(paths) } else { Effects::reads(paths) }
    }

    async fn run(&self, cx: &CallContext, _input: Input) -> Result<Said, ToolError> {
        self.overlap.runs.fetch_add(1, Ordering::SeqCst);
        let now = self.overlap.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.overlap.most.fetch_max(now, Ordering::SeqCst);
        let step = self.steps.lock().unwrap().pop_front().unwrap_or(Step::Say("done".into()));
        let result = perform(cx, step).await;
        self.overlap.now.fetch_sub(1, Ordering::SeqCst);
        result.map(|text| Said { text })
    }
}

async fn perform(cx: &CallContext, step: Step) -> Result<String, ToolError> {
    match step {
        Step::Say(text) => Ok(text),
        Step::Slow(ms, text) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(text.to_owned())
        }
        Step::Fail(code) => Err(ToolError::new(code, "as the script says")),
        Step::Panic => panic!("secret text of a panic"),
        Step::Hang => std::future::pending().await,
        Step::FinishWhenCancelled => {
            cx.cancellation().cancelled().await;
            Ok("finished".into())
        }
        Step::StopWhenCancelled => {
            cx.cancellation().cancelled().await;
            Err(ToolError::new(ErrorCode::Cancelled, "stopped").data(serde_json::json!({"so_far": 1})))
        }
    }
}

/// An executor with this tool, and everything that happens in it.
pub fn executor(tool: Scripted) -> (Executor, Subscription) {
    executor_with(tool, |builder| builder)
}

pub fn executor_with(
    tool: Scripted,
    more: impl FnOnce(toolcrib_core::executor::ExecutorBuilder) -> toolcrib_core::executor::ExecutorBuilder,
) -> (Executor, Subscription) {
    let registry = Arc::new(Registry::new());
    registry.register(tool).unwrap();
    let builder = Executor::builder(registry).policy_mode(toolcrib_core::PolicyMode::Full);
    let executor = more(builder).build().unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let events = executor.activity().subscribe_all();
    (executor, events)
}

pub fn session() -> Arc<Session> {
    Arc::new(Session::new("s"))
}

/// The types of all events that wait, in order.
pub fn drain(events: &mut Subscription) -> Vec<String> {
    std::iter::from_fn(|| events.try_next()).map(|event| type_of(&event)).collect()
}

pub fn type_of(event: &Event) -> String {
    serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned()
}

/// How many of the waiting events end a call.
pub fn terminals(types: &[String]) -> usize {
    types.iter().filter(|kind| *kind == "tool_call_end" || *kind == "error").count()
}
