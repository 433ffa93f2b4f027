//! MCP: the result of `tools/list`.
//!
//! All four hints are always written: a client that finds one missing has to assume the worst (destructive, open).

use serde_json::{Value, json};

use super::ToolView;
use crate::schema::inline_refs;

pub(super) fn declarations(tools: &[ToolView]) -> Value {
    json!({ "tools": tools.iter().map(tool).collect::<Value>() })
}

fn tool(tool: &ToolView) -> Value {
    let mut schema = plain(&tool.input_schema);
    if let Some(object) = schema.as_object_mut() {
        object.entry("type").or_insert_with(|| json!("object"));
    }
    let mut out = json!({ "name": tool.name });
    if let Some(object) = out.as_object_mut() {
        object.insert("title".into(), json!(tool.title));
        object.insert("description".into(), json!(tool.description));
        object.insert("inputSchema".into(), schema);
        if let Some(output) = &tool.output_schema {
            object.insert("outputSchema".into(), plain(output));
        }
        let hints = json!({
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": tool.open_world,
        });
        object.insert("annotations".into(), hints);
    }
    out
}

/// Without references, which clients stumble over. A schema that names its dialect was written with care for readers
/// of that dialect, and is passed on as it stands.
fn plain(schema: &Value) -> Value {
    if schema.get("$schema").is_some() { schema.clone() } else { inline_refs(schema) }
}
