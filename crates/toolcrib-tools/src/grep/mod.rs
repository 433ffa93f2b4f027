//! `grep`: file contents, by ripgrep's own engine.

mod show;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcrib_core::{CallContext, Effects, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;
use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::search::{self, FileMatches, GrepOptions, GrepResult, WalkOptions, grep, grep_file};

use crate::glob::OneOrMany;
use crate::support::errors::tool_error;
use crate::support::listing::given;
use crate::support::roots::{Stop, starts, walk_options};

/// Matches shown at most if the caller does not say.
const DEFAULT_LIMIT: usize = 100;

/// Searches file contents.
pub struct Grep;

/// What to show of the matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Mode {
    #[default]
    Content,
    Files,
    Count,
}

/// What to search.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (What to search for.)
    pub pattern: String,
    /// (The file or folder; default: all.)
    pub path: Option<String>,
    /// Globs of files; `!` excludes.
    #[schemars(with = "OneOrMany")]
    #[serde(default)]
    pub include: Option<OneOrMany>,
    /// `rust`, `py`, `ts`, `md`, …
    #[serde(rename = "type")]
    pub file_type: Option<String>,
    /// Lines (default), files with counts, or also their sum.
    pub mode: Option<Mode>,
    /// Not a regex.
    pub literal: Option<bool>,
    /// (Ignore case.)
    pub ignore_case: Option<bool>,
    /// (Whole words.)
    pub word: Option<bool>,
    /// (Match across lines.)
    pub multiline: Option<bool>,
    /// (Lines before and after.)
    #[schemars(range(max = 100))]
    pub context: Option<usize>,
    /// (Lines before.)
    #[schemars(range(max = 100))]
    pub before: Option<usize>,
    /// (Lines after.)
    #[schemars(range(max = 100))]
    pub after: Option<usize>,
    /// (Also what .gitignore excludes.)
    pub include_ignored: Option<bool>,
    /// (At most; default 100.)
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<usize>,
    /// (How many to skip.)
    pub offset: Option<usize>,
}

/// A matching line.
#[derive(Clone, Debug, Serialize)]
pub struct Match {
    path: String,
    line: u64,
    column: usize,
    text: String,
}

/// A file with matches.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    path: String,
    count: usize,
}

/// What was found.
#[derive(Serialize)]
pub struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<Vec<Match>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<Counted>>,
    searched_files: usize,
    /// How many there are in all; null when the search stopped at its limit.
    total: Option<usize>,
    next_offset: Option<usize>,
    binary_skipped: usize,
    #[serde(skip)]
    found: Vec<FileMatches>,
    #[serde(skip)]
    pattern: String,
    #[serde(skip)]
    mode: Mode,
    #[serde(skip)]
    ignored: usize,
    #[serde(skip)]
    notices: Vec<String>,
    #[serde(skip)]
    arguments: Value,
}

fn options(input: &Input, walk: WalkOptions) -> GrepOptions {
    let context = input.context.unwrap_or(0);
    GrepOptions {
        literal: input.literal.unwrap_or(false),
        ignore_case: input.ignore_case.unwrap_or(false),
        word: input.word.unwrap_or(false),
        multiline: input.multiline.unwrap_or(false),
        before: input.before.unwrap_or(context),
        after: input.after.unwrap_or(context),
        include: input.include.clone().map(OneOrMany::into_vec).unwrap_or_default(),
        types: input.file_type.clone().into_iter().collect(),
        mode: match input.mode.unwrap_or_default() {
            Mode::Content => search::Mode::Content,
            Mode::Files => search::Mode::Files,
            Mode::Count => search::Mode::Count,
        },
        offset: input.offset.unwrap_or(0),
        limit: input.limit.unwrap_or(DEFAULT_LIMIT),
        walk,
        ..GrepOptions::new(&input.pattern)
    }
}

