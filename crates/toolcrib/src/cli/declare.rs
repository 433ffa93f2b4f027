//! `toolcrib tools`, `describe` and `declarations`.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::external::FileReport;
use toolcrib::{ErrorCode, ExternalTools, Registry, ToolFolders, Workspace};
use toolcrib_core::declarations::{Format, declarations as declare};
use toolcrib_core::profile::{BoundProfile, ProfileTool};
use toolcrib_core::sanitize;

use super::Global;
use super::output::{Failure, Output};
use super::setup;

/// The tools of the profile, and those that files describe. A workspace that cannot be opened has none.
pub(crate) fn profile(global: &Global) -> Result<(BoundProfile, Option<ExternalTools>), Failure> {
    let registry = Arc::new(Registry::new());
    toolcrib::tools::register_builtins(&registry, &toolcrib::Workspace::memory().read_only())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let external = external(global, &registry);
    let profile = toolcrib::tools::profiles::profile(&global.profile).map_err(Failure::usage)?;
    let bound = profile.bind(&registry).map_err(|wrong| Failure::usage(wrong.join("; ")))?;
    Ok((bound, external))
}

/// The tools that files describe, in this registry.
pub(crate) fn external(global: &Global, registry: &Arc<Registry>) -> Option<ExternalTools> {
    let roots = setup::roots(global).ok()?;
    let state = setup::state_of(&roots).ok();
    let (path, access) = roots.into_iter().next()?;
    let workspace = Workspace::builder().root(path, access).build().ok()?.read_only();
    Some(ExternalTools::load(ToolFolders::usual(&workspace), registry, &workspace, state.as_ref()))
}

fn workspace_name(global: &Global) -> String {
    let first = setup::roots(global).ok().and_then(|roots| roots.into_iter().next());
    let name = first.and_then(|(path, _)| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| "the workspace".into())
}

fn permissions(tool: &ProfileTool) -> Vec<&'static str> {
    tool.tool.spec().permissions().iter().map(|permission| permission.as_str()).collect()
}

fn describe_json(tool: &ProfileTool, workspace: &str) -> Value {
    let spec = tool.tool.spec();
    let examples: Vec<Value> =
        tool.examples().map(|(title, input)| json!({"title": title, "input": input})).collect();
    json!({
        "name": tool.shown, "tool": spec.name, "version": spec.version, "title": spec.title,
        "description": tool.view(workspace).description, "permissions": permissions(tool),
        "capabilities": spec.capabilities, "modes": spec.modes, "timeout_s": spec.timeout.as_secs_f64(),
        "input_schema": tool.schema(), "examples": examples, "origin": spec.origin,
    })
}

