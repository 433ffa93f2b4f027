//! What must not be changed although it lies inside a root: files that make git run commands, and Toolcrib's own.
//!
//! Names are compared as the most careless file system would, on the canonical path, whether or not they exist.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::plan::Plan;
use super::resolve::Place;
use super::{Inner, Root, read_all};
use crate::fs::Folder;
use crate::path::{self, folded};
use crate::{Error, ErrorKind, Result};

/// What a workspace protects beyond the names that always are.
#[derive(Default)]
pub(super) struct Guard {
    /// Directories by absolute names, folded.
    directories: Vec<(PathBuf, Vec<String>)>,
    patterns: GlobSet,
}

impl Guard {
    pub(super) fn new(directories: Vec<PathBuf>, patterns: &[String]) -> Result<Self> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let trimmed = pattern.trim_end_matches('/');
            // What is protected is protected with everything in it.
            for text in [trimmed.to_owned(), format!("{trimmed}/**")] {
                let glob = GlobBuilder::new(&text).case_insensitive(true).literal_separator(true).build();
                let glob = glob.map_err(|error| {
                    Error::new(
                        ErrorKind::InvalidPattern,
                        format!("`{pattern}` cannot be understood: {error}"),
                    )
                })?;
                set.add(glob);
            }
        }
        let patterns =
            set.build().map_err(|error| Error::new(ErrorKind::InvalidPattern, error.to_string()))?;
        // An explicit directory may be spelled through symlinks: both spellings count.
        let mut spelled = Vec::new();
        for directory in directories {
            let canonical = canonical_prefix(&directory);
            if canonical != directory {
                spelled.push(canonical);
            }
            spelled.push(directory);
        }
        let with_names = |path: PathBuf| {
            let names = path::absolute_names(&path).iter().map(|name| folded(name)).collect();
            (path, names)
        };
        Ok(Self { directories: spelled.into_iter().map(with_names).collect(), patterns })
    }
}

/// The canonical form of as much of a path as exists.
fn canonical_prefix(path: &Path) -> PathBuf {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut at = path;
    loop {
        if let Ok(found) = at.canonicalize() {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        match (at.parent(), at.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                at = parent;
            }
            _ => return path.to_path_buf(),
        }
    }
}

fn protected(display: String, why: &str) -> Error {
    Error::new(ErrorKind::Protected, why).at(display)
}

const GIT_FILES: [&str; 4] = ["config", "config.worktree", "commondir", "gitdir"];

/// Whether names below a git directory make a place that git takes commands from.
fn controls(below: &[String]) -> bool {
    let Some((first, rest)) = below.split_first() else {
        // `.git` itself.
        return true;
    };
    let last = rest.last().unwrap_or(first).as_str();
    match first.as_str() {
        "hooks" => true,
        first if rest.is_empty() => GIT_FILES.contains(&first),
        "modules" | "worktrees" => rest.iter().any(|name| name == "hooks") || GIT_FILES.contains(&last),
        _ => false,
    }
}

/// Whether names make a place that git takes commands from.
fn is_git_control(names: &[String]) -> bool {
    let mut at = names;
    while let Some(index) = at.iter().position(|name| name == ".git") {
        at = at.get(index + 1..).unwrap_or_default();
        if controls(at) {
            return true;
        }
    }
    false
}

impl Inner {
    /// Refuses a place that must not be changed.
    pub(super) fn refuse_protected(&self, place: &Place) -> Result<()> {
        self.refuse_protected_names(place.root, &place.names)?;
        let root = self.root(place.root)?;
        if in_bare_repository(root, &place.names) {
            return Err(protected(self.display(place), "it controls a git repository and is protected"));
        }
        for directory in self.real_git_dirs() {
            let names: Vec<String> =
                path::absolute_names(&directory).iter().map(|name| folded(name)).collect();
            if self.absolute_folded(place.root, &place.names).is_some_and(|full| full.starts_with(&names)) {
                return Err(protected(
                    self.display(place),
                    "it lies in the git directory behind a `.git` file",
                ));
            }
        }
        Ok(())
    }

    /// The part of the check that needs no file system.
    pub(super) fn refuse_protected_names(&self, root: usize, names: &[OsString]) -> Result<()> {
        let display = || self.display_of(root, names);
        if names.is_empty() {
            return Err(protected(display(), "the root itself cannot be changed"));
        }
        let below: Vec<String> = names.iter().map(|name| folded(name)).collect();
        if is_git_control(&below) {
            return Err(protected(display(), "git runs or obeys what is written there; it is protected"));
        }
        if below.iter().any(|name| name == ".toolcrib") {
            return Err(protected(display(), "it is Toolcrib's own configuration; no tool may change it"));
        }
        if self.guard.patterns.is_match(below.join("/")) {
            return Err(protected(display(), "the configuration protects it"));
        }
        if let Some(full) = self.absolute_folded(root, names)
            && self.guard.directories.iter().any(|(_, own)| full.starts_with(own))
        {
            return Err(protected(display(), "it is Toolcrib's own state; no tool may change it"));
        }
        Ok(())
    }

