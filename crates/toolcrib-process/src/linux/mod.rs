//! Linux: commands by way of the supervisor, confined by the kernel.

mod drive;
pub(crate) mod launch;
pub(crate) mod sandbox;
mod streams;
pub(crate) mod supervisor;

use std::io;

use crate::commands::{Job as Wanted, Settings, StartError};
use crate::process::Process;
use crate::sandbox::{Bounds, Level, Report};
use launch::Launcher;
use supervisor::wire::{self, Job};

pub use supervisor::{harden, run_if_asked};

/// What the engine needs of the system.
pub(crate) struct Platform {
    launcher: Launcher,
}

impl Platform {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { launcher: Launcher::new(settings.supervisor.clone(), settings.bounds.temp.clone()) }
    }

    /// Tries the levels out, all of them if `thorough`.
    pub(crate) fn probe(&self, bounds: &Bounds, thorough: bool) -> Report {
        let made = self.launcher.prepare_temp();
        let mut report = sandbox::probe(&self.launcher, bounds, thorough);
        if let Err(error) = made {
            report.full.reason = format!("no temp directory: {error}");
        }
        report
    }

    /// What the result of a trial depends on, if the same bubblewrap would be used again: the system since it was
    /// started, the user and what surrounds the process, bubblewrap, and this version.
    pub(crate) fn trial_key(bounds: &Bounds, report: &Report) -> Option<String> {
        use std::os::unix::fs::MetadataExt;
        let bwrap = report.bwrap.as_ref()?;
        if sandbox::find_bubblewrap(bounds).ok()? != *bwrap {
            return None;
        }
        let meta = bwrap.metadata().ok()?;
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let user = rustix::process::geteuid().as_raw();
        // The same file may be seen from inside a container, where less works.
        let spaces = ["user", "mnt"].map(|space| std::fs::read_link(format!("/proc/self/ns/{space}")).ok());
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let seccomp: Vec<&str> = status.lines().filter(|line| line.starts_with("Seccomp")).collect();
        let version = env!("CARGO_PKG_VERSION");
        let times = (meta.ino(), meta.mtime(), meta.ctime());
        Some(format!("{version} {} {times:?} {user} {spaces:?} {seccomp:?} {}", boot.trim(), bwrap.display()))
    }

    /// Starts a command, and waits until it runs or is known not to.
    pub(crate) async fn start(
        &self,
        wanted: Wanted,
        level: Level,
        bounds: &Bounds,
        report: &Report,
    ) -> Result<Process, StartError> {
        self.launcher.prepare_temp()?;
        let confinement = sandbox::confine(bounds, level, wanted.network, &wanted.cwd, report)
            .map_err(StartError::NoSandbox)?;
        let job = Job {
            program: wanted.program,
            args: wanted.args,
            cwd: wanted.cwd,
            env: wanted.env,
            terminal: wanted.terminal,
            limits: wanted.limits,
            grace_ms: u64::try_from(wanted.grace.as_millis()).unwrap_or(u64::MAX),
            confinement,
        };
        let (theirs, ours) =
            if wanted.terminal { streams::terminal()? } else { streams::pipes(wanted.input)? };
        let mut job = wire::encode(&job)?;
        let (control, written) = self.launcher.launch(theirs, &job)?;
        job.drain(..written);
        let (process, charge) = Process::new(ours, level, wanted.spill);
        drive::begin(charge, control, job, wanted.timeout, wanted.grace).await?;
        Ok(process)
    }
}

/// How much memory the machine has.
pub(crate) fn total_memory() -> Option<u64> {
    let info = rustix::system::sysinfo();
    let total = u64::from(info.mem_unit).saturating_mul(info.totalram);
    (total > 0).then_some(total)
}

pub(crate) fn write_private(path: &std::path::Path, text: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(text)
}
