//! `write_file`: creates or overwrites a file whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{
    CallContext, Capabilities, Effects, Preview, Render, RenderContext, Tool, ToolError, ToolSpec,
};
use toolcrib_workspace::{Change, Expect, Hash, text};

use crate::support::change::{Desk, diff_of, diff_preview, preview_of, stat_of};
use crate::support::errors::tool_error;
use crate::support::syntax;

/// Creates or overwrites a file.
pub struct WriteFile;

/// What to write.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The file.)
    pub path: String,
    /// (All of it.)
    pub content: String,
}

/// What was written.
#[derive(Serialize)]
pub struct Output {
    path: String,
    created: bool,
    bytes: usize,
    diff: String,
    change_id: String,
    #[serde(skip)]
    warnings: Vec<String>,
}

struct Plan {
    path: String,
    created: bool,
    bytes: usize,
}

fn plan(desk: &Desk, input: &Input) -> Result<(Change, Plan), ToolError> {
    let old = desk.read_if_exists(&input.path)?;
    let (bytes, expect) = match &old {
        Some(file) => {
            desk.state.check_seen_whole(file)?;
            (text::adapt_overwrite(&file.bytes, &input.content), Expect::Hash(file.hash))
        }
        None => (input.content.clone().into_bytes(), Expect::Absent),
    };
    let mut change = desk.begin();
    let size = bytes.len();
    change.put(&input.path, bytes, expect).map_err(|error| tool_error(&error))?;
    let path = old.as_ref().map_or_else(|| input.path.clone(), |file| file.path.clone());
    Ok((change, Plan { path, created: old.is_none(), bytes: size }))
}

impl Tool for WriteFile {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("write_file", "Write file", include_str!("description.md"))
            .capabilities(Capabilities { idempotent: true, ..Capabilities::writes() })
            .example("create a file", json!({"path": "src/hello.rs", "content": "fn main() {}\n"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::writes([&input.path])
    }

    async fn preview(&self, cx: &CallContext, input: &Input) -> Result<Preview, ToolError> {
        let input = input.clone();
        cx.blocking(move |cx| {
            let desk = Desk::new(cx, "write_file")?;
            let (change, plan) = plan(&desk, &input)?;
            let verb = if plan.created { "create" } else { "overwrite" };
            Ok(preview_of(format!("would {verb} {}", visible_path(&plan.path)), &change))
        })
        .await
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        cx.blocking(move |cx| {
            let desk = Desk::new(cx, "write_file")?;
            let (committed, plan) = desk.settle(cx, || plan(&desk, &input))?;
            for file in &committed.files {
                // Every line of it is the caller's own.
                let after = file.after.as_deref().unwrap_or_default();
                desk.state.saw(&file.path, &Hash::of(after).to_string(), Some(after));
            }
            let path = committed.files.first().map_or(plan.path, |file| file.path.clone());
            Ok(Output {
                path,
                created: plan.created,
                bytes: plan.bytes,
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
        let verb = if self.created { "Created" } else { "Wrote" };
        format!("{verb} {} ({})", self.path, stat_of(&self.diff))
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        if self.created {
            // The model has just written every line of it.
            return format!("Created {} ({} bytes).", visible_path(&self.path), self.bytes);
        }
        if self.diff.is_empty() {
            return format!("{} already had exactly this content.", visible_path(&self.path));
        }
        format!("Wrote {}:\n{}", visible_path(&self.path), self.diff)
    }

    fn preview(&self) -> Vec<String> {
        diff_preview(&self.diff)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}
