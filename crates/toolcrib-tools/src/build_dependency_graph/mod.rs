//! `build_dependency_graph`: which files or packages need which.

mod show;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::index::IndexReport;
use toolcrib_code::query::graph::{Graph, GraphQuery, Level, graph};
use toolcrib_core::{CallContext, Effects, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;

use crate::support::code::{CodeEngine, control, notes};
use crate::support::errors::tool_error;
use crate::support::listing::counted;
use crate::support::places::place;
use crate::support::roots::Stop;

const DEFAULT_LIMIT: usize = 100;

/// Builds a graph of dependencies.
pub struct BuildDependencyGraph;

/// What the nodes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Nodes {
    #[default]
    File,
    Package,
}

/// How to show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Format {
    #[default]
    Text,
    Json,
    Mermaid,
    Dot,
}

/// Of what.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (File or folder to start from.)
    pub path: Option<String>,
    /// (What the nodes are; default: files.)
    pub level: Option<Nodes>,
    /// (How to show it; default: text.)
    pub format: Option<Format>,
    /// (Steps to follow; from a file by default as far as it goes.)
    #[schemars(range(min = 1, max = 1000))]
    pub depth: Option<usize>,
    /// (Nodes at most, the best connected; default 100.)
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<usize>,
    /// (Also ignored files.)
    pub include_ignored: Option<bool>,
}

/// The graph.
#[derive(Serialize)]
pub struct Output {
    #[serde(flatten)]
    graph: Graph,
    index: IndexReport,
    #[serde(skip)]
    format: Format,
    #[serde(skip)]
    packages: bool,
    #[serde(skip)]
    path: String,
}

impl Tool for BuildDependencyGraph {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("build_dependency_graph", "Build dependency graph", include_str!("description.md"))
            .example("what a file depends on", json!({"path": "src/main.ts", "depth": 2}))
            .example("packages as a picture", json!({"level": "package", "format": "mermaid"}))
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
            let program = cx.get::<CodeEngine>()?.program(cx, &control)?;
            let packages = input.level == Some(Nodes::Package);
            let query = GraphQuery {
                path: path.clone(),
                level: if packages { Level::Package } else { Level::File },
                depth: input.depth,
                limit: input.limit.unwrap_or(DEFAULT_LIMIT),
                is_manifest: &|path| workspace.stat(path).is_ok(),
            };
            let graph = graph(&program, &query, &control).map_err(|error| tool_error(&error))?;
            Ok(Output {
                graph,
                index: program.snapshot().report().clone(),
                format: input.format.unwrap_or_default(),
                packages,
                path: path.unwrap_or_else(|| ".".into()),
            })
        })
        .await
    }
}

impl Output {
    fn what(&self) -> &'static str {
        if self.packages { "package" } else { "file" }
    }
}

impl Render for Output {
    fn title(&self) -> String {
        let (nodes, edges) = (self.graph.total_nodes, self.graph.total_edges);
        format!("Dependencies of {}: {}, {}", self.path, counted(nodes, self.what()), counted(edges, "edge"))
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        if self.graph.nodes.is_empty() {
            return format!("No source files at {}.", toolcrib_core::sanitize::visible_path(&self.path));
        }
        match self.format {
            Format::Text => show::text(&self.graph, self.what()),
            Format::Json => show::json(&self.graph),
            Format::Mermaid => show::mermaid(&self.graph),
            Format::Dot => show::dot(&self.graph),
        }
    }

    fn truncated(&self) -> bool {
        show::is_cut(&self.graph)
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = notes(&self.index);
        // Other formats are to be taken as they are, so what is cut is said beside them.
        if self.format != Format::Text && show::is_cut(&self.graph) {
            warnings.push(show::what_is_cut(&self.graph, self.what()));
        }
        warnings
    }
}
