//! The workspace as core's policy and locks see it.

use toolcrib_core::ToolError;
use toolcrib_core::permission::{PathResolver, ResolvedPath, Sensitivity};
use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::{ErrorKind, ReadWorkspace, sensitivity};

use super::errors::tool_error;

/// Resolves the paths of effects in a workspace.
pub struct WorkspacePaths(pub ReadWorkspace);

impl PathResolver for WorkspacePaths {
    fn resolve(&self, path: &str, write: bool) -> Result<ResolvedPath, ToolError> {
        let location = if write { self.0.locate_for_change(path) } else { self.0.locate(path) };
        let resolved = match location {
            Ok(location) => location.display,
            // A link that leads out can still be deleted as such; whatever follows it is refused there.
            Err(error) if write && error.kind() == ErrorKind::OutsideWorkspace && self.is_link(path) => {
                path.to_owned()
            }
            Err(error) => return Err(tool_error(&error)),
        };
        let sensitivity = if write { stricter(path, &resolved) } else { Sensitivity::Normal };
        Ok(ResolvedPath { path: resolved, sensitivity })
    }
}

impl WorkspacePaths {
    fn is_link(&self, path: &str) -> bool {
        self.0.stat_link(path).is_ok_and(|stat| stat.kind == EntryKind::Symlink)
    }
}

/// By the name that was used as well as by the file it leads to: what reads `.envrc` does not mind that it is a link.
fn stricter(asked: &str, resolved: &str) -> Sensitivity {
    use toolcrib_workspace::Sensitivity as Found;
    match (sensitivity(resolved), sensitivity(asked)) {
        (Found::Sensitive(reason), _) | (_, Found::Sensitive(reason)) => {
            Sensitivity::Sensitive(reason.into())
        }
        (Found::Flagged(reason), _) | (_, Found::Flagged(reason)) => Sensitivity::Flagged(reason.into()),
        _ => Sensitivity::Normal,
    }
}
