//! Paths that a caller gives, as the index of the code knows them.

use serde_json::json;
use toolcrib_code::facts::Skipped;
use toolcrib_code::index::Content;
use toolcrib_code::lang::Language;
use toolcrib_code::resolve::Program;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{ErrorCode, Hint, ToolError};
use toolcrib_workspace::ReadWorkspace;
use toolcrib_workspace::fs::directory::EntryKind;

use super::errors::tool_error;

/// The path as the index knows it, and what is there; none for the whole workspace.
pub(crate) fn place(
    workspace: &ReadWorkspace,
    path: Option<&str>,
) -> Result<Option<(String, EntryKind)>, ToolError> {
    let Some(path) = path else { return Ok(None) };
    let stat = workspace.stat(path).map_err(|error| tool_error(&error))?;
    let whole = matches!(stat.path.as_str(), "." | "");
    Ok((!whole).then_some((stat.path, stat.kind)))
}

/// A source file's number, or why it has none.
pub(crate) fn source_file(
    workspace: &ReadWorkspace,
    program: &Program,
    path: &str,
    include_ignored: bool,
) -> Result<u32, ToolError> {
    let found = place(workspace, Some(path))?;
    let shown = found.as_ref().map_or(".", |(path, _)| path);
    let error = |code: ErrorCode, why: &str| ToolError::new(code, format!("{} {why}", visible_path(shown)));
    if found.as_ref().is_none_or(|(_, kind)| *kind == EntryKind::Dir) {
        let look = Hint::new("to see what is in it", "list_directory", json!({"path": shown}));
        return Err(error(ErrorCode::IsDirectory, "is a folder, not a source file").hint(look));
    }
    let Some(number) = program.file_at(shown) else {
        return Err(if Language::of_path(shown).is_some() && !include_ignored {
            error(ErrorCode::ValidationError, "is left out by ignore rules")
                .suggest("Call again with `include_ignored`.")
        } else {
            error(ErrorCode::ValidationError, "is not source code of a language that is known")
                .suggest("Give a source file; read_file shows any other.")
        });
    };
    match program.file(number).map(|file| &file.content) {
        Some(Content::Skipped(Skipped::Binary)) => Err(error(ErrorCode::BinaryFile, "is not text")),
        Some(Content::Skipped(why)) => {
            let why = format!("could not be read as code: {}", why.as_str());
            Err(error(ErrorCode::LimitExceeded, &why))
        }
        Some(Content::Unreadable(why)) => {
            Err(error(ErrorCode::IoError, &format!("could not be read: {why}")))
        }
        _ => Ok(number),
    }
}
