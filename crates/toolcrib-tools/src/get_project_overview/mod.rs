//! `get_project_overview`: what someone new to a project wants to know, within a budget.

mod show;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::project::{Overview, overview};
use toolcrib_core::{CallContext, Effects, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;

use crate::support::project::scanned;
use crate::support::roots::{Stop, walk_options};

/// Tokens of the text if the caller does not say.
const DEFAULT_BUDGET: usize = 1500;

/// Gives an overview of a project.
pub struct GetProjectOverview;

/// Of what, and how long.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The folder; default: all.)
    pub path: Option<String>,
    /// Tokens (default 1500).
    #[schemars(range(min = 50, max = 20_000))]
    pub budget: Option<usize>,
}

/// What there is to know.
#[derive(Serialize)]
pub struct Output {
    #[serde(flatten)]
    overview: Overview,
    /// Parts that the text leaves out to stay within the budget.
    omitted: Vec<String>,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    path: String,
}

impl Tool for GetProjectOverview {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("get_project_overview", "Get project overview", include_str!("description.md"))
            .example("in few words", json!({"budget": 500}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.path.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let walk = walk_options(None, &stop);
        cx.blocking(move |cx| {
            let workspace = cx.get::<ReadWorkspace>()?;
            let overview = scanned(&workspace, input.path.as_deref(), walk, overview)?;
            let budget = input.budget.unwrap_or(DEFAULT_BUDGET).min(cx.max_output_tokens());
            let (text, omitted) = show::within(&overview, budget);
            Ok(Output { overview, omitted, text, path: input.path.unwrap_or_else(|| ".".into()) })
        })
        .await
    }
}

impl Render for Output {
    fn title(&self) -> String {
        format!("Overview of {}", self.path)
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        self.text.clone()
    }

    fn preview(&self) -> Vec<String> {
        self.text.lines().take(4).map(str::to_owned).collect()
    }

    fn truncated(&self) -> bool {
        !self.omitted.is_empty()
    }

    fn warnings(&self) -> Vec<String> {
        self.overview.warnings.clone()
    }
}
