//! The levels as Linux makes them: bubblewrap, Landlock and mounts, seccomp.

mod bubblewrap;
pub(crate) mod landlock;
mod probe;
mod protect;
pub(crate) mod seccomp;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub(crate) use probe::probe;
pub(crate) use protect::{How, Protected};

use crate::sandbox::{Bounds, Level, Report};

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

/// How a command is confined at this level.
pub(crate) fn confine(
    bounds: &Bounds,
    level: Level,
    network: bool,
    cwd: &Path,
    report: &Report,
) -> Result<Confinement, String> {
    match level {
        Level::Policy => Ok(Confinement::None),
        Level::Landlock => {
            let kept = bounds.all_protected();
            let protected = protect::plan(&bounds.all_writable(), &kept);
            let mut write = bounds.all_writable();
            write.push(bounds.temp.clone());
            let (read_only, watched) = if report.mounts {
                (protected, Vec::new())
            } else {
                let final_ones = kept.iter();
                let inside = |path: &&PathBuf| write.iter().any(|root| path.starts_with(root));
                (Vec::new(), final_ones.filter(inside).cloned().collect())
            };
            let hidden = bounds.hidden(network);
            let inside = |path: &&PathBuf| write.iter().any(|root| path.starts_with(root));
            let covered = hidden.iter().filter(inside).filter(|_| report.mounts).cloned().collect();
            let aside = bounds.aside.clone();
            let empty = bounds.temp.join(".empty");
            if std::fs::create_dir_all(&empty).is_err() {
                return Err("no temp directory for the sandbox".into());
            }
            Ok(Confinement::Landlock(landlock::Rules {
                write,
                hidden,
                network,
                read_only,
                covered,
                empty,
                watched,
                aside,
            }))
        }
        Level::Full => {
            let protected = protect::plan(&bounds.all_writable(), &bounds.all_protected());
            let bwrap = report.bwrap.clone().ok_or("bubblewrap was not found")?;
            let arguments = bubblewrap::arguments(bounds, network, cwd, &protected)?;
            let aside = bounds.aside.clone();
            Ok(Confinement::Bubblewrap { bwrap, arguments, network, protected, aside })
        }
    }
}
