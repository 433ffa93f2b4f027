//! The symbols that matter most, in as few words as there is room for.
//!
//! Files pass importance on to the files whose definitions they use ([`rank`]), starting from those in focus; a file's
//! share then goes to the definitions that are used. What is in focus comes first, then what it uses, then the rest;
//! tests and generated code last. Packing goes by that order and skips what does not fit.

mod pack;
mod rank;
mod uses;

use std::collections::HashSet;

use toolcrib_workspace::Result;

use crate::facts::{DefId, Definition, FileFacts, Flags, Kind};
use crate::index::Control;
use crate::project::language::is_generated_name;
use crate::resolve::{Def, Program};
use crate::search::{PathFilter, Wanted};

pub use pack::{MapFile, MapSymbol, Packed, Room, file_line, pack, symbol_line};
pub use uses::Uses;

/// What to show.
#[derive(Clone, Debug, Default)]
pub struct MapQuery {
    /// Only files at or below this path.
    pub path: Option<String>,
    /// Files, folders or symbols that matter now.
    pub focus: Vec<String>,
    /// Also tests.
    pub include_tests: bool,
}

/// How near to the focus something is; less is shown first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// What was asked about.
    Focus,
    /// What that uses.
    Used,
    /// Everything else.
    Other,
    /// Tests and what programs wrote.
    Last,
}

/// A symbol with its worth.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Which.
    pub def: Def,
    /// The type it is a member of.
    pub parent: Option<Def>,
    /// How near to the focus.
    pub tier: Tier,
    /// How important.
    pub rank: f64,
}

/// Symbols, the most important first, and what of the focus is not there.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// The symbols.
    pub symbols: Vec<Ranked>,
    /// Parts of the focus that are neither a file nor a symbol.
    pub unknown: Vec<String>,
}

