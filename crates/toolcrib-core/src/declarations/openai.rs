//! OpenAI chat completions without constrained arguments; the form most compatible servers take.

use serde_json::{Value, json};

use super::ToolView;
use super::root::object_root;

pub(super) fn declarations(tools: &[ToolView]) -> Value {
    tools
        .iter()
        .map(|tool| {
            json!({
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": object_root(&tool.input_schema),
                },
            })
        })
        .collect()
}
