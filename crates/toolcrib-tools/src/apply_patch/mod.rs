//! `apply_patch`: many files at once, all or nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{
    CallContext, Capabilities, Effects, ErrorCode, Hint, Preview, Render, RenderContext, Tool, ToolError,
    ToolSpec, Violations,
};
use toolcrib_workspace::edit::RefusalKind;
use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::patch::{self, FilePatch, Hunk, HunkRefusal};
use toolcrib_workspace::{Change, Expect, FileChange, FileData, text};

use crate::support::change::{Desk, diff_of, diff_preview, preview_of, refusal_text, stat_of};
use crate::support::errors::tool_error;
use crate::support::listing::counted;
use crate::support::syntax;

/// Applies a patch.
pub struct ApplyPatch;

/// What to apply.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The patch.)
    pub patch: String,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is new.
    Add,
    /// Its content changed.
    Update,
    /// It has another name.
    Move,
    /// It is gone.
    Delete,
}

/// One file of the patch.
#[derive(Clone, Debug, Serialize)]
pub struct PatchedFile {
    path: String,
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

/// What was applied.
#[derive(Serialize)]
pub struct Output {
    files: Vec<PatchedFile>,
    diff: String,
    change_id: String,
    #[serde(skip)]
    warnings: Vec<String>,
}

/// The files as the patch has left them so far; sections of a patch build on each other.
struct Draft<'a> {
    desk: &'a Desk,
    // By canonical path: what was on the disk, and what is to be there.
    files: BTreeMap<String, (Option<FileData>, Option<Vec<u8>>)>,
    done: Vec<PatchedFile>,
}

