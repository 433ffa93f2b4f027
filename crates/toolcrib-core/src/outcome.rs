//! What a call returns: text for the model, data for programs, a view for people. The field names are fixed API.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{ErrorCode, ErrorType, ToolError};

/// The result of one call, whatever happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The tool that ran, by its own name (not the profile's).
    pub tool: String,
    /// Its version.
    pub version: String,
    /// The call.
    pub call_id: String,
    /// Whether the tool did what was asked.
    pub success: bool,
    /// One line for a person.
    pub title: String,
    /// Text for the model.
    pub output: String,
    /// The tool's output, serialized.
    pub data: Value,
    /// A few lines for a person.
    pub preview: Vec<String>,
    /// Images and other binary parts.
    pub attachments: Vec<Attachment>,
    /// What went wrong, if anything.
    pub error: Option<ErrorInfo>,
    /// How the call went.
    pub metadata: Metadata,
}

/// A binary part of an outcome.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Attachment {
    /// Media type.
    pub mime: String,
    /// File name.
    pub name: String,
    /// The bytes.
    pub base64: String,
}

/// An error, as outcomes show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorInfo {
    /// The code from the table.
    pub code: ErrorCode,
    /// Its family.
    #[serde(rename = "type")]
    pub error_type: ErrorType,
    /// What went wrong.
    pub message: String,
    /// What to do next.
    pub suggestion: String,
    /// Whether trying again may help.
    pub retryable: bool,
    /// Facts for programs.
    pub details: Value,
}

impl From<&ToolError> for ErrorInfo {
    fn from(error: &ToolError) -> Self {
        Self {
            code: error.code,
            error_type: error.code.error_type(),
            message: error.message.clone(),
            suggestion: error.more.suggestion.clone().unwrap_or_else(|| error.code.suggestion().to_owned()),
            retryable: error.is_retryable(),
            details: error.more.details.clone(),
        }
    }
}

/// How a call went.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Metadata {
    /// Time in the tool, all attempts, in milliseconds.
    pub execution_time_ms: f64,
    /// How often the tool was run.
    pub attempts: u32,
    /// Bytes that the tool read from files.
    pub bytes_read: u64,
    /// Bytes that the tool wrote to files.
    pub bytes_written: u64,
    /// Files read or written, in order, each once.
    pub files_accessed: Vec<String>,
    /// Size of `output` in tokens.
    pub tokens: usize,
    /// True while `tokens` is an estimate, because nothing has needed the tokenizer yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_estimated: bool,
    /// Whether `output` was cut.
    pub truncated: bool,
    /// Where the whole of it is kept.
    pub spill: Option<String>,
    /// Whether `output` only names an earlier, equal outcome.
    pub deduplicated: bool,
    /// What the caller should know besides.
    pub warnings: Vec<String>,
}

/// A call that would continue or help. It is worded in the names of the profile in use, and left out where the tool
/// is not part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// What for: "to read on".
    pub why: String,
    /// The tool, by its own name.
    pub tool: &'static str,
    /// Its arguments, by their own names.
    pub arguments: Value,
    /// The same said otherwise, for profiles that do not show a parameter of `arguments`.
    pub otherwise: Option<Value>,
}

impl Hint {
    /// A call of `tool` with `arguments`, for `why`.
    pub fn new(why: impl Into<String>, tool: &'static str, arguments: Value) -> Self {
        Self { why: why.into(), tool, arguments, otherwise: None }
    }

    /// The same hint, with another way to say it.
    #[must_use]
    pub fn or(mut self, arguments: Value) -> Self {
        self.otherwise = Some(arguments);
        self
    }
}
