//! Places in a file where a name is written, and what it stands for there.

use std::collections::BTreeSet;

use super::names::Named;
use super::symbols::{candidates, grouped, missing};
use super::{Found, Subject, main_of, own};
use crate::facts::{BindingKind, DefId, Expr, FileFacts, Kind, Sym};
use crate::resolve::{Answer, Def, Label, Meaning, Program, Source, Target};

/// What is written at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Site {
    Reference(usize),
    Definition(DefId),
    Binding(usize),
    Import(usize, usize),
}

/// A place where a name is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) site: Site,
    pub(super) start: u32,
    pub(super) length: u32,
}

/// What a name stands for, seen from a file.
#[derive(Clone, Debug)]
pub(super) struct Meant {
    pub(super) file: u32,
    pub(super) answer: Answer,
}

impl Meant {
    pub(super) fn of(program: &Program, file: u32, site: Site) -> Self {
        let sure = |meaning| Answer { meaning, label: Label::Resolved, reason: "scope", chain: Vec::new() };
        let answer = match site {
            Site::Reference(index) => {
                let mut answer = program.answer(file, index);
                if let Meaning::External(package) = &mut answer.meaning
                    && package.is_empty()
                {
                    *package = package_of(program, file, index).unwrap_or_default();
                }
                answer
            }
            Site::Definition(id) => sure(Meaning::Definitions(vec![Def { file, id }])),
            Site::Binding(index) => sure(Meaning::Local(index)),
            Site::Import(import, name) => program.imported(file, import, name),
        };
        Self { file, answer }
    }

    pub(super) fn of_target(program: &Program, file: u32, target: Target) -> Self {
        match target {
            Target::Definition(id) => Self::of(program, file, Site::Definition(id)),
            Target::Binding(index) => Self::of(program, file, Site::Binding(index)),
            Target::Import(import, Some(name)) => Self::of(program, file, Site::Import(import, name)),
            Target::Import(import, None) => {
                let (meaning, label) = match program.import(file, import) {
                    Source::Files(files) => (Meaning::Module(files), Label::Resolved),
                    Source::Package(name) => (Meaning::External(name), Label::Resolved),
                    Source::Unresolved(_) => (Meaning::Unknown, Label::NameMatch),
                };
                let at = program.facts(file).and_then(|facts| facts.imports.get(import));
                let chain = at.map(|import| (file, import.span.start)).into_iter().collect();
                Self { file, answer: Answer { meaning, label, reason: "import", chain } }
            }
        }
    }

    /// The same for all answers that mean the same.
    fn key(&self, program: &Program) -> Meaning {
        match &self.answer.meaning {
            Meaning::Definitions(defs) => {
                let all: BTreeSet<Def> = defs.iter().flat_map(|def| own(program, *def)).collect();
                Meaning::Definitions(main_of(program, &all).into_iter().collect())
            }
            Meaning::Module(files) => Meaning::Module(files.iter().take(1).copied().collect()),
            other => other.clone(),
        }
    }
}

/// The package that the first name of what a use is a member of is imported from.
fn package_of(program: &Program, file: u32, reference: usize) -> Option<String> {
    let scopes = program.scopes(file)?;
    let facts = scopes.facts();
    let reference = facts.references.get(reference)?;
    let mut at = reference.receiver;
    let name = loop {
        match facts.expr(at)? {
            Expr::Name(name) => break *name,
            Expr::Member { base, .. } => at = *base,
            _ => return None,
        }
    };
    match scopes.name(name, reference.scope, reference.start)? {
        Target::Import(import, _) => match program.import(file, import) {
            Source::Package(package) => Some(package),
            Source::Files(_) | Source::Unresolved(_) => None,
        },
        Target::Definition(_) | Target::Binding(_) => None,
    }
}

/// Where a name is written in a file; without one, where any is. On one line, or anywhere.
pub(super) fn spots(program: &Program, file: u32, line: Option<u32>, named: Option<&Named>) -> Vec<Spot> {
    let Some(facts) = program.facts(file) else { return Vec::new() };
    let wanted = match named {
        Some(named) => match facts.strings.find(&named.name) {
            Some(sym) => Some(sym),
            None => return Vec::new(),
        },
        None => None,
    };
    let fits = |name: Sym, start: u32| {
        wanted.is_none_or(|sym| sym == name) && line.is_none_or(|line| facts.lines.line(start) == line)
    };
    let length = |name: Sym| facts.text(name).len() as u32;
    let mut found: Vec<Spot> = Vec::new();
    let mut add = |site, name: Sym, start| {
        if fits(name, start) {
            found.push(Spot { site, start, length: length(name) });
        }
    };
    for (index, definition) in facts.definitions.iter().enumerate() {
        if definition.kind != Kind::Impl {
            add(Site::Definition(DefId::new(index)), definition.name, definition.name_start);
        }
    }
    for (index, binding) in facts.bindings.iter().enumerate() {
        // What is only known of a name is no place where it comes from.
        if binding.kind != BindingKind::Narrowed {
            add(Site::Binding(index), binding.name, binding.start);
        }
    }
    for (index, reference) in facts.references.iter().enumerate() {
        add(Site::Reference(index), reference.name, reference.start);
    }
    for (index, import) in facts.imports.iter().enumerate() {
        for (which, name) in import.names.iter().enumerate() {
            let alias = if name.alias.is_some() { name.alias } else { name.name };
            add(Site::Import(index, which), alias, name.start);
        }
    }
    // A name that is defined there is not used there; and what is imported there is a use already.
    found.sort_by_key(|spot| spot.start);
    found.dedup_by_key(|spot| spot.start);
    match named {
        Some(named) if !named.parents.is_empty() => belonging(facts, found, &named.parents),
        _ => found,
    }
}

