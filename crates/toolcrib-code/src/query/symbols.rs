//! Which definition is meant by a text.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use toolcrib_workspace::Result;

use super::names::{Named, chain, ends_with, runs_through};
use super::spots::used_at;
use super::{Candidate, candidate, is_test, main_of, own, stop_if_cancelled};
use crate::facts::{DefId, Kind};
use crate::index::Control;
use crate::resolve::{Def, Program};
use crate::search::{PathFilter, SymbolQuery, symbols};

/// Candidates shown at most.
const MOST: usize = 30;
/// Names suggested at most.
const NEAR: usize = 5;

/// Which symbol is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// A name, with or without what it belongs to; empty for whatever is at `file` and `line`.
    pub symbol: &'a str,
    /// A file, or a folder.
    pub file: Option<&'a str>,
    /// The line of its definition, or of a use.
    pub line: Option<u32>,
    /// The column on that line.
    pub column: Option<u32>,
}

/// What a question can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A definition.
    Definition(Def),
    /// A local, parameter or type parameter.
    Local {
        /// The file it lives in.
        file: u32,
        /// Its index in the file's bindings.
        binding: usize,
    },
}

/// Definitions of which any may be meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// The first of them.
    pub list: Vec<Candidate>,
    /// How many there are.
    pub total: usize,
}

/// Nothing of that name, and what comes near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What was looked for and where.
    pub message: String,
    /// What may have been meant.
    pub near: Vec<Candidate>,
}

/// What a text stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This.
    One(Subject),
    /// Any of these.
    Several(Candidates),
    /// None.
    Missing(Missing),
}

/// `path:line` or `path:line:column`, taken apart.
pub fn split_place(symbol: &str) -> Option<(&str, u32, Option<u32>)> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let (left, last) = symbol.trim().rsplit_once(':')?;
    let last = number(last)?;
    if left.is_empty() || left.ends_with(':') {
        return None;
    }
    match left.rsplit_once(':').and_then(|(path, line)| Some((path, number(line)?))) {
        Some((path, line)) if !path.is_empty() && !path.ends_with(':') => Some((path, line, Some(last))),
        _ => Some((left, last, None)),
    }
}

/// The definition that is meant.
pub fn pick(program: &Program, wanted: &Wanted<'_>, control: &Control<'_>) -> Result<Found> {
    let wanted = with_file(program, *wanted);
    let file = wanted.file.and_then(|file| program.file_at(file));
    if wanted.symbol.trim().is_empty() {
        return Ok(match file.zip(wanted.line) {
            Some((file, line)) => at_line(program, file, line, wanted.column),
            None => missing(String::from("no symbol is given"), Vec::new()),
        });
    }
    let filter = Filter::new(program, wanted.file)?;
    let named = Named::of(wanted.symbol);
    let all = named_so(program, &named, control)?;
    let mut here: Vec<Def> = all.iter().copied().filter(|def| filter.keeps(program, *def)).collect();
    if let Some(line) = wanted.line {
        here = on_line(program, &here, line);
        if here.is_empty()
            && let Some(file) = file
            && let Some(found) = used_at(program, file, line, wanted.column, Some(&named))
        {
            return Ok(found);
        }
    }
    match grouped(program, &here).as_slice() {
        [] => Ok(nothing(program, &wanted, &named, &all)),
        [one] => Ok(Found::One(Subject::Definition(*one))),
        several => Ok(Found::Several(candidates(program, several))),
    }
}

/// `path::name`, `path:name` and `path#name` name a file too.
pub(super) fn with_file<'a>(program: &Program, wanted: Wanted<'a>) -> Wanted<'a> {
    if wanted.file.is_some() {
        return wanted;
    }
    for by in ["::", ":", "#"] {
        if let Some((file, symbol)) = wanted.symbol.split_once(by) {
            let file = file.trim_start_matches("./");
            if program.file_at(file).is_some() && !symbol.is_empty() {
                return Wanted { symbol, file: Some(file), ..wanted };
            }
        }
    }
    wanted
}

/// All definitions with that name and those parents. Parents that fit to the end go before those that only occur.
pub(super) fn named_so(program: &Program, named: &Named, control: &Control<'_>) -> Result<Vec<Def>> {
    let snapshot = program.snapshot();
    let files: Vec<u32> =
        snapshot.files_with(&named.name).filter_map(|file| program.file_at(&file.path)).collect();
    let mut found: Vec<Def> =
        files.par_iter().flat_map_iter(|file| in_file(program, *file, &named.name, control)).collect();
    stop_if_cancelled(control)?;
    found.sort_unstable();
    let fitting = |fits: fn(&[String], &[String]) -> bool| -> Vec<Def> {
        found.iter().copied().filter(|def| fits(&chain(program, *def), &named.parents)).collect()
    };
    let mut fit = if named.parents.is_empty() { found.clone() } else { fitting(ends_with) };
    if fit.is_empty() {
        fit = fitting(runs_through);
    }
    // A constructor that is called like its type stands behind it.
    let constructs = |def: &Def| {
        let definition = program.definition(*def);
        let of = definition.filter(|one| one.kind == Kind::Constructor).map(|one| one.parent);
        of.is_some_and(|of| fit.contains(&Def { file: def.file, id: of }))
    };
    Ok(fit.iter().copied().filter(|def| !constructs(def)).collect())
}

