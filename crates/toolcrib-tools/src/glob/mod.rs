//! `glob`: files by name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{CallContext, Effects, Hint, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;
use toolcrib_workspace::search::{self, GlobOptions, WalkOptions, glob};

use crate::support::errors::tool_error;
use crate::support::listing::{given, grouped};
use crate::support::roots::{Stop, starts, walk_options};

/// Paths shown at most if the caller does not say.
const DEFAULT_LIMIT: usize = 200;

/// Finds files by name.
pub struct Glob;

/// One or many.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Many.
    Many(Vec<String>),
}

/// Written by hand: a description of either case would say nothing, and every declaration would carry it.
impl JsonSchema for OneOrMany {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OneOrMany".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
    }
}

impl OneOrMany {
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// The order of the paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Sort {
    #[default]
    Path,
    Modified,
}

/// What to find.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (A pattern, or several.)
    pub pattern: OneOrMany,
    /// (The folder; default: all.)
    pub path: Option<String>,
    /// `modified`: newest first.
    pub sort: Option<Sort>,
    /// (Also what .gitignore excludes.)
    pub include_ignored: Option<bool>,
    /// (At most; default 200.)
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<usize>,
    /// (How many to skip.)
    pub offset: Option<usize>,
}

/// What was found.
#[derive(Serialize)]
pub struct Output {
    paths: Vec<String>,
    total: usize,
    next_offset: Option<usize>,
    #[serde(skip)]
    shown_as: String,
    #[serde(skip)]
    sort: Sort,
    #[serde(skip)]
    ignored: usize,
    #[serde(skip)]
    notices: Vec<String>,
    #[serde(skip)]
    arguments: Value,
}

fn run(workspace: &ReadWorkspace, input: Input, walk: WalkOptions) -> Result<Output, ToolError> {
    let (offset, limit) = (input.offset.unwrap_or(0), input.limit.unwrap_or(DEFAULT_LIMIT));
    let patterns = input.pattern.into_vec();
    let sort = input.sort.unwrap_or_default();
    let mut output = Output {
        paths: Vec::new(),
        total: 0,
        next_offset: None,
        shown_as: patterns.join(" "),
        sort,
        ignored: 0,
        notices: Vec::new(),
        arguments: Value::Null,
    };
    for root in starts(workspace, input.path.as_deref())? {
        let options = GlobOptions {
            patterns: patterns.clone(),
            sort: if sort == Sort::Path { search::Sort::Path } else { search::Sort::Modified },
            offset: offset.saturating_sub(output.total),
            limit: limit.saturating_sub(output.paths.len()),
            walk: walk.clone(),
        };
        let found = glob(&root, &options).map_err(|error| tool_error(&error))?;
        output.paths.extend(found.paths);
        output.total += found.total;
        output.ignored += found.ignored;
        output.notices.extend(found.notices.into_iter().map(String::from));
    }
    let shown = offset.saturating_add(output.paths.len());
    if shown < output.total && !output.paths.is_empty() {
        output.next_offset = Some(shown);
        output.arguments = given(&json!({
            "pattern": patterns, "path": input.path, "sort": input.sort, "include_ignored": input.include_ignored,
            "limit": input.limit, "offset": shown,
        }));
    }
    Ok(output)
}

impl Tool for Glob {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("glob", "Find files", include_str!("description.md"))
            .example("all Rust files but the tests", json!({"pattern": ["**/*.rs", "!**/tests/**"]}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.path.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let walk = walk_options(input.include_ignored, &stop);
        cx.blocking(move |cx| run(cx.get::<ReadWorkspace>()?.as_ref(), input, walk)).await
    }
}

impl Render for Output {
    fn title(&self) -> String {
        format!("Found {} files for {}", self.total, self.shown_as)
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        if self.paths.is_empty() {
            let hidden = match self.ignored {
                0 => String::new(),
                some => format!(" ({some} ignored entries were not looked at)"),
            };
            return format!("No file matches {}{hidden}.", visible_path(&self.shown_as));
        }
        let mut text = match self.sort {
            Sort::Path => grouped(self.paths.iter().map(|path| (path.as_str(), String::new()))),
            // Grouping would lose the order.
            Sort::Modified => {
                self.paths.iter().map(|path| visible_path(path).into_owned()).collect::<Vec<_>>().join("\n")
            }
        };
        if self.next_offset.is_some() {
            text.push_str(&format!("\n[{} of {} files shown]", self.paths.len(), self.total));
        }
        text
    }

    fn preview(&self) -> Vec<String> {
        self.paths.iter().take(8).cloned().collect()
    }

    fn hints(&self) -> Vec<Hint> {
        let hint = || Hint::new("to see more", "glob", self.arguments.clone());
        self.next_offset.map(|_| hint()).into_iter().collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.notices.clone()
    }
}
