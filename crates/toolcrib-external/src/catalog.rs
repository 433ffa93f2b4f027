//! Keeps a registry in step with the folders.
//!
//! What is served is a function of the files and of what each of them was when it last loaded: a scan reads all,
//! parses what changed, gives the names away in a fixed order (the user's files first, then by file name), and
//! exchanges in the registry what is another one now.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolcrib_core::{DynTool, Registry};
use toolcrib_workspace::{Hash, ReadWorkspace, StateDir};

use crate::folders::{Origin, Scan, ToolFolders};
use crate::names::Names;
use crate::node::Problem;
use crate::tool::CommandTool;
use crate::trust::Trust;

/// What became of a file.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// Whose it is.
    pub origin: Origin,
    /// The file, as people find it.
    pub file: String,
    /// The tool that is served.
    pub tool: Option<String>,
    /// Whether that is an earlier version, because the file does not load as it is.
    pub last_good: bool,
    /// Whether calls are judged like any others, or always asked for.
    pub trusted: bool,
    /// What is wrong with the file.
    pub problem: Option<Problem>,
}

/// One file.
struct Known {
    content: Result<Hash, String>,
    current: Result<Arc<CommandTool>, Problem>,
    good: Option<Arc<CommandTool>>,
    serving: Option<Arc<CommandTool>>,
    problem: Option<Problem>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<(Origin, String), Known>,
    folders: BTreeMap<Origin, String>,
    links: bool,
}

impl State {
    /// The tools that are served.
    fn serving(&self) -> impl Iterator<Item = &Arc<CommandTool>> {
        self.files.values().filter_map(|file| file.serving.as_ref())
    }
}

struct Inner {
    folders: ToolFolders,
    registry: Arc<Registry>,
    workspace: ReadWorkspace,
    trust: Trust,
    state: Mutex<State>,
}

/// The tools of the folders, in a registry. Cheap to clone.
#[derive(Clone)]
pub struct ExternalTools(Arc<Inner>);

impl ExternalTools {
    /// Puts the tools of these folders into a registry, beside what is there already.
    pub fn load(
        folders: ToolFolders,
        registry: &Arc<Registry>,
        workspace: &ReadWorkspace,
        state: Option<&StateDir>,
    ) -> Self {
        let tools = Self(Arc::new(Inner {
            folders,
            registry: Arc::clone(registry),
            workspace: workspace.clone(),
            trust: Trust::of(state),
            state: Mutex::default(),
        }));
        tools.reload();
        tools
    }

    /// The folders.
    pub fn folders(&self) -> &ToolFolders {
        &self.0.folders
    }

    /// What the user trusts.
    pub fn trust(&self) -> &Trust {
        &self.0.trust
    }

    /// The tool of this name that is served from a folder.
    pub fn get(&self, name: &str) -> Option<Arc<CommandTool>> {
        self.state().serving().find(|tool| tool.manifest.name == name).cloned()
    }

    /// What became of each file, and of folders that cannot be read.
    pub fn report(&self) -> Vec<FileReport> {
        let state = self.state();
        let mut found = Vec::new();
        for origin in Origin::ALL {
            if let Some(why) = state.folders.get(&origin) {
                let folder = self.folder_shown(origin);
                let problem = Some(Problem::whole(why.clone()));
                found.push(FileReport {
                    origin,
                    file: folder,
                    tool: None,
                    last_good: false,
                    trusted: false,
                    problem,
                });
            }
        }
        found.extend(state.files.iter().map(|((origin, name), known)| FileReport {
            origin: *origin,
            file: self.0.folders.shown(*origin, name),
            tool: known.serving.as_ref().map(|tool| tool.manifest.name.clone()),
            last_good: known.serving.is_some() && known.problem.is_some(),
            trusted: known.serving.as_ref().is_some_and(|tool| tool.is_trusted()),
            problem: known.problem.clone(),
        }));
        found
    }

    /// Looks at the folders again; what changed is in the registry when this returns.
    pub fn reload(&self) {
        let mut state = self.state();
        let before: Vec<Arc<CommandTool>> = state.serving().cloned().collect();
        state.links = false;
        for origin in Origin::ALL {
            let scan = self.0.folders.scan(origin);
            self.take_in(&mut state, origin, scan);
        }
        self.give_names(&mut state, &before);
        self.exchange(&mut state, &before);
    }

