//! What a file takes from others, and what it gives to them.

use std::collections::HashSet;

use serde::Serialize;
use toolcrib_workspace::{Error, ErrorKind, Result};

use crate::facts::{DefId, FileFacts, Flags, Import, ImportKind, Kind, Role};
use crate::index::Control;
use crate::resolve::{Def, FileScopes, Label, Meaning, Offered, Program, Source, Target};

/// Looks at other files that counting importers may cost; past it the counts are left out.
const MAX_LOOKS: usize = 20_000;

/// A name that an import brings in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedName {
    /// The name in the module.
    pub name: String,
    /// The name here, if another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The file it is, if it is a module itself, or the place it is defined, if that is not in the module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// Whether the file uses it; absent where that cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<bool>,
}

/// An import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportInfo {
    /// The module, as written.
    pub source: String,
    /// The names taken from it.
    pub names: Vec<ImportedName>,
    /// What kind of import it is.
    pub kind: &'static str,
    /// The name the module itself gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The file it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// The package outside that it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Why it is not known where it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<String>,
    /// Of a module under a name: whether the file uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<bool>,
    /// Its line.
    pub line: u32,
}

/// Something that others can import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportInfo {
    /// The name outside.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Its line here.
    pub line: u32,
    /// The module it is handed on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether it is the default export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// How many other files import it, if that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importers: Option<usize>,
}

/// Both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileImports {
    /// In the order of the file.
    pub imports: Vec<ImportInfo>,
    /// In the order of the file.
    pub exports: Vec<ExportInfo>,
}

/// What a file imports and exports.
pub fn imports_exports(program: &Program, file: u32, control: &Control<'_>) -> Result<FileImports> {
    let Some(scopes) = program.scopes(file).cloned() else { return Ok(FileImports::default()) };
    let facts = scopes.facts();
    let uses = Uses::of(program, file, &scopes);
    let mut imports: Vec<ImportInfo> = facts
        .imports
        .iter()
        .enumerate()
        .map(|(index, import)| import_info(program, file, index, import, facts, &uses))
        .collect();
    imports.sort_by_key(|import| import.line);
    let mut offered = offered(program, file, facts);
    offered.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
    offered.dedup_by(|a, b| a.name == b.name && a.start == b.start && a.from == b.from);
    let mut left = MAX_LOOKS;
    let mut exports = Vec::new();
    for one in &offered {
        if control.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
        }
        exports.push(ExportInfo {
            name: one.name.clone(),
            kind: kind_of(program, one),
            line: facts.lines.line(one.start),
            from: one.from.clone(),
            default: one.default.then_some(true),
            importers: importers(program, file, one, &mut left),
        });
    }
    Ok(FileImports { imports, exports })
}

/// The file that stands for a module, if what is meant is one of the workspace.
pub(super) fn first_file(program: &Program, meaning: &Meaning) -> Option<u32> {
    match meaning {
        Meaning::Module(files) => files.first().copied(),
        // A function beside a module of its name is what is meant: `use crate::detect` with `mod detect` and `fn detect`.
        Meaning::Definitions(defs) => {
            let files: Option<Vec<u32>> = defs.iter().map(|def| module_file(program, *def)).collect();
            files.and_then(|files| files.first().copied())
        }
        _ => None,
    }
}

/// The file of Rust's `mod x;`.
pub(super) fn module_file(program: &Program, def: Def) -> Option<u32> {
    let facts = program.facts(def.file)?;
    let declared = facts.definition(def.id)?;
    if declared.kind != Kind::Module || !declared.flags.has(Flags::DECLARATION) {
        return None;
    }
    let path = &program.file(def.file)?.path;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.strip_suffix(".rs")?;
    let join = |a: &str, b: &str| if a.is_empty() { b.to_owned() } else { format!("{a}/{b}") };
    let child = join(&facts.parent_path(def.id).replace('.', "/"), facts.text(declared.name));
    // A file holds its modules in a folder of its own name, the root of a crate beside it. Which files are roots the
    // manifest says; here what is there decides.
    let own = join(folder, stem);
    let places = match stem {
        "mod" | "lib" | "main" => [folder, own.as_str()],
        _ => [own.as_str(), folder],
    };
    places.iter().find_map(|place| {
        let base = join(place, &child);
        program.file_at(&format!("{base}.rs")).or_else(|| program.file_at(&format!("{base}/mod.rs")))
    })
}

