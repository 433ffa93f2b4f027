//! Modules and imports, each language by its own rules.

mod c;
mod go;
mod java;
pub(super) mod python;
mod rust;
mod script;

pub(super) use rust::Reached;

use std::sync::Arc;

pub(super) use script::Packages;

use super::program::{Def, Meaning, Offered};
use super::query::{Entity, Found, Place, Query, Question, Site, Space};
use crate::facts::{DefId, Flags, ImportKind, Kind, Role, ScopeId};

/// Where an import leads.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Leads {
    /// To modules of the workspace: one, or several that are alternatives of each other.
    Places(Vec<Place>),
    /// To a package outside.
    Package(Arc<str>),
    /// Nowhere that is known, and why.
    Nowhere(&'static str),
}

/// Languages that share their modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Rust,
    Python,
    Script,
    Go,
    Java,
    C,
    Other,
}

impl Family {
    pub(super) fn of(language: &str) -> Self {
        match language {
            "rust" => Family::Rust,
            "python" => Family::Python,
            "typescript" | "tsx" | "javascript" => Family::Script,
            "go" => Family::Go,
            "java" => Family::Java,
            "c" | "cpp" => Family::C,
            _ => Family::Other,
        }
    }
}

pub(super) fn family(q: &Query<'_>, file: u32) -> Family {
    Family::of(q.language(file))
}

/// How a language finds its modules and what is in them. What a language says nothing about has the usual meaning.
pub(super) trait Modules: Sync {
    /// Names with a meaning of their own, whatever is in scope: `crate`, `Self`.
    fn special(&self, _q: &Query<'_>, _site: Site, _name: &str) -> Option<Found> {
        None
    }

    /// What can be seen everywhere in a file without an import: the rest of the package, the language's own names.
    fn ambient(&self, _q: &Query<'_>, _site: Site, _name: &str) -> Found {
        Found::default()
    }

    /// Where an import leads.
    fn leads(&self, _q: &Query<'_>, _file: u32, _import: usize) -> Leads {
        Leads::Nowhere("imports of this language are not followed")
    }

    /// Where the name that an import gives the module itself leads, if that is not where the import does.
    fn itself(&self, _q: &Query<'_>, _file: u32, _import: usize) -> Option<Leads> {
        None
    }

    /// A name in a module; `inside` if what asks may see what is not public.
    fn lookup(&self, q: &Query<'_>, place: &Place, name: &str, inside: bool) -> Found {
        plain(q, place, name, inside)
    }

    /// A name that an import of everything brings in.
    fn glob(&self, q: &Query<'_>, place: &Place, name: &str, _file: u32, _import: usize) -> Found {
        q.lookup(place, name, false)
    }

    /// The file that a declaration of a module stands for.
    fn declared(&self, _q: &Query<'_>, _def: Def) -> Option<u32> {
        None
    }

    /// Members that are defined apart from their type: methods with a Go receiver, C++ `Type::name`.
    fn apart(&self, _q: &Query<'_>, _def: Def, _name: &str) -> Vec<Def> {
        Vec::new()
    }

    /// Which names a use of a bare name can mean.
    fn space(&self, role: Role) -> Space {
        Space::of(role)
    }

    /// Whether something can be meant by a name of a space; a local is a variable, a type parameter a type.
    fn is_meant(&self, _q: &Query<'_>, _file: u32, _kind: Kind, _space: Space) -> bool {
        true
    }

    /// What is the same thing as a definition but elsewhere: the definition of a declaration, what another system has.
    fn same(&self, _q: &Query<'_>, _def: Def) -> Vec<Def> {
        Vec::new()
    }

    /// What a file offers to others.
    fn offers(&self, q: &Query<'_>, file: u32) -> Vec<Offered> {
        public(q, file)
    }
}

struct Nothing;
impl Modules for Nothing {}

