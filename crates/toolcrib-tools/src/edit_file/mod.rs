//! `edit_file`: search and replace that never lands wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{
    CallContext, Capabilities, Effects, ErrorCode, Hint, Preview, Render, RenderContext, Tool, ToolError,
    ToolSpec, Violations,
};
use toolcrib_workspace::edit::{self, Applied, Edit, Refusal, RefusalKind};
use toolcrib_workspace::{Change, Expect, FileData};

use crate::support::change::{Desk, diff_of, diff_preview, preview_of, refusal_text, stat_of};
use crate::support::errors::tool_error;
use crate::support::syntax;

/// Edits a file.
pub struct EditFile;

/// One replacement.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditInput {
    /// (As above.)
    pub old_string: String,
    /// (As above.)
    pub new_string: String,
    /// (As above.)
    pub replace_all: Option<bool>,
    /// (As above.)
    #[schemars(range(min = 1))]
    pub near_line: Option<usize>,
    /// (As above.)
    #[schemars(range(min = 1))]
    pub expected_count: Option<usize>,
}

/// What to edit.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The file.)
    pub path: String,
    /// (The text to replace.)
    pub old_string: Option<String>,
    /// (The text in its place.)
    pub new_string: Option<String>,
    /// (Every occurrence.)
    pub replace_all: Option<bool>,
    /// Of several, the nearest to this line.
    #[schemars(range(min = 1))]
    pub near_line: Option<usize>,
    /// Refuse unless there are so many.
    #[schemars(range(min = 1))]
    pub expected_count: Option<usize>,
    /// Several instead, all or none.
    #[schemars(length(min = 1))]
    pub edits: Option<Vec<EditInput>>,
}

impl Input {
    /// The edits, whichever way they were given.
    fn edits(&self) -> Vec<Edit> {
        if let Some(edits) = &self.edits {
            return edits.iter().map(EditInput::to_edit).collect();
        }
        vec![Edit {
            old: self.old_string.clone().unwrap_or_default(),
            new: self.new_string.clone().unwrap_or_default(),
            replace_all: self.replace_all.unwrap_or(false),
            near_line: self.near_line,
            expected_count: self.expected_count,
        }]
    }
}

impl EditInput {
    fn to_edit(&self) -> Edit {
        Edit {
            old: self.old_string.clone(),
            new: self.new_string.clone(),
            replace_all: self.replace_all.unwrap_or(false),
            near_line: self.near_line,
            expected_count: self.expected_count,
        }
    }
}

