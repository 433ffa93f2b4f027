//! `stop_command`: ends a command in the background, or lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::{CallContext, Capabilities, Effects, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_process::{Entry, Table};

use crate::support::commands::{self, Status, exit_code, millis, seconds};
use crate::support::listing::counted;

/// Stops a command in the background.
pub struct StopCommand;

/// Which one.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Absent: list all.
    pub process_id: Option<String>,
}

/// A command of the session.
#[derive(Serialize)]
struct Listed {
    process_id: String,
    command: String,
    status: Status,
    exit_code: Option<i32>,
    duration_ms: u64,
}

impl Listed {
    fn of(entry: &Entry) -> Self {
        Self {
            process_id: entry.id.clone(),
            command: entry.command.trim_matches('`').to_owned(),
            status: Status::of(&entry.process),
            exit_code: exit_code(&entry.process),
            duration_ms: millis(&entry.process),
        }
    }
}

/// What was stopped, and what there is.
#[derive(Serialize)]
pub struct Output {
    stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_id: Option<String>,
    processes: Vec<Listed>,
}

impl Tool for StopCommand {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        // Only what this session has started can be stopped, so nobody needs to be asked.
        let capabilities =
            Capabilities { retryable: false, requires_engine: true, ..Capabilities::read_only() };
        ToolSpec::new("stop_command", "Stop command", include_str!("description.md"))
            .capabilities(capabilities)
            .example("stop one", json!({"process_id": "p1"}))
            .example("list all", json!({}))
    }

    fn effects(&self, _input: &Input) -> Effects {
        Effects::none()
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let mut stopped = false;
        if let Some(id) = &input.process_id {
            let entry = commands::find(cx, id)?;
            stopped = entry.process.end().is_none();
            entry.process.stop().await;
        }
        let all = cx.get::<Table>()?.of(&cx.session().id);
        Ok(Output { stopped, process_id: input.process_id, processes: all.iter().map(Listed::of).collect() })
    }
}

impl Render for Output {
    fn title(&self) -> String {
        match (&self.process_id, self.stopped) {
            (Some(id), true) => format!("Stopped {id}"),
            (Some(id), false) => format!("{id} had ended already"),
            (None, _) => counted(self.processes.len(), "command"),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let line = |listed: &Listed| {
            let how = match (listed.status, listed.exit_code) {
                (Status::Running, _) => "running".to_owned(),
                (Status::Exited, Some(code)) => format!("exit code {code}"),
                (Status::Exited, None) => "ended".to_owned(),
            };
            format!("{}  {how}  {}  {}", listed.process_id, seconds(listed.duration_ms), listed.command)
        };
        let lines: Vec<String> = self.processes.iter().map(line).collect();
        if lines.is_empty() {
            "no commands in this session".into()
        } else {
            format!("{}\n{}", self.title(), lines.join("\n"))
        }
    }
}
