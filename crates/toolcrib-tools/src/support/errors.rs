//! Errors of the workspace, as tools report them.

use serde_json::json;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{ErrorCode, Hint, ToolError};
use toolcrib_workspace::{Error, ErrorKind};

/// A workspace error as a tool error: its code, its path, and what would help.
pub(crate) fn tool_error(error: &Error) -> ToolError {
    let code = code_of(error.kind());
    let message = match error.path() {
        Some(path) => format!("{}: {}", visible_path(path), error.message()),
        None => error.message().to_owned(),
    };
    let mut converted = ToolError::new(code, message);
    if let Some(path) = error.path() {
        converted = converted.details(json!({"path": path, "near": error.near()}));
    }
    if error.path() == Some("journal") {
        return converted.suggest("The state directory (XDG_STATE_HOME) must be writable and have room; `toolcrib doctor` looks at it.");
    }
    match code {
        ErrorCode::FileNotFound if !error.near().is_empty() => {
            let near: Vec<_> = error.near().iter().map(|name| visible_path(name)).collect();
            converted.suggest(format!("Did you mean {}?", near.join(", ")))
        }
        ErrorCode::IsDirectory => {
            let path = error.path().unwrap_or(".").to_owned();
            converted.hint(Hint::new("to see what is in it", "list_directory", json!({"path": path})))
        }
        _ => converted,
    }
}

/// The code for a kind of workspace error.
pub(crate) fn code_of(kind: ErrorKind) -> ErrorCode {
    match kind {
        ErrorKind::NotFound => ErrorCode::FileNotFound,
        ErrorKind::IsDirectory => ErrorCode::IsDirectory,
        ErrorKind::NotADirectory => ErrorCode::NotADirectory,
        ErrorKind::NotAFile => ErrorCode::NotAFile,
        ErrorKind::OutsideWorkspace => ErrorCode::OutsideWorkspace,
        ErrorKind::Protected => ErrorCode::ProtectedPath,
        ErrorKind::ReadOnly => ErrorCode::ReadOnly,
        ErrorKind::InvalidPath => ErrorCode::InvalidPath,
        ErrorKind::AlreadyExists => ErrorCode::AlreadyExists,
        ErrorKind::Stale => ErrorCode::StaleFile,
        ErrorKind::Conflict | ErrorKind::Corrupt | ErrorKind::NewerVersion => ErrorCode::Conflict,
        ErrorKind::TooLarge => ErrorCode::LimitExceeded,
        ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        ErrorKind::NoSpace => ErrorCode::NoSpace,
        ErrorKind::InvalidPattern => ErrorCode::InvalidPattern,
        ErrorKind::Cancelled => ErrorCode::Cancelled,
        _ => ErrorCode::IoError,
    }
}