/// How one edit was applied.
#[derive(Clone, Debug, Serialize)]
pub struct EditOutput {
    strategy: &'static str,
    count: usize,
    lines: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl From<&Applied> for EditOutput {
    fn from(applied: &Applied) -> Self {
        Self {
            strategy: applied.strategy.as_str(),
            count: applied.count,
            lines: [applied.lines.0, applied.lines.1],
            note: applied.note.clone(),
        }
    }
}

/// What was edited.
#[derive(Serialize)]
pub struct Output {
    path: String,
    edits: Vec<EditOutput>,
    diff: String,
    change_id: String,
    #[serde(skip)]
    warnings: Vec<String>,
}

struct Plan {
    path: String,
    edits: Vec<EditOutput>,
}

fn plan(desk: &Desk, input: &Input) -> Result<(Change, Plan), ToolError> {
    let file = desk.read_to_edit(&input.path)?;
    let edits = input.edits();
    let edited = edit::apply(&file.bytes, &edits).map_err(|refusal| refused(&file, &refusal, edits.len()))?;
    let mut change = desk.begin();
    change.put(&input.path, edited.bytes, Expect::Hash(file.hash)).map_err(|error| tool_error(&error))?;
    let edits = edited.edits.iter().map(EditOutput::from).collect();
    Ok((change, Plan { path: file.path, edits }))
}

/// A refusal that helps: what the file has instead, and where.
fn refused(file: &FileData, refusal: &Refusal, edits: usize) -> ToolError {
    let code = match refusal.kind {
        RefusalKind::Ambiguous | RefusalKind::CountMismatch => ErrorCode::AmbiguousMatch,
        RefusalKind::EmptyOld | RefusalKind::NoChange | RefusalKind::Placeholder => {
            ErrorCode::ValidationError
        }
        RefusalKind::NotLossless => ErrorCode::NotLossless,
        _ => ErrorCode::NoMatch,
    };
    let message = refusal_text(
        &refusal.message,
        &refusal.candidates,
        refusal.first_divergence.as_ref(),
        "Nothing was written.",
    );
    let which =
        if edits > 1 { format!(" (edit {} of {edits})", refusal.edit_index + 1) } else { String::new() };
    let message = format!("{}{which}: {message}", visible_path(&file.path));
    let candidates: Vec<_> = refusal
        .candidates
        .iter()
        .map(|candidate| {
            json!({"start_line": candidate.start_line, "end_line": candidate.end_line, "text": candidate.text,
                "similarity": candidate.similarity})
        })
        .collect();
    let details = json!({
        "path": file.path,
        "reason": refusal.kind.as_str(),
        "edit": refusal.edit_index + 1,
        "candidates": candidates,
        "first_divergence": refusal.first_divergence.as_ref().map(|divergence| json!({
            "line": divergence.file_line, "expected": divergence.expected, "found": divergence.found,
            "how": divergence.how,
        })),
    });
    let error = ToolError::new(code, message).suggest(refusal.suggestion.clone()).details(details);
    match refusal.candidates.first() {
        Some(closest) if code == ErrorCode::NoMatch => {
            let from = closest.start_line.saturating_sub(5).max(1);
            let limit = closest.end_line.saturating_sub(from) + 6;
            let arguments = json!({"path": file.path, "offset": from, "limit": limit});
            error.hint(Hint::new("to see the place", "read_file", arguments))
        }
        _ => error,
    }
}

impl Tool for EditFile {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("edit_file", "Edit file", include_str!("description.md"))
            .capabilities(Capabilities::writes())
            .example(
                "replace a line",
                json!({"path": "src/main.rs", "old_string": "let x = 1;", "new_string": "let x = 2;"}),
            )
            .example(
                "two edits at once",
                json!({"path": "src/main.rs", "edits": [
                    {"old_string": "fn old(", "new_string": "fn new("},
                    {"old_string": "old();", "new_string": "new();", "replace_all": true}
                ]}),
            )
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::writes([&input.path])
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        if let Some(index) = input.edits().iter().position(|edit| edit.old.is_empty() && !edit.new.is_empty())
        {
            let path = if input.edits.is_some() {
                format!("edits[{index}].old_string")
            } else {
                "old_string".into()
            };
            let expected =
                "the text to replace; to create a file or write it whole, use the tool for that".into();
            if input.edits.is_some() || input.old_string.is_some() {
                return Err(vec![Violation { path, expected, got: "an empty text".into() }]);
            }
        }
        let single = [input.old_string.is_some(), input.new_string.is_some()];
        let wrong = |path: &str, expected: &str, got: &str| Violation {
            path: path.into(),
            expected: expected.into(),
            got: got.into(),
        };
        match (single, input.edits.is_some()) {
            ([true, true], false) | ([false, false], true) => Ok(()),
            (_, true) => Err(vec![wrong("edits", "either edits, or old_string and new_string", "both")]),
            ([old, new], false) => {
                let missing = [("old_string", old), ("new_string", new)];
                let missing = missing.iter().filter(|(_, given)| !given);
                Err(missing.map(|(name, _)| wrong(name, "a string", "nothing")).collect())
            }
        }
    }

    async fn preview(&self, cx: &CallContext, input: &Input) -> Result<Preview, ToolError> {
        let input = input.clone();
        cx.blocking(move |cx| {
            let desk = Desk::new(cx, "edit_file")?;
            let (change, plan) = plan(&desk, &input)?;
            Ok(preview_of(format!("would edit {}", visible_path(&plan.path)), &change))
        })
        .await
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        cx.blocking(move |cx| {
            let desk = Desk::new(cx, "edit_file")?;
            let (committed, plan) = desk.settle(cx, || plan(&desk, &input))?;
            Ok(Output {
                path: plan.path,
                edits: plan.edits,
                diff: diff_of(&committed.files),
                change_id: committed.change_id,
                warnings: syntax::new_errors(&committed.files),
            })
        })
        .await
    }
}

impl Render for Output {
    fn title(&self) -> String {
        format!("Edited {} ({})", self.path, stat_of(&self.diff))
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let mut text = format!("Edited {}:\n{}", visible_path(&self.path), self.diff);
        for (index, edit) in
            self.edits.iter().enumerate().filter(|(_, edit)| edit.strategy != "exact" || edit.note.is_some())
        {
            let how = edit.note.clone().unwrap_or_else(|| format!("matched by {}", edit.strategy));
            text.push_str(&format!("\nEdit {}: {how}.", index + 1));
        }
        text
    }

    fn preview(&self) -> Vec<String> {
        diff_preview(&self.diff)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}
