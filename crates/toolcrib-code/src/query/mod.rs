//! Questions about one symbol: which one is meant, where it is used, what a name stands for, what is known of it.
//!
//! All of it is asked of a [`Program`] when it is wanted. What could not be found out is said, never guessed: a name
//! with several definitions is answered with all of them, and uses that could not be resolved are counted.

mod docs;
pub mod graph;
pub mod imports;
mod info;
pub mod map;
mod meaning;
mod members;
mod names;
mod references;
mod spots;
mod symbols;
mod target;
mod written;

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use toolcrib_workspace::{Error, ErrorKind, Result};

use crate::facts::{BindingKind, Definition, FileFacts, Flags, Kind, Span};
use crate::index::Control;
use crate::lang::Language;
use crate::resolve::{Def, Program};

use members::members;

pub use info::{Callee, Caller, InfoQuery, Member, SymbolInfo, Touch, symbol_info};
pub use meaning::{Resolution, Step, resolve};
pub use references::{Counts, Gaps, ReferenceHit, ReferenceQuery, References, references};
pub use symbols::{Candidates, Found, Missing, Subject, Wanted, candidates, pick, split_place};

/// A definition that may be the one that is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Its file.
    pub path: String,
    /// The line of its name.
    pub line: u32,
    /// Its head in one line.
    pub signature: String,
    /// What it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// Where something is defined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Its file.
    pub path: String,
    /// The line of its name.
    pub line: u32,
    /// The column of its name, in characters.
    pub column: u32,
    /// Its head in one line.
    pub signature: String,
}

fn stop_if_cancelled(control: &Control<'_>) -> Result<()> {
    match control.is_cancelled() {
        true => Err(Error::new(ErrorKind::Cancelled, "cancelled")),
        false => Ok(()),
    }
}

/// Languages whose files can use each other's definitions have the same family.
fn family(language: &Language) -> &'static str {
    match language.name {
        "typescript" | "tsx" | "javascript" => "javascript",
        "c" | "cpp" => "c",
        "java" | "kotlin" | "scala" => "jvm",
        other => other,
    }
}

fn family_of(program: &Program, file: u32) -> &'static str {
    program.file(file).map_or("", |file| family(file.language))
}

/// The type a definition belongs to where that is not around it.
fn owner(facts: &FileFacts, definition: &Definition) -> Option<String> {
    let text = facts.type_text(definition.owner);
    let name = text.trim_start_matches(['&', '*']).split('<').next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The names of what is around a definition, joined by `.`; empty at the top.
fn parent(program: &Program, def: Def) -> Option<String> {
    let facts = program.facts(def.file)?;
    let definition = facts.definition(def.id)?;
    let around = facts.parent_path(def.id);
    match owner(facts, definition) {
        Some(owner) if around.is_empty() => Some(owner),
        Some(owner) => Some(format!("{around}.{owner}")),
        None => (!around.is_empty()).then_some(around),
    }
}

/// The name of a definition with those around it.
fn full_name(program: &Program, def: Def) -> Option<String> {
    let facts = program.facts(def.file)?;
    let name = facts.text(facts.definition(def.id)?.name);
    Some(parent(program, def).map_or_else(|| name.to_owned(), |parent| format!("{parent}.{name}")))
}

fn candidate(program: &Program, def: Def) -> Option<Candidate> {
    let facts = program.facts(def.file)?;
    let definition = facts.definition(def.id)?;
    Some(Candidate {
        name: facts.text(definition.name).to_owned(),
        kind: definition.kind.as_str(),
        path: program.file(def.file)?.path.clone(),
        line: facts.lines.line(definition.name_start),
        signature: facts.text(definition.signature).to_owned(),
        parent: parent(program, def),
    })
}

/// All that is one thing with a definition: what the program says, and in C the two names of `typedef struct x {…} x`.
fn own(program: &Program, def: Def) -> BTreeSet<Def> {
    let mut all: BTreeSet<Def> = program.same(def).into_iter().collect();
    all.insert(def);
    if family_of(program, def.file) != "c" {
        return all;
    }
    for one in all.clone() {
        let Some(facts) = program.facts(one.file) else { continue };
        let Some(known) = facts.definition(one.id).filter(|known| known.kind.is_type()) else { continue };
        for (index, other) in facts.definitions.iter().enumerate() {
            let around = covers(known.span, other.span) || covers(other.span, known.span);
            if other.name == known.name && other.kind.is_type() && around {
                all.insert(Def { file: one.file, id: crate::facts::DefId::new(index) });
            }
        }
    }
    all
}

fn covers(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The one of several that are one thing that says most: not a mere declaration, not a test.
fn main_of(program: &Program, all: &BTreeSet<Def>) -> Option<Def> {
    let rank = |def: &Def| {
        let declared = program.definition(*def).is_none_or(|one| one.flags.has(Flags::DECLARATION));
        let named = program.definition(*def).is_some_and(|one| one.kind == Kind::Type);
        (declared, named, *def)
    };
    all.iter().copied().min_by_key(rank)
}

/// Whether a definition is part of a test.
fn is_test(program: &Program, def: Def) -> bool {
    if program.file(def.file).is_some_and(|file| file.is_test) {
        return true;
    }
    let Some(facts) = program.facts(def.file) else { return false };
    let mut at = def.id;
    while let Some(definition) = facts.definition(at) {
        if definition.flags.has(Flags::TEST) {
            return true;
        }
        at = definition.parent;
    }
    false
}

/// The word for what a local is.
fn local_kind(kind: BindingKind) -> &'static str {
    match kind {
        BindingKind::Parameter => "parameter",
        BindingKind::TypeParameter => "type parameter",
        _ => "local",
    }
}

/// Sources of files, each read once, to tell columns and lines.
struct Texts<'a> {
    program: &'a Program,
    read: HashMap<u32, Option<Vec<u8>>>,
}

