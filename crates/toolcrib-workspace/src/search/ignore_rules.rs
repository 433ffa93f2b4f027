//! Ignore files, with the precedence of the `ignore` crate.
//!
//! For one path: `.rgignore` over `.ignore` over `.gitignore` over `.git/info/exclude` over the user's own rules; within
//! each, the deepest directory that says anything decides. A directory that is itself a repository cuts off the
//! `.gitignore` and `exclude` files above it, not the `.ignore` ones.
//!
//! Ignore files are the tree's own, so they are read with limits: a hostile one may hide files (the count of what was
//! skipped shows that something is hidden), never stall a walk.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use crate::fs::directory::Directory;

/// Of a larger ignore file only this much is read.
const MAX_BYTES: usize = 1 << 20;
/// Of more patterns in one file only these are used.
const MAX_PATTERNS: usize = 20_000;
/// Patterns that only a regular expression can match are costly for every single path, so fewer of them are used.
const MAX_COSTLY_PATTERNS: usize = 1_000;
/// A pattern longer than any path matches nothing, but would still be compiled.
const MAX_PATTERN_LEN: usize = 4096;

/// The files of one directory that hold rules, strongest first. The last one lies in `.git`.
const RULE_FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];

/// The user's own ignore rules, as git has them in `core.excludesFile`.
#[derive(Clone, Debug)]
pub struct GlobalIgnore(Gitignore);

impl GlobalIgnore {
    /// Rules from the text of an ignore file.
    pub fn from_text(text: &str) -> Self {
        Self(compile(text.as_bytes(), "", &mut Vec::new()))
    }

    /// Rules from the file that git would use on this machine; none if there is no such file.
    pub fn load() -> Option<Self> {
        let file = std::fs::File::open(gitconfig_excludes_path()?).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = Vec::new();
        file.take(MAX_BYTES as u64).read_to_end(&mut text).ok()?;
        Some(Self(compile(&text, "", &mut Vec::new())))
    }
}

/// The rules that hold for the entries of one directory.
#[derive(Clone, Default)]
pub(super) struct Rules {
    deepest: Option<Arc<Level>>,
    global: Option<Arc<GlobalIgnore>>,
}

/// The rules of one directory. Directories without any have no level, so that a path is matched only where it matters.
struct Level {
    above: Option<Arc<Level>>,
    /// How many components of a full path lead to this directory.
    depth: usize,
    /// In the order of [`RULE_FILES`], then `.git/info/exclude`.
    sets: [Gitignore; 4],
    is_repository: bool,
}

impl Rules {
    pub(super) fn new(global: Option<Arc<GlobalIgnore>>) -> Self {
        Self { deepest: None, global }
    }

    /// True if nothing is ever ignored.
    pub(super) fn is_empty(&self) -> bool {
        self.deepest.is_none() && self.global.is_none()
    }

    /// The rules one directory further down. `has` says whether the directory has an entry of a name.
    pub(super) fn enter(
        &self,
        dir: &dyn Directory,
        depth: usize,
        shown: &str,
        has: impl Fn(&str) -> bool,
        notices: &mut Vec<String>,
    ) -> Self {
        let is_git = has(".git");
        let is_repository = is_git || has(".jj");
        let mut sets = [Gitignore::empty(), Gitignore::empty(), Gitignore::empty(), Gitignore::empty()];
        for (set, name) in sets.iter_mut().zip(RULE_FILES) {
            if has(name)
                && let Some(text) = read_bounded(dir, name, shown, notices)
            {
                *set = compile(&text, &format!("{shown}{name}"), notices);
            }
        }
        // A `.git` file points to a directory that may lie outside the root, so its `exclude` is left alone.
        if is_git
            && let Ok(git) = dir.open_dir(OsStr::new(".git"))
            && let Ok(info) = git.open_dir(OsStr::new("info"))
            && let Some(text) = read_bounded(&*info, "exclude", &format!("{shown}.git/info/"), notices)
            && let [.., exclude] = &mut sets
        {
            *exclude = compile(&text, &format!("{shown}.git/info/exclude"), notices);
        }
        if !is_repository && sets.iter().all(Gitignore::is_empty) {
            return self.clone();
        }
        let level = Level { above: self.deepest.clone(), depth, sets, is_repository };
        Self { deepest: Some(Arc::new(level)), global: self.global.clone() }
    }

