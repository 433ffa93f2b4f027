//! All files together: what a use in one of them means, wherever it is defined.

use std::sync::{Arc, OnceLock};

use super::cache::Cache;
use super::cargo::Cargo;
use super::layout::Layout;
use super::manifests::Manifests;
use super::modules::Packages;
use super::modules::python::Tops;
use super::{FileScopes, Label};
use crate::facts::{DefId, Definition, FileFacts};
use crate::index::{FileEntry, Snapshot};
use crate::scip::Overlay;

/// A definition in some file of the program: the file's place in [`Snapshot::files`], and the definition in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Def {
    /// Which file.
    pub file: u32,
    /// Which definition in it.
    pub id: DefId,
}

/// What a use of a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// One definition, or several that are one thing: overloads, a declaration and its definition, `cfg` variants.
    Definitions(Vec<Def>),
    /// A local, parameter or type parameter: the index of the binding in the file.
    Local(usize),
    /// A module that is a whole file or folder: the files of it (its `mod.rs`, `__init__.py` or index file first).
    Module(Vec<u32>),
    /// Something of a package that is not in the workspace, or of the language itself; the package's name if known.
    External(String),
    /// Not known. It may be anything of that name.
    Unknown,
}

/// A use of a name with what it stands for and how sure that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it stands for.
    pub meaning: Meaning,
    /// How sure that is. Of something unknown: `NameMatch`.
    pub label: Label,
    /// What proves it, in a few words.
    pub reason: &'static str,
    /// Places it went through, as imports and re-exports: file and byte offset.
    pub chain: Vec<(u32, u32)>,
}

/// Where an import leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// To files of the workspace, the one that stands for the module first.
    Files(Vec<u32>),
    /// To a package outside, or the standard library.
    Package(String),
    /// Nowhere that is known, and why.
    Unresolved(String),
}

/// A name that a module offers to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The name outside.
    pub name: String,
    /// What it is here, if it is known.
    pub meaning: Meaning,
    /// Where it is written in the module: a definition's name, or the re-export.
    pub start: u32,
    /// The module it is handed on from, as written; none if it is defined here.
    pub from: Option<String>,
    /// Whether it is the default export.
    pub default: bool,
}

/// A snapshot that can be asked across files.
pub struct Program {
    snapshot: Arc<Snapshot>,
    known: Arc<Known>,
    overlay: Option<Arc<Overlay>>,
}

/// What was worked out so far. It holds as long as nothing changes that it stands on.
struct Known {
    loaded: Vec<OnceLock<Option<Arc<FileScopes>>>>,
    cache: Cache,
    cargo: Cargo,
    layout: Layout,
    tops: OnceLock<Tops>,
    packages: Packages,
    manifests: Arc<Manifests>,
}

