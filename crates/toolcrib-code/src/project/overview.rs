//! `overview`: what someone who opens the project for the first time wants to know, each statement with its source.

use std::collections::BTreeMap;

use serde::Serialize;
use toolcrib_workspace::Result;

use super::commands::Commands;
use super::detect::{self, ProjectType};
use super::language;
use super::manifest::{self, Manifest};
use super::scan::{File, Scan};

/// A text of this many characters is cut.
const MAX_TEXT: usize = 600;
/// Folders, entry points and documents told of at most.
const MAX_LIST: usize = 40;

/// A sentence or two, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// What is said.
    pub text: String,
    /// `path:line`.
    pub source: String,
}

/// A part of the stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackPart {
    /// Its name.
    pub name: String,
    /// `language`, `build system`, `package manager`, `framework`, `test framework`, `linter`, `toolchain`.
    pub kind: &'static str,
    /// Lines for a language, the version of a toolchain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// `path:line`.
    pub source: String,
}

/// A folder at the top.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Folder {
    /// Its path, with a `/` at the end.
    pub path: String,
    /// Files below it.
    pub files: usize,
    /// The language most of them are in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'static str>,
    /// What it says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What is in it: the first few names.
    pub contains: Vec<String>,
    /// `path:line` of what it says; else its first file.
    pub source: String,
}

/// Where a program starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The file.
    pub path: String,
    /// `binary`, `library`, `script`, `module`, `container`, …
    pub kind: String,
    /// `path:line` of what says so.
    pub source: String,
}

/// A document to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Document {
    /// The file.
    pub path: String,
    /// Its first heading.
    pub title: String,
    /// Its other headings.
    pub headings: Vec<String>,
    /// `path:line`.
    pub source: String,
}

/// What there is to know at first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// What it is for.
    pub purpose: Option<Statement>,
    /// What it is made with.
    pub stack: Vec<StackPart>,
    /// Its top folders.
    pub layout: Vec<Folder>,
    /// Where it starts.
    pub entry_points: Vec<Entry>,
    /// How to build, test, lint and run it.
    pub commands: Commands,
    /// What to read.
    pub docs: Vec<Document>,
    /// What makes this less than it seems.
    pub warnings: Vec<String>,
}

/// An overview of the scanned folder.
pub fn overview(scan: &Scan<'_>) -> Result<Overview> {
    let manifests = manifest::all(scan);
    let members = manifest::members(scan, &manifests);
    let kind = detect::detect_with(scan, &manifests, &members)?;
    let mut docs = documents(scan);
    docs.truncate(MAX_LIST);
    Ok(Overview {
        purpose: purpose(scan, &manifests),
        stack: stack(&kind),
        layout: layout(scan, &manifests),
        entry_points: entry_points(scan, &manifests),
        commands: kind.commands,
        docs,
        warnings: scan.warnings(),
    })
}

fn cut(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default().trim_end()),
        None => text,
    }
}

/// The first paragraph of the README; else the description in the outermost manifest.
fn purpose(scan: &Scan<'_>, manifests: &[Manifest]) -> Option<Statement> {
    let readme = scan.bases.iter().find_map(|base| {
        let mut names = scan.files.iter().filter(|file| {
            let name = file.path.strip_prefix(base.as_str()).unwrap_or_default().to_ascii_lowercase();
            matches!(
                name.as_str(),
                "readme.md" | "readme" | "readme.rst" | "readme.txt" | "readme.adoc" | "readme.markdown"
            )
        });
        names.next().map(|file| file.path.clone())
    });
    let from_readme = readme.and_then(|path| {
        let (line, text) = first_paragraph(&scan.text(&path)?)?;
        Some(Statement { text: cut(&text), source: format!("{path}:{line}") })
    });
    let from_manifest = || {
        let described =
            manifests.iter().find_map(|manifest| Some((manifest, manifest.description.as_ref()?)));
        described
            .map(|(manifest, (text, line))| Statement { text: cut(text), source: manifest.evidence(*line) })
    };
    from_readme.or_else(from_manifest)
}

/// The first paragraph of prose: no heading, badge, image, HTML, list, table or code.
fn first_paragraph(text: &str) -> Option<(usize, String)> {
    let mut found: Option<(usize, String)> = None;
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        }
        let marks =
            ["#", "<", "![", "[![", "```", "~~~", "|", "- ", "* ", "===", "---", "..", "[!", ":", "+++"];
        let prose = !fenced
            && !trimmed.is_empty()
            && !marks.iter().any(|mark| trimmed.starts_with(mark))
            && trimmed.chars().any(char::is_alphabetic);
        // The line above an underline is a heading.
        let next = text.lines().nth(index + 1).unwrap_or_default().trim();
        let heading =
            found.is_none() && next.len() >= 3 && next.chars().all(|c| matches!(c, '=' | '-' | '~'));
        match (&mut found, prose && !heading) {
            (Some((_, text)), true) => {
                text.push(' ');
                text.push_str(trimmed);
            }
            (Some(_), false) => break,
            (None, true) => found = Some((index + 1, trimmed.trim_start_matches("> ").to_owned())),
            (None, false) => {}
        }
    }
    found
}