    /// Whether the entry at `full`, a path below the outermost directory, is to be skipped.
    pub(super) fn is_ignored(&self, full: &Path, is_dir: bool) -> bool {
        // One verdict a kind of file: a weaker kind is asked only if all stronger ones are silent at every depth.
        let mut verdicts = [Match::None, Match::None, Match::None, Match::None];
        let mut in_repository = true;
        let mut next = self.deepest.as_deref();
        while let Some(level) = next {
            let path = below(full, level.depth);
            for (i, (verdict, set)) in verdicts.iter_mut().zip(&level.sets).enumerate() {
                let is_gits = i >= 2;
                if verdict.is_none() && (in_repository || !is_gits) {
                    *verdict = set.matched(path, is_dir);
                }
            }
            in_repository &= !level.is_repository;
            next = level.above.as_deref();
        }
        match verdicts.into_iter().find(|verdict| !verdict.is_none()) {
            Some(verdict) => verdict.is_ignore(),
            None => self.global.as_ref().is_some_and(|global| global.0.matched(full, is_dir).is_ignore()),
        }
    }
}

/// `path` without its first `depth` components.
pub(super) fn below(path: &Path, depth: usize) -> &Path {
    let mut components = path.components();
    for _ in 0..depth {
        components.next();
    }
    components.as_path()
}

/// The content of an ignore file up to the limit, or nothing if it can't be read: as in git, that is no error.
fn read_bounded(dir: &dyn Directory, name: &str, shown: &str, notices: &mut Vec<String>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    dir.open_file(OsStr::new(name)).ok()?.take(MAX_BYTES as u64 + 1).read_to_end(&mut text).ok()?;
    if text.len() > MAX_BYTES {
        notices.push(format!("used only the first {} KiB of {shown}{name}", MAX_BYTES >> 10));
        let end = text.iter().take(MAX_BYTES).rposition(|&byte| byte == b'\n').unwrap_or(0);
        text.truncate(end);
    }
    Some(text)
}

/// Compiles the lines of an ignore file; lines that are no valid pattern are passed over, as in git.
fn compile(text: &[u8], shown: &str, notices: &mut Vec<String>) -> Gitignore {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    // The root is empty because paths are made relative to the directory before they are matched.
    let mut builder = GitignoreBuilder::new("");
    let (mut used, mut costly, mut left_out) = (0, 0, 0);
    for line in text.split(|&byte| byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        if line.trim().is_empty() || line.starts_with('#') || line.len() > MAX_PATTERN_LEN {
            continue;
        }
        let is_costly = is_costly(line);
        if used >= MAX_PATTERNS || (is_costly && costly >= MAX_COSTLY_PATTERNS) {
            left_out += 1;
            continue;
        }
        if builder.add_line(None, line).is_ok() {
            used += 1;
            costly += usize::from(is_costly);
        }
    }
    if left_out > 0 {
        notices.push(format!("used only {used} patterns of {shown} and left out {left_out}"));
    }
    builder.build().unwrap_or_else(|error| {
        notices.push(format!("could not use the patterns of {shown}: {error}"));
        Gitignore::empty()
    })
}

/// Whether only a regular expression can match a pattern; names, extensions and prefixes are looked up by hash.
fn is_costly(line: &str) -> bool {
    let pattern = line.trim_start_matches('!').trim_start_matches("**/").trim_end();
    let stars = pattern.matches('*').count();
    pattern.contains(['?', '[', '{']) || stars > 1 || (stars == 1 && !pattern.starts_with("*."))
}
