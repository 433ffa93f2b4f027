//! Precision and recall of what references are said to mean.

use std::collections::{HashMap, HashSet};

use toolcrib_code::facts::{Kind, Span, Type};
use toolcrib_code::resolve::{Answer, Def, Label, Meaning, Program};
use toolcrib_code::scip::{Suffix, SymbolId, descriptors};

use crate::cases::{Case, Cases};
use crate::counts::{CLASSES, Counts, class_of, class_of_kind};
use crate::truth::{Position, Truth};

/// An answer of ours, with all that it names: also what is the same thing.
pub(crate) struct Said {
    pub index: usize,
    pub answer: Answer,
    pub positions: HashSet<Position>,
    /// Associated types of an `impl`: its trait, and the name.
    associated: HashSet<(String, String)>,
}

impl Said {
    fn new(program: &Program, index: usize, answer: Answer) -> Self {
        let Meaning::Definitions(found) = &answer.meaning else {
            return Self { index, answer, positions: HashSet::new(), associated: HashSet::new() };
        };
        let all: Vec<Def> =
            found.iter().flat_map(|def| program.same(*def).into_iter().chain([*def])).collect();
        let position = |def: &Def| Some((def.file, program.definition(*def)?.name_start));
        let positions = all.iter().filter_map(position).collect();
        let associated = all.iter().filter_map(|def| associated(program, *def)).collect();
        Self { index, answer, positions, associated }
    }

    /// Whether it names what the truth names by this symbol.
    fn is(&self, truth: &Truth, symbol: SymbolId) -> bool {
        truth.definitions(symbol).iter().any(|at| self.positions.contains(at))
            || !self.associated.is_empty() && self.is_associated(truth, symbol)
    }

    /// rust-analyzer: `Self::Item` is what the trait declares. What the `impl` says it is, is right as well.
    fn is_associated(&self, truth: &Truth, symbol: SymbolId) -> bool {
        let mut path = descriptors(truth.text(symbol));
        let (Some(name), Some(of)) = (path.pop(), path.pop()) else { return false };
        name.suffix == Suffix::Type && self.associated.contains(&(of.name, name.name))
    }

    /// Whether it is said with enough certainty to be counted.
    pub(crate) fn counts(&self) -> bool {
        !self.positions.is_empty() && self.answer.label <= Label::Likely
    }
}

fn associated(program: &Program, def: Def) -> Option<(String, String)> {
    let facts = program.facts(def.file)?;
    let definition = facts.definition(def.id).filter(|one| one.kind == Kind::Type)?;
    let base = *facts.definition(definition.parent).filter(|one| one.kind == Kind::Impl)?.bases.first()?;
    let Type::Named { path, .. } = facts.ty(base)? else { return None };
    let of = facts.text(*path).rsplit(['.', ':']).next()?;
    Some((of.to_owned(), facts.text(definition.name).to_owned()))
}

pub(crate) fn score(program: &Program, truth: &Truth, counts: &mut Counts, mut cases: Option<&mut Cases>) {
    for file in truth.files.keys().copied() {
        let Some(facts) = program.facts(file) else { continue };
        let mut said: HashMap<u32, Vec<Said>> = HashMap::new();
        for (index, reference) in facts.references.iter().enumerate() {
            let answer = program.answer(file, index);
            let one = Said::new(program, index, answer);
            precision(program, truth, file, reference.start, &one, counts, cases.as_deref_mut());
            said.entry(reference.start).or_default().push(one);
        }
        recall(truth, file, &said, counts, cases.as_deref_mut());
    }
}

