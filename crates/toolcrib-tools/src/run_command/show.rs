//! What a command returned, for models and people.

use serde::Serialize;
use serde_json::json;
use toolcrib_core::sanitize::visible_field;
use toolcrib_core::{CallContext, Hint, Render, RenderContext, ToolError};
use toolcrib_process::output::clean;
use toolcrib_process::{Level, Process, Stream};

use super::Input;
use crate::support::commands::{self, ceil, excerpt, exit_code, seconds, shown, withheld};

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
    /// Where the whole of a stream is that was too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_spill: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_spill: Option<String>,
    #[serde(skip)]
    command: String,
    #[serde(skip)]
    text: String,
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
        let (stdout, stderr) = (output.stdout.text(), output.stderr.text());
        let text = shown(out.as_deref().unwrap_or(&stdout), err.as_deref().unwrap_or(&stderr));
        let level = process.level();
        let mut warnings: Vec<String> = withheld(process, &output, network).into_iter().collect();
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
            stdout_spill: process.spilled(Stream::Stdout).map(|(path, _)| path),
            stderr_spill: process.spilled(Stream::Stderr).map(|(path, _)| path),
            warnings,
        })
    }
}

/// Whether something was to go on in the background that could not. At the level `full` it is gone before anybody could
/// count it, so the line itself is looked at.
fn left_running(input: &Input, process: &Process) -> Option<String> {
    process.end()?;
    let meant = input.command.as_deref().is_some_and(starts_in_background);
    (meant || process.left_over() > 0).then(|| {
        "what the command had left running was ended with it; to let something run on, use `background`"
            .to_owned()
    })
}

/// Whether a line has a `&` that is neither `&&` nor part of a redirection, outside quotes.
fn starts_in_background(line: &str) -> bool {
    let (mut quote, mut before) = (None, ' ');
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\\') => drop(chars.next()),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '&') if chars.peek() == Some(&'&') => drop(chars.next()),
            (None, '&') if before != '>' && before != '<' && chars.peek() != Some(&'>') => return true,
            _ => {}
        }
        before = c;
    }
    false
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
    let tail = ceil(&text, 4000).lines().rev().take(40).collect::<Vec<_>>();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
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
        self.spill().is_some()
    }

    fn spill(&self) -> Option<String> {
        self.stdout_spill.clone().or_else(|| self.stderr_spill.clone())
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::starts_in_background;

    #[test]
    fn an_ampersand_that_means_the_background() {
        for (line, expected) in [
            ("sleep 5 &", true),
            ("(server &); echo ok", true),
            ("a & b", true),
            ("a && b", false),
            ("a 2>&1 | b", false),
            ("a &> log", false),
            ("echo 'x & y'", false),
            ("echo \"a & b\" \\& c", false),
            ("a <&3", false),
        ] {
            assert_eq!(starts_in_background(line), expected, "{line}");
        }
    }
}