/// Ranks the symbols of a program.
pub fn ranking(program: &Program, uses: &Uses, query: &MapQuery, control: &Control<'_>) -> Result<Ranking> {
    let filter = PathFilter::new(query.path.as_deref())?;
    let focus = Focus::of(program, &query.focus);
    let files = program.snapshot().files();
    let only_tests = files.iter().filter(|file| filter.keeps(&file.path)).all(|file| file.is_test);
    let with_tests = query.include_tests || only_tests;
    let last = |file: u32| program.file(file).is_some_and(|one| one.is_test || is_generated_name(&one.path));
    let start = |file: u32| match (focus.files.is_empty(), focus.files.contains(&file)) {
        (true, _) => {
            if last(file) {
                0.05
            } else {
                1.0
            }
        }
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    let ranks = rank::symbols(program, uses, &start, control)?;
    let used: HashSet<Def> =
        focus.files.iter().flat_map(|file| uses.targets(*file)).map(|(def, _)| def).collect();
    let mut symbols = Vec::new();
    for (file, entry) in (0_u32..).zip(files) {
        let in_focus = focus.files.contains(&file);
        if !filter.keeps(&entry.path) || (entry.is_test && !with_tests && !in_focus) {
            continue;
        }
        let Some(facts) = program.facts(file) else { continue };
        for (index, definition) in facts.definitions.iter().enumerate() {
            let def = Def { file, id: DefId::new(index) };
            let is_test = is_test(facts, def.id);
            let own = focus.whole.contains(&file) || focus.symbols.contains(&def);
            if !is_shown(facts, definition) || (is_test && !with_tests && !own) {
                continue;
            }
            let parent = parent(facts, definition).map(|id| Def { file, id });
            let tier = match () {
                () if own || parent.is_some_and(|parent| focus.symbols.contains(&parent)) => Tier::Focus,
                () if used.contains(&def) => Tier::Used,
                () if is_test || last(file) => Tier::Last,
                () => Tier::Other,
            };
            let rank = ranks.get(&def).copied().unwrap_or(0.0) * weight(facts, definition);
            symbols.push(Ranked { def, parent, tier, rank });
        }
    }
    symbols.sort_by(|a, b| {
        a.tier
            .cmp(&b.tier)
            .then_with(|| b.rank.total_cmp(&a.rank))
            .then_with(|| (a.def.id, a.def.file).cmp(&(b.def.id, b.def.file)))
    });
    Ok(Ranking { symbols, unknown: focus.unknown })
}

/// What was asked about.
#[derive(Default)]
struct Focus {
    /// Files named, and files of symbols named.
    files: HashSet<u32>,
    /// Files named.
    whole: HashSet<u32>,
    symbols: HashSet<Def>,
    unknown: Vec<String>,
}

impl Focus {
    fn of(program: &Program, wanted: &[String]) -> Self {
        let mut focus = Self::default();
        let files = program.snapshot().files();
        for one in wanted {
            // A symbol may have signs in it that make no glob, as `operator[]` has.
            let filter = PathFilter::new(Some(one)).ok();
            let keeps = |path: &str| filter.as_ref().is_some_and(|filter| filter.keeps(path));
            let named: Vec<u32> =
                (0_u32..).zip(files).filter(|(_, file)| keeps(&file.path)).map(|(at, _)| at).collect();
            if !named.is_empty() {
                focus.files.extend(&named);
                focus.whole.extend(&named);
                continue;
            }
            let symbols = symbols_named(program, one);
            if symbols.is_empty() {
                focus.unknown.push(one.clone());
            }
            focus.files.extend(symbols.iter().map(|def| def.file));
            focus.symbols.extend(symbols);
        }
        focus
    }
}

fn symbols_named(program: &Program, name: &str) -> Vec<Def> {
    let wanted = Wanted::of(name);
    let mut found = Vec::new();
    for entry in program.snapshot().files_with(wanted.name()) {
        let Some(file) = program.file_at(&entry.path) else { continue };
        let Some(facts) = program.facts(file) else { continue };
        for (index, definition) in facts.definitions.iter().enumerate() {
            let id = DefId::new(index);
            let same = facts.text(definition.name) == wanted.name() && definition.kind != Kind::Impl;
            if same && wanted.parents_fit(facts, id) {
                found.push(Def { file, id });
            }
        }
    }
    found
}

/// Whether a definition can be in a map: no local, no hidden field, no mere mention of what is elsewhere.
fn is_shown(facts: &FileFacts, definition: &Definition) -> bool {
    let unnamed = facts.text(definition.name).starts_with(|c: char| c.is_ascii_digit());
    if matches!(definition.kind, Kind::Impl | Kind::Module) || definition.signature.is_none() || unnamed {
        return false;
    }
    if definition.kind == Kind::Field && !definition.flags.has(Flags::EXPORTED) {
        return false;
    }
    let mut at = definition.parent;
    while let Some(around) = facts.definition(at) {
        if around.kind.is_callable() {
            return false;
        }
        at = around.parent;
    }
    true
}

/// The type that a definition is a member of: what is around it, or the type that an `impl` or a receiver names.
fn parent(facts: &FileFacts, definition: &Definition) -> Option<DefId> {
    let named = |name: crate::facts::Sym| {
        let mut all = facts.definitions.iter().enumerate();
        let found = all.find(|(_, one)| one.name == name && one.kind.is_type() && one.kind != Kind::Impl);
        found.map(|(index, _)| DefId::new(index))
    };
    if definition.owner.is_some() {
        let text = facts.type_text(definition.owner);
        let name = text.trim_start_matches(['&', '*']).split('<').next().unwrap_or_default();
        return facts.strings.find(name).and_then(named);
    }
    let around = facts.definition(definition.parent)?;
    match around.kind {
        Kind::Impl => named(around.name),
        kind if kind.is_type() => Some(definition.parent),
        _ => None,
    }
}

fn is_test(facts: &FileFacts, id: DefId) -> bool {
    let mut at = id;
    while let Some(definition) = facts.definition(at) {
        if definition.flags.has(Flags::TEST) {
            return true;
        }
        at = definition.parent;
    }
    false
}

/// What a name is worth before it is used.
fn weight(facts: &FileFacts, definition: &Definition) -> f64 {
    let name = facts.text(definition.name);
    let kind = match definition.kind {
        Kind::Class | Kind::Struct | Kind::Enum | Kind::Interface | Kind::Trait => 1.5,
        Kind::Function | Kind::Method | Kind::Macro | Kind::Type => 1.0,
        Kind::Constant | Kind::Constructor => 0.6,
        Kind::Variable | Kind::Property | Kind::Module => 0.4,
        Kind::Field | Kind::Variant | Kind::Impl => 0.15,
    };
    let seen = if definition.flags.has(Flags::EXPORTED) && !name.starts_with('_') { 1.0 } else { 0.3 };
    let short = if name.chars().count() < 2 { 0.1 } else { 1.0 };
    kind * seen * short
}
