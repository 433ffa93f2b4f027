//! What the command tools share: commands as effects, processes as data and as text.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use toolcrib_core::{CallContext, CommandEffect, Effects, ErrorCode, Judgement, ToolError};
use toolcrib_process::output::clean;
use toolcrib_process::shell::{self, Analysis, Surroundings};
use toolcrib_process::{End, Entry, Level, Output, Piece, Process, Spill, StartError, Stream, Table};
use toolcrib_workspace::{ErrorKind, ReadWorkspace, StateDir};

use super::errors::tool_error;
use super::spill;

/// What a command looks like to the policy.
pub(crate) fn effects_of(analysis: &Analysis) -> Vec<CommandEffect> {
    let effect = |simple: &shell::Simple| CommandEffect {
        text: simple.text.clone(),
        words: simple.words.clone(),
        prefix: simple.prefix,
        bare: simple.bare,
        judgement: match &simple.judgement {
            shell::Judgement::Safe => Judgement::Safe,
            shell::Judgement::Plain => Judgement::Plain,
            shell::Judgement::Risky(why) => Judgement::Risky(why.clone()),
            shell::Judgement::Forbidden(why) => Judgement::Forbidden(why.clone()),
        },
    };
    analysis.commands.iter().map(effect).collect()
}

/// What running a command in `cwd` touches.
pub fn effects(workspace: &ReadWorkspace, analysis: &Analysis, cwd: Option<&str>, network: bool) -> Effects {
    let mut commands = effects_of(analysis);
    let writes = written(workspace, analysis, &mut commands);
    Effects {
        reads: cwd.map(str::to_owned).into_iter().collect(),
        writes,
        commands,
        hosts: if network { vec!["*".into()] } else { Vec::new() },
        writes_anything: false,
    }
}

/// The paths that a command evidently writes. Where one leads is known only as things are now, and the command may
/// change them first: what cannot be resolved is left to the sandbox, and a link that leads out is worth a question.
fn written(workspace: &ReadWorkspace, analysis: &Analysis, commands: &mut [CommandEffect]) -> Vec<String> {
    let roots = surroundings(workspace, None).roots;
    let mut written = Vec::new();
    // Putting something into a root is not replacing it; what would delete it is judged as a command.
    for path in analysis.writes.iter().filter(|path| !roots.contains(path)) {
        let path = path.display().to_string();
        match workspace.locate_for_change(&path) {
            Ok(_) => written.push(path),
            Err(error) if error.kind() == ErrorKind::Protected => written.push(path),
            Err(error) if error.kind() == ErrorKind::OutsideWorkspace => {
                for command in commands.iter_mut().filter(|command| command.judgement == Judgement::Plain) {
                    command.judgement =
                        Judgement::Risky("writes where a link leads out of the workspace".into());
                }
            }
            Err(_) => {}
        }
    }
    written
}

