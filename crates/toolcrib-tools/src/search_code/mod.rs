//! `search_code`: symbols by name, and code by its shape.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::facts::Kind;
use toolcrib_code::index::IndexReport;
use toolcrib_code::lang::Language;
use toolcrib_code::pattern::{PatternHits, PatternQuery, pattern};
use toolcrib_code::search::{SymbolHits, SymbolQuery, symbols};
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::sanitize::{visible_field, visible_path};
use toolcrib_core::{
    CallContext, Effects, Hint, Render, RenderContext, Tool, ToolError, ToolSpec, Violations,
};

use crate::support::code::{CodeEngine, control, notes};
use crate::support::errors::tool_error;
use crate::support::listing::counted;
use crate::support::roots::Stop;

const DEFAULT_LIMIT: usize = 30;
const MAX_LIMIT: usize = 500;

/// Finds code.
pub struct SearchCode;

/// What to find.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (A name.)
    pub query: Option<String>,
    /// `$X` is one node, `$$$X` any number.
    pub pattern: Option<String>,
    /// `function`, `method`, `class`, …
    pub kind: Option<String>,
    /// (`rust`, `python`, `typescript`, …)
    pub language: Option<String>,
    /// Folder, file or glob.
    pub path: Option<String>,
    /// (At most; default 30.)
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<usize>,
    /// (How many to skip.)
    pub offset: Option<usize>,
    /// (Also what .gitignore excludes.)
    pub include_ignored: Option<bool>,
}

#[derive(Serialize)]
struct Hit {
    name: String,
    kind: String,
    path: String,
    line: u32,
    end_line: u32,
    signature: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    enclosing: Option<String>,
    score: u32,
}

/// What was found.
#[derive(Serialize)]
pub struct Output {
    hits: Vec<Hit>,
    total: usize,
    next_offset: Option<usize>,
    index: IndexReport,
    #[serde(skip)]
    input: Option<Input>,
}

impl Output {
    fn of_symbols(found: SymbolHits, index: IndexReport) -> Self {
        let hit = |hit: toolcrib_code::search::SymbolHit| Hit {
            name: hit.name,
            kind: hit.kind.to_owned(),
            path: hit.path,
            line: hit.line,
            end_line: hit.end_line,
            signature: hit.signature,
            enclosing: hit.enclosing,
            score: hit.score,
        };
        let hits = found.hits.into_iter().map(hit).collect();
        Self { hits, total: found.total, next_offset: found.next_offset, index, input: None }
    }

    fn of_pattern(found: PatternHits, index: IndexReport) -> Self {
        let hit = |hit: toolcrib_code::pattern::PatternHit| Hit {
            name: hit.name,
            kind: hit.kind,
            path: hit.path,
            line: hit.line,
            end_line: hit.end_line,
            signature: hit.signature,
            enclosing: hit.enclosing,
            // Code fits a pattern or it does not.
            score: 1000,
        };
        let hits = found.hits.into_iter().map(hit).collect();
        Self { hits, total: found.total, next_offset: found.next_offset, index, input: None }
    }
}

fn kind_of(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.as_str() == name.to_ascii_lowercase())
}

fn kinds() -> String {
    Kind::ALL.map(Kind::as_str).join(", ")
}

fn languages() -> String {
    toolcrib_code::lang::ALL.iter().map(|language| language.name).collect::<Vec<_>>().join(", ")
}

impl Tool for SearchCode {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("search_code", "Search code", include_str!("description.md"))
            .example("a symbol", json!({"query": "parse_config", "kind": "function"}))
            .example("a shape", json!({"pattern": "console.log($X)", "path": "src"}))
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        let wrong = |path: &str, expected: String, got: &str| {
            Err(vec![Violation { path: path.into(), expected, got: format!("{got:?}") }])
        };
        let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        if given(&input.query) == given(&input.pattern) {
            let got = if given(&input.query) { "both" } else { "neither" };
            return wrong("", "either `query` or `pattern`".into(), got);
        }
        if let Some(kind) = input.kind.as_deref().filter(|kind| kind_of(kind).is_none()) {
            return wrong("kind", format!("one of {}", kinds()), kind);
        }
        match input.language.as_deref() {
            Some(name) if Language::by_name(name).is_none() => {
                wrong("language", format!("one of {}", languages()), name)
            }
            _ => Ok(()),
        }
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.path.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let control = control(input.include_ignored, &stop);
        cx.blocking(move |cx| {
            let snapshot = cx.get::<CodeEngine>()?.refresh(cx, &control)?;
            let report = snapshot.report().clone();
            let language = input.language.as_deref().and_then(Language::by_name);
            let limit = input.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
            let (path, offset) = (input.path.clone(), input.offset.unwrap_or(0));
            let output = match &input.pattern {
                Some(text) if !text.trim().is_empty() => {
                    let query = PatternQuery { pattern: text.clone(), language, path, offset, limit };
                    let found = pattern(&snapshot, &query, &control).map_err(|error| tool_error(&error))?;
                    Output::of_pattern(found, report)
                }
                _ => {
                    let query = input.query.clone().unwrap_or_default();
                    let kinds = input.kind.as_deref().and_then(kind_of).into_iter().collect();
                    let query = SymbolQuery { query, kinds, language, path, offset, limit };
                    let found = symbols(&snapshot, &query).map_err(|error| tool_error(&error))?;
                    Output::of_symbols(found, report)
                }
            };
            Ok(Output { input: Some(input), ..output })
        })
        .await
    }
}

impl Render for Output {
    fn title(&self) -> String {
        let what = self.input.as_ref().and_then(|input| input.query.clone().or(input.pattern.clone()));
        format!("{} for {}", counted(self.total, "hit"), visible_field(&what.unwrap_or_default(), 60))
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        if self.hits.is_empty() {
            return format!("Nothing found in {}.", counted(self.index.files, "source file"));
        }
        let mut text = String::new();
        let mut last = "";
        for hit in &self.hits {
            if hit.path != last {
                text.push_str(&format!("{}\n", visible_path(&hit.path)));
                last = &hit.path;
            }
            let inside = hit.enclosing.as_ref().map_or_else(String::new, |name| format!("  [in {name}]"));
            let lines = if hit.end_line > hit.line {
                format!("{}-{}", hit.line, hit.end_line)
            } else {
                hit.line.to_string()
            };
            text.push_str(&format!("{lines}\t{}{inside}\n", hit.signature));
        }
        let left = self.total.saturating_sub(self.hits.len());
        if left > 0 {
            text.push_str(&format!("[{} of {}]\n", counted(self.hits.len(), "hit"), self.total));
        }
        text
    }

    fn hints(&self) -> Vec<Hint> {
        let next = |offset: usize| {
            let mut input = serde_json::to_value(self.input.as_ref()?).ok()?;
            let fields = input.as_object_mut()?;
            fields.retain(|_, value| !value.is_null());
            fields.insert("offset".into(), json!(offset));
            Some(Hint::new("for more", "search_code", input))
        };
        self.next_offset.and_then(next).into_iter().collect()
    }

    fn truncated(&self) -> bool {
        self.next_offset.is_some()
    }

    fn warnings(&self) -> Vec<String> {
        notes(&self.index)
    }
}
