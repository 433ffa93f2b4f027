//! `list_projects`: the projects of the workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::project::{Projects, projects};
use toolcrib_core::{CallContext, Effects, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;

use crate::support::listing::counted;
use crate::support::project::{field, scanned};
use crate::support::roots::{Stop, walk_options};

/// Lists the projects of the workspace.
pub struct ListProjects;

/// Nothing to say.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// What was found.
#[derive(Serialize)]
pub struct Output {
    #[serde(flatten)]
    found: Projects,
}

/// What the roots are called, in the order in which they are walked.
fn names(workspace: &ReadWorkspace) -> Vec<String> {
    let roots = workspace.roots().into_iter().filter(|root| root.mount.is_none());
    let name = |root: toolcrib_workspace::RootInfo| {
        let name =
            root.path.and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
        name.unwrap_or_else(|| "workspace".into())
    };
    roots.map(name).collect()
}

impl Tool for ListProjects {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("list_projects", "List projects", include_str!("description.md"))
            .example("all of them", json!({}))
    }

    fn effects(&self, _: &Input) -> Effects {
        Effects::reads(["."])
    }

    async fn run(&self, cx: &CallContext, _: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let walk = walk_options(None, &stop);
        cx.blocking(move |cx| {
            let workspace = cx.get::<ReadWorkspace>()?;
            let names = names(&workspace);
            let found = scanned(&workspace, None, walk, |scan| projects(scan, &names))?;
            Ok(Output { found })
        })
        .await
    }
}

impl Render for Output {
    fn title(&self) -> String {
        format!("Found {}", counted(self.found.total, "project"))
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        if self.found.projects.is_empty() {
            return "Nothing found: no manifest of any build system, and no files.".into();
        }
        let line = |project: &toolcrib_code::project::Project| {
            let of = if project.root == project.path {
                String::new()
            } else {
                format!(", member of {}", field(&project.root))
            };
            format!("{} ({}) at {}{of}", field(&project.name), project.kind, field(&project.path))
        };
        let mut lines: Vec<String> = self.found.projects.iter().map(line).collect();
        let more = self.found.total.saturating_sub(lines.len());
        if more > 0 {
            lines.push(format!("[{more} more not listed]"));
        }
        lines.join("\n")
    }

    fn preview(&self) -> Vec<String> {
        self.found.projects.iter().take(8).map(|project| project.name.clone()).collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.found.warnings.clone()
    }
}
