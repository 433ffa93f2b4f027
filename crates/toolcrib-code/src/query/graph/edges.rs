//! What one file needs.

use std::collections::{BTreeMap, BTreeSet};

use super::super::imports::{first_file, module_file};
use crate::facts::{DefId, FileFacts};
use crate::resolve::{Def, Meaning, Program, Source};

/// The kind of the edge from a Rust file to the file of a module it declares.
pub(super) const MOD: &str = "mod";
/// Files of one module that an import leads to at most.
const MAX_FILES: usize = 50;

/// What a file needs.
#[derive(Debug, Default)]
pub(super) struct FileEdges {
    /// Files, with the strongest kind of import.
    pub to: BTreeMap<u32, &'static str>,
    /// Packages outside.
    pub packages: BTreeSet<String>,
    /// Imports that lead nowhere: line, source, why.
    pub unresolved: Vec<(u32, String, String)>,
}

/// How much an import binds one file to another.
pub(super) fn strength(kind: &str) -> u8 {
    match kind {
        "names" => 8,
        "module" => 7,
        "glob" => 6,
        "reexport" => 5,
        "include" => 4,
        "side-effect" => 3,
        "dynamic" => 2,
        "type" => 1,
        _ => 0,
    }
}

impl FileEdges {
    fn add(&mut self, to: u32, kind: &'static str) {
        let known = self.to.entry(to).or_insert(kind);
        if strength(kind) > strength(known) {
            *known = kind;
        }
    }
}

pub(super) fn edges_of(program: &Program, file: u32) -> FileEdges {
    let mut edges = FileEdges::default();
    let (Some(facts), Some(entry)) = (program.facts(file), program.file(file)) else { return edges };
    // Where a package is all files of a folder, none of them stands for it.
    let whole = matches!(entry.language.name, "go" | "java" | "kotlin" | "scala" | "csharp" | "swift");
    for (index, import) in facts.imports.iter().enumerate() {
        let kind = import.kind.as_str();
        let source = program.import(file, index);
        // What is itself a module is needed, not the module that it is taken from.
        let modules: Vec<Option<u32>> = (0..import.names.len())
            .map(|which| first_file(program, &program.imported(file, index, which).meaning))
            .collect();
        modules.iter().flatten().for_each(|to| edges.add(*to, kind));
        if !modules.is_empty() && modules.iter().all(Option::is_some) {
            continue;
        }
        match source {
            Source::Files(files) => {
                let most = if whole { MAX_FILES } else { 1 };
                let named = whole.then(|| definers(program, file, index, import.names.len())).flatten();
                let files = named.unwrap_or(files);
                files.iter().take(most).for_each(|to| edges.add(*to, kind));
            }
            Source::Package(name) => drop(edges.packages.insert(name)),
            Source::Unresolved(why) => {
                let line = facts.lines.line(import.span.start);
                edges.unresolved.push((line, facts.text(import.source).to_owned(), why));
            }
        }
    }
    if entry.language.name == "rust" {
        declared(program, file, facts).into_iter().for_each(|to| edges.add(to, MOD));
    }
    edges
}

/// The files in which the names of an import are defined, if all of them are known.
fn definers(program: &Program, file: u32, import: usize, names: usize) -> Option<Vec<u32>> {
    let mut files = BTreeSet::new();
    for which in 0..names {
        match program.imported(file, import, which).meaning {
            Meaning::Definitions(defs) => files.extend(defs.iter().map(|def| def.file)),
            _ => return None,
        }
    }
    (!files.is_empty()).then(|| files.into_iter().collect())
}

/// The files of `mod x;`.
fn declared(program: &Program, file: u32, facts: &FileFacts) -> Vec<u32> {
    let defs = (0..facts.definitions.len()).map(|index| Def { file, id: DefId::new(index) });
    defs.filter_map(|def| module_file(program, def)).collect()
}