    /// Refuses a change that would make a directory into a git directory: whatever else lies in it, git would obey.
    pub(super) fn refuse_new_git_dirs(&self, plan: &Plan) -> Result<()> {
        for ((root, names), _) in plan.iter().filter(|(_, planned)| !planned.after.is_absent()) {
            let is_part =
                |name: &OsString| GIT_PARTS.iter().any(|part| folded(name).eq_ignore_ascii_case(part));
            for (depth, _) in names.iter().enumerate().filter(|(_, name)| is_part(name)) {
                let above = names.get(..depth).unwrap_or_default();
                let folder = self.root(*root)?.folder.descend(above).ok();
                if folder.as_ref().is_some_and(|folder| looks_like_git_dir(&**folder)) {
                    continue;
                }
                let there = |part: &&str| {
                    folder.as_ref().is_some_and(|folder| folder.meta(OsStr::new(part)).is_ok())
                        || plan.iter().any(|((other, path), planned)| {
                            other == root
                                && !planned.after.is_absent()
                                && path.starts_with(above)
                                && path.get(depth).is_some_and(|name| folded(name).eq_ignore_ascii_case(part))
                        })
                };
                if GIT_PARTS.iter().all(there) {
                    let why = "it would make its folder a git repository, whose settings git obeys";
                    return Err(protected(self.display_of(*root, names), why));
                }
            }
        }
        Ok(())
    }

    /// The check for a name found in `folder` by a walk from a place that has passed it.
    pub(super) fn refuse_protected_in(&self, place: &Place, folder: &dyn Folder) -> Result<()> {
        self.refuse_protected_names(place.root, &place.names)?;
        if place.names.last().is_some_and(controls_git) && looks_like_git_dir(folder) {
            return Err(protected(self.display(place), "it controls a git repository and is protected"));
        }
        Ok(())
    }

    /// Refuses to remove a directory in which another root or a protected directory lies.
    pub(super) fn refuse_ancestor(&self, root: usize, names: &[OsString]) -> Result<()> {
        let Some(full) = self.absolute_folded(root, names) else { return Ok(()) };
        let spelled = |root: &Root| -> Vec<Vec<String>> {
            root.spellings.iter().map(|own| own.iter().map(|name| folded(name)).collect()).collect()
        };
        let roots = self.roots.iter().flat_map(spelled);
        let git = self.real_git_dirs();
        let git = git.iter().map(|path| path::absolute_names(path).iter().map(|name| folded(name)).collect());
        let own =
            self.guard.directories.iter().filter(|(path, _)| path.exists()).map(|(_, names)| names.clone());
        if roots.chain(git).chain(own).any(|names| names.starts_with(&full)) {
            return Err(protected(
                self.display_of(root, names),
                "a root or a protected directory lies in it",
            ));
        }
        Ok(())
    }

    fn absolute_folded(&self, root: usize, names: &[OsString]) -> Option<Vec<String>> {
        let own = self.roots.get(root)?.spellings.first()?;
        Some(own.iter().chain(names).map(|name| folded(name)).collect())
    }

    /// The git directories behind `.git` files at the roots, by absolute path.
    fn real_git_dirs(&self) -> Vec<PathBuf> {
        self.roots.iter().filter_map(real_git_dir).collect()
    }

    fn host_roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter().filter(|root| root.info.mount.is_none()).filter_map(|root| root.info.path.as_ref())
    }

    pub(super) fn nested_git_paths(&self) -> Vec<PathBuf> {
        self.host_roots()
            .flat_map(|root| nested_repositories(root))
            .flat_map(|git| control_paths(&git))
            .collect()
    }

    pub(super) fn linked_repositories(&self) -> Vec<PathBuf> {
        self.host_roots().filter_map(|root| linked(root)).collect()
    }

    pub(super) fn protected_paths(&self) -> Vec<PathBuf> {
        let mut found = self.real_git_dirs();
        for root in self.roots.iter().filter_map(|root| root.info.path.as_ref()) {
            found.push(root.join(".toolcrib"));
            found.extend(control_paths(&root.join(".git")));
            found.extend(linked(root).into_iter().flat_map(|repository| control_paths(&repository)));
        }
        found.extend(self.guard.directories.iter().map(|(path, _)| path.clone()));
        found.sort();
        found.dedup();
        found
    }
}

/// What git obeys in a git directory and in those of its submodules.
fn control_paths(git: &Path) -> Vec<PathBuf> {
    let modules = submodules(&git.join("modules"));
    let all = std::iter::once(git.to_path_buf()).chain(modules);
    all.flat_map(|git| ["hooks", "config", "config.worktree", "commondir"].map(|name| git.join(name)))
        .collect()
}

