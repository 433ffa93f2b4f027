//! From a name, seen from somewhere, to what it stands for.

use serde::Serialize;
use toolcrib_workspace::Result;

use super::names::Named;
use super::spots::{Meant, Site, Spot, at_column, distinct, named_lines, spots};
use super::symbols::{grouped, in_file, named_so, nothing, with_file};
use super::{Candidate, Found, Located, Missing, Subject, Texts, Wanted, candidates, members, own, pick};
use crate::facts::{FileFacts, ImportKind, ScopeId, Sym};
use crate::index::Control;
use crate::resolve::{Answer, Def, Label, Meaning, Program, Source};

/// Files looked at to learn which package a name comes from.
const ASKED: usize = 20;

/// A place on the way to a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The file.
    pub path: String,
    /// The line.
    pub line: u32,
    /// What leads on there: `import`, `include`, `re-export`, `export` or `alias`.
    pub via: &'static str,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Where it is defined, if that is here and known.
    pub definition: Option<Located>,
    /// The package it comes from, if it is not defined here.
    pub package: Option<String>,
    /// Imports and re-exports on the way.
    pub chain: Vec<Step>,
    /// How sure that is.
    pub label: Label,
    /// What proves it, or why there is no answer.
    pub reason: String,
    /// What else it may be.
    pub candidates: Vec<Candidate>,
    /// How many of those there are.
    pub total: usize,
}

impl Resolution {
    fn nothing(reason: impl Into<String>) -> Self {
        Self {
            definition: None,
            package: None,
            chain: Vec::new(),
            label: Label::NameMatch,
            reason: reason.into(),
            candidates: Vec::new(),
            total: 0,
        }
    }

    /// Any of these, or none.
    fn any_of(program: &Program, defs: &[Def], reason: impl Into<String>) -> Self {
        let found = candidates(program, &grouped(program, defs));
        Self { candidates: found.list, total: found.total, ..Self::nothing(reason) }
    }
}

/// What a name stands for: at a line, seen from a file, or wherever it is defined. If there is no such name, what comes
/// near.
pub fn resolve(
    program: &Program,
    wanted: &Wanted<'_>,
    control: &Control<'_>,
) -> Result<std::result::Result<Resolution, Missing>> {
    let wanted = with_file(program, *wanted);
    let named = Named::of(wanted.symbol);
    let Some(file) = wanted.file.and_then(|file| program.file_at(file)) else {
        return anywhere(program, &wanted, &named, control);
    };
    let answers = match wanted.line {
        Some(line) => match at_line(program, file, line, &wanted, &named) {
            Some(spots) if spots.is_empty() => return Ok(Err(not_there(program, file, &wanted, &named))),
            Some(spots) => distinct(program, file, &spots),
            None => return anywhere(program, &wanted, &named, control),
        },
        None => seen_from(program, file, &named, control),
    };
    let here = program.file(file).map_or("", |file| file.path.as_str());
    Ok(match answers.as_slice() {
        [] => {
            // Not in sight of that file; it may still be somewhere.
            let all = named_so(program, &named, control)?;
            match nothing(program, &wanted, &named, &all) {
                Found::Missing(found) if all.is_empty() => Err(found),
                _ => Ok(Resolution::any_of(program, &all, format!("{here} does not bring it in"))),
            }
        }
        [one] => Ok(resolution(program, one, &named, control)?),
        several => Ok(divided(program, several)),
    })
}

/// The places on a line that are meant; none if the definition at the line is.
fn at_line(program: &Program, file: u32, line: u32, wanted: &Wanted<'_>, named: &Named) -> Option<Vec<Spot>> {
    let whatever = wanted.symbol.trim().is_empty();
    let found = spots(program, file, Some(line), (!whatever).then_some(named));
    if let Some(column) = wanted.column {
        return Some(at_column(program, file, line, column, found));
    }
    let defined = found.is_empty() || found.iter().any(|spot| matches!(spot.site, Site::Definition(_)));
    if whatever && defined { None } else { Some(found) }
}

/// Without a file to see it from: its definition.
fn anywhere(
    program: &Program,
    wanted: &Wanted<'_>,
    named: &Named,
    control: &Control<'_>,
) -> Result<std::result::Result<Resolution, Missing>> {
    let sure = |meaning| Answer { meaning, label: Label::Resolved, reason: "definition", chain: Vec::new() };
    Ok(match pick(program, wanted, control)? {
        Found::One(Subject::Definition(def)) => {
            let meant = Meant { file: def.file, answer: sure(Meaning::Definitions(vec![def])) };
            Ok(resolution(program, &meant, named, control)?)
        }
        Found::One(Subject::Local { file, binding }) => {
            let meant = Meant { file, answer: sure(Meaning::Local(binding)) };
            Ok(resolution(program, &meant, named, control)?)
        }
        Found::Several(found) => {
            let reason = format!("{} definitions have that name", found.total);
            Ok(Resolution { candidates: found.list, total: found.total, ..Resolution::nothing(reason) })
        }
        Found::Missing(found) => match package_of(program, named) {
            Some(package) if wanted.file.is_none() => {
                let nothing = Resolution::nothing("import");
                Ok(Resolution { package: Some(package), label: Label::Resolved, ..nothing })
            }
            _ => Err(found),
        },
    })
}

