//! What works on this machine, found out by running it with the real flags.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use super::{bubblewrap, confine};
use crate::Limits;
use crate::platform::launch::Launcher;
use crate::platform::supervisor::wire::{self, Event, Job};
use crate::sandbox::{Bounds, Level, Report, Verdict};

/// Long enough for a machine under load; a sandbox that takes longer is of no use.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tries the levels from the best one down; all of them if `thorough`.
pub(crate) fn probe(launcher: &Launcher, bounds: &Bounds, thorough: bool) -> Report {
    let mut report = Report::none();
    if bounds.all_writable().iter().any(|path| path.parent().is_none()) {
        let whole = Verdict {
            works: false,
            reason: "the workspace is the whole file system, so there is nothing to confine a command to"
                .into(),
            advice: Some(
                "Give a narrower --root, or say that no sandbox is wanted: --sandbox policy.".into(),
            ),
        };
        return Report { full: whole.clone(), landlock: Some(whole), ..report };
    }
    report.full = match bubblewrap::find(bounds) {
        Ok(path) => {
            report.bwrap = Some(path);
            judged(attempt(launcher, bounds, Level::Full, &report), full_advice)
        }
        Err(reason) => Verdict { works: false, advice: Some(full_advice(&reason)), reason },
    };
    if !report.full.works || thorough {
        report.mounts = true;
        let mut tried = attempt(launcher, bounds, Level::Landlock, &report);
        if tried.is_err() {
            report.mounts = false;
            tried = attempt(launcher, bounds, Level::Landlock, &report);
        }
        report.landlock = Some(judged(tried, landlock_advice));
    }
    if report.full.works {
        report.level = Level::Full;
    } else if report.landlock.as_ref().is_some_and(|verdict| verdict.works) {
        report.level = Level::Landlock;
    }
    report
}

fn judged(tried: Result<(), String>, advice: fn(&str) -> String) -> Verdict {
    match tried {
        Ok(()) => {
            Verdict { works: true, reason: "a trial run was confined as it should be".into(), advice: None }
        }
        Err(reason) => Verdict { works: false, advice: Some(advice(&reason)), reason },
    }
}

fn full_advice(reason: &str) -> String {
    if reason.contains("not installed") {
        "Install the package `bubblewrap`.".into()
    } else if reason.contains("workspace")
        || reason.contains("commands can write")
        || reason.contains("setuid")
        || reason.contains("others can change")
    {
        "Install the package `bubblewrap` of your distribution, which is owned by root and not setuid.".into()
    } else if reason.contains("uid map") || reason.contains("RTM_NEWADDR") || reason.contains("namespace") {
        "The system forbids user namespaces: allow them (on Ubuntu an AppArmor profile for bwrap, or \
         `sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, run it with user namespaces allowed)."
            .into()
    } else {
        "Run `bwrap --ro-bind / / --unshare-all true` to see what the system refuses.".into()
    }
}

fn landlock_advice(_: &str) -> String {
    "Use a kernel of 6.2 or later with Landlock among its security modules (`lsm=landlock,…`).".into()
}

/// A trial run: it must start, end well, and not have been able to write where it may not.
fn attempt(launcher: &Launcher, bounds: &Bounds, level: Level, report: &Report) -> Result<(), String> {
    let outside = launcher.temp().with_extension("probe");
    std::fs::create_dir_all(&outside).map_err(|error| format!("no place for a trial: {error}"))?;
    let result = trial(launcher, bounds, level, report, &outside);
    let escaped = outside.join("escaped").exists();
    let _ = std::fs::remove_dir_all(&outside);
    match result {
        Ok(()) if escaped => Err("a trial run could write outside the workspace".into()),
        other => other,
    }
}

fn trial(
    launcher: &Launcher,
    bounds: &Bounds,
    level: Level,
    report: &Report,
    outside: &Path,
) -> Result<(), String> {
    let told = |error: std::io::Error| format!("a trial run could not be started: {error}");
    let confinement = confine(bounds, level, false, &bounds.temp_inside(level), report)?;
    let script = format!("(: > '{}') 2>/dev/null; exit 0", outside.join("escaped").display());
    let job = Job {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script],
        cwd: bounds.temp_inside(level),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        terminal: false,
        limits: Limits::default(),
        grace_ms: 0,
        confinement,
    };
    let null = || File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
    let (reader, writer) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(|e| told(e.into()))?;
    let stdio = [null().map_err(told)?, null().map_err(told)?, writer];
    let job = wire::encode(&job).map_err(told)?;
    let (mut control, written) = launcher.launch(stdio, &job).map_err(told)?;
    control.set_nonblocking(false).map_err(told)?;
    control.set_read_timeout(Some(PATIENCE)).map_err(told)?;
    control.write_all(job.get(written..).unwrap_or_default()).map_err(told)?;
    let mut events = BufReader::new(control);
    loop {
        let mut line = String::new();
        if events.read_line(&mut line).map_err(|_| "a trial run did not end in time")? == 0 {
            return Err("a trial run ended without a word".into());
        }
        match serde_json::from_str(&line) {
            Ok(Event::Started { .. }) => {}
            Ok(Event::Exited { code: Some(0), .. }) => return Ok(()),
            Ok(Event::Exited { code, signal, .. }) => {
                let mut said = String::new();
                let _ = File::from(reader).take(4096).read_to_string(&mut said);
                let first = said.lines().next().unwrap_or_default().trim();
                return Err(if first.is_empty() {
                    format!("a trial run ended with {code:?}, signal {signal:?}")
                } else {
                    first.to_owned()
                });
            }
            Ok(Event::Failed { what }) => return Err(what),
            Err(_) => return Err("the supervisor said something strange".into()),
        }
    }
}
