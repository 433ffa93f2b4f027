//! Symbols by name.
//!
//! How well a name fits counts first (the name itself, its beginning, the humps of its camels or snakes, its letters in
//! order), then whether it is code rather than a test, then what it is. Equal ones come by path and line, so the same
//! question always has the same answer, page by page.

use std::cmp::Reverse;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use toolcrib_workspace::{Error, ErrorKind, Result};

use crate::facts::{DefId, Definition, FileFacts, Flags, Kind};
use crate::index::{FileEntry, Snapshot};
use crate::lang::Language;

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct SymbolQuery {
    /// A name, or one with its parents: `Parent.name`, `Parent::name`, `Parent/name`. Empty: every symbol.
    pub query: String,
    /// Only these kinds; empty for all.
    pub kinds: Vec<Kind>,
    /// Only this language.
    pub language: Option<&'static Language>,
    /// Only files at or below this path, or matching this glob.
    pub path: Option<String>,
    /// How many hits to pass over.
    pub offset: usize,
    /// How many to return at most.
    pub limit: usize,
}

/// A symbol that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolHit {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Where it is.
    pub path: String,
    /// The line of its name.
    pub line: u32,
    /// The last line of its body.
    pub end_line: u32,
    /// Its head in one line.
    pub signature: String,
    /// The definitions around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enclosing: Option<String>,
    /// How well it fits: over 900 the name itself, over 700 its beginning, over 500 its humps, else its letters.
    pub score: u32,
}

/// A page of symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SymbolHits {
    /// The best first.
    pub hits: Vec<SymbolHit>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page begins.
    pub next_offset: Option<usize>,
}

struct Candidate {
    file: usize,
    definition: DefId,
    score: u32,
    is_test: bool,
    weight: u8,
    name_start: u32,
    facts: Arc<FileFacts>,
}

/// Finds symbols.
pub fn symbols(snapshot: &Snapshot, query: &SymbolQuery) -> Result<SymbolHits> {
    let filter = PathFilter::new(query.path.as_deref())?;
    let wanted = Wanted::of(&query.query);
    let files = snapshot.files();
    let mut found: Vec<Candidate> = files
        .par_iter()
        .enumerate()
        .filter(|(_, file)| filter.keeps(&file.path) && query.language.is_none_or(|one| one == file.language))
        .map(|(index, file)| match snapshot.facts(file) {
            Some(facts) => candidates(query, &wanted, index, file, &facts),
            None => Vec::new(),
        })
        .flatten_iter()
        .collect();
    found.sort_by_key(|hit| {
        (
            Reverse(hit.score / 100),
            hit.is_test,
            Reverse(hit.score),
            Reverse(hit.weight),
            hit.file,
            hit.name_start,
        )
    });
    let total = found.len();
    let limit = query.limit.max(1);
    let hits =
        found.iter().skip(query.offset).take(limit).filter_map(|candidate| shown(files, candidate)).collect();
    let end = query.offset.saturating_add(limit);
    Ok(SymbolHits { hits, total, next_offset: (end < total).then_some(end) })
}

fn candidates(
    query: &SymbolQuery,
    wanted: &Wanted,
    file_index: usize,
    file: &FileEntry,
    facts: &Arc<FileFacts>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (index, definition) in facts.definitions.iter().enumerate() {
        if definition.kind == Kind::Impl
            || !(query.kinds.is_empty() || query.kinds.contains(&definition.kind))
        {
            continue;
        }
        let id = DefId::new(index);
        let Some(score) = wanted.score(facts.text(definition.name)) else { continue };
        if !wanted.parents_fit(facts, id) {
            continue;
        }
        found.push(Candidate {
            file: file_index,
            definition: id,
            score,
            is_test: file.is_test || definition.flags.has(Flags::TEST),
            weight: weight(definition),
            name_start: definition.name_start,
            facts: Arc::clone(facts),
        });
    }
    found
}

/// What people mean more often when they name a thing.
fn weight(definition: &Definition) -> u8 {
    let kind = match definition.kind {
        Kind::Class | Kind::Struct | Kind::Enum | Kind::Interface | Kind::Trait => 6,
        Kind::Function | Kind::Macro => 5,
        Kind::Type | Kind::Method | Kind::Constructor => 4,
        Kind::Constant | Kind::Module => 3,
        Kind::Variant | Kind::Variable | Kind::Property => 2,
        Kind::Field | Kind::Impl => 1,
    };
    let declared = definition.flags.has(Flags::DECLARATION);
    kind * 4 + 2 * u8::from(definition.flags.has(Flags::EXPORTED)) + u8::from(!declared)
}

fn shown(files: &[Arc<FileEntry>], candidate: &Candidate) -> Option<SymbolHit> {
    let facts = &candidate.facts;
    let definition = facts.definition(candidate.definition)?;
    let enclosing = facts.parent_path(candidate.definition);
    Some(SymbolHit {
        name: facts.text(definition.name).to_owned(),
        kind: definition.kind.as_str(),
        path: files.get(candidate.file)?.path.clone(),
        line: facts.lines.line(definition.name_start),
        end_line: facts.lines.last_line(definition.span),
        signature: facts.text(definition.signature).to_owned(),
        enclosing: (!enclosing.is_empty()).then_some(enclosing),
        score: candidate.score,
    })
}

/// A name as it is looked for.
pub(crate) struct Wanted {
    name: String,
    lower: String,
    humps: Vec<String>,
    parents: Vec<String>,
}

