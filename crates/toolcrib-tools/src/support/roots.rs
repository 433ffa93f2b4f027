//! Where a walk starts: a directory of the workspace, or all of its roots one after the other.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use toolcrib_core::ToolError;
use toolcrib_workspace::search::{GlobOptions, GlobalIgnore, WalkOptions, WalkRoot, glob};
use toolcrib_workspace::{DirLocation, ReadWorkspace};

use super::errors::tool_error;

/// The starts for `path`; without one, every root.
pub(crate) fn starts(workspace: &ReadWorkspace, path: Option<&str>) -> Result<Vec<WalkRoot>, ToolError> {
    let open = |path: &str| workspace.directory(path).map(walk_root).map_err(|error| tool_error(&error));
    match path {
        Some(path) => Ok(vec![open(path)?]),
        None => {
            let roots = workspace.roots();
            let mut found = vec![open(".")?];
            let inside_another = |path: &Path| {
                let others = roots
                    .iter()
                    .filter(|other| other.mount.is_none())
                    .filter_map(|other| other.path.as_ref());
                others.into_iter().any(|other| other != path && path.starts_with(other))
            };
            for path in
                roots.iter().skip(1).filter(|root| root.mount.is_none()).filter_map(|root| root.path.as_ref())
            {
                // The walk of the outer root comes by.
                if let Some(text) = path.to_str().filter(|_| !inside_another(path)) {
                    found.push(open(text)?);
                }
            }
            Ok(found)
        }
    }
}

fn walk_root(location: DirLocation) -> WalkRoot {
    let prefix = match location.display.as_str() {
        "." | "" => String::new(),
        path if path.ends_with('/') => path.to_owned(),
        path => format!("{path}/"),
    };
    // Each ancestor is paired with the name of the next one down.
    let parents = location.parents;
    let mut names: Vec<String> = parents.iter().skip(1).map(|(path, _)| last_name(path)).collect();
    names.push(last_name(&location.display));
    let ancestors = parents.into_iter().map(|(_, dir)| dir).zip(names).collect();
    WalkRoot { dir: location.dir, display_prefix: prefix, ancestors }
}

fn last_name(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
}

/// How to walk, stopping when the call is given up.
pub(crate) fn walk_options(include_ignored: Option<bool>, stop: &Stop) -> WalkOptions {
    WalkOptions {
        include_ignored: include_ignored.unwrap_or(false),
        cancel: Some(Arc::clone(&stop.0)),
        global_ignore: global_ignore(),
        ..WalkOptions::default()
    }
}

/// The person's own ignore rules for all repositories, read once.
fn global_ignore() -> Option<Arc<GlobalIgnore>> {
    static RULES: OnceLock<Option<Arc<GlobalIgnore>>> = OnceLock::new();
    RULES.get_or_init(|| GlobalIgnore::load().map(Arc::new)).clone()
}

/// Stops work that blocks when it is dropped. The executor drops the future of a reading call that is cancelled; a
/// `Stop` held by that future carries the news to the threads that work for it.
#[derive(Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// What such threads look at.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Files of the same name in other folders, if a short look finds any.
pub(crate) fn find_elsewhere(workspace: &ReadWorkspace, path: &str) -> Vec<String> {
    const LOOKED_AT: usize = 20_000;
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let plain = !name.is_empty()
        && name.len() < 128
        && !name.contains(['*', '?', '[', ']', '{', '}', '!', '\\', ':']);
    let Some(root) =
        plain.then(|| starts(workspace, None).ok()).flatten().and_then(|roots| roots.into_iter().next())
    else {
        return Vec::new();
    };
    let options = GlobOptions {
        patterns: vec![format!("**/{name}")],
        limit: 3,
        walk: WalkOptions { max_entries: LOOKED_AT, ..WalkOptions::default() },
        ..GlobOptions::default()
    };
    glob(&root, &options).map(|found| found.paths).unwrap_or_default()
}
