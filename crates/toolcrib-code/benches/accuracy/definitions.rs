//! Whether what is defined is in our facts.

use std::collections::{BTreeMap, HashSet};

use toolcrib_code::facts::Span;
use toolcrib_code::lang::Language;
use toolcrib_code::resolve::Program;
use toolcrib_code::scip::SymbolId;

use crate::cases::{Case, Cases};
use crate::counts::{CLASSES, Counts, class_of};
use crate::truth::{FileTruth, Truth};

pub(crate) fn score(program: &Program, truth: &Truth, counts: &mut Counts, mut cases: Option<&mut Cases>) {
    for (file, known) in &truth.files {
        let facts = program.facts(*file);
        let ours: HashSet<u32> =
            facts.iter().flat_map(|facts| &facts.definitions).map(|one| one.name_start).collect();
        let macros = macro_calls(truth, known);
        for (start, (class, symbol)) in defined(truth, known) {
            let span = known.places[&start].span;
            let is_made = span.of(&known.source) != truth.name(symbol).as_bytes()
                || macros.iter().any(|call| call.contains(start));
            if is_made {
                counts.macro_made += 1;
                if !ours.contains(&start) {
                    counts.unseen_made.insert((*file, start));
                }
                continue;
            }
            let share = &mut counts.definitions[class];
            share.all += 1;
            if ours.contains(&start) {
                share.right += 1;
            } else if let Some(cases) = cases.as_deref_mut() {
                let symbols = vec![symbol];
                let (kind, class, file) = ("definitions", CLASSES[class], *file);
                cases.add(Case { kind, class, file, start, said: None, symbols });
            }
        }
    }
}

/// Functions, types and methods by place; a place counts once.
fn defined(truth: &Truth, known: &FileTruth) -> BTreeMap<u32, (usize, SymbolId)> {
    let mut found = BTreeMap::new();
    for (start, place) in &known.places {
        let classes =
            place.defines.iter().filter_map(|symbol| Some((class_of(truth.class(*symbol))?, *symbol)));
        if let Some(first) = classes.filter(|(class, _)| *class < 3).min() {
            found.insert(*start, first);
        }
    }
    found
}

/// What is inside a call of a macro is text for a syntax tree.
fn macro_calls(truth: &Truth, known: &FileTruth) -> Vec<Span> {
    let mut found = Vec::new();
    if truth.language != "rust" {
        return found;
    }
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&Language::by_name("rust").unwrap().grammar()).unwrap();
    let tree = parser.parse(&known.source, None).unwrap();
    let mut left = vec![tree.root_node()];
    while let Some(node) = left.pop() {
        if node.kind() == "macro_invocation" {
            found.push(Span::new(node.start_byte() as u32, node.end_byte() as u32));
        } else {
            left.extend((0..node.child_count()).filter_map(|at| node.child(at)));
        }
    }
    found
}
