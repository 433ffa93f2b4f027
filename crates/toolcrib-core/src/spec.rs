//! A tool's static description: what it is called, what it takes, what it can do.

use std::time::Duration;

use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::permission::{Permission, PermissionSet};

/// Where a tool can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By an agent of Toolcrib's own.
    Agent,
    /// Over MCP.
    Mcp,
    /// From the command line.
    Cli,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 3] = [Mode::Agent, Mode::Mcp, Mode::Cli];
}

/// What a tool can do. Enforced: the context hands a tool only the services that these allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Changes files.
    pub writes_files: bool,
    /// Starts programs.
    pub executes_commands: bool,
    /// Reaches the network.
    pub accesses_network: bool,
    /// Needs an engine that may be missing.
    pub requires_engine: bool,
    /// Calling twice is the same as calling once.
    pub idempotent: bool,
    /// May be run again after a failure.
    pub retryable: bool,
}

impl Capabilities {
    /// Only looks, changes nothing: may be repeated at will.
    pub const fn read_only() -> Self {
        Self {
            writes_files: false,
            executes_commands: false,
            accesses_network: false,
            requires_engine: false,
            idempotent: true,
            retryable: true,
        }
    }

    /// Changes files of the workspace.
    pub const fn writes() -> Self {
        Self {
            writes_files: true,
            executes_commands: false,
            accesses_network: false,
            requires_engine: false,
            idempotent: false,
            retryable: false,
        }
    }

    /// Starts programs, which may change files.
    pub const fn executes() -> Self {
        Self {
            writes_files: true,
            executes_commands: true,
            accesses_network: false,
            requires_engine: true,
            idempotent: false,
            retryable: false,
        }
    }

    /// Whether nothing outside the call can be changed by it.
    pub fn is_read_only(self) -> bool {
        !self.writes_files && !self.executes_commands && !self.accesses_network
    }

    /// The permissions that a tool with these capabilities needs.
    pub fn permissions(self) -> PermissionSet {
        let mut set = PermissionSet::of(&[Permission::Read]);
        if self.writes_files {
            set.insert(Permission::Write);
        }
        if self.executes_commands {
            set.insert(Permission::Execute);
        }
        if self.accesses_network {
            set.insert(Permission::Network);
        }
        set
    }
}

/// An example input, shown in documentation and in validation errors.
#[derive(Clone, Debug)]
pub struct Example {
    /// What it does.
    pub title: &'static str,
    /// The arguments.
    pub input: Value,
}

/// A tool's static description, built once, at registration.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The name; stable API.
    pub name: String,
    /// The version of the tool's contract.
    pub version: Version,
    /// A short name for people.
    pub title: String,
    /// What a model reads. May contain `${workspace}`, `${directory}`, `${cwd}`.
    pub description: String,
    /// JSON Schema of the input; filled in from the input type for typed tools.
    pub input_schema: Value,
    /// JSON Schema of the data, where it is the whole answer.
    pub output_schema: Option<Value>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Where it can be used.
    pub modes: Vec<Mode>,
    /// How long a call may take if the caller does not say.
    pub timeout: Duration,
    /// The cap of its output in tokens; the executor's default if absent.
    pub max_output_tokens: Option<usize>,
    /// Example inputs; the first one is shown in validation errors.
    pub examples: Vec<Example>,
    /// Where it comes from, if from outside: `user`, `project`. Such a tool is part of every profile.
    pub origin: Option<String>,
}

/// How long a call may take if neither the caller nor the tool says.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

impl ToolSpec {
    /// A spec with the usual settings: version 1.0.0, all modes, a timeout of a minute.
    pub fn new(name: impl Into<String>, title: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: Version::new(1, 0, 0),
            title: title.into(),
            description: description.into().trim().to_owned(),
            input_schema: Value::Null,
            output_schema: None,
            capabilities: Capabilities::read_only(),
            modes: Mode::ALL.to_vec(),
            timeout: DEFAULT_TIMEOUT,
            max_output_tokens: None,
            examples: Vec::new(),
            origin: None,
        }
    }

    /// The same spec with these capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The same spec with one more example.
    #[must_use]
    pub fn example(mut self, title: &'static str, input: Value) -> Self {
        self.examples.push(Example { title, input });
        self
    }

    /// The same spec with this default timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same spec for these modes only.
    #[must_use]
    pub fn modes(mut self, modes: &[Mode]) -> Self {
        self.modes = modes.to_vec();
        self
    }

    /// The same spec with this version.
    #[must_use]
    pub fn version(mut self, major: u64, minor: u64, patch: u64) -> Self {
        self.version = Version::new(major, minor, patch);
        self
    }

    /// The same spec with this cap of its output.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: usize) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// The permissions a call needs: derived, never declared.
    pub fn permissions(&self) -> PermissionSet {
        self.capabilities.permissions()
    }

    /// The description with `${workspace}`, `${directory}` and `${cwd}` filled in.
    pub fn described(&self, workspace: &str) -> String {
        if !self.description.contains("${") {
            return self.description.clone();
        }
        ["${workspace}", "${directory}", "${cwd}"]
            .iter()
            .fold(self.description.clone(), |text, variable| text.replace(variable, workspace))
    }
}
