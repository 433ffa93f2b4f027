//! Gemini: `parametersJsonSchema` takes JSON Schema as it is; it excludes `parameters`.

use serde_json::{Value, json};

use super::ToolView;
use super::root::object_root;

pub(super) fn declarations(tools: &[ToolView]) -> Value {
    let declarations: Vec<Value> = tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": object_root(&tool.input_schema),
            })
        })
        .collect();
    json!({ "functionDeclarations": declarations })
}
