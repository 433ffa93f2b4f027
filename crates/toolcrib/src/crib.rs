//! The parts put together.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::executor::{ExecutorBuilder, Limits};
use toolcrib_core::permission::{Approver, Containment, RuleBook, RulePolicy};
use toolcrib_core::{
    ActivityStream, CallRequest, Executor, Outcome, PolicyMode, Profile, Registry, Session, Tool,
};
use toolcrib_external::{ExternalTools, ToolFolders, Watch};
use toolcrib_process::{Commands, Table};
use toolcrib_tools::{CodeEngine, CommandSpill, SessionStates, WorkspacePaths, WorkspaceSpill};
use toolcrib_workspace::{Access, MountSource, StateDir, Workspace};

use crate::commands::{self, CommandSettings};
use crate::rule_files::{KeptGrants, RuleFiles};

/// Why a [`Toolcrib`] could not be built.
#[derive(Debug)]
pub enum BuildError {
    /// The workspace or its state could not be opened.
    Workspace(toolcrib_workspace::Error),
    /// A tool could not be registered.
    Tool(toolcrib_core::registry::RegisterError),
    /// The profile does not fit the tools.
    Profile(Vec<String>),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workspace(error) => error.fmt(f),
            Self::Tool(error) => error.fmt(f),
            Self::Profile(wrong) => f.write_str(&wrong.join("; ")),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<toolcrib_workspace::Error> for BuildError {
    fn from(error: toolcrib_workspace::Error) -> Self {
        Self::Workspace(error)
    }
}

/// Tool-registration steps, run when the crib is built.
type Register = Box<dyn FnOnce(&Registry) -> Result<(), toolcrib_core::registry::RegisterError>>;

/// Builds a [`Toolcrib`].
pub struct ToolcribBuilder {
    roots: Vec<(PathBuf, Access)>,
    workspace: Option<Workspace>,
    state: Option<StateDir>,
    policy: PolicyMode,
    rules: Option<RuleBook>,
    containment: Option<Arc<dyn Containment>>,
    commands: CommandSettings,
    scip: Option<PathBuf>,
    profile: Profile,
    approver: Option<Arc<dyn Approver>>,
    activity: ActivityStream,
    limits: Limits,
    more: Vec<Register>,
    tool_folders: bool,
    user_tools: Option<PathBuf>,
    adjust: Vec<Box<dyn FnOnce(ExecutorBuilder) -> ExecutorBuilder>>,
}

impl ToolcribBuilder {
    /// Adds a directory that tools may read and change. The first one is what relative paths start from.
    #[must_use]
    pub fn root(self, path: impl AsRef<Path>) -> Self {
        self.root_with(path, Access::ReadWrite)
    }

    /// Adds a directory with this access.
    #[must_use]
    pub fn root_with(mut self, path: impl AsRef<Path>, access: Access) -> Self {
        self.roots.push((path.as_ref().to_owned(), access));
        self
    }

    /// Uses this workspace instead of directories, for example one in memory.
    #[must_use]
    pub fn workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Keeps the journal and long outputs here. Without it the journal lives in memory, as long as the crib.
    #[must_use]
    pub fn state(mut self, state: StateDir) -> Self {
        self.state = Some(state);
        self
    }

    /// How much may happen without a question (default: `ask`).
    #[must_use]
    pub fn policy(mut self, mode: PolicyMode) -> Self {
        self.policy = mode;
        self
    }

    /// Decides by these rules instead of those that the user, the project and earlier grants wrote down; an empty book
    /// for none. Nothing is kept for the project then.
    #[must_use]
    pub fn rules(mut self, rules: RuleBook) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Says whether commands are contained, instead of the sandbox itself.
    #[must_use]
    pub fn containment(mut self, containment: Arc<dyn Containment>) -> Self {
        self.containment = Some(containment);
        self
    }

    /// How commands are confined, and what they find in their environment.
    #[must_use]
    pub fn commands(mut self, settings: CommandSettings) -> Self {
        self.commands = settings;
        self
    }

    /// Trusts this SCIP index of the code, made by another tool, in files that are as they were when it was made.
    #[must_use]
    pub fn scip(mut self, index: impl Into<PathBuf>) -> Self {
        self.scip = Some(index.into());
        self
    }

    /// Asks this person.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Shows the tools by this profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Emits events here.
    #[must_use]
    pub fn activity(mut self, activity: ActivityStream) -> Self {
        self.activity = activity;
        self
    }

    /// Sets the bounds of every call.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a tool of one's own.
    #[must_use]
    pub fn tool<T: Tool>(mut self, tool: T) -> Self {
        self.more.push(Box::new(move |registry| registry.register(tool)));
        self
    }

    /// Takes in the tools that files describe, `*.tool.toml`: the user's, and those of the project in `.toolcrib/tools`.
    /// Files that do not load are reported by [`Toolcrib::external_tools`].
    #[must_use]
    pub fn tool_folders(mut self) -> Self {
        self.tool_folders = true;
        self
    }

    /// The same, with the user's own in this folder.
    #[must_use]
    pub fn tool_folders_with_user(mut self, folder: impl Into<PathBuf>) -> Self {
        self.user_tools = Some(folder.into());
        self.tool_folders()
    }

    /// Adjusts the executor: hooks, a policy of one's own.
    #[must_use]
    pub fn executor(mut self, adjust: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder + 'static) -> Self {
        self.adjust.push(Box::new(adjust));
        self
    }

