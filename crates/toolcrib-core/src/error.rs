//! Every error a call can end with: one table of codes, and the error value that tools return.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::outcome::Hint;

/// The family of an error: who can do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// The arguments are wrong.
    ValidationError,
    /// The request makes no sense in this world (no such file, no match).
    UserError,
    /// The machine or Toolcrib failed.
    SystemError,
    /// Not permitted here and now; a person could permit it.
    PermissionError,
    /// Never permitted.
    SecurityError,
}

macro_rules! error_table {
    ($($variant:ident $code:literal $kind:ident $retryable:literal $suggestion:literal;)*) => {
        /// What went wrong. The codes are stable API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $suggestion] #[serde(rename = $code)] $variant,)*
        }

        impl ErrorCode {
            /// Every code there is.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The code as it is written in outcomes.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// The family it belongs to.
            pub fn error_type(self) -> ErrorType {
                match self { $(Self::$variant => ErrorType::$kind,)* }
            }

            /// Whether the same call may succeed if it is simply tried again.
            pub fn retryable(self) -> bool {
                match self { $(Self::$variant => $retryable,)* }
            }

            /// What to do when the error has nothing better to say.
            pub fn suggestion(self) -> &'static str {
                match self { $(Self::$variant => $suggestion,)* }
            }
        }
    };
}

error_table! {
    ToolNotFound "TOOL_NOT_FOUND" ValidationError false "Use one of the tools that are listed.";
    ValidationError "VALIDATION_ERROR" ValidationError false "Correct the arguments and call again.";
    FileNotFound "FILE_NOT_FOUND" UserError false "Check the path; list the directory to see what is there.";
    IsDirectory "IS_DIRECTORY" UserError false "Give the path of a file, or list the directory.";
    NotADirectory "NOT_A_DIRECTORY" UserError false "A part of the path is a file: give a path whose folders are folders.";
    NotAFile "NOT_A_FILE" UserError false "Only regular files can be used; this is a device, FIFO or socket.";
    BinaryFile "BINARY_FILE" UserError false "Binary files cannot be shown or edited as text.";
    AlreadyExists "ALREADY_EXISTS" UserError false "Choose another path, or change the existing file.";
    StaleFile "STALE_FILE" UserError false "Read the file again, then repeat the change on what is there now.";
    NotRead "NOT_READ" UserError false "Read the file first, then call again.";
    NoMatch "NO_MATCH" UserError false "Read the file again and copy the text exactly as it is there.";
    AmbiguousMatch "AMBIGUOUS_MATCH" UserError false "Add surrounding lines until the text is unique, or give near_line.";
    NotLossless "NOT_LOSSLESS" UserError false "This file's encoding cannot hold that text; nothing was written.";
    OutsideWorkspace "OUTSIDE_WORKSPACE" SecurityError false "Use a path inside the workspace.";
    ProtectedPath "PROTECTED_PATH" SecurityError false "This path is protected; leave it to a person.";
    InvalidPath "INVALID_PATH" ValidationError false "Use an ordinary path relative to the workspace.";
    PermissionDenied "PERMISSION_DENIED" PermissionError false "Do without it, or ask the person to permit it.";
    CommandDenied "COMMAND_DENIED" PermissionError false "Do without this command, or ask the person to run it.";
    CommandFailed "COMMAND_FAILED" UserError false "Check that the program exists and can be started.";
    Timeout "TIMEOUT" SystemError true "Ask for less at once, or allow more time.";
    Cancelled "CANCELLED" UserError false "The call was cancelled; repeat it only if it is still wanted.";
    ProcessNotFound "PROCESS_NOT_FOUND" UserError false "Use the id of a command that runs in the background.";
    EngineNotAvailable "ENGINE_NOT_AVAILABLE" SystemError false "This tool cannot work here; use another one.";
    SymbolNotFound "SYMBOL_NOT_FOUND" UserError false "Check the spelling, or search for the name.";
    AmbiguousSymbol "AMBIGUOUS_SYMBOL" UserError false "Say which one is meant by file and line.";
    InvalidPattern "INVALID_PATTERN" ValidationError false "Correct the pattern and call again.";
    LimitExceeded "LIMIT_EXCEEDED" UserError false "Ask for less: a narrower path, a smaller range or fewer items.";
    FetchBlocked "FETCH_BLOCKED" SecurityError false "This address may not be fetched.";
    Conflict "CONFLICT" UserError false "Look at the current state, then decide again.";
    NoSpace "NO_SPACE" SystemError false "Free some disk space, then call again.";
    ReadOnly "READ_ONLY" PermissionError false "This part of the workspace can only be read.";
    IoError "IO_ERROR" SystemError true "Call again; if it fails again, the disk or its permissions need a look.";
    Internal "INTERNAL" SystemError false "This is a defect in the tool; use another way.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a tool fails: a code from the table, a message for the model, and what may help.
#[derive(Debug)]
pub struct ToolError {
    /// What went wrong.
    pub code: ErrorCode,
    /// What went wrong here, in words that the caller can act on.
    pub message: String,
    /// What else there is to say.
    pub more: Box<More>,
}

/// What an error may say besides its code and message.
#[derive(Debug, Default)]
pub struct More {
    /// What to do next; the table's suggestion if there is none.
    pub suggestion: Option<String>,
    /// A call that would help.
    pub hint: Option<Hint>,
    /// Facts for programs.
    pub details: Value,
    /// What the tool has to show all the same (the output of a command that timed out).
    pub data: Option<Value>,
    /// Whether trying again may help; by default the table decides.
    pub retryable: Option<bool>,
}

impl ToolError {
    /// An error with this code and message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), more: Box::default() }
    }

    /// A defect of ours. `source` goes to the log, not to the model.
    pub fn internal(source: impl fmt::Display) -> Self {
        tracing::error!(error = %source, "internal error in a tool");
        Self::new(ErrorCode::Internal, "the tool failed in a way it should not have")
    }

    /// The same error, saying what to do next.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.more.suggestion = Some(suggestion.into());
        self
    }

    /// The same error, with a call that would help.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        self.more.hint = Some(hint);
        self
    }

    /// The same error, with facts for programs.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.more.details = details;
        self
    }

    /// The same error, with what the tool has to show all the same.
    #[must_use]
    pub fn data(mut self, data: Value) -> Self {
        self.more.data = Some(data);
        self
    }

    /// The same error, stating whether trying again may help.
    #[must_use]
    pub fn retry(mut self, retryable: bool) -> Self {
        self.more.retryable = Some(retryable);
        self
    }

    /// Whether trying again may help.
    pub fn is_retryable(&self) -> bool {
        self.more.retryable.unwrap_or_else(|| self.code.retryable())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ToolError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_says_what_to_do() {
        for code in ErrorCode::ALL {
            assert!(code.suggestion().ends_with('.'), "{code}");
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
