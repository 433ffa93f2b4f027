//! `todo_read`: the task list of the conversation.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcrib_core::{CallContext, Effects, Tool, ToolError, ToolSpec};

use crate::support::sessions::state_of;
use crate::todo_write::Output;

/// Shows the task list.
pub struct TodoRead;

/// Nothing is needed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

impl Tool for TodoRead {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("todo_read", "Read tasks", include_str!("description.md"))
            .example("the list", json!({}))
    }

    fn effects(&self, _input: &Input) -> Effects {
        Effects::none()
    }

    async fn run(&self, cx: &CallContext, _input: Input) -> Result<Output, ToolError> {
        Ok(Output::new(state_of(cx)?.todos()))
    }
}
