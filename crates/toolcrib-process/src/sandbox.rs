//! How far a command is confined by the kernel, and what that takes here.
//!
//! Three levels. `full`: bubblewrap shows the command a file system in which only the workspace and a private temp
//! directory can be written, its own processes, and no network. `landlock`: the same limits on writing, set by the
//! process itself. `policy`: no confinement; whoever decides must know that. What works is found out by running it
//! and a level is never replaced by a weaker one in silence.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How far commands are confined; a greater one is a stronger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Not at all: only what is known about the command stands between it and the machine.
    Policy,
    /// By Landlock and seccomp.
    Landlock,
    /// By bubblewrap and seccomp.
    Full,
}

impl Level {
    /// The name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Landlock => "landlock",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "policy" => Ok(Self::Policy),
            "landlock" => Ok(Self::Landlock),
            "full" => Ok(Self::Full),
            other => Err(format!("unknown sandbox level {other:?}: use full, landlock or policy")),
        }
    }
}

/// A directory that commands work in.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its canonical path.
    pub path: PathBuf,
    /// Whether commands may write there.
    pub writable: bool,
}

/// Finds paths.
#[derive(Clone)]
pub struct Finder(pub Arc<dyn Fn() -> Vec<PathBuf> + Send + Sync>);

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Finder")
    }
}

/// What commands may see and touch.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The workspace.
    pub roots: Vec<Root>,
    /// What stays as it is although it lies in the workspace, existing or not.
    pub protected: Vec<PathBuf>,
    /// More of that, asked for each command: what is there may change.
    pub protected_now: Option<Finder>,
    /// What may be written besides.
    pub writable: Vec<PathBuf>,
    /// What cannot be read.
    pub hidden: Vec<PathBuf>,
    /// What can be read only by commands that may use the network: the keys to it.
    pub hidden_offline: Vec<PathBuf>,
    /// The private temp directory.
    pub temp: PathBuf,
    /// Where changes to protected paths are kept that had to be put back.
    pub aside: Option<PathBuf>,
    /// Where programs are looked for; `PATH` if empty.
    pub search: Vec<PathBuf>,
}

impl Bounds {
    /// Everything that stays as it is.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing confines commands there"))]
    pub(crate) fn all_protected(&self) -> Vec<PathBuf> {
        let now = self.protected_now.as_ref().map(|find| (find.0)()).unwrap_or_default();
        self.protected.iter().cloned().chain(now).collect()
    }

    /// All directories that can be written.
    pub(crate) fn all_writable(&self) -> Vec<PathBuf> {
        let roots = self.roots.iter().filter(|root| root.writable).map(|root| root.path.clone());
        roots.chain(self.writable.iter().cloned()).collect()
    }

    /// The same without anything that can be written but the temp directory.
    pub(crate) fn read_only(&self) -> Self {
        let roots = self.roots.iter().map(|root| Root { path: root.path.clone(), writable: false });
        Self { roots: roots.collect(), writable: Vec::new(), ..self.clone() }
    }

    /// The temp directory as a command at this level sees it.
    pub(crate) fn temp_inside(&self, level: Level) -> PathBuf {
        if level == Level::Full { "/tmp".into() } else { self.temp.clone() }
    }

    pub(crate) fn hidden(&self, network: bool) -> Vec<PathBuf> {
        let keys = if network { &[] } else { self.hidden_offline.as_slice() };
        // What a root lies in cannot be hidden.
        let around = |path: &Path| self.roots.iter().any(|root| root.path.starts_with(path));
        self.hidden.iter().chain(keys).filter(|path| path.exists() && !around(path)).cloned().collect()
    }
}

/// Whether a level works here, and why not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether it works.
    pub works: bool,
    /// What was seen.
    pub reason: String,
    /// What would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// What works on this machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The best level that works.
    pub level: Level,
    /// Whether `full` works.
    pub full: Verdict,
    /// Whether `landlock` works; `None` if nobody needed to know.
    pub landlock: Option<Verdict>,
    /// The bubblewrap in use.
    pub bwrap: Option<PathBuf>,
    /// Whether mounts protect paths at the `landlock` level.
    pub mounts: bool,
}

impl Report {
    /// Nothing is known, and nothing used.
    pub(crate) fn none() -> Self {
        let unknown = Verdict { works: false, reason: "not tried".into(), advice: None };
        Self { level: Level::Policy, full: unknown, landlock: None, bwrap: None, mounts: false }
    }
}
