//! What a program returned: text or JSON, or what went wrong.

use serde_json::{Value, json};
use toolcrib_core::json::{JsonLimits, parse_arguments};
use toolcrib_core::sanitize::visible_field;
use toolcrib_core::{CallContext, ErrorCode, Render, RenderContext, ToolError, ToolOutput};
use toolcrib_process::output::clean;
use toolcrib_process::{End, Level, Output, Process, Stream};
use toolcrib_tools::commands::{self, Withheld};

use crate::manifest::Results;
use crate::tool::CommandTool;

/// Lines and bytes of output that an error repeats.
const ERROR_LINES: usize = 40;
const ERROR_BYTES: usize = 4000;
/// How much JSON is kept in memory, and so can be read.
const MAX_JSON: usize = 512 << 10;

/// What is shown of a call.
struct Shown {
    title: String,
    text: String,
    warnings: Vec<String>,
    spill: Option<String>,
}

impl Render for Shown {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        self.text.clone()
    }

    fn preview(&self) -> Vec<String> {
        let last: Vec<&str> = self.text.lines().rev().take(5).collect();
        last.into_iter().rev().map(str::to_owned).collect()
    }

    fn truncated(&self) -> bool {
        self.spill.is_some()
    }

    fn spill(&self) -> Option<String> {
        self.spill.clone()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// A command in a title.
pub(crate) fn short(argv: &[String]) -> String {
    format!("`{}`", visible_field(&commands::typed(argv), 80))
}

/// What a program that has ended returned.
pub(crate) fn of(
    cx: &CallContext,
    tool: &CommandTool,
    argv: &[String],
    process: &Process,
) -> Result<ToolOutput, ToolError> {
    if let Some(End::Failed(why)) = process.end() {
        return Err(commands::failed(&why)
            .suggest(format!("The tool's file says to run {}: a person can mend that.", short(argv))));
    }
    let name = &tool.manifest.name;
    let output = process.output();
    let data = data(process, &output);
    let said = || tail(&commands::shown(&output.stdout.text(), &output.stderr.text()));
    if cx.cancellation().is_cancelled() {
        return Err(ToolError::new(ErrorCode::Cancelled, format!("{name} was stopped")).data(data));
    }
    if process.timed_out() {
        let seconds = process.duration().as_secs_f64();
        let message = format!("{name} was stopped after {seconds:.1} s; nothing of it is left{}", said());
        return Err(ToolError::new(ErrorCode::Timeout, message)
            .suggest("Ask for less at once; a person can raise `timeout` in the tool's file.")
            .retry(false)
            .data(data));
    }
    for warning in warnings(tool, process, &output) {
        cx.warn(warning);
    }
    let code = commands::exit_code(process);
    if code.is_none_or(|code| !tool.manifest.exit_codes.contains(&code)) {
        let how = code.map_or_else(|| "ended, nobody knows how".into(), |code| format!("exited with {code}"));
        return Err(ToolError::new(ErrorCode::CommandFailed, format!("{name} {how}{}", said()))
            .suggest("Look at what it printed; call it with other arguments, or go on without it.")
            .data(data));
    }
    let title = format!("{name} in {}", commands::seconds(commands::millis(process)));
    match &tool.manifest.results {
        Results::Text => Ok(text(cx, title, data, process, &output)),
        Results::Json(_) => result(tool, title, process, &output).map_err(|error| error.data(data)),
    }
}

fn data(process: &Process, output: &Output) -> Value {
    json!({
        "exit_code": commands::exit_code(process),
        "stdout": output.stdout.text(),
        "stderr": output.stderr.text(),
        "duration_ms": commands::millis(process),
        "sandbox": process.level(),
        "stdout_bytes": process.total(Stream::Stdout),
        "stderr_bytes": process.total(Stream::Stderr),
    })
}

fn text(cx: &CallContext, title: String, data: Value, process: &Process, output: &Output) -> ToolOutput {
    let tokens = cx.max_output_tokens().saturating_sub(300).max(cx.max_output_tokens() / 2) / 2;
    let out = commands::excerpt(&output.stdout, process, Stream::Stdout, tokens);
    let err = commands::excerpt(&output.stderr, process, Stream::Stderr, tokens);
    let (stdout, stderr) = (output.stdout.text(), output.stderr.text());
    let text = commands::shown(out.as_deref().unwrap_or(&stdout), err.as_deref().unwrap_or(&stderr));
    let text = if text.is_empty() { "(no output)".into() } else { text };
    let spill = [Stream::Stdout, Stream::Stderr].into_iter().find_map(|stream| process.spilled(stream));
    let view = Shown { title, text, warnings: Vec::new(), spill: spill.map(|(path, _)| path) };
    ToolOutput { data, view: Box::new(view) }
}

/// A result in JSON. What it printed besides, on its standard error, is worth knowing too.
fn result(
    tool: &CommandTool,
    title: String,
    process: &Process,
    output: &Output,
) -> Result<ToolOutput, ToolError> {
    let name = &tool.manifest.name;
    let defect = |code: ErrorCode, message: String| {
        ToolError::new(code, message)
            .suggest(format!("This is a defect of {name}: go on without it, or tell the person."))
    };
    if output.stdout.skipped > 0 {
        let total = process.total(Stream::Stdout);
        let message =
            format!("{name} printed {total} bytes, more than a result in JSON may have ({MAX_JSON})");
        return Err(defect(ErrorCode::LimitExceeded, message));
    }
    let printed = output.stdout.text();
    // As arguments, nothing would mean none.
    if printed.trim().is_empty() {
        let said = tail(&commands::shown("", &output.stderr.text()));
        return Err(defect(ErrorCode::CommandFailed, format!("{name} should print one JSON value{said}")));
    }
    let limits = JsonLimits { max_bytes: 2 * MAX_JSON, max_depth: 100 };
    let value = parse_arguments(printed.trim().as_bytes(), &limits).map_err(|error| {
        let said = tail(&commands::shown(&printed, &output.stderr.text()));
        defect(ErrorCode::CommandFailed, format!("{name} should print one JSON value: {error}{said}"))
    })?;
    let violations = tool.result.as_ref().map(|schema| schema.check(&value)).unwrap_or_default();
    if !violations.is_empty() {
        let listed: Vec<String> = violations
            .iter()
            .map(|violation| {
                let path = if violation.path.is_empty() { "the result" } else { &violation.path };
                format!("- {path}: expected {}, got {}", violation.expected, violation.got)
            })
            .collect();
        let message = format!("the result of {name} does not fit its schema:\n{}", listed.join("\n"));
        return Err(defect(ErrorCode::CommandFailed, message).details(json!({"violations": violations})));
    }
    let stderr = clean(&output.stderr.text()).into_owned();
    let warnings = if stderr.trim().is_empty() {
        Vec::new()
    } else {
        vec![format!(
            "it said on its standard error: {}",
            visible_field(commands::ceil(stderr.trim(), 500), 500)
        )]
    };
    let text = value.to_string();
    Ok(ToolOutput { data: value, view: Box::new(Shown { title, text, warnings, spill: None }) })
}

/// The end of the output, for an error's text.
fn tail(text: &str) -> String {
    if text.trim().is_empty() {
        return "; it had printed nothing".to_owned();
    }
    let lines: Vec<&str> = commands::ceil(text, ERROR_BYTES).lines().rev().take(ERROR_LINES).collect();
    format!(". Its last output:\n{}", lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
}

fn warnings(tool: &CommandTool, process: &Process, output: &Output) -> Vec<String> {
    let capabilities = tool.manifest.capabilities;
    let mut found: Vec<String> = Vec::new();
    match commands::withheld_from(process, output, capabilities.accesses_network) {
        Some(Withheld::Network) => {
            found.push("it had no network: its file does not list `network` under capabilities".into());
        }
        Some(_) if !capabilities.writes_files => {
            found.push("it could not write: its file does not list `write` under capabilities".into());
        }
        _ => found.extend(commands::withheld(process, output, capabilities.accesses_network)),
    }
    for path in process.put_back() {
        let path = commands::display(&path);
        found.push(format!("{path} is protected; it had changed while the program ran and was put back"));
    }
    if process.level() == Level::Policy {
        found.push("it ran without a sandbox".into());
    }
    found
}