fn stack(kind: &ProjectType) -> Vec<StackPart> {
    let total: usize = kind.languages.iter().map(|language| language.lines).sum();
    // A language with less than a hundredth of the lines says nothing about the project.
    let languages =
        kind.languages.iter().filter(|language| language.lines * 100 >= total).map(|language| StackPart {
            name: language.name.clone(),
            kind: "language",
            detail: Some(format!("{} lines in {} files", language.lines, language.files)),
            source: language.evidence.clone(),
        });
    let mut parts: Vec<StackPart> = languages.collect();
    let lists = [
        ("build system", &kind.build_systems),
        ("package manager", &kind.package_managers),
        ("framework", &kind.frameworks),
        ("test framework", &kind.test_frameworks),
        ("linter", &kind.linters),
    ];
    for (what, list) in lists {
        parts.extend(list.iter().map(|found| StackPart {
            name: found.name.clone(),
            kind: what,
            detail: None,
            source: found.evidence.clone(),
        }));
    }
    parts.extend(kind.toolchains.iter().map(|pin| StackPart {
        name: pin.name.clone(),
        kind: "toolchain",
        detail: Some(pin.version.clone()),
        source: pin.evidence.clone(),
    }));
    parts
}

fn layout(scan: &Scan<'_>, manifests: &[Manifest]) -> Vec<Folder> {
    let mut folders: Vec<Folder> = Vec::new();
    // One pass over the files: there can be as many folders as files.
    let mut tops: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in scan.files.iter().filter(|file| !file.vendored) {
        let below = scan.below(&file.path);
        if let Some(at) = below.find('/')
            && let Some(prefix) = file.path.get(..file.path.len() - below.len() + at + 1)
        {
            tops.entry(prefix).or_default().push(file);
        }
    }
    let hidden = |path: &str| scan.below(path).starts_with('.');
    let mut ranked: Vec<(&str, Vec<&File>)> = tops.into_iter().collect();
    ranked.sort_by_key(|(prefix, _)| hidden(prefix));
    if ranked.len() > MAX_LIST {
        scan.warn(format!("{} folders, of which {MAX_LIST} are described", ranked.len()));
        ranked.truncate(MAX_LIST);
    }
    for (prefix, inside) in ranked {
        let prefix = prefix.to_owned();
        let Some(first) = inside.first() else { continue };
        let mut languages: BTreeMap<&str, (usize, &'static str)> = BTreeMap::new();
        for language in inside.iter().filter_map(|file| file.language) {
            languages.entry(language.name).or_insert((0, language.name)).0 += 1;
        }
        let main = languages.values().max_by_key(|(count, name)| (*count, std::cmp::Reverse(*name)));
        let mut names: Vec<String> = Vec::new();
        for file in &inside {
            let rest = file.path.strip_prefix(&prefix).unwrap_or_default();
            let name =
                rest.split_once('/').map_or_else(|| rest.to_owned(), |(folder, _)| format!("{folder}/"));
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        // Folders say more than files.
        names.sort_by_key(|name| !name.ends_with('/'));
        names.truncate(12);
        let about = about(scan, manifests, &prefix);
        folders.push(Folder {
            files: inside.len(),
            language: main.map(|(_, name)| *name),
            source: about.as_ref().map_or_else(|| format!("{}:1", first.path), |said| said.source.clone()),
            about: about.map(|said| said.text),
            contains: names,
            path: prefix,
        });
    }
    folders
}

/// What a folder says of itself: its manifest's description, its README, the doc of its main module.
fn about(scan: &Scan<'_>, manifests: &[Manifest], folder: &str) -> Option<Statement> {
    let own = manifests.iter().filter(|manifest| manifest.folder == folder);
    let described = own.filter_map(|manifest| Some((manifest, manifest.description.as_ref()?))).next();
    if let Some((manifest, (text, line))) = described {
        return Some(Statement { text: cut(text), source: manifest.evidence(*line) });
    }
    let readme = format!("{folder}README.md");
    if scan.has(&readme)
        && let Some((line, text)) = scan.text(&readme).and_then(|text| first_paragraph(&text))
    {
        let first = text.split(". ").next().unwrap_or(&text);
        return Some(Statement { text: cut(first), source: format!("{readme}:{line}") });
    }
    for (name, mark) in [
        ("lib.rs", "//!"),
        ("main.rs", "//!"),
        ("mod.rs", "//!"),
        ("__init__.py", "\"\"\""),
        ("doc.go", "//"),
    ] {
        let path = format!("{folder}{name}");
        if scan.has(&path)
            && let Some(text) = scan.text(&path)
            && let Some(first) = text.lines().next().and_then(|line| line.strip_prefix(mark))
            && !first.trim().is_empty()
        {
            return Some(Statement { text: cut(first.trim_end_matches(mark)), source: format!("{path}:1") });
        }
    }
    None
}

fn entry_points(scan: &Scan<'_>, manifests: &[Manifest]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for manifest in manifests {
        for entry in &manifest.entries {
            entries.push(Entry {
                path: entry.path.clone(),
                kind: entry.kind.to_owned(),
                source: manifest.evidence(entry.line),
            });
        }
    }
    for file in
        scan.files.iter().filter(|file| !file.vendored && !language::is_material(scan.below(&file.path)))
    {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let below = scan.below(&file.path);
        let kind = match name {
            "__main__.py" => "module",
            "manage.py" | "wsgi.py" | "asgi.py" => "script",
            "main.py" | "app.py" | "server.py" if scan.depth(&file.path) <= 1 => "script",
            "main.go" => "binary",
            "Main.java" | "Application.java" | "Program.cs" | "Main.kt" | "main.swift" => "binary",
            "main.c" | "main.cpp" | "main.cc" => "binary",
            "Dockerfile" => "container",
            _ if below.contains("src/bin/") && name.ends_with(".rs") => "binary",
            "index.ts" | "index.js" | "main.ts" | "main.js" | "server.ts" | "server.js" | "main.tsx"
            | "index.tsx"
                if matches!(below.rsplit_once('/').map_or("", |(folder, _)| folder), "" | "src") =>
            {
                "module"
            }
            _ => continue,
        };
        if entries.iter().any(|known| known.path == file.path) {
            continue;
        }
        let mut source = format!("{}:1", file.path);
        if kind == "container" {
            let command = scan.text(&file.path).and_then(|text| super::commands::container_command(&text));
            let Some((line, _)) = command else { continue };
            source = format!("{}:{line}", file.path);
        }
        entries.push(Entry { path: file.path.clone(), kind: kind.to_owned(), source });
    }
    // What runs comes before what is linked.
    entries.sort_by_key(|entry| (entry.kind == "library", scan.depth(&entry.path)));
    entries.truncate(MAX_LIST);
    entries
}

/// Documents at the top and in `docs/`, what agents are told first.
fn documents(scan: &Scan<'_>) -> Vec<Document> {
    let rank = |below: &str| -> Option<usize> {
        const FIRST: &[&str] = &[
            "agents.md",
            "claude.md",
            "gemini.md",
            ".cursorrules",
            ".github/copilot-instructions.md",
            "contributing.md",
            "architecture.md",
            "readme.md",
            "readme.rst",
            "readme",
            "development.md",
            "hacking.md",
            "changelog.md",
            "security.md",
        ];
        let lower = below.to_ascii_lowercase();
        let text = [".md", ".rst", ".adoc", ".markdown"].iter().any(|ending| lower.ends_with(ending));
        let docs = text
            && (lower.starts_with("docs/") || lower.starts_with("doc/"))
            && lower.matches('/').count() == 1;
        let top = text && !lower.contains('/');
        FIRST.iter().position(|known| *known == lower).or((docs || top).then_some(FIRST.len()))
    };
    let mut found: Vec<(usize, &str)> = scan
        .files
        .iter()
        .filter_map(|file| Some((rank(scan.below(&file.path))?, file.path.as_str())))
        .collect();
    found.sort_unstable();
    found.truncate(MAX_LIST);
    let describe = |(_, path): (usize, &str)| {
        let text = scan.text(path)?;
        let (line, title, headings) = headings(&text);
        let title = title.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path).to_owned());
        Some(Document { path: path.to_owned(), title, headings, source: format!("{path}:{line}") })
    };
    found.into_iter().filter_map(describe).collect()
}

/// The first heading with its line, and those of the next two levels.
fn headings(text: &str) -> (usize, Option<String>, Vec<String>) {
    let mut fenced = false;
    let (mut line, mut title, mut rest) = (1, None, Vec::new());
    for (index, text) in text.lines().enumerate() {
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let level = text.chars().take_while(|c| *c == '#').count();
        if fenced || level == 0 || level > 3 {
            continue;
        }
        let heading = text.trim_matches(['#', ' ']).to_owned();
        if title.is_none() {
            (line, title) = (index + 1, Some(heading));
        } else if level <= 2 && rest.len() < 12 {
            rest.push(heading);
        }
    }
    (line, title, rest)
}
