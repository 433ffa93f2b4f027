//! `get_symbol_info`: what is known of one symbol.

mod show;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::index::{Control, IndexReport};
use toolcrib_code::query::{Candidate, Found, InfoQuery, Missing, Subject, SymbolInfo, pick, symbol_info};
use toolcrib_core::{CallContext, Effects, Tool, ToolError, ToolSpec, Violations};

use crate::support::code::{CodeEngine, control};
use crate::support::errors::tool_error;
use crate::support::roots::Stop;
use crate::support::symbols::{Asked, check, not_found};

const DEFAULT_LIMIT: usize = 30;
const MAX_LIMIT: usize = 500;

/// Tells what is known of a symbol.
pub struct GetSymbolInfo;

/// Which symbol.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Which one.
    pub symbol: String,
    /// Where it is defined.
    pub file: Option<String>,
    /// With its source.
    pub body: Option<bool>,
    /// Of each list (30).
    pub limit: Option<usize>,
}

/// What is known.
#[derive(Serialize)]
pub struct Output {
    #[serde(flatten)]
    info: Option<SymbolInfo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate>,
    index: IndexReport,
    #[serde(skip)]
    fitting: usize,
    #[serde(skip)]
    input: Input,
}

fn run(cx: &CallContext, input: Input, control: &Control<'_>) -> Result<Output, ToolError> {
    let asked = Asked::new(cx, &input.symbol, input.file.as_deref(), None, None)?;
    let program = cx.get::<CodeEngine>()?.program(cx, control)?;
    asked.is_indexed(cx, &program)?;
    let failed = |error: toolcrib_workspace::Error| tool_error(&error);
    let missing = |message: &str| {
        let missing = Missing { message: message.to_owned(), near: Vec::new() };
        not_found(&missing, &input.symbol)
    };
    let index = program.snapshot().report().clone();
    let (info, candidates, fitting) = match pick(&program, &asked.wanted(), control).map_err(failed)? {
        Found::One(Subject::Definition(def)) => {
            let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
            let query = InfoQuery { body: input.body == Some(true), limit };
            let info = symbol_info(&program, def, query, control).map_err(failed)?;
            let info = info.ok_or_else(|| missing("it was there, but its file has changed meanwhile"))?;
            (Some(info), Vec::new(), 0)
        }
        Found::One(Subject::Local { .. }) => {
            return Err(missing("that is a local, of which there is no more to tell"));
        }
        Found::Several(found) => (None, found.list, found.total),
        Found::Missing(found) => return Err(not_found(&found, &input.symbol)),
    };
    Ok(Output { info, candidates, index, fitting, input })
}

impl Tool for GetSymbolInfo {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("get_symbol_info", "Get symbol info", include_str!("description.md"))
            .example("a method", json!({"symbol": "Store/load", "body": true}))
            .example("what a line is in", json!({"symbol": "src/store.rs:42"}))
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        check(&input.symbol, None, None)
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.file.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let control = control(None, &stop);
        cx.blocking(move |cx| run(cx, input, &control)).await
    }
}
