//! JavaScript and TypeScript: specifiers, exports and re-exports.

mod specifiers;

pub(in crate::resolve) use specifiers::Packages;

use super::super::program::{Def, Meaning, Offered};
use super::super::query::{Entity, Found, Place, Query, Site, Space};
use super::super::scopes::Target;
use super::{Leads, Modules, imported};
use crate::facts::{DefId, FileFacts, ImportKind, Kind, Role, ScopeId};

pub(super) struct Script;

/// The name of what `export =` and `module.exports =` export.
const WHOLE: &str = "export=";

impl Modules for Script {
    fn space(&self, role: Role) -> Space {
        match role {
            Role::Construct => Space::Value,
            Role::Inherit => Space::Any,
            _ => Space::of(role),
        }
    }

    fn is_meant(&self, _q: &Query<'_>, _file: u32, kind: Kind, space: Space) -> bool {
        match space {
            Space::Type => kind.is_type() || matches!(kind, Kind::Module | Kind::Variant),
            Space::Any => true,
            Space::Value | Space::Call | Space::Macro => !matches!(kind, Kind::Interface | Kind::Type),
        }
    }

    /// What no scope and no import knows is a global: of some declaration file of the workspace, or from outside.
    fn ambient(&self, q: &Query<'_>, _site: Site, name: &str) -> Found {
        let found = global(q, name);
        if found.is_empty() { Found::one(Entity::External("".into())) } else { found }
    }

    fn leads(&self, q: &Query<'_>, file: u32, import: usize) -> Leads {
        leads(q, file, import)
    }

    fn lookup(&self, q: &Query<'_>, place: &Place, name: &str, inside: bool) -> Found {
        match place {
            Place::File(file) => exported(q, *file, name),
            Place::Inline(def) => in_namespace(q, *def, name, inside),
            Place::Folder(_) => Found::default(),
        }
    }

    fn glob(&self, q: &Query<'_>, place: &Place, name: &str, _file: u32, _import: usize) -> Found {
        match name {
            "default" | WHOLE => Found::default(),
            _ => q.lookup(place, name, false),
        }
    }

    /// Declarations of one name are one: interfaces, a class and an interface, a class and a namespace.
    fn apart(&self, q: &Query<'_>, def: Def, name: &str) -> Vec<Def> {
        let mut found = Vec::new();
        for other in merged(q, def) {
            let Some(kind) = q.definition(other).map(|other| other.kind) else { continue };
            if kind == Kind::Module {
                let inside = in_namespace(q, other, name, false);
                found.extend(inside.entities.iter().filter_map(|entity| match entity {
                    Entity::Def(def) => Some(*def),
                    _ => None,
                }));
            } else if kind.is_type()
                && let Some(scopes) = q.scopes(other.file)
                && let Some(sym) = scopes.find(name)
            {
                let members = scopes.members_named(other.id, sym);
                found.extend(members.iter().map(|id| Def { file: other.file, id: *id }));
            }
        }
        found
    }

    fn offers(&self, q: &Query<'_>, file: u32) -> Vec<Offered> {
        offers(q, file)
    }
}

/// The other declarations of the same name in the same scope.
fn merged(q: &Query<'_>, def: Def) -> Vec<Def> {
    let (Some(facts), Some(own)) = (q.facts(def.file), q.definition(def)) else { return Vec::new() };
    let Some(scopes) = q.scopes(def.file) else { return Vec::new() };
    let same = scopes.offered(own.name, own.scope).filter_map(|target| match target {
        Target::Definition(id) if id != def.id => Some(id),
        _ => None,
    });
    let same = same.filter(|id| facts.definition(*id).is_some_and(|other| other.parent == own.parent));
    let mut found: Vec<Def> = same.map(|id| Def { file: def.file, id }).collect();
    found.sort();
    found
}

/// Where an import leads.
fn leads(q: &Query<'_>, file: u32, import: usize) -> Leads {
    let Some(facts) = q.facts(file) else { return Leads::Nowhere("the file is gone") };
    let Some(entry) = facts.imports.get(import) else { return Leads::Nowhere("there is no such import") };
    let specifier = facts.text(entry.source);
    let Some(path) = q.program.file(file).map(|entry| entry.path.as_str()) else {
        return Leads::Nowhere("the file is gone");
    };
    let found = q.program.packages().resolve(q.program, path, specifier);
    if let Some(found) = found.and_then(|path| q.program.file_at(&path)) {
        return Leads::Places(vec![Place::File(found)]);
    }
    if let Some(declared) = declared(q, specifier) {
        return Leads::Places(vec![Place::Inline(declared)]);
    }
    match specifiers::package_name(specifier) {
        Some(name) => Leads::Package(name.into()),
        None => Leads::Nowhere("no file of the workspace is at that path"),
    }
}

