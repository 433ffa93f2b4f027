//! A workspace and a state of its own for each test, and the command to run in it.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub struct Bench {
    pub root: TempDir,
    pub state: TempDir,
}

pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// What stdout holds, if it is JSON.
    pub json: Value,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let stdout = String::from_utf8(output.stdout).unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            json: serde_json::from_str(&stdout).unwrap_or(Value::Null),
            stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Bench {
    pub fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.path(path)).unwrap()).unwrap()
    }

    /// The names in the root, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// A command with the environment of this bench.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root.path())
            .env("HOME", self.state.path())
            .env("XDG_STATE_HOME", self.state.path().join("state"))
            .env("XDG_CACHE_HOME", self.state.path().join("cache"))
            .env("XDG_CONFIG_HOME", self.state.path().join("config"))
            .env_remove("NO_COLOR");
        command
    }

    /// `toolcrib ARGUMENTS`, with the root first.
    pub fn run(&self, arguments: &[&str]) -> Done {
        self.run_with(arguments, b"")
    }

    pub fn run_with(&self, arguments: &[&str], stdin: &[u8]) -> Done {
        if arguments.contains(&"--root") {
            return self.run_plain(arguments, stdin);
        }
        let mut all = vec!["--root", self.root.path().to_str().unwrap()];
        all.extend(arguments);
        self.run_plain(&all, stdin)
    }

    /// `toolcrib ARGUMENTS` as they are.
    pub fn run_plain(&self, arguments: &[&str], stdin: &[u8]) -> Done {
        let mut child = self
            .command(env!("CARGO_BIN_EXE_toolcrib"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        // The command may refuse before it has read everything.
        let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output.into()
    }

    /// A shell script in the environment of this bench.
    pub fn shell(&self, script: &str) -> Done {
        self.command("bash").arg("-c").arg(script).stdin(Stdio::null()).output().unwrap().into()
    }

    /// `toolcrib call TOOL ARGUMENTS --json`.
    pub fn call(&self, tool: &str, arguments: Value) -> Done {
        self.run_with(&["call", tool, "-", "--json"], arguments.to_string().as_bytes())
    }

    /// A file of this name anywhere in the state.
    pub fn find_state(&self, name: &str) -> PathBuf {
        fn find(folder: &Path, name: &str) -> Option<PathBuf> {
            for entry in std::fs::read_dir(folder).ok()?.flatten() {
                let path = entry.path();
                if path.file_name()? == name {
                    return Some(path);
                }
                if path.is_dir()
                    && let Some(found) = find(&path, name)
                {
                    return Some(found);
                }
            }
            None
        }
        find(self.state.path(), name).unwrap_or_else(|| panic!("no {name} in the state"))
    }
}
