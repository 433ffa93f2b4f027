//! How far a command is confined by the kernel, and what that takes here.
//!
//! Three levels. `full`: bubblewrap shows the command a file system in which only the workspace and a private temp
//! directory can be written, its own processes, and no network. `landlock`: the same limits on writing, set by the
//! process itself. `policy`: no confinement; whoever decides must know that. What works is found out by running it
//! ([`probe`]), and a level is never replaced by a weaker one in silence.

mod bubblewrap;
pub(crate) mod landlock;
mod probe;
mod protect;
pub(crate) mod seccomp;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub(crate) use probe::probe;
pub use probe::{Report, Verdict};
pub(crate) use protect::{How, Protected};

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

/// What commands may see and touch.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The workspace.
    pub roots: Vec<Root>,
    /// What stays as it is although it lies in the workspace, existing or not.
    pub protected: Vec<PathBuf>,
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
    /// All directories that can be written.
    fn all_writable(&self) -> Vec<PathBuf> {
        let roots = self.roots.iter().filter(|root| root.writable).map(|root| root.path.clone());
        roots.chain(self.writable.iter().cloned()).collect()
    }

    /// The temp directory as a command at this level sees it.
    pub(crate) fn temp_inside(&self, level: Level) -> PathBuf {
        if level == Level::Full { "/tmp".into() } else { self.temp.clone() }
    }

    fn hidden(&self, network: bool) -> Vec<PathBuf> {
        let keys = if network { &[] } else { self.hidden_offline.as_slice() };
        // What a root lies in cannot be hidden.
        let around = |path: &Path| self.roots.iter().any(|root| root.path.starts_with(path));
        self.hidden.iter().chain(keys).filter(|path| path.exists() && !around(path)).cloned().collect()
    }
}

/// The bubblewrap that would be used within these bounds.
pub(crate) fn find_bubblewrap(bounds: &Bounds) -> Result<PathBuf, String> {
    bubblewrap::find(bounds)
}

/// How one command is confined, as its supervisor is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Confinement {
    None,
    Landlock(landlock::Rules),
    Bubblewrap {
        bwrap: PathBuf,
        arguments: Vec<String>,
        network: bool,
        protected: Vec<Protected>,
        aside: Option<PathBuf>,
    },
}

impl Confinement {
    /// How many processes of the confinement's own stand between the supervisor and the command.
    pub(crate) fn wrapper_depth(&self) -> usize {
        match self {
            Self::Bubblewrap { .. } => 2,
            _ => 0,
        }
    }

    /// What mounts protect.
    pub(crate) fn guarded(&self) -> &[Protected] {
        match self {
            Self::None => &[],
            Self::Landlock(rules) => &rules.read_only,
            Self::Bubblewrap { protected, .. } => protected,
        }
    }

    /// What is compared afterwards: where there are no mounts, and links, over which none can be made.
    pub(crate) fn compared(&self) -> Vec<PathBuf> {
        let links =
            self.guarded().iter().filter(|item| item.how == How::Compare).map(|item| item.path.clone());
        match self {
            Self::Landlock(rules) => links.chain(rules.watched.iter().cloned()).collect(),
            _ => links.collect(),
        }
    }

    pub(crate) fn aside(&self) -> Option<PathBuf> {
        match self {
            Self::None => None,
            Self::Landlock(rules) => rules.aside.clone(),
            Self::Bubblewrap { aside, .. } => aside.clone(),
        }
    }
}

/// What is known about this machine, and what commands may touch.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub bounds: Bounds,
    pub report: Report,
}

impl Sandbox {
    /// How a command is confined at this level.
    pub(crate) fn confine(&self, level: Level, network: bool, cwd: &Path) -> Result<Confinement, String> {
        confine(&self.bounds, level, network, cwd, &self.report)
    }
}

fn confine(
    bounds: &Bounds,
    level: Level,
    network: bool,
    cwd: &Path,
    report: &Report,
) -> Result<Confinement, String> {
    let protected = protect::plan(&bounds.all_writable(), &bounds.protected);
    match level {
        Level::Policy => Ok(Confinement::None),
        Level::Landlock => {
            let mut write = bounds.all_writable();
            write.push(bounds.temp.clone());
            let (read_only, watched) = if report.mounts {
                (protected, Vec::new())
            } else {
                let final_ones = bounds.protected.iter();
                let inside = |path: &&PathBuf| write.iter().any(|root| path.starts_with(root));
                (Vec::new(), final_ones.filter(inside).cloned().collect())
            };
            let hidden = bounds.hidden(network);
            let aside = bounds.aside.clone();
            Ok(Confinement::Landlock(landlock::Rules { write, hidden, network, read_only, watched, aside }))
        }
        Level::Full => {
            let bwrap = report.bwrap.clone().ok_or("bubblewrap was not found")?;
            let arguments = bubblewrap::arguments(bounds, network, cwd, &protected)?;
            let aside = bounds.aside.clone();
            Ok(Confinement::Bubblewrap { bwrap, arguments, network, protected, aside })
        }
    }
}