/// `declare module "name" { … }`.
fn declared(q: &Query<'_>, specifier: &str) -> Option<Def> {
    let wanted = format!("\"{specifier}\"");
    let files = q.program.files_with(&wanted);
    files.into_iter().find_map(|file| {
        let facts = q.facts(file)?;
        let found = facts.definitions.iter().position(|definition| {
            definition.kind == Kind::Module && facts.text(definition.name) == wanted
        })?;
        Some(Def { file, id: DefId::new(found) })
    })
}

/// Whether an import is only handed on, and so not seen in its file.
fn is_handed_on(facts: &FileFacts, import: usize) -> bool {
    facts.imports.get(import).is_some_and(|import| import.kind == ImportKind::Reexport)
}

/// A name that a file exports.
fn exported(q: &Query<'_>, file: u32, name: &str) -> Found {
    let (Some(scopes), Some(facts)) = (q.scopes(file), q.facts(file)) else { return Found::default() };
    let found = match scopes.find(name) {
        Some(sym) => {
            let handed =
                facts.imports.iter().enumerate().filter(|(_, import)| {
                    import.kind == ImportKind::Reexport && import.scope == ScopeId::new(0)
                });
            let mut all = Found::default();
            let mut starts = Vec::new();
            for (index, import) in handed {
                for (which, entry) in import.names.iter().enumerate() {
                    starts.push(entry.start);
                    let outside = if entry.alias.is_some() { entry.alias } else { entry.name };
                    if outside == sym && facts.text(entry.name) != "*" {
                        extend(&mut all, imported(q, file, index, Some(which)));
                    }
                }
                if import.alias == sym {
                    starts.push(import.span.start);
                    extend(&mut all, imported(q, file, index, None));
                }
            }
            for export in facts.exports.iter().filter(|export| export.name == sym) {
                if !starts.contains(&export.start) {
                    extend(&mut all, local(q, file, export.local, export.start));
                }
            }
            all
        }
        None => Found::default(),
    };
    if !found.is_empty() {
        return found;
    }
    for glob in facts.imports.iter().enumerate().filter(|(_, import)| {
        import.kind == ImportKind::Reexport && import.names.iter().any(|name| facts.text(name.name) == "*")
    }) {
        let found = q.through_glob(file, glob.0, name);
        if !found.is_empty() {
            return found;
        }
    }
    // What is exported as a whole is what `import x from` gives, and its members are what `import { x }` gives.
    if name != WHOLE {
        let whole = q.lookup(&Place::File(file), WHOLE, false);
        if !whole.is_empty() {
            return match name {
                "default" => whole,
                _ => {
                    let site = Site { file, scope: ScopeId::new(0), at: u32::MAX - 1 };
                    whole.entities.iter().map(|entity| q.part_of(entity, name, site)).fold(
                        Found::default(),
                        |mut all, found| {
                            extend(&mut all, found);
                            all
                        },
                    )
                }
            };
        }
    }
    // A module of CommonJS without a default is its own default; a script of declarations exports all of them.
    if name == "default" && facts.exports.iter().all(|export| facts.text(export.name) != "default") {
        let common_js = facts.imports.iter().all(|import| import.kind != ImportKind::Names);
        if common_js && q.language(file) == "javascript" && !facts.exports.is_empty() {
            return Found::one(Entity::Module(Place::File(file)));
        }
    }
    match is_ambient(q, file) {
        true => scopes.find(name).map_or(Found::default(), |sym| local(q, file, sym, 0)),
        false => Found::default(),
    }
}

fn extend(all: &mut Found, more: Found) {
    if all.via.is_empty() {
        all.via = more.via;
    }
    for entity in more.entities {
        if !all.entities.contains(&entity) {
            all.entities.push(entity);
        }
    }
}