fn import_info(
    program: &Program,
    file: u32,
    index: usize,
    import: &Import,
    facts: &FileFacts,
    uses: &Uses,
) -> ImportInfo {
    let path = |file: u32| program.file(file).map(|file| file.path.clone());
    let (mut resolved, mut package, mut unresolved) = (None, None, None);
    let mut home = None;
    match program.import(file, index) {
        Source::Files(files) => {
            home = files.first().copied();
            resolved = home.and_then(path);
        }
        Source::Package(name) => package = Some(name),
        Source::Unresolved(why) => unresolved = Some(why),
    }
    let mut modules = Vec::new();
    let mut names = Vec::new();
    for (which, name) in import.names.iter().enumerate() {
        let answer = program.imported(file, index, which);
        let module = first_file(program, &answer.meaning);
        modules.push(module);
        let elsewhere = match &answer.meaning {
            Meaning::Definitions(defs) if home.is_some() => {
                let def = defs.first().filter(|def| Some(def.file) != home);
                def.and_then(|def| place(program, *def))
            }
            _ => None,
        };
        names.push(ImportedName {
            name: facts.text(name.name).to_owned(),
            alias: name.alias.is_some().then(|| facts.text(name.alias).to_owned()),
            resolved: module.filter(|module| Some(*module) != home).and_then(path).or(elsewhere),
            used: uses.of_name(index, which, import, facts, &answer.meaning, program),
        });
    }
    // `use crate::store` and `from . import store` lead to the file of `store`, not to the module it is taken from.
    if let Some(Some(only)) = modules.first()
        && modules.iter().all(|module| module.as_ref() == Some(only))
    {
        resolved = path(*only);
        unresolved = None;
        names.iter_mut().for_each(|name| name.resolved = None);
    }
    ImportInfo {
        source: facts.text(import.source).to_owned(),
        names,
        kind: import.kind.as_str(),
        alias: import.alias.is_some().then(|| facts.text(import.alias).to_owned()),
        resolved,
        package,
        unresolved,
        used: uses.of_module(index, import),
        line: facts.lines.line(import.span.start),
    }
}

fn place(program: &Program, def: Def) -> Option<String> {
    let facts = program.facts(def.file)?;
    let line = facts.lines.line(facts.definition(def.id)?.name_start);
    Some(format!("{}:{line}", program.file(def.file)?.path))
}

/// Which imports a file makes use of.
struct Uses {
    used: HashSet<(usize, Option<usize>)>,
    rust: bool,
    /// Whether others take the file's imports from it without a word in it.
    hands_on: bool,
}

impl Uses {
    fn of(program: &Program, file: u32, scopes: &FileScopes) -> Self {
        let mut used = HashSet::new();
        for reference in scopes.facts().references.iter().filter(|reference| reference.role != Role::Import) {
            if let Some(Target::Import(import, which)) = scopes.resolve(reference) {
                used.insert((import, which));
            }
        }
        let entry = program.file(file);
        let rust = entry.is_some_and(|entry| entry.language.name == "rust");
        let hands_on = entry.is_some_and(|entry| entry.path.ends_with("__init__.py"));
        Self { used, rust, hands_on }
    }

    fn of_name(
        &self,
        import: usize,
        which: usize,
        of: &Import,
        facts: &FileFacts,
        meaning: &Meaning,
        program: &Program,
    ) -> Option<bool> {
        let asked = matches!(of.kind, ImportKind::Names | ImportKind::Type | ImportKind::Dynamic);
        if !asked || of.names.get(which).is_none_or(|name| facts.text(name.name) == "*") {
            return None;
        }
        if self.used.contains(&(import, Some(which))) {
            return Some(true);
        }
        // A trait is used by its methods, a macro by being there; what is not known may be either.
        let by_name_only = match meaning {
            Meaning::Definitions(defs) => defs
                .iter()
                .filter_map(|def| program.definition(*def))
                .all(|one| !matches!(one.kind, Kind::Trait | Kind::Macro)),
            _ => false,
        };
        (!self.hands_on && (!self.rust || by_name_only)).then_some(false)
    }

    fn of_module(&self, import: usize, of: &Import) -> Option<bool> {
        let named = of.kind == ImportKind::Module && of.names.is_empty();
        if !named || self.rust || self.hands_on {
            return None;
        }
        // Without a name of its own it is not certain under which it is used.
        let used = self.used.contains(&(import, None));
        (used || of.alias.is_some()).then_some(used)
    }
}

