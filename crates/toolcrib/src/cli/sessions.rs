//! Named sessions between invocations: read state, task list, grants, turn.

use std::fs::File;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib::tools::SessionState;
use toolcrib::{ErrorCode, Session, StateDir, Toolcrib};
use toolcrib_core::permission::Grant;

use super::output::{Failure, Output};

const FOLDER: &str = "sessions";
const VERSION: u32 = 1;
const MAX_BYTES: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    turn: u64,
    #[serde(default)]
    grants: Vec<Grant>,
    #[serde(default)]
    state: Value,
}

/// A session in use. Only one process has it at a time.
pub(crate) struct OpenSession {
    pub(crate) session: Arc<Session>,
    saved_as: Option<(StateDir, String, File)>,
}

/// Opens the named session, or one that is forgotten after this call and in which the person's own acts need no prior
/// read.
pub(crate) fn open(
    crib: &Toolcrib,
    state: &StateDir,
    name: Option<&str>,
    output: &Output,
) -> Result<OpenSession, Failure> {
    let Some(name) = name else {
        crib.sessions().insert("cli", SessionState::lenient());
        return Ok(OpenSession { session: Arc::new(Session::new("cli")), saved_as: None });
    };
    let fits = !name.is_empty()
        && name.len() <= 64
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !fits {
        return Err(Failure::usage(format!(
            "--session {name:?}: use 1 to 64 letters, digits, `.`, `_`, `-`"
        )));
    }
    let lock = lock(state, name).map_err(|why| {
        Failure::usage(format!("session {name} cannot be used: {why}")).code(ErrorCode::IoError)
    })?;
    let file = format!("{name}.json");
    let saved = load(state, &file, output)?;
    let session = Session::new(name).with_grants(saved.grants);
    session.set_turn(saved.turn);
    session.next_turn();
    let known = serde_json::to_vec(&saved.state).unwrap_or_default();
    let known = if saved.state.is_null() { Ok(SessionState::new()) } else { SessionState::from_json(&known) };
    crib.sessions().insert(name, known.unwrap_or_else(|_| SessionState::new()));
    Ok(OpenSession { session: Arc::new(session), saved_as: Some((state.clone(), file, lock)) })
}

fn lock(state: &StateDir, name: &str) -> Result<File, String> {
    let folder = state.ensure(FOLDER).map_err(|error| error.to_string())?;
    let path = folder.join(format!("{name}.lock"));
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| error.kind().to_string())?;
    file.lock().map_err(|error| error.kind().to_string())?;
    Ok(file)
}

fn load(state: &StateDir, file: &str, output: &Output) -> Result<Saved, Failure> {
    let empty = || Saved { version: VERSION, turn: 0, grants: Vec::new(), state: Value::Null };
    let bytes = match state.read(FOLDER, file, MAX_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(empty()),
        Err(error) => return Err(Failure::usage(error.to_string()).code(ErrorCode::IoError)),
    };
    match serde_json::from_slice::<Saved>(&bytes) {
        Ok(saved) if saved.version > VERSION => Err(Failure::usage(format!(
            "the session was saved by a newer version (format {})",
            saved.version
        ))
        .code(ErrorCode::Conflict)
        .suggest("Use that version, or another session name.")),
        Ok(saved) => Ok(saved),
        Err(_) => {
            // Kept aside, not lost, and not in the way.
            let aside = format!("{file}.corrupt");
            let _ = state.write(FOLDER, &aside, &bytes);
            output.note(&format!("toolcrib: the saved session could not be read; it is kept as {aside}"));
            Ok(empty())
        }
    }
}

impl OpenSession {
    /// Saves the session, if it has a name.
    pub(crate) fn save(&self, crib: &Toolcrib) -> Result<(), String> {
        let Some((state, file, _lock)) = &self.saved_as else { return Ok(()) };
        let known = crib.sessions().get(&self.session.id).to_json();
        let saved = Saved {
            version: VERSION,
            turn: self.session.turn(),
            grants: self.session.grants(),
            state: serde_json::from_slice(&known).unwrap_or(Value::Null),
        };
        let bytes = serde_json::to_vec(&saved).map_err(|error| error.to_string())?;
        state.write(FOLDER, file, &bytes).map_err(|error| error.to_string())
    }
}
