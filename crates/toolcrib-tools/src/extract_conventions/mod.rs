//! `extract_conventions`: how code is written here, measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::project::{Conventions, Measure, Report, conventions};
use toolcrib_core::{CallContext, Effects, Render, RenderContext, Tool, ToolError, ToolSpec};
use toolcrib_workspace::ReadWorkspace;

use crate::support::project::{field, scanned};
use crate::support::roots::{Stop, walk_options};

/// Measures the conventions of a folder.
pub struct ExtractConventions;

/// Where to look.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (The folder; default: all.)
    pub path: Option<String>,
}

/// What was measured.
#[derive(Serialize)]
pub struct Output {
    #[serde(flatten)]
    report: Report,
    #[serde(skip)]
    path: String,
}

impl Tool for ExtractConventions {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("extract_conventions", "Extract conventions", include_str!("description.md"))
            .example("of one folder", json!({"path": "src"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.path.as_deref().unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let walk = walk_options(None, &stop);
        cx.blocking(move |cx| {
            let workspace = cx.get::<ReadWorkspace>()?;
            let report = scanned(&workspace, input.path.as_deref(), walk, conventions)?;
            Ok(Output { report, path: input.path.unwrap_or_else(|| ".".into()) })
        })
        .await
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `snake_case (98 % of 120: parse_config, read_all)`.
fn shown(measure: &Measure) -> String {
    let examples: Vec<String> = measure.examples.iter().take(2).map(|text| field(text)).collect();
    let counts = || {
        let counts: Vec<String> =
            measure.counts.iter().map(|(style, n)| format!("{} {n}", field(style))).collect();
        counts.join(", ")
    };
    match measure.style.as_str() {
        "none" => format!("none ({})", counts()),
        style => {
            format!("{} ({} of {}: {})", field(style), percent(measure.share), measure.n, examples.join(", "))
        }
    }
}

fn describe(conventions: &Conventions) -> Vec<String> {
    let mut lines = Vec::new();
    let kinds = ["function", "type", "constant", "variable", "module", "test", "file"];
    for kind in kinds {
        if let Some(measure) = conventions.naming.get(kind).filter(|measure| measure.n > 0) {
            lines.push(format!("{kind} names: {}", shown(measure)));
        }
    }
    let imports = &conventions.imports;
    let rest = [
        ("indent", &conventions.indent),
        ("quotes", &conventions.quotes),
        ("semicolons", &conventions.semicolons),
        ("import order", &imports.order),
        ("import groups", &imports.groups),
        ("import form", &imports.form),
        ("import paths", &imports.paths),
        ("test layout", &conventions.tests.layout),
        ("test files", &conventions.tests.naming),
        ("errors", &conventions.errors.measure),
    ];
    lines.extend(
        rest.into_iter()
            .filter(|(_, measure)| measure.n > 0)
            .map(|(what, measure)| format!("{what}: {}", shown(measure))),
    );
    let uses: Vec<String> = conventions.errors.uses.iter().map(|(what, n)| format!("{what} {n}")).collect();
    if !uses.is_empty() {
        lines.push(format!("error means: {}", uses.join(", ")));
    }
    let length = &conventions.line_length;
    if length.n > 0 {
        let limit = match length.style.as_str() {
            "none" => "no limit".to_owned(),
            limit => format!("at most {limit} ({} of {})", percent(length.share), length.n),
        };
        lines.push(format!(
            "line length: {limit}; half up to {}, 95 % up to {}, longest {}",
            length.p50, length.p95, length.max
        ));
    }
    let docs = &conventions.docs;
    if docs.n > 0 {
        let form = docs
            .form
            .counts
            .iter()
            .max_by_key(|(_, n)| **n)
            .map_or(String::new(), |(form, _)| format!(", as {form}"));
        lines.push(format!("docs: {} of {} public items{form}", percent(docs.share), docs.n));
    }
    lines
}

impl Render for Output {
    fn title(&self) -> String {
        format!("Measured the conventions of {} ({} files)", self.path, self.report.sampled_files)
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let report = &self.report;
        if report.sampled_files == 0 {
            return "Nothing found: no source files to measure.".into();
        }
        let mut lines = vec![format!("{} ({} files):", report.language, report.main.files)];
        lines.extend(describe(&report.main));
        for (language, conventions) in &report.by_language {
            lines.push(format!("\n{language} ({} files):", conventions.files));
            lines.extend(describe(conventions));
        }
        if !report.configured.is_empty() {
            lines.push("\nSettings:".into());
            let settings = report.configured.iter();
            lines.extend(settings.map(|one| {
                format!("{} = {} ({})", field(&one.name), field(&one.value), field(&one.evidence))
            }));
        }
        if report.sampled_files < report.total_files {
            lines.push(format!("\n[{} of {} files measured]", report.sampled_files, report.total_files));
        }
        lines.join("\n")
    }

    fn warnings(&self) -> Vec<String> {
        self.report.warnings.clone()
    }
}