/// What a file offers; where modules of its language are not understood, what it marks as visible.
fn offered(program: &Program, file: u32, facts: &FileFacts) -> Vec<Offered> {
    let known = program.exports(file);
    if !known.is_empty() {
        return known;
    }
    let mut found = Vec::new();
    let written = facts.exports.iter().map(|export| {
        let name = facts.text(export.name);
        let top = |index: &usize| {
            facts.definitions.get(*index).is_some_and(|one| one.name == export.local && one.parent.is_none())
        };
        let def = (0..facts.definitions.len()).find(top).map(|index| Def { file, id: DefId::new(index) });
        let from = facts
            .imports
            .iter()
            .find(|import| import.kind == ImportKind::Reexport && import.span.contains(export.start));
        Offered {
            name: name.to_owned(),
            meaning: def.map_or(Meaning::Unknown, |def| Meaning::Definitions(vec![def])),
            start: def.and_then(|def| facts.definition(def.id)).map_or(export.start, |one| one.name_start),
            from: from.map(|import| facts.text(import.source).to_owned()),
            default: name == "default",
        }
    });
    found.extend(written);
    if found.is_empty() {
        found.extend(marked(file, facts));
    }
    found
}

/// Definitions at the top that are visible outside, and names handed on.
fn marked(file: u32, facts: &FileFacts) -> Vec<Offered> {
    let mut found = Vec::new();
    for (index, one) in facts.definitions.iter().enumerate() {
        let shown = one.flags.has(Flags::EXPORTED) && one.parent.is_none() && one.kind != Kind::Impl;
        if shown && !one.flags.has(Flags::TEST) {
            found.push(Offered {
                name: facts.text(one.name).to_owned(),
                meaning: Meaning::Definitions(vec![Def { file, id: DefId::new(index) }]),
                start: one.name_start,
                from: None,
                default: one.flags.has(Flags::DEFAULT_EXPORT),
            });
        }
    }
    for import in facts.imports.iter().filter(|import| import.kind == ImportKind::Reexport) {
        for name in &import.names {
            let outside = if name.alias.is_some() { name.alias } else { name.name };
            found.push(Offered {
                name: facts.text(outside).to_owned(),
                meaning: Meaning::Unknown,
                start: name.start,
                from: Some(facts.text(import.source).to_owned()),
                default: false,
            });
        }
    }
    found
}

fn kind_of(program: &Program, offered: &Offered) -> &'static str {
    match &offered.meaning {
        Meaning::Definitions(defs) => {
            let kinds = defs.iter().filter_map(|def| program.definition(*def)).map(|one| one.kind);
            kinds.min().map_or("unknown", Kind::as_str)
        }
        Meaning::Module(_) => "module",
        Meaning::Local(_) => "variable",
        _ if offered.name == "*" => "glob",
        Meaning::External(_) if offered.from.is_some() => "external",
        Meaning::External(_) | Meaning::Unknown => "unknown",
    }
}

/// How many files take it by its name: those that import it, and those that use it through the module.
fn importers(program: &Program, file: u32, offered: &Offered, left: &mut usize) -> Option<usize> {
    let Meaning::Definitions(defs) = &offered.meaning else { return None };
    let own: HashSet<Def> =
        defs.iter().flat_map(|def| program.same(*def)).chain(defs.iter().copied()).collect();
    let mut count = 0;
    // A default export goes by any name; those who import it have written `default` or a name for it.
    for entry in program.snapshot().files_with(&offered.name) {
        let Some(other) = program.file_at(&entry.path).filter(|other| *other != file) else { continue };
        *left = left.checked_sub(1)?;
        count += usize::from(takes(program, other, &offered.name, &own, left)?);
    }
    Some(count)
}

fn takes(program: &Program, file: u32, name: &str, own: &HashSet<Def>, left: &mut usize) -> Option<bool> {
    let Some(facts) = program.facts(file) else { return Some(false) };
    let is_own = |meaning: &Meaning| match meaning {
        Meaning::Definitions(defs) => defs.iter().any(|def| own.contains(def)),
        _ => false,
    };
    let Some(sym) = facts.strings.find(name) else { return Some(false) };
    for (index, import) in facts.imports.iter().enumerate() {
        for (which, _) in import.names.iter().enumerate().filter(|(_, one)| one.name == sym) {
            *left = left.checked_sub(1)?;
            if is_own(&program.imported(file, index, which).meaning) {
                return Some(true);
            }
        }
    }
    for (index, reference) in facts.references.iter().enumerate() {
        if reference.name == sym && reference.role != Role::Import {
            *left = left.checked_sub(1)?;
            let answer = program.answer(file, index);
            if answer.label != Label::NameMatch && is_own(&answer.meaning) {
                return Some(true);
            }
        }
    }
    Some(false)
}
