//! Rust: the tree of modules, paths, `use`, and the crates that `Cargo.toml` names.

use std::sync::Arc;

use super::super::program::Def;
use super::super::query::{Entity, Found, Place, Query, Question, Site, Space};
use super::super::scopes::Target;
use super::{Leads, Modules, hands_on, is_public};
use crate::facts::{Flags, Kind, ScopeId};
use crate::resolve::known;

/// More modules than these are not gathered through globs.
const MAX_REACHED: usize = 2_000;

pub(super) struct Rust;

impl Modules for Rust {
    fn special(&self, q: &Query<'_>, site: Site, name: &str) -> Option<Found> {
        special(q, site, name)
    }

    fn ambient(&self, q: &Query<'_>, site: Site, name: &str) -> Found {
        ambient(q, site, name)
    }

    fn leads(&self, q: &Query<'_>, file: u32, import: usize) -> Leads {
        leads(q, file, import)
    }

    fn lookup(&self, q: &Query<'_>, place: &Place, name: &str, inside: bool) -> Found {
        lookup(q, place, name, inside)
    }

    fn glob(&self, q: &Query<'_>, place: &Place, name: &str, file: u32, import: usize) -> Found {
        glob(q, place, name, file, import)
    }

    fn declared(&self, q: &Query<'_>, def: Def) -> Option<u32> {
        declared(q, def)
    }
}

/// `crate`, `self`, `super` and `Self`.
fn special(q: &Query<'_>, site: Site, name: &str) -> Option<Found> {
    let place = match name {
        "crate" | "$crate" => Place::File(root(q, site.file)),
        "self" => q.module_around(site.file, site.scope),
        "super" => parent(q, &q.module_around(site.file, site.scope))?,
        "Self" => {
            let own = q.type_around(site).and_then(|own| q.own_type(own))?;
            return Some(Found::one(Entity::Def(own)));
        }
        _ => return None,
    };
    Some(Found::one(Entity::Module(place)))
}

/// Other crates, what is known everywhere, and macros, which do not care for modules.
fn ambient(q: &Query<'_>, site: Site, name: &str) -> Found {
    q.ask(Question::Ambient(site.file, name.into()), || {
        let found = other_crate(q, site.file, name);
        if !found.is_empty() {
            return found;
        }
        if known::is_everywhere("rust", name) {
            return Found::one(Entity::External("std".into()));
        }
        macro_named(q, site.file, name)
    })
}

/// A macro of the crate: `macro_rules!` is seen by what comes after it, whatever the module.
fn macro_named(q: &Query<'_>, file: u32, name: &str) -> Found {
    let own = root(q, file);
    let mut entities = Vec::new();
    for other in q.program.files_with(name) {
        let Some(facts) = q.facts(other).filter(|_| super::family(q, other) == super::Family::Rust) else {
            continue;
        };
        for (index, definition) in facts.definitions.iter().enumerate() {
            if definition.kind == Kind::Macro && facts.text(definition.name) == name && root(q, other) == own
            {
                entities.push(Entity::Def(Def { file: other, id: crate::facts::DefId::new(index) }));
            }
        }
    }
    Found { entities, via: Vec::new() }
}

/// A crate by the name that the code of a file has for it.
fn other_crate(q: &Query<'_>, file: u32, name: &str) -> Found {
    if matches!(name, "std" | "core" | "alloc" | "proc_macro" | "test") {
        return Found::one(Entity::External("std".into()));
    }
    let Some(manifest) = q.program.cargo().package_of(q.program, file) else { return Found::default() };
    if manifest.lib_name == name
        && let Some(lib) = manifest.lib_root(q.program)
    {
        return Found::one(Entity::Module(Place::File(lib)));
    }
    match manifest.dependency(q.program, name) {
        Some(super::super::cargo::Dependency::Here(lib)) => Found::one(Entity::Module(Place::File(lib))),
        Some(super::super::cargo::Dependency::Elsewhere(package)) => {
            Found::one(Entity::External(package.as_str().into()))
        }
        None => Found::default(),
    }
}