/// One given file, or the folders to walk.
fn search(workspace: &ReadWorkspace, input: &Input, options: GrepOptions) -> Result<GrepResult, ToolError> {
    let failed = |error: &toolcrib_workspace::Error| tool_error(error);
    if let Some(path) = &input.path {
        let stat = workspace.stat(path).map_err(|error| failed(&error))?;
        if stat.kind != EntryKind::Dir {
            let file = workspace.open_file(path).map_err(|error| failed(&error))?;
            return grep_file(file.reader, &file.path, &options).map_err(|error| failed(&error));
        }
    }
    let mut roots = starts(workspace, input.path.as_deref())?.into_iter();
    let Some(first) = roots.next() else { return Err(ToolError::internal("a workspace without roots")) };
    let mut all = grep(&first, &options).map_err(|error| failed(&error))?;
    for root in roots {
        let Some(total) = all.total else { break };
        let shown: usize = shown(&all, &options);
        let rest = GrepOptions {
            offset: options.offset.saturating_sub(total),
            limit: options.limit.saturating_sub(shown),
            ..options.clone()
        };
        if rest.limit == 0 {
            all.total = None;
            all.next_offset = Some(options.offset.saturating_add(shown));
            break;
        }
        let more = grep(&root, &rest).map_err(|error| failed(&error))?;
        all.total = more.total.map(|more| more + total);
        all.next_offset = more.next_offset.map(|next| next + total);
        all.files.extend(more.files);
        all.searched_files += more.searched_files;
        all.binary_skipped += more.binary_skipped;
        all.ignored += more.ignored;
        all.notices.extend(more.notices);
    }
    Ok(all)
}

/// How many of what the limit counts are in a result.
fn shown(result: &GrepResult, options: &GrepOptions) -> usize {
    match options.mode {
        search::Mode::Content => {
            result.files.iter().flat_map(|file| &file.lines).filter(|line| line.is_match).count()
        }
        _ => result.files.len(),
    }
}

fn run(workspace: &ReadWorkspace, input: &Input, walk: WalkOptions) -> Result<Output, ToolError> {
    let mode = input.mode.unwrap_or_default();
    let result = search(workspace, input, options(input, walk))?;
    let matches = (mode == Mode::Content).then(|| result.files.iter().flat_map(matches_of).collect());
    let files = (mode != Mode::Content).then(|| {
        result.files.iter().map(|file| Counted { path: file.path.clone(), count: file.count }).collect()
    });
    Ok(Output {
        matches,
        files,
        searched_files: result.searched_files,
        total: result.total,
        next_offset: result.next_offset,
        binary_skipped: result.binary_skipped,
        pattern: input.pattern.clone(),
        mode,
        ignored: result.ignored,
        notices: result.notices.into_iter().map(String::from).collect(),
        arguments: result.next_offset.map_or(Value::Null, |next| continued(input, next)),
        found: result.files,
    })
}

fn matches_of(file: &FileMatches) -> impl Iterator<Item = Match> + '_ {
    file.lines.iter().filter(|line| line.is_match).map(|line| Match {
        path: file.path.clone(),
        line: line.number,
        column: line.column.unwrap_or(1),
        text: line.text.clone(),
    })
}

/// The arguments of the call that goes on where this one ends.
fn continued(input: &Input, next: usize) -> Value {
    given(&json!({
        "pattern": input.pattern, "path": input.path, "include": input.include.clone().map(OneOrMany::into_vec),
        "type": input.file_type, "mode": input.mode, "literal": input.literal, "ignore_case": input.ignore_case,
        "word": input.word, "multiline": input.multiline, "context": input.context, "before": input.before,
        "after": input.after, "include_ignored": input.include_ignored, "limit": input.limit, "offset": next,
    }))
}

impl Tool for Grep {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("grep", "Search file contents", include_str!("description.md"))
            .example("where a function is called", json!({"pattern": "parse_config\\(", "type": "rust"}))
            .example("plain text with context", json!({"pattern": "a[0]", "literal": true, "context": 2}))
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
