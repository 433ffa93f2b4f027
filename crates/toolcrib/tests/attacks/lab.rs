//! The place where commands are let loose: a workspace, what lies beside it, a home, and the engine at one level.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolcrib::workspace::Hash;
use toolcrib::{
    CallRequest, CommandSettings, Outcome, PolicyMode, SandboxSettings, Session, StateDir, Toolcrib,
};
use toolcrib_process::{End, EnvironmentSettings, Level, Program, Request};

use crate::world::SECRET;

pub(crate) const TOOLCRIB: &str = env!("CARGO_BIN_EXE_toolcrib");

/// A directory that commands do not see as a private one of their own, as they do `/tmp`, and that others may enter.
pub(crate) fn folder() -> TempDir {
    let own = std::env::var_os("TOOLCRIB_LAB").unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let own = PathBuf::from(own);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let shared = |path: &PathBuf| ["/tmp", "/var/tmp"].iter().any(|temp| path.starts_with(temp));
    let made = [own, "/var/cache".into(), home].into_iter().filter(|path| !shared(path)).find_map(|path| {
        let mut builder = tempfile::Builder::new();
        builder.prefix("lab").permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
        builder.tempdir_in(path).ok()
    });
    made.unwrap_or_else(|| panic!("there is no place for the lab outside /tmp"))
}

/// The levels that confine, as far as the machine can do them; says which it cannot.
pub(crate) fn levels() -> &'static [Level] {
    static LEVELS: OnceLock<Vec<Level>> = OnceLock::new();
    LEVELS.get_or_init(|| {
        let report = Lab::at(Level::Policy).crib.commands().examine();
        let tried = [(Level::Full, Some(report.full)), (Level::Landlock, report.landlock)];
        let works = |(level, verdict): (Level, Option<toolcrib_process::Verdict>)| {
            let verdict = verdict?;
            if !verdict.works {
                eprintln!("skipped, `{level}` does not work here: {}", verdict.reason);
            }
            verdict.works.then_some(level)
        };
        tried.into_iter().filter_map(works).collect()
    })
}

/// Whether a program is there; says so if not.
pub(crate) fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        eprintln!("skipped, {program} is not installed");
    }
    found
}

