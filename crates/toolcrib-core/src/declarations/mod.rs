//! Tools in the form each model API wants to be told about them.
//!
//! One file an API. All start from the same inlined schema; each applies the restrictions of its API, because an
//! unknown keyword is an error for the whole request and names neither tool nor keyword.

mod anthropic;
mod gemini;
mod gemini_legacy;
mod langchain;
mod lean;
mod mcp;
mod openai;
mod openai_strict;
mod root;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a declaration says about one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolView {
    /// Name the model calls.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// What the tool does, for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured result, where there is one.
    pub output_schema: Option<Value>,
    /// Changes nothing.
    pub read_only: bool,
    /// May overwrite or delete.
    pub destructive: bool,
    /// The same call twice has the effect of one.
    pub idempotent: bool,
    /// Reaches beyond this machine.
    pub open_world: bool,
}

/// A model API, or another reader of tool declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// Gemini, JSON Schema in `parametersJsonSchema`.
    Gemini,
    /// Gemini, the older OpenAPI subset in `parameters`.
    GeminiLegacy,
    /// OpenAI chat completions and everything compatible with it.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI chat completions with constrained arguments.
    #[serde(rename = "openai-strict")]
    OpenAiStrict,
    /// OpenAI responses, constrained where the schema allows it.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic messages.
    Anthropic,
    /// The answer to MCP's `tools/list`.
    Mcp,
    /// What LangChain's `bind_tools` takes.
    #[serde(rename = "langchain")]
    LangChain,
}

impl Format {
    /// Every format, in the order they are listed to people.
    pub const ALL: [Self; 8] = [
        Self::Gemini,
        Self::GeminiLegacy,
        Self::OpenAi,
        Self::OpenAiStrict,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Mcp,
        Self::LangChain,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::GeminiLegacy => "gemini-legacy",
            Self::OpenAi => "openai",
            Self::OpenAiStrict => "openai-strict",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Mcp => "mcp",
            Self::LangChain => "langchain",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.as_str().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|format| format.as_str()).collect();
            let name = crate::sanitize::visible_field(name, 40);
            format!("unknown format \"{name}\"; use one of {}", known.join(", "))
        })
    }
}

/// The declarations of `tools` for one API, in the order given: prompt caches depend on it.
#[must_use]
pub fn declarations(format: Format, tools: &[ToolView]) -> Value {
    let mut shown = tools.to_vec();
    // What is generated under constraints needs to be told all of them.
    if !matches!(format, Format::OpenAiStrict | Format::OpenAiResponses) {
        shown.iter_mut().for_each(|tool| lean::lean(&mut tool.input_schema));
    }
    let tools = shown.as_slice();
    match format {
        Format::Gemini => gemini::declarations(tools),
        Format::GeminiLegacy => gemini_legacy::declarations(tools),
        Format::OpenAi => openai::declarations(tools),
        Format::OpenAiStrict => openai_strict::chat(tools),
        Format::OpenAiResponses => openai_strict::responses(tools),
        Format::Anthropic => anthropic::declarations(tools),
        Format::Mcp => mcp::declarations(tools),
        Format::LangChain => langchain::declarations(tools),
    }
}

/// Whether an API takes this tool name; says what it would take if not.
///
/// # Errors
/// The rule that is broken, in words.
pub fn check_name(format: Format, name: &str) -> Result<(), String> {
    let (longest, extra, letter_first) = match format {
        Format::Gemini | Format::GeminiLegacy => (64, "_.-", true),
        // LangChain hands names on to any model behind it, so the narrowest rule holds.
        Format::OpenAi | Format::OpenAiStrict | Format::OpenAiResponses | Format::LangChain => {
            (64, "_-", false)
        }
        Format::Anthropic => (128, "_-", false),
        Format::Mcp => (128, "_.-", false),
    };
    let shown = crate::sanitize::visible_field(name, 80);
    if name.is_empty() || name.chars().count() > longest {
        return Err(format!("\"{shown}\" is no tool name for {format}: 1 to {longest} characters"));
    }
    if let Some(bad) = name.chars().find(|c| !c.is_ascii_alphanumeric() && !extra.contains(*c)) {
        let allowed = extra.chars().map(String::from).collect::<Vec<_>>().join(" ");
        return Err(format!(
            "\"{shown}\" is no tool name for {format}: {bad:?} is not a letter, a digit or one of {allowed}"
        ));
    }
    if letter_first && !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Err(format!("\"{shown}\" is no tool name for {format}: it starts with a letter or _"));
    }
    Ok(())
}

/// Adds to a description what a dropped keyword would have said.
fn note(object: &mut serde_json::Map<String, Value>, text: &str) {
    let own = object.get("description").and_then(Value::as_str).unwrap_or_default();
    let all = if own.is_empty() { text.to_owned() } else { format!("{own} ({text})") };
    object.insert("description".into(), Value::String(all));
}

/// Says the default in words, unless the description already does.
fn note_default(from: &serde_json::Map<String, Value>, into: &mut serde_json::Map<String, Value>) {
    let said = |text: &str| text.to_ascii_lowercase().contains("default");
    if let Some(default) = from.get("default").filter(|d| !d.is_null() && !d.is_array() && !d.is_object())
        && !into.get("description").and_then(Value::as_str).is_some_and(said)
    {
        note(into, &format!("default {default}"));
    }
}