/// The package that all files that use a name take it from.
fn package_of(program: &Program, named: &Named) -> Option<String> {
    let mut packages = Vec::new();
    for entry in program.snapshot().files_with(&named.name).take(ASKED) {
        let Some(file) = program.file_at(&entry.path) else { continue };
        let found = spots(program, file, None, Some(named));
        let answer = found.first().map(|spot| Meant::of(program, file, spot.site).answer);
        if let Some(Meaning::External(package)) = answer.map(|answer| answer.meaning) {
            packages.push(package);
        }
    }
    packages.retain(|package| !package.is_empty());
    packages.sort_unstable();
    packages.dedup();
    if packages.len() == 1 { packages.pop() } else { None }
}

fn not_there(program: &Program, file: u32, wanted: &Wanted<'_>, named: &Named) -> Missing {
    let path = program.file(file).map_or("", |file| file.path.as_str());
    let (line, symbol) = (wanted.line.unwrap_or(0), wanted.symbol.trim());
    let lines: Vec<String> =
        named_lines(program, file, named, line).iter().take(5).map(u32::to_string).collect();
    let known = match lines.is_empty() {
        true => "nowhere in that file".to_owned(),
        false => format!("in that file at line {}", lines.join(", ")),
    };
    let column = wanted.column.map_or_else(String::new, |column| format!(":{column}"));
    let message = match symbol.is_empty() {
        true => format!("no name is written at {path}:{line}{column}"),
        false => format!("{symbol} is not written at {path}:{line}{column}, but {known}"),
    };
    Missing { message, near: Vec::new() }
}

/// One answer, with what there is to say about it.
fn resolution(program: &Program, meant: &Meant, named: &Named, control: &Control<'_>) -> Result<Resolution> {
    let answer = &meant.answer;
    let mut texts = Texts::new(program);
    let (definition, package) = match &answer.meaning {
        Meaning::Definitions(defs) => {
            let all = defs.iter().flat_map(|def| own(program, *def)).collect();
            (super::main_of(program, &all).and_then(|def| texts.located(def)), None)
        }
        Meaning::Local(binding) => (texts.local(meant.file, *binding), None),
        Meaning::Module(files) => (files.first().and_then(|file| module(program, *file, named)), None),
        Meaning::External(package) if package.is_empty() => {
            let nothing = Resolution::nothing("it is not of this workspace");
            return Ok(Resolution { label: answer.label, ..nothing });
        }
        Meaning::External(package) => (None, Some(package.clone())),
        Meaning::Unknown => {
            let all = named_so(program, &Named { parents: Vec::new(), name: named.name.clone() }, control)?;
            let reason = "what it stands for could not be worked out";
            return Ok(Resolution::any_of(program, &all, reason));
        }
    };
    let chain = answer.chain.iter().filter_map(|(file, offset)| step(program, *file, *offset)).collect();
    let reason = answer.reason.to_owned();
    Ok(Resolution { definition, package, chain, label: answer.label, ..Resolution::nothing(reason) })
}

/// Several answers: none of them is given.
fn divided(program: &Program, several: &[Meant]) -> Resolution {
    let mut defs = Vec::new();
    let mut others = Vec::new();
    let mut texts = Texts::new(program);
    for meant in several {
        match &meant.answer.meaning {
            Meaning::Definitions(found) => defs.extend(found.iter().copied()),
            Meaning::Local(binding) => others.extend(texts.local(meant.file, *binding)),
            Meaning::Module(_) | Meaning::External(_) | Meaning::Unknown => {}
        }
    }
    let reason = "the uses there stand for different things; column or line picks one";
    let mut found = Resolution::any_of(program, &defs, reason);
    found.total += others.len();
    found.candidates.extend(others.into_iter().map(|local| Candidate {
        name: local.name,
        kind: local.kind,
        path: local.path,
        line: local.line,
        signature: local.signature,
        parent: None,
    }));
    found
}

fn module(program: &Program, file: u32, named: &Named) -> Option<Located> {
    let path = program.file(file)?.path.clone();
    let (name, signature) = (named.name.clone(), String::new());
    Some(Located { name, kind: "module", path, line: 1, column: 1, signature })
}

fn step(program: &Program, file: u32, offset: u32) -> Option<Step> {
    let facts = program.facts(file)?;
    let import = facts.imports.iter().find(|import| import.span.contains(offset));
    let via = match import.map(|import| import.kind) {
        Some(ImportKind::Reexport) => "re-export",
        Some(ImportKind::Include) => "include",
        Some(_) => "import",
        None if facts.exports.iter().any(|export| export.start == offset) => "export",
        None => "alias",
    };
    Some(Step { path: program.file(file)?.path.clone(), line: facts.lines.line(offset), via })
}

