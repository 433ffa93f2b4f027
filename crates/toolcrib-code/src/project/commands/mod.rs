//! How the project is built, tested, checked and run: exactly as it says itself.
//!
//! Scripts and targets come first, then what continuous integration runs, then what the build system of a manifest
//! always offers (`cargo test`), unless one of the others says the same.

mod ci;
pub(crate) mod classify;
mod offered;
mod targets;

use serde::Serialize;

use super::detect::Found;
use super::manifest::{Manifest, Member};
use super::scan::Scan;
use classify::Goal;
pub(crate) use targets::container_command;

/// Commands kept of one kind.
const MAX_COMMANDS: usize = 12;
/// Folders whose scripts are looked at.
const MAX_FOLDERS: usize = 30;

/// A command, and where it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// The exact line.
    pub command: String,
    /// `path:line` of what says so.
    pub evidence: String,
    /// The folder to run it in, if it is not the one that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `script`, `ci`, `manifest` (what its build system offers) or `container`.
    pub from: &'static str,
}

/// Commands by what they are for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Commands {
    /// To build.
    pub build: Vec<Command>,
    /// To test.
    pub test: Vec<Command>,
    /// To check style and types.
    pub lint: Vec<Command>,
    /// To run.
    pub run: Vec<Command>,
}

impl Commands {
    fn list(&mut self, goal: Goal) -> &mut Vec<Command> {
        match goal {
            Goal::Build => &mut self.build,
            Goal::Test => &mut self.test,
            Goal::Lint => &mut self.lint,
            Goal::Run => &mut self.run,
        }
    }

    /// The four lists by name.
    pub fn lists(&self) -> [(&'static str, &[Command]); 4] {
        [("build", &self.build), ("test", &self.test), ("lint", &self.lint), ("run", &self.run)]
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lists().iter().all(|(_, list)| list.is_empty())
    }
}

/// What gathers commands: where it looks, and what it has found.
pub(crate) struct Gather<'s, 'w> {
    pub(crate) scan: &'s Scan<'w>,
    pub(crate) manifests: &'s [Manifest],
    pub(crate) managers: &'s [Found],
    found: Commands,
    left_out: usize,
}

impl Gather<'_, '_> {
    /// Adds a command, unless the same is there already.
    fn add(&mut self, goal: Goal, folder: &str, from: &'static str, command: String, evidence: String) {
        let own = self.scan.bases.first().is_some_and(|base| base == folder);
        let cwd = (!own).then(|| folder.trim_end_matches('/').to_owned());
        let list = self.found.list(goal);
        if list.iter().any(|known| known.command == command && known.cwd == cwd) {
            return;
        }
        // What a build system always offers says nothing new beside a longer form of the same.
        if from == "manifest"
            && list.iter().any(|known| known.cwd == cwd && known.command.contains(command.as_str()))
        {
            return;
        }
        if list.len() < MAX_COMMANDS {
            list.push(Command { command, evidence, cwd, from });
        } else {
            self.left_out += 1;
        }
    }

    /// The package manager for a folder: the one whose lock file lies nearest above it.
    fn manager(&self, folder: &str, known: &[&str]) -> Option<&str> {
        let fits = self.managers.iter().filter(|found| known.contains(&found.name.as_str()));
        let near = fits.filter(|found| {
            let path = found.evidence.rsplit_once(':').map_or("", |(path, _)| path);
            folder.starts_with(super::manifest::folder_of(path))
        });
        near.max_by_key(|found| found.evidence.matches('/').count()).map(|found| found.name.as_str())
    }
}

/// Gathers every command that can be told.
pub(crate) fn gather(
    scan: &Scan<'_>,
    manifests: &[Manifest],
    members: &[Member],
    managers: &[Found],
) -> Commands {
    let mut gather = Gather { scan, manifests, managers, found: Commands::default(), left_out: 0 };
    // The starts, and projects of their own below them; members of a workspace are built by its root.
    let mut folders: Vec<&str> = scan.bases.iter().map(String::as_str).collect();
    for (index, manifest) in manifests.iter().enumerate() {
        let member = members.iter().any(|member| member.manifest == index);
        let inside = manifests.iter().any(|outer| {
            outer.kind == manifest.kind
                && outer.folder != manifest.folder
                && manifest.folder.starts_with(&outer.folder)
        });
        if !member && !inside && !folders.contains(&manifest.folder.as_str()) {
            folders.push(&manifest.folder);
        }
    }
    if folders.len() > MAX_FOLDERS {
        scan.warn(format!("commands were looked for in {MAX_FOLDERS} of {} folders", folders.len()));
        folders.truncate(MAX_FOLDERS);
    }
    folders.iter().for_each(|folder| targets::scripts(&mut gather, folder));
    ci::workflows(&mut gather);
    folders.iter().for_each(|folder| offered::offered(&mut gather, folder));
    folders.iter().for_each(|folder| targets::containers(&mut gather, folder));
    if gather.left_out > 0 {
        scan.warn(format!("{} more commands were left out", gather.left_out));
    }
    gather.found
}
