//! What belongs to a definition: in its body, in `impl` blocks, or by the type it names as its owner.

use std::collections::BTreeSet;

use super::names::Named;
use super::symbols::{grouped, named_so};
use super::{family_of, own, owner};
use crate::facts::{DefId, Kind, Span};
use crate::index::Control;
use crate::resolve::{Def, Meaning, Program};

/// The members of what is one thing, those of its own file first, in the order of the file.
pub(super) fn members(program: &Program, of: &BTreeSet<Def>, control: &Control<'_>) -> Vec<Def> {
    let mut found = BTreeSet::new();
    for def in of {
        found.extend(children(program, *def));
        let is_type = program.definition(*def).is_some_and(|one| one.kind.is_type());
        if is_type {
            for (def, is_block) in attached(program, *def, of, control) {
                match is_block {
                    true => found.extend(children(program, def)),
                    false => found.extend([def]),
                }
            }
        }
    }
    let home = of.first().map_or(0, |def| def.file);
    let mut sorted: Vec<Def> = found.into_iter().collect();
    sorted.sort_by_key(|def| {
        (def.file != home, def.file, program.definition(*def).map_or(0, |one| one.name_start))
    });
    // A declaration and its definition are one member.
    let mut seen = BTreeSet::new();
    sorted.retain(|def| {
        let all = own(program, *def);
        let new = all.is_disjoint(&seen);
        seen.extend(all);
        new
    });
    sorted
}

fn children(program: &Program, of: Def) -> Vec<Def> {
    let Some(facts) = program.facts(of.file) else { return Vec::new() };
    let all = facts.definitions.iter().enumerate();
    let inside = all.filter(|(_, one)| one.parent == of.id && one.kind != Kind::Impl);
    inside.map(|(index, _)| Def { file: of.file, id: DefId::new(index) }).collect()
}

/// What names a type as its owner: `impl` blocks (true), and members that are not written in it (false).
pub(super) fn attached(
    program: &Program,
    of: Def,
    all: &BTreeSet<Def>,
    control: &Control<'_>,
) -> Vec<(Def, bool)> {
    let Some(name) = name_of(program, of) else { return Vec::new() };
    let family = family_of(program, of.file);
    let mut only = None;
    let mut found = Vec::new();
    for entry in program.snapshot().files_with(&name) {
        let Some(file) = program.file_at(&entry.path) else { continue };
        let Some(facts) = program.facts(file).filter(|_| super::family(entry.language) == family) else {
            continue;
        };
        for (index, one) in facts.definitions.iter().enumerate() {
            let def = Def { file, id: DefId::new(index) };
            let blocks = one.kind == Kind::Impl && facts.text(one.name) == name;
            let owned =
                owner(facts, one).is_some_and(|owner| owner.rsplit('.').next() == Some(name.as_str()));
            if !blocks && !owned {
                continue;
            }
            let first = facts.definitions.iter().find(|child| child.parent == def.id);
            let head = match (blocks, first) {
                (true, Some(child)) => Span::new(one.span.start, child.span.start),
                (true, None) => one.span,
                (false, _) => Span::new(one.span.start, one.name_start),
            };
            let fits = names(program, file, head, &name, all).unwrap_or_else(|| {
                // Not known by the program: then the type must be the only one of its name, or at hand.
                file == of.file || *only.get_or_insert_with(|| is_only(program, &name, control))
            });
            if fits {
                found.push((def, blocks));
            }
        }
    }
    found
}

fn name_of(program: &Program, def: Def) -> Option<String> {
    let facts = program.facts(def.file)?;
    Some(facts.text(facts.definition(def.id)?.name).to_owned())
}

/// Whether a name in the head of a definition stands for one of these; none if that is not known.
fn names(program: &Program, file: u32, head: Span, name: &str, all: &BTreeSet<Def>) -> Option<bool> {
    let facts = program.facts(file)?;
    let sym = facts.strings.find(name)?;
    let from = facts.references.partition_point(|reference| reference.start < head.start);
    let uses = facts.references.iter().enumerate().skip(from);
    let mut known = None;
    for (index, reference) in uses.take_while(|(_, reference)| reference.start < head.end) {
        if reference.name != sym {
            continue;
        }
        match program.answer(file, index).meaning {
            Meaning::Definitions(defs) if defs.iter().any(|def| all.contains(def)) => return Some(true),
            Meaning::Unknown => {}
            _ => known = Some(false),
        }
    }
    known
}

fn is_only(program: &Program, name: &str, control: &Control<'_>) -> bool {
    let named = Named { parents: Vec::new(), name: name.to_owned() };
    let all = named_so(program, &named, control).unwrap_or_default();
    let types: Vec<Def> = all
        .into_iter()
        .filter(|def| program.definition(*def).is_some_and(|one| one.kind.is_type()))
        .collect();
    grouped(program, &types).len() == 1
}
