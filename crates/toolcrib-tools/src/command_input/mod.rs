//! `command_input`: types into a command in the background.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcrib_core::sanitize::visible_field;
use toolcrib_core::{
    CallContext, Capabilities, CommandEffect, Effects, ErrorCode, Judgement, Preview, Tool, ToolError,
    ToolSpec,
};
use toolcrib_process::shell;
use toolcrib_workspace::ReadWorkspace;

use crate::command_output::{Output, settle};
use crate::support::commands::surroundings;
use crate::support::commands::{self, Progress, effects_of};

/// How long the answer is waited for.
const ANSWER: Duration = Duration::from_secs(1);

/// Gives input to a command in the background.
pub struct CommandInput {
    workspace: ReadWorkspace,
}

impl CommandInput {
    /// In this workspace, by whose roots input is judged.
    pub fn new(workspace: ReadWorkspace) -> Self {
        Self { workspace }
    }
}

/// What to type, and where.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (Its `process_id`.)
    pub process_id: String,
    /// (The text.)
    pub input: String,
    /// Then close stdin.
    pub eof: Option<bool>,
}

impl Tool for CommandInput {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("command_input", "Command input", include_str!("description.md"))
            .capabilities(Capabilities::executes())
            .example("answer a question", json!({"process_id": "p1", "input": "y\n"}))
    }

    /// What is typed into a shell is run by it, so it is judged as a command would be. To other programs it may mean
    /// anything; the person who let the program run is asked once for its input.
    fn effects(&self, input: &Input) -> Effects {
        let judged = effects_of(&shell::analyse(&input.input, &surroundings(&self.workspace, None)));
        let forbidden = judged.into_iter().find(|effect| matches!(effect.judgement, Judgement::Forbidden(_)));
        let judgement = forbidden.map_or(Judgement::Plain, |effect| effect.judgement);
        let text = format!("input to {}: {}", input.process_id, visible_field(&input.input, 200));
        let words = vec!["command_input".to_owned(), input.process_id.clone()];
        Effects {
            commands: vec![CommandEffect { text, words, prefix: 2, bare: true, judgement }],
            ..Effects::none()
        }
    }

    async fn preview(&self, cx: &CallContext, input: &Input) -> Result<Preview, ToolError> {
        let entry = commands::find(cx, &input.process_id)?;
        Ok(Preview {
            title: format!("would type into {} ({})", entry.id, entry.command),
            text: input.input.clone(),
        })
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let entry = commands::find(cx, &input.process_id)?;
        if entry.process.end().is_some() {
            return Err(ToolError::new(ErrorCode::Conflict, format!("{} has ended", entry.id))
                .suggest("Read what it printed with command_output, or start it again with run_command."));
        }
        let given = entry.process.input(input.input.as_bytes(), input.eof == Some(true)).await;
        given.map_err(|error| {
            ToolError::new(ErrorCode::Conflict, format!("{} did not take the input: {error}", entry.id))
        })?;
        settle(cx, &entry.process, ANSWER).await;
        Ok(Output(Progress::take(&entry)))
    }
}
