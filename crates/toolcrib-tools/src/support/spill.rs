//! Where outputs go that are too long for the model.

use toolcrib_core::executor::SpillStore;
use toolcrib_workspace::StateDir;

/// The name of the mount under which file tools read spill files.
pub(crate) const MOUNT: &str = "spill";

/// How many spill files are kept.
const KEPT: usize = 64;

/// Keeps long outputs in the state directory, which the workspace mounts as `spill://`.
pub struct WorkspaceSpill(pub StateDir);

impl SpillStore for WorkspaceSpill {
    fn store(&self, call_id: &str, text: &str) -> Result<String, String> {
        let safe: String =
            call_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
        // Ids of calls are the callers' own, and need not be unique among sessions.
        let name = format!("{safe}-{:06x}.txt", fastrand::u32(..1 << 24));
        self.0.write(MOUNT, &name, text.as_bytes()).map_err(|error| error.to_string())?;
        self.forget_oldest();
        Ok(format!("{MOUNT}://{name}"))
    }
}

impl WorkspaceSpill {
    /// Removes all but the newest spill files. Failing to is no reason to fail a call.
    fn forget_oldest(&self) {
        let Ok(folder) = self.0.ensure(MOUNT) else { return };
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut files: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let surplus = files.len().saturating_sub(KEPT);
        for (_, path) in files.into_iter().take(surplus) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A file for output that grows, and the path under which file tools read it.
pub(crate) fn open(state: &StateDir, stream: &str) -> Option<(std::fs::File, String)> {
    let folder = state.ensure(MOUNT).ok()?;
    WorkspaceSpill(state.clone()).forget_oldest();
    let name = format!("{stream}-{:08x}.txt", fastrand::u32(..));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(folder.join(&name)).ok()?;
    Some((file, format!("{MOUNT}://{name}")))
}
