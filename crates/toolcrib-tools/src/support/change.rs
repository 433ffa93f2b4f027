//! What the tools that change files have in common: a plan that can be shown or carried out.

use std::sync::Arc;

use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{CallContext, ErrorCode, Preview, ToolError};
use toolcrib_workspace::edit::{Candidate, Divergence};
use toolcrib_workspace::{
    Change, ChangeLabel, Committed, Error, ErrorKind, FileChange, FileData, Hash, Workspace, diff, text,
};

use super::errors::tool_error;
use super::sessions::{SessionState, state_of};

/// Files larger than this are not edited.
pub(crate) const MAX_EDIT_BYTES: u64 = 64 << 20;

/// How often a plan is made anew because the files changed under it.
const MAX_REPLANS: usize = 50;

/// The workspace and the conversation that a change is made in.
pub(crate) struct Desk {
    pub workspace: Arc<Workspace>,
    pub state: Arc<SessionState>,
    label: ChangeLabel,
    cx: CallContext,
}

impl Desk {
    pub(crate) fn new(cx: &CallContext, tool: &str) -> Result<Self, ToolError> {
        let label = ChangeLabel {
            tool: tool.to_owned(),
            call_id: cx.ids().call_id.clone(),
            session: cx.session().id.clone(),
            turn: Some(cx.ids().turn),
        };
        Ok(Self { workspace: cx.get::<Workspace>()?, state: state_of(cx)?, label, cx: cx.clone() })
    }

    pub(crate) fn label(&self) -> ChangeLabel {
        self.label.clone()
    }

    pub(crate) fn begin(&self) -> Change {
        self.workspace.begin(self.label())
    }

    /// A file as it is now; `None` if there is none.
    pub(crate) fn read_if_exists(&self, path: &str) -> Result<Option<FileData>, ToolError> {
        match self.workspace.read(path, MAX_EDIT_BYTES) {
            Ok(file) => {
                self.cx.record_read(&file.path, file.size);
                Ok(Some(file))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(tool_error(&error)),
        }
    }

    /// A text file that the model has seen as it is now.
    pub(crate) fn read_to_edit(&self, path: &str) -> Result<FileData, ToolError> {
        let file = self.workspace.read(path, MAX_EDIT_BYTES).map_err(|error| tool_error(&error))?;
        self.cx.record_read(&file.path, file.size);
        if text::is_binary(&file.bytes) {
            let message = format!("{} is a binary file; nothing was written", visible_path(&file.path));
            return Err(ToolError::new(ErrorCode::BinaryFile, message));
        }
        self.state.check_fresh(&file)?;
        Ok(file)
    }

    /// Plans and carries out, again if another change came in between: the plan is then made for what is there now.
    pub(crate) fn settle<T>(
        &self,
        cx: &CallContext,
        plan: impl Fn() -> Result<(Change, T), ToolError>,
    ) -> Result<(Committed, T), ToolError> {
        let is_stale = |error: &ToolError| error.code == ErrorCode::StaleFile && error.more.hint.is_none();
        for _ in 0..MAX_REPLANS {
            // With a hint it is the conversation that is behind, and planning again would not help.
            let (change, planned) = match plan() {
                Err(error) if is_stale(&error) => continue,
                planned => planned?,
            };
            match self.commit(cx, change) {
                Err(error) if is_stale(&error) => {}
                committed => return Ok((committed?, planned)),
            }
        }
        let (change, planned) = plan()?;
        Ok((self.commit(cx, change)?, planned))
    }

    /// Carries a change out, and notes what was written.
    pub(crate) fn commit(&self, cx: &CallContext, change: Change) -> Result<Committed, ToolError> {
        let cancel = cx.cancellation().clone();
        let committed = change.commit(&|| cancel.is_cancelled()).map_err(|error| commit_error(&error))?;
        for file in &committed.files {
            note(cx, &self.state, file);
        }
        for warning in &committed.warnings {
            cx.warn(warning.clone());
        }
        Ok(committed)
    }
}

/// The model has seen what it wrote.
pub(crate) fn note(cx: &CallContext, state: &SessionState, file: &FileChange) {
    if let Some(old) = &file.moved_from {
        cx.record_write(old, 0);
        state.gone(old);
    }
    match &file.after {
        Some(bytes) => {
            cx.record_write(&file.path, bytes.len() as u64);
            state.changed(&file.path, file.before.as_deref(), bytes, &Hash::of(bytes).to_string());
        }
        None => {
            cx.record_write(&file.path, 0);
            state.gone(&file.path);
        }
    }
}

/// An error on the way to the disk. Nothing was changed, and the message says so, unless even that failed.
pub(crate) fn commit_error(error: &Error) -> ToolError {
    let mut converted = tool_error(error);
    if error.is_partial() {
        converted.message.push_str("; a part of it may have stayed");
        return converted
            .suggest("Look at the files before you go on; the next change tries to take it back again.");
    }
    if !converted.message.contains("nothing was") {
        converted.message.push_str("; nothing was changed");
    }
    converted
}

/// The difference that a change makes, over all its files.
pub(crate) fn diff_of(files: &[FileChange]) -> String {
    let of = |file: &FileChange| {
        let old = file.moved_from.as_deref().unwrap_or(&file.path);
        diff::unified(old, &file.path, file.before.as_deref(), file.after.as_deref())
    };
    files.iter().map(of).collect()
}

/// A change as a preview.
pub(crate) fn preview_of(title: String, change: &Change) -> Preview {
    Preview { title, text: diff_of(&change.preview()) }
}

/// `+3 -1`.
pub(crate) fn stat_of(diff: &str) -> String {
    let count = |sign: char| {
        let header = format!("{0}{0}{0} ", sign);
        diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(&header)).count()
    };
    format!("+{} -{}", count('+'), count('-'))
}

/// The first lines of a difference, for a person.
pub(crate) fn diff_preview(diff: &str) -> Vec<String> {
    diff.lines()
        .filter(|line| !line.starts_with("--- ") && !line.starts_with("+++ "))
        .take(8)
        .map(str::to_owned)
        .collect()
}

/// A refusal in words: what is wrong, the places it could have meant with their lines, and the first difference.
pub(crate) fn refusal_text(
    message: &str,
    candidates: &[Candidate],
    divergence: Option<&Divergence>,
    nothing: &str,
) -> String {
    let mut text = message.trim_end().to_owned();
    for candidate in candidates {
        text.push_str(&format!("\nLines {}-{}:\n", candidate.start_line, candidate.end_line));
        text.push_str(candidate.text.trim_end_matches('\n'));
    }
    if let Some(divergence) = divergence {
        text.push_str(&format!("\nFirst difference: {}.", divergence.how));
    }
    if !text.to_lowercase().contains("nothing was written") {
        text.push_str(&format!("\n{nothing}"));
    }
    text
}
