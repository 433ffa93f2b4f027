//! What a command returned, for models and people.

use serde::Serialize;
use serde_json::json;
use toolcrib_core::sanitize::visible_field;
use toolcrib_core::{CallContext, Hint, Render, RenderContext, ToolError};
use toolcrib_process::output::clean;
use toolcrib_process::{Level, Process, Stream};

use super::Input;
use crate::support::commands::{self, excerpt, exit_code, seconds, shown, withheld};

/// What a command returned.
#[derive(Serialize)]
pub struct Output {
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
    timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_id: Option<String>,
    sandbox: Level,
    network: bool,
    duration_ms: u64,
    /// Bytes that each stream had in all.
    stdout_bytes: u64,
    stderr_bytes: u64,
    #[serde(skip)]
    command: String,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    spilled: bool,
    #[serde(skip)]
    warnings: Vec<String>,
}

impl Output {
    pub(super) fn of(
        cx: &CallContext,
        input: &Input,
        process: &Process,
        process_id: Option<String>,
    ) -> Result<Self, ToolError> {
        // What runs on is read on from here by command_output.
        let output = if process_id.is_some() { process.new_output() } else { process.output() };
        let network = input.network == Some(true);
        let tokens = cx.max_output_tokens().saturating_sub(300).max(cx.max_output_tokens() / 2);
        let both = process.spilled(Stream::Stderr).is_some() && process.spilled(Stream::Stdout).is_some();
        let budget = if both { tokens / 2 } else { tokens };
        let out = excerpt(&output.stdout, process, Stream::Stdout, budget);
        let err = excerpt(&output.stderr, process, Stream::Stderr, budget);
        let spilled = out.is_some() || err.is_some();
        let (stdout, stderr) = (output.stdout.text(), output.stderr.text());
        let text = shown(out.as_deref().unwrap_or(&stdout), err.as_deref().unwrap_or(&stderr));
        let level = process.level();
        let mut warnings: Vec<String> =
            withheld(&output, network, level > Level::Policy).map(str::to_owned).into_iter().collect();
        warnings.extend(left_running(input, process));
        for path in process.put_back() {
            warnings.push(format!(
                "{} is protected; it had changed while the command ran and was put back",
                commands::display(&path)
            ));
        }
        if level == Level::Policy {
            warnings.push("it ran without a sandbox".into());
        }
        Ok(Self {
            exit_code: exit_code(process),
            stdout,
            stderr,
            timed_out: process.timed_out(),
            process_id,
            sandbox: level,
            network,
            duration_ms: commands::millis(process),
            stdout_bytes: process.total(Stream::Stdout),
            stderr_bytes: process.total(Stream::Stderr),
            command: short(&input.text()),
            text,
            spilled,
            warnings,
        })
    }
}

/// Whether something was to go on in the background that could not.
fn left_running(input: &Input, process: &Process) -> Option<String> {
    process.end()?;
    let line = input.command.as_deref().unwrap_or_default().trim_end();
    let meant = line.ends_with('&') && !line.ends_with("&&");
    let count = process.left_over();
    (meant || count > 0).then(|| {
        "what the command had left running was ended with it; to let something run on, use `background`"
            .to_owned()
    })
}

/// A command in a title.
pub(super) fn short(command: &str) -> String {
    let first = command.trim().lines().next().unwrap_or_default();
    let more = if command.trim().contains('\n') { " …" } else { "" };
    format!("`{}{more}`", visible_field(first, 80))
}

/// The end of the output, for an error's text.
pub(super) fn tail_for_error(output: &Output) -> String {
    let text = clean(&output.text).into_owned();
    if text.trim().is_empty() {
        return "; it had printed nothing".to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(40);
    let tail: Vec<&str> = lines.into_iter().skip(from).collect();
    format!(". Its last output:\n{}", tail.join("\n"))
}

impl Render for Output {
    fn title(&self) -> String {
        let took = seconds(self.duration_ms);
        match (&self.process_id, self.exit_code) {
            (Some(id), _) => format!("{} runs in the background as {id}", self.command),
            (None, Some(0)) => format!("{} in {took}", self.command),
            (None, Some(code)) => format!("{} exited with {code} in {took}", self.command),
            (None, None) => format!("{} ended in {took}, nobody knows how", self.command),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let said = if self.text.is_empty() { "(no output)\n" } else { &self.text };
        match (&self.process_id, self.exit_code) {
            (Some(id), _) => format!("running in the background, process_id: {id}\n{said}"),
            (None, Some(code)) => format!("exit code: {code}\n{said}"),
            (None, None) => format!("ended, exit code unknown\n{said}"),
        }
    }

    fn preview(&self) -> Vec<String> {
        self.text.lines().rev().take(5).map(str::to_owned).collect::<Vec<_>>().into_iter().rev().collect()
    }

    fn hints(&self) -> Vec<Hint> {
        let look = |id: &String| {
            Hint::new("to see what it prints", "command_output", json!({"process_id": id, "wait": 5}))
        };
        self.process_id.iter().map(look).collect()
    }

    fn truncated(&self) -> bool {
        self.spilled
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}
