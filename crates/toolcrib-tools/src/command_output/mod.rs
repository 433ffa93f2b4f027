//! `command_output`: what a command in the background has printed since the last look.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};
use toolcrib_core::{CallContext, Capabilities, Effects, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_process::{Process, Stream};

use crate::support::commands::{self, Progress};

/// Output that has begun is waited for until it pauses for so long.
const PAUSE: Duration = Duration::from_millis(250);

/// Reads the new output of a command in the background.
pub struct CommandOutput;

/// Which one.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (Its `process_id`.)
    pub process_id: String,
    /// Seconds to wait.
    #[schemars(range(min = 0.0, max = 300.0))]
    pub wait: Option<f64>,
}

/// What is new.
#[derive(serde::Serialize)]
#[serde(transparent)]
pub struct Output(pub(crate) Progress);

impl Tool for CommandOutput {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        // Looking takes what it sees, so two looks are not one.
        let capabilities = Capabilities { idempotent: false, retryable: false, ..Capabilities::read_only() };
        ToolSpec::new("command_output", "Command output", include_str!("description.md"))
            .capabilities(Capabilities { requires_engine: true, ..capabilities })
            .timeout(Duration::from_secs(310))
            .example("wait for a server to start", json!({"process_id": "p1", "wait": 10}))
    }

    fn effects(&self, _input: &Input) -> Effects {
        Effects::none()
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let entry = commands::find(cx, &input.process_id)?;
        if let Some(seconds) = input.wait {
            settle(cx, &entry.process, Duration::from_secs_f64(seconds)).await;
        }
        Ok(Output(Progress::take(&entry)))
    }
}

/// Waits for output, and then for a pause in it; for the end; or for the time to be over.
pub(crate) async fn settle(cx: &CallContext, process: &Process, at_most: Duration) {
    let until = Instant::now() + at_most;
    let count = || process.total(Stream::Stdout) + process.total(Stream::Stderr);
    let seen = process.unread();
    let mut changes = process.changes();
    let mut begun = seen > 0;
    let mut last = count();
    while process.end().is_none() {
        let pause = async {
            match begun {
                true => sleep(PAUSE).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                begun = begun || count() > last;
                last = count();
            }
            () = pause => return,
            () = sleep_until(until) => return,
            () = cx.cancellation().cancelled() => return,
        }
    }
}

impl Render for Output {
    fn title(&self) -> String {
        self.0.title()
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        self.0.text()
    }
}
