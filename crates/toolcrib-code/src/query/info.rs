//! What is known of one definition.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use toolcrib_workspace::Result;

use super::members::attached;
use super::references::{Counts, Use, Uses, enclosing, uses};
use super::symbols::Filter;
use super::target::Target;
use super::{Subject, Texts, docs, full_name, is_test, main_of, members, own, parent, stop_if_cancelled};
use crate::facts::{Flags, Role, Span};
use crate::index::Control;
use crate::resolve::{Def, Label, Meaning, Program};

/// Longer bodies are cut, at the end of a line.
const MAX_BODY_LINES: usize = 400;
const MAX_BODY_CHARS: usize = 30_000;

/// What to tell of a symbol.
#[derive(Clone, Copy, Debug)]
pub struct InfoQuery {
    /// With its source.
    pub body: bool,
    /// How many of each list at most.
    pub limit: usize,
}

/// A member of a type or module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Its file, if that is another than the definition's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its line.
    pub line: u32,
    /// Its head in one line.
    pub signature: String,
}

/// A definition that calls the symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Caller {
    /// Its file.
    pub path: String,
    /// The line of the first call in it.
    pub line: u32,
    /// Its name; none if the call is at the top of the file.
    pub name: Option<String>,
    /// How sure it is.
    pub label: Label,
    /// How many calls are in it.
    pub calls: usize,
}

/// A definition that the symbol calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Callee {
    /// Its name, with what it belongs to.
    pub name: String,
    /// Its file.
    pub path: String,
    /// Its line.
    pub line: u32,
    /// How sure it is.
    pub label: Label,
}

/// A definition that has to do with the symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Touch {
    /// Its name.
    pub name: Option<String>,
    /// Its file.
    pub path: String,
    /// Its line.
    pub line: u32,
    /// How sure it is.
    pub label: Label,
}

/// What is known of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolInfo {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Its file.
    pub path: String,
    /// The line of its name.
    pub line: u32,
    /// The last line of its body.
    pub end_line: u32,
    /// Its head in one line.
    pub signature: String,
    /// Its documentation.
    pub doc: Option<String>,
    /// What it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whether it can be seen from outside its file or type.
    pub exported: bool,
    /// What it stands on: base classes, traits, interfaces.
    pub bases: Vec<String>,
    /// Its members.
    pub members: Vec<Member>,
    /// How many there are.
    pub members_total: usize,
    /// Who calls it, tests last.
    pub callers: Vec<Caller>,
    /// How many there are.
    pub callers_total: usize,
    /// What it calls.
    pub callees: Vec<Callee>,
    /// How many there are.
    pub callees_total: usize,
    /// Calls in it of which the target is not known.
    pub unresolved_calls: usize,
    /// What stands on it.
    pub implementors: Vec<Touch>,
    /// How many there are.
    pub implementors_total: usize,
    /// Tests that call it.
    pub tests: Vec<Touch>,
    /// How many there are.
    pub tests_total: usize,
    /// All its uses, by label.
    pub references: Counts,
    /// Whether those are all there can be.
    pub complete: bool,
    /// Its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Lines of it that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_lines_left: Option<usize>,
}