    /// Whether a file can change without its folder's telling.
    pub(crate) fn has_links(&self) -> bool {
        self.state().links
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        Origin::ALL.iter().filter_map(|origin| self.0.folders.path(*origin)).collect()
    }

    fn folder_shown(&self, origin: Origin) -> String {
        self.0.folders.path(origin).map_or_else(|| origin.as_str().into(), |path| path.display().to_string())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parses what is new, forgets what is gone. A folder that cannot be read now leaves all as it was.
    fn take_in(&self, state: &mut State, origin: Origin, scan: Scan) {
        state.links |= scan.links;
        match scan.problem {
            Some(why) => drop(state.folders.insert(origin, why)),
            None => drop(state.folders.remove(&origin)),
        }
        if scan.failed {
            return;
        }
        let names: Vec<&String> = scan.files.iter().map(|(name, _)| name).collect();
        state.files.retain(|(whose, name), _| *whose != origin || names.contains(&name));
        for (name, read) in scan.files {
            let content = read.as_ref().map(|bytes| Hash::of(bytes)).map_err(Clone::clone);
            let key = (origin, name);
            if state.files.get(&key).is_some_and(|known| known.content == content) {
                continue;
            }
            let current = match &read {
                Ok(bytes) => CommandTool::new(bytes, origin, &self.0.workspace, &self.0.trust).map(Arc::new),
                Err(why) => Err(Problem::whole(why.clone())),
            };
            let (good, serving) = match state.files.remove(&key) {
                Some(known) => (known.good, known.serving),
                None => (None, None),
            };
            state.files.insert(key, Known { content, current, good, serving, problem: None });
        }
    }

    /// Decides which version of which file is served.
    fn give_names(&self, state: &mut State, before: &[Arc<CommandTool>]) {
        // Most calls are made where there are no files, and are to begin at once.
        if state.files.is_empty() {
            return;
        }
        let mut names = Names::of_profiles();
        for tool in self.0.registry.tools() {
            let ours = before.iter().any(|own| same(own, &tool));
            if !ours {
                names.take(&tool.spec().name, "a tool that is there already");
            }
        }
        for ((origin, file), known) in &mut state.files {
            let (problem, candidates) = match &known.current {
                Ok(current) => (None, [Some(current.clone()), known.good.clone()]),
                Err(problem) => (Some(problem.clone()), [known.good.clone(), None]),
            };
            known.problem = problem;
            known.serving = None;
            for candidate in candidates.into_iter().flatten() {
                match names.refuse(&candidate.manifest.name) {
                    None => {
                        names.take(&candidate.manifest.name, &format!("the {}'s {file}", origin.as_str()));
                        known.serving = Some(candidate.clone());
                        known.good = Some(candidate);
                        break;
                    }
                    Some(why) => known.problem = known.problem.take().or(Some(Problem::whole(why))),
                }
            }
        }
    }

    /// Makes the registry serve that.
    fn exchange(&self, state: &mut State, before: &[Arc<CommandTool>]) {
        let now: Vec<Arc<CommandTool>> = state.serving().cloned().collect();
        let erased = |tool: &Arc<CommandTool>| Arc::clone(tool) as Arc<dyn DynTool>;
        let there = self.0.registry.tools();
        let gone: Vec<_> = before
            .iter()
            .filter(|tool| !now.iter().any(|other| Arc::ptr_eq(tool, other)))
            .map(erased)
            .collect();
        let come: Vec<_> =
            now.iter().filter(|tool| !there.iter().any(|other| same(tool, other))).map(erased).collect();
        if gone.is_empty() && come.is_empty() {
            return;
        }
        for (name, error) in self.0.registry.swap(&gone, come) {
            for known in state.files.values_mut() {
                if known.serving.as_ref().is_some_and(|tool| tool.manifest.name == name) {
                    known.serving = None;
                    known.problem = Some(Problem::whole(error.to_string()));
                }
            }
        }
    }
}

fn same(own: &Arc<CommandTool>, other: &Arc<dyn DynTool>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(own), Arc::as_ptr(other))
}