/// The module before the last name of a `use`.
fn leads(q: &Query<'_>, file: u32, import: usize) -> Leads {
    let Some(facts) = q.facts(file) else { return Leads::Nowhere("the file cannot be read") };
    let Some(entry) = facts.imports.get(import) else { return Leads::Nowhere("there is no such import") };
    let source = facts.text(entry.source);
    let site = Site { file, scope: entry.scope, at: entry.span.start };
    let extern_crate = entry.kind == crate::facts::ImportKind::Module;
    let segments: Vec<&str> = source.split("::").filter(|name| !name.is_empty()).collect();
    let found = match segments.as_slice() {
        // `use name;`: the name itself is a crate, or something in this module.
        [] => {
            let here = q.module_around(file, entry.scope);
            return Leads::Places(vec![here]);
        }
        [only] if extern_crate => other_crate(q, file, only),
        _ if source.starts_with("::") => {
            let first = segments.first().map_or("", |first| first);
            follow(q, other_crate(q, file, first), segments.get(1..).unwrap_or_default())
        }
        _ => path(q, site, &segments),
    };
    let mut places = Vec::new();
    for entity in &found.entities {
        match entity {
            Entity::External(package) => return Leads::Package(Arc::clone(package)),
            Entity::Def(def) if q.definition(*def).is_some_and(|found| found.kind.is_type()) => {
                places.push(Place::Inline(q.own_type(*def).unwrap_or(*def)));
            }
            _ => places.extend(q.place_of(entity)),
        }
    }
    match places.is_empty() {
        true => Leads::Nowhere("no module of that path is in the workspace"),
        false => Leads::Places(places),
    }
}

/// What a path means from a place.
fn path(q: &Query<'_>, site: Site, segments: &[&str]) -> Found {
    let Some((first, rest)) = segments.split_first() else { return Found::default() };
    let start = special(q, site, first).unwrap_or_else(|| {
        let here = q.module_around(site.file, site.scope);
        let own = match q.scopes(site.file).and_then(|scopes| scopes.find(first)) {
            // In a block, what is declared in it counts too.
            Some(sym) if q.scope_of(&here).is_some_and(|(_, scope)| scope != site.scope) => {
                q.name(site, sym, super::super::query::Space::Type)
            }
            _ => q.lookup(&here, first, true),
        };
        let own = q.in_space(own, super::super::query::Space::Type);
        if own.is_empty() { other_crate(q, site.file, first) } else { own }
    });
    follow(q, start, rest)
}

/// Goes on from something along the rest of a path.
fn follow(q: &Query<'_>, start: Found, rest: &[&str]) -> Found {
    let mut here = start;
    for (index, name) in rest.iter().enumerate() {
        let last = index + 1 == rest.len();
        let mut next = Found { entities: Vec::new(), via: std::mem::take(&mut here.via) };
        for entity in &here.entities {
            match entity {
                Entity::External(_) => next.entities.push(entity.clone()),
                Entity::Module(Place::File(file) | Place::Inline(Def { file, .. })) if *name == "super" => {
                    let _ = file;
                    let up = q.place_of(entity).and_then(|place| parent(q, &place));
                    next.entities.extend(up.map(Entity::Module));
                }
                _ => match q.place_of(entity) {
                    Some(place) => {
                        let found = q.lookup(&place, name, true);
                        let found = match last {
                            true => found,
                            false => q.in_space(found, super::super::query::Space::Type),
                        };
                        next.via.extend(found.via);
                        next.entities.extend(found.entities);
                    }
                    None => {
                        if let Entity::Def(def) = entity {
                            next.entities.extend(q.member_of(*def, name).into_iter().map(Entity::Def));
                        }
                    }
                },
            }
        }
        here = next;
    }
    here
}

/// A name in a module. What is named in it hides what a glob brings, each in its own space.
fn lookup(q: &Query<'_>, place: &Place, name: &str, inside: bool) -> Found {
    let own = direct(q, place, name, inside);
    let mut all = own.clone();
    for reached in reached(q, place, inside) {
        let found = direct(q, &reached.place, name, reached.inside);
        let hidden = |entity: &Entity| {
            own.entities.iter().any(|named| {
                [Space::Type, Space::Value, Space::Macro]
                    .into_iter()
                    .any(|space| q.is_in_space(named, space) && q.is_in_space(entity, space))
            })
        };
        let new: Vec<Entity> = found
            .entities
            .into_iter()
            .filter(|entity| !all.entities.contains(entity) && !hidden(entity))
            .collect();
        if !new.is_empty() && all.via.is_empty() {
            all.via = vec![reached.via];
            all.via.extend(found.via);
        }
        all.entities.extend(new);
    }
    all
}

/// A name in a module itself.
fn direct(q: &Query<'_>, place: &Place, name: &str, inside: bool) -> Found {
    let Some((file, scope)) = q.scope_of(place) else { return Found::default() };
    if let Place::Inline(def) = place
        && q.definition(*def).is_some_and(|definition| definition.kind.is_type())
    {
        let members = q.member_of(*def, name).into_iter().map(Entity::Def).collect();
        return Found { entities: members, via: Vec::new() };
    }
    let Some(scopes) = q.scopes(file) else { return Found::default() };
    let mut all = Found::default();
    for target in scopes.find(name).into_iter().flat_map(|sym| scopes.offered(sym, scope)) {
        let seen = inside
            || match target {
                Target::Definition(id) => is_public(q, Def { file, id }),
                Target::Import(import, _) => hands_on(q, file, import),
                Target::Binding(_) => false,
            };
        if seen {
            let found = match target {
                // `use name;` leads into its own module: the crate is meant.
                Target::Import(import, Some(_)) if is_bare(q, file, import) => other_crate(q, file, name),
                _ => q.target(file, target),
            };
            all.via.extend(found.via);
            all.entities.extend(found.entities);
        }
    }
    all
}

