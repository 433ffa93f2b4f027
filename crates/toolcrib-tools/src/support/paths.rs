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
        let location = location.map_err(|error| tool_error(&error))?;
        let sensitivity = if !write {
            Sensitivity::Normal
        } else {
            match sensitivity(&location.display) {
                toolcrib_workspace::Sensitivity::Sensitive(reason) => Sensitivity::Sensitive(reason.into()),
                toolcrib_workspace::Sensitivity::Flagged(reason) => Sensitivity::Flagged(reason.into()),
                _ => Sensitivity::Normal,
            }
        };
        Ok(ResolvedPath { path: location.display, sensitivity })
    }
}