pub(crate) fn tools(global: &Global, output: &Output) -> Result<ExitCode, Failure> {
    let (profile, external) = profile(global)?;
    let workspace = workspace_name(global);
    let shown: Vec<_> =
        profile.tools.iter().filter(|tool| tool.tool.spec().modes.contains(&global.mode.into())).collect();
    let all: Vec<Value> = shown.iter().map(|tool| describe_json(tool, &workspace)).collect();
    let files = external.map(|external| external.report()).unwrap_or_default();
    let reported: Vec<Value> = files.iter().map(file_json).collect();
    output.print(&json!({"profile": profile.name, "tools": all, "files": reported}), |output| {
        let width = shown.iter().map(|tool| tool.shown.len()).max().unwrap_or(0);
        let line = |tool: &&&Arc<ProfileTool>| {
            let first = tool.view(&workspace).description;
            let first = first.split(['.', ':']).next().unwrap_or_default().to_owned();
            let origin = tool.tool.spec().origin.as_ref();
            let origin = origin.map_or_else(String::new, |origin| output.dim(&format!("  ({origin})")));
            let name = output.bold(&format!("{:<width$}", tool.shown));
            format!("{name}  {:<7}  {first}{origin}", strongest(tool))
        };
        let mut lines: Vec<String> = shown.iter().map(|tool| line(&tool)).collect();
        lines.extend(files.iter().filter_map(|file| file_line(file, output)));
        lines.join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

fn file_json(report: &FileReport) -> Value {
    json!({
        "file": report.file, "origin": report.origin.as_str(), "tool": report.tool, "trusted": report.trusted,
        "last_good": report.last_good, "line": report.problem.as_ref().and_then(|problem| problem.line),
        "problem": report.problem.as_ref().map(|problem| problem.message.clone()),
    })
}

/// What there is to say about a file that is not simply in use.
pub(crate) fn file_line(report: &FileReport, output: &Output) -> Option<String> {
    let file = sanitize::visible_path(&report.file);
    if let Some(problem) = &report.problem {
        let place = problem.line.map_or_else(String::new, |line| format!(":{line}"));
        let message = sanitize::visible_path(&problem.message);
        let instead = match &report.tool {
            Some(tool) => format!("; the last good version of {tool} stays in use"),
            None => String::new(),
        };
        return Some(format!("{} {file}{place}: {message}{instead}", output.red("broken")));
    }
    let tool = report.tool.as_ref().filter(|_| !report.trusted)?;
    let how = format!("toolcrib tools trust {tool}");
    Some(format!(
        "{} {file}: an agent's calls of {tool} are asked for until you {how}",
        output.yellow("not trusted")
    ))
}

/// The permission that says most about a tool.
fn strongest(tool: &ProfileTool) -> &'static str {
    permissions(tool).last().copied().unwrap_or("read")
}

pub(crate) fn describe(global: &Global, name: &str, output: &Output) -> Result<ExitCode, Failure> {
    let (profile, _) = profile(global)?;
    let Some(tool) = profile.get(name) else {
        let names: Vec<&str> = profile.tools.iter().map(|tool| tool.shown.as_str()).collect();
        return Err(Failure::usage(format!("there is no tool {name:?}"))
            .code(ErrorCode::ToolNotFound)
            .suggest(format!("The tools are: {}.", names.join(", "))));
    };
    let described = describe_json(tool, &workspace_name(global));
    output.print(&described, |output| describe_text(tool, &described, output));
    Ok(ExitCode::SUCCESS)
}

fn describe_text(tool: &ProfileTool, described: &Value, output: &Output) -> String {
    let spec = tool.tool.spec();
    let mut text = format!(
        "{} {}  {}\n\n{}\n\nParameters:\n",
        output.bold(&tool.shown),
        spec.version,
        output.dim(&format!("needs {}", permissions(tool).join(", "))),
        described["description"].as_str().unwrap_or_default(),
    );
    let schema = tool.schema();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
        let kind = type_name(parameter);
        let must = if required.contains(&name.as_str()) { ", required" } else { "" };
        let about = parameter["description"].as_str().unwrap_or_default();
        // An aside is left out of declarations; to people it is as good as any other.
        let about = about.strip_prefix('(').and_then(|about| about.strip_suffix(')')).unwrap_or(about);
        text.push_str(&format!(
            "  {}  {}\n      {about}\n",
            output.bold(name),
            output.dim(&format!("{kind}{must}"))
        ));
    }
    text.push_str("\nExamples:\n");
    for (title, input) in tool.examples() {
        text.push_str(&format!("  {title}:\n      toolcrib call {} '{input}'\n", tool.shown));
    }
    text
}

fn type_name(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ");
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        return branches.iter().map(type_name).collect::<Vec<_>>().join(" or ");
    }
    match (schema["type"].as_str(), schema.get("items")) {
        (Some("array"), Some(items)) => format!("list of {}", type_name(items)),
        (Some(kind), _) => kind.to_owned(),
        _ => "any".into(),
    }
}

pub(crate) fn declarations(global: &Global, format: Format, output: &Output) -> Result<ExitCode, Failure> {
    let (profile, _) = profile(global)?;
    let views = profile.views(global.mode.into(), &workspace_name(global));
    let declared = declare(format, &views);
    output.print(&declared, |_| serde_json::to_string_pretty(&declared).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}
