//! C and C++: what is included is there, and namespaces are the same wherever they are opened.

use super::super::program::{Def, normal};
use super::super::query::{Entity, Found, Place, Query, Question, Site, Space};
use super::super::scopes::Target;
use super::{Family, Leads, Modules, family};
use crate::facts::{DefId, Definition, FileFacts, Flags, ImportKind, Kind, ScopeId, Type};
use crate::resolve::known;

/// How many files are followed from one by its includes.
const MAX_REACHED: usize = 4_000;

pub(super) struct C;

impl Modules for C {
    /// `struct name`: a tag, which is no other name.
    fn special(&self, q: &Query<'_>, site: Site, name: &str) -> Option<Found> {
        let name = name.strip_prefix("struct ")?;
        Some(tagged(q, site, name))
    }

    fn ambient(&self, q: &Query<'_>, site: Site, name: &str) -> Found {
        let found = by_namespace(q, site, name);
        if found.is_empty() && known::is_everywhere("c", name) {
            return Found::one(Entity::External("std".into()));
        }
        found
    }

    fn leads(&self, q: &Query<'_>, file: u32, import: usize) -> Leads {
        let Some(entry) = q.facts(file).and_then(|facts| facts.imports.get(import)) else {
            return Leads::Nowhere("there is no such import");
        };
        let source = q.facts(file).map_or("", |facts| facts.text(entry.source));
        match entry.kind {
            ImportKind::Include => include(q, file, source),
            _ => namespace_named(q, Site { file, scope: entry.scope, at: entry.span.start }, source),
        }
    }

    fn lookup(&self, q: &Query<'_>, place: &Place, name: &str, _inside: bool) -> Found {
        match place {
            Place::File(file) => seen_from(q, *file, name),
            Place::Inline(def) if q.definition(*def).is_some_and(|found| found.kind.is_type()) => {
                let members = q.member_of(*def, name).into_iter().map(Entity::Def).collect();
                Found { entities: members, via: Vec::new() }
            }
            Place::Inline(def) => {
                let Some(facts) = q.facts(def.file) else { return Found::default() };
                let path = path_with(facts, def.id);
                let defs = everywhere(q, name, &path);
                Found { entities: defs.into_iter().map(Entity::Def).collect(), via: Vec::new() }
            }
            Place::Folder(_) => Found::default(),
        }
    }

    fn apart(&self, q: &Query<'_>, def: Def, name: &str) -> Vec<Def> {
        let Some(facts) = q.facts(def.file).filter(|_| q.language(def.file) == "cpp") else {
            return Vec::new();
        };
        let own = path_with(facts, def.id);
        let Some(last) = own.last() else { return Vec::new() };
        let mut found = Vec::new();
        for file in q.program.files_with(name) {
            let Some(facts) = q.facts(file).filter(|_| family(q, file) == Family::C) else { continue };
            for (index, other) in facts.definitions.iter().enumerate() {
                if other.owner.is_some() && facts.text(other.name) == name {
                    let owner = owner_names(facts, other);
                    let id = DefId::new(index);
                    if owner.last() == Some(last) && q.owner_of(Def { file, id }) == Some(def) {
                        found.push(Def { file, id });
                    }
                }
            }
        }
        found
    }

    fn is_meant(&self, q: &Query<'_>, file: u32, kind: Kind, space: Space) -> bool {
        // A constructor is named by its type.
        if kind == Kind::Constructor {
            return false;
        }
        match space {
            Space::Type => kind.is_type() || matches!(kind, Kind::Module | Kind::Macro | Kind::Constant),
            // What is named by a tag is no value.
            Space::Value => !(matches!(kind, Kind::Struct | Kind::Enum) && q.language(file) == "c"),
            Space::Call | Space::Macro | Space::Any => true,
        }
    }

    fn same(&self, q: &Query<'_>, def: Def) -> Vec<Def> {
        same(q, def)
    }
}

/// The namespaces and types around a definition, outermost first.
fn path_of(facts: &FileFacts, id: DefId) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = facts.definition(id).map_or(DefId::NONE, |definition| definition.parent);
    while let Some(definition) = facts.definition(at) {
        names.extend(facts.text(definition.name).rsplit("::"));
        at = definition.parent;
    }
    names.reverse();
    names
}

/// The same with the definition itself.
fn path_with(facts: &FileFacts, id: DefId) -> Vec<&str> {
    let mut path = path_of(facts, id);
    path.extend(facts.definition(id).into_iter().flat_map(|own| facts.text(own.name).split("::")));
    path
}

/// The namespaces that a definition is in or is.
fn namespaces(facts: &FileFacts, id: DefId) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = id;
    while let Some(definition) = facts.definition(at) {
        if definition.kind == Kind::Module {
            names.push(facts.text(definition.name));
        }
        at = definition.parent;
    }
    names.reverse();
    names
}

