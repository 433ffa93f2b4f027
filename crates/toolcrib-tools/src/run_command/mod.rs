//! `run_command`: runs a command, confined, bounded, and gone when told.

mod show;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{
    CallContext, Capabilities, Effects, ErrorCode, Preview, Tool, ToolError, ToolSpec, Violations,
};
use toolcrib_process::shell::{self, Analysis};
use toolcrib_process::{Commands, End, MAX_LIVE, Process, Program, Request, Table};
use toolcrib_workspace::ReadWorkspace;

use crate::support::commands::{self, CommandSpill};

pub use show::Output;

const DEFAULT_TIMEOUT: f64 = 60.0;
const MAX_TIMEOUT: f64 = 600.0;
/// What is kept of the time allowed for a call.
const TO_STOP: Duration = Duration::from_millis(100);
/// How long a command in the background is watched for failing at once.
const FIRST_LOOK: Duration = Duration::from_millis(150);

/// Runs a command.
pub struct RunCommand {
    workspace: ReadWorkspace,
}

impl RunCommand {
    /// In this workspace, by whose roots commands are judged.
    pub fn new(workspace: ReadWorkspace) -> Self {
        Self { workspace }
    }

    fn analyse(&self, input: &Input) -> Analysis {
        let at = commands::surroundings(&self.workspace, input.cwd.as_deref());
        match (&input.command, &input.argv) {
            (Some(command), _) => shell::analyse(command, &at),
            (None, Some(argv)) => shell::analyse_argv(argv, &at),
            (None, None) => Analysis::default(),
        }
    }
}

/// What to run.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// For `bash -c`.
    pub command: Option<String>,
    /// Or without a shell.
    #[schemars(length(min = 1))]
    pub argv: Option<Vec<String>>,
    /// (Where to run it.)
    pub cwd: Option<String>,
    /// Seconds (default 60, at most 600).
    #[schemars(range(min = 0.001, max = 600.0))]
    pub timeout: Option<f64>,
    /// (Return at once; it runs on.)
    pub background: Option<bool>,
    /// Seconds until it goes to the background.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub yield_after: Option<f64>,
    /// (It needs the network.)
    pub network: Option<bool>,
    /// (It needs a terminal.)
    pub pty: Option<bool>,
    /// (What it is for, in a few words.)
    pub description: Option<String>,
}

impl Input {
    pub(crate) fn text(&self) -> String {
        match (&self.command, &self.argv) {
            (Some(command), _) => command.clone(),
            (None, Some(argv)) => commands::typed(argv),
            (None, None) => String::new(),
        }
    }

    fn program(&self) -> Program {
        match (&self.command, &self.argv) {
            (Some(command), _) => Program::Shell(command.clone()),
            (None, argv) => Program::Argv(argv.clone().unwrap_or_default()),
        }
    }

    fn is_background(&self) -> bool {
        self.background == Some(true)
    }

    /// When it is stopped. What runs on in the background has all the time there is, unless the caller gave it some;
    /// time that was allowed for the call is for the command, less what it takes to stop it.
    fn timeout(&self, cx: &CallContext) -> Option<Duration> {
        let runs_on = self.is_background() || self.yield_after.is_some();
        let given = self.timeout.map(|seconds| Duration::from_secs_f64(seconds.min(MAX_TIMEOUT)));
        let allowed = || cx.allowed_time().map(|time| time.saturating_sub(TO_STOP).max(time / 2));
        let usual = || (!runs_on).then_some(Duration::from_secs_f64(DEFAULT_TIMEOUT));
        given.or_else(allowed).or_else(usual)
    }
}

