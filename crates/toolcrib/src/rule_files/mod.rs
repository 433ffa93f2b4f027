//! The files that rules are written down in: the user's own, the project's, and what was granted for this workspace.
//!
//! None of them can be changed by a tool: the workspace protects `.toolcrib` and Toolcrib's own directories.

mod edit;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcrib_core::permission::{Grant, GrantStore, Rule, RuleBook, RuleFile, RulePolicy, RuleText, Scope};
use toolcrib_workspace::{Error, ErrorKind, Hash, ReadWorkspace, StateDir, Workspace, state};

const MAX_BYTES: u64 = 1 << 20;
const FOLDER: &str = "permissions";
const GRANTS: &str = "grants.toml";
const TRUSTED: &str = "trusted";
const PROJECT: &str = ".toolcrib/toolcrib.toml";

/// Where rules are written down for a workspace.
#[derive(Clone)]
pub struct RuleFiles {
    user: Option<PathBuf>,
    project: ReadWorkspace,
    state: Option<StateDir>,
}

impl RuleFiles {
    /// The files for this workspace. Without a state there are no grants, and no project is trusted.
    pub fn of(workspace: &Workspace, state: Option<&StateDir>) -> Self {
        let user = state::config_dir().ok().map(|folder| folder.join("toolcrib.toml"));
        Self { user, project: workspace.read_only(), state: state.cloned() }
    }

    /// All rules as they are now. A file that does not load is in the book as one that denies.
    pub fn load(&self) -> RuleBook {
        let scopes = [Scope::User, Scope::Project, Scope::Granted];
        RuleBook::new(scopes.into_iter().filter_map(|scope| self.load_one(scope)).collect())
    }

    fn load_one(&self, scope: Scope) -> Option<RuleFile> {
        let parsed = match self.text(scope) {
            Ok(None) => return None,
            Ok(Some(text)) => RuleFile::parse(scope, name(scope), &text)
                .map(|file| file.trusted(scope != Scope::Project || self.is_trusted(&text))),
            Err(why) => Err(why),
        };
        Some(parsed.unwrap_or_else(|why| RuleFile::broken(scope, why)))
    }

    /// The file of a scope on the host.
    pub fn path(&self, scope: Scope) -> Option<PathBuf> {
        match scope {
            Scope::User => self.user.clone(),
            Scope::Project => Some(self.project.roots().first()?.path.as_ref()?.join(PROJECT)),
            Scope::Granted => Some(self.state.as_ref()?.path().join(FOLDER).join(GRANTS)),
        }
    }

    /// Adds rules to the user's file or to the grants, and gives their ids. What would not load is refused; what is there
    /// already is not repeated, unless there is a reason to add.
    pub fn add(&self, scope: Scope, rules: &[RuleText]) -> Result<Vec<String>, String> {
        let _lock = self.lock()?;
        let (mut text, mut file) = self.current(scope)?;
        let mut places = Vec::new();
        for rule in rules {
            let wanted = Rule::new(rule)?;
            let same = |known: &Rule| {
                known.says_the_same(&wanted) && (wanted.reason.is_none() || known.reason == wanted.reason)
            };
            if let Some(at) = file.rules().iter().position(same) {
                places.push(at);
                continue;
            }
            places.push(file.rules().len());
            text = edit::append(&text, rule)?;
            file = RuleFile::parse(scope, name(scope), &text)?;
        }
        self.write(scope, &text)?;
        Ok(places.into_iter().map(|at| file.id(at)).collect())
    }

    /// The id of the rule with this key, as it is in [`RuleFile::id`].
    pub fn find(&self, scope: Scope, key: &str) -> Result<String, String> {
        let (_, file) = self.current(scope)?;
        file.find(key).map(|at| file.id(at))
    }

    /// Removes the rule with this key, and gives its id.
    pub fn remove(&self, scope: Scope, key: &str) -> Result<String, String> {
        let _lock = self.lock()?;
        let (text, file) = self.current(scope)?;
        let at = file.find(key)?;
        let id = file.id(at);
        let text = edit::remove(&text, at)?;
        RuleFile::parse(scope, name(scope), &text)?;
        self.write(scope, &text)?;
        Ok(id)
    }

    /// Trusts the project's file exactly as it is now, and gives its rules.
    pub fn trust(&self) -> Result<RuleFile, String> {
        let text = self.text(Scope::Project)?.ok_or_else(|| format!("there is no {PROJECT} here"))?;
        let file = RuleFile::parse(Scope::Project, PROJECT, &text)?;
        self.remember_trusted(&Hash::of(text.as_bytes()).to_string())?;
        Ok(file)
    }

    /// Trusts no file of the project any more, whatever it says.
    pub fn distrust(&self) -> Result<(), String> {
        self.remember_trusted("")
    }

    fn remember_trusted(&self, hash: &str) -> Result<(), String> {
        let state = self.state.as_ref().ok_or("there is no state directory to remember it in")?;
        state.write(FOLDER, TRUSTED, hash.as_bytes()).map_err(|error| error.to_string())
    }