fn owner_names<'f>(facts: &'f FileFacts, definition: &Definition) -> Vec<&'f str> {
    match facts.ty(definition.owner) {
        Some(Type::Named { path, .. }) => {
            facts.text(*path).split('.').filter(|name| !name.is_empty()).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether something is at the level of a file or namespace, and in which.
fn level<'f>(facts: &'f FileFacts, id: DefId, definition: &Definition) -> Option<Vec<&'f str>> {
    let mut path = match facts.definition(definition.parent) {
        None => Vec::new(),
        Some(around) if around.kind == Kind::Module => path_of(facts, id),
        // The names of an enumeration are those of what is around it, unless it is a class.
        Some(around) if definition.kind == Kind::Variant && definition.scope == around.scope => {
            path_of(facts, definition.parent)
        }
        Some(_) => return None,
    };
    path.extend(owner_names(facts, definition));
    Some(path)
}

/// The definitions of a name in a namespace, in some files.
fn defined(q: &Query<'_>, file: u32, name: &str, path: &[&str]) -> Vec<Def> {
    let Some(facts) = q.facts(file).filter(|_| q.program.has_name(file, name)) else { return Vec::new() };
    let all = facts.definitions.iter().enumerate();
    let named = all.filter(|(index, definition)| {
        facts.text(definition.name).split("::").next() == Some(name)
            && level(facts, DefId::new(*index), definition).is_some_and(|level| level == path)
    });
    named.map(|(index, _)| Def { file, id: DefId::new(index) }).collect()
}

/// All definitions of a name in a namespace.
fn everywhere(q: &Query<'_>, name: &str, path: &[&str]) -> Vec<Def> {
    let files = q.program.files_with(name).into_iter().filter(|file| family(q, *file) == Family::C);
    files.flat_map(|file| defined(q, file, name, path)).collect()
}

/// The files that a file includes, and what these do, the nearest first; it itself is not among them.
fn reached(q: &Query<'_>, file: u32) -> Vec<u32> {
    let found = q.ask(Question::Reached(file), || {
        let mut reached = vec![file];
        let mut at = 0;
        while let Some(here) = reached.get(at).copied() {
            at += 1;
            let imports = q.facts(here).map(|facts| facts.imports.as_slice()).unwrap_or_default();
            for (index, _) in
                imports.iter().enumerate().filter(|(_, entry)| entry.kind == ImportKind::Include)
            {
                for place in super::places(q, here, index) {
                    if let Place::File(next) = place
                        && reached.len() < MAX_REACHED
                        && !reached.contains(&next)
                    {
                        reached.push(next);
                    }
                }
            }
        }
        let entities = reached.into_iter().skip(1).map(|file| Entity::Module(Place::File(file)));
        Found { entities: entities.collect(), via: Vec::new() }
    });
    let files = found.entities.into_iter().filter_map(|entity| match entity {
        Entity::Module(Place::File(file)) => Some(file),
        _ => None,
    });
    files.collect()
}

/// What can be seen of a name in a file, at the level of files.
fn seen_from(q: &Query<'_>, file: u32, name: &str) -> Found {
    let files = std::iter::once(file).chain(reached(q, file));
    let defs: Vec<Def> = files.flat_map(|file| defined(q, file, name, &[])).collect();
    Found { entities: defs.into_iter().map(Entity::Def).collect(), via: Vec::new() }
}

/// What can be seen of a name from the namespaces around a place, the innermost first.
fn by_namespace(q: &Query<'_>, site: Site, name: &str) -> Found {
    let Some(facts) = q.facts(site.file) else { return Found::default() };
    let around = facts.enclosing(site.scope);
    let mut path: Vec<&str> = Vec::new();
    if q.language(site.file) == "cpp" {
        path = namespaces(facts, around);
        if let Some(owner) = q.type_around(site)
            && let Some(facts) = q.facts(owner.file)
        {
            path = namespaces(facts, owner.id);
        }
    }
    loop {
        let found = match path.as_slice() {
            [] => q.lookup(&Place::File(site.file), name, true),
            inner => {
                let files = std::iter::once(site.file).chain(reached(q, site.file));
                let defs: Vec<Def> = files.flat_map(|file| defined(q, file, name, inner)).collect();
                Found { entities: defs.into_iter().map(Entity::Def).collect(), via: Vec::new() }
            }
        };
        if !found.is_empty() || path.pop().is_none() {
            return found;
        }
    }
}