/// What is known of a definition; none if it is gone.
pub fn symbol_info(
    program: &Program,
    def: Def,
    query: InfoQuery,
    control: &Control<'_>,
) -> Result<Option<SymbolInfo>> {
    let target = Target::of(program, Subject::Definition(def));
    let all = own(program, def);
    let uses = uses(program, &target, &Filter::new(program, None)?, control)?;
    let mut texts = Texts::new(program);
    let Some(located) = texts.located(def) else { return Ok(None) };
    let Some((facts, definition)) = program.facts(def.file).zip(program.definition(def)) else {
        return Ok(None);
    };
    let members = members(program, &all, control);
    stop_if_cancelled(control)?;
    let shown = members.iter().take(query.limit).filter_map(|member| shown_member(program, *member, def));
    let callers = callers(program, &uses);
    let callees = callees(program, &all);
    let implementors = implementors(program, &uses);
    let body = query.body.then(|| body(program, &mut texts, def, definition.span));
    let tests = callers.iter().filter(|(_, test)| *test).map(|(caller, _)| Touch {
        name: caller.name.clone(),
        path: caller.path.clone(),
        line: caller.line,
        label: caller.label,
    });
    Ok(Some(SymbolInfo {
        end_line: facts.lines.last_line(definition.span),
        doc: doc(program, &mut texts, def, &all),
        parent: parent(program, def),
        exported: all.iter().any(|one| is_exported(program, *one)),
        bases: bases(program, &all, control),
        members: shown.collect(),
        members_total: members.len(),
        tests: tests.clone().take(query.limit).collect(),
        tests_total: tests.count(),
        callers: callers.iter().take(query.limit).map(|(caller, _)| caller.clone()).collect(),
        callers_total: callers.len(),
        callees: callees.0.iter().take(query.limit).cloned().collect(),
        callees_total: callees.0.len(),
        unresolved_calls: callees.1,
        implementors_total: implementors.len(),
        implementors: implementors.into_iter().take(query.limit).collect(),
        references: uses.counts(),
        complete: uses.are_complete(),
        body_lines_left: body.as_ref().and_then(|(_, left)| (*left > 0).then_some(*left)),
        body: body.map(|(body, _)| body),
        name: located.name,
        kind: located.kind,
        path: located.path,
        line: located.line,
        signature: located.signature,
    }))
}

fn is_exported(program: &Program, def: Def) -> bool {
    program.definition(def).is_some_and(|one| one.flags.has(Flags::EXPORTED))
}

fn shown_member(program: &Program, member: Def, of: Def) -> Option<Member> {
    let facts = program.facts(member.file)?;
    let definition = facts.definition(member.id)?;
    Some(Member {
        name: facts.text(definition.name).to_owned(),
        kind: definition.kind.as_str(),
        path: if member.file == of.file { None } else { Some(program.file(member.file)?.path.clone()) },
        line: facts.lines.line(definition.name_start),
        signature: facts.text(definition.signature).to_owned(),
    })
}

/// The documentation of the definition, or else of what is one thing with it, as a declaration in a header.
fn doc(program: &Program, texts: &mut Texts<'_>, def: Def, all: &BTreeSet<Def>) -> Option<String> {
    let first = std::iter::once(def).chain(all.iter().copied());
    let written = |def: Def| {
        let span = program.definition(def)?.doc;
        (!span.is_empty()).then_some((def.file, span))
    };
    let found: Vec<(u32, Span)> = first.filter_map(written).take(1).collect();
    let text = found.first().map(|(file, span)| docs::cleaned(&texts.text(*file, *span)))?;
    (!text.is_empty()).then_some(text)
}

/// What a type stands on, with the traits of its `impl` blocks.
fn bases(program: &Program, all: &BTreeSet<Def>, control: &Control<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |def: Def| {
        let Some((facts, one)) = program.facts(def.file).zip(program.definition(def)) else { return };
        for base in one.bases.iter().map(|base| facts.type_text(*base)) {
            if !found.contains(&base) {
                found.push(base);
            }
        }
    };
    for def in all {
        add(*def);
        if program.definition(*def).is_some_and(|one| one.kind.is_type()) {
            let blocks = attached(program, *def, all, control);
            blocks.into_iter().filter(|(_, is_block)| *is_block).for_each(|(block, _)| add(block));
        }
    }
    found
}

