//! `run_command`: runs a command, confined, bounded, and gone when told.

mod show;

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{
    CallContext, Capabilities, CommandEffect, Effects, ErrorCode, Judgement, Preview, Tool, ToolError,
    ToolSpec, Violations,
};
use toolcrib_process::shell::{self, Analysis, Surroundings};
use toolcrib_process::{Commands, End, MAX_LIVE, Process, Program, Request, StartError, Stream, Table};
use toolcrib_workspace::{ErrorKind, ReadWorkspace};

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

    /// The paths that a command evidently writes. Where one leads is known only as things are now, and the command may
    /// change them first: what cannot be resolved is left to the sandbox, and a link that leads out is worth a question.
    fn written(&self, analysis: &Analysis, commands: &mut [CommandEffect]) -> Vec<String> {
        let roots = surroundings(&self.workspace, None).roots;
        let mut written = Vec::new();
        // Putting something into a root is not replacing it; what would delete it is judged as a command.
        for path in analysis.writes.iter().filter(|path| !roots.contains(path)) {
            let path = path.display().to_string();
            match self.workspace.locate_for_change(&path) {
                Ok(_) => written.push(path),
                Err(error) if error.kind() == ErrorKind::Protected => written.push(path),
                Err(error) if error.kind() == ErrorKind::OutsideWorkspace => {
                    for command in commands.iter_mut().filter(|command| command.judgement == Judgement::Plain)
                    {
                        command.judgement =
                            Judgement::Risky("writes where a link leads out of the workspace".into());
                    }
                }
                Err(_) => {}
            }
        }
        written
    }

    fn analyse(&self, input: &Input) -> Analysis {
        let at = surroundings(&self.workspace, input.cwd.as_deref());
        match (&input.command, &input.argv) {
            (Some(command), _) => shell::analyse(command, &at),
            (None, Some(argv)) => shell::analyse_argv(argv, &at),
            (None, None) => Analysis::default(),
        }
    }
}

/// Where a command would run, for judging it.
pub(crate) fn surroundings(workspace: &ReadWorkspace, cwd: Option<&str>) -> Surroundings {
    let roots: Vec<PathBuf> = workspace
        .roots()
        .into_iter()
        .filter(|root| root.mount.is_none())
        .filter_map(|root| root.path)
        .collect();
    let first = roots.first().cloned().unwrap_or_else(|| PathBuf::from("/"));
    let cwd = match workspace.host_directory(cwd.unwrap_or(".")) {
        Ok(Some(path)) => path,
        _ => first,
    };
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    Surroundings { roots, home, cwd }
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
            (None, Some(argv)) => argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
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

/// A word as it would be typed.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
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
        let analysis = self.analyse(input);
        let mut commands = commands::effects_of(&analysis);
        let writes = self.written(&analysis, &mut commands);
        Effects {
            reads: input.cwd.iter().cloned().collect(),
            writes,
            commands,
            hosts: if input.network == Some(true) { vec!["*".into()] } else { Vec::new() },
            writes_anything: false,
        }
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
            program: input.program(),
            cwd,
            network: input.network == Some(true),
            input: runs_on || input.pty == Some(true),
            terminal: input.pty == Some(true),
            timeout: input.timeout(cx),
            spill: [CommandSpill::of(cx, "stdout"), CommandSpill::of(cx, "stderr")],
        };
        // Finding out what the machine can do takes a few milliseconds, the first time.
        let engine = cx.get::<Commands>()?;
        let ready = engine.clone();
        cx.blocking(move |_| ready.level().map(drop).map_err(|error| not_started(&error))).await?;
        let process = engine.start(request).await.map_err(|error| not_started(&error))?;
        let patience = match (input.is_background(), input.yield_after) {
            (true, _) => Some(FIRST_LOOK),
            (false, Some(seconds)) => Some(Duration::from_secs_f64(seconds)),
            (false, None) => None,
        };
        watch(cx, &process, patience).await;
        finish(cx, &input, &process, &table).await
    }
}

/// Streams what comes until the command ends, the caller gives up, or its time in the foreground is over.
async fn watch(cx: &CallContext, process: &Process, patience: Option<Duration>) {
    let mut read = [0, 0];
    let mut changes = process.changes();
    let due = async {
        match patience {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let mut due = std::pin::pin!(due);
    loop {
        let ended = process.end().is_some();
        for (from, (stream, name)) in
            read.iter_mut().zip([(Stream::Stdout, "stdout"), (Stream::Stderr, "stderr")])
        {
            let (piece, next) = process.since(stream, *from);
            if !piece.is_empty() {
                cx.output(name, piece.text());
            }
            *from = next;
        }
        if ended {
            return;
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = &mut due => return,
            () = cx.cancellation().cancelled() => {
                process.stop().await;
            }
        }
        // Many small writes become one event.
        if !ended {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
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
        Some(End::Failed(why)) => return Err(failed(&why)),
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

fn failed(why: &str) -> ToolError {
    ToolError::new(ErrorCode::CommandFailed, format!("the command could not be started: {why}"))
}

fn not_started(error: &StartError) -> ToolError {
    match error {
        StartError::NoSandbox(why) => ToolError::new(ErrorCode::CommandFailed, why.clone())
            .suggest("A person can see what is missing by `toolcrib doctor`."),
        StartError::Io(error) if error.raw_os_error() == Some(24) || error.raw_os_error() == Some(23) => {
            ToolError::new(ErrorCode::LimitExceeded, "too many files are open to start another command")
                .suggest("Stop commands that run in the background, then call again.")
                .retry(true)
        }
        StartError::Io(error) => failed(&error.to_string()),
    }
}
