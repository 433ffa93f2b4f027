//! `detect`: languages, build systems, frameworks and commands, each with its evidence.

use std::collections::BTreeMap;

use serde::Serialize;
use toolcrib_workspace::Result;

use super::catalog::{self, Role};
use super::commands::{self, Commands};
use super::language;
use super::manifest::{self, Manifest, Member};
use super::scan::{MAX_SOURCE, Scan};

/// Files whose lines are counted.
const MAX_COUNTED: usize = 60_000;
/// Members of workspaces that are listed.
const MAX_MEMBERS: usize = 500;

/// A language, by the lines written in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LanguageShare {
    /// Its name.
    pub name: String,
    /// Lines, blank ones too.
    pub lines: usize,
    /// Files.
    pub files: usize,
    /// The largest file: `path:1`.
    pub evidence: String,
}

/// Something that was found, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What.
    pub name: String,
    /// `path:line`.
    pub evidence: String,
}

/// A pinned toolchain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Toolchain {
    /// Of what: `rust`, `node`, `python`, …
    pub name: String,
    /// As it is written.
    pub version: String,
    /// `path:line`.
    pub evidence: String,
}

/// A member of a monorepo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberInfo {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: String,
    /// `path:line` of the statement that makes it one.
    pub evidence: String,
}

/// What kind of project it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProjectType {
    /// By lines.
    pub languages: Vec<LanguageShare>,
    /// What builds it.
    pub build_systems: Vec<Found>,
    /// By lock files, mostly.
    pub package_managers: Vec<Found>,
    /// What it is built on.
    pub frameworks: Vec<Found>,
    /// What tests it.
    pub test_frameworks: Vec<Found>,
    /// What checks its style, types and form.
    pub linters: Vec<Found>,
    /// Pinned versions.
    pub toolchains: Vec<Toolchain>,
    /// Members of a monorepo.
    pub workspaces: Vec<MemberInfo>,
    /// How to build, test, lint and run it.
    pub commands: Commands,
    /// What makes this answer less than it seems.
    pub warnings: Vec<String>,
}

fn push(list: &mut Vec<Found>, name: &str, evidence: String) {
    if !list.iter().any(|known| known.name == name) {
        list.push(Found { name: name.to_owned(), evidence });
    }
}

/// What kind of project the scanned folder is.
pub fn detect(scan: &Scan<'_>) -> Result<ProjectType> {
    let manifests = manifest::all(scan);
    let members = manifest::members(scan, &manifests);
    detect_with(scan, &manifests, &members)
}

pub(crate) fn detect_with(
    scan: &Scan<'_>,
    manifests: &[Manifest],
    members: &[Member],
) -> Result<ProjectType> {
    let mut found = ProjectType { languages: languages(scan)?, ..ProjectType::default() };
    for manifest in manifests {
        from_manifest(manifest, &mut found);
    }
    from_files(scan, &mut found);
    managers(scan, manifests, &mut found);
    pins(scan, &mut found);
    found.workspaces = workspaces(scan, manifests, members);
    found.commands = commands::gather(scan, manifests, members, &found.package_managers);
    found.warnings = scan.warnings();
    scan.check()?;
    Ok(found)
}

/// Lines and files by language, without what is generated, vendored or ignored.
pub(crate) fn languages(scan: &Scan<'_>) -> Result<Vec<LanguageShare>> {
    let own = scan
        .files
        .iter()
        .filter(|file| file.language.is_some() && !file.vendored && !language::is_generated_name(&file.path));
    let mut own: Vec<_> = own.collect();
    if own.len() > MAX_COUNTED {
        scan.warn(format!("lines were counted in the first {MAX_COUNTED} of {} source files", own.len()));
        own.truncate(MAX_COUNTED);
    }
    let large = own.iter().filter(|file| file.size > MAX_SOURCE).count();
    if large > 0 {
        scan.warn(format!("{large} source files of more than {MAX_SOURCE} bytes were not counted"));
    }
    let paths: Vec<&str> = own.iter().map(|file| file.path.as_str()).collect();
    let counted = scan.map_files(&paths, |_, bytes| {
        if language::is_generated_text(bytes) { None } else { language::lines(bytes) }
    })?;
    // Lines, files, and the largest file with its lines.
    let mut by_name: BTreeMap<&str, (usize, usize, usize, &str)> = BTreeMap::new();
    for (index, lines) in counted {
        let (Some(lines), Some(file)) = (lines, own.get(index)) else { continue };
        let Some(language) = file.language else { continue };
        let sum = by_name.entry(language.name).or_insert((0, 0, 0, ""));
        sum.0 += lines;
        sum.1 += 1;
        if sum.3.is_empty() || lines > sum.2 {
            (sum.2, sum.3) = (lines, &file.path);
        }
    }
    // Headers are C++ where there is C++ and no C.
    let c_sources = own.iter().any(|file| file.path.ends_with(".c"));
    if !c_sources
        && by_name.contains_key("C++")
        && let Some(headers) = by_name.remove("C")
        && let Some(sum) = by_name.get_mut("C++")
    {
        sum.0 += headers.0;
        sum.1 += headers.1;
    }
    let mut all: Vec<LanguageShare> = by_name
        .into_iter()
        .map(|(name, (lines, files, _, largest))| LanguageShare {
            name: name.to_owned(),
            lines,
            files,
            evidence: format!("{largest}:1"),
        })
        .collect();
    all.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
    Ok(all)
}

