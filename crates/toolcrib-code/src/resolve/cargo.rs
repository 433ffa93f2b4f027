//! The crates of a workspace, as far as `Cargo.toml` tells of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::program::{Program, normal};
use super::query::Place;

/// What is known of the packages of a snapshot.
#[derive(Default)]
pub(super) struct Cargo {
    packages: Mutex<HashMap<String, Option<Arc<Package>>>>,
    parents: Mutex<HashMap<u32, Option<Place>>>,
}

/// A package with a `Cargo.toml`.
pub(super) struct Package {
    folder: String,
    pub lib_name: String,
    lib_path: String,
    dependencies: HashMap<String, Wanted>,
    is_package: bool,
    /// `[workspace.dependencies]`, of a workspace's root.
    shared: Option<HashMap<String, Wanted>>,
}

#[derive(Clone)]
struct Wanted {
    package: String,
    path: Option<String>,
    shared: bool,
}

/// A crate that another depends on.
pub(super) enum Dependency {
    /// In the workspace: the root file of its library.
    Here(u32),
    /// A package outside.
    Elsewhere(String),
}

impl Cargo {
    /// The package that a file belongs to.
    pub(super) fn package_of(&self, program: &Program, file: u32) -> Option<Arc<Package>> {
        let path = &program.file(file)?.path;
        folders_above(path).find_map(|folder| self.at(program, folder).filter(|package| package.is_package))
    }

    /// The root file of the library that lies in a folder under an unusual name.
    pub(super) fn root_in(&self, program: &Program, folder: &str) -> Option<u32> {
        let package = folders_above(&format!("{folder}/x"))
            .find_map(|above| self.at(program, above).filter(|package| package.is_package))?;
        let lies_here = package.lib_path.rsplit_once('/').is_some_and(|(at, _)| at == folder);
        lies_here.then(|| package.lib_root(program)).flatten()
    }

    /// The module that declares a file, found once.
    pub(super) fn parent(&self, file: u32, find: impl FnOnce() -> Option<Place>) -> Option<Place> {
        let kept = self.parents.lock().unwrap_or_else(PoisonError::into_inner).get(&file).cloned();
        kept.unwrap_or_else(|| {
            let found = find();
            self.parents.lock().unwrap_or_else(PoisonError::into_inner).insert(file, found.clone());
            found
        })
    }

    fn at(&self, program: &Program, folder: &str) -> Option<Arc<Package>> {
        let kept = self.packages.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned();
        kept.unwrap_or_else(|| {
            let package = Package::read(program, folder).map(Arc::new);
            let mut packages = self.packages.lock().unwrap_or_else(PoisonError::into_inner);
            packages.insert(folder.to_owned(), package.clone());
            package
        })
    }
}

/// The folders around a path, nearest first; the last is the root.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    let mut left = Some(path);
    std::iter::from_fn(move || {
        let here = left?;
        let above = here.rsplit_once('/').map(|(above, _)| above);
        left = above;
        above.or_else(|| (!here.is_empty()).then_some(""))
    })
}

impl Package {
    fn read(program: &Program, folder: &str) -> Option<Self> {
        let text = program.read(&beside(folder, "Cargo.toml"))?;
        let table: toml::Table = std::str::from_utf8(&text).ok()?.parse().ok()?;
        let package = table.get("package");
        let name =
            package.and_then(|package| package.get("name")).and_then(toml::Value::as_str).unwrap_or_default();
        let lib = table.get("lib");
        let text = |key: &str| lib.and_then(|lib| lib.get(key)).and_then(toml::Value::as_str);
        let mut dependencies = HashMap::new();
        collect(&table, &mut dependencies);
        for target in
            table.get("target").and_then(toml::Value::as_table).into_iter().flat_map(|all| all.values())
        {
            if let Some(target) = target.as_table() {
                collect(target, &mut dependencies);
            }
        }
        let shared = table.get("workspace").and_then(toml::Value::as_table).map(|workspace| {
            let mut shared = HashMap::new();
            collect(workspace, &mut shared);
            shared
        });
        Some(Self {
            folder: folder.to_owned(),
            lib_name: text("name").unwrap_or(name).replace('-', "_"),
            lib_path: beside(folder, text("path").unwrap_or("src/lib.rs")),
            dependencies,
            is_package: package.is_some(),
            shared,
        })
    }

    /// The root file of its library.
    pub(super) fn lib_root(&self, program: &Program) -> Option<u32> {
        program.file_at(&normal(&self.lib_path))
    }

    /// A crate by the name that the code has for it.
    pub(super) fn dependency(&self, program: &Program, name: &str) -> Option<Dependency> {
        let wanted = self.dependencies.get(name)?;
        let (path, folder) = match wanted.shared {
            true => self.shared_one(program, name)?,
            false => (wanted.path.clone(), self.folder.clone()),
        };
        let here = path.and_then(|path| {
            let package = program.cargo().at(program, &normal(&beside(&folder, &path)))?;
            package.lib_root(program)
        });
        Some(here.map_or_else(|| Dependency::Elsewhere(wanted.package.clone()), Dependency::Here))
    }

    fn shared_one(&self, program: &Program, name: &str) -> Option<(Option<String>, String)> {
        let inside = beside(&self.folder, "x");
        let found = folders_above(&inside).find_map(|folder| {
            let root = program.cargo().at(program, folder)?;
            let wanted = root.shared.as_ref()?.get(name).cloned();
            wanted.map(|wanted| (wanted.path, root.folder.clone()))
        });
        Some(found.unwrap_or((None, String::new())))
    }
}

fn beside(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn collect(table: &toml::Table, into: &mut HashMap<String, Wanted>) {
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (name, value) in table.get(kind).and_then(toml::Value::as_table).into_iter().flatten() {
            let text = |key: &str| value.get(key).and_then(toml::Value::as_str).map(str::to_owned);
            let wanted = Wanted {
                package: text("package").unwrap_or_else(|| name.clone()),
                path: text("path"),
                shared: value.get("workspace").and_then(toml::Value::as_bool) == Some(true),
            };
            into.insert(name.replace('-', "_"), wanted);
        }
    }
}