/// Where a command would run, for judging it.
pub fn surroundings(workspace: &ReadWorkspace, cwd: Option<&str>) -> Surroundings {
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

/// A word as it would be typed.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A program and its arguments as they would be typed.
pub fn typed(argv: &[String]) -> String {
    argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The directory on the host in which a command runs.
pub fn directory(cx: &CallContext, cwd: Option<&str>) -> Result<PathBuf, ToolError> {
    let workspace = cx.get::<ReadWorkspace>()?;
    let found = workspace.host_directory(cwd.unwrap_or(".")).map_err(|error| tool_error(&error))?;
    found.ok_or_else(|| {
        ToolError::new(ErrorCode::EngineNotAvailable, "this workspace is in memory: no program can run in it")
    })
}

/// Where output goes that is too long for memory, if there is a place.
#[derive(Clone)]
pub struct CommandSpill(pub StateDir);

impl CommandSpill {
    /// For a stream of a call.
    pub fn of(cx: &CallContext, stream: &'static str) -> Option<Spill> {
        let state = cx.get::<Self>().ok()?.0.clone();
        Some(std::sync::Arc::new(move || spill::open(&state, stream)))
    }
}

/// Streams what comes until the command ends, the caller gives up, or its time in the foreground is over.
pub async fn watch(cx: &CallContext, process: &Process, patience: Option<Duration>) {
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

/// A command that never ran.
pub fn failed(why: &str) -> ToolError {
    ToolError::new(ErrorCode::CommandFailed, format!("the command could not be started: {why}"))
}

/// A command that could not be started.
pub fn not_started(error: &StartError) -> ToolError {
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

/// The process of this name, or what there is instead.
pub(crate) fn find(cx: &CallContext, id: &str) -> Result<Entry, ToolError> {
    let table = cx.get::<Table>()?;
    let session = &cx.session().id;
    table.get(session, id).ok_or_else(|| {
        let known: Vec<String> = table.of(session).into_iter().map(|entry| entry.id).collect();
        let said = if known.is_empty() {
            "there are none in this session".to_owned()
        } else {
            format!("there are {}", known.join(", "))
        };
        ToolError::new(ErrorCode::ProcessNotFound, format!("there is no process {id:?}; {said}"))
            .suggest("Start one with run_command and background, or use the id that it returned.")
    })
}

/// Whether a process still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// It runs.
    Running,
    /// It has ended.
    Exited,
}

impl Status {
    pub(crate) fn of(process: &Process) -> Self {
        if process.end().is_some() { Self::Exited } else { Self::Running }
    }
}

/// Its exit code, once it has one.
pub fn exit_code(process: &Process) -> Option<i32> {
    match process.end()? {
        End::Exited { code } => Some(code),
        End::Failed(_) | End::Lost => None,
    }
}

/// What a process printed since the last look, and how it is.
#[derive(Serialize)]
pub(crate) struct Progress {
    pub(crate) process_id: String,
    pub(crate) status: Status,
    pub(crate) exit_code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) duration_ms: u64,
    #[serde(skip)]
    pub(crate) command: String,
}

impl Progress {
    /// Takes what is new.
    pub(crate) fn take(entry: &Entry) -> Self {
        let status = Status::of(&entry.process);
        let new = entry.process.new_output();
        Self {
            process_id: entry.id.clone(),
            status,
            exit_code: exit_code(&entry.process),
            stdout: new.stdout.text(),
            stderr: new.stderr.text(),
            duration_ms: millis(&entry.process),
            command: entry.command.clone(),
        }
    }

    pub(crate) fn title(&self) -> String {
        let seconds = seconds(self.duration_ms);
        match (self.status, self.exit_code) {
            (Status::Running, _) => format!("{} still running after {seconds}", self.process_id),
            (Status::Exited, Some(code)) => {
                format!("{} ended after {seconds} with exit code {code}", self.process_id)
            }
            (Status::Exited, None) => format!("{} ended after {seconds}", self.process_id),
        }
    }

    pub(crate) fn text(&self) -> String {
        let said = shown(&self.stdout, &self.stderr);
        let said = if said.is_empty() { "(no new output)\n".to_owned() } else { said };
        format!("{} ({})\n{said}", self.title(), self.command)
    }
}

/// How long it took.
pub fn millis(process: &Process) -> u64 {
    u64::try_from(process.duration().as_millis()).unwrap_or(u64::MAX)
}

/// A time as it is shown.
pub fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

/// Both streams as a reader would have them.
pub fn shown(stdout: &str, stderr: &str) -> String {
    let (stdout, stderr) = (clean(stdout), clean(stderr));
    match (stdout.is_empty(), stderr.is_empty()) {
        (_, true) => stdout.into_owned(),
        (true, false) => format!("[stderr]\n{stderr}"),
        (false, false) => {
            let line = if stdout.ends_with('\n') { "" } else { "\n" };
            format!("{stdout}{line}[stderr]\n{stderr}")
        }
    }
}

/// The head and the tail of a stream that went to disk, so short that nothing more is cut.
pub fn excerpt(piece: &Piece, process: &Process, stream: Stream, tokens: usize) -> Option<String> {
    let (path, kept) = process.spilled(stream)?;
    // As many bytes as tokens are allowed: that fits without counting.
    let bytes = tokens;
    let head = floor(&piece.head, bytes / 3);
    let tail = ceil(&piece.tail, bytes - bytes / 3);
    let total = process.total(stream);
    let left = total.saturating_sub((head.len() + tail.len()) as u64);
    let whole = if kept < total {
        format!("the first {kept} of {total} bytes are in {path}")
    } else {
        format!("all of it is in {path}")
    };
    Some(format!("{head}\n[… {left} bytes left out; {whole}, for read_file and grep]\n{tail}"))
}

/// At most so many bytes from the beginning, on a line border if there is one.
fn floor(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    head.rfind('\n').map_or(head, |at| head.get(..at).unwrap_or(head))
}

/// At most so many bytes from the end, on a line border if there is one.
pub fn ceil(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = text.get(start..).unwrap_or_default();
    tail.find('\n').filter(|at| at + 1 < tail.len()).map_or(tail, |at| tail.get(at + 1..).unwrap_or(tail))
}

const OFFLINE: &[&str] = &[
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "EAI_AGAIN",
    "ENOTFOUND",
    "network is unreachable",
    "failed to lookup address",
    "getaddrinfo",
];
const READ_ONLY: &[&str] = &["Read-only file system", "EROFS", "read-only file system"];
const BUSY: &[&str] = &["Device or resource busy"];
const REFUSED: &[&str] = &["Permission denied", "EACCES"];

/// What a sandbox withholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// The network.
    Network,
    /// Git's settings and hooks.
    GitSettings,
    /// Everything but the workspace and the temp directory.
    Outside,
}

/// What a command may have failed for want of that the sandbox withholds.
pub fn withheld_from(process: &Process, output: &Output, network: bool) -> Option<Withheld> {
    if process.level() == Level::Policy {
        return None;
    }
    let said = [&output.stdout.tail, &output.stdout.head, &output.stderr.head, &output.stderr.tail];
    let has = |signs: &[&str]| said.iter().any(|text| signs.iter().any(|sign| text.contains(sign)));
    if !network && has(OFFLINE) {
        return Some(Withheld::Network);
    }
    if (has(READ_ONLY) || has(BUSY)) && has(&[".git"]) {
        return Some(Withheld::GitSettings);
    }
    let refused = has(REFUSED) && process.level() == Level::Landlock;
    (has(READ_ONLY) || refused).then_some(Withheld::Outside)
}

/// The same in words.
pub fn withheld(process: &Process, output: &Output, network: bool) -> Option<String> {
    Some(match withheld_from(process, output, network)? {
        Withheld::Network => "commands have no network unless `network` is true".into(),
        Withheld::GitSettings => {
            "a command can use the repository but not change its settings or hooks, nor create one: .git/config and \
             .git/hooks are read-only; a person can do that"
                .into()
        }
        Withheld::Outside => {
            "only the workspace and $TMPDIR can be written; a person can add folders, such as a package cache, by \
             `writable` under [sandbox] in toolcrib.toml"
                .into()
        }
    })
}

/// Paths of the host, as the tools show them.
pub fn display(path: &Path) -> String {
    toolcrib_core::sanitize::visible_path(&path.display().to_string()).into_owned()
}