/// The name of an ecosystem's build system.
fn build_system(kind: &str) -> &str {
    match kind {
        "python" => "",
        "bundler" | "composer" | "conda" | "pub" => "",
        other => other,
    }
}

fn from_manifest(manifest: &Manifest, found: &mut ProjectType) {
    let system = build_system(manifest.kind);
    if !system.is_empty() {
        push(&mut found.build_systems, system, manifest.evidence(manifest.line));
    }
    for (section, line) in &manifest.sections {
        if let Some(backend) = section.strip_prefix("backend ") {
            let name = backend.split(['.', ':', '_']).next().unwrap_or(backend);
            push(&mut found.build_systems, name, manifest.evidence(*line));
        }
        if let Some((_, name, role)) = catalog::SECTIONS.iter().find(|(known, ..)| known == section) {
            push(list(found, *role), name, manifest.evidence(*line));
        }
    }
    if manifest.path.ends_with("setup.py") {
        push(&mut found.build_systems, "setuptools", manifest.evidence(manifest.line));
    }
    for dependency in &manifest.dependencies {
        if let Some((name, role)) = catalog::dependency(manifest.kind, &dependency.name) {
            push(list(found, role), name, manifest.evidence(dependency.line));
        }
    }
    for (name, version, line) in &manifest.toolchains {
        toolchain(found, name, version, manifest.evidence(*line));
    }
}

fn list(found: &mut ProjectType, role: Role) -> &mut Vec<Found> {
    match role {
        Role::Framework => &mut found.frameworks,
        Role::Test => &mut found.test_frameworks,
        Role::Linter => &mut found.linters,
    }
}

fn toolchain(found: &mut ProjectType, name: &str, version: &str, evidence: String) {
    let known = found.toolchains.iter().any(|one| one.name == name && one.version == version);
    if !known && !version.is_empty() {
        let (name, version) = (name.to_owned(), version.to_owned());
        found.toolchains.push(Toolchain { name, version, evidence });
    }
}

/// What files stand for by their name alone, the outer ones first.
fn from_files(scan: &Scan<'_>, found: &mut ProjectType) {
    let mut own: Vec<&str> = scan
        .files
        .iter()
        .filter(|file| !file.vendored && !language::is_material(scan.below(&file.path)))
        .map(|file| file.path.as_str())
        .collect();
    own.sort_by_key(|path| scan.depth(path));
    for path in own {
        let name = path.rsplit('/').next().unwrap_or(path);
        for (pattern, what, role) in
            catalog::FILES.iter().filter(|(pattern, ..)| catalog::fits(pattern, name))
        {
            // The files that are called like one of these by chance are code.
            if *pattern != "manage.py" || scan.text(path).is_some_and(|text| text.contains("django")) {
                push(list(found, *role), what, format!("{path}:1"));
            }
        }
        if let Some((_, system)) = catalog::BUILD_FILES.iter().find(|(known, _)| *known == name) {
            push(&mut found.build_systems, system, format!("{path}:1"));
        }
        implied_test_framework(path, name, found);
    }
}

/// Languages that bring their test framework with them: the first test file is the evidence.
fn implied_test_framework(path: &str, name: &str, found: &mut ProjectType) {
    if name.ends_with("_test.go") {
        push(&mut found.test_frameworks, "go test", format!("{path}:1"));
    } else if name.ends_with("_test.exs") {
        push(&mut found.test_frameworks, "ExUnit", format!("{path}:1"));
    }
}