/// What a name stands for at the top of a file.
fn seen_from(program: &Program, file: u32, named: &Named, control: &Control<'_>) -> Vec<Meant> {
    let Some(facts) = program.facts(file) else { return Vec::new() };
    let here = |meanings: Vec<Meant>| {
        let known = |meant: &Meant| meant.answer.meaning != Meaning::Unknown;
        let global = |meant: &Meant| !matches!(meant.answer.meaning, Meaning::Local(_) | Meaning::Unknown);
        for keep in [&global as &dyn Fn(&Meant) -> bool, &known] {
            if meanings.iter().any(keep) {
                return meanings.into_iter().filter(|meant| keep(meant)).collect();
            }
        }
        meanings
    };
    let sites = spots(program, file, None, Some(named));
    if named.parents.is_empty() {
        if let Some(found) = top(program, file, facts, &named.name) {
            return vec![found];
        }
    } else {
        let (first, rest) =
            (named.parents.first().cloned().unwrap_or_default(), named.parents.iter().skip(1));
        let path: Vec<&str> = rest.map(String::as_str).chain([named.name.as_str()]).collect();
        let start = top(program, file, facts, &first);
        if let Some(found) = start.and_then(|start| walk(program, start, &path, control)) {
            return vec![found];
        }
    }
    let is_bare = |spot: &&Spot| match spot.site {
        Site::Reference(index) => facts.references.get(index).is_some_and(|one| one.receiver.is_none()),
        _ => false,
    };
    let bare: Vec<Spot> = sites.iter().filter(is_bare).copied().collect();
    let found = here(distinct(program, file, &bare));
    if named.parents.is_empty() && found.iter().any(|meant| meant.answer.meaning != Meaning::Unknown) {
        return found;
    }
    let defined: Vec<Spot> =
        sites.iter().filter(|spot| matches!(spot.site, Site::Definition(_))).copied().collect();
    if !defined.is_empty() {
        return distinct(program, file, &defined);
    }
    if let Some(found) =
        named.parents.is_empty().then(|| by_glob(program, file, facts, &named.name)).flatten()
    {
        return vec![found];
    }
    here(distinct(program, file, &sites))
}

/// What a bare name stands for at the top of a file: defined there or imported.
fn top(program: &Program, file: u32, facts: &FileFacts, name: &str) -> Option<Meant> {
    let sym = facts.strings.find(name)?;
    let target = program.scopes(file)?.name(sym, ScopeId::new(0), u32::MAX - 1)?;
    Some(Meant::of_target(program, file, target))
}

/// From one name to the next: into modules and types.
fn walk(program: &Program, start: Meant, path: &[&str], control: &Control<'_>) -> Option<Meant> {
    let mut at = start;
    for name in path {
        let (meaning, label) = match &at.answer.meaning {
            Meaning::Module(files) => (offered(program, files, name, control)?, at.answer.label),
            Meaning::Definitions(defs) => {
                let all = defs.iter().flat_map(|def| own(program, *def)).collect();
                let found = members(program, &all, control).into_iter().find(|member| {
                    let facts = program.facts(member.file);
                    facts
                        .zip(program.definition(*member))
                        .is_some_and(|(facts, one)| facts.text(one.name) == *name)
                });
                (Meaning::Definitions(vec![found?]), at.answer.label)
            }
            Meaning::External(package) => (Meaning::External(package.clone()), at.answer.label),
            Meaning::Local(_) | Meaning::Unknown => return None,
        };
        at.answer.meaning = meaning;
        at.answer.label = label;
    }
    Some(at)
}

/// What a module offers under a name.
fn offered(program: &Program, files: &[u32], name: &str, control: &Control<'_>) -> Option<Meaning> {
    for file in files {
        let found = program.exports(*file).into_iter().find(|offer| offer.name == name);
        if let Some(offer) = found.filter(|offer| offer.meaning != Meaning::Unknown) {
            return Some(offer.meaning);
        }
    }
    let at_top = |def: &Def| program.definition(*def).is_some_and(|one| one.parent.is_none());
    let all = files.iter().flat_map(|file| in_file(program, *file, name, control));
    let found: Vec<Def> = all.filter(at_top).collect();
    (!found.is_empty()).then_some(Meaning::Definitions(found))
}

/// What comes in with everything else of a module.
fn by_glob(program: &Program, file: u32, facts: &FileFacts, name: &str) -> Option<Meant> {
    let star = |sym: Sym| facts.text(sym) == "*";
    for (index, import) in facts.imports.iter().enumerate() {
        let all = matches!(import.kind, ImportKind::Glob | ImportKind::Include)
            || import.names.iter().any(|name| star(name.name));
        let Some(Source::Files(files)) = all.then(|| program.import(file, index)) else { continue };
        if let Some(meaning) = offered(program, &files, name, &Control::default()) {
            let chain = vec![(file, import.span.start)];
            let answer = Answer { meaning, label: Label::Resolved, reason: "import", chain };
            return Some(Meant { file, answer });
        }
    }
    None
}
