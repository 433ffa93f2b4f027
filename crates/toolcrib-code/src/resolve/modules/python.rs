//! Python: packages, relative imports, `__init__` and `__all__`.

use std::collections::HashMap;

use super::super::program::{Def, Meaning, Offered, Program};
use super::super::query::{Entity, Found, Place, Query, Site};
use super::super::scopes::Target;
use super::{Leads, Modules, leads as leads_of};
use crate::facts::{DefId, FileFacts, Flags, ImportKind, ScopeId};
use crate::resolve::known;

pub(super) struct Python;

/// What a module file is called.
const ENDINGS: [&str; 2] = [".py", ".pyi"];
/// What the file of a package is called.
const INITS: [&str; 2] = ["__init__.py", "__init__.pyi"];
/// Folders of a project in which its packages may lie.
const SOURCES: [&str; 4] = ["", "src", "lib", "python"];
/// Names that every module has.
const OF_MODULES: [&str; 9] = [
    "__name__",
    "__file__",
    "__doc__",
    "__dict__",
    "__path__",
    "__package__",
    "__spec__",
    "__loader__",
    "__builtins__",
];

impl Modules for Python {
    fn ambient(&self, _q: &Query<'_>, _site: Site, name: &str) -> Found {
        match known::is_everywhere("python", name) || OF_MODULES.contains(&name) {
            true => Found::one(Entity::External("builtins".into())),
            false => Found::default(),
        }
    }

    fn leads(&self, q: &Query<'_>, file: u32, import: usize) -> Leads {
        leads(q, file, import)
    }

    fn itself(&self, q: &Query<'_>, file: u32, import: usize) -> Option<Leads> {
        let facts = q.facts(file)?;
        let import = facts.imports.get(import)?;
        let source = facts.text(import.source);
        // `import a.b` gives `a`.
        let first = source.split('.').next().filter(|first| !first.is_empty() && *first != source)?;
        (import.kind == ImportKind::Module && import.alias.is_none()).then(|| absolute(q, file, &[first]))
    }

    fn lookup(&self, q: &Query<'_>, place: &Place, name: &str, inside: bool) -> Found {
        lookup(q, place, name, inside)
    }

    fn glob(&self, q: &Query<'_>, place: &Place, name: &str, _file: u32, _import: usize) -> Found {
        let listed = match place {
            Place::File(file) => q.facts(*file).map_or(&[][..], |facts| &facts.exports),
            _ => &[],
        };
        let shown = match (place, listed.is_empty()) {
            (Place::File(file), false) => q
                .facts(*file)
                .is_some_and(|facts| listed.iter().any(|export| facts.text(export.name) == name)),
            _ => !name.starts_with('_'),
        };
        if shown { q.lookup(place, name, true) } else { Found::default() }
    }

    fn offers(&self, q: &Query<'_>, file: u32) -> Vec<Offered> {
        offers(q, file)
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn is_package(program: &Program, folder: &str) -> bool {
    INITS.iter().any(|init| program.file_at(&join(folder, init)).is_some())
}

/// The folder around, while there is one.
fn above(folder: &str) -> Option<&str> {
    (!folder.is_empty()).then(|| split(folder).0)
}

/// The folder of the top-most package that a folder is in, or itself.
fn root_of<'f>(program: &Program, folder: &'f str) -> &'f str {
    let mut at = folder;
    while is_package(program, at) {
        match above(at) {
            Some(up) => at = up,
            None => break,
        }
    }
    at
}

/// Where top-level modules and packages lie: their name, and the folders they are in.
#[derive(Default)]
pub(in crate::resolve) struct Tops(HashMap<String, Vec<String>>);

impl Tops {
    pub(in crate::resolve) fn of(program: &Program) -> Self {
        let mut tops: HashMap<String, Vec<String>> = HashMap::new();
        let mut add = |name: &str, root: &str| {
            let roots = tops.entry(name.to_owned()).or_default();
            if !roots.iter().any(|other| other == root) {
                roots.push(root.to_owned());
            }
        };
        for file in program.snapshot().files().iter().filter(|file| file.language.name == "python") {
            let (folder, name) = split(&file.path);
            let stem = name.split('.').next().unwrap_or(name);
            if stem == "__init__" {
                let (up, package) = split(folder);
                if !package.is_empty() && !is_package(program, up) {
                    add(package, up);
                }
            } else if !is_package(program, folder) {
                add(stem, folder);
            }
        }
        Self(tops)
    }

