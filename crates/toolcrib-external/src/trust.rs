//! Which of a project's tools the user has looked at. A file is trusted exactly as it is; a changed one is not.

use toolcrib_workspace::{Hash, StateDir};

const FOLDER: &str = "permissions";
const FILE: &str = "trusted-tools";
const MAX_BYTES: u64 = 256 << 10;
/// How many are remembered; the oldest are forgotten.
const MAX_KEPT: usize = 1000;

/// What the user trusts in this workspace, kept with the user's own state. Looked up anew each time, so that what
/// one process is told counts for all.
#[derive(Clone)]
pub struct Trust(Option<StateDir>);

impl Trust {
    /// What is kept in this state; without one nothing is trusted.
    pub fn of(state: Option<&StateDir>) -> Self {
        Self(state.cloned())
    }

    /// Whether a file with this content is trusted.
    pub fn holds(&self, content: &Hash) -> bool {
        let wanted = content.to_string();
        self.known().contains(&wanted)
    }

    /// Trusts a file with this content.
    ///
    /// # Errors
    /// Says why it could not be kept.
    pub fn add(&self, content: &Hash) -> Result<(), String> {
        let wanted = content.to_string();
        let mut known = self.known();
        known.retain(|other| *other != wanted);
        known.push(wanted);
        let surplus = known.len().saturating_sub(MAX_KEPT);
        known.drain(..surplus);
        self.write(&known)
    }

    /// Trusts it no longer.
    ///
    /// # Errors
    /// Says why that could not be kept.
    pub fn remove(&self, content: &Hash) -> Result<(), String> {
        let wanted = content.to_string();
        let mut known = self.known();
        known.retain(|other| *other != wanted);
        self.write(&known)
    }

    fn known(&self) -> Vec<String> {
        let read = |state: &StateDir| state.read(FOLDER, FILE, MAX_BYTES).ok().flatten();
        let bytes = self.0.as_ref().and_then(read).unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
    }

    fn write(&self, known: &[String]) -> Result<(), String> {
        let state = self.0.as_ref().ok_or("there is no state directory to remember it in")?;
        let text: String = known.iter().map(|hash| format!("{hash}\n")).collect();
        state.write(FOLDER, FILE, text.as_bytes()).map_err(|error| error.to_string())
    }
}
