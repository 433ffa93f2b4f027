//! From the options to a crib.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcrib::{Access, ActivityStream, BuildError, CommandSettings, ErrorCode, StateDir, Toolcrib};
use toolcrib_core::permission::Approver;
use toolcrib_workspace::ErrorKind;

use super::Global;
use super::ask::Terminal;
use super::events::write_events;
use super::output::Failure;

/// The roots of the workspace, as options or the surroundings say.
pub(crate) fn roots(global: &Global) -> Result<Vec<(PathBuf, Access)>, Failure> {
    if !global.root.is_empty() {
        return global.root.iter().map(|text| parse_root(text)).collect();
    }
    let here = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current directory cannot be used: {}", error.kind())))?;
    Ok(vec![(project_root(&here), Access::ReadWrite)])
}

fn parse_root(text: &str) -> Result<(PathBuf, Access), Failure> {
    let (path, access) = match text.strip_suffix(":ro") {
        Some(path) if !Path::new(text).exists() => (path, Access::ReadOnly),
        _ => (text.strip_suffix(":rw").unwrap_or(text), Access::ReadWrite),
    };
    if path.is_empty() {
        return Err(Failure::usage("--root: an empty path"));
    }
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Ok((PathBuf::from(path), access)),
        Ok(_) => Err(Failure::usage(format!("--root {path}: it is not a directory"))
            .code(ErrorCode::NotADirectory)
            .suggest("Give a directory.")),
        Err(error) => Err(Failure::io(&format!("--root {path}"), &error)
            .suggest("Give a directory that exists and can be read.")),
    }
}

/// The git root above `here`, or `here`.
fn project_root(here: &Path) -> PathBuf {
    here.ancestors().find(|path| path.join(".git").exists()).unwrap_or(here).to_owned()
}

/// The state directory of these roots.
pub(crate) fn state_of(roots: &[(PathBuf, Access)]) -> Result<StateDir, Failure> {
    let paths: Vec<PathBuf> = roots.iter().map(|(path, _)| path.clone()).collect();
    StateDir::for_roots(&paths).map_err(|error| {
        Failure::usage(format!("the state directory cannot be used: {error}"))
            .code(ErrorCode::IoError)
            .suggest("Set XDG_STATE_HOME (and XDG_CACHE_HOME) to a directory that can be written.")
    })
}

/// Everything that a command works with. Questions go to the terminal, if there is one.
pub(crate) fn crib(global: &Global) -> Result<(Toolcrib, StateDir), Failure> {
    let terminal = Terminal::open(global.session.is_some());
    crib_asking(global, terminal.map(|terminal| Arc::new(terminal) as Arc<dyn Approver>))
}

/// The same, asking somebody else.
pub(crate) fn crib_asking(
    global: &Global,
    approver: Option<Arc<dyn Approver>>,
) -> Result<(Toolcrib, StateDir), Failure> {
    let roots = roots(global)?;
    let state = state_of(&roots)?;
    let profile = toolcrib::tools::profiles::profile(&global.profile).map_err(Failure::usage)?;
    let activity = ActivityStream::new();
    if let Some(path) = &global.events {
        write_events(&activity, path)?;
    }
    let mut builder = Toolcrib::builder()
        .state(state.clone())
        .policy(global.policy())
        .commands(commands(global))
        .profile(profile)
        .tool_folders()
        .activity(activity);
    for (path, access) in roots {
        builder = builder.root_with(path, access);
    }
    if let Some(scip) = &global.scip {
        if !scip.is_file() {
            return Err(Failure::usage(format!("there is no SCIP index {}", scip.display())));
        }
        builder = builder.scip(scip);
    }
    if let Some(approver) = approver {
        builder = builder.approver(approver);
    }
    let crib = builder.build().map_err(|error| build_failure(&error))?;
    Ok((crib, state))
}

/// How commands are confined: the user's configuration, and the options over it.
fn commands(global: &Global) -> CommandSettings {
    let mut settings = CommandSettings::of_the_user();
    if global.sandbox.is_some() {
        settings.sandbox.level = global.sandbox;
    }
    settings
}

fn build_failure(error: &BuildError) -> Failure {
    let code = match error {
        BuildError::Workspace(error) => match error.kind() {
            ErrorKind::NotFound => ErrorCode::FileNotFound,
            ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
            ErrorKind::NoSpace => ErrorCode::NoSpace,
            _ => ErrorCode::IoError,
        },
        _ => ErrorCode::Internal,
    };
    Failure::usage(error.to_string()).code(code).suggest("Run `toolcrib doctor` to see what is wrong.")
}