impl Program {
    /// Over a snapshot. Nothing is looked at before it is asked for.
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        let known = Known {
            loaded: snapshot.files().iter().map(|_| OnceLock::new()).collect(),
            cache: Cache::default(),
            cargo: Cargo::default(),
            layout: Layout::default(),
            tops: OnceLock::new(),
            packages: Packages::default(),
            manifests: Arc::new(Manifests::new(Arc::clone(&snapshot))),
        };
        Self { snapshot, known: Arc::new(known), overlay: None }
    }

    /// With what a SCIP index says about the files that it still fits.
    #[must_use]
    pub fn with_overlay(self, overlay: Arc<Overlay>) -> Self {
        Self { overlay: Some(overlay), ..self }
    }

    /// The definitions that a SCIP index names for what is used at a place, as far as they are known here.
    pub(super) fn laid_over(&self, file: u32, start: u32) -> Option<Vec<Def>> {
        let overlay = self.overlay.as_ref()?;
        let places = overlay.definition_of(&self.snapshot, &self.file(file)?.path, start)?;
        let found: Vec<Def> = places
            .into_iter()
            .filter_map(|(path, at)| {
                let file = self.file_at(path)?;
                let definitions = self.facts(file)?.definitions.iter();
                let id = DefId::new(definitions.enumerate().find(|(_, found)| found.name_start == at)?.0);
                Some(Def { file, id })
            })
            .collect();
        (!found.is_empty()).then_some(found)
    }

    /// Over a newer snapshot: with all that was worked out if nothing has changed, else with what is known of the files
    /// that are as they were.
    #[must_use]
    pub fn renewed(&self, snapshot: Arc<Snapshot>) -> Self {
        let (old, new) = (self.snapshot.files(), snapshot.files());
        let unchanged = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| Arc::ptr_eq(old, new));
        if unchanged && self.known.manifests.are_fresh() {
            return Self { snapshot, known: Arc::clone(&self.known), overlay: self.overlay.clone() };
        }
        let renewed = Self { overlay: self.overlay.clone(), ..Self::new(snapshot) };
        for (file, slot) in renewed.snapshot.files().iter().zip(&renewed.known.loaded) {
            let before = self.file_at(&file.path);
            let same = before.and_then(|at| self.file(at)).is_some_and(|before| Arc::ptr_eq(before, file));
            let known = before.filter(|_| same).and_then(|at| self.known.loaded.get(at as usize)?.get());
            if let Some(scopes) = known {
                let _ = slot.set(scopes.clone());
            }
        }
        renewed
    }

    /// Whether nothing has changed since another, so that what was worked out from it still holds.
    pub fn is_as(&self, other: &Program) -> bool {
        Arc::ptr_eq(&self.known, &other.known)
    }

    /// What it stands on.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// A file by its number.
    pub fn file(&self, file: u32) -> Option<&Arc<FileEntry>> {
        self.snapshot.files().get(file as usize)
    }

    /// The number of a file.
    pub fn file_at(&self, path: &str) -> Option<u32> {
        let at = self.snapshot.files().binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        u32::try_from(at).ok()
    }

    /// The scopes of a file, and through them its facts.
    pub fn scopes(&self, file: u32) -> Option<&Arc<FileScopes>> {
        let entry = self.file(file)?;
        let load = || Some(Arc::new(FileScopes::new(self.snapshot.facts(entry)?, entry.language)));
        self.known.loaded.get(file as usize)?.get_or_init(load).as_ref()
    }

    /// The facts of a file.
    pub fn facts(&self, file: u32) -> Option<&Arc<FileFacts>> {
        self.scopes(file).map(|scopes| scopes.facts())
    }

    /// A definition.
    pub fn definition(&self, def: Def) -> Option<&Definition> {
        self.facts(def.file)?.definition(def.id)
    }

    /// The files in which an identifier is written.
    pub(super) fn files_with(&self, name: &str) -> Vec<u32> {
        let key = crate::index::name_key(name);
        let files = self.snapshot.files().iter().enumerate();
        files.filter(|(_, file)| file.has_name(key)).map(|(index, _)| index as u32).collect()
    }

    /// The source files that lie directly in a folder.
    pub(super) fn files_in(&self, folder: &str) -> Vec<u32> {
        let files = self.snapshot.files();
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let from = files.partition_point(|file| file.path.as_str() < below.as_str());
        let inside = files.iter().enumerate().skip(from);
        let inside = inside.take_while(|(_, file)| file.path.starts_with(&below));
        let direct =
            inside.filter(|(_, file)| file.path.get(below.len()..).is_some_and(|name| !name.contains('/')));
        direct.map(|(index, _)| index as u32).collect()
    }

    /// The first source file at or below a folder.
    pub(super) fn files_below(&self, folder: &str) -> Option<u32> {
        let files = self.snapshot.files();
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let at = files.partition_point(|file| file.path.as_str() < below.as_str());
        files.get(at).filter(|file| file.path.starts_with(&below)).map(|_| at as u32)
    }

    /// The content of a file that is no source: a manifest.
    pub(super) fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.known.manifests.read(path)
    }

    /// All manifests.
    pub(super) fn manifests(&self) -> &Arc<Manifests> {
        &self.known.manifests
    }

    /// The text of a source file.
    pub(super) fn source(&self, file: u32) -> Option<Vec<u8>> {
        self.snapshot.source(self.file(file)?)
    }

    /// Whether an identifier is written in a file.
    pub(super) fn has_name(&self, file: u32, name: &str) -> bool {
        self.file(file).is_some_and(|file| file.has_name(crate::index::name_key(name)))
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.known.layout
    }

    pub(super) fn cache(&self) -> &Cache {
        &self.known.cache
    }

    /// Where Python's top-level modules lie.
    pub(super) fn tops(&self) -> &Tops {
        self.known.tops.get_or_init(|| Tops::of(self))
    }

    pub(super) fn cargo(&self) -> &Cargo {
        &self.known.cargo
    }

    pub(super) fn packages(&self) -> &Packages {
        &self.known.packages
    }
}

/// A path without `.` and `..`.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.join("/")
}