/// The rules of the language of a file.
pub(super) fn of(q: &Query<'_>, file: u32) -> &'static dyn Modules {
    match family(q, file) {
        Family::Rust => &rust::Rust,
        Family::Python => &python::Python,
        Family::Script => &script::Script,
        Family::Go => &go::Go,
        Family::Java => &java::Java,
        Family::C => &c::C,
        Family::Other => &Nothing,
    }
}

/// Where an import leads.
pub(super) fn leads(q: &Query<'_>, file: u32, import: usize) -> Leads {
    let found = q.ask(Question::Places(file, import), || Some(of(q, file).leads(q, file, import)));
    found.unwrap_or(Leads::Nowhere("it leads back to itself"))
}

/// The modules that an import leads to.
pub(super) fn places(q: &Query<'_>, file: u32, import: usize) -> Vec<Place> {
    match leads(q, file, import) {
        Leads::Places(places) => places,
        Leads::Package(_) | Leads::Nowhere(_) => Vec::new(),
    }
}

/// What a name of an import stands for; without a name, the module.
pub(super) fn imported(q: &Query<'_>, file: u32, import: usize, name: Option<usize>) -> Found {
    q.ask(Question::Imported(file, import, name), || {
        let Some(entry) = q.facts(file).and_then(|facts| facts.imports.get(import)) else {
            return Found::default();
        };
        let written = name.and_then(|name| entry.names.get(name));
        let start = written.map_or(entry.span.start, |name| name.start);
        let itself = if name.is_none() { of(q, file).itself(q, file, import) } else { None };
        let found = match itself.unwrap_or_else(|| leads(q, file, import)) {
            Leads::Places(places) => match (written, q.facts(file)) {
                (Some(name), Some(facts)) => {
                    let text = facts.text(name.name);
                    let mut all = Found::default();
                    for place in &places {
                        let found = q.lookup(place, text, true);
                        all.via.extend(found.via);
                        all.entities.extend(found.entities);
                    }
                    all
                }
                _ if family(q, file) == Family::Script => script::whole(q, &places, entry.kind),
                _ => Found { entities: places.into_iter().map(Entity::Module).collect(), via: Vec::new() },
            },
            Leads::Package(package) => Found::one(Entity::External(package)),
            Leads::Nowhere(_) => Found::default(),
        };
        found.through(file, start)
    })
}

/// A name in a module.
pub(super) fn lookup(q: &Query<'_>, place: &Place, name: &str, inside: bool) -> Found {
    match place {
        Place::File(file) | Place::Inline(Def { file, .. }) => of(q, *file).lookup(q, place, name, inside),
        Place::Folder(folder) => match in_folder(q, folder) {
            Some(file) => of(q, file).lookup(q, place, name, inside),
            None => Found::default(),
        },
    }
}

/// A file that tells whose module a folder is: one of those that lie in it, or else below it.
fn in_folder(q: &Query<'_>, folder: &str) -> Option<u32> {
    let direct = q.program.files_in(folder);
    let whole = |file: &u32| matches!(family(q, *file), Family::Go | Family::Java);
    direct.into_iter().find(whole).or_else(|| q.program.files_below(folder))
}

/// A name in a module whose names are all those of its scope.
fn plain(q: &Query<'_>, place: &Place, name: &str, _inside: bool) -> Found {
    let Some((file, scope)) = q.scope_of(place) else { return Found::default() };
    let Some(scopes) = q.scopes(file) else { return Found::default() };
    if let Some(sym) = scopes.find(name) {
        for target in scopes.offered(sym, scope) {
            let found = q.target(file, target);
            if !found.is_empty() {
                return found;
            }
        }
    }
    for glob in scopes.globs(scope) {
        let found = q.through_glob(file, glob, name);
        if !found.is_empty() {
            return found;
        }
    }
    Found::default()
}

/// Whether a definition can be seen from other modules.
fn is_public(q: &Query<'_>, def: Def) -> bool {
    q.definition(def).is_some_and(|definition| definition.flags.has(Flags::EXPORTED))
}

/// Whether an import hands on what it brings.
fn hands_on(q: &Query<'_>, file: u32, import: usize) -> bool {
    q.facts(file)
        .and_then(|facts| facts.imports.get(import))
        .is_some_and(|import| import.kind == ImportKind::Reexport)
}

/// What is public in a file, and what it hands on.
pub(super) fn public(q: &Query<'_>, file: u32) -> Vec<Offered> {
    let Some(facts) = q.facts(file) else { return Vec::new() };
    let mut offered = Vec::new();
    for (index, definition) in facts.definitions.iter().enumerate() {
        let at_top = definition.parent.is_none() && definition.kind != Kind::Impl;
        if at_top && definition.flags.has(Flags::EXPORTED) {
            let def = Def { file, id: DefId::new(index) };
            offered.push(Offered {
                name: facts.text(definition.name).to_owned(),
                meaning: Meaning::Definitions(vec![def]),
                start: definition.name_start,
                from: None,
                default: definition.flags.has(Flags::DEFAULT_EXPORT),
            });
        }
    }
    for (index, import) in facts.imports.iter().enumerate() {
        if import.kind != ImportKind::Reexport || import.scope != ScopeId::new(0) {
            continue;
        }
        for (which, name) in import.names.iter().enumerate() {
            let shown = if name.alias.is_some() { name.alias } else { name.name };
            let meaning = match facts.text(name.name) {
                "*" => Meaning::Unknown,
                _ => q.answer_of(imported(q, file, index, Some(which)), "import").meaning,
            };
            offered.push(Offered {
                name: facts.text(shown).to_owned(),
                meaning,
                start: name.start,
                from: Some(facts.text(import.source).to_owned()),
                default: facts.text(shown) == "default",
            });
        }
    }
    offered.sort_by_key(|offer| offer.start);
    offered
}