/// A struct, union or enum by its tag: what can be seen, or else the only one of all.
fn tagged(q: &Query<'_>, site: Site, name: &str) -> Found {
    let is_tag = |entity: &Entity| match entity {
        Entity::Def(def) => q
            .definition(*def)
            .is_some_and(|found| matches!(found.kind, Kind::Struct | Kind::Enum | Kind::Class)),
        _ => false,
    };
    let mut found = by_namespace(q, site, name);
    found.entities.retain(is_tag);
    if found.is_empty() {
        let question = Question::Extension("tag".into(), name.into());
        found = q.ask(question, || {
            let files = q.program.files_with(name).into_iter().filter(|file| family(q, *file) == Family::C);
            let mut entities: Vec<Entity> = files
                .flat_map(|file| {
                    let facts = q.facts(file);
                    let all = facts.map(|facts| facts.definitions.as_slice()).unwrap_or_default();
                    let named = all
                        .iter()
                        .enumerate()
                        .filter(|(_, other)| facts.is_some_and(|facts| facts.text(other.name) == name));
                    named
                        .map(|(index, _)| Entity::Def(Def { file, id: DefId::new(index) }))
                        .collect::<Vec<_>>()
                })
                .filter(is_tag)
                .collect();
            if entities.len() > 1 {
                entities.clear();
            }
            Found { entities, via: Vec::new() }
        });
    }
    found
}

/// Where `using namespace a::b` leads.
fn namespace_named(q: &Query<'_>, site: Site, path: &str) -> Leads {
    let mut names = path.split('.').filter(|name| !name.is_empty());
    let Some(first) = names.next() else { return Leads::Nowhere("it names nothing") };
    if first == "std" {
        return Leads::Package("std".into());
    }
    let own = q.scopes(site.file).and_then(|scopes| scopes.find(first));
    let here = own.map(|sym| {
        let scopes = q.scopes(site.file);
        let targets = scopes.into_iter().flat_map(|scopes| scopes.offered(sym, ScopeId::new(0)));
        let defs = targets.filter_map(|target| match target {
            Target::Definition(id) => Some(Def { file: site.file, id }),
            _ => None,
        });
        defs.filter(|def| q.definition(*def).is_some_and(|found| found.kind == Kind::Module)).collect()
    });
    let mut found: Vec<Def> = here.unwrap_or_default();
    if found.is_empty() {
        found = defs_of(by_namespace(q, site, first));
    }
    for name in names {
        let next = found.first().map(|def| match q.place_of(&Entity::Def(*def)) {
            Some(place) => defs_of(q.lookup(&place, name, true)),
            None => q.member_of(*def, name),
        });
        found = next.unwrap_or_default();
    }
    match found.first() {
        Some(first) => Leads::Places(vec![Place::Inline(*first)]),
        None => Leads::Nowhere("no namespace of that name is in the workspace"),
    }
}

fn defs_of(found: Found) -> Vec<Def> {
    let defs = found.entities.into_iter().filter_map(|entity| match entity {
        Entity::Def(def) => Some(def),
        _ => None,
    });
    defs.collect()
}

/// Headers of the language and the system, which are not of the workspace whatever is called so.
const SYSTEM: &[&str] = &[
    "assert.h",
    "ctype.h",
    "errno.h",
    "fcntl.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "locale.h",
    "math.h",
    "memory.h",
    "pthread.h",
    "setjmp.h",
    "signal.h",
    "stdarg.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "strings.h",
    "time.h",
    "unistd.h",
    "wchar.h",
    "windows.h",
    "dirent.h",
    "dlfcn.h",
    "poll.h",
    "netdb.h",
    "malloc.h",
    "io.h",
    "process.h",
    "getopt.h",
    "termios.h",
    "syslog.h",
    "sched.h",
    "semaphore.h",
    "regex.h",
];

