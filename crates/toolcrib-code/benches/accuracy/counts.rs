//! What is counted, and how it is shown.

use serde_json::{Value, json};
use toolcrib_code::facts::Kind;
use toolcrib_code::scip::Class;

pub(crate) const CLASSES: [&str; 5] = ["function", "type", "method", "field", "constant"];

/// The class of a definition of ours; none for what no name is resolved to.
pub(crate) fn class_of_kind(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Function => Some(0),
        Kind::Method | Kind::Constructor => Some(2),
        Kind::Field | Kind::Property => Some(3),
        Kind::Module | Kind::Impl => None,
        kind if kind.is_type() => Some(1),
        _ => Some(4),
    }
}

/// The same of a symbol of the truth.
pub(crate) fn class_of(class: Class) -> Option<usize> {
    match class {
        Class::Function => Some(0),
        Class::Type => Some(1),
        Class::Method => Some(2),
        Class::Field => Some(3),
        Class::Constant => Some(4),
        Class::Module | Class::Local => None,
    }
}

/// Answers of one class at one level of certainty.
#[derive(Clone, Copy, Default)]
pub(crate) struct Answers {
    pub confirmed: usize,
    pub contradicted: usize,
    pub unknown: usize,
}

/// True references of one class.
#[derive(Clone, Copy, Default)]
pub(crate) struct Uses {
    pub all: usize,
    pub resolved: usize,
    pub likely: usize,
    /// Nothing at that place in our facts.
    pub no_fact: usize,
}

/// Of what there is, how much we have.
#[derive(Clone, Copy, Default)]
pub(crate) struct Share {
    pub all: usize,
    pub right: usize,
    /// Said otherwise. The rest: nothing said.
    pub wrong: usize,
}

#[derive(Clone, Default)]
pub(crate) struct Counts {
    pub documents: usize,
    pub lines: usize,
    pub answer_ms: usize,
    /// By class; resolved ones, likely ones.
    pub answers: [[Answers; 2]; 5],
    /// Definitions in all answers, for the mean.
    pub named: usize,
    /// Right answers that name nothing else.
    pub only_right: usize,
    pub uses: [Uses; 5],
    pub definitions: [Share; 3],
    /// Definitions that a macro makes: not to be found without running it.
    pub macro_made: usize,
    /// Where those are defined that our facts do not have.
    pub unseen_made: std::collections::HashSet<(u32, u32)>,
    /// Uses of those, by class: they are in `uses` as well.
    pub uses_of_made: [usize; 5],
    pub import_names: Share,
    pub import_modules: Share,
    /// Imports of something outside that we lead inside.
    pub strayed: usize,
    pub outside: usize,
    /// Documents that the truth holds for by itself, and the references that it answers there.
    pub overlaid: usize,
    pub overlay: Share,
    pub word_pairs: usize,
    pub word_right: usize,
    pub word_found: usize,
    pub word_uses: usize,
}

fn ratio(part: usize, all: usize) -> Value {
    if all == 0 { Value::Null } else { json!((part as f64 / all as f64 * 1e4).round() / 1e4) }
}

fn shown(part: usize, all: usize) -> String {
    if all == 0 { "-".into() } else { format!("{:.3}", part as f64 / all as f64) }
}

impl Answers {
    fn plus(self, other: Self) -> Self {
        Self {
            confirmed: self.confirmed + other.confirmed,
            contradicted: self.contradicted + other.contradicted,
            unknown: self.unknown + other.unknown,
        }
    }

    fn text(self) -> String {
        let precision = shown(self.confirmed, self.confirmed + self.contradicted);
        let counts = format!("{} : {} : {}", self.confirmed, self.contradicted, self.unknown);
        format!("{precision:>6} {counts:>21}")
    }

    fn json(self) -> Value {
        json!({
            "precision": ratio(self.confirmed, self.confirmed + self.contradicted),
            "confirmed": self.confirmed, "contradicted": self.contradicted, "unknown": self.unknown,
        })
    }
}

impl Uses {
    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            resolved: self.resolved + other.resolved,
            likely: self.likely + other.likely,
            no_fact: self.no_fact + other.no_fact,
        }
    }

    fn json(self) -> Value {
        json!({
            "recall_resolved": ratio(self.resolved, self.all),
            "recall": ratio(self.resolved + self.likely, self.all),
            "references": self.all, "resolved": self.resolved, "likely": self.likely, "no_fact": self.no_fact,
        })
    }
}

impl Share {
    fn plus(self, other: Self) -> Self {
        Self { all: self.all + other.all, right: self.right + other.right, wrong: self.wrong + other.wrong }
    }

    fn json(self) -> Value {
        let share = ratio(self.right, self.all);
        json!({ "share": share, "all": self.all, "right": self.right, "wrong": self.wrong })
    }

