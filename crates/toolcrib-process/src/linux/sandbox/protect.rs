//! Paths inside a writable directory that must not change, whether they exist or not.
//!
//! A mount over a path makes it read-only; but the directory above it could be renamed, and another one put into its
//! place. So every directory between the writable one and the path becomes a mount itself, which cannot be renamed
//! from inside. Where something is missing, an empty placeholder is put there for as long as the command runs, and
//! made read-only: otherwise a command could create what it may not change.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How one path is kept as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    /// On the way to a protected path: may be written, not replaced.
    Pin,
    /// Read-only.
    ReadOnly,
    /// Missing: an empty directory stands there meanwhile.
    EmptyDirectory,
    /// Missing: an empty file stands there meanwhile.
    EmptyFile,
    /// A link, over which nothing can be mounted, or missing where a placeholder would do harm: compared afterwards.
    Compare,
}

/// One path, and how it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Protected {
    pub path: PathBuf,
    pub how: How,
}

/// How to keep `paths` as they are below the directories that may be written, outer ones first.
pub(crate) fn plan(writable: &[PathBuf], paths: &[PathBuf]) -> Vec<Protected> {
    let mut plan: Vec<Protected> = Vec::new();
    for path in paths {
        let roots = writable.iter().filter(|root| path.starts_with(root) && *root != path);
        let Some(root) = roots.min_by_key(|root| root.components().count()) else { continue };
        for step in steps(root, path) {
            match plan.iter_mut().find(|known| known.path == step.path) {
                Some(known) if known.how == How::Pin => known.how = step.how,
                Some(_) => {}
                None => plan.push(step),
            }
        }
    }
    plan.sort_by_key(|item| item.path.components().count());
    plan
}

fn steps(root: &Path, path: &Path) -> Vec<Protected> {
    let mut steps = Vec::new();
    let mut at = root.to_path_buf();
    let names: Vec<_> = path.strip_prefix(root).map(|below| below.components().collect()).unwrap_or_default();
    for (index, name) in names.iter().enumerate() {
        at.push(name);
        let last = index + 1 == names.len();
        let how = match std::fs::symlink_metadata(&at) {
            // Git takes an empty one for a broken one.
            Err(_) if last && at.ends_with("commondir") => How::Compare,
            Err(_) if last && looks_like_file(&at) => How::EmptyFile,
            Err(_) => How::EmptyDirectory,
            Ok(meta) if meta.is_symlink() => How::Compare,
            Ok(meta) if meta.is_dir() && !last => How::Pin,
            Ok(_) => How::ReadOnly,
        };
        steps.push(Protected { path: at.clone(), how });
        if how != How::Pin {
            break;
        }
    }
    steps
}

/// Git reads its settings from files; a directory in such a place would be an error to it.
fn looks_like_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("config"))
}