impl Draft<'_> {
    fn canonical(&self, path: &str) -> Result<String, ToolError> {
        Ok(self.desk.workspace.locate_for_change(path).map_err(|error| tool_error(&error))?.display)
    }

    /// The current content, read from the disk the first time.
    fn load(&mut self, path: &str) -> Result<(String, Option<Vec<u8>>), ToolError> {
        let key = self.canonical(path)?;
        if !self.files.contains_key(&key) {
            let file = self.desk.read_if_exists(path)?;
            let bytes = file.as_ref().map(|file| file.bytes.clone());
            self.files.insert(key.clone(), (file, bytes));
        }
        let now = self.files.get(&key).and_then(|(_, now)| now.clone());
        Ok((key, now))
    }

    fn set(&mut self, key: &str, content: Option<Vec<u8>>) {
        if let Some((_, now)) = self.files.get_mut(key) {
            *now = content;
        }
    }

    /// A file that is overwritten must have been seen whole.
    fn check_seen_whole(&self, key: &str) -> Result<(), ToolError> {
        match self.files.get(key) {
            Some((Some(file), _)) => self.desk.state.check_seen_whole(file),
            _ => Ok(()),
        }
    }

    /// A file that is edited must have been seen.
    fn check_seen(&self, key: &str) -> Result<(), ToolError> {
        match self.files.get(key) {
            Some((Some(file), _)) => self.desk.state.check_fresh(file),
            _ => Ok(()),
        }
    }

    fn note(&mut self, path: String, action: Action, from: Option<String>) {
        self.done.push(PatchedFile { path, action, from });
    }

    fn apply(&mut self, section: &FilePatch) -> Result<(), ToolError> {
        match section {
            FilePatch::Add { path, content } => {
                let (key, old) = self.load(path)?;
                self.check_seen_whole(&key)?;
                let action = if old.is_some() { Action::Update } else { Action::Add };
                self.set(&key, Some(content.clone()));
                self.note(key, action, None);
            }
            FilePatch::Delete { path } => {
                self.refuse_link(path)?;
                let (key, old) = self.load(path)?;
                if old.is_none() {
                    return Err(missing(self.desk, path));
                }
                self.set(&key, None);
                self.note(key, Action::Delete, None);
            }
            FilePatch::Update { path, move_to, hunks } => self.update(path, move_to.as_deref(), hunks)?,
        }
        Ok(())
    }

    fn update(&mut self, path: &str, move_to: Option<&str>, hunks: &[Hunk]) -> Result<(), ToolError> {
        let (key, old) = self.load(path)?;
        let Some(old) = old else { return Err(missing(self.desk, path)) };
        if text::is_binary(&old) {
            return Err(ToolError::new(
                ErrorCode::BinaryFile,
                format!("{} is a binary file", visible_path(&key)),
            ));
        }
        self.check_seen(&key)?;
        let new = patch::apply_hunks(&old, hunks).map_err(|refusal| refused(&key, &refusal))?;
        if new == old && move_to.is_none() {
            let message = format!("{key}: the patch would change nothing in it; nothing was written");
            return Err(ToolError::new(ErrorCode::NoMatch, message)
                .suggest("Leave this file out. Line endings alone are not changed by a patch."));
        }
        let Some(move_to) = move_to.filter(|target| *target != path) else {
            self.set(&key, Some(new));
            self.note(key, Action::Update, None);
            return Ok(());
        };
        self.refuse_link(path)?;
        let (target, _) = self.load(move_to)?;
        self.check_seen_whole(&target)?;
        self.set(&key, None);
        self.set(&target, Some(new));
        self.note(target, Action::Move, Some(key));
        Ok(())
    }

    /// The whole as one change.
    fn finish(self) -> Result<(Change, Vec<PatchedFile>), ToolError> {
        let mut change = self.desk.begin();
        let mut written: Vec<&str> = Vec::new();
        for (from, to) in self.plain_moves() {
            let (Some((old, _)), Some((target, Some(content)))) = (self.files.get(from), self.files.get(to))
            else {
                continue;
            };
            // One step, so that mode and history go along.
            change
                .rename(from, to, Some(content.clone()), expect(old), expect(target))
                .map_err(|error| tool_error(&error))?;
            written.extend([from, to]);
        }
        for (path, (old, new)) in self.files.iter().filter(|(path, _)| !written.contains(&path.as_str())) {
            let result = match (old, new) {
                (_, Some(content)) => change.put(path, content.clone(), expect(old)),
                (Some(_), None) => change.delete(path, expect(old)),
                // Added and deleted again by the same patch.
                (None, None) => Ok(()),
            };
            result.map_err(|error| tool_error(&error))?;
        }
        Ok((change, self.done))
    }

    /// The moves whose both ends nothing else in the patch touches. Others (chains, swaps, a new file in the old
    /// place) are made of writes and deletions.
    fn plain_moves(&self) -> Vec<(&str, &str)> {
        let touched = |path: &str| {
            self.done.iter().filter(|file| file.path == path || file.from.as_deref() == Some(path)).count()
        };
        let moves = self.done.iter().filter_map(|file| Some((file.from.as_deref()?, file.path.as_str())));
        moves.filter(|(from, to)| touched(from) == 1 && touched(to) == 1).collect()
    }

    /// A link has a name and a target, and a patch does not say which is meant.
    fn refuse_link(&self, path: &str) -> Result<(), ToolError> {
        match self.desk.workspace.stat_link(path) {
            Ok(stat) if stat.kind == EntryKind::Symlink => {
                Err(ToolError::new(ErrorCode::NotAFile, format!("{path} is a symlink; nothing was written"))
                    .suggest("Patch the file that it points to, or delete the link by itself."))
            }
            _ => Ok(()),
        }
    }
}

fn expect(file: &Option<FileData>) -> Expect {
    file.as_ref().map_or(Expect::Absent, |file| Expect::Hash(file.hash))
}

fn missing(desk: &Desk, path: &str) -> ToolError {
    match desk.workspace.stat(path) {
        Err(error) => tool_error(&error),
        Ok(_) => ToolError::new(
            ErrorCode::FileNotFound,
            format!("{}: removed earlier in this patch", visible_path(path)),
        ),
    }
}

