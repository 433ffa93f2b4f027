//! All source files of a workspace with their stamps.

use std::collections::HashSet;

use toolcrib_workspace::search::{Files, Notice, WalkOptions, WalkRoot, files};
use toolcrib_workspace::{DirLocation, ReadWorkspace, Result};

use super::{Control, MAX_FILES};
use crate::lang::Language;

/// More files than these, of any kind, are not looked at.
const MAX_ENTRIES: usize = 1_000_000;

/// Every file that may be source, by path.
pub(super) fn sweep(workspace: &ReadWorkspace, control: &Control<'_>) -> Result<Files> {
    let options = WalkOptions {
        include_ignored: control.include_ignored,
        max_entries: MAX_ENTRIES,
        cancel: control.cancel.clone(),
        ..WalkOptions::default()
    };
    let mut all = Files::default();
    for root in roots(workspace)? {
        let found = files(&root, &options, &|name| Language::of_path(name).is_some() || !name.contains('.'))?;
        all.files.extend(found.files);
        all.notices.extend(found.notices);
    }
    all.files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut seen = HashSet::new();
    all.files.retain(|file| seen.insert(file.path.clone()));
    let most = control.max_files.unwrap_or(MAX_FILES);
    if all.files.len() > most {
        let left_out = all.files.len() - most;
        let text = format!("{left_out} of the source files are not read: more than {most}");
        all.notices.push(Notice(text));
        all.files.truncate(most);
    }
    Ok(all)
}

/// The roots that are not inside one another; mounts are not code.
fn roots(workspace: &ReadWorkspace) -> Result<Vec<WalkRoot>> {
    let mut found = vec![walk_root(workspace.directory(".")?)];
    let all = workspace.roots();
    let paths: Vec<_> =
        all.iter().filter(|root| root.mount.is_none()).filter_map(|root| root.path.as_ref()).collect();
    for path in paths.iter().skip(1) {
        let inside = paths.iter().any(|other| other != path && path.starts_with(other));
        if let Some(text) = path.to_str().filter(|_| !inside) {
            found.push(walk_root(workspace.directory(text)?));
        }
    }
    Ok(found)
}

fn walk_root(location: DirLocation) -> WalkRoot {
    let mut root = WalkRoot::new(location.dir);
    if !matches!(location.display.as_str(), "." | "") {
        root.display_prefix = location.display;
    }
    root
}
