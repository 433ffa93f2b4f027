//! Anthropic messages: `input_schema` is an object at its root, without a union beside it.

use serde_json::{Value, json};

use super::ToolView;
use super::root::object_root;

pub(super) fn declarations(tools: &[ToolView]) -> Value {
    tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "input_schema": object_root(&tool.input_schema),
            })
        })
        .collect()
}
