//! `resolve_symbol`: from a name to what it stands for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::index::{Control, IndexReport};
use toolcrib_code::query::{Candidate, Located, Step, resolve};
use toolcrib_code::resolve::Label;
use toolcrib_core::sanitize::{visible_field, visible_path};
use toolcrib_core::{CallContext, Effects, Render, RenderContext, Tool, ToolError, ToolSpec, Violations};

use crate::support::code::{CodeEngine, control, notes};
use crate::support::errors::tool_error;
use crate::support::roots::Stop;
use crate::support::symbols::{Asked, check, listed, not_found, unless_resolved};

/// Finds what a name stands for.
pub struct ResolveSymbol;

/// Which name, seen from where.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// `name`, `a.b`, `path:line`.
    pub symbol: String,
    /// Where it is written.
    pub file: Option<String>,
    /// And the line.
    pub line: Option<u32>,
    /// And column.
    pub column: Option<u32>,
}

/// What it stands for.
#[derive(Serialize)]
pub struct Output {
    definition: Option<Located>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<String>,
    chain: Vec<Step>,
    label: Label,
    reason: String,
    candidates: Vec<Candidate>,
    index: IndexReport,
    #[serde(skip)]
    fitting: usize,
    #[serde(skip)]
    symbol: String,
}

fn run(cx: &CallContext, input: &Input, control: &Control<'_>) -> Result<Output, ToolError> {
    let asked = Asked::new(cx, &input.symbol, input.file.as_deref(), input.line, input.column)?;
    let program = cx.get::<CodeEngine>()?.program(cx, control)?;
    asked.is_indexed(cx, &program)?;
    let found = resolve(&program, &asked.wanted(), control).map_err(|error| tool_error(&error))?;
    let found = found.map_err(|missing| not_found(&missing, &input.symbol))?;
    Ok(Output {
        definition: found.definition,
        package: found.package,
        chain: found.chain,
        label: found.label,
        reason: found.reason,
        candidates: found.candidates,
        fitting: found.total,
        symbol: input.symbol.trim().to_owned(),
        index: program.snapshot().report().clone(),
    })
}

impl Tool for ResolveSymbol {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("resolve_symbol", "Resolve a symbol", include_str!("description.md"))
            .example("a use", json!({"symbol": "load", "file": "src/main.py", "line": 12}))
            .example("a name that a file imports", json!({"symbol": "Config", "file": "src/main.ts"}))
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        check(&input.symbol, input.line, input.column)
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.file.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let control = control(None, &stop);
        cx.blocking(move |cx| run(cx, &input, &control)).await
    }
}

impl Render for Output {
    fn title(&self) -> String {
        let symbol = visible_field(&self.symbol, 60);
        match (&self.definition, &self.package) {
            (Some(found), _) => format!("{symbol} is at {}:{}", visible_path(&found.path), found.line),
            (None, Some(package)) => format!("{symbol} is of {}", visible_field(package, 60)),
            (None, None) => format!("{symbol} is not resolved"),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let mut text = match (&self.definition, &self.package) {
            (Some(found), _) => {
                let label =
                    unless_resolved(self.label).map_or_else(String::new, |label| format!(" ({label})"));
                let place = format!("{}:{}:{}", visible_path(&found.path), found.line, found.column);
                let head = visible_field(&found.signature, 400);
                let colon = if head.is_empty() { "" } else { ": " };
                format!("{} {place}{label}{colon}{head}\n", found.kind)
            }
            (None, Some(package)) => {
                format!("Not defined here: it is of {}.\n", visible_field(package, 100))
            }
            (None, None) => format!("Not resolved: {}.\n", visible_field(&self.reason, 300)),
        };
        for step in &self.chain {
            text.push_str(&format!("{} {}:{}\n", step.via, visible_path(&step.path), step.line));
        }
        if !self.candidates.is_empty() {
            let say = if self.fitting == 1 { "The only definition of that name:" } else { "It may be:" };
            text.push_str(&format!("{say}\n{}", listed(&self.candidates, self.fitting)));
        }
        text
    }

    fn warnings(&self) -> Vec<String> {
        notes(&self.index)
    }
}
