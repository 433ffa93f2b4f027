//! What the tools about projects share.

use toolcrib_code::project::{Command, Commands, Scan};
use toolcrib_core::ToolError;
use toolcrib_core::sanitize::visible_field;
use toolcrib_workspace::ReadWorkspace;
use toolcrib_workspace::search::WalkOptions;

use super::errors::tool_error;
use super::roots::starts;

/// A scan of a folder, or of all roots, and what `work` makes of it.
pub(crate) fn scanned<T>(
    workspace: &ReadWorkspace,
    path: Option<&str>,
    walk: WalkOptions,
    work: impl FnOnce(&Scan<'_>) -> toolcrib_workspace::Result<T>,
) -> Result<T, ToolError> {
    let starts = starts(workspace, path)?;
    let scan = Scan::new(workspace, &starts, walk).map_err(|error| tool_error(&error))?;
    work(&scan).map_err(|error| tool_error(&error))
}

/// A text of others on one line.
pub(crate) fn field(text: &str) -> String {
    visible_field(text, 200).into_owned()
}

/// `test: cargo test (Cargo.toml:1)`, a line a command.
pub(crate) fn command_lines(commands: &Commands, most: usize) -> Vec<String> {
    let one = |goal: &str, command: &Command| {
        let folder = command.cwd.as_ref().map_or(String::new(), |folder| format!(" in {}", field(folder)));
        format!("  {goal}: {}{folder} ({})", field(&command.command), field(&command.evidence))
    };
    let lists = commands.lists();
    lists.iter().flat_map(|(goal, list)| list.iter().take(most).map(|command| one(goal, command))).collect()
}
