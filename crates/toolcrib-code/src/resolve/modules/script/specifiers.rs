//! What a module specifier leads to, by the rules of Node.js and TypeScript.
//!
//! The rules are those of `oxc_resolver`, which here sees the workspace and nothing else: its files are those of the
//! snapshot, manifests are read through the confined workspace, and the packages of the workspace lie in every
//! `node_modules`, whether they are installed or not.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use oxc_resolver::{
    FileMetadata, FileSystem, ResolveError, ResolveOptions, ResolverGeneric, TsconfigDiscovery,
};

use crate::resolve::manifests::Manifests;
use crate::resolve::program::{Program, normal};

/// Where the workspace lies for the resolver.
const ROOT: &str = "/workspace";
/// So many folders are looked at for manifests.
const MAX_FOLDERS: usize = 4000;
/// Folders of built output, and what their sources are in.
const BUILT: &[&str] = &["dist", "lib", "build", "out", "output", "es", "esm", "cjs", "types", "module"];
/// Extensions of built files, and of what they may be built from.
const EXTENSIONS: &[(&str, &[&str])] = &[
    (".d.mts", &[".mts", ".ts"]),
    (".d.cts", &[".cts", ".ts"]),
    (".d.ts", &[".ts", ".tsx", ".mts", ".cts", ".js"]),
    (".mjs", &[".mts", ".ts", ".tsx", ".mjs", ".js"]),
    (".cjs", &[".cts", ".ts", ".tsx", ".cjs", ".js"]),
    (".jsx", &[".tsx", ".jsx"]),
    (".js", &[".ts", ".tsx", ".mts", ".js", ".jsx"]),
];

/// The packages of a workspace, and what resolves specifiers between them.
#[derive(Default)]
pub(in crate::resolve) struct Packages {
    tools: OnceLock<Tools>,
    known: Mutex<HashMap<(String, String), Option<String>>>,
}

impl Packages {
    /// The path of the file that a specifier in a file leads to, if it is in the workspace.
    pub(super) fn resolve(&self, program: &Program, file: &str, specifier: &str) -> Option<String> {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let key = (folder.to_owned(), specifier.to_owned());
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let tools = self.tools.get_or_init(|| Tools::new(program.manifests()));
        let bare = specifier.split(['?', '!']).next().unwrap_or(specifier);
        let from = format!("{ROOT}/{file}");
        let found = tools.resolvers.iter().find_map(|resolver| {
            let found = resolver.resolve_file(&from, bare).ok()?;
            let path = tools.files.inside(found.path())?;
            if program.file_at(&path).is_some() { Some(path) } else { tools.files.source_of(&path) }
        });
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        found
    }
}

/// The package that a specifier names; none if it is a path.
pub(super) fn package_name(specifier: &str) -> Option<&str> {
    if specifier.starts_with(['.', '/', '#']) || specifier.is_empty() {
        return None;
    }
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(parts - 1).map_or(specifier.len(), |(at, _)| at);
    specifier.get(..end)
}

/// Resolvers in the order in which they are asked, and the files that they see.
struct Tools {
    files: Files,
    resolvers: Vec<ResolverGeneric<Files>>,
}

impl Tools {
    fn new(from: &Arc<Manifests>) -> Self {
        let (packages, conditions) = manifests(from);
        let packages = Arc::new(packages);
        let files = |built| Files::shared(from, &packages, built);
        // First what is there, then what is built from what is there; the last if no tsconfig can be read.
        let resolvers = [(false, true), (true, true), (true, false)].map(|(built, tsconfig)| {
            ResolverGeneric::new_with_file_system(files(built), options(&conditions, tsconfig))
        });
        Self { files: files(true), resolvers: resolvers.into() }
    }
}

fn options(conditions: &[String], tsconfig: bool) -> ResolveOptions {
    let strings = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let alias = |from: &str, to: &[&str]| (from.to_owned(), strings(to));
    let mut names = conditions.to_vec();
    names.extend(strings(&["source", "types", "import", "module", "node", "require", "browser", "default"]));
    ResolveOptions {
        tsconfig: tsconfig.then_some(TsconfigDiscovery::Auto),
        condition_names: names,
        extensions: strings(&[
            ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs",
            ".json",
        ]),
        extension_alias: vec![
            alias(".js", &[".ts", ".tsx", ".d.ts", ".js", ".jsx"]),
            alias(".jsx", &[".tsx", ".d.ts", ".jsx"]),
            alias(".mjs", &[".mts", ".d.mts", ".mjs"]),
            alias(".cjs", &[".cts", ".d.cts", ".cjs"]),
        ],
        main_fields: strings(&["source", "types", "typings", "module", "main"]),
        ..ResolveOptions::default()
    }
}

