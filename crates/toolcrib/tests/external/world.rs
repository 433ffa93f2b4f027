//! A project, a user's tool folder and a crib that takes in both.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use toolcrib::external::Watch;
use toolcrib::process::Level;
use toolcrib::{CallRequest, CommandSettings, Mode, Outcome, PolicyMode, Session, StateDir, Toolcrib};

/// How long anything may take to be noticed: a second, and what a busy machine adds.
const DEADLINE: Duration = Duration::from_secs(10);

pub(crate) struct World {
    pub(crate) root: TempDir,
    pub(crate) user: TempDir,
    pub(crate) crib: Toolcrib,
    pub(crate) session: Arc<Session>,
    changes: Mutex<Receiver<toolcrib::core::registry::RegistryChange>>,
    _state: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(PolicyMode::Full, Some(Level::Policy), |_| ())
    }

    /// With files that are there before anything is loaded.
    pub(crate) fn with(policy: PolicyMode, level: Option<Level>, prepare: impl FnOnce(&Path)) -> Self {
        let (root, user, kept) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        prepare(root.path());
        let state = StateDir::at(kept.path().join("state")).unwrap();
        let mut commands =
            CommandSettings { supervisor: Some(env!("CARGO_BIN_EXE_toolcrib").into()), ..Default::default() };
        commands.sandbox.level = level;
        let crib = Toolcrib::builder()
            .root(root.path())
            .state(state)
            .policy(policy)
            .rules(Default::default())
            .commands(commands)
            .tool_folders_with_user(user.path().join("tools"))
            .build()
            .unwrap();
        let (sender, changes) = channel();
        crib.executor().registry().on_change(move |change| drop(sender.send(change.clone())));
        let session = crib.session("s");
        Self { root, user, crib, session, changes: Mutex::new(changes), _state: kept }
    }

    pub(crate) fn user_file(&self, name: &str) -> PathBuf {
        self.user.path().join("tools").join(format!("{name}.tool.toml"))
    }

    pub(crate) fn project_file(&self, name: &str) -> PathBuf {
        self.root.path().join(".toolcrib/tools").join(format!("{name}.tool.toml"))
    }

    /// Puts a file there whole, as an editor would.
    pub(crate) fn put(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let staged = path.with_extension("part");
        std::fs::write(&staged, text).unwrap();
        std::fs::rename(staged, path).unwrap();
    }

    /// A tool of the user, in use at once.
    pub(crate) fn user_tool(&self, name: &str, rest: &str) {
        Self::put(&self.user_file(name), &file(name, rest));
        self.crib.external_tools().unwrap().reload();
        let problem = self.problem(&format!("{name}.tool.toml"));
        assert!(self.serves(name) && problem.is_none(), "{name} is not in use: {problem:?}");
    }

    pub(crate) fn serves(&self, name: &str) -> bool {
        self.crib.executor().profile().get(name).is_some()
    }

    /// What is wrong with a file.
    pub(crate) fn problem(&self, file: &str) -> Option<String> {
        let reports = self.crib.external_tools().unwrap().report();
        let report = reports.into_iter().find(|report| report.file.ends_with(file))?;
        report.problem.map(|problem| problem.to_string())
    }

    pub(crate) fn watch(&self) -> Watch {
        self.crib.watch().unwrap()
    }

    /// Waits until `holds`, woken by the registry's changes.
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) -> Duration {
        let started = Instant::now();
        let changes = self.changes.lock().unwrap();
        while !holds(self) {
            let left = DEADLINE.checked_sub(started.elapsed());
            let left = left.unwrap_or_else(|| panic!("it never came about: {what}"));
            // A file that breaks is no change of the registry, so one looks now and then, too.
            let _ = changes.recv_timeout(left.min(Duration::from_millis(20)));
        }
        started.elapsed()
    }

    /// The changes that were announced and not waited for.
    pub(crate) fn announced(&self) -> usize {
        self.changes.lock().unwrap().try_iter().count()
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Outcome {
        let request = CallRequest { mode: Mode::Mcp, ..CallRequest::new(&self.session, tool, input) };
        self.crib.executor().call(request).await
    }

    pub(crate) async fn ok(&self, tool: &str, input: Value) -> Outcome {
        let outcome = self.call(tool, input.clone()).await;
        assert!(outcome.success, "{tool} {input}: {}", outcome.output);
        outcome
    }

    pub(crate) async fn fails(&self, tool: &str, input: Value) -> (String, String) {
        let outcome = self.call(tool, input.clone()).await;
        assert!(!outcome.success, "{tool} {input}: {}", outcome.output);
        (outcome.error.unwrap().code.as_str().to_owned(), outcome.output)
    }
}

/// A file with a name and a description, and what else is to be in it.
pub(crate) fn file(name: &str, rest: &str) -> String {
    format!("name = \"{name}\"\ndescription = \"For the test.\"\n{rest}\n")
}

/// A tool that prints its version.
pub(crate) fn says(name: &str, text: &str) -> String {
    file(name, &format!("command = [\"printf\", \"%s\", \"{text}\"]"))
}