    /// Opens the workspace and puts everything together. Without a root it is the current directory.
    pub fn build(self) -> Result<Toolcrib, BuildError> {
        let workspace = match self.workspace {
            Some(workspace) => workspace,
            None => open(self.roots, self.state.clone())?,
        };
        let registry = Arc::new(Registry::new());
        toolcrib_tools::register_builtins(&registry, &workspace.read_only()).map_err(BuildError::Tool)?;
        for register in self.more {
            register(&registry).map_err(BuildError::Tool)?;
        }
        let external = self.tool_folders.then(|| {
            let read = workspace.read_only();
            let folders = match self.user_tools {
                Some(user) => ToolFolders::of(Some(user), Some(read.clone())),
                None => ToolFolders::usual(&read),
            };
            ExternalTools::load(folders, &registry, &read, self.state.as_ref())
        });
        let sessions = SessionStates::new();
        let commands = commands::engine(&workspace, self.state.as_ref(), &self.commands);
        let table = Table::new();
        let cache = self.state.as_ref().map(|state| state.cache_path().join("code"));
        let code = CodeEngine::with_scip(workspace.read_only(), cache, self.scip);
        let mut services =
            toolcrib_tools::services(&workspace, sessions.clone(), code, commands.clone(), table.clone());
        if let Some(state) = &self.state {
            services = services.with(CommandSpill(state.clone()));
        }
        let files = RuleFiles::of(&workspace, self.state.as_ref());
        let own_rules = self.rules.is_some();
        let policy = RulePolicy::new(self.policy)
            .rules(self.rules.unwrap_or_else(|| files.load()))
            .containment(self.containment.unwrap_or_else(|| commands::containment(&commands)));
        let policy = Arc::new(policy);
        let mut builder = Executor::builder(registry)
            .profile(self.profile)
            .policy(policy.clone())
            .services(services)
            .paths(Arc::new(WorkspacePaths(workspace.read_only())))
            .activity(self.activity)
            .limits(self.limits);
        if self.state.is_some() && !own_rules {
            builder = builder.grants(Arc::new(KeptGrants { files: files.clone(), policy }));
        }
        if let Some(state) = self.state {
            builder = builder.spill(Arc::new(WorkspaceSpill(state)));
        }
        if let Some(approver) = self.approver {
            builder = builder.approver(approver);
        }
        for adjust in self.adjust {
            builder = adjust(builder);
        }
        let executor = builder.build().map_err(BuildError::Profile)?;
        Ok(Toolcrib { executor, workspace, sessions, files, commands, table, external })
    }
}

fn open(roots: Vec<(PathBuf, Access)>, state: Option<StateDir>) -> Result<Workspace, BuildError> {
    let mut builder = Workspace::builder();
    if roots.is_empty() {
        builder = builder.root(".", Access::ReadWrite);
    }
    for (path, access) in roots {
        builder = builder.root(path, access);
    }
    if let Some(state) = state {
        // Where the state cannot be written there is nothing to mount; a change will say so, reading goes on.
        if let Ok(folder) = state.ensure("spill") {
            builder = builder.mount("spill", MountSource::Disk(folder), Access::ReadOnly);
        }
        builder = builder.state(state);
    }
    Ok(builder.build()?)
}

/// A workspace, the tools and the executor, ready to be called. Cheap to clone.
#[derive(Clone)]
pub struct Toolcrib {
    executor: Executor,
    workspace: Workspace,
    sessions: SessionStates,
    files: RuleFiles,
    commands: Commands,
    table: Table,
    external: Option<ExternalTools>,
}

impl Toolcrib {
    /// Begins with the usual settings.
    pub fn builder() -> ToolcribBuilder {
        ToolcribBuilder {
            roots: Vec::new(),
            workspace: None,
            state: None,
            policy: PolicyMode::default(),
            rules: None,
            containment: None,
            commands: CommandSettings::default(),
            scip: None,
            profile: Profile::everything(),
            approver: None,
            activity: ActivityStream::new(),
            limits: Limits::default(),
            more: Vec::new(),
            tool_folders: false,
            user_tools: None,
            adjust: Vec::new(),
        }
    }

    /// A conversation of this name.
    pub fn session(&self, id: impl Into<String>) -> Arc<Session> {
        Arc::new(Session::new(id))
    }

    /// Calls a tool.
    pub async fn call(&self, session: &Arc<Session>, tool: &str, arguments: Value) -> Outcome {
        self.executor.call(CallRequest::new(session, tool, arguments)).await
    }

    /// The executor, for calls with more to say.
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The files.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The engine that runs commands.
    pub fn commands(&self) -> &Commands {
        &self.commands
    }

    /// The commands that run in the background.
    pub fn processes(&self) -> &Table {
        &self.table
    }

    /// The tools that files describe, if the folders were asked for.
    pub fn external_tools(&self) -> Option<&ExternalTools> {
        self.external.as_ref()
    }

    /// Follows the tool folders as long as the answer is held: what is added, edited or removed is there within a
    /// second, with a `registry_changed` event.
    pub fn watch(&self) -> Option<Watch> {
        self.external.as_ref().map(ExternalTools::watch)
    }

    /// Where rules are written down for this workspace.
    pub fn rule_files(&self) -> &RuleFiles {
        &self.files
    }

    /// What conversations know: read state and task lists.
    pub fn sessions(&self) -> &SessionStates {
        &self.sessions
    }
}