/// Everything that a name stands for at the top of a file; without a name, what is defined where the export is.
fn local(q: &Query<'_>, file: u32, name: crate::facts::Sym, start: u32) -> Found {
    let (Some(scopes), Some(facts)) = (q.scopes(file), q.facts(file)) else { return Found::default() };
    let mut all = Found::default();
    if name.is_some() {
        for target in scopes.offered(name, ScopeId::new(0)) {
            if !matches!(target, Target::Import(import, _) if is_handed_on(facts, import)) {
                extend(&mut all, q.target(file, target));
            }
        }
    }
    if all.is_empty() {
        let at = facts.definitions.iter().position(|definition| definition.name_start == start);
        all.entities.extend(at.map(|index| Entity::Def(Def { file, id: DefId::new(index) })));
    }
    all.entities.sort_by_key(|entity| match entity {
        Entity::Def(def) => def.id.index().unwrap_or_default(),
        _ => 0,
    });
    all
}

/// A name in a namespace, all blocks of it together.
fn in_namespace(q: &Query<'_>, def: Def, name: &str, _inside: bool) -> Found {
    let mut all = Found::default();
    let blocks = std::iter::once(def).chain(merged(q, def));
    for block in blocks {
        let Some(definition) = q.definition(block).filter(|found| found.kind == Kind::Module) else {
            continue;
        };
        let Some(scopes) = q.scopes(block.file) else { continue };
        let Some(sym) = scopes.find(name) else { continue };
        for target in scopes.offered(sym, definition.body) {
            extend(&mut all, q.target(block.file, target));
        }
    }
    all
}

/// Whether what a file declares is seen everywhere: a declaration file without imports and exports.
fn is_ambient(q: &Query<'_>, file: u32) -> bool {
    let Some(facts) = q.facts(file) else { return false };
    let path = q.program.file(file).map_or("", |entry| entry.path.as_str());
    path.ends_with(".d.ts") && facts.exports.is_empty() && facts.imports.is_empty()
}

/// What is declared for every file: in `declare global`, or in a declaration file that is no module.
fn global(q: &Query<'_>, name: &str) -> Found {
    let question = super::super::query::Question::Named(format!("global {name}").into());
    q.ask(question, || {
        let mut all = Found::default();
        for file in q.program.files_with(name) {
            if super::family(q, file) != super::Family::Script {
                continue;
            }
            let Some(facts) = q.facts(file) else { continue };
            if is_ambient(q, file) {
                let sym = q.scopes(file).and_then(|scopes| scopes.find(name));
                extend(&mut all, sym.map_or(Found::default(), |sym| local(q, file, sym, 0)));
            }
            let blocks = facts.definitions.iter().enumerate().filter(|(_, definition)| {
                definition.kind == Kind::Module && facts.text(definition.name) == "global"
            });
            for (index, _) in blocks {
                extend(&mut all, in_namespace(q, Def { file, id: DefId::new(index) }, name, true));
            }
        }
        all
    })
}

fn offers(q: &Query<'_>, file: u32) -> Vec<Offered> {
    let Some(facts) = q.facts(file) else { return Vec::new() };
    let mut offered: Vec<Offered> = Vec::new();
    for export in &facts.exports {
        let name = facts.text(export.name);
        let shown = if name == WHOLE { "default" } else { name };
        let from = facts
            .imports
            .iter()
            .find(|import| import.kind == ImportKind::Reexport && import.span.contains(export.start));
        let meaning = match name {
            "*" => Meaning::Unknown,
            _ => q.answer_of(q.lookup(&Place::File(file), name, false), "export").meaning,
        };
        if offered.iter().any(|other| other.name == shown && other.start == export.start) {
            continue;
        }
        offered.push(Offered {
            name: shown.to_owned(),
            meaning,
            start: export.start,
            from: from.map(|import| facts.text(import.source).to_owned()),
            default: shown == "default",
        });
    }
    offered.sort_by_key(|offer| offer.start);
    offered
}

/// What the name that an import gives a module stands for: the module, or what it exports as a whole.
pub(in crate::resolve) fn whole(q: &Query<'_>, places: &[Place], _kind: ImportKind) -> Found {
    let mut all = Found::default();
    for place in places {
        let found = match place {
            Place::File(_) => q.lookup(place, WHOLE, false),
            _ => Found::default(),
        };
        match found.is_empty() {
            true => all.entities.push(Entity::Module(place.clone())),
            false => extend(&mut all, found),
        }
    }
    all
}
