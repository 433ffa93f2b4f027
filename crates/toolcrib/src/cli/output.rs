//! What is printed: one JSON object, or text for a person with colour on a terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde_json::{Value, json};
use toolcrib::ErrorCode;
use toolcrib_core::sanitize;

/// Why there is no outcome: wrong usage, or nothing to work on.
pub(crate) struct Failure {
    code: ErrorCode,
    message: String,
    suggestion: String,
}

impl Failure {
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::ValidationError,
            message: message.into(),
            suggestion: "See `toolcrib --help`.".into(),
        }
    }

    /// An error of the operating system about `what`.
    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        let error = toolcrib_workspace::Error::from_io(error, what);
        let code = if error.kind() == toolcrib_workspace::ErrorKind::NotFound {
            ErrorCode::FileNotFound
        } else {
            ErrorCode::IoError
        };
        Self::usage(error.to_string()).code(code)
    }

    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = suggestion.into();
        self
    }

    pub(crate) fn code(mut self, code: ErrorCode) -> Self {
        self.code = code;
        self
    }
}

/// Where answers go.
pub(crate) struct Output {
    json: bool,
    colour: bool,
    failed: Cell<bool>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        let colour =
            io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { json, colour, failed: Cell::new(false) }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a value in JSON, or the text for a person.
    pub(crate) fn print(&self, value: &Value, text: impl FnOnce(&Self) -> String) {
        if self.json {
            self.line(&value.to_string());
        } else {
            self.line(text(self).trim_end_matches('\n'));
        }
    }

    /// Prints a line to stdout. A reader that went away is no error of ours.
    pub(crate) fn line(&self, text: &str) {
        let mut stdout = io::stdout().lock();
        let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        if written.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe) {
            self.failed.set(true);
        }
    }

    /// Whether an answer could not be written.
    pub(crate) fn failed(&self) -> bool {
        self.failed.get()
    }

    /// Prints a line to stderr.
    pub(crate) fn note(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Says what went wrong before any tool was called.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        let message = sanitize::visible(&failure.message);
        if self.json {
            self.line(
                &json!({"success": false, "error": {
                    "code": failure.code, "type": failure.code.error_type(), "message": message,
                    "suggestion": failure.suggestion, "retryable": false, "details": null,
                }})
                .to_string(),
            );
        } else {
            self.note(&format!("toolcrib: {message}\n{}", failure.suggestion));
        }
        ExitCode::from(2)
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.styled(text, "1")
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.styled(text, "2")
    }

    pub(crate) fn green(&self, text: &str) -> String {
        self.styled(text, "32")
    }

    pub(crate) fn red(&self, text: &str) -> String {
        self.styled(text, "31")
    }

    pub(crate) fn yellow(&self, text: &str) -> String {
        self.styled(text, "33")
    }

    fn styled(&self, text: &str, style: &str) -> String {
        if self.colour { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A diff with colours.
    pub(crate) fn coloured_diff(&self, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let line = |line: &str| match line.as_bytes() {
            [b'+', ..] => self.green(line),
            [b'-', ..] => self.red(line),
            [b'@', b'@', ..] => self.dim(line),
            _ => line.to_owned(),
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}