    fn roots(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The module at a path below a folder: its file, its package, or a folder without one.
fn module_in(program: &Program, folder: &str, names: &[&str]) -> Vec<Place> {
    let path = names.iter().fold(folder.to_owned(), |folder, name| join(&folder, name));
    let at = |path: String| program.file_at(&path).map(Place::File);
    let mut found: Vec<Place> = INITS.iter().filter_map(|init| at(join(&path, init))).collect();
    if found.is_empty() && !names.is_empty() {
        found.extend(ENDINGS.iter().filter_map(|ending| at(format!("{path}{ending}"))));
    }
    let below = || program.files_below(&path).and_then(|file| program.file(file));
    if found.is_empty() && !path.is_empty() && below().is_some_and(|file| file.language.name == "python") {
        found.push(Place::Folder(path.as_str().into()));
    }
    found
}

fn leads(q: &Query<'_>, file: u32, import: usize) -> Leads {
    let Some(facts) = q.facts(file) else { return Leads::Nowhere("the file cannot be read") };
    let Some(entry) = facts.imports.get(import) else { return Leads::Nowhere("there is no such import") };
    let source = facts.text(entry.source);
    let names = source.trim_start_matches('.');
    let dots = source.len() - names.len();
    let names: Vec<&str> = names.split('.').filter(|name| !name.is_empty()).collect();
    if dots == 0 {
        return absolute(q, file, &names);
    }
    let Some(entry) = q.program.file(file) else { return Leads::Nowhere("the file cannot be read") };
    let mut folder = split(&entry.path).0;
    for _ in 1..dots {
        match above(folder) {
            Some(up) => folder = up,
            None => return Leads::Nowhere("it leads out of the workspace"),
        }
    }
    let found = module_in(q.program, folder, &names);
    if !found.is_empty() {
        return Leads::Places(found);
    }
    match names.is_empty() {
        true => Leads::Places(vec![Place::Folder(folder.into())]),
        false => Leads::Nowhere("no module of that path is in the package"),
    }
}

/// A module by its whole name.
fn absolute(q: &Query<'_>, file: u32, names: &[&str]) -> Leads {
    let Some(first) = names.first() else { return Leads::Nowhere("the module has no name") };
    let Some(entry) = q.program.file(file) else { return Leads::Nowhere("the file cannot be read") };
    let folder = split(&entry.path).0;
    let root = root_of(q.program, folder);
    let is_library = known::python::is_standard(first);
    // A library's module of that name is meant unless the package beside is one of this very project.
    if !is_library || root != folder {
        let found = module_in(q.program, root, names);
        if !found.is_empty() {
            return Leads::Places(found);
        }
    }
    if is_library {
        return Leads::Package((*first).into());
    }
    // Up from the file, each folder as the root of a project.
    let mut at = Some(root);
    let mut half = None;
    while let Some(base) = at {
        for source in SOURCES {
            let base = if source.is_empty() { base.to_owned() } else { join(base, source) };
            let found = module_in(q.program, &base, names);
            match found.first() {
                Some(Place::Folder(_)) => half = half.or(Some(found)),
                Some(_) => return Leads::Places(found),
                None => {}
            }
        }
        at = above(base);
    }
    elsewhere(q, &entry.path, names).or(half.map(Leads::Places)).unwrap_or_else(|| {
        // The package is here, but not that module of it: then it is not one from outside.
        match module_in(q.program, root, &[first]).is_empty() {
            true => Leads::Package((*first).into()),
            false => Leads::Nowhere("no module of that path is in the package"),
        }
    })
}

/// A module in any folder in which its top-most package lies: the nearest, if one is.
fn elsewhere(q: &Query<'_>, from: &str, names: &[&str]) -> Option<Leads> {
    let (first, rest) = names.split_first()?;
    let tops = q.program.tops();
    let mut roots: Vec<&str> = tops.roots(first).iter().map(String::as_str).collect();
    if let Some(second) = rest.first() {
        // A package without a file of its own.
        let around = tops.roots(second).iter().filter(|root| split(root).1 == *first);
        roots.extend(around.map(|root| split(root).0));
    }
    let shared = |root: &str| {
        let same = root.split('/').zip(from.split('/')).take_while(|(one, other)| one == other);
        same.count()
    };
    let mut found: Vec<(usize, Vec<Place>)> = Vec::new();
    for root in roots {
        let places = module_in(q.program, root, names);
        if !places.is_empty() {
            found.push((shared(root), places));
        }
    }
    let best = found.iter().map(|(shared, _)| *shared).max()?;
    let mut nearest = found.into_iter().filter(|(shared, _)| *shared == best).map(|(_, places)| places);
    match (nearest.next(), nearest.next()) {
        (Some(places), None) => Some(Leads::Places(places)),
        _ => Some(Leads::Nowhere("several folders have a module of that name")),
    }
}

/// The folder whose modules are members of a place.
fn folder_of(q: &Query<'_>, place: &Place) -> Option<String> {
    match place {
        Place::Folder(folder) => Some(folder.to_string()),
        Place::File(file) => {
            let (folder, name) = split(&q.program.file(*file)?.path);
            INITS.contains(&name).then(|| folder.to_owned())
        }
        Place::Inline(_) => None,
    }
}

fn lookup(q: &Query<'_>, place: &Place, name: &str, _inside: bool) -> Found {
    let own = in_file(q, place, name);
    if !own.is_empty() {
        return own;
    }
    if let Some(folder) = folder_of(q, place) {
        let modules = module_in(q.program, &folder, &[name]);
        if !modules.is_empty() {
            return Found { entities: modules.into_iter().map(Entity::Module).collect(), via: Vec::new() };
        }
    }
    match OF_MODULES.contains(&name) {
        true => Found::one(Entity::External("builtins".into())),
        false => Found::default(),
    }
}

fn in_file(q: &Query<'_>, place: &Place, name: &str) -> Found {
    let Some((file, scope)) = q.scope_of(place) else { return Found::default() };
    let Some(scopes) = q.scopes(file) else { return Found::default() };
    let mut outside = Found::default();
    for target in scopes.find(name).into_iter().flat_map(|sym| scopes.offered(sym, scope)) {
        if is_own_submodule(q, place, file, target, name) {
            continue;
        }
        let found = q.target(file, target);
        match found.first() {
            None => {}
            // Of alternatives, as in `try` and `except`, the one that is in the workspace.
            Some(Entity::External(_)) if outside.is_empty() => outside = found,
            Some(Entity::External(_)) => {}
            Some(_) => return found,
        }
    }
    if !outside.is_empty() {
        return outside;
    }
    let globs: Vec<usize> = scopes.globs(scope).collect();
    for glob in globs.into_iter().rev() {
        let found = q.through_glob(file, glob, name);
        if !found.is_empty() {
            return found;
        }
    }
    Found::default()
}

/// `from . import name` in the package's own file: nothing but the module of that name.
fn is_own_submodule(q: &Query<'_>, place: &Place, file: u32, target: Target, name: &str) -> bool {
    let Target::Import(import, Some(which)) = target else { return false };
    let Some(facts) = q.facts(file) else { return false };
    let written = facts.imports.get(import).and_then(|import| import.names.get(which));
    written.is_some_and(|written| facts.text(written.name) == name)
        && matches!(leads_of(q, file, import), Leads::Places(places) if places.contains(place))
}

fn offers(q: &Query<'_>, file: u32) -> Vec<Offered> {
    let Some(facts) = q.facts(file) else { return Vec::new() };
    let mut offered: Vec<Offered> = Vec::new();
    let mut add = |offer: Offered| {
        if !offered.iter().any(|other| other.name == offer.name) {
            offered.push(offer);
        }
    };
    for export in &facts.exports {
        let name = facts.text(export.name);
        let found = q.lookup(&Place::File(file), name, true);
        let here = found.entities.iter().find_map(|entity| match entity {
            Entity::Def(def) if def.file == file => q.definition(*def).map(|found| found.name_start),
            _ => None,
        });
        add(Offered {
            name: name.to_owned(),
            meaning: q.answer_of(found, "export").meaning,
            start: here.unwrap_or(export.start),
            from: import_of(facts, name),
            default: false,
        });
    }
    if facts.exports.is_empty() {
        for (index, definition) in facts.definitions.iter().enumerate() {
            if definition.parent.is_none() && definition.flags.has(Flags::EXPORTED) {
                add(Offered {
                    name: facts.text(definition.name).to_owned(),
                    meaning: Meaning::Definitions(vec![Def { file, id: DefId::new(index) }]),
                    start: definition.name_start,
                    from: None,
                    default: false,
                });
            }
        }
        let is_package = q.program.file(file).is_some_and(|entry| INITS.contains(&split(&entry.path).1));
        for (index, import) in facts.imports.iter().enumerate() {
            for (which, name) in import.names.iter().enumerate() {
                // `from x import y as y` hands on; in a package's own file every import of its modules does.
                let handed = name.alias == name.name
                    || (is_package && name.alias.is_none() && facts.text(import.source).starts_with('.'));
                if !handed || import.scope != ScopeId::new(0) {
                    continue;
                }
                let meaning = match facts.text(name.name) {
                    "*" => Meaning::Unknown,
                    _ => q.answer_of(super::imported(q, file, index, Some(which)), "import").meaning,
                };
                add(Offered {
                    name: facts.text(name.name).to_owned(),
                    meaning,
                    start: name.start,
                    from: Some(facts.text(import.source).to_owned()),
                    default: false,
                });
            }
        }
    }
    offered.sort_by_key(|offer| offer.start);
    offered
}

/// The module that a name of a file is imported from.
fn import_of(facts: &FileFacts, name: &str) -> Option<String> {
    let from = facts.imports.iter().find(|import| {
        import
            .names
            .iter()
            .any(|other| facts.text(if other.alias.is_some() { other.alias } else { other.name }) == name)
    });
    from.map(|import| facts.text(import.source).to_owned())
}