/// The folders of the packages by their names, and the conditions that the workspace adds for its own packages.
fn manifests(from: &Manifests) -> (HashMap<String, String>, Vec<String>) {
    let mut folders: Vec<&str> = Vec::new();
    let mut last = "";
    for file in from.snapshot().files() {
        let mut folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder == last && !folders.is_empty() {
            continue;
        }
        last = folder;
        loop {
            folders.push(folder);
            if folder.is_empty() {
                break;
            }
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
    folders.sort_unstable_by_key(|folder| (folder.matches('/').count(), *folder));
    folders.dedup();
    let (mut packages, mut conditions) = (HashMap::new(), Vec::new());
    for folder in folders.into_iter().filter(|folder| !folder.contains("node_modules")).take(MAX_FOLDERS) {
        let at = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        if let Some(name) = json(from, &at("package.json")).and_then(|manifest| text(&manifest, "name")) {
            packages.entry(name).or_insert_with(|| folder.to_owned());
        }
        let custom = json(from, &at("tsconfig.json"))
            .and_then(|config| config.get("compilerOptions")?.get("customConditions").cloned());
        for name in custom.iter().flat_map(|list| list.as_array()).flatten().filter_map(|name| name.as_str())
        {
            if !conditions.iter().any(|known| known == name) {
                conditions.push(name.to_owned());
            }
        }
    }
    (packages, conditions)
}

fn json(from: &Manifests, path: &str) -> Option<serde_json::Value> {
    serde_json::from_slice(&from.read(path)?).ok()
}

fn text(value: &serde_json::Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

/// The workspace as the resolver sees it.
struct Files {
    from: Option<Arc<Manifests>>,
    packages: Arc<HashMap<String, String>>,
    /// Whether built files that are not there are taken for their sources.
    built: bool,
}

impl Files {
    fn shared(from: &Arc<Manifests>, packages: &Arc<HashMap<String, String>>, built: bool) -> Self {
        Self { from: Some(Arc::clone(from)), packages: Arc::clone(packages), built }
    }

    /// A path in the workspace, packages found in `node_modules` of any folder.
    fn inside(&self, path: &Path) -> Option<String> {
        let path = path.to_str()?.strip_prefix(ROOT)?;
        let path = path.trim_start_matches('/');
        match path.rfind("node_modules/") {
            Some(at) => {
                let rest = path.get(at..)?.strip_prefix("node_modules/")?;
                let name = package_name(rest)?;
                let folder = self.packages.get(name)?;
                let below = rest.get(name.len()..)?;
                Some(normal(&format!("{folder}{below}")))
            }
            None => Some(normal(path)),
        }
    }

    fn is_file(&self, path: &str) -> bool {
        let Some(from) = &self.from else { return false };
        let at = from.snapshot().files().binary_search_by(|file| file.path.as_str().cmp(path));
        at.is_ok() || (path.ends_with(".json") && from.read(path).is_some())
    }

    fn is_folder(&self, path: &str) -> bool {
        let Some(snapshot) = self.from.as_ref().map(|from| from.snapshot()) else { return false };
        if path.is_empty() {
            return true;
        }
        let below = format!("{path}/");
        let at = snapshot.files().partition_point(|file| file.path.as_str() < below.as_str());
        snapshot.files().get(at).is_some_and(|file| file.path.starts_with(&below))
    }

    /// The source that a built file is made from: `dist/x.js` from `src/x.ts`.
    fn source_of(&self, path: &str) -> Option<String> {
        let (built, sources) = EXTENSIONS.iter().find(|(built, _)| path.ends_with(built))?;
        let stem = path.strip_suffix(built)?;
        let parts: Vec<&str> = stem.split('/').collect();
        let mut stems = vec![stem.to_owned()];
        for (at, part) in parts.iter().enumerate().rev() {
            if BUILT.contains(part) {
                let (before, after) = parts.split_at(at);
                let after: Vec<&str> =
                    after.iter().copied().skip_while(|part| BUILT.contains(part)).collect();
                for source in [&["src"][..], &[]] {
                    stems.push([before, source, &after].concat().join("/"));
                }
            }
        }
        // A package's own folder may hold what is built from `src` beside it.
        for folder in self.packages.values() {
            let below = if folder.is_empty() { Some(stem) } else { stem.strip_prefix(&format!("{folder}/")) };
            if let Some(below) = below {
                stems.push(if folder.is_empty() {
                    format!("src/{below}")
                } else {
                    format!("{folder}/src/{below}")
                });
            }
        }
        stems.sort_by_key(|stem| std::cmp::Reverse(stem.len()));
        let stems = std::iter::once(stem.to_owned()).chain(stems);
        stems
            .flat_map(|stem| sources.iter().map(move |ext| format!("{stem}{ext}")))
            .find(|at| self.is_file(at))
    }

    fn missing(path: &Path) -> io::Error {
        io::Error::new(io::ErrorKind::NotFound, path.display().to_string())
    }
}

impl FileSystem for Files {
    fn new() -> Self {
        Self { from: None, packages: Arc::default(), built: false }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let read = || self.from.as_ref()?.read(&self.inside(path)?);
        read().ok_or_else(|| Self::missing(path))
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        let bytes = self.read(path)?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    fn metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        if path == Path::new("/") || path == Path::new(ROOT) {
            return Ok(FileMetadata::new(false, true, false));
        }
        if path.ends_with("node_modules") && path.starts_with(ROOT) {
            return Ok(FileMetadata::new(false, !self.packages.is_empty(), false));
        }
        // The folder of a scope: `node_modules/@scope`.
        if path.parent().is_some_and(|above| above.ends_with("node_modules"))
            && path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with('@'))
        {
            return Ok(FileMetadata::new(false, true, false));
        }
        let inside = self.inside(path).ok_or_else(|| Self::missing(path))?;
        if self.is_file(&inside) || (self.built && self.source_of(&inside).is_some()) {
            return Ok(FileMetadata::new(true, false, false));
        }
        match self.is_folder(&inside) {
            true => Ok(FileMetadata::new(false, true, false)),
            false => Err(Self::missing(path)),
        }
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        self.metadata(path)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, ResolveError> {
        Err(ResolveError::from(Self::missing(path)))
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let inside = self.inside(path).ok_or_else(|| Self::missing(path))?;
        Ok(PathBuf::from(format!("{ROOT}/{inside}")))
    }
}