/// The git directories of repositories inside a directory: a few folders deep, where a person would have put them, and
/// the directory itself if it is a bare one.
fn nested_repositories(root: &Path) -> Vec<PathBuf> {
    const DEEP: usize = 3;
    const FOLDERS: usize = 400;
    let is_git = |path: &Path| GIT_PARTS.iter().all(|part| path.join(part).exists());
    let mut found: Vec<PathBuf> = Some(root.to_path_buf()).filter(|root| is_git(root)).into_iter().collect();
    let mut folders = std::collections::VecDeque::from([(root.to_path_buf(), 1)]);
    let mut looked = 0;
    while let Some((folder, depth)) = folders.pop_front().filter(|_| looked < FOLDERS) {
        looked += 1;
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let (path, name) = (entry.path(), entry.file_name());
            let heavy = ["node_modules", "target", ".venv", "venv"].iter().any(|known| name == *known);
            if name == ".git" && depth > 1 {
                found.push(path);
            } else if depth < DEEP && !heavy && name != ".git" {
                folders.push_back((path, depth + 1));
            }
        }
    }
    found
}

/// The repository of which a directory is a linked worktree, if it says so itself.
fn linked(root: &Path) -> Option<PathBuf> {
    let pointer = std::fs::read_to_string(root.join(".git")).ok()?;
    let own = root.join(pointer.lines().next()?.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let back = std::fs::read_to_string(own.join("gitdir")).ok()?;
    let knows_us = Path::new(back.trim()).canonicalize().ok()? == root.join(".git").canonicalize().ok()?;
    let worktrees = own.parent().filter(|parent| parent.ends_with("worktrees") && knows_us)?;
    let repository = worktrees.parent()?;
    GIT_PARTS.iter().all(|part| repository.join(part).exists()).then(|| repository.to_path_buf())
}

/// The git directories of submodules, which lie below that of their repository, and of their own submodules.
fn submodules(below: &Path) -> Vec<PathBuf> {
    const MOST: usize = 500;
    let mut found = Vec::new();
    let mut folders = vec![below.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let inside = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        for path in inside.map(|entry| entry.path()) {
            // A module's name may have slashes in it: then this is only a part of its path.
            if path.join("HEAD").exists() {
                folders.push(path.join("modules"));
                found.push(path);
            } else {
                folders.push(path);
            }
        }
        if found.len() + folders.len() > MOST {
            break;
        }
    }
    found
}

/// Where the `.git` file of a root points to. A worktree's directory belongs to a repository that counts as well.
fn real_git_dir(root: &Root) -> Option<PathBuf> {
    let base = root.info.path.as_ref()?;
    let (bytes, _) = read_all(&*root.folder, OsStr::new(".git"), 4096).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let target = base.join(text.lines().next()?.strip_prefix("gitdir:")?.trim());
    let dir = canonical_prefix(&target);
    // A linked worktree lies in `<repository>/worktrees/<name>`.
    match dir.parent() {
        Some(parent) if parent.file_name() == Some(OsStr::new("worktrees")) => {
            parent.parent().map(Path::to_path_buf)
        }
        _ => Some(dir),
    }
}

/// Whether names lead to hooks or configuration of a repository that is not called `.git`: it is known by its parts.
fn in_bare_repository(root: &Root, names: &[OsString]) -> bool {
    if !names.iter().any(controls_git) {
        return false;
    }
    (0..names.len()).any(|depth| {
        let below: Vec<String> = names.iter().skip(depth).map(|name| folded(name)).collect();
        let folder = || root.folder.descend(names.get(..depth).unwrap_or_default());
        controls(&below) && folder().is_ok_and(|folder| looks_like_git_dir(&*folder))
    })
}

/// The parts by which git knows a git directory.
const GIT_PARTS: [&str; 3] = ["HEAD", "objects", "refs"];

fn controls_git(name: &OsString) -> bool {
    let name = folded(name);
    name == "hooks" || GIT_FILES.contains(&name.as_str())
}

fn looks_like_git_dir(folder: &dyn Folder) -> bool {
    GIT_PARTS.iter().all(|part| folder.meta(OsStr::new(part)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_control_files() {
        let control = |path: &str| {
            is_git_control(&path.split('/').map(|name| folded(OsStr::new(name))).collect::<Vec<_>>())
        };
        for path in [
            ".git",
            ".git/hooks",
            ".git/hooks/pre-commit",
            ".GIT/config",
            ".Git/Hooks/x",
            "sub/.git/config",
            ".git/modules/a/config",
            ".git/modules/a/modules/b/hooks/x",
            ".git/config.worktree",
            ".git/worktrees/w/config.worktree",
            ".git/commondir",
            "a/.git",
            ".g\u{200c}it/config",
            ".git/x/.git/hooks/y",
        ] {
            assert!(control(path), "{path}");
        }
        for path in [
            ".gitignore",
            ".git/info/exclude",
            ".git/HEAD",
            "hooks/x",
            "config",
            ".git/refs/heads/config",
            "git/config",
        ] {
            assert!(!control(path), "{path}");
        }
    }
}
