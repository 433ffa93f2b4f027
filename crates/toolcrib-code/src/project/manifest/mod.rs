//! Manifests: what a project says of itself, each statement with its line.

mod cargo;
mod go;
mod javascript;
mod jvm;
mod others;
mod python;

use std::collections::HashSet;

use super::language::is_material;
use super::scan::Scan;

/// Manifests read at most.
const MAX_MANIFESTS: usize = 2_000;

/// A statement with the line it stands on.
pub(crate) type Said = (String, usize);

/// Something that the project depends on.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) line: usize,
}

/// A named script: of a package.json, a composer.json, a deno.json.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) body: String,
    pub(crate) line: usize,
}

/// Where a program starts.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    pub(crate) line: usize,
}

/// What one manifest says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) path: String,
    /// Its folder: empty, or with a `/` at the end.
    pub(crate) folder: String,
    /// The ecosystem: `cargo`, `npm`, `python`, …
    pub(crate) kind: &'static str,
    /// The line that makes it a manifest of its kind.
    pub(crate) line: usize,
    pub(crate) name: Option<Said>,
    pub(crate) description: Option<Said>,
    /// Whether it describes something of its own, and not only a set of others.
    pub(crate) package: bool,
    pub(crate) dependencies: Vec<Dependency>,
    /// Globs of folders that belong to the same workspace, each with the `path:line` that says so.
    pub(crate) members: Vec<(String, String)>,
    pub(crate) excluded: Vec<String>,
    pub(crate) scripts: Vec<Script>,
    pub(crate) entries: Vec<EntryPoint>,
    /// Versions of compilers and interpreters that are demanded.
    pub(crate) toolchains: Vec<(&'static str, String, usize)>,
    /// Sections for other programs: `tool.ruff`, `jest`, `lints.clippy`.
    pub(crate) sections: Vec<Said>,
    /// A package manager that is named (`packageManager`), with its line.
    pub(crate) manager: Option<Said>,
}

impl Manifest {
    fn depends(&mut self, name: impl Into<String>, line: usize) {
        self.dependencies.push(Dependency { name: name.into(), line });
    }

    /// Takes folders into the workspace; `!` leaves some out.
    fn includes(&mut self, globs: Vec<Said>, path: &str) {
        for (glob, line) in globs {
            match glob.strip_prefix('!') {
                Some(excluded) => self.excluded.push(excluded.to_owned()),
                None => self.members.push((glob, format!("{path}:{line}"))),
            }
        }
    }

    fn enters(&mut self, path: impl AsRef<str>, kind: &'static str, line: usize) {
        let path = format!("{}{}", self.folder, path.as_ref().trim_start_matches("./"));
        self.entries.push(EntryPoint { path, kind, line });
    }

    /// `path:line`.
    pub(crate) fn evidence(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }

    /// The section of this name.
    pub(crate) fn section(&self, name: &str) -> Option<usize> {
        self.sections.iter().find(|(section, _)| section == name).map(|(_, line)| *line)
    }
}

/// How a manifest is read; false if it turns out to be none.
type Reader = fn(&str, &Scan<'_>, &mut Manifest) -> Result<bool, String>;

/// Names of manifests, the stronger ones of an ecosystem first.
const KINDS: &[(&str, &str, Reader)] = &[
    ("Cargo.toml", "cargo", cargo::read),
    ("package.json", "npm", javascript::package),
    ("lerna.json", "npm", javascript::lerna),
    ("deno.json", "deno", javascript::deno),
    ("deno.jsonc", "deno", javascript::deno),
    ("project.json", "nx", javascript::nx),
    ("pyproject.toml", "python", python::pyproject),
    ("setup.cfg", "python", python::setup_cfg),
    ("setup.py", "python", python::setup_py),
    ("Pipfile", "python", python::pipfile),
    ("requirements.txt", "python", python::requirements),
    ("requirements-dev.txt", "python", python::requirements),
    ("dev-requirements.txt", "python", python::requirements),
    ("environment.yml", "conda", python::environment),
    ("go.work", "go", go::work),
    ("go.mod", "go", go::module),
    ("pom.xml", "maven", jvm::maven),
    ("settings.gradle", "gradle", jvm::settings),
    ("settings.gradle.kts", "gradle", jvm::settings),
    ("build.gradle", "gradle", jvm::gradle),
    ("build.gradle.kts", "gradle", jvm::gradle),
    ("build.sbt", "sbt", jvm::sbt),
    ("CMakeLists.txt", "cmake", others::cmake),
    ("meson.build", "meson", others::meson),
    ("MODULE.bazel", "bazel", others::bazel),
    ("WORKSPACE", "bazel", others::bazel),
    ("composer.json", "composer", others::composer),
    ("Gemfile", "bundler", others::gemfile),
    ("mix.exs", "mix", others::mix),
    ("pubspec.yaml", "pub", others::pubspec),
    ("Package.swift", "swiftpm", others::swift),
    ("build.zig", "zig", others::zig),
    ("stack.yaml", "stack", others::haskell),
    ("dune-project", "dune", others::dune),
];

/// The same for endings.
const ENDINGS: &[(&str, &str, Reader)] = &[
    (".csproj", "dotnet", others::dotnet),
    (".fsproj", "dotnet", others::dotnet),
    (".vbproj", "dotnet", others::dotnet),
    (".sln", "dotnet", others::solution),
    (".gemspec", "bundler", others::gemspec),
    (".cabal", "cabal", others::cabal),
];

fn kind_of(path: &str) -> Option<(usize, &'static str, Reader)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let whole = KINDS.iter().enumerate().find(|(_, (known, ..))| *known == name);
    whole.map(|(rank, (_, kind, reader))| (rank, *kind, *reader)).or_else(|| {
        let ending = ENDINGS.iter().enumerate().find(|(_, (ending, ..))| name.ends_with(ending))?;
        Some((KINDS.len() + ending.0, ending.1.1, ending.1.2))
    })
}

/// The folder of a path: empty, or with a `/` at the end.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("")
}