impl<'a> Texts<'a> {
    fn new(program: &'a Program) -> Self {
        Self { program, read: HashMap::new() }
    }

    /// The source of a file; empty if it is no longer what the facts were read off.
    fn source(&mut self, file: u32) -> &[u8] {
        let program = self.program;
        let load = || program.file(file).and_then(|entry| program.snapshot().source(entry));
        self.read.entry(file).or_insert_with(load).as_deref().unwrap_or_default()
    }

    /// Line and column of an offset. Without the source the column is 1.
    fn position(&mut self, file: u32, offset: u32) -> (u32, u32) {
        let Some(facts) = self.program.facts(file).cloned() else { return (1, 1) };
        facts.lines.position(offset, self.source(file))
    }

    fn text(&mut self, file: u32, span: Span) -> String {
        String::from_utf8_lossy(span.of(self.source(file))).into_owned()
    }

    fn located(&mut self, def: Def) -> Option<Located> {
        let shown = candidate(self.program, def)?;
        let start = self.program.definition(def)?.name_start;
        let (line, column) = self.position(def.file, start);
        let Candidate { name, kind, path, signature, .. } = shown;
        Some(Located { name, kind, path, line, column, signature })
    }

    /// A local, with its line as the signature.
    fn local(&mut self, file: u32, binding: usize) -> Option<Located> {
        let facts = self.program.facts(file)?.clone();
        let binding = facts.bindings.get(binding)?;
        let (line, column) = self.position(file, binding.start);
        Some(Located {
            name: facts.text(binding.name).to_owned(),
            kind: local_kind(binding.kind),
            path: self.program.file(file)?.path.clone(),
            line,
            column,
            signature: self.line(file, line, column),
        })
    }

    /// The text of a line, trimmed, and cut around a column if it is long.
    fn line(&mut self, file: u32, line: u32, column: u32) -> String {
        const MOST: usize = 160;
        const BEFORE: usize = 60;
        let Some(facts) = self.program.facts(file).cloned() else { return String::new() };
        let source = self.source(file);
        let text = String::from_utf8_lossy(facts.lines.span(line, source).of(source)).into_owned();
        let indent = text.chars().take_while(|c| c.is_whitespace()).count();
        let trimmed = text.trim();
        if trimmed.chars().count() <= MOST {
            return trimmed.to_owned();
        }
        let start = (column as usize).saturating_sub(1 + indent).saturating_sub(BEFORE);
        let cut: String = trimmed.chars().skip(start).take(MOST).collect();
        let (before, after) = (if start > 0 { "…" } else { "" }, "…");
        let ends = start + MOST >= trimmed.chars().count();
        format!("{before}{cut}{}", if ends { "" } else { after })
    }
}
