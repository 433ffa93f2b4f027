//! `detect_project_type`: what a project is made with, each statement with its evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::project::{Found, ProjectType, detect};
use toolcrib_core::{CallContext, Effects, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;

use crate::support::project::{command_lines, field, scanned};
use crate::support::roots::{Stop, walk_options};

/// Tells what kind of project a folder is.
pub struct DetectProjectType;

/// Where to look.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The folder; default: all.)
    pub path: Option<String>,
}

/// What was found.
#[derive(Serialize)]
pub struct Output {
    #[serde(flatten)]
    found: ProjectType,
    #[serde(skip)]
    path: String,
}

impl Tool for DetectProjectType {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("detect_project_type", "Detect project type", include_str!("description.md"))
            .example("a part of a monorepo", json!({"path": "packages/web"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.path.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let walk = walk_options(None, &stop);
        cx.blocking(move |cx| {
            let workspace = cx.get::<ReadWorkspace>()?;
            let found = scanned(&workspace, input.path.as_deref(), walk, detect)?;
            Ok(Output { found, path: input.path.unwrap_or_else(|| ".".into()) })
        })
        .await
    }
}

/// `Name: a (x:1), b (y:2)`.
fn line(name: &str, items: impl Iterator<Item = (String, String)>) -> Option<String> {
    let items: Vec<String> =
        items.map(|(what, evidence)| format!("{} ({})", field(&what), field(&evidence))).collect();
    (!items.is_empty()).then(|| format!("{name}: {}", items.join(", ")))
}

fn found(list: &[Found]) -> impl Iterator<Item = (String, String)> + '_ {
    list.iter().map(|one| (one.name.clone(), one.evidence.clone()))
}

impl Render for Output {
    fn title(&self) -> String {
        let languages: Vec<&str> = self.found.languages.iter().take(3).map(|one| one.name.as_str()).collect();
        let what = if languages.is_empty() { "no code".to_owned() } else { languages.join(", ") };
        format!("Detected the project type of {}: {what}", self.path)
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let all = &self.found;
        let languages = all.languages.iter().map(|one| {
            (format!("{} {} lines in {} files", one.name, one.lines, one.files), one.evidence.clone())
        });
        let pins =
            all.toolchains.iter().map(|pin| (format!("{} {}", pin.name, pin.version), pin.evidence.clone()));
        let mut lines: Vec<String> = [
            line("Languages", languages),
            line("Build systems", found(&all.build_systems)),
            line("Package managers", found(&all.package_managers)),
            line("Frameworks", found(&all.frameworks)),
            line("Test frameworks", found(&all.test_frameworks)),
            line("Linters", found(&all.linters)),
            line("Toolchains", pins),
        ]
        .into_iter()
        .flatten()
        .collect();
        let commands = command_lines(&all.commands, usize::MAX);
        if !commands.is_empty() {
            lines.push("Commands:".into());
            lines.extend(commands);
        }
        if !all.workspaces.is_empty() {
            lines.push(format!("Members ({}):", all.workspaces.len()));
            let members = all.workspaces.iter().take(60);
            lines.extend(members.map(|one| {
                format!("  {} at {} ({})", field(&one.name), field(&one.path), field(&one.evidence))
            }));
            let more = all.workspaces.len().saturating_sub(60);
            if more > 0 {
                lines.push(format!("  [{more} more are in the data]"));
            }
        }
        if lines.is_empty() {
            return "Nothing found: no code, and no manifest of any build system.".into();
        }
        lines.join("\n")
    }

    fn warnings(&self) -> Vec<String> {
        self.found.warnings.clone()
    }
}
