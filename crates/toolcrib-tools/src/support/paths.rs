//! The workspace as core's policy and locks see it.

use toolcrib_core::ToolError;
use toolcrib_core::permission::{PathResolver, ResolvedPath, Sensitivity};
use toolcrib_workspace::{ReadWorkspace, sensitivity};

use super::errors::tool_error;

/// Resolves the paths of effects in a workspace.
pub struct WorkspacePaths(pub ReadWorkspace);

impl PathResolver for WorkspacePaths {
    fn resolve(&self, path: &str, write: bool) -> Result<ResolvedPath, ToolError> {
        let location = if write { self.0.locate_for_change(path) } else { self.0.locate(path) };
        let resolved = location.map_err(|error| tool_error(&error))?.display;
        let sensitivity = if write { stricter(path, &resolved) } else { Sensitivity::Normal };
        Ok(ResolvedPath { path: resolved, sensitivity })
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