    fn is_trusted(&self, text: &str) -> bool {
        let known = self.state.as_ref().and_then(|state| state.read(FOLDER, TRUSTED, 1024).ok().flatten());
        known.is_some_and(|known| known == Hash::of(text.as_bytes()).to_string().as_bytes())
    }

    /// The text of a file that loads, and its rules.
    fn current(&self, scope: Scope) -> Result<(String, RuleFile), String> {
        let text = self.text(scope)?.unwrap_or_default();
        let file = RuleFile::parse(scope, name(scope), &text)?;
        Ok((text, file))
    }

    /// The text of a file, if there is one.
    fn text(&self, scope: Scope) -> Result<Option<String>, String> {
        let bytes = match scope {
            Scope::User => self.user.as_deref().map_or(Ok(None), read_user),
            Scope::Project => self.read_project(),
            Scope::Granted => {
                let read =
                    |state: &StateDir| state.read(FOLDER, GRANTS, MAX_BYTES).map_err(|error| reason(&error));
                self.state.as_ref().map_or(Ok(None), read)
            }
        };
        let wrong = |why: String| format!("{}: {why}", name(scope));
        let Some(bytes) = bytes.map_err(wrong)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|_| wrong("it is not UTF-8".into()))
    }

    /// Only the file itself: behind a link lies something that tools can change, or that is not the project's.
    fn read_project(&self) -> Result<Option<Vec<u8>>, String> {
        let linked = || "it is reached through a symbolic link".to_owned();
        match self.project.locate(PROJECT) {
            Ok(location) if location.display != PROJECT => return Err(linked()),
            Ok(location) if !location.exists => return Ok(None),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(reason(&error)),
        }
        let file = self.project.read(PROJECT, MAX_BYTES).map_err(|error| reason(&error))?;
        if file.path == PROJECT { Ok(Some(file.bytes)) } else { Err(linked()) }
    }

    fn write(&self, scope: Scope, text: &str) -> Result<(), String> {
        match (scope, &self.user, &self.state) {
            (Scope::User, Some(path), _) => write_user(path, text).map_err(|error| error.kind().to_string()),
            (Scope::Granted, _, Some(state)) => {
                state.write(FOLDER, GRANTS, text.as_bytes()).map_err(|error| error.to_string())
            }
            (Scope::Project, ..) => Err(format!("{PROJECT} belongs to the project: edit it yourself")),
            _ => Err("there is no directory to write it to: set HOME".into()),
        }
    }

    /// One writer at a time, whichever process it is in.
    fn lock(&self) -> Result<Option<File>, String> {
        let Some(state) = &self.state else { return Ok(None) };
        let folder = state.ensure(FOLDER).map_err(|error| error.to_string())?;
        let mut options = File::options();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(folder.join("lock")).map_err(|error| error.kind().to_string())?;
        file.lock().map_err(|error| error.kind().to_string())?;
        Ok(Some(file))
    }
}

/// How a file is called to people and models; where it lies on the host is not a model's business.
fn name(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "the user's toolcrib.toml",
        Scope::Project => PROJECT,
        Scope::Granted => "the grants of this workspace",
    }
}

fn reason(error: &Error) -> String {
    error.message().to_owned()
}

fn read_user(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let failed = |error: io::Error| error.kind().to_string();
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere is not the same as no file.
            return if path.is_symlink() { Err("it is a link that leads nowhere".into()) } else { Ok(None) };
        }
        Err(error) => return Err(failed(error)),
        Ok(meta) if !meta.is_file() => return Err("it is not a regular file".into()),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than {MAX_BYTES} bytes"));
    }
    Ok(Some(bytes))
}

/// Replaces the file as a whole; a link to it (from a folder of dotfiles) stays one.
fn write_user(path: &Path, text: &str) -> io::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let staged = folder.join(format!(".toolcrib.toml.{}", std::process::id()));
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&staged).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        if let Ok(meta) = fs::metadata(&target) {
            file.set_permissions(meta.permissions())?;
        }
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&staged, &target)).inspect_err(|_| {
        let _ = fs::remove_file(&staged);
    })
}

/// Keeps grants for the project with the user's own state, and puts them in force.
pub(crate) struct KeptGrants {
    pub(crate) files: RuleFiles,
    pub(crate) policy: Arc<RulePolicy>,
}

impl GrantStore for KeptGrants {
    fn keep(&self, grant: &Grant) -> Result<(), String> {
        self.files.add(Scope::Granted, &grant.to_rules())?;
        // The other files stay as they were loaded: what a project's file says now, nobody has looked at.
        let mut files = self.policy.book().files.clone();
        files.retain(|file| file.scope != Scope::Granted);
        files.extend(self.files.load_one(Scope::Granted));
        self.policy.set_rules(RuleBook::new(files));
        Ok(())
    }
}
