//! LangChain: a list for `bind_tools`.
//!
//! `convert_to_openai_tool` takes OpenAI functions, Anthropic tools and titled JSON Schemas. The first is the one form
//! that Python and JavaScript both pass on untouched and that every provider package converts from; a
//! `StructuredTool` is built from the same entry (`name`, `description`, `args_schema=parameters`). `strict` stays out:
//! LangChain raises an error when it disagrees with the argument given to `bind_tools`.

use serde_json::Value;

use super::{ToolView, openai};

pub(super) fn declarations(tools: &[ToolView]) -> Value {
    openai::declarations(tools)
}