/// The calls among the uses, one entry a definition they are in; and whether that is a test. Tests come last.
fn callers(program: &Program, uses: &Uses) -> Vec<(Caller, bool)> {
    let calls = |one: &&Use| {
        matches!(one.role, Role::Call | Role::Construct | Role::Macro) && one.label <= Label::Likely
    };
    let mut found: BTreeMap<(u32, Option<Def>), Vec<&Use>> = BTreeMap::new();
    for one in uses.all.iter().filter(calls) {
        found.entry((one.file, enclosing(program, one))).or_default().push(one);
    }
    let mut callers: Vec<(bool, u32, u32, Caller)> = Vec::new();
    for ((file, around), calls) in found {
        let Some((entry, facts)) = program.file(file).zip(program.facts(file)) else { continue };
        let Some(first) = calls.first() else { continue };
        let caller = Caller {
            path: entry.path.clone(),
            line: facts.lines.line(first.start),
            name: around.and_then(|def| full_name(program, def)),
            label: calls.iter().map(|one| one.label).min().unwrap_or(Label::NameMatch),
            calls: calls.len(),
        };
        let test = entry.is_test || around.is_some_and(|def| is_test(program, def));
        callers.push((test, file, first.start, caller));
    }
    callers.sort_by_key(|(test, file, start, _)| (*test, *file, *start));
    callers.into_iter().map(|(test, _, _, caller)| (caller, test)).collect()
}

/// What is called in the bodies, in the order of the first call, and how many calls lead nowhere known.
fn callees(program: &Program, all: &BTreeSet<Def>) -> (Vec<Callee>, usize) {
    let mut found: Vec<(Def, Label)> = Vec::new();
    let mut unresolved = 0;
    for def in all {
        let Some((facts, one)) = program.facts(def.file).zip(program.definition(*def)) else { continue };
        let from = facts.references.partition_point(|reference| reference.start < one.span.start);
        let inside = facts.references.iter().enumerate().skip(from);
        for (index, reference) in inside.take_while(|(_, reference)| reference.start < one.span.end) {
            if !matches!(reference.role, Role::Call | Role::Construct | Role::Macro) {
                continue;
            }
            let answer = program.answer(def.file, index);
            match answer.meaning {
                Meaning::Definitions(defs) => {
                    let group = defs.iter().flat_map(|def| own(program, *def)).collect();
                    let Some(main) = main_of(program, &group) else { continue };
                    match found.iter_mut().find(|(known, _)| *known == main) {
                        Some((_, label)) => *label = (*label).min(answer.label),
                        None => found.push((main, answer.label)),
                    }
                }
                Meaning::Unknown => unresolved += 1,
                Meaning::Local(_) | Meaning::Module(_) | Meaning::External(_) => {}
            }
        }
    }
    let shown = |(def, label): (Def, Label)| {
        let (facts, one) = program.facts(def.file).zip(program.definition(def))?;
        Some(Callee {
            name: full_name(program, def)?,
            path: program.file(def.file)?.path.clone(),
            line: facts.lines.line(one.name_start),
            label,
        })
    };
    (found.into_iter().filter_map(shown).collect(), unresolved)
}

/// The definitions that name the symbol as what they stand on.
fn implementors(program: &Program, uses: &Uses) -> Vec<Touch> {
    let mut seen = BTreeSet::new();
    let heads = uses.all.iter().filter(|one| one.role == Role::Inherit && one.label <= Label::Likely);
    heads
        .filter_map(|one| {
            let def = enclosing(program, one).filter(|def| seen.insert(*def))?;
            let (facts, definition) = program.facts(def.file).zip(program.definition(def))?;
            Some(Touch {
                name: full_name(program, def),
                path: program.file(def.file)?.path.clone(),
                line: facts.lines.line(definition.name_start),
                label: one.label,
            })
        })
        .collect()
}

/// The source from the line it begins on, and how many lines of it were left out.
fn body(program: &Program, texts: &mut Texts<'_>, def: Def, span: Span) -> (String, usize) {
    let Some(facts) = program.facts(def.file) else { return (String::new(), 0) };
    let first = facts.lines.span(facts.lines.line(span.start), texts.source(def.file)).start;
    let text = texts.text(def.file, Span::new(first, span.end));
    let mut kept = String::new();
    let (mut count, total) = (0, text.lines().count());
    for line in text.lines().take(MAX_BODY_LINES) {
        if kept.len() + line.len() > MAX_BODY_CHARS {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
        count += 1;
    }
    if count == 0 {
        kept = text.chars().take(MAX_BODY_CHARS).collect();
    }
    (kept, total - count)
}
