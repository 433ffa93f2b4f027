//! The engine that runs commands, set up for a workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toolcrib_core::permission::{Contained, Containment, RuleFile};
use toolcrib_process::{Bounds, Commands, EnvironmentSettings, Finder, Level, Root, Settings};
use toolcrib_workspace::{Access, StateDir, Workspace};

/// What can be set about commands: the `[sandbox]` and `[commands]` of the user's `toolcrib.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CommandSettings {
    /// How they are confined.
    pub sandbox: SandboxSettings,
    /// Their environment.
    pub commands: EnvironmentSettings,
    /// The program that becomes the supervisor; the own one if `None`.
    #[serde(skip)]
    pub supervisor: Option<PathBuf>,
    /// Why nothing may be run: the settings could not be understood.
    #[serde(skip)]
    pub broken: Option<String>,
}

/// How commands are confined.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// Exactly this level; the best one that works if absent.
    pub level: Option<Level>,
    /// Refuse to run anything that is not confined.
    pub require: bool,
    /// Paths that commands may write besides the workspace; `~` is the home directory.
    pub writable: Vec<String>,
    /// Paths that they cannot read.
    pub hidden: Vec<String>,
    /// Paths that they can read although they are hidden by default.
    pub readable: Vec<String>,
    /// How large a file they may write, in bytes.
    pub max_file_bytes: Option<u64>,
    /// How much memory one process may use, in bytes.
    pub max_memory_bytes: Option<u64>,
}

impl CommandSettings {
    /// What the user's `toolcrib.toml` says. With a file that cannot be understood nothing is run: what it was to
    /// forbid would be allowed otherwise.
    pub fn of_the_user() -> Self {
        let read = toolcrib_workspace::state::config_dir()
            .map(|folder| settings_from(&folder.join("toolcrib.toml")));
        match read {
            Ok(Ok(settings)) => settings,
            Ok(Err(why)) => Self { broken: Some(why), ..Self::default() },
            Err(_) => Self::default(),
        }
    }
}

fn settings_from(path: &Path) -> Result<CommandSettings, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(CommandSettings::default()),
        Err(error) => return Err(format!("the user's toolcrib.toml cannot be read: {}", error.kind())),
    };
    let wrong = |why: &str| format!("the user's toolcrib.toml: {}", why.trim_end());
    let read = toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        wrong(&format!("line {}: {}", before.matches('\n').count() + 1, error.message()))
    });
    let tables: toml::Table = toml::from_str(&text).map_err(|error| wrong(error.message()))?;
    RuleFile::check_tables(&tables).map_err(|why| wrong(&why))?;
    read
}

/// Secrets that no command needs.
const HIDDEN: &[&str] = &[
    "~/.gnupg",
    "~/.aws",
    "~/.azure",
    "~/.kube",
    "~/.docker/config.json",
    "~/.config/gcloud",
    "~/.config/op",
    "~/.password-store",
    "~/.local/share/keyrings",
    "~/.mozilla",
    "~/.config/google-chrome",
    "~/.config/chromium",
    "~/.cargo/credentials.toml",
    "~/.cargo/credentials",
    "~/.pypirc",
    "~/.terraform.d",
    "~/.bash_history",
    "~/.zsh_history",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
];

/// Keys to the network, of use only to commands that have one.
const KEYS: &[&str] =
    &["~/.ssh", "~/.netrc", "~/.git-credentials", "~/.config/git/credentials", "~/.config/gh", "~/.npmrc"];

/// The engine for a workspace.
pub(crate) fn engine(
    workspace: &Workspace,
    state: Option<&StateDir>,
    settings: &CommandSettings,
) -> Commands {
    let sandbox = &settings.sandbox;
    let readable: Vec<PathBuf> = sandbox.readable.iter().filter_map(|path| expand(path)).collect();
    let hidden = |paths: &[&str]| -> Vec<PathBuf> {
        paths.iter().filter_map(|path| expand(path)).filter(|path| !readable.contains(path)).collect()
    };
    let roots = workspace.roots().into_iter().filter(|root| root.mount.is_none());
    let roots =
        roots.filter_map(|root| Some(Root { path: root.path?, writable: root.access == Access::ReadWrite }));
    // Conversations, before-images of files and settings are not for commands to read, either.
    let own = state.map(|state| state.protected().to_vec()).unwrap_or_default();
    let nested = workspace.read_only();
    let bounds = Bounds {
        roots: roots.collect(),
        protected: workspace.protected_paths(),
        protected_now: Some(Finder(Arc::new(move || nested.nested_git_paths()))),
        writable: sandbox
            .writable
            .iter()
            .filter_map(|path| expand(path))
            .chain(workspace.linked_repositories())
            .collect(),
        hidden: hidden(HIDDEN)
            .into_iter()
            .chain(sandbox.hidden.iter().filter_map(|path| expand(path)))
            .chain(own)
            .collect(),
        hidden_offline: hidden(KEYS),
        aside: state.map(|state| state.path().join("put-back")),
        ..Bounds::default()
    };
    let mut engine = Settings::new(bounds);
    engine.refuse = settings.broken.clone();
    engine.level = sandbox.level;
    engine.require_sandbox = sandbox.require;
    engine.environment = settings.commands.clone();
    engine.supervisor = settings.supervisor.clone();
    engine.remembered = state.map(|state| state.cache_path().join("sandbox.json"));
    if let Some(bytes) = sandbox.max_file_bytes {
        engine.limits.file_bytes = Some(bytes);
    }
    if let Some(bytes) = sandbox.max_memory_bytes {
        engine.limits.memory_bytes = Some(bytes);
    }
    Commands::new(engine)
}

/// A path of the configuration; the canonical one if it is there.
fn expand(path: &str) -> Option<PathBuf> {
    let whole = match path.strip_prefix("~/") {
        Some(below) => Path::new(&std::env::var_os("HOME")?).join(below),
        None => PathBuf::from(path),
    };
    whole.is_absolute().then(|| whole.canonicalize().unwrap_or(whole))
}

/// Tells the policy whether commands are contained. The machine is tried out only when somebody wants to know.
pub(crate) struct BySandbox(pub(crate) Commands);

impl Containment for BySandbox {
    fn contained(&self) -> Contained {
        match (self.0.settings().level, self.0.level()) {
            (Some(Level::Policy), _) => Contained::Accepted,
            (_, Ok(level)) if level > Level::Policy => Contained::Yes,
            _ => Contained::No,
        }
    }

    fn broken(&self) -> Option<String> {
        self.0.settings().refuse.clone()
    }
}

pub(crate) fn containment(commands: &Commands) -> Arc<dyn Containment> {
    Arc::new(BySandbox(commands.clone()))
}