fn precision(
    program: &Program,
    truth: &Truth,
    file: u32,
    start: u32,
    said: &Said,
    counts: &mut Counts,
    cases: Option<&mut Cases>,
) {
    let Meaning::Definitions(found) = &said.answer.meaning else { return };
    let first = found.first().and_then(|def| program.definition(*def));
    let Some(class) = first.and_then(|first| class_of_kind(first.kind)).filter(|_| said.counts()) else {
        return;
    };
    counts.named += found.len();
    let level = usize::from(said.answer.label == Label::Likely);
    let answers = &mut counts.answers[class][level];
    let place = truth.place(file, start);
    let symbols: Vec<SymbolId> = place.map_or(Vec::new(), |place| place.all().copied().collect());
    let kind = if symbols.iter().any(|symbol| said.is(truth, *symbol)) {
        answers.confirmed += 1;
        let is_right = |def: &Def| {
            let answer = Answer { meaning: Meaning::Definitions(vec![*def]), ..said.answer.clone() };
            let one = Said::new(program, said.index, answer);
            symbols.iter().any(|symbol| one.is(truth, *symbol))
        };
        counts.only_right += usize::from(found.len() == 1 || found.iter().all(is_right));
        if level == 1 { "likely" } else { "right" }
    } else if symbols.iter().all(|symbol| truth.is_mute(*symbol)) {
        answers.unknown += 1;
        "unknown"
    } else {
        answers.contradicted += 1;
        "wrong"
    };
    if let Some(cases) = cases {
        let said = Some((said.index, said.answer.clone()));
        cases.add(Case { kind, class: CLASSES[class], file, start, said, symbols });
    }
}

/// Operators are uses of methods for rust-analyzer, but no name is written there.
pub(crate) fn is_name(source: &[u8], span: Span) -> bool {
    let first = span.of(source).first();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'#' | 0x80..))
}

/// The new name in `old as new`: for the truth another use of the old one, but nobody would look for it
/// there.
fn is_alias(truth: &Truth, file: u32, start: u32) -> bool {
    let known = &truth.files[&file];
    let before = known.source[..start as usize].trim_ascii_end();
    let Some(before) = before.strip_suffix(b"as").filter(|_| before.len() < start as usize) else {
        return false;
    };
    let old = known.places.range(..before.trim_ascii_end().len() as u32).next_back();
    old.is_some_and(|(_, old)| {
        old.span.end as usize == before.trim_ascii_end().len()
            && old.uses.iter().any(|symbol| known.places[&start].uses.contains(symbol))
    })
}

/// The symbols used at a place that are defined elsewhere in the repository, and the class of the first.
pub(crate) fn wanted(truth: &Truth, file: u32, start: u32) -> Option<(usize, Vec<SymbolId>)> {
    let place = truth.place(file, start)?;
    if !is_name(&truth.files[&file].source, place.span) || is_alias(truth, file, start) {
        return None;
    }
    let is_elsewhere = |symbol: &SymbolId| {
        let definitions = truth.definitions(*symbol);
        !definitions.is_empty()
            && !definitions.contains(&(file, start))
            && class_of(truth.class(*symbol)).is_some()
    };
    let symbols: Vec<_> = place.uses.iter().copied().filter(is_elsewhere).collect();
    let class = symbols.iter().filter_map(|symbol| class_of(truth.class(*symbol))).min()?;
    Some((class, symbols))
}

fn recall(
    truth: &Truth,
    file: u32,
    said: &HashMap<u32, Vec<Said>>,
    counts: &mut Counts,
    mut cases: Option<&mut Cases>,
) {
    for start in truth.files[&file].places.keys().copied() {
        let Some((class, symbols)) = wanted(truth, file, start) else { continue };
        let here = said.get(&start).map_or(&[][..], Vec::as_slice);
        let is_right = |one: &&Said| one.counts() && symbols.iter().any(|symbol| one.is(truth, *symbol));
        let best = here.iter().filter(is_right).map(|one| one.answer.label).min();
        let uses = &mut counts.uses[class];
        uses.all += 1;
        uses.no_fact += usize::from(here.is_empty());
        match best {
            Some(Label::Resolved) => uses.resolved += 1,
            Some(_) => uses.likely += 1,
            None => {
                let made = |symbol: &SymbolId| {
                    let definitions = truth.definitions(*symbol);
                    definitions.iter().all(|at| counts.unseen_made.contains(at)) && !definitions.is_empty()
                };
                if symbols.iter().all(made) {
                    counts.uses_of_made[class] += 1;
                }
                if let Some(cases) = cases.as_deref_mut() {
                    let said = here.first().map(|one| (one.index, one.answer.clone()));
                    cases.add(Case { kind: "missed", class: CLASSES[class], file, start, said, symbols });
                }
            }
        }
    }
}