/// A module that a glob leads to, by what is imported where, and whether all that is in it can be seen.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::resolve) struct Reached {
    place: Place,
    inside: bool,
    via: (u32, u32),
}

/// All modules whose names come into a module by globs, the nearest first. Modules import each other in circles, so they
/// are gathered once, and not followed anew for every name.
fn reached(q: &Query<'_>, place: &Place, inside: bool) -> Vec<Reached> {
    q.ask(Question::ThroughGlobs(place.clone(), inside), || {
        let mut found: Vec<Reached> = Vec::new();
        let mut left = std::collections::VecDeque::from([(place.clone(), inside)]);
        while let Some((at, inside)) = left.pop_front() {
            let Some((file, scope)) = q.scope_of(&at) else { continue };
            let (Some(scopes), Some(facts)) = (q.scopes(file), q.facts(file)) else { continue };
            for glob in scopes.globs(scope).filter(|glob| inside || hands_on(q, file, *glob)) {
                let start = facts.imports.get(glob).map_or(0, |import| import.span.start);
                for target in super::places(q, file, glob) {
                    let inside = is_inside(q, file, glob, &target);
                    let known = found.iter().any(|one| one.place == target && (one.inside || !inside));
                    if !known && target != *place && found.len() < MAX_REACHED {
                        left.push_back((target.clone(), inside));
                        found.push(Reached { place: target, inside, via: (file, start) });
                    }
                }
            }
        }
        found
    })
}

fn is_bare(q: &Query<'_>, file: u32, import: usize) -> bool {
    q.facts(file)
        .and_then(|facts| Some(facts.text(facts.imports.get(import)?.source).is_empty()))
        .unwrap_or_default()
}

/// A glob brings what is public, and to what is below the module, everything.
fn glob(q: &Query<'_>, place: &Place, name: &str, file: u32, import: usize) -> Found {
    q.lookup(place, name, is_inside(q, file, import, place))
}

/// Whether an import stands in a module or below it.
fn is_inside(q: &Query<'_>, file: u32, import: usize, place: &Place) -> bool {
    let scope = q.facts(file).and_then(|facts| Some(facts.imports.get(import)?.scope));
    let mut at = scope.map(|scope| q.module_around(file, scope));
    for _ in 0..32 {
        match at {
            Some(here) if here == *place => return true,
            Some(here) => at = parent(q, &here),
            None => break,
        }
    }
    false
}

/// The module around a module.
fn parent(q: &Query<'_>, place: &Place) -> Option<Place> {
    match place {
        Place::Inline(def) => {
            let scope = q.definition(*def)?.scope;
            Some(q.module_around(def.file, scope))
        }
        Place::File(file) => parent_of_file(q, *file),
        Place::Folder(_) => None,
    }
}