    fn text(self) -> String {
        format!("{} ({} of {}, {} wrong)", shown(self.right, self.all), self.right, self.all, self.wrong)
    }
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        for class in 0..5 {
            for level in 0..2 {
                self.answers[class][level] = self.answers[class][level].plus(other.answers[class][level]);
            }
            self.uses[class] = self.uses[class].plus(other.uses[class]);
            self.uses_of_made[class] += other.uses_of_made[class];
        }
        for class in 0..3 {
            self.definitions[class] = self.definitions[class].plus(other.definitions[class]);
        }
        self.import_names = self.import_names.plus(other.import_names);
        self.import_modules = self.import_modules.plus(other.import_modules);
        self.overlay = self.overlay.plus(other.overlay);
        for (sum, part) in [
            (&mut self.documents, other.documents),
            (&mut self.lines, other.lines),
            (&mut self.answer_ms, other.answer_ms),
            (&mut self.named, other.named),
            (&mut self.only_right, other.only_right),
            (&mut self.macro_made, other.macro_made),
            (&mut self.strayed, other.strayed),
            (&mut self.outside, other.outside),
            (&mut self.overlaid, other.overlaid),
            (&mut self.word_pairs, other.word_pairs),
            (&mut self.word_right, other.word_right),
            (&mut self.word_found, other.word_found),
            (&mut self.word_uses, other.word_uses),
        ] {
            *sum += part;
        }
    }

    /// Rows: each class, and functions, types and methods together.
    fn rows(&self) -> Vec<(&'static str, Answers, Answers, Uses)> {
        let row = |class: usize| {
            let [resolved, likely] = self.answers[class];
            (CLASSES[class], resolved, resolved.plus(likely), self.uses[class])
        };
        let mut rows: Vec<_> = (0..3).map(row).collect();
        let sum = rows.iter().fold((Answers::default(), Answers::default(), Uses::default()), |sum, row| {
            (sum.0.plus(row.1), sum.1.plus(row.2), sum.2.plus(row.3))
        });
        rows.push(("these three", sum.0, sum.1, sum.2));
        rows.extend((3..5).map(row));
        rows
    }

    pub(crate) fn print(&self) {
        println!(
            "  {:12} {:>28}  {:>28}  {:>8} {:>8} {:>7} {:>7}",
            "",
            "P resolved  right:wrong:?",
            "P with likely  right:wrong:?",
            "R res.",
            "R likely",
            "true",
            "no fact"
        );
        for (name, resolved, both, uses) in self.rows() {
            println!(
                "  {name:12} {}  {}  {:>8} {:>8} {:>7} {:>7}",
                resolved.text(),
                both.text(),
                shown(uses.resolved, uses.all),
                shown(uses.resolved + uses.likely, uses.all),
                uses.all,
                uses.no_fact
            );
        }
        let [functions, types, methods] = self.definitions;
        let all = functions.plus(types).plus(methods);
        println!(
            "  definitions  functions {}, types {}, methods {}, all {}; made by macros: {}",
            shown(functions.right, functions.all),
            shown(types.right, types.all),
            shown(methods.right, methods.all),
            all.text(),
            self.macro_made
        );
        let without = |class: usize| {
            let uses = self.uses[class];
            shown(uses.resolved + uses.likely, uses.all - self.uses_of_made[class])
        };
        println!(
            "  macros       {} uses of what only macros write out; recall without them: functions {}, types {}, methods {}",
            self.uses_of_made.iter().sum::<usize>(),
            without(0),
            without(1),
            without(2)
        );
        println!(
            "  imports      names {}, modules {}; of {} from outside {} led inside",
            self.import_names.text(),
            self.import_modules.text(),
            self.outside,
            self.strayed
        );
        println!(
            "  overlay      {} of {} documents; references {}",
            self.overlaid,
            self.documents,
            self.overlay.text()
        );
        println!(
            "  word match   P {} R {}",
            shown(self.word_right, self.word_pairs),
            shown(self.word_found, self.word_uses)
        );
        println!(
            "  our answers  {:.2} definitions each; of the right ones {} name nothing else",
            self.named as f64 / self.answered().max(1) as f64,
            shown(self.only_right, self.right())
        );
    }

    fn right(&self) -> usize {
        self.answers.iter().flatten().map(|one| one.confirmed).sum()
    }

    fn answered(&self) -> usize {
        let count = |one: &Answers| one.confirmed + one.contradicted + one.unknown;
        self.answers.iter().flatten().map(count).sum()
    }

    pub(crate) fn json(&self) -> Value {
        let classes: serde_json::Map<String, Value> = self
            .rows()
            .into_iter()
            .map(|(name, resolved, both, uses)| {
                let row = json!({
                    "resolved": resolved.json(), "resolved_and_likely": both.json(), "recall": uses.json(),
                });
                (name.replace(' ', "_"), row)
            })
            .collect();
        let [functions, types, methods] = self.definitions;
        json!({
            "documents": self.documents,
            "lines": self.lines,
            "answer_ms": self.answer_ms,
            "classes": classes,
            "definitions_per_answer": ratio(self.named, self.answered()),
            "right_and_nothing_else": ratio(self.only_right, self.right()),
            "definitions": {
                "function": functions.json(), "type": types.json(), "method": methods.json(),
                "all": functions.plus(types).plus(methods).json(), "macro_made": self.macro_made,
                "uses_of_macro_made": self.uses_of_made,
            },
            "imports": {
                "names": self.import_names.json(), "modules": self.import_modules.json(),
                "outside": self.outside, "outside_led_inside": self.strayed,
            },
            "overlay": { "documents": self.overlaid, "references": self.overlay.json() },
            "word_match": {
                "precision": ratio(self.word_right, self.word_pairs),
                "recall": ratio(self.word_found, self.word_uses),
            },
        })
    }
}