/// The system's own Python, as ready as it can be: one of a version manager starts by a script.
pub(crate) fn python() -> Option<&'static str> {
    if Path::new("/usr/bin/python3").exists() {
        return Some("/usr/bin/python3 -ISc");
    }
    has("python3").then_some("python3 -ISc")
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None` if it was stopped.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// What a file outside is: its content or target, and its owner, mode and time.
type Seen = (Option<Hash>, Option<PathBuf>, [i64; 5]);

pub(crate) struct Lab {
    pub(crate) level: Level,
    pub(crate) crib: Toolcrib,
    pub(crate) session: Arc<Session>,
    pub(crate) runtime: Runtime,
    outside: BTreeMap<PathBuf, Seen>,
    top: TempDir,
}

impl Lab {
    /// Everything is permitted that is not forbidden outright.
    pub(crate) fn at(level: Level) -> Self {
        Self::with(level, PolicyMode::Full, |_| {})
    }

    pub(crate) fn with(level: Level, mode: PolicyMode, adjust: impl FnOnce(&mut CommandSettings)) -> Self {
        let top = folder();
        furnish(top.path());
        let at = |name: &str| top.path().join(name).display().to_string();
        let mut settings = CommandSettings {
            sandbox: SandboxSettings {
                level: Some(level),
                hidden: ["home/.ssh", "home/.aws", "out/secret"].map(at).to_vec(),
                max_memory_bytes: Some(2 << 30),
                ..SandboxSettings::default()
            },
            commands: EnvironmentSettings {
                set: [("HOME".to_owned(), at("home"))].into(),
                ..EnvironmentSettings::default()
            },
            supervisor: Some(TOOLCRIB.into()),
            ..CommandSettings::default()
        };
        adjust(&mut settings);
        let crib = Toolcrib::builder()
            .root(top.path().join("ws"))
            .state(StateDir::at(top.path().join("state")).unwrap())
            .rules(toolcrib::core::permission::RuleBook::default())
            .policy(mode)
            .commands(settings)
            .build()
            .unwrap();
        let session = crib.session("lab");
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let mut lab = Self { level, crib, session, runtime, outside: BTreeMap::new(), top };
        lab.outside = lab.look();
        lab
    }

    pub(crate) fn top(&self) -> &Path {
        self.top.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.top.path().join("ws")
    }

    /// What the policy says about a command, `deny` if it is refused before it is asked.
    pub(crate) fn verdict(&self, command: &str) -> String {
        let request = CallRequest::new(&self.session, "run_command", json!({"command": command}));
        match self.crib.executor().explain(request) {
            Ok(verdict) => serde_json::to_value(verdict.decision).unwrap().as_str().unwrap().to_owned(),
            Err(error) => format!("deny ({})", error.code.as_str()),
        }
    }

    /// Calls a tool through the executor.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Outcome {
        self.session.next_turn();
        self.runtime.block_on(self.crib.call(&self.session, tool, arguments))
    }

    /// Runs a line through the executor, for at most ten seconds; what is forbidden outright goes by the engine,
    /// as if the policy were not there. Afterwards everything outside is as it was, and no secret came out.
    pub(crate) fn run(&self, id: &str, line: &str) -> Ran {
        let outcome = self.call("run_command", json!({"command": line, "timeout": 10}));
        let ran = match outcome.error.as_ref().map(|error| error.code.as_str()) {
            Some("COMMAND_DENIED") => self.engine(line),
            Some("COMMAND_FAILED") => panic!("{id} {}: {line}: {}", self.level, outcome.output),
            _ => {
                let text = |name: &str| outcome.data[name].as_str().unwrap_or_default().to_owned();
                let code = outcome.data["exit_code"].as_i64().map(|code| code as i32);
                let code = if outcome.success { code } else { None };
                Ran { code, stdout: text("stdout"), stderr: text("stderr") }
            }
        };
        self.untouched(&format!("{id} {}: {line}: {ran:?}", self.level));
        ran
    }

    /// Runs a line by the engine alone, for at most ten seconds.
    pub(crate) fn engine(&self, line: &str) -> Ran {
        let timeout = Some(Duration::from_secs(10));
        let request = Request { timeout, ..Request::new(Program::Shell(line.into()), self.root()) };
        let process = self.runtime.block_on(async {
            let process = self.crib.commands().start(request).await.unwrap();
            process.wait().await;
            process
        });
        let code = match process.end() {
            Some(End::Exited { code }) if !process.timed_out() => Some(code),
            Some(End::Failed(why)) => panic!("{line}: {why}"),
            _ => None,
        };
        let output = process.output();
        Ran { code, stdout: output.stdout.text(), stderr: output.stderr.text() }
    }

    /// Everything outside is as it was; its owners, modes and times too where the level keeps them.
    pub(crate) fn untouched(&self, what: &str) {
        let mut now = self.look();
        let mut before = self.outside.clone();
        if self.level != Level::Full {
            now.values_mut().chain(before.values_mut()).for_each(|seen| seen.2 = [0; 5]);
        }
        assert_eq!(now, before, "{what}: something outside the workspace changed");
        assert!(!what.contains(SECRET), "{what}: the secret came out");
        let mut names: Vec<_> =
            fs::read_dir(self.top()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["home", "out", "state", "ws", "ws_evil"], "{what}: something appeared beside");
    }

    fn look(&self) -> BTreeMap<PathBuf, Seen> {
        let mut found = BTreeMap::new();
        let mut paths: Vec<PathBuf> = ["out", "ws_evil", "home"].map(|name| self.top().join(name)).to_vec();
        while let Some(path) = paths.pop() {
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            if meta.is_dir() {
                paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let content = meta.is_file().then(|| Hash::of(&fs::read(&path).unwrap()));
            let about =
                [meta.mode().into(), meta.uid().into(), meta.gid().into(), meta.mtime(), meta.nlink() as i64];
            found.insert(path.clone(), (content, fs::read_link(&path).ok(), about));
        }
        found
    }
}

fn furnish(top: &Path) {
    for folder in ["ws", "ws_evil", "out/sub", "home/.ssh", "home/.aws", "home/.config/autostart"] {
        fs::create_dir_all(top.join(folder)).unwrap();
    }
    for file in ["out/secret", "home/.ssh/id_rsa", "home/.aws/credentials"] {
        fs::write(top.join(file), format!("{SECRET}\n")).unwrap();
    }
    for file in ["out/canary", "out/sub/deep", "ws_evil/f", "home/.bashrc", "home/.profile", "home/notes"] {
        fs::write(top.join(file), "untouched\n").unwrap();
    }
    for file in ["ws/x", "ws/list"] {
        fs::write(top.join(file), "line\n").unwrap();
    }
    let mut git = Command::new("git");
    git.args(["init", "-q", "-b", "main"]).arg(top.join("ws")).env("HOME", top.join("home"));
    assert!(git.status().is_ok_and(|status| status.success()), "git is needed");
}
