//! Java: packages, whose files may lie in several folders, and the types in them.

use std::sync::Arc;

use super::super::program::Def;
use super::super::query::{Entity, Found, Place, Query, Site, Space};
use super::super::scopes::Target;
use super::{Family, Leads, Modules, family};
use crate::facts::{Kind, Role, ScopeId};
use crate::resolve::known;

pub(super) struct Java;

impl Modules for Java {
    fn ambient(&self, q: &Query<'_>, site: Site, name: &str) -> Found {
        let found = in_package(q, site.file, name);
        if !found.is_empty() {
            return found;
        }
        if known::is_everywhere("java", name) {
            return Found::one(Entity::External("java.lang".into()));
        }
        first_of_path(q, site.file, name)
    }

    fn leads(&self, q: &Query<'_>, file: u32, import: usize) -> Leads {
        let Some(source) =
            q.facts(file).and_then(|facts| Some(facts.text(facts.imports.get(import)?.source)))
        else {
            return Leads::Nowhere("there is no such import");
        };
        leads(q, source)
    }

    fn lookup(&self, q: &Query<'_>, place: &Place, name: &str, _inside: bool) -> Found {
        match place {
            Place::Folder(folder) => in_folder(q, folder, name),
            Place::Inline(def) => members(q, *def, name),
            Place::File(file) => in_file(q, *file, name),
        }
    }

    /// What is in the package itself goes before what comes with everything of another.
    fn glob(&self, q: &Query<'_>, place: &Place, name: &str, file: u32, _import: usize) -> Found {
        match place {
            Place::Folder(_) if !in_package(q, file, name).is_empty() => Found::default(),
            // No more than types come with everything of a package.
            _ => q.lookup(place, name, false),
        }
    }

    fn space(&self, role: Role) -> Space {
        match role {
            Role::Call => Space::Call,
            _ => Space::of(role),
        }
    }

    fn is_meant(&self, _q: &Query<'_>, _file: u32, kind: Kind, space: Space) -> bool {
        match space {
            Space::Call => matches!(kind, Kind::Method),
            Space::Value => !kind.is_callable(),
            Space::Type => kind.is_type(),
            Space::Macro | Space::Any => true,
        }
    }
}

fn members(q: &Query<'_>, of: Def, name: &str) -> Found {
    Found { entities: q.member_of(of, name).into_iter().map(Entity::Def).collect(), via: Vec::new() }
}

/// A type at the top of a file.
fn in_file(q: &Query<'_>, file: u32, name: &str) -> Found {
    let Some(scopes) = q.scopes(file) else { return Found::default() };
    let Some(sym) = scopes.find(name) else { return Found::default() };
    let defined = scopes.offered(sym, ScopeId::new(0)).filter_map(|target| match target {
        Target::Definition(id) => Some(Entity::Def(Def { file, id })),
        _ => None,
    });
    Found { entities: defined.collect(), via: Vec::new() }
}

/// A type of a package, in one of its folders, or the package below.
fn in_folder(q: &Query<'_>, folder: &str, name: &str) -> Found {
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    if let Some(file) = q.program.file_at(&format!("{path}.java")) {
        let found = in_file(q, file, name);
        if !found.is_empty() {
            return found;
        }
    }
    for file in q.program.files_in(folder) {
        if family(q, file) == Family::Java && q.program.has_name(file, name) {
            let found = in_file(q, file, name);
            if !found.is_empty() {
                return found;
            }
        }
    }
    match q.program.files_below(&path).is_some_and(|file| family(q, file) == Family::Java) {
        true => Found::one(Entity::Module(Place::Folder(path.into()))),
        false => Found::default(),
    }
}

/// The folders of a package.
fn folders(q: &Query<'_>, package: &str) -> Vec<Arc<str>> {
    let mut folders = q.program.folders_ending(&package.replace('.', "/"));
    folders.retain(|folder| {
        let files = q.program.files_in(folder);
        let first = files.into_iter().find(|file| family(q, *file) == Family::Java);
        let clause = first.and_then(|file| q.facts(file)).map(|facts| facts.text(facts.package));
        clause == Some(package)
    });
    folders
}

fn folder_of<'q>(q: &Query<'q>, file: u32) -> &'q str {
    let path = q.program.file(file).map_or("", |file| file.path.as_str());
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A name of the package that a file is in.
fn in_package(q: &Query<'_>, file: u32, name: &str) -> Found {
    let own: Arc<str> = folder_of(q, file).into();
    let is_type = |found: Found| q.in_space(found, Space::Type);
    let found = is_type(q.lookup(&Place::Folder(Arc::clone(&own)), name, true));
    let package = q.facts(file).map_or("", |facts| facts.text(facts.package));
    if found.entities.iter().any(|entity| matches!(entity, Entity::Def(_))) || package.is_empty() {
        return only_types(found);
    }
    for folder in folders(q, package).into_iter().filter(|folder| *folder != own) {
        let found = only_types(q.lookup(&Place::Folder(folder), name, true));
        if !found.is_empty() {
            return found;
        }
    }
    Found::default()
}

fn only_types(mut found: Found) -> Found {
    found.entities.retain(|entity| matches!(entity, Entity::Def(_)));
    found
}

/// Where a dotted path leads: to a package, or to a type in one.
fn leads(q: &Query<'_>, path: &str) -> Leads {
    let own = folders(q, path);
    if !own.is_empty() {
        return Leads::Places(own.into_iter().map(Place::Folder).collect());
    }
    let mut package = path;
    let mut seen = false;
    while let Some((before, _)) = package.rsplit_once('.') {
        package = before;
        let places = folders(q, package);
        seen |= !places.is_empty();
        let names = path.get(package.len() + 1..).unwrap_or_default();
        for place in places {
            if let Some(found) = nested(q, &Place::Folder(place), names) {
                return Leads::Places(vec![Place::Inline(found)]);
            }
        }
    }
    match seen {
        true => Leads::Nowhere("no type of that name is in the package"),
        false => Leads::Package(path.into()),
    }
}

/// A type in a package, by the names of the types around it and its own.
fn nested(q: &Query<'_>, place: &Place, names: &str) -> Option<Def> {
    let mut names = names.split('.');
    let is_type = |def: &Def| q.definition(*def).is_some_and(|found| found.kind.is_type());
    let first = q.lookup(place, names.next()?, true);
    let mut at = first.entities.iter().find_map(|entity| match entity {
        Entity::Def(def) => Some(*def).filter(is_type),
        _ => None,
    })?;
    for name in names {
        at = q.member_of(at, name).into_iter().find(is_type)?;
    }
    Some(at)
}

/// The beginning of a path that is written out: `com` of `com.example.Type`.
fn first_of_path(q: &Query<'_>, file: u32, name: &str) -> Found {
    if !name.starts_with(char::is_lowercase) {
        return Found::default();
    }
    if matches!(name, "java" | "javax" | "jdk" | "sun") {
        return Found::one(Entity::External(name.into()));
    }
    let package = q.facts(file).map_or("", |facts| facts.text(facts.package)).replace('.', "/");
    let Some(root) = folder_of(q, file).strip_suffix(package.as_str()).filter(|_| !package.is_empty()) else {
        return Found::default();
    };
    let path = format!("{root}{name}");
    match q.program.files_below(&path).is_some_and(|file| family(q, file) == Family::Java) {
        true => Found::one(Entity::Module(Place::Folder(path.into()))),
        false => Found::default(),
    }
}
