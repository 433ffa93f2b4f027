//! The engine: what commands may touch, at which level, and the way from a request to a process.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::environment::{self, EnvironmentSettings};
use crate::output::Spill;
use crate::platform::{self, Platform};
use crate::process::Process;
use crate::sandbox::{Bounds, Level, Report};

/// What the kernel lets a command use at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The size of a file that it writes.
    pub file_bytes: Option<u64>,
    /// The memory of one process.
    pub memory_bytes: Option<u64>,
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// Processes and threads of the user, all of them together; root has no such limit.
    pub processes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: Some(4 << 30),
            memory_bytes: Some(memory_of_the_machine()),
            open_files: Some(65_536),
            processes: Some(32_768),
        }
    }
}

/// Nothing needs more than there is; what asks for it all the same fails at once instead of taking others down.
fn memory_of_the_machine() -> u64 {
    platform::total_memory().unwrap_or(64 << 30)
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
    /// A file in which it is remembered that the best level works, so that it need not be tried each time; what the
    /// login shell said is kept beside it.
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
    /// Whether the kernel keeps it from writing anywhere but to its temp directory; without a sandbox nothing does.
    pub read_only: bool,
    /// Whether it gets input; otherwise its input is empty.
    pub input: bool,
    /// Whether it runs in a terminal.
    pub terminal: bool,
    /// What is added to its environment.
    pub env: Vec<(String, String)>,
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
            read_only: false,
            input: false,
            terminal: false,
            env: Vec::new(),
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

/// A command with everything that was decided about it.
pub(crate) struct Job {
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    pub network: bool,
    pub input: bool,
    pub terminal: bool,
    pub timeout: Option<Duration>,
    pub grace: Duration,
    pub limits: Limits,
    pub spill: [Option<Spill>; 2],
}

struct Inner {
    settings: Settings,
    platform: Platform,
    report: OnceLock<Report>,
    login: OnceLock<BTreeMap<String, String>>,
}

/// Runs commands. Cheap to clone; when the last one is gone, so are the commands.
#[derive(Clone)]
pub struct Commands(Arc<Inner>);

impl Commands {
    /// An engine; nothing is started or tried before it is needed.
    pub fn new(settings: Settings) -> Self {
        let platform = Platform::new(&settings);
        Self(Arc::new(Inner { settings, platform, report: OnceLock::new(), login: OnceLock::new() }))
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
        self.0.platform.probe(&self.0.settings.bounds, thorough)
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
        let settings = &self.0.settings;
        let (program, args) = match request.program {
            Program::Shell(line) => ("bash".to_owned(), vec!["-c".to_owned(), line]),
            Program::Argv(argv) => {
                let mut words = argv.into_iter();
                (words.next().unwrap_or_default(), words.collect())
            }
        };
        let temp = settings.bounds.temp_inside(level);
        let login = self.login().await;
        let mut env = environment::build(
            own_environment(),
            &login,
            &settings.environment,
            &temp,
            level,
            request.terminal,
        );
        env.retain(|(name, _)| !request.env.iter().any(|(other, _)| other == name));
        env.extend(request.env);
        let job = Job {
            program,
            args,
            env,
            cwd: request.cwd,
            network: request.network,
            input: request.input,
            terminal: request.terminal,
            timeout: request.timeout,
            grace: settings.grace,
            limits: settings.limits,
            spill: request.spill,
        };
        let bounds = &settings.bounds;
        let bounds = if request.read_only { Cow::Owned(bounds.read_only()) } else { Cow::Borrowed(bounds) };
        self.0.platform.start(job, level, &bounds, &self.report_for(level)).await
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
        let found = match self.recall_login() {
            Some(known) => known,
            None => {
                let found = self.ask_login_shell().await.unwrap_or_default();
                self.remember_login(&found);
                found
            }
        };
        self.0.login.get_or_init(|| found).clone()
    }

    /// Runs the person's shell as at a login, without a terminal to steal, and without confinement: it is their own
    /// profile that it runs.
    async fn ask_login_shell(&self) -> Option<BTreeMap<String, String>> {
        const DEADLINE: Duration = Duration::from_secs(3);
        let shell = std::env::var("SHELL").ok().filter(|shell| shell.starts_with('/'));
        let passed = ["HOME", "USER", "LOGNAME", "PATH", "LANG"];
        let job = Job {
            program: shell.unwrap_or_else(|| "/bin/bash".into()),
            args: ["-l", "-c", "env -0"].map(String::from).to_vec(),
            env: own_environment().filter(|(name, _)| passed.contains(&name.as_str())).collect(),
            cwd: "/".into(),
            network: true,
            input: false,
            terminal: false,
            timeout: Some(DEADLINE),
            grace: Duration::ZERO,
            limits: self.0.settings.limits,
            spill: [None, None],
        };
        let bounds = &self.0.settings.bounds;
        let process = self.0.platform.start(job, Level::Policy, bounds, &Report::none()).await.ok()?;
        process.wait().await;
        Some(environment::parse_login(process.output().stdout.text().as_bytes()))
    }

    /// What the login shell told an earlier process, if its files are the same and it is not long ago.
    fn recall_login(&self) -> Option<BTreeMap<String, String>> {
        const FRESH: Duration = Duration::from_secs(24 * 3600);
        let path = self.0.settings.remembered.as_ref()?.with_file_name("login.json");
        let age = path.metadata().ok()?.modified().ok()?.elapsed().ok()?;
        let known: RememberedLogin = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (age < FRESH && known.key == environment::login_key()).then_some(known.variables)
    }

    fn remember_login(&self, variables: &BTreeMap<String, String>) {
        let Some(path) = &self.0.settings.remembered else { return };
        let known = RememberedLogin { key: environment::login_key(), variables: variables.clone() };
        if let Ok(text) = serde_json::to_vec(&known) {
            let _ = platform::write_private(&path.with_file_name("login.json"), &text);
        }
    }

    /// What an earlier process found out, if nothing has changed since.
    fn recall(&self) -> Option<Report> {
        let text = std::fs::read(self.0.settings.remembered.as_ref()?).ok()?;
        let known: Remembered = serde_json::from_slice(&text).ok()?;
        let now = Platform::trial_key(&self.0.settings.bounds, &known.report)?;
        (known.key == now && known.report.full.works).then_some(known.report)
    }

    /// Remembers that the best level works. Anything less is tried again: the machine may have been mended.
    fn remember(&self, report: &Report) {
        let (Some(path), true) = (&self.0.settings.remembered, report.full.works) else { return };
        let Some(key) = Platform::trial_key(&self.0.settings.bounds, report) else { return };
        if let Ok(text) = serde_json::to_vec(&Remembered { key, report: report.clone() }) {
            let _ = platform::write_private(path, &text);
        }
    }
}

#[derive(Serialize, Deserialize)]
struct RememberedLogin {
    key: String,
    variables: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    key: String,
    report: Report,
}

fn own_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
