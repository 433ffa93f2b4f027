//! `delete_file`: deletes a file or a folder, so that it can be brought back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{
    CallContext, Capabilities, Effects, ErrorCode, Preview, Render, RenderContext, Tool, ToolError, ToolSpec,
};
use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::{Change, Expect};

use crate::support::change::Desk;
use crate::support::errors::tool_error;
use crate::support::listing::counted;

/// Deletes a file or a folder.
pub struct DeleteFile;

/// What to delete.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The file or folder.)
    pub path: String,
    /// (A folder with all in it.)
    pub recursive: Option<bool>,
}

/// What was deleted.
#[derive(Serialize)]
pub struct Output {
    path: String,
    files: Vec<String>,
    change_id: String,
}

fn plan(desk: &Desk, input: &Input) -> Result<Change, ToolError> {
    let mut change = desk.begin();
    let kind = desk.workspace.stat_link(&input.path).map_err(|error| tool_error(&error))?.kind;
    if kind == EntryKind::File
        && let Some(file) = desk.read_if_exists(&input.path)?
    {
        desk.state.check_not_stale(&file)?;
    }
    if kind != EntryKind::Dir {
        change.delete(&input.path, Expect::Any).map_err(|error| tool_error(&error))?;
        return Ok(change);
    }
    if input.recursive != Some(true) {
        return Err(ToolError::new(
            ErrorCode::IsDirectory,
            format!("{} is a folder", visible_path(&input.path)),
        )
        .suggest("Set recursive to true to delete it with everything in it."));
    }
    change.delete_tree(&input.path).map_err(|error| tool_error(&error))?;
    Ok(change)
}

impl Tool for DeleteFile {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("delete_file", "Delete file", include_str!("description.md"))
            .capabilities(Capabilities::writes())
            .example("delete a file", json!({"path": "src/old.rs"}))
            .example("delete a folder", json!({"path": "target/tmp", "recursive": true}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::writes([&input.path])
    }

    async fn preview(&self, cx: &CallContext, input: &Input) -> Result<Preview, ToolError> {
        let input = input.clone();
        cx.blocking(move |cx| Ok(preview_of(&plan(&Desk::new(cx, "delete_file")?, &input)?))).await
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let (path, change) = cx
            .blocking(move |cx| {
                let desk = Desk::new(cx, "delete_file")?;
                let stat = desk.workspace.stat_link(&input.path).map_err(|error| tool_error(&error))?;
                Ok((stat.path, plan(&desk, &input)?))
            })
            .await?;
        // A folder may hold files that are worth a question of their own.
        let preview = preview_of(&change);
        let all = change.preview().into_iter().map(|file| file.path);
        cx.authorise(Effects::writes(all), preview).await?;
        cx.blocking(move |cx| {
            let committed = Desk::new(cx, "delete_file")?.commit(cx, change)?;
            let files = committed.files.into_iter().map(|file| file.path).collect();
            Ok(Output { path, files, change_id: committed.change_id })
        })
        .await
    }
}

fn preview_of(change: &Change) -> Preview {
    let paths: Vec<String> = change.preview().into_iter().map(|file| file.path).collect();
    let shown: Vec<_> = paths.iter().take(50).map(|path| visible_path(path)).collect();
    Preview { title: format!("would delete {}", counted(paths.len(), "file")), text: shown.join("\n") }
}

impl Render for Output {
    fn title(&self) -> String {
        let path = visible_path(&self.path);
        match self.files.len() {
            0 | 1 => format!("Deleted {path}"),
            many => format!("Deleted {path} ({many} files)"),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        format!("{}. To bring it back, undo change {}.", self.title(), self.change_id)
    }
}
