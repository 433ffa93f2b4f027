//! `get_imports_exports`: what a file takes from others, and gives to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::index::IndexReport;
use toolcrib_code::query::imports::{ExportInfo, FileImports, ImportInfo, ImportedName, imports_exports};
use toolcrib_core::sanitize::{visible_field, visible_path};
use toolcrib_core::{CallContext, Effects, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;

use crate::support::code::{CodeEngine, control};
use crate::support::errors::tool_error;
use crate::support::listing::counted;
use crate::support::places::source_file;
use crate::support::roots::Stop;

/// Names of one line that are shown at most.
const MAX_NAMES: usize = 40;

/// Tells the imports and exports of a file.
pub struct GetImportsExports;

/// Of which file.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The source file.)
    pub file: String,
    /// (Also ignored files.)
    pub include_ignored: Option<bool>,
}

/// What was found.
#[derive(Serialize)]
pub struct Output {
    file: String,
    #[serde(flatten)]
    found: FileImports,
    index: IndexReport,
}

impl Tool for GetImportsExports {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("get_imports_exports", "Get imports exports", include_str!("description.md"))
            .example("a file", json!({"file": "src/main.rs"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([&input.file])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let control = control(input.include_ignored, &stop);
        cx.blocking(move |cx| {
            let workspace = cx.get::<ReadWorkspace>()?;
            let program = cx.get::<CodeEngine>()?.program(cx, &control)?;
            let number = source_file(&workspace, &program, &input.file, control.include_ignored)?;
            let found = imports_exports(&program, number, &control).map_err(|error| tool_error(&error))?;
            let file = program.file(number).map_or_else(|| input.file.clone(), |file| file.path.clone());
            Ok(Output { file, found, index: program.snapshot().report().clone() })
        })
        .await
    }
}

fn named(name: &ImportedName) -> String {
    let mut text = visible_field(&name.name, 80).into_owned();
    if let Some(alias) = &name.alias {
        text.push_str(&format!(" as {}", visible_field(alias, 80)));
    }
    if let Some(resolved) = &name.resolved {
        text.push_str(&format!(" [{}]", visible_path(resolved)));
    }
    if name.used == Some(false) {
        text.push_str(" (unused)");
    }
    text
}

fn cut(names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let shown: Vec<String> = names.into_iter().take(MAX_NAMES).collect();
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

/// `3 ./store: open, close as shut -> src/store.ts`.
fn import_line(import: &ImportInfo) -> String {
    let mut text = format!("{}\t{}", import.line, visible_field(&import.source, 160));
    if let Some(alias) = &import.alias {
        text.push_str(&format!(" as {}", visible_field(alias, 80)));
    }
    if !import.names.is_empty() {
        text.push_str(&format!(": {}", cut(import.names.iter().map(named).collect())));
    }
    if !matches!(import.kind, "names" | "module" | "glob" | "include") {
        text.push_str(&format!(" ({})", import.kind));
    }
    if import.used == Some(false) {
        text.push_str(" (unused)");
    }
    let to = match (&import.resolved, &import.package, &import.unresolved) {
        (Some(path), _, _) => visible_path(path).into_owned(),
        (_, Some(package), _) => format!("package {}", visible_field(package, 80)),
        (_, _, Some(why)) => format!("unresolved: {}", visible_field(why, 160)),
        _ => "unresolved".into(),
    };
    format!("{text} -> {to}")
}

/// `12 function open, imported by 3`.
fn export_line(export: &ExportInfo) -> String {
    let mut text = format!("{}\t{} {}", export.line, export.kind, visible_field(&export.name, 80));
    if export.default == Some(true) && export.name != "default" {
        text.push_str(" (default)");
    }
    if let Some(from) = &export.from {
        text.push_str(&format!(" from {}", visible_field(from, 160)));
    }
    if let Some(importers) = export.importers {
        text.push_str(&format!(", imported by {importers}"));
    }
    text
}

impl Render for Output {
    fn title(&self) -> String {
        let (imports, exports) = (self.found.imports.len(), self.found.exports.len());
        format!("{} and {} of {}", counted(imports, "import"), counted(exports, "export"), self.file)
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let mut lines = Vec::new();
        match self.found.imports.as_slice() {
            [] => lines.push("No imports.".to_owned()),
            imports => {
                lines.push("Imports:".to_owned());
                lines.extend(imports.iter().map(import_line));
            }
        }
        match self.found.exports.as_slice() {
            [] => lines.push("No exports.".to_owned()),
            exports => {
                lines.push("Exports:".to_owned());
                lines.extend(exports.iter().map(export_line));
            }
        }
        lines.join("\n")
    }
}