/// Those that are written with these parents, if any are.
fn belonging(facts: &FileFacts, found: Vec<Spot>, parents: &[String]) -> Vec<Spot> {
    let wanted = parents.join(".");
    let fits = |spot: &Spot| {
        let around = match spot.site {
            Site::Reference(index) => {
                facts.references.get(index).map(|reference| facts.expr_text(reference.receiver))
            }
            Site::Definition(id) => Some(facts.parent_path(id)),
            Site::Binding(_) | Site::Import(..) => None,
        };
        let around = around.unwrap_or_default().replace("::", ".").replace(['<', '>', '&'], "");
        around == wanted || around.ends_with(&format!(".{wanted}"))
    };
    let some = found.iter().any(fits);
    found.into_iter().filter(|spot| !some || fits(spot)).collect()
}

/// Those of the places on a line that a column lies in.
pub(super) fn at_column(program: &Program, file: u32, line: u32, column: u32, found: Vec<Spot>) -> Vec<Spot> {
    let mut texts = super::Texts::new(program);
    let Some(facts) = program.facts(file) else { return Vec::new() };
    let offset = facts.lines.offset(line, column, texts.source(file));
    let touches = |spot: &Spot| (spot.start..=spot.start + spot.length).contains(&offset);
    let inside = |spot: &Spot| (spot.start..spot.start + spot.length).contains(&offset);
    // Right behind a name counts if no other begins there.
    let exact: Vec<Spot> = found.iter().filter(|spot| inside(spot)).copied().collect();
    if exact.is_empty() { found.into_iter().filter(|spot| touches(spot)).collect() } else { exact }
}

/// The lines of a file on which a name is written, nearest first.
pub(super) fn named_lines(program: &Program, file: u32, named: &Named, line: u32) -> Vec<u32> {
    let Some(facts) = program.facts(file) else { return Vec::new() };
    let found = spots(program, file, None, Some(named));
    let mut lines: Vec<u32> = found.iter().map(|spot| facts.lines.line(spot.start)).collect();
    lines.dedup();
    lines.sort_by_key(|other| (other.abs_diff(line), *other));
    lines
}

/// What the places stand for, each thing once.
pub(super) fn distinct(program: &Program, file: u32, spots: &[Spot]) -> Vec<Meant> {
    let mut keys = Vec::new();
    let mut found: Vec<Meant> = Vec::new();
    for spot in spots {
        let meant = Meant::of(program, file, spot.site);
        let key = meant.key(program);
        if !keys.contains(&key) {
            keys.push(key);
            found.push(meant);
        }
    }
    found
}

/// The subject of a use of a name on a line, if there is one that is understood.
pub(super) fn used_at(
    program: &Program,
    file: u32,
    line: u32,
    column: Option<u32>,
    named: Option<&Named>,
) -> Option<Found> {
    let mut spots = spots(program, file, Some(line), named);
    if let Some(column) = column {
        spots = at_column(program, file, line, column, spots);
    }
    let meant = distinct(program, file, &spots);
    let defs: Vec<Def> = meant
        .iter()
        .flat_map(|meant| match &meant.answer.meaning {
            Meaning::Definitions(defs) => defs.clone(),
            _ => Vec::new(),
        })
        .collect();
    match (meant.as_slice(), grouped(program, &defs).as_slice()) {
        ([_], [one]) => Some(Found::One(Subject::Definition(*one))),
        ([only], []) => match &only.answer.meaning {
            Meaning::Local(binding) => Some(Found::One(Subject::Local { file, binding: *binding })),
            Meaning::External(package) => {
                let path = program.file(file).map_or("", |file| file.path.as_str());
                let of = if package.is_empty() { String::new() } else { format!(" (of {package})") };
                let message = format!("what {path}:{line} names is outside this workspace{of}");
                Some(missing(message, Vec::new()))
            }
            _ => None,
        },
        ([], _) | (_, []) => None,
        (_, several) => Some(Found::Several(candidates(program, several))),
    }
}