impl Tool for RunCommand {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        let capabilities = Capabilities { accesses_network: true, ..Capabilities::executes() };
        ToolSpec::new("run_command", "Run command", include_str!("description.md"))
            .capabilities(capabilities)
            .timeout(Duration::from_secs_f64(MAX_TIMEOUT))
            .example("run the tests", json!({"command": "cargo test 2>&1 | tail -40", "timeout": 300}))
            .example("let it run on if it takes long", json!({"command": "make", "yield_after": 10}))
            .example("start a server", json!({"command": "npm run dev", "background": true}))
            .example("without a shell", json!({"argv": ["git", "commit", "-m", "Say \"why\""]}))
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        let wrong = |expected: &str, got: &str| {
            let path = if input.argv.is_some() { "argv" } else { "command" };
            Err(vec![Violation { path: path.into(), expected: expected.into(), got: got.into() }])
        };
        match (&input.command, &input.argv) {
            (Some(_), Some(_)) => wrong("either `command` or `argv`", "both"),
            (None, None) => wrong("`command` or `argv`", "neither"),
            (Some(command), None) if command.trim().is_empty() => wrong("a command", "an empty text"),
            (None, Some(argv)) if argv.first().is_none_or(|program| program.is_empty()) => {
                wrong("a program as the first word", "an empty one")
            }
            (Some(text), None) if text.contains('\0') => wrong("a command", "a text with NUL in it"),
            (None, Some(argv)) if argv.iter().any(|word| word.contains('\0')) => {
                wrong("words", "one with NUL in it")
            }
            _ => Ok(()),
        }
    }

    fn effects(&self, input: &Input) -> Effects {
        let network = input.network == Some(true);
        commands::effects(&self.workspace, &self.analyse(input), input.cwd.as_deref(), network)
    }

    async fn preview(&self, cx: &CallContext, input: &Input) -> Result<Preview, ToolError> {
        let cwd = input.cwd.clone();
        cx.blocking(move |cx| commands::directory(cx, cwd.as_deref())).await?;
        // What follows the command must not be mistaken for a line of it, nor a line of it for what follows.
        let mut text = format!("$ {}", input.text().replace('\n', "\n  "));
        if let Some(cwd) = &input.cwd {
            text.push_str(&format!("\nin {}", visible_path(cwd)));
        }
        if input.network == Some(true) {
            text.push_str("\nwith the network");
        }
        if let Some(description) = &input.description {
            text.push_str(&format!("\nbecause: {}", visible_path(description)));
        }
        let title = format!("would run {}", show::short(&input.text()));
        Ok(Preview { title, text })
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let cwd = input.cwd.clone();
        let cwd = cx.blocking(move |cx| commands::directory(cx, cwd.as_deref())).await?;
        let runs_on = input.is_background() || input.yield_after.is_some();
        let table = cx.get::<Table>()?;
        if runs_on && table.live() >= MAX_LIVE {
            return Err(too_many());
        }
        let request = Request {
            network: input.network == Some(true),
            input: runs_on || input.pty == Some(true),
            terminal: input.pty == Some(true),
            timeout: input.timeout(cx),
            spill: [CommandSpill::of(cx, "stdout"), CommandSpill::of(cx, "stderr")],
            ..Request::new(input.program(), cwd)
        };
        // Finding out what the machine can do takes a few milliseconds, the first time.
        let engine = cx.get::<Commands>()?;
        let ready = engine.clone();
        cx.blocking(move |_| ready.level().map(drop).map_err(|error| commands::not_started(&error))).await?;
        let process = engine.start(request).await.map_err(|error| commands::not_started(&error))?;
        let patience = match (input.is_background(), input.yield_after) {
            (true, _) => Some(FIRST_LOOK),
            (false, Some(seconds)) => Some(Duration::from_secs_f64(seconds)),
            (false, None) => None,
        };
        commands::watch(cx, &process, patience).await;
        finish(cx, &input, &process, &table).await
    }
}

async fn finish(
    cx: &CallContext,
    input: &Input,
    process: &Process,
    table: &Table,
) -> Result<Output, ToolError> {
    let cancelled = cx.cancellation().is_cancelled();
    let id = match process.end() {
        None => {
            let id = table.add(&cx.session().id, &show::short(&input.text()), process.clone());
            let Some(id) = id else {
                process.stop().await;
                return Err(too_many());
            };
            Some(id)
        }
        Some(End::Failed(why)) => return Err(commands::failed(&why)),
        Some(_) => None,
    };
    let output = Output::of(cx, input, process, id);
    if let Some(output) = output.as_ref().ok().filter(|_| cancelled && process.end().is_some()) {
        return Err(ToolError::new(ErrorCode::Cancelled, "the command was stopped").data(data(output)));
    }
    let output = output?;
    if process.timed_out() {
        let seconds = process.duration().as_secs_f64();
        let said = show::tail_for_error(&output);
        return Err(ToolError::new(
            ErrorCode::Timeout,
            format!("the command was stopped after {seconds:.1} s; nothing of it is left{said}"),
        )
        .suggest("Give it more time by `timeout` (at most 600), or run it in the background and look at it with command_output.")
        .retry(false)
        .data(data(&output)));
    }
    Ok(output)
}

fn data(output: &Output) -> Value {
    serde_json::to_value(output).unwrap_or_default()
}

fn too_many() -> ToolError {
    ToolError::new(
        ErrorCode::LimitExceeded,
        format!("{MAX_LIVE} commands are running in the background already"),
    )
    .suggest("Stop one with stop_command, which lists them when called without a process_id.")
}