pub(super) fn in_file(program: &Program, file: u32, name: &str, control: &Control<'_>) -> Vec<Def> {
    let facts = if control.is_cancelled() { None } else { program.facts(file) };
    let Some((facts, sym)) = facts.and_then(|facts| Some((facts, facts.strings.find(name)?))) else {
        return Vec::new();
    };
    let all = facts.definitions.iter().enumerate();
    let fits = all.filter(|(_, definition)| definition.name == sym && definition.kind != Kind::Impl);
    fits.map(|(index, _)| Def { file, id: DefId::new(index) }).collect()
}

/// One of each thing, the most likely first: code before tests, then by path and line.
pub(super) fn grouped(program: &Program, defs: &[Def]) -> Vec<Def> {
    let mut groups: BTreeMap<Def, BTreeSet<Def>> = BTreeMap::new();
    for def in defs {
        let all = own(program, *def);
        let first = all.first().copied().unwrap_or(*def);
        groups.entry(first).or_default().extend(all);
    }
    let mut mains: Vec<Def> = groups.values().filter_map(|group| main_of(program, group)).collect();
    mains.sort_by_key(|def| (is_test(program, *def), *def));
    mains.dedup();
    mains
}

/// Definitions as candidates.
pub fn candidates(program: &Program, defs: &[Def]) -> Candidates {
    let list = defs.iter().take(MOST).filter_map(|def| candidate(program, *def)).collect();
    Candidates { list, total: defs.len() }
}

/// Those of the definitions that are at a line: by the name, else by the head or what is written before it, else by
/// being the innermost around it.
fn on_line(program: &Program, defs: &[Def], line: u32) -> Vec<Def> {
    let rank = |def: &Def| {
        let facts = program.facts(def.file)?;
        let definition = facts.definition(def.id)?;
        let at = facts.lines.line(definition.name_start);
        let (first, last) = (facts.lines.line(definition.span.start), facts.lines.last_line(definition.span));
        let size = definition.span.end - definition.span.start;
        match line {
            line if line == at => Some((0, 0)),
            line if (first..at).contains(&line) => Some((1, size)),
            line if (first..=last).contains(&line) => Some((2, size)),
            _ => None,
        }
    };
    let ranked: Vec<(Def, (u32, u32))> = defs.iter().filter_map(|def| Some((*def, rank(def)?))).collect();
    let best = ranked.iter().map(|(_, rank)| *rank).min();
    ranked.into_iter().filter(|(_, rank)| Some(*rank) == best).map(|(def, _)| def).collect()
}

/// The definition whose name is on a line, or else the innermost around it.
fn at_line(program: &Program, file: u32, line: u32, column: Option<u32>) -> Found {
    let path = program.file(file).map_or("", |file| file.path.as_str());
    let Some(facts) = program.facts(file) else {
        return missing(format!("{path} cannot be read as code"), Vec::new());
    };
    let all = facts.definitions.iter().enumerate().filter(|(_, one)| one.kind != Kind::Impl);
    let defs: Vec<Def> = all.map(|(index, _)| Def { file, id: DefId::new(index) }).collect();
    if let Some(found) = column.and_then(|column| used_at(program, file, line, Some(column), None)) {
        return found;
    }
    let found = on_line(program, &defs, line);
    // Of what one line defines, the members of another on that line do not count.
    let outer: Vec<Def> = found
        .iter()
        .copied()
        .filter(|def| {
            let around = facts.definition(def.id).map_or(DefId::NONE, |definition| definition.parent);
            !found.contains(&Def { file, id: around })
        })
        .collect();
    match grouped(program, &outer).as_slice() {
        [] => {
            let lines = facts.lines.len();
            let mut near = defs;
            near.sort_by_key(|def| {
                let at = facts.definition(def.id).map_or(0, |one| facts.lines.line(one.name_start));
                (at.abs_diff(line), at)
            });
            near.truncate(NEAR);
            near.sort_unstable();
            let near = near.iter().filter_map(|def| candidate(program, *def)).collect();
            let short =
                if line as usize > lines { format!(" (it has {lines} lines)") } else { String::new() };
            missing(format!("nothing is defined at {path}:{line}{short}"), near)
        }
        [one] => Found::One(Subject::Definition(*one)),
        several => Found::Several(candidates(program, several)),
    }
}