/// Every manifest below the starts, the outer ones first; those of foreign code and of test material left out.
pub(crate) fn all(scan: &Scan<'_>) -> Vec<Manifest> {
    let mut found: Vec<(usize, &str, usize, &'static str, Reader)> = scan
        .files
        .iter()
        .filter(|file| !file.vendored)
        .filter_map(|file| {
            let (rank, kind, reader) = kind_of(&file.path)?;
            Some((scan.depth(&file.path), file.path.as_str(), rank, kind, reader))
        })
        .filter(|(_, path, ..)| !is_material(scan.below(path)))
        .collect();
    found.sort_by_key(|(depth, path, rank, ..)| (*depth, folder_of(path).to_owned(), *rank));
    if found.len() > MAX_MANIFESTS {
        scan.warn(format!("{} manifests, of which the outermost {MAX_MANIFESTS} were read", found.len()));
        found.truncate(MAX_MANIFESTS);
    }
    found.into_iter().filter_map(|(_, path, _, kind, reader)| read(scan, path, kind, reader)).collect()
}

fn read(scan: &Scan<'_>, path: &str, kind: &'static str, reader: Reader) -> Option<Manifest> {
    let text = scan.text(path)?;
    let mut manifest = Manifest {
        path: path.to_owned(),
        folder: folder_of(path).to_owned(),
        kind,
        line: 1,
        package: true,
        ..Manifest::default()
    };
    match reader(&text, scan, &mut manifest) {
        Ok(is_one) => is_one.then_some(manifest),
        Err(why) => {
            scan.warn(format!("{path} could not be understood: {why}"));
            // That it is there is evidence of what it is for, whatever is wrong with it.
            let bare = Manifest { name: None, dependencies: Vec::new(), ..manifest };
            Some(bare)
        }
    }
}

/// A member of a workspace: its manifest, and where the workspace says so.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Index of the workspace's manifest.
    pub(crate) root: usize,
    /// Index of the member's manifest.
    pub(crate) manifest: usize,
    /// `path:line` of the statement.
    pub(crate) evidence: String,
}

/// Which manifests belong to which workspace, in the order of the manifests.
pub(crate) fn members(scan: &Scan<'_>, manifests: &[Manifest]) -> Vec<Member> {
    let mut found = Vec::new();
    for (root, workspace) in manifests.iter().enumerate().filter(|(_, one)| !one.members.is_empty()) {
        let excluded: Vec<_> = workspace.excluded.iter().filter_map(|glob| matcher(glob)).collect();
        let mut seen = HashSet::new();
        for (glob, evidence) in &workspace.members {
            let Some(wanted) = matcher(glob) else {
                scan.warn(format!("{evidence}: the glob {glob:?} is not valid"));
                continue;
            };
            for (index, manifest) in manifests.iter().enumerate() {
                let Some(below) = manifest.folder.strip_prefix(&workspace.folder) else { continue };
                let below = below.trim_end_matches('/');
                let same = same_family(workspace.kind, manifest.kind);
                let own = below.is_empty();
                if same
                    && !own
                    && wanted.is_match(below)
                    && !excluded.iter().any(|glob| glob.is_match(below))
                    && seen.insert((below.to_owned(), manifest.kind))
                {
                    found.push(Member { root, manifest: index, evidence: evidence.clone() });
                }
            }
        }
    }
    found
}

/// Whether a workspace of one kind can have members of another.
fn same_family(workspace: &str, member: &str) -> bool {
    workspace == member || (workspace == "npm" && member == "nx") || (workspace == "deno" && member == "npm")
}

fn matcher(glob: &str) -> Option<globset::GlobMatcher> {
    let glob = glob.trim_start_matches("./").trim_end_matches('/');
    let built = globset::GlobBuilder::new(glob).literal_separator(true).build().ok()?;
    Some(built.compile_matcher())
}

/// The text between quotes, wherever there are some on a line.
fn quoted(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(open) = rest.find(['"', '\'']) {
        let Some(quote) = rest.get(open..open + 1) else { break };
        let Some(after) = rest.get(open + 1..) else { break };
        let Some(close) = after.find(quote) else { break };
        found.extend(after.get(..close));
        rest = after.get(close + 1..).unwrap_or_default();
    }
    found
}

/// Lines with their numbers.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}