/// Where an `#include` leads.
fn include(q: &Query<'_>, file: u32, source: &str) -> Leads {
    let angled = source.starts_with('<');
    let path = source.trim_matches(['<', '>', '"']).trim();
    let outside = || Leads::Package(path.into());
    let one = |file: u32| Leads::Places(vec![Place::File(file)]);
    if angled && (SYSTEM.contains(&path) || path.starts_with("sys/") || !path.contains('.')) {
        return outside();
    }
    let Some(own) = q.program.file(file).map(|file| file.path.as_str()) else { return outside() };
    let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
    let at = |folder: &str, path: &str| q.program.file_at(&normal(&format!("{folder}/{path}")));
    if !angled && let Some(found) = at(folder, path) {
        return one(found);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let wanted = normal(path);
    let ends = |file: &&u32| {
        q.program.file(**file).is_some_and(|file| {
            let before = file.path.strip_suffix(wanted.as_str());
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    };
    let found: Vec<u32> = q.program.files_named(name).iter().filter(ends).copied().collect();
    match found.as_slice() {
        [] if angled => outside(),
        [] => Leads::Nowhere("no file of that path is in the workspace"),
        [only] => one(*only),
        _ => {
            // The usual places first, from near to far.
            let mut above = Some(folder);
            while let Some(here) = above {
                for inside in ["", "include", "src", "inc", "lib"] {
                    if let Some(found) = at(&format!("{here}/{inside}"), path) {
                        return one(found);
                    }
                }
                above = match here.rsplit_once('/') {
                    Some((up, _)) => Some(up),
                    None if here.is_empty() => None,
                    None => Some(""),
                };
            }
            nearest(q, folder, &found)
        }
    }
}

/// Of several files those that share most of their path with a folder.
fn nearest(q: &Query<'_>, folder: &str, files: &[u32]) -> Leads {
    let shared = |file: &u32| {
        let path = q.program.file(*file).map_or("", |file| file.path.as_str());
        folder.split('/').zip(path.split('/')).take_while(|(one, other)| one == other).count()
    };
    let most = files.iter().map(shared).max().unwrap_or(0);
    let near: Vec<u32> = files.iter().copied().filter(|file| shared(file) == most).take(4).collect();
    Leads::Places(near.into_iter().map(Place::File).collect())
}

/// Whether two functions of one name may be one: they take as many arguments.
fn alike(q: &Query<'_>, one: &Definition, other: Def) -> bool {
    let count = |of: &Definition| of.params.len();
    q.language(other.file) == "c" || q.definition(other).is_some_and(|other| count(other) == count(one))
}

/// The declarations of a definition and the definition of a declaration: the same name at the same level in files of
/// which one includes the other.
fn same(q: &Query<'_>, def: Def) -> Vec<Def> {
    let (Some(facts), Some(own)) = (q.facts(def.file), q.definition(def)) else { return Vec::new() };
    let name = facts.text(own.name);
    let around = facts.definition(own.parent).filter(|around| around.kind.is_type());
    let class = match around {
        Some(_) if own.kind == Kind::Variant => None,
        Some(_) if !own.kind.is_callable() => return Vec::new(),
        Some(_) => Some(Def { file: def.file, id: own.parent }),
        None => q.owner_of(def),
    };
    if let Some(class) = class {
        let others = q.member_of(class, name).into_iter();
        return others.filter(|other| *other != def && alike(q, own, *other)).collect();
    }
    let Some(path) = level(facts, def.id, own).filter(|_| !own.flags.has(Flags::STATIC)) else {
        return Vec::new();
    };
    let others = everywhere(q, name, &path).into_iter().filter(|other| *other != def);
    let reaches = reached(q, def.file);
    let near = |other: &Def| {
        other.file == def.file || reaches.contains(&other.file) || reached(q, other.file).contains(&def.file)
    };
    // One of several that the preprocessor chooses from.
    let is_variant = |other: &Def| {
        let found = q.definition(*other);
        found.is_some_and(|found| found.kind == own.kind && is_macro(found) == is_macro(own)) && near(other)
    };
    if own.kind.is_type() {
        let is_tag = |other: &Def| is_tag_of(q, def, *other) || is_tag_of(q, *other, def);
        return others
            .filter(|other| is_tag(other) || (own.kind == Kind::Type && is_variant(other)))
            .collect();
    }
    if is_macro(own) {
        return others.filter(is_variant).collect();
    }
    let linked = matches!(own.kind, Kind::Function | Kind::Method | Kind::Variable | Kind::Constant);
    if !linked {
        return Vec::new();
    }
    let is_same = |other: &Def| {
        let Some(definition) = q.definition(*other) else { return false };
        let one = own.flags.has(Flags::DECLARATION) || definition.flags.has(Flags::DECLARATION);
        one && own.kind.is_callable() == definition.kind.is_callable()
            && !is_macro(definition)
            && !definition.flags.has(Flags::STATIC)
            && alike(q, own, *other)
            && near(other)
    };
    others.filter(is_same).collect()
}

fn is_macro(of: &Definition) -> bool {
    of.kind == Kind::Macro || (of.kind == Kind::Constant && of.ty.is_none() && of.value.is_none())
}

/// `typedef struct name name;`
fn is_tag_of(q: &Query<'_>, alias: Def, tag: Def) -> bool {
    let (Some(facts), Some(definition)) = (q.facts(alias.file), q.definition(alias)) else { return false };
    let Some(Type::Named { path, .. }) = facts.ty(definition.ty).filter(|_| definition.kind == Kind::Type)
    else {
        return false;
    };
    facts.text(*path).strip_prefix("struct ") == Some(q.name_of(tag))
        && q.definition(tag).is_some_and(|tag| matches!(tag.kind, Kind::Struct | Kind::Enum | Kind::Class))
}