fn managers(scan: &Scan<'_>, manifests: &[Manifest], found: &mut ProjectType) {
    for manifest in manifests {
        if let Some((name, line)) = &manifest.manager {
            push(&mut found.package_managers, name, manifest.evidence(*line));
        }
    }
    let mut locks: Vec<(usize, &str, &str)> = Vec::new();
    for file in
        scan.files.iter().filter(|file| !file.vendored && !language::is_material(scan.below(&file.path)))
    {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if let Some((_, manager)) = catalog::LOCKS.iter().find(|(lock, _)| *lock == name) {
            locks.push((scan.depth(&file.path), &file.path, manager));
        }
    }
    locks.sort_unstable();
    for (_, path, manager) in locks {
        push(&mut found.package_managers, manager, format!("{path}:1"));
    }
    let names: Vec<&str> = catalog::LOCKS.iter().map(|(name, _)| *name).collect();
    for path in scan.above(&names) {
        let name = path.rsplit('/').next().unwrap_or_default();
        if let Some((_, manager)) = catalog::LOCKS.iter().find(|(lock, _)| *lock == name) {
            push(&mut found.package_managers, manager, format!("{path}:1"));
        }
    }
    // Without a lock file: ecosystems with one manager, and files that only one manager reads.
    for manifest in manifests {
        let name = match manifest.kind {
            "cargo" => "cargo",
            "go" => "go modules",
            "maven" => "maven",
            "gradle" => "gradle",
            "composer" => "composer",
            "bundler" => "bundler",
            "mix" => "mix",
            "pub" => "pub",
            "dotnet" => "nuget",
            "swiftpm" => "swiftpm",
            "conda" => "conda",
            "sbt" => "sbt",
            "python" if manifest.section("tool.poetry").is_some() => "poetry",
            "python" if manifest.section("tool.uv").is_some() => "uv",
            "python" if manifest.section("tool.pdm").is_some() => "pdm",
            "python" if manifest.path.ends_with("Pipfile") => "pipenv",
            "python" if manifest.path.ends_with("requirements.txt") => "pip",
            _ => continue,
        };
        push(&mut found.package_managers, name, manifest.evidence(manifest.line));
    }
    let pnpm = scan.files.iter().find(|file| file.path.ends_with("pnpm-workspace.yaml") && !file.vendored);
    if let Some(file) = pnpm {
        push(&mut found.package_managers, "pnpm", format!("{}:1", file.path));
    }
}

fn pins(scan: &Scan<'_>, found: &mut ProjectType) {
    let names: Vec<&str> = catalog::PINS.iter().map(|(name, _)| *name).collect();
    let here = scan.bases.iter().flat_map(|base| names.iter().map(move |name| format!("{base}{name}")));
    let here: Vec<String> = here.filter(|path| scan.has(path)).chain(scan.above(&names)).collect();
    for path in here {
        let file = path.rsplit('/').next().unwrap_or_default();
        let Some((_, name)) = catalog::PINS.iter().find(|(known, _)| *known == file) else { continue };
        let Some(text) = scan.text(&path) else { continue };
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let evidence = format!("{path}:{}", index + 1);
            match (file, line.split_once('=')) {
                (_, _) if line.is_empty() => {}
                (".tool-versions", _) => {
                    let mut words = line.split_whitespace();
                    if let (Some(tool), Some(version)) = (words.next(), words.next()) {
                        toolchain(found, tool, version, evidence);
                    }
                }
                ("rust-toolchain.toml" | "rust-toolchain" | ".sdkmanrc", Some((key, value))) => {
                    if matches!(key.trim(), "channel" | "java") {
                        toolchain(found, name, value.trim().trim_matches('"'), evidence);
                    }
                }
                ("global.json", _) => {
                    if let Some((_, value)) =
                        line.split_once(':').filter(|(key, _)| key.contains("\"version\""))
                    {
                        toolchain(found, name, value.trim().trim_matches([',', '"']), evidence);
                    }
                }
                (_, None) if !line.starts_with('[') => toolchain(found, name, line, evidence),
                _ => {}
            }
        }
    }
}

/// The folder of a manifest as a path: `.` for that of the first root.
pub(crate) fn folder_path(folder: &str) -> String {
    match folder.trim_end_matches('/') {
        "" => ".".to_owned(),
        path => path.to_owned(),
    }
}

/// What a manifest calls its project; else the name of its folder.
pub(crate) fn name_of(manifest: &Manifest) -> String {
    let folder = manifest.folder.trim_end_matches('/');
    let last = folder.rsplit('/').next().filter(|name| !name.is_empty());
    let named = manifest.name.as_ref().map(|(name, _)| name.as_str()).filter(|name| !name.is_empty());
    named.or(last).unwrap_or(".").to_owned()
}

fn workspaces(scan: &Scan<'_>, manifests: &[Manifest], members: &[Member]) -> Vec<MemberInfo> {
    let mut all: Vec<MemberInfo> = Vec::new();
    for member in members {
        let Some(manifest) = manifests.get(member.manifest) else { continue };
        let path = folder_path(&manifest.folder);
        let name = name_of(manifest);
        if !all.iter().any(|known| known.path == path && known.name == name) {
            all.push(MemberInfo { name, path, evidence: member.evidence.clone() });
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| a.name.cmp(&b.name)));
    if all.len() > MAX_MEMBERS {
        scan.warn(format!("{} members, of which {MAX_MEMBERS} are listed", all.len()));
        all.truncate(MAX_MEMBERS);
    }
    all
}
