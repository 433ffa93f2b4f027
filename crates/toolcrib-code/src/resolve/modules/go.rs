//! Go: a folder is a package, and `go.mod` says what it is called.

use super::super::program::{Def, normal};
use super::super::query::{Entity, Found, Place, Query, Site};
use super::super::scopes::Target;
use super::{Family, Leads, Modules, family};
use crate::facts::{DefId, FileFacts, ImportKind, Kind, ScopeId, Type, TypeId};
use crate::resolve::known;

pub(super) struct Go;

impl Modules for Go {
    fn ambient(&self, q: &Query<'_>, site: Site, name: &str) -> Found {
        let found = in_files(q, &package_of(q, site.file), name, true);
        if !found.is_empty() {
            return found;
        }
        let found = by_clause(q, site.file, name);
        if found.is_empty() && known::is_everywhere("go", name) {
            return Found::one(Entity::External("builtin".into()));
        }
        found
    }

    fn leads(&self, q: &Query<'_>, file: u32, import: usize) -> Leads {
        leads(q, file, import)
    }

    fn lookup(&self, q: &Query<'_>, place: &Place, name: &str, inside: bool) -> Found {
        let files = match place {
            Place::Folder(folder) => importable(q, folder),
            Place::File(file) | Place::Inline(Def { file, .. }) => package_of(q, *file),
        };
        in_files(q, &files, name, inside)
    }

    fn apart(&self, q: &Query<'_>, def: Def, name: &str) -> Vec<Def> {
        let Some(definition) = q.definition(def).filter(|found| found.scope == ScopeId::new(0)) else {
            return Vec::new();
        };
        let Some(facts) = q.facts(def.file) else { return Vec::new() };
        let own = facts.text(definition.name);
        let mut found = Vec::new();
        for file in package_of(q, def.file) {
            let Some(facts) = q.facts(file).filter(|_| q.program.has_name(file, name)) else { continue };
            for (index, method) in facts.definitions.iter().enumerate() {
                if method.owner.is_some()
                    && facts.text(method.name) == name
                    && receiver(facts, method.owner) == Some(own)
                {
                    found.push(Def { file, id: DefId::new(index) });
                }
            }
        }
        found
    }

    /// What each system has of its own: the same name in other files of the package.
    fn same(&self, q: &Query<'_>, def: Def) -> Vec<Def> {
        let (Some(facts), Some(definition)) = (q.facts(def.file), q.definition(def)) else {
            return Vec::new();
        };
        // Files of a program may be programs of their own.
        if facts.text(facts.package) == "main" || definition.scope != ScopeId::new(0) {
            return Vec::new();
        }
        let name = facts.text(definition.name);
        if matches!(name, "init" | "_") {
            return Vec::new();
        }
        let owner = receiver(facts, definition.owner);
        let mut found = Vec::new();
        for file in package_of(q, def.file).into_iter().filter(|file| *file != def.file) {
            let Some(facts) = q.facts(file).filter(|_| q.program.has_name(file, name)) else { continue };
            for (index, other) in facts.definitions.iter().enumerate() {
                if facts.text(other.name) == name
                    && other.scope == ScopeId::new(0)
                    && receiver(facts, other.owner) == owner
                {
                    found.push(Def { file, id: DefId::new(index) });
                }
            }
        }
        found
    }
}

/// The name of the type that a method is for.
fn receiver(facts: &FileFacts, owner: TypeId) -> Option<&str> {
    let mut ty = facts.ty(owner)?;
    for _ in 0..4 {
        match ty {
            Type::Pointer(inner) => ty = facts.ty(*inner)?,
            Type::Named { path, .. } => return Some(facts.text(*path)),
            _ => return None,
        }
    }
    None
}

fn folder_of<'q>(q: &Query<'q>, file: u32) -> &'q str {
    let path = q.program.file(file).map_or("", |file| file.path.as_str());
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn clause<'q>(q: &Query<'q>, file: u32) -> &'q str {
    q.facts(file).map_or("", |facts| facts.text(facts.package))
}

fn files_in(q: &Query<'_>, folder: &str) -> Vec<u32> {
    let mut files = q.program.files_in(folder);
    files.retain(|file| family(q, *file) == Family::Go);
    files
}

/// The files of the package that a file is in.
fn package_of(q: &Query<'_>, file: u32) -> Vec<u32> {
    let own = clause(q, file);
    let mut files = files_in(q, folder_of(q, file));
    files.retain(|other| clause(q, *other) == own);
    files
}

/// The files of a folder that others can import: neither tests from outside nor programs that lie beside a library.
fn importable(q: &Query<'_>, folder: &str) -> Vec<u32> {
    let mut files = files_in(q, folder);
    files.retain(|file| !clause(q, *file).ends_with("_test"));
    if files.iter().any(|file| clause(q, *file) != "main") {
        files.retain(|file| clause(q, *file) != "main");
    }
    files
}

/// A name at the top of some files.
fn in_files(q: &Query<'_>, files: &[u32], name: &str, inside: bool) -> Found {
    let mut entities = Vec::new();
    if !inside && !name.starts_with(char::is_uppercase) {
        return Found::default();
    }
    for file in files.iter().copied().filter(|file| q.program.has_name(*file, name)) {
        let Some(scopes) = q.scopes(file) else { continue };
        let Some(sym) = scopes.find(name) else { continue };
        entities.extend(scopes.offered(sym, ScopeId::new(0)).filter_map(|target| match target {
            Target::Definition(id) => {
                let definition = scopes.facts().definition(id)?;
                let named = definition.owner.is_none() && definition.kind != Kind::Method;
                named.then_some(Entity::Def(Def { file, id }))
            }
            _ => None,
        }));
    }
    Found { entities, via: Vec::new() }
}