impl Wanted {
    pub(crate) fn of(query: &str) -> Self {
        let mut parts: Vec<String> = query
            .trim()
            .trim_end_matches("()")
            .split(['.', '/', '#'])
            .flat_map(|part| part.split("::"))
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        let name = parts.pop().unwrap_or_default();
        let lower = name.to_lowercase();
        Self { humps: humps(&name), lower, name, parents: parts }
    }

    /// The last part: the name itself.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, name: &str) -> Option<u32> {
        if self.name.is_empty() {
            return Some(1);
        }
        let spare = (name.len().saturating_sub(self.name.len())).min(90) as u32;
        if name == self.name {
            return Some(1000);
        }
        let lower = name.to_lowercase();
        if lower == self.lower {
            return Some(950);
        }
        if lower.starts_with(&self.lower) {
            return Some(799 - spare);
        }
        let starts = humps(name);
        if self.humps_fit(&starts) {
            return Some(599 - spare);
        }
        fuzzy(&lower, &self.lower)
    }

    /// `goPa`, `gp` and `get_pa` all fit `getOwnPath`.
    fn humps_fit(&self, starts: &[String]) -> bool {
        if self.humps.len() > 1 {
            let mut rest = starts.iter();
            let first =
                self.humps.first().zip(starts.first()).is_some_and(|(a, b)| b.starts_with(a.as_str()));
            return first && self.humps.iter().all(|hump| rest.any(|start| start.starts_with(hump.as_str())));
        }
        let initials: String = starts.iter().filter_map(|start| start.chars().next()).collect();
        self.lower.len() > 1 && initials.starts_with(&self.lower)
    }

    pub(crate) fn parents_fit(&self, facts: &FileFacts, id: DefId) -> bool {
        let mut at = facts.definition(id).map(|definition| definition.parent).unwrap_or_default();
        let owner =
            facts.definition(id).map(|definition| facts.type_text(definition.owner)).unwrap_or_default();
        for (depth, parent) in self.parents.iter().rev().enumerate() {
            if depth == 0 && owner.trim_start_matches('&').split('<').next() == Some(parent) {
                continue;
            }
            let Some(definition) = facts.definition(at) else { return false };
            if !facts.text(definition.name).eq_ignore_ascii_case(parent) {
                return false;
            }
            at = definition.parent;
        }
        true
    }
}

/// How well the letters of `wanted` lie in `name`, all in order; both in lower case. Together is best, at the start of a
/// word is better than inside one, and letters scattered over a name are chance and do not count.
fn fuzzy(name: &str, wanted: &str) -> Option<u32> {
    if let Some(at) = name.find(wanted) {
        let inside =
            name.get(..at).and_then(|before| before.chars().last()).is_some_and(char::is_alphanumeric);
        let spare = (name.len() - wanted.len()).min(50) as u32;
        return Some(if inside { 320 } else { 380 } - spare);
    }
    let (name, wanted): (Vec<char>, Vec<char>) = (name.chars().take(128).collect(), wanted.chars().collect());
    if wanted.len() < 3 {
        return None;
    }
    let first = *wanted.first()?;
    let starts = name.iter().enumerate().filter(|(_, c)| **c == first).map(|(at, _)| at);
    starts.filter_map(|start| scattered(&name, &wanted, start)).max()
}

/// The score of taking every letter at its first place after the one before.
fn scattered(name: &[char], wanted: &[char], start: usize) -> Option<u32> {
    let (mut at, mut runs, mut gaps) = (start, 1, 0);
    for (index, c) in wanted.iter().enumerate() {
        let skipped = name.iter().skip(at).position(|other| other == c)?;
        if index > 0 && skipped > 0 {
            runs += 1;
            gaps += skipped;
        }
        at += skipped + 1;
    }
    let chance = runs > wanted.len() / 2 + 1 || gaps > 2 * wanted.len();
    (!chance)
        .then(|| 280_u32.saturating_sub(20 * runs as u32 + 5 * gaps as u32 + start.min(20) as u32).max(1))
}

/// The words of a name, in lower case.
fn humps(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = '_';
    for c in name.chars() {
        let begins = (c.is_uppercase() && !previous.is_uppercase())
            || (c.is_alphanumeric() && !previous.is_alphanumeric());
        if begins {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
    words
}

/// Paths to keep: a glob, or a path and all below it.
pub(crate) struct PathFilter {
    glob: Option<globset::GlobMatcher>,
    prefix: String,
}

impl PathFilter {
    pub(crate) fn new(path: Option<&str>) -> Result<Self> {
        let path = path.unwrap_or_default().trim_start_matches("./").trim_end_matches('/');
        if !path.contains(['*', '?', '[', '{']) {
            let prefix = if path == "." { String::new() } else { path.to_owned() };
            return Ok(Self { glob: None, prefix });
        }
        let anchored = if path.contains('/') { path.to_owned() } else { format!("**/{path}") };
        let glob = globset::GlobBuilder::new(&anchored).literal_separator(true).build().map_err(|error| {
            Error::new(ErrorKind::InvalidPattern, format!("the glob {path:?} is not valid: {}", error.kind()))
        })?;
        Ok(Self { glob: Some(glob.compile_matcher()), prefix: String::new() })
    }

    pub(crate) fn keeps(&self, path: &str) -> bool {
        match &self.glob {
            Some(glob) => glob.is_match(path),
            None => {
                self.prefix.is_empty()
                    || path
                        .strip_prefix(&self.prefix)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }
}
