//! `read_file`: text in numbered lines, within its budget.

mod load;
mod show;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::{
    Attachment, CallContext, Effects, ErrorCode, Hint, Tool, ToolError, ToolSpec, Violations,
};
use toolcrib_workspace::ReadWorkspace;

use crate::support::outline::OutlineEntry;
use crate::support::roots::find_elsewhere;
use crate::support::sessions::state_of;
use load::{Loaded, Range, load, split_range, without_range};

/// Tokens of a call's text that notes and hints may take.
const NOTES: usize = 500;
/// Files in one call.
const MAX_FILES: usize = 50;

/// Reads files.
pub struct ReadFile;

/// What to read.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// May end in a range, `:10-20`.
    pub path: Option<String>,
    /// Several instead.
    #[schemars(length(min = 1, max = 50))]
    pub paths: Option<Vec<String>>,
    /// First line; negative: from the end.
    pub offset: Option<i64>,
    /// (Lines at most.)
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

impl Input {
    fn all(&self) -> Vec<&str> {
        self.path.iter().chain(self.paths.iter().flatten()).map(String::as_str).collect()
    }

    fn range(&self) -> Range {
        Range { offset: self.offset, limit: self.limit }
    }
}

/// A file that was read.
#[derive(Serialize)]
pub struct File {
    path: String,
    start_line: usize,
    end_line: usize,
    total_lines: usize,
    bytes: u64,
    hash: Option<String>,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outline: Option<Vec<OutlineEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'static str>,
    /// What is special about what is shown: an encoding, cut lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    next_line: Option<usize>,
    /// Whether fewer lines are shown than were asked for.
    #[serde(skip)]
    cut: bool,
    #[serde(skip)]
    attachment: Option<Attachment>,
}

/// A file that was not.
#[derive(Serialize)]
pub struct Failed {
    path: String,
    code: ErrorCode,
    message: String,
}

/// What was read.
#[derive(Serialize)]
pub struct Output {
    files: Vec<File>,
    failed: Vec<Failed>,
}

fn run(cx: &CallContext, input: &Input) -> Result<Output, ToolError> {
    let workspace = cx.get::<ReadWorkspace>()?;
    let state = state_of(cx)?;
    let mut output = Output { files: Vec::new(), failed: Vec::new() };
    let mut first_error = None;
    let paths = input.all();
    let most = cx.max_output_tokens();
    let mut budget = most.saturating_sub(NOTES).max(most / 2);
    for (index, given) in paths.iter().enumerate() {
        // Files that come later get at least their share.
        let waiting = paths.len() - index;
        let (path, range) = split_range(&workspace, given, input.range());
        match load(&workspace, path, range, budget / waiting) {
            Ok(Loaded { file, tokens, whole }) => {
                cx.record_read(&file.path, file.bytes);
                match (&file.hash, whole) {
                    (Some(hash), Some(bytes)) => state.saw(&file.path, hash, Some(&bytes)),
                    (Some(hash), None) => {
                        let lines = (file.start_line, file.end_line);
                        state.saw_lines(&file.path, hash, lines, file.total_lines);
                    }
                    (None, _) => {}
                }
                budget = budget.saturating_sub(tokens);
                output.files.push(file);
            }
            Err(error) => {
                let error = with_more_to_say(&workspace, given, error);
                output.failed.push(Failed {
                    path: (*given).to_owned(),
                    code: error.code,
                    message: with_suggestion(&error),
                });
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if output.files.is_empty() => Err(all_failed(error, &output.failed)),
        _ => Ok(output),
    }
}

/// A file that is not there: perhaps the range is wrong, or it is in another folder.
fn with_more_to_say(workspace: &ReadWorkspace, given: &str, error: ToolError) -> ToolError {
    if error.code != ErrorCode::FileNotFound {
        return error;
    }
    if let Some((path, lines)) = given.rsplit_once(':')
        && lines.starts_with(|c: char| c.is_ascii_digit())
        && workspace.stat(path).is_ok()
    {
        return error.suggest(format!(
            "{lines:?} is no range of lines: write {path}:10-20, or use offset and limit."
        ));
    }
    match find_elsewhere(workspace, given).as_slice() {
        [] => error,
        found => error.suggest(format!("Did you mean {}?", found.join(", "))),
    }
}

fn with_suggestion(error: &ToolError) -> String {
    match &error.more.suggestion {
        Some(suggestion) => format!("{}. {suggestion}", error.message),
        None => error.message.clone(),
    }
}

fn all_failed(mut error: ToolError, failed: &[Failed]) -> ToolError {
    if failed.len() > 1 {
        let each: Vec<String> = failed.iter().map(|file| file.message.clone()).collect();
        error.message = format!("none of the {} files could be read:\n- {}", failed.len(), each.join("\n- "));
        error.more.details = json!({"failed": failed});
    }
    error
}

impl Tool for ReadFile {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("read_file", "Read file", include_str!("description.md"))
            .example("a file", json!({"path": "src/main.rs"}))
            .example("lines 40 to 80", json!({"path": "src/main.rs", "offset": 40, "limit": 41}))
            .example("several files", json!({"paths": ["Cargo.toml", "src/lib.rs:1-60"]}))
    }

    fn effects(&self, input: &Input) -> Effects {
        // Which one is meant is known when the files are looked at; both may be read.
        let all = input.all();
        Effects::reads(all.iter().filter_map(|path| without_range(path)).chain(all.iter().copied()))
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        let violation = |path: &str, expected: &str, got: &str| {
            Err(vec![Violation { path: path.into(), expected: expected.into(), got: got.into() }])
        };
        match (input.all().len(), input.offset) {
            (0, _) => violation("path", "a path, or paths", "nothing"),
            (_, Some(0)) => {
                violation("offset", "a line from 1, or a negative number to count from the end", "0")
            }
            (many, _) if many > MAX_FILES => violation("paths", "at most 50 files", &many.to_string()),
            _ => Ok(()),
        }
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        cx.blocking(move |cx| run(cx, &input)).await
    }
}

/// The call that reads on.
fn continued(file: &File, next: usize) -> Hint {
    Hint::new("to read on", "read_file", json!({"path": file.path, "offset": next}))
        .or(json!({"paths": [format!("{}:{next}-", file.path)]}))
}
