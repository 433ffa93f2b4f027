//! `get_codebase_map`: the symbols that matter most, within a budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::index::IndexReport;
use toolcrib_code::query::map::{
    MapFile, MapQuery, Packed, Ranked, Room, file_line, pack, ranking, symbol_line,
};
use toolcrib_code::resolve::Program;
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::sanitize::{visible, visible_field, visible_path};
use toolcrib_core::{
    CallContext, Effects, Render, RenderContext, Tool, ToolError, ToolSpec, Violations, tokens,
};
use toolcrib_workspace::{ErrorKind, ReadWorkspace};

use crate::support::code::{CodeEngine, control};
use crate::support::errors::tool_error;
use crate::support::listing::counted;
use crate::support::places::place;
use crate::support::roots::Stop;

/// Tokens of the text if the caller does not say.
const DEFAULT_BUDGET: usize = 1024;

/// Maps a code base.
pub struct GetCodebaseMap;

/// Of what, and how long.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (Only files at or below this path.)
    pub path: Option<String>,
    /// (Tokens; default 1024.)
    #[schemars(range(min = 50, max = 20_000))]
    pub budget: Option<usize>,
    /// (Paths or symbols that matter now.)
    #[schemars(length(max = 50))]
    pub focus: Option<Vec<String>>,
    /// (Also tests.)
    pub include_tests: Option<bool>,
    /// (Also ignored files.)
    pub include_ignored: Option<bool>,
}

/// The map.
#[derive(Serialize)]
pub struct Output {
    files: Vec<MapFile>,
    /// Of the text.
    tokens: usize,
    /// Symbols that are left out.
    omitted: usize,
    /// What of the focus is not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
    index: IndexReport,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    path: String,
}

impl Tool for GetCodebaseMap {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("get_codebase_map", "Get codebase map", include_str!("description.md"))
            .example("around a file", json!({"focus": ["src/store.ts"], "budget": 800}))
            .example("a folder and a symbol", json!({"path": "src", "focus": ["Store/open"]}))
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        let focus = input.focus.iter().flatten().enumerate();
        let empty = focus.filter(|(_, one)| one.trim().is_empty()).map(|(at, one)| Violation {
            path: format!("focus[{at}]"),
            expected: "a path or a symbol".into(),
            got: format!("{one:?}"),
        });
        let empty: Violations = empty.collect();
        if empty.is_empty() { Ok(()) } else { Err(empty) }
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.path.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let control = control(input.include_ignored, &stop);
        cx.blocking(move |cx| {
            let workspace = cx.get::<ReadWorkspace>()?;
            let path = place(&workspace, input.path.as_deref())?.map(|(path, _)| path);
            let wanted = input.focus.unwrap_or_default();
            let focus = wanted.iter().map(|one| focused(&workspace, one)).collect::<Result<Vec<_>, _>>()?;
            let engine = cx.get::<CodeEngine>()?;
            let program = engine.program(cx, &control)?;
            let uses = engine.uses(&program, &control)?;
            let include_tests = input.include_tests == Some(true);
            let query = MapQuery { path: path.clone(), focus, include_tests };
            let ranked = ranking(&program, &uses, &query, &control).map_err(|error| tool_error(&error))?;
            let budget = input.budget.unwrap_or(DEFAULT_BUDGET).min(cx.max_output_tokens());
            let (packed, text) = within(&program, &ranked.symbols, &ranked.unknown, budget);
            Ok(Output {
                tokens: tokens::count(&visible(&text)),
                files: packed.files,
                omitted: packed.omitted,
                unknown: ranked.unknown,
                index: program.snapshot().report().clone(),
                text,
                path: path.unwrap_or_else(|| ".".into()),
            })
        })
        .await
    }
}

/// A path as the index knows it; anything else as it is, for it may be a symbol.
fn focused(workspace: &ReadWorkspace, wanted: &str) -> Result<String, ToolError> {
    match workspace.stat(wanted) {
        Ok(stat) => Ok(stat.path),
        Err(error) if error.kind() == ErrorKind::OutsideWorkspace => Err(tool_error(&error)),
        Err(_) => Ok(wanted.to_owned()),
    }
}

/// The map and its text, which is never longer than `budget` tokens.
fn within(program: &Program, symbols: &[Ranked], unknown: &[String], budget: usize) -> (Packed, String) {
    if symbols.is_empty() {
        return (Packed::default(), fitting(format!("{}No symbols found.", unknown_line(unknown)), budget));
    }
    // Lines cost together what they cost apart, or a little more or less; what the sum hides is taken off in the end.
    let cost = |line: &str| tokens::count(&visible(line));
    let mut limit = budget.saturating_sub(tokens::count(&note(unknown, symbols.len())));
    loop {
        let packed = pack(program, symbols, &Room { limit, cost: &cost });
        let text = format!("{}{}", render(&packed), note(unknown, packed.omitted));
        if tokens::fits(&visible(&text), budget) {
            return (packed, text);
        }
        if limit < 8 {
            let omitted = symbols.len();
            return (Packed { omitted, ..Packed::default() }, fitting(note(&[], omitted), budget));
        }
        limit -= (limit / 20).max(1);
    }
}

fn fitting(text: String, budget: usize) -> String {
    if tokens::fits(&visible(&text), budget) { text } else { "[no room]".to_owned() }
}

fn render(packed: &Packed) -> String {
    let mut text = String::new();
    for file in &packed.files {
        text.push_str(&file_line(&visible_path(&file.path)));
        file.symbols.iter().for_each(|symbol| text.push_str(&symbol_line(symbol)));
    }
    text
}

fn unknown_line(unknown: &[String]) -> String {
    let names: Vec<_> = unknown.iter().take(3).map(|one| visible_field(one, 40)).collect();
    if names.is_empty() { String::new() } else { format!("[not found: {}]\n", names.join(", ")) }
}

fn note(unknown: &[String], omitted: usize) -> String {
    let left =
        if omitted > 0 { format!("[{} left out]\n", counted(omitted, "symbol")) } else { String::new() };
    format!("{}{left}", unknown_line(unknown))
}

impl Render for Output {
    fn title(&self) -> String {
        let symbols = self.files.iter().map(|file| file.symbols.len()).sum();
        format!(
            "Map of {}: {} of {}",
            self.path,
            counted(symbols, "symbol"),
            counted(self.files.len(), "file")
        )
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        self.text.clone()
    }

    fn preview(&self) -> Vec<String> {
        self.text.lines().take(4).map(str::to_owned).collect()
    }

    fn truncated(&self) -> bool {
        self.omitted > 0
    }
}
