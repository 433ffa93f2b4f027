//! Which files a caller asked for, by glob and by type.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::types::Types;

use crate::error::{Error, ErrorKind, Result};

/// More patterns than these in one call are refused.
const MAX_PATTERNS: usize = 200;
/// The sum of their lengths, too: what they compile to grows with it.
const MAX_PATTERN_BYTES: usize = 10_000;

/// Files to keep. Unlike ripgrep's `-g` it never brings back what ignore rules leave out: asking for `*.rs` must not
/// list generated files.
#[derive(Default)]
pub(super) struct PathFilter {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
    types: Option<Types>,
    /// If every included path lies below one of these, no other directory need be read.
    prefixes: Option<Vec<PathBuf>>,
}

impl PathFilter {
    /// From globs relative to the start: without a `/` they match at any depth, with a leading `!` they exclude
    /// (whatever the order). Written relative to the root instead, beginning with the start's own path, they match too.
    pub(super) fn new(patterns: &[String], types: Option<Types>, start: &str) -> Result<Self> {
        if patterns.len() > MAX_PATTERNS
            || patterns.iter().map(String::len).sum::<usize>() > MAX_PATTERN_BYTES
        {
            let message =
                format!("more than {MAX_PATTERNS} globs or {MAX_PATTERN_BYTES} bytes of them in one call");
            return Err(Error::new(ErrorKind::InvalidPattern, message));
        }
        let mut include = Vec::new();
        let mut exclude = Vec::new();
        for pattern in patterns {
            let (list, glob) = match pattern.strip_prefix('!') {
                Some(glob) => (&mut exclude, glob),
                None => (&mut include, pattern.as_str()),
            };
            let glob = normal(glob);
            if glob.is_empty() {
                return Err(Error::new(ErrorKind::InvalidPattern, format!("the glob {pattern:?} is empty")));
            }
            if let Some(rest) = glob.strip_prefix(start)
                && !start.is_empty()
                && !rest.is_empty()
            {
                // As the whole path was meant, a rest without `/` is still anchored.
                list.push(format!("/{rest}"));
            }
            list.push(glob);
        }
        let prefixes: Vec<PathBuf> = include.iter().map(|glob| literal_prefix(glob)).collect();
        let narrows =
            !prefixes.is_empty() && prefixes.iter().all(|prefix| prefix.components().next().is_some());
        Ok(Self {
            include: compile(&include)?,
            exclude: compile(&exclude)?,
            types,
            prefixes: narrows.then_some(prefixes),
        })
    }

    /// True if everything is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.include.is_none() && self.exclude.is_none() && self.types.is_none()
    }

    /// Whether a file is wanted, or a directory may hold wanted ones. `path` is relative to the start.
    pub(super) fn keeps(&self, path: &Path, name: &OsStr, is_dir: bool) -> bool {
        if let Some(types) = &self.types
            && types.matched(name, is_dir).is_ignore()
        {
            return false;
        }
        if self.exclude.as_ref().is_some_and(|set| set.is_match(path)) {
            return false;
        }
        if is_dir {
            let near = |prefix: &PathBuf| prefix.starts_with(path) || path.starts_with(prefix);
            return self.prefixes.as_ref().is_none_or(|prefixes| prefixes.iter().any(near));
        }
        self.include.as_ref().is_none_or(|set| set.is_match(path))
    }
}

/// The form that is compiled. A `/` at the end means all that is in there and, as in ignore files, says nothing about
/// the depth; `./` at the start does.
fn normal(glob: &str) -> String {
    let anchored = match glob.strip_prefix("./") {
        Some(rest) if !rest.is_empty() => format!("/{rest}"),
        _ => glob.to_owned(),
    };
    match anchored.strip_suffix('/') {
        Some(dir) if dir.contains('/') => format!("{dir}/**"),
        Some(dir) if !dir.is_empty() => format!("**/{dir}/**"),
        _ => anchored,
    }
}

/// The leading directories of a glob that are plain names.
fn literal_prefix(glob: &str) -> PathBuf {
    let mut parts: Vec<&str> = glob.trim_start_matches('/').split('/').collect();
    parts.pop();
    parts.into_iter().take_while(|part| !part.contains(['*', '?', '[', ']', '{', '}', '\\', ','])).collect()
}

fn compile(globs: &[String]) -> Result<Option<GlobSet>> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let anchored =
            if glob.contains('/') { glob.trim_start_matches('/').to_owned() } else { format!("**/{glob}") };
        let parsed = GlobBuilder::new(&anchored)
            .literal_separator(true)
            .build()
            .map_err(|error| invalid(glob, error.kind()))?;
        set.add(parsed);
    }
    set.build().map(Some).map_err(|error| invalid(&globs.join(" "), error.kind()))
}

fn invalid(glob: &str, why: &globset::ErrorKind) -> Error {
    Error::new(ErrorKind::InvalidPattern, format!("the glob {glob:?} is not valid: {why}"))
}
