//! The engine: what commands may touch, at which level, and the way from a request to a process.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::pty::OpenptFlags;
use serde::{Deserialize, Serialize};

use crate::environment::{self, EnvironmentSettings};
use crate::launch::Launcher;
use crate::output::Spill;
use crate::process::{Parts, Process};
use crate::sandbox::{self, Bounds, Level, Report, Sandbox};
use crate::supervisor::wire::{self, Job};

/// What the kernel lets a command use at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The size of a file that it writes.
    pub file_bytes: Option<u64>,
    /// The memory of one process.
    pub memory_bytes: Option<u64>,
    /// Open files of one process.
    pub open_files: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: Some(4 << 30),
            memory_bytes: Some(memory_of_the_machine()),
            open_files: Some(65_536),
        }
    }
}

/// Nothing needs more than there is; what asks for it all the same fails at once instead of taking others down.
fn memory_of_the_machine() -> u64 {
    let info = rustix::system::sysinfo();
    let total = u64::from(info.mem_unit).saturating_mul(info.totalram);
    if total == 0 { 64 << 30 } else { total }
}

/// How the engine is set up.
#[derive(Clone)]
pub struct Settings {
    /// What commands may touch.
    pub bounds: Bounds,
    /// Exactly this level; the best one that works if `None`.
    pub level: Option<Level>,
    /// Why nothing may be run at all.
    pub refuse: Option<String>,
    /// Refuse to run anything that the kernel does not confine.
    pub require_sandbox: bool,
    /// What the kernel lets commands use.
    pub limits: Limits,
    /// What is added to their environment.
    pub environment: EnvironmentSettings,
    /// How long a command may take to end by itself once it is told to.
    pub grace: Duration,
    /// A program whose `main` begins with [`crate::run_supervisor_if_asked`]; the own one if `None`.
    pub supervisor: Option<PathBuf>,
    /// A file in which it is remembered that the best level works, so that it need not be tried each time.
    pub remembered: Option<PathBuf>,
    /// Whether the login shell's environment is wanted: not if the program was started from a shell.
    pub login_environment: bool,
}