/// The root file of the crate that a file is in.
fn root(q: &Query<'_>, file: u32) -> u32 {
    let mut at = Place::File(file);
    for _ in 0..64 {
        match parent(q, &at) {
            Some(up) => at = up,
            None => break,
        }
    }
    match at {
        Place::File(file) | Place::Inline(Def { file, .. }) => file,
        Place::Folder(_) => file,
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The module that declares a file with `mod name;`.
fn parent_of_file(q: &Query<'_>, file: u32) -> Option<Place> {
    q.program.cargo().parent(file, || {
        let path = &q.program.file(file)?.path;
        let (folder, name) = split(path);
        let stem = name.strip_suffix(".rs")?;
        let (folder, module) = match stem {
            "lib" | "main" | "build" => return None,
            "mod" => split(folder),
            _ => (folder, stem),
        };
        let declares = |place: &Place| -> bool {
            let Some((at, scope)) = q.scope_of(place) else { return false };
            at != file && declares(q, at, scope, module)
        };
        let owners = owners(q, folder, 0);
        if let Some(owner) = owners.into_iter().find(|owner| declares(owner)) {
            return Some(owner);
        }
        // A root of its own may declare modules too: `tests/all.rs`, `src/bin/tool.rs`.
        let beside = q.program.files_in(folder);
        beside.into_iter().map(Place::File).find(|place| declares(place)).or_else(|| by_path(q, file))
    })
}

/// A file that is declared with `#[path = "…"]`.
fn by_path(q: &Query<'_>, file: u32) -> Option<Place> {
    let path = &q.program.file(file)?.path;
    let (folder, _) = split(path);
    let (above, _) = split(folder);
    for other in q.program.files_in(folder).into_iter().chain(q.program.files_in(above)) {
        let Some(facts) = q.facts(other) else { continue };
        for (index, definition) in facts.definitions.iter().enumerate() {
            let def = Def { file: other, id: crate::facts::DefId::new(index) };
            if definition.kind == Kind::Module
                && definition.flags.has(Flags::DECLARATION)
                && definition.span.end - definition.span.start > 12
                && attribute_path(q, def).is_some_and(|named| named == *path)
            {
                return Some(q.module_around(other, definition.scope));
            }
        }
    }
    None
}

fn declares(q: &Query<'_>, file: u32, scope: ScopeId, name: &str) -> bool {
    let Some(scopes) = q.scopes(file) else { return false };
    let Some(sym) = scopes.find(name) else { return false };
    scopes.offered(sym, scope).any(|target| match target {
        Target::Definition(id) => scopes.facts().definition(id).is_some_and(|definition| {
            definition.kind == Kind::Module && definition.flags.has(Flags::DECLARATION)
        }),
        _ => false,
    })
}

/// The modules whose files lie in a folder.
fn owners(q: &Query<'_>, folder: &str, depth: u32) -> Vec<Place> {
    let (above, base) = split(folder);
    let mut paths = vec![join(folder, "mod.rs"), join(folder, "lib.rs"), join(folder, "main.rs")];
    if !base.is_empty() {
        paths.push(join(above, &format!("{base}.rs")));
    }
    let mut found: Vec<Place> =
        paths.iter().filter_map(|path| q.program.file_at(path)).map(Place::File).collect();
    if let Some(root) = q.program.cargo().root_in(q.program, folder) {
        found.push(Place::File(root));
    }
    if depth < 6 && !base.is_empty() && found.is_empty() {
        // `mod a { mod b; }` has its file in `a/`.
        for owner in owners(q, above, depth + 1) {
            let Some((file, scope)) = q.scope_of(&owner) else { continue };
            let Some(scopes) = q.scopes(file) else { continue };
            let inline = scopes.find(base).into_iter().flat_map(|sym| scopes.offered(sym, scope));
            found.extend(inline.filter_map(|target| match target {
                Target::Definition(id) => {
                    let definition = scopes.facts().definition(id)?;
                    let inline = definition.kind == Kind::Module && !definition.flags.has(Flags::DECLARATION);
                    inline.then_some(Place::Inline(Def { file, id }))
                }
                _ => None,
            }));
        }
    }
    found
}

/// The file of `mod name;`.
fn declared(q: &Query<'_>, def: Def) -> Option<u32> {
    let definition = q.definition(def)?;
    let name = q.name_of(def);
    let folder = folder_of(q, def)?;
    let usual = [join(&folder, &format!("{name}.rs")), join(&join(&folder, name), "mod.rs")];
    let by_attribute = || q.program.file_at(&attribute_path(q, def)?);
    // An attribute wins, but it is in the text only: looked for where there is room for one.
    if definition.span.end - definition.span.start > name.len() as u32 + 12
        && let Some(file) = by_attribute()
    {
        return Some(file);
    }
    usual.iter().find_map(|path| q.program.file_at(path))
}

/// The folder in which the files of the modules that are declared beside `def` lie.
fn folder_of(q: &Query<'_>, def: Def) -> Option<String> {
    let path = &q.program.file(def.file)?.path;
    let (folder, name) = split(path);
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    let at_root = matches!(stem, "lib" | "main" | "mod" | "build") || parent_of_file(q, def.file).is_none();
    let mut folder = if at_root { folder.to_owned() } else { join(folder, stem) };
    let facts = q.facts(def.file)?;
    let around = facts.parent_path(def.id);
    for name in around.split('.').filter(|name| !name.is_empty()) {
        folder = join(&folder, name);
    }
    Some(folder)
}

/// The path in `#[path = "…"]` before a module.
fn attribute_path(q: &Query<'_>, def: Def) -> Option<String> {
    let definition = q.definition(def)?;
    let source = q.program.source(def.file)?;
    let text = std::str::from_utf8(definition.span.of(&source)).ok()?;
    let after = text.split_once("path")?.1.split_once('"')?.1;
    let named = after.split('"').next()?;
    let (folder, _) = split(&q.program.file(def.file)?.path);
    Some(super::super::program::normal(&join(folder, named)))
}