pub(super) fn missing(message: String, near: Vec<Candidate>) -> Found {
    Found::Missing(Missing { message, near })
}

/// Why nothing fits, and what comes near.
pub(super) fn nothing(program: &Program, wanted: &Wanted<'_>, named: &Named, all: &[Def]) -> Found {
    let symbol = wanted.symbol.trim();
    let place = match (wanted.file, wanted.line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        (Some(file), None) => format!(" in {file}"),
        (None, Some(line)) => format!(" at line {line}"),
        (None, None) => String::new(),
    };
    if !all.is_empty() {
        let elsewhere = grouped(program, all);
        let near = elsewhere.iter().take(NEAR).filter_map(|def| candidate(program, *def)).collect();
        return missing(format!("{symbol} is not defined{place}, but elsewhere"), near);
    }
    let short = Named { parents: Vec::new(), name: named.name.clone() };
    let others = match named.parents.is_empty() {
        true => Vec::new(),
        false => named_so(program, &short, &Control::default()).unwrap_or_default(),
    };
    if !others.is_empty() {
        let (name, parents) = (&named.name, named.parents.join("."));
        let near = grouped(program, &others);
        let near = near.iter().take(NEAR).filter_map(|def| candidate(program, *def)).collect();
        return missing(format!("{name} is not defined in {parents}, but elsewhere"), near);
    }
    let files = program.snapshot().report().files;
    let scope = if place.is_empty() { format!(" in {files} source files") } else { place };
    missing(format!("nothing called {symbol} is defined{scope}"), near_names(program, &named.name))
}

/// Names that look like it: by the letters in it, or with few of them changed.
pub(super) fn near_names(program: &Program, name: &str) -> Vec<Candidate> {
    const TYPOS: usize = 2;
    let query = SymbolQuery { query: name.to_owned(), limit: NEAR, ..SymbolQuery::default() };
    let found = symbols(program.snapshot(), &query).map(|found| found.hits).unwrap_or_default();
    let mut near: Vec<Candidate> = found
        .into_iter()
        .map(|hit| Candidate {
            name: hit.name,
            kind: hit.kind,
            path: hit.path,
            line: hit.line,
            signature: hit.signature,
            parent: hit.enclosing,
        })
        .collect();
    let length = name.chars().count();
    if near.len() < NEAR && (4..=100).contains(&length) {
        let mut typos: Vec<(usize, Def)> = (0..program.snapshot().files().len() as u32)
            .into_par_iter()
            .flat_map_iter(|file| misspelt(program, file, name, TYPOS.min(length / 3)))
            .collect();
        typos.sort_unstable();
        let shown = typos.into_iter().filter_map(|(_, def)| candidate(program, def));
        near.extend(shown.take(NEAR));
        let mut seen = BTreeSet::new();
        near.retain(|one| seen.insert((one.path.clone(), one.line, one.name.clone())));
        near.truncate(NEAR);
    }
    near
}

fn misspelt(program: &Program, file: u32, name: &str, most: usize) -> Vec<(usize, Def)> {
    let Some(facts) = program.facts(file) else { return Vec::new() };
    let all = facts.definitions.iter().enumerate().filter(|(_, one)| one.kind != Kind::Impl);
    all.filter_map(|(index, definition)| {
        let other = facts.text(definition.name);
        let close = other.len().abs_diff(name.len()) <= most;
        let distance = close.then(|| strsim::osa_distance(other, name))?;
        (distance <= most).then_some((distance, Def { file, id: DefId::new(index) }))
    })
    .collect()
}

/// Which definitions a file or folder holds.
pub(super) struct Filter {
    exact: Option<u32>,
    paths: PathFilter,
}

impl Filter {
    pub(super) fn new(program: &Program, path: Option<&str>) -> Result<Self> {
        // A file may be called like a pattern: `[id].tsx`.
        let exact = path.and_then(|path| program.file_at(path));
        let paths = PathFilter::new(if exact.is_some() { None } else { path })?;
        Ok(Self { exact, paths })
    }

    pub(super) fn keeps(&self, program: &Program, def: Def) -> bool {
        self.keeps_file(program, def.file)
    }

    pub(super) fn keeps_file(&self, program: &Program, file: u32) -> bool {
        match self.exact {
            Some(exact) => file == exact,
            None => program.file(file).is_some_and(|entry| self.paths.keeps(&entry.path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_from_names() {
        assert_eq!(split_place("src/a.rs:12"), Some(("src/a.rs", 12, None)));
        assert_eq!(split_place("src/a.rs:12:3"), Some(("src/a.rs", 12, Some(3))));
        assert_eq!(split_place("Pair::0"), None);
        assert_eq!(split_place("a::b"), None);
        assert_eq!(split_place(":3"), None);
        assert_eq!(split_place("src/a.rs:0"), None);
    }
}