fn refused(path: &str, refusal: &HunkRefusal) -> ToolError {
    let code =
        if refusal.kind == RefusalKind::Ambiguous { ErrorCode::AmbiguousMatch } else { ErrorCode::NoMatch };
    let nothing = "Nothing was written, in no file of the patch.";
    let message = format!(
        "{}: {}",
        visible_path(path),
        refusal_text(&refusal.message, &refusal.candidates, refusal.first_divergence.as_ref(), nothing)
    );
    let candidates: Vec<_> = refusal
        .candidates
        .iter()
        .map(|candidate| json!({"start_line": candidate.start_line, "end_line": candidate.end_line, "text": candidate.text}))
        .collect();
    let error = ToolError::new(code, message)
        .suggest(refusal.suggestion.clone())
        .details(json!({"path": path, "hunk": refusal.hunk, "candidates": candidates}));
    match refusal.candidates.first() {
        Some(closest) => {
            let arguments =
                json!({"path": path, "offset": closest.start_line.saturating_sub(5).max(1), "limit": 40});
            error.hint(Hint::new("to see the place", "read_file", arguments))
        }
        None => error,
    }
}

fn plan(desk: &Desk, input: &Input) -> Result<(Change, Vec<PatchedFile>), ToolError> {
    let sections = patch::parse(&input.patch)
        .map_err(|error| ToolError::new(ErrorCode::ValidationError, format!("the patch: {error}")))?;
    let mut draft = Draft { desk, files: BTreeMap::new(), done: Vec::new() };
    for section in &sections {
        draft.apply(section)?;
    }
    draft.finish()
}

fn warnings(input: &Input, files: &[FileChange]) -> Vec<String> {
    let mut found = syntax::new_errors(files);
    if patch::asks_for_modes(&input.patch) {
        found.push("the patch also changes file modes; modes were left as they are".into());
    }
    found
}

fn paths(sections: &[FilePatch]) -> Vec<String> {
    let mut all = Vec::new();
    for section in sections {
        match section {
            FilePatch::Add { path, .. } | FilePatch::Delete { path } => all.push(path.clone()),
            FilePatch::Update { path, move_to, .. } => {
                all.push(path.clone());
                all.extend(move_to.clone());
            }
        }
    }
    all
}

impl Tool for ApplyPatch {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        let patch = "*** Begin Patch\n*** Update File: src/main.rs\n@@ fn main() {\n-    old();\n+    new();\n*** End Patch\n";
        ToolSpec::new("apply_patch", "Apply patch", include_str!("description.md"))
            .capabilities(Capabilities::writes())
            .example("change a line", json!({"patch": patch}))
    }

    fn effects(&self, input: &Input) -> Effects {
        // A patch that does not parse has been refused by `check`.
        Effects::writes(patch::parse(&input.patch).map(|sections| paths(&sections)).unwrap_or_default())
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        match patch::parse(&input.patch) {
            Ok(_) => Ok(()),
            Err(error) => Err(vec![Violation {
                path: "patch".into(),
                expected: "a patch that can be read".into(),
                got: error.to_string(),
            }]),
        }
    }

    async fn preview(&self, cx: &CallContext, input: &Input) -> Result<Preview, ToolError> {
        let input = input.clone();
        cx.blocking(move |cx| {
            let desk = Desk::new(cx, "apply_patch")?;
            let (change, files) = plan(&desk, &input)?;
            Ok(preview_of(format!("would patch {}", counted(files.len(), "file")), &change))
        })
        .await
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        cx.blocking(move |cx| {
            let desk = Desk::new(cx, "apply_patch")?;
            let (committed, files) = desk.settle(cx, || plan(&desk, &input))?;
            Ok(Output {
                files,
                diff: diff_of(&committed.files),
                change_id: committed.change_id,
                warnings: warnings(&input, &committed.files),
            })
        })
        .await
    }
}

impl Render for Output {
    fn title(&self) -> String {
        match self.files.as_slice() {
            [one] => format!("Patched {} ({})", one.path, stat_of(&self.diff)),
            many => format!("Patched {} files ({})", many.len(), stat_of(&self.diff)),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let line = |file: &PatchedFile| {
            let path = visible_path(&file.path);
            match (&file.action, &file.from) {
                (Action::Move, Some(from)) => format!("moved {} to {path}", visible_path(from)),
                (Action::Add, _) => format!("added {path}"),
                (Action::Delete, _) => format!("deleted {path}"),
                _ => format!("updated {path}"),
            }
        };
        let done: Vec<String> = self.files.iter().map(line).collect();
        format!("Applied ({}): {}.", stat_of(&self.diff), done.join(", "))
    }

    fn preview(&self) -> Vec<String> {
        diff_preview(&self.diff)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}