/// A package that is called otherwise than the last part of its path.
fn by_clause(q: &Query<'_>, file: u32, name: &str) -> Found {
    let Some(facts) = q.facts(file) else { return Found::default() };
    for (index, import) in facts.imports.iter().enumerate() {
        if import.kind != ImportKind::Module || import.alias.is_some() {
            continue;
        }
        let called = match super::leads(q, file, index) {
            Leads::Places(places) => places.iter().any(|place| match place {
                Place::Folder(folder) => {
                    importable(q, folder).first().is_some_and(|first| clause(q, *first) == name)
                }
                _ => false,
            }),
            Leads::Package(path) => may_be_called(&path, name),
            Leads::Nowhere(_) => false,
        };
        if called {
            return super::imported(q, file, index, None);
        }
    }
    Found::default()
}

/// Whether a package outside is likely called so: `gopkg.in/yaml.v3`, `x/go-toml/v2`.
fn may_be_called(path: &str, name: &str) -> bool {
    let mut parts = path.rsplit('/');
    let mut last = parts.next().unwrap_or_default();
    let version = |part: &str| {
        part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if version(last) {
        last = parts.next().unwrap_or_default();
    }
    let last = match last.rsplit_once('.') {
        Some((before, after)) if version(after) => before,
        _ => last,
    };
    let bare: String = last.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
    last.split(['-', '.']).any(|part| part == name) || bare == name
}

/// What `go.mod` says.
struct Manifest {
    folder: String,
    module: String,
    /// Modules that are somewhere in the workspace, with their folder.
    replaced: Vec<(String, String)>,
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The folders above a file, the nearest first.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    let mut at = Some(folder);
    std::iter::from_fn(move || {
        let here = at?;
        at = match here.rsplit_once('/') {
            Some((up, _)) => Some(up),
            None if here.is_empty() => None,
            None => Some(""),
        };
        Some(here)
    })
}

fn module_named(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(line.split("//").next().unwrap_or(line).trim().trim_matches('"'))
}

fn manifest(q: &Query<'_>, file: u32) -> Option<Manifest> {
    let (folder, text) = above(folder_of(q, file))
        .find_map(|folder| Some((folder.to_owned(), q.program.manifest(&join(folder, "go.mod"))?)))?;
    let module = module_named(&text)?.to_owned();
    let mut replaced = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line).trim();
        let line = line.strip_prefix("replace ").unwrap_or(line);
        if let Some((from, to)) = line.split_once("=>")
            && let (Some(from), Some(to)) = (from.split_whitespace().next(), to.split_whitespace().next())
            && to.starts_with('.')
        {
            replaced.push((from.to_owned(), normal(&join(&folder, to))));
        }
    }
    let work = above(&folder)
        .find_map(|above| Some((above.to_owned(), q.program.manifest(&join(above, "go.work"))?)));
    if let Some((at, text)) = work {
        let mut inside = false;
        for line in text.lines().map(str::trim) {
            let named = match line.strip_prefix("use ") {
                Some(rest) if rest.trim() == "(" => {
                    inside = true;
                    continue;
                }
                Some(rest) => rest.trim(),
                None if line == ")" => {
                    inside = false;
                    continue;
                }
                None if inside => line,
                None => continue,
            };
            let other = normal(&join(&at, named.trim_matches('"')));
            if let Some(text) = q.program.manifest(&join(&other, "go.mod"))
                && let Some(module) = module_named(&text)
            {
                replaced.push((module.to_owned(), other));
            }
        }
    }
    Some(Manifest { folder, module, replaced })
}

/// The rest of an import's path below a module.
fn below<'p>(path: &'p str, module: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(module)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

fn leads(q: &Query<'_>, file: u32, import: usize) -> Leads {
    let Some(path) = q.facts(file).and_then(|facts| Some(facts.text(facts.imports.get(import)?.source)))
    else {
        return Leads::Nowhere("there is no such import");
    };
    let has_files = |folder: &String| !importable(q, folder).is_empty();
    let place = |folder: String| Leads::Places(vec![Place::Folder(folder.into())]);
    if path.starts_with('.') {
        let folder = normal(&join(folder_of(q, file), path));
        return match has_files(&folder) {
            true => place(folder),
            false => Leads::Nowhere("no package of that path is in the workspace"),
        };
    }
    let Some(manifest) = manifest(q, file) else {
        // Without a module the end of the path tells: what is before it is where the sources were cloned from.
        let folders = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..));
        let folder = folders.filter(|_| path.contains('.')).map(str::to_owned).find(has_files);
        return folder.map_or_else(|| Leads::Package(path.into()), place);
    };
    let own = std::iter::once((&manifest.module, &manifest.folder));
    let others = manifest.replaced.iter().map(|(module, folder)| (module, folder));
    let mut inside = own.chain(others).filter_map(|(module, folder)| {
        let rest = below(path, module)?;
        Some((module.len(), if rest.is_empty() { folder.clone() } else { join(folder, rest) }))
    });
    let longest = inside.by_ref().max_by_key(|(length, _)| *length);
    match longest {
        Some((_, folder)) if has_files(&folder) => place(folder),
        Some(_) => Leads::Nowhere("no package of that path is in the workspace"),
        None => {
            let vendored = join(&join(&manifest.folder, "vendor"), path);
            if has_files(&vendored) { place(vendored) } else { Leads::Package(path.into()) }
        }
    }
}
