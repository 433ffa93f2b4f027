//! Whether imports lead to the right files.

use std::collections::HashSet;

use toolcrib_code::facts::{FileFacts, Import};
use toolcrib_code::resolve::{Answer, Meaning, Program, Source};
use toolcrib_code::scip::{Class, SymbolId};

use crate::cases::{Case, Cases};
use crate::counts::{Counts, Share};
use crate::truth::Truth;

pub(crate) fn score(program: &Program, truth: &Truth, counts: &mut Counts, mut cases: Option<&mut Cases>) {
    for file in truth.files.keys().copied() {
        let Some(facts) = program.facts(file) else { continue };
        for (at, import) in facts.imports.iter().enumerate() {
            for (number, name) in import.names.iter().enumerate() {
                let symbols = truth.place(file, name.start).map_or(&[][..], |place| &place.uses);
                let answer = program.imported(file, at, number);
                let ours = files_of(&answer);
                if judge(truth, symbols, &ours, counts, |counts| &mut counts.import_names) {
                    continue;
                }
                if let Some(cases) = cases.as_deref_mut() {
                    let (start, symbols) = (name.start, symbols.to_vec());
                    let said = Some((usize::MAX, answer));
                    cases.add(Case { kind: "imports", class: "name", file, start, said, symbols });
                }
            }
            let Some((start, symbols)) = module(truth, file, facts, import) else { continue };
            let source = program.import(file, at);
            let ours = match &source {
                Source::Files(files) => files.first().copied().into_iter().collect(),
                Source::Package(_) | Source::Unresolved(_) => HashSet::new(),
            };
            if judge(truth, &symbols, &ours, counts, |counts| &mut counts.import_modules) {
                continue;
            }
            if let Some(cases) = cases.as_deref_mut() {
                let said = Some((usize::MAX, cases.answer_of(source)));
                cases.add(Case { kind: "imports", class: "module", file, start, said, symbols });
            }
        }
    }
}

/// Counts one import; false if it is not right.
fn judge(
    truth: &Truth,
    symbols: &[SymbolId],
    ours: &HashSet<u32>,
    counts: &mut Counts,
    share: fn(&mut Counts) -> &mut Share,
) -> bool {
    let known: HashSet<u32> = symbols
        .iter()
        .filter(|symbol| truth.class(**symbol) != Class::Local)
        .flat_map(|symbol| truth.definitions(*symbol))
        .map(|(file, _)| *file)
        .collect();
    if known.is_empty() {
        let is_outside = !symbols.is_empty() && symbols.iter().all(|symbol| !truth.is_mute(*symbol));
        counts.outside += usize::from(is_outside);
        counts.strayed += usize::from(is_outside && !ours.is_empty());
        return !is_outside || ours.is_empty();
    }
    let share = share(counts);
    share.all += 1;
    let is_right = !known.is_disjoint(ours);
    share.right += usize::from(is_right);
    share.wrong += usize::from(!is_right && !ours.is_empty());
    is_right
}

fn files_of(answer: &Answer) -> HashSet<u32> {
    match &answer.meaning {
        Meaning::Definitions(found) => found.iter().map(|def| def.file).collect(),
        Meaning::Module(files) => files.iter().copied().collect(),
        Meaning::Local(_) | Meaning::External(_) | Meaning::Unknown => HashSet::new(),
    }
}

/// The place in an import where its module is named, as far as the truth knows a file for that.
fn module(truth: &Truth, file: u32, facts: &FileFacts, import: &Import) -> Option<(u32, Vec<SymbolId>)> {
    let known = truth.files.get(&file)?;
    let source = facts.text(import.source);
    let wanted = if truth.language == "rust" { source.rsplit("::").next()? } else { source };
    for (start, place) in known.places.range(import.span.start..import.span.end) {
        let text = std::str::from_utf8(place.span.of(&known.source)).ok()?;
        let is_leaf = import.names.iter().any(|name| name.start == *start);
        if is_leaf || text.trim_matches(['"', '\'', '`']) != wanted {
            continue;
        }
        let is_module = |symbol: &SymbolId| {
            truth.class(*symbol) == Class::Module && !truth.definitions(*symbol).is_empty()
        };
        let symbols: Vec<_> = place.uses.iter().copied().filter(is_module).collect();
        if !symbols.is_empty() {
            return Some((*start, symbols));
        }
    }
    None
}
