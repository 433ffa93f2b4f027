//! Other systems: commands in a process group (or a job object on Windows) of their own, not confined.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};

use crate::commands::{Job, Settings, StartError};
use crate::process::{Charge, End, Process, Sink, Streams};
use crate::sandbox::{Bounds, Level, Report, Verdict};

/// Nothing to become: commands are started directly here.
pub fn run_if_asked() {}

/// Nothing to do here.
pub fn harden() {}

pub(crate) struct Platform;

impl Platform {
    pub(crate) fn new(_: &Settings) -> Self {
        Self
    }

    pub(crate) fn probe(&self, _: &Bounds, _: bool) -> Report {
        let missing = || Verdict {
            works: false,
            reason: "this system has no sandbox that Toolcrib knows".into(),
            advice: Some("Run Toolcrib on Linux, in a virtual machine or a container.".into()),
        };
        Report { full: missing(), landlock: Some(missing()), ..Report::none() }
    }

    pub(crate) fn trial_key(_: &Bounds, _: &Report) -> Option<String> {
        None
    }

    pub(crate) async fn start(
        &self,
        wanted: Job,
        level: Level,
        bounds: &Bounds,
        _: &Report,
    ) -> Result<Process, StartError> {
        std::fs::create_dir_all(&bounds.temp)?;
        if wanted.terminal {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "there are no terminals for commands here",
            )
            .into());
        }
        let mut command = CommandWrap::with_new(&wanted.program, |command| {
            command
                .args(&wanted.args)
                .current_dir(&wanted.cwd)
                .env_clear()
                .envs(wanted.env.iter().map(|(name, value)| (name, value)))
                .stdin(if wanted.input { Stdio::piped() } else { Stdio::null() })
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let mut child = command.spawn()?;
        let (Some(stdout), Some(stderr)) = (child.stdout().take(), child.stderr().take()) else {
            return Err(io::Error::other("a command without streams").into());
        };
        let stdin = child.stdin().take().map(|stdin| Box::new(stdin) as Sink);
        let streams = Streams { stdin, stdout: Box::new(stdout), stderr: Some(Box::new(stderr)) };
        let (process, charge) = Process::new(streams, level, wanted.spill);
        tokio::spawn(follow(charge, child, wanted.timeout));
        Ok(process)
    }
}

async fn follow(mut charge: Charge, mut child: Box<dyn ChildWrapper>, timeout: Option<Duration>) {
    let due = async {
        match timeout {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let waited = tokio::select! {
        status = child.wait() => Some(status),
        _ = charge.asked.recv() => None,
        () = due => {
            charge.time_is_up();
            None
        }
    };
    // What it has left behind ends with it.
    let _ = child.start_kill();
    let status = match waited {
        Some(status) => status,
        None => child.wait().await,
    };
    let end = match status {
        Ok(status) => End::Exited { code: status.code().unwrap_or(137) },
        Err(_) => End::Lost,
    };
    charge.finish(end).await;
}

pub(crate) fn total_memory() -> Option<u64> {
    None
}

pub(crate) fn write_private(path: &std::path::Path, text: &[u8]) -> io::Result<()> {
    std::fs::write(path, text)
}
