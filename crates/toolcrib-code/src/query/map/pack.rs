//! As many symbols as fit.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::{Ranked, Tier};
use crate::resolve::{Def, Program};

/// Longer heads are cut.
const MOST: usize = 160;
/// What is in focus may take this share before what it uses has had its turn; that, up to the second.
const SHARES: [(Tier, f64); 2] = [(Tier::Focus, 0.6), (Tier::Used, 0.85)];
/// Attempts that fail in a row before the rest is given up: what is left is long, or there is no room.
const PATIENCE: usize = 200;

/// A symbol in a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MapSymbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Its line.
    pub line: u32,
    /// Its head.
    pub signature: String,
    /// The type it is a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// A file in a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MapFile {
    /// Its path.
    pub path: String,
    /// In the order of the file, members after their type.
    pub symbols: Vec<MapSymbol>,
}

/// What fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The most important first.
    pub files: Vec<MapFile>,
    /// Symbols that are left out.
    pub omitted: usize,
}

/// How a map costs: what `cost` says of each line; the whole is held to `limit`.
pub struct Room<'a> {
    /// Tokens.
    pub limit: usize,
    /// The cost of a line.
    pub cost: &'a dyn Fn(&str) -> usize,
}

/// The line of a file, and of a symbol, as they are shown.
pub fn file_line(path: &str) -> String {
    format!("{path}\n")
}

/// Members are set in under their type.
pub fn symbol_line(symbol: &MapSymbol) -> String {
    let indent = if symbol.parent.is_some() { "  " } else { "" };
    format!("{}\t{indent}{}\n", symbol.line, symbol.signature)
}

/// Packs symbols, the most important first, until there is no room.
pub fn pack(program: &Program, symbols: &[Ranked], room: &Room<'_>) -> Packed {
    let mut packing =
        Packing { program, room, taken: BTreeSet::new(), shown: HashMap::new(), files: Vec::new(), used: 0 };
    for (tier, share) in SHARES {
        let limit = (room.limit as f64 * share) as usize;
        packing.fill(symbols.iter().filter(|one| one.tier == tier), limit);
    }
    packing.fill(symbols.iter(), room.limit);
    packing.done(symbols.len())
}

struct Packing<'a> {
    program: &'a Program,
    room: &'a Room<'a>,
    taken: BTreeSet<Def>,
    shown: HashMap<Def, MapSymbol>,
    /// Files in the order in which they came.
    files: Vec<u32>,
    used: usize,
}

impl Packing<'_> {
    fn fill<'s>(&mut self, symbols: impl Iterator<Item = &'s Ranked>, limit: usize) {
        let mut failed = 0;
        for one in symbols {
            if self.taken.contains(&one.def) {
                continue;
            }
            if failed > PATIENCE || self.used >= limit {
                break;
            }
            failed = if self.take(one, limit) { 0 } else { failed + 1 };
        }
    }

    /// Takes a symbol with its type and its file, if there is room for all of it.
    fn take(&mut self, one: &Ranked, limit: usize) -> bool {
        let cost = self.room.cost;
        let mut new: Vec<(Def, MapSymbol)> = Vec::new();
        let mut price = 0;
        for def in one.parent.into_iter().chain([one.def]).filter(|def| !self.taken.contains(def)) {
            let is_member = def == one.def && one.parent.is_some();
            let Some(symbol) = self.symbol(def, one.parent.filter(|_| is_member)) else { return false };
            price += cost(&symbol_line(&symbol));
            new.push((def, symbol));
        }
        if !self.files.contains(&one.def.file) {
            price += self.program.file(one.def.file).map_or(0, |file| cost(&file_line(&file.path)));
        }
        if self.used + price > limit {
            return false;
        }
        self.used += price;
        if !self.files.contains(&one.def.file) {
            self.files.push(one.def.file);
        }
        for (def, symbol) in new {
            self.taken.insert(def);
            self.shown.insert(def, symbol);
        }
        true
    }

    fn symbol(&self, def: Def, parent: Option<Def>) -> Option<MapSymbol> {
        let facts = self.program.facts(def.file)?;
        let definition = facts.definition(def.id)?;
        let parent = parent.and_then(|parent| facts.definition(parent.id));
        Some(MapSymbol {
            name: facts.text(definition.name).to_owned(),
            kind: definition.kind.as_str(),
            line: facts.lines.line(definition.name_start),
            signature: cut(facts.text(definition.signature)),
            parent: parent.map(|parent| facts.text(parent.name).to_owned()),
        })
    }

    fn done(self, total: usize) -> Packed {
        let omitted = total.saturating_sub(self.taken.len());
        let mut by_file: BTreeMap<u32, Vec<Def>> = BTreeMap::new();
        for def in &self.taken {
            by_file.entry(def.file).or_default().push(*def);
        }
        let mut shown = self.shown;
        let mut files = Vec::new();
        for file in self.files {
            let Some(path) = self.program.file(file).map(|file| file.path.clone()) else { continue };
            let all: Vec<MapSymbol> =
                by_file.remove(&file).into_iter().flatten().filter_map(|def| shown.remove(&def)).collect();
            files.push(MapFile { path, symbols: grouped(all) });
        }
        Packed { files, omitted }
    }
}

/// By line, but members right after their type, wherever its `impl` is.
fn grouped(mut all: Vec<MapSymbol>) -> Vec<MapSymbol> {
    all.sort_by_key(|symbol| symbol.line);
    let (members, mut left): (Vec<MapSymbol>, Vec<MapSymbol>) =
        all.into_iter().partition(|symbol| symbol.parent.is_some());
    let mut waiting: Vec<Option<MapSymbol>> = members.into_iter().map(Some).collect();
    let mut ordered = Vec::new();
    for symbol in left.drain(..) {
        let name = symbol.name.clone();
        let is_type = !matches!(symbol.kind, "function" | "method" | "constant" | "variable" | "macro");
        ordered.push(symbol);
        if is_type {
            let own = waiting
                .iter_mut()
                .filter(|one| one.as_ref().is_some_and(|one| one.parent.as_ref() == Some(&name)));
            ordered.extend(own.filter_map(Option::take));
        }
    }
    ordered.extend(waiting.into_iter().flatten());
    ordered
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let short: String = text.chars().take(MOST).collect();
    format!("{short}…")
}
