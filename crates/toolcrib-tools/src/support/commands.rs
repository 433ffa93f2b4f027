//! What the command tools share: commands as effects, processes as data and as text.

use std::path::{Path, PathBuf};

use serde::Serialize;
use toolcrib_core::{CallContext, CommandEffect, ErrorCode, Judgement, ToolError};
use toolcrib_process::output::clean;
use toolcrib_process::shell::{self, Analysis};
use toolcrib_process::{End, Entry, Level, Output, Piece, Process, Spill, Stream, Table};
use toolcrib_workspace::{ReadWorkspace, StateDir};

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

/// The directory on the host in which a command runs.
pub(crate) fn directory(cx: &CallContext, cwd: Option<&str>) -> Result<PathBuf, ToolError> {
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
    pub(crate) fn of(cx: &CallContext, stream: &'static str) -> Option<Spill> {
        let state = cx.get::<Self>().ok()?.0.clone();
        Some(std::sync::Arc::new(move || spill::open(&state, stream)))
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

pub(crate) fn exit_code(process: &Process) -> Option<i32> {
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

pub(crate) fn millis(process: &Process) -> u64 {
    u64::try_from(process.duration().as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

/// Both streams as a reader would have them.
pub(crate) fn shown(stdout: &str, stderr: &str) -> String {
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
pub(crate) fn excerpt(piece: &Piece, process: &Process, stream: Stream, tokens: usize) -> Option<String> {
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
pub(crate) fn ceil(text: &str, bytes: usize) -> &str {
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

/// What a command may have failed for want of that the sandbox withholds.
pub(crate) fn withheld(process: &Process, output: &Output, network: bool) -> Option<String> {
    if process.level() == Level::Policy {
        return None;
    }
    let said = [&output.stdout.tail, &output.stdout.head, &output.stderr.head, &output.stderr.tail];
    let has = |signs: &[&str]| said.iter().any(|text| signs.iter().any(|sign| text.contains(sign)));
    if !network && has(OFFLINE) {
        return Some("commands have no network unless `network` is true".into());
    }
    if (has(READ_ONLY) || has(BUSY)) && has(&[".git"]) {
        return Some(
            "a command can use the repository but not change its settings or hooks, nor create one: .git/config and \
             .git/hooks are read-only; a person can do that"
                .into(),
        );
    }
    if has(READ_ONLY) {
        return Some(
            "only the workspace and $TMPDIR can be written; a person can add folders, such as a package cache, by \
             `writable` under [sandbox] in toolcrib.toml"
                .into(),
        );
    }
    (has(REFUSED) && process.level() == Level::Landlock)
        .then(|| "outside the workspace and $TMPDIR nothing can be written".into())
}

/// Paths of the host, as the tools show them.
pub(crate) fn display(path: &Path) -> String {
    toolcrib_core::sanitize::visible_path(&path.display().to_string()).into_owned()
}
