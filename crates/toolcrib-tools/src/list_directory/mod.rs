//! `list_directory`: what is in a folder, in few tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::{CallContext, Effects, Hint, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;
use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::search::{ListEntry, ListOptions, WalkOptions, list};

use crate::support::errors::tool_error;
use crate::support::listing::{given, grouped, size};
use crate::support::roots::{Stop, starts, walk_options};

/// Entries shown at most if the caller does not say.
const DEFAULT_LIMIT: usize = 500;

/// Lists a folder.
pub struct ListDirectory;

/// What to list.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The folder; default: all.)
    pub path: Option<String>,
    /// Levels (default 1).
    #[schemars(range(min = 1, max = 128))]
    pub depth: Option<usize>,
    /// (Show sizes.)
    pub sizes: Option<bool>,
    /// (Also what .gitignore excludes.)
    pub include_ignored: Option<bool>,
    /// (At most; default 500.)
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<usize>,
    /// (How many to skip.)
    pub offset: Option<usize>,
}

/// One entry.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    path: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

/// What is there.
#[derive(Serialize)]
pub struct Output {
    entries: Vec<Entry>,
    total: usize,
    next_offset: Option<usize>,
    ignored: usize,
    #[serde(skip)]
    path: String,
    #[serde(skip)]
    notices: Vec<String>,
    #[serde(skip)]
    arguments: serde_json::Value,
}

fn entry(found: ListEntry) -> Entry {
    let kind = match found.kind {
        EntryKind::Dir => "dir",
        EntryKind::Symlink => "symlink",
        _ => "file",
    };
    Entry { path: found.path, kind, size: found.size }
}

fn run(workspace: &ReadWorkspace, input: &Input, walk: WalkOptions) -> Result<Output, ToolError> {
    let (offset, limit) = (input.offset.unwrap_or(0), input.limit.unwrap_or(DEFAULT_LIMIT));
    let mut output = Output {
        entries: Vec::new(),
        total: 0,
        next_offset: None,
        ignored: 0,
        path: input.path.clone().unwrap_or_else(|| ".".into()),
        notices: Vec::new(),
        arguments: json!({}),
    };
    for root in starts(workspace, input.path.as_deref())? {
        let options = ListOptions {
            walk: walk.clone(),
            depth: input.depth.unwrap_or(1),
            sizes: input.sizes.unwrap_or(false),
            offset: offset.saturating_sub(output.total),
            limit: limit.saturating_sub(output.entries.len()),
        };
        let listing = list(&root, &options).map_err(|error| tool_error(&error))?;
        output.entries.extend(listing.entries.into_iter().map(entry));
        output.total += listing.total;
        output.ignored += listing.ignored;
        output.notices.extend(listing.notices.into_iter().map(String::from));
    }
    let shown = offset.saturating_add(output.entries.len());
    if shown < output.total && !output.entries.is_empty() {
        output.next_offset = Some(shown);
        output.arguments = given(&json!({
            "path": input.path, "depth": input.depth, "sizes": input.sizes,
            "include_ignored": input.include_ignored, "limit": input.limit, "offset": shown,
        }));
    }
    Ok(output)
}

impl Tool for ListDirectory {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("list_directory", "List directory", include_str!("description.md"))
            .example("two levels of a folder", json!({"path": "src", "depth": 2}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.path.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let walk = walk_options(input.include_ignored, &stop);
        cx.blocking(move |cx| run(cx.get::<ReadWorkspace>()?.as_ref(), &input, walk)).await
    }
}

impl Render for Output {
    fn title(&self) -> String {
        format!("Listed {} ({} of {} entries)", self.path, self.entries.len(), self.total)
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let mark = |entry: &Entry| match (entry.kind, entry.size) {
            ("dir", _) => "/".to_owned(),
            ("symlink", _) => "@".to_owned(),
            (_, Some(bytes)) => format!("({})", size(bytes)),
            _ => String::new(),
        };
        let mut text = grouped(self.entries.iter().map(|entry| (entry.path.as_str(), mark(entry))));
        if self.entries.is_empty() {
            text = if self.total == 0 { "(empty)".into() } else { format!("(only {} entries)", self.total) };
            return text;
        }
        let left = self.total.saturating_sub(self.entries.len());
        if left > 0 {
            text.push_str(&format!("\n[{left} of {} entries not shown]", self.total));
        }
        if self.ignored > 0 {
            text.push_str(&format!("\n[{} ignored entries left out]", self.ignored));
        }
        text
    }

    fn preview(&self) -> Vec<String> {
        self.entries.iter().take(8).map(|entry| entry.path.clone()).collect()
    }

    fn hints(&self) -> Vec<Hint> {
        let hint = || Hint::new("to see more", "list_directory", self.arguments.clone());
        self.next_offset.map(|_| hint()).into_iter().collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.notices.clone()
    }
}