impl Settings {
    /// The usual settings within these bounds. The temp directory is chosen if the bounds name none.
    pub fn new(mut bounds: Bounds) -> Self {
        if bounds.temp.as_os_str().is_empty() {
            let name = format!("toolcrib-{}-{:08x}", std::process::id(), fastrand::u32(..));
            bounds.temp = std::env::temp_dir().join(name);
        }
        Self {
            bounds,
            level: None,
            refuse: None,
            require_sandbox: false,
            limits: Limits::default(),
            environment: EnvironmentSettings::default(),
            grace: Duration::from_millis(500),
            supervisor: None,
            remembered: None,
            login_environment: std::env::var_os("SHLVL").is_none(),
        }
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub enum Program {
    /// A line for `bash -c`.
    Shell(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

/// One command.
#[derive(Clone)]
pub struct Request {
    /// What to run.
    pub program: Program,
    /// Where.
    pub cwd: PathBuf,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it gets input; otherwise its input is empty.
    pub input: bool,
    /// Whether it runs in a terminal.
    pub terminal: bool,
    /// When it is stopped.
    pub timeout: Option<Duration>,
    /// Where its output goes that is too long: stdout and stderr.
    pub spill: [Option<Spill>; 2],
}

impl Request {
    /// A command in a directory, with nothing special about it.
    pub fn new(program: Program, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program,
            cwd: cwd.into(),
            network: false,
            input: false,
            terminal: false,
            timeout: None,
            spill: [None, None],
        }
    }
}

/// Why a command did not start.
#[derive(Debug)]
pub enum StartError {
    /// The level that was asked for, or any at all, does not work here.
    NoSandbox(String),
    /// The machine refused.
    Io(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSandbox(why) => f.write_str(why),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

struct Inner {
    settings: Settings,
    launcher: Launcher,
    report: OnceLock<Report>,
    login: OnceLock<BTreeMap<String, String>>,
}

/// Runs commands. Cheap to clone; when the last one is gone, so are the commands.
#[derive(Clone)]
pub struct Commands(Arc<Inner>);

impl Commands {
    /// An engine; nothing is started or tried before it is needed.
    pub fn new(settings: Settings) -> Self {
        let launcher = Launcher::new(settings.supervisor.clone(), settings.bounds.temp.clone());
        Self(Arc::new(Inner { settings, launcher, report: OnceLock::new(), login: OnceLock::new() }))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// What works on this machine, tried out the first time.
    pub fn report(&self) -> &Report {
        self.0.report.get_or_init(|| {
            if self.0.settings.level == Some(Level::Landlock) {
                return self.try_out(true);
            }
            self.recall().unwrap_or_else(|| {
                let report = self.try_out(false);
                self.remember(&report);
                report
            })
        })
    }

    /// Tries all levels out, whatever is known already.
    pub fn examine(&self) -> Report {
        self.try_out(true)
    }

    fn try_out(&self, thorough: bool) -> Report {
        let made = self.0.launcher.prepare_temp();
        let mut report = sandbox::probe(&self.0.launcher, &self.0.settings.bounds, thorough);
        if let Err(error) = made {
            report.full.reason = format!("no temp directory: {error}");
        }
        report
    }

    /// The level at which commands run: the one asked for, or the best one.
    pub fn level(&self) -> Result<Level, StartError> {
        let settings = &self.0.settings;
        if let Some(why) = &settings.refuse {
            return Err(StartError::NoSandbox(why.clone()));
        }
        let level = match settings.level {
            Some(Level::Policy) => Level::Policy,
            Some(wanted) => self.demanded(wanted)?,
            None => self.report().level,
        };
        if settings.require_sandbox && level == Level::Policy {
            let report = self.report();
            let landlock = report.landlock.as_ref().map_or("", |verdict| &verdict.reason);
            return Err(StartError::NoSandbox(format!(
                "a sandbox is required, and none works here (full: {}; landlock: {landlock})",
                report.full.reason
            )));
        }
        Ok(level)
    }

    fn demanded(&self, wanted: Level) -> Result<Level, StartError> {
        let report = self.report();
        let verdict = if wanted == Level::Full { Some(&report.full) } else { report.landlock.as_ref() };
        match verdict {
            Some(verdict) if verdict.works => Ok(wanted),
            Some(verdict) => Err(StartError::NoSandbox(format!(
                "the sandbox level `{wanted}` does not work here: {}",
                verdict.reason
            ))),
            None => {
                Err(StartError::NoSandbox(format!("the sandbox level `{wanted}` is not known to work here")))
            }
        }
    }

    /// Starts a command.
    pub async fn start(&self, request: Request) -> Result<Process, StartError> {
        let level = self.level()?;
        self.0.launcher.prepare_temp()?;
        let sandbox = Sandbox { bounds: self.0.settings.bounds.clone(), report: self.report_for(level) };
        let confinement =
            sandbox.confine(level, request.network, &request.cwd).map_err(StartError::NoSandbox)?;
        let (program, args) = match request.program {
            Program::Shell(line) => ("bash".to_owned(), vec!["-c".to_owned(), line]),
            Program::Argv(argv) => {
                let mut words = argv.into_iter();
                (words.next().unwrap_or_default(), words.collect())
            }
        };
        let login = self.login().await;
        let job = Job {
            program,
            args,
            cwd: request.cwd,
            env: environment::build(
                own_environment(),
                &login,
                &self.0.settings.environment,
                &self.0.settings.bounds.temp_inside(level),
                level,
                request.terminal,
            ),
            terminal: request.terminal,
            limits: self.0.settings.limits,
            grace_ms: u64::try_from(self.0.settings.grace.as_millis()).unwrap_or(u64::MAX),
            confinement,
        };
        let streams = if request.terminal { Streams::terminal()? } else { Streams::pipes(request.input)? };
        let mut job = wire::encode(&job)?;
        let (control, written) = self.0.launcher.launch(streams.theirs, &job)?;
        job.drain(..written);
        let process = Process::begin(Parts {
            control,
            job,
            stdin: streams.stdin,
            stdout: streams.stdout,
            stderr: streams.stderr,
            level,
            timeout: request.timeout,
            grace: self.0.settings.grace,
            spill: request.spill,
        });
        Ok(process.await?)
    }

    /// A level that was chosen outright needs no trial.
    fn report_for(&self, level: Level) -> Report {
        if level == Level::Policy { Report::none() } else { self.report().clone() }
    }

    /// What the login shell would set, asked once, with a deadline.
    async fn login(&self) -> BTreeMap<String, String> {
        if !self.0.settings.login_environment {
            return BTreeMap::new();
        }
        if let Some(known) = self.0.login.get() {
            return known.clone();
        }
        let found = self.ask_login_shell().await.unwrap_or_default();
        self.0.login.get_or_init(|| found).clone()
    }

    /// Runs the person's shell as at a login, without a terminal to steal, and without confinement: it is their own
    /// profile that it runs.
    async fn ask_login_shell(&self) -> Option<BTreeMap<String, String>> {
        const DEADLINE: Duration = Duration::from_secs(3);
        let shell = std::env::var("SHELL").ok().filter(|shell| shell.starts_with('/'));
        let job = Job {
            program: shell.unwrap_or_else(|| "/bin/bash".into()),
            args: ["-l", "-c", "env -0"].map(String::from).to_vec(),
            cwd: "/".into(),
            env: own_environment()
                .filter(|(name, _)| ["HOME", "USER", "LOGNAME", "PATH", "LANG"].contains(&name.as_str()))
                .collect(),
            terminal: false,
            limits: self.0.settings.limits,
            grace_ms: 0,
            confinement: sandbox::Confinement::None,
        };
        let streams = Streams::pipes(false).ok()?;
        let mut job = wire::encode(&job).ok()?;
        let (control, written) = self.0.launcher.launch(streams.theirs, &job).ok()?;
        job.drain(..written);
        let process = Process::begin(Parts {
            control,
            job,
            stdin: None,
            stdout: streams.stdout,
            stderr: streams.stderr,
            level: Level::Policy,
            timeout: Some(DEADLINE),
            grace: Duration::ZERO,
            spill: [None, None],
        });
        let process = process.await.ok()?;
        process.wait().await;
        Some(environment::parse_login(process.output().stdout.text().as_bytes()))
    }

    /// What an earlier process found out, if nothing has changed since.
    fn recall(&self) -> Option<Report> {
        let text = std::fs::read(self.0.settings.remembered.as_ref()?).ok()?;
        let known: Remembered = serde_json::from_slice(&text).ok()?;
        let bounds = &self.0.settings.bounds;
        let now = Remembered::key(known.report.bwrap.as_ref()?, bounds)?;
        (known.key == now && known.report.full.works).then_some(known.report)
    }

    /// Remembers that the best level works. Anything less is tried again: the machine may have been mended.
    fn remember(&self, report: &Report) {
        let (Some(path), true) = (&self.0.settings.remembered, report.full.works) else { return };
        let Some(key) =
            report.bwrap.as_ref().and_then(|bwrap| Remembered::key(bwrap, &self.0.settings.bounds))
        else {
            return;
        };
        if let Ok(text) = serde_json::to_vec(&Remembered { key, report: report.clone() }) {
            let _ = write_private(path, &text);
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    key: String,
    report: Report,
}

impl Remembered {
    /// What a trial's result depends on: the system since it was started, the user, bubblewrap, and this version.
    fn key(bwrap: &std::path::Path, bounds: &Bounds) -> Option<String> {
        use std::os::unix::fs::MetadataExt;
        let found = sandbox::find_bubblewrap(bounds).ok()?;
        if found != bwrap {
            return None;
        }
        let meta = bwrap.metadata().ok()?;
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let user = rustix::process::geteuid().as_raw();
        Some(format!(
            "{} {} {} {} {} {user} {}",
            env!("CARGO_PKG_VERSION"),
            boot.trim(),
            meta.ino(),
            meta.mtime(),
            meta.ctime(),
            bwrap.display()
        ))
    }
}

fn write_private(path: &std::path::Path, text: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(text)
}

fn own_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The ends of a command's streams.
struct Streams {
    theirs: [OwnedFd; 3],
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: Option<OwnedFd>,
}

impl Streams {
    fn pipes(input: bool) -> io::Result<Self> {
        let (stdout, their_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, their_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        let (their_stdin, stdin) = if input {
            let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
            (theirs, Some(ours))
        } else {
            (OwnedFd::from(std::fs::File::open("/dev/null")?), None)
        };
        Ok(Self { theirs: [their_stdin, their_stdout, their_stderr], stdin, stdout, stderr: Some(stderr) })
    }

    /// A terminal: one stream for everything.
    fn terminal() -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = rustix::pty::openpt(flags)?;
        rustix::pty::grantpt(&ours)?;
        rustix::pty::unlockpt(&ours)?;
        let theirs = rustix::pty::ioctl_tiocgptpeer(&ours, flags)?;
        let size = rustix::termios::Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&theirs, size)?;
        Ok(Self {
            theirs: [theirs.try_clone()?, theirs.try_clone()?, theirs],
            stdin: Some(ours.try_clone()?),
            stdout: ours,
            stderr: None,
        })
    }
}
