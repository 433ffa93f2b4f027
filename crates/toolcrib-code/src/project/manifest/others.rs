//! CMake, .NET, PHP, Ruby, Elixir, Dart, Swift, Zig, Haskell, OCaml: a few lines each.

use super::super::node::{self, Node, Value};
use super::super::scan::Scan;
use super::jvm::tags;
use super::{Manifest, Script, numbered, quoted};

type Read = Result<bool, String>;

/// The text in the parentheses of the first call of `word`, and its line.
fn call(text: &str, word: &str) -> Vec<(String, usize)> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (number, line) in numbered(&lower) {
        let line = line.split('#').next().unwrap_or_default().trim_start();
        let Some(rest) = line.strip_prefix(word) else { continue };
        if !rest.trim_start().starts_with('(') {
            continue;
        }
        // The arguments may go on over lines.
        let rest: String = text.lines().skip(number - 1).take(20).collect::<Vec<_>>().join(" ");
        let inner = rest.split_once('(').map_or("", |(_, inner)| inner);
        let inner = inner.split(')').next().unwrap_or_default();
        found.push((inner.trim().to_owned(), number));
    }
    found
}

pub(super) fn cmake(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    let Some((inner, line)) = call(text, "project").into_iter().next() else { return Ok(false) };
    manifest.line = line;
    manifest.name = inner.split_whitespace().next().map(|name| (name.trim_matches('"').to_owned(), line));
    let described = inner.find("DESCRIPTION").and_then(|at| inner.get(at..));
    manifest.description =
        described.and_then(|rest| quoted(rest).first().map(|text| ((*text).to_owned(), line)));
    for (inner, line) in call(text, "find_package") {
        manifest.depends(inner.split_whitespace().next().unwrap_or_default(), line);
    }
    for (inner, line) in call(text, "cmake_minimum_required") {
        if let Some(version) = inner.split_whitespace().nth(1) {
            manifest.toolchains.push(("cmake", version.to_owned(), line));
        }
    }
    for (word, section) in [("enable_testing", "ctest"), ("add_test", "ctest"), ("include", "include")] {
        for (inner, line) in call(text, word) {
            let section = if inner.eq_ignore_ascii_case("CTest") { "ctest" } else { section };
            manifest.sections.push((section.into(), line));
        }
    }
    for (inner, line) in call(text, "fetchcontent_declare") {
        manifest.depends(inner.split_whitespace().next().unwrap_or_default(), line);
    }
    let sources = |inner: &str| -> Option<String> {
        let mut words = inner.split_whitespace().skip(1);
        words.find(|word| word.contains('.') && word.contains("main")).map(str::to_owned)
    };
    for (inner, line) in call(text, "add_executable") {
        sources(&inner).into_iter().for_each(|path| manifest.enters(path, "binary", line));
    }
    let folders = call(text, "add_subdirectory").into_iter();
    let folders =
        folders.filter_map(|(inner, line)| Some((inner.split_whitespace().next()?.to_owned(), line)));
    let (path, folders) = (manifest.path.clone(), folders.collect());
    manifest.includes(folders, &path);
    Ok(true)
}

pub(super) fn meson(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    let Some((inner, line)) = call(text, "project").into_iter().next() else { return Ok(false) };
    manifest.line = line;
    manifest.name = quoted(&inner).first().map(|name| ((*name).to_owned(), line));
    for (_, line) in call(text, "test").into_iter().take(1) {
        manifest.sections.push(("meson test".into(), line));
    }
    Ok(true)
}

pub(super) fn bazel(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    for word in ["module", "workspace"] {
        if let Some((inner, line)) = call(text, word).into_iter().next() {
            manifest.line = line;
            manifest.name = quoted(&inner).first().map(|name| ((*name).to_owned(), line));
        }
    }
    Ok(true)
}

pub(super) fn composer(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    let root = node::json(text)?;
    manifest.name = root.text_at(&["name"]);
    manifest.description = root.text_at(&["description"]);
    for table in ["require", "require-dev"] {
        for (name, node) in root.at(&[table]).map(Node::entries).unwrap_or_default() {
            match (name.as_str(), node.text()) {
                ("php", Some(version)) => manifest.toolchains.push(("php", version.to_owned(), node.line)),
                _ => manifest.depends(name, node.line),
            }
        }
    }
    for (name, node) in root.at(&["scripts"]).map(Node::entries).unwrap_or_default() {
        let body = match &node.value {
            Value::List(items) => items.iter().filter_map(Node::text).collect::<Vec<_>>().join(" && "),
            _ => node.text().unwrap_or_default().to_owned(),
        };
        // Hooks that Composer itself calls.
        if !name.starts_with("post-") && !name.starts_with("pre-") {
            manifest.scripts.push(Script { name: name.clone(), body, line: node.line });
        }
    }
    Ok(true)
}

pub(super) fn gemfile(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    manifest.package = true;
    for (number, line) in numbered(text) {
        let line = line.trim();
        let first = quoted(line).first().map(|name| (*name).to_owned());
        match (line.split([' ', '(']).next(), first) {
            (Some("gem"), Some(name)) => manifest.depends(name, number),
            (Some("ruby"), Some(version)) => manifest.toolchains.push(("ruby", version, number)),
            _ => {}
        }
    }
    Ok(true)
}

pub(super) fn gemspec(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    for (number, line) in numbered(text) {
        let line = line.trim();
        let Some(value) = quoted(line).first().map(|text| (*text).to_owned()) else { continue };
        let key = line.split(['=', '(', '"', '\'']).next().unwrap_or_default().trim();
        match key.rsplit('.').next().unwrap_or_default().split(' ').next().unwrap_or_default() {
            "name" => manifest.name = Some((value, number)),
            "summary" => manifest.description = Some((value, number)),
            "required_ruby_version" => manifest.toolchains.push(("ruby", value, number)),
            "add_dependency" | "add_runtime_dependency" | "add_development_dependency" => {
                manifest.depends(value, number);
            }
            _ => {}
        }
    }
    Ok(true)
}

pub(super) fn mix(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    for (number, line) in numbered(text) {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("app: :") {
            let name = name.trim_end_matches(',');
            manifest.name = manifest.name.take().or_else(|| Some((name.to_owned(), number)));
        } else if let Some(rest) = line.strip_prefix("elixir:") {
            let version = quoted(rest).first().map(|text| (*text).to_owned());
            version.into_iter().for_each(|version| manifest.toolchains.push(("elixir", version, number)));
        } else if let Some(at) = line.find("{:") {
            let rest = line.get(at + 2..).unwrap_or_default();
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            manifest.depends(name, number);
        } else if line.starts_with("apps_path:") {
            let folder = quoted(line).first().map(|text| format!("{text}/*"));
            let path = manifest.path.clone();
            folder.into_iter().for_each(|glob| manifest.includes(vec![(glob, number)], &path));
        }
    }
    Ok(true)
}

pub(super) fn pubspec(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    let mut section = "";
    for (number, line) in numbered(text) {
        let trimmed = line.trim();
        let Some((key, value)) = trimmed.split_once(':') else { continue };
        if !line.starts_with(' ') {
            section = key;
            match key {
                "name" => manifest.name = Some((value.trim().to_owned(), number)),
                "description" => {
                    manifest.description = Some((value.trim().trim_matches('"').to_owned(), number))
                }
                _ => {}
            }
        } else if line.starts_with("  ") && !line.starts_with("   ") {
            match section {
                "dependencies" | "dev_dependencies" => manifest.depends(key, number),
                "environment" if key == "sdk" => {
                    manifest.toolchains.push((
                        "dart",
                        value.trim().trim_matches(['"', '\'']).to_owned(),
                        number,
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(true)
}

pub(super) fn swift(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    for (number, line) in numbered(text) {
        let value = quoted(line).first().map(|text| (*text).to_owned());
        if line.starts_with("// swift-tools-version") {
            let version = line.split(':').nth(1).unwrap_or_default().trim().to_owned();
            manifest.toolchains.push(("swift", version, number));
        } else if line.trim_start().starts_with("name:") && manifest.name.is_none() {
            manifest.name = value.map(|name| (name, number));
        } else if line.contains(".package(")
            && let Some(url) = value
        {
            manifest.depends(url.rsplit('/').next().unwrap_or_default().trim_end_matches(".git"), number);
        } else if line.contains(".testTarget(") {
            manifest.sections.push(("testTarget".into(), number));
        }
    }
    Ok(true)
}

pub(super) fn zig(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    let test = numbered(text).find(|(_, line)| line.contains("addTest(") || line.contains("step(\"test\""));
    manifest.sections.extend(test.map(|(line, _)| ("zig test".into(), line)));
    Ok(true)
}

pub(super) fn haskell(_: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    manifest.package = false;
    Ok(true)
}

pub(super) fn cabal(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    for (number, line) in numbered(text) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let said = (value.trim().to_owned(), number);
        match key.trim().to_ascii_lowercase().as_str() {
            "name" if !line.starts_with(' ') => manifest.name = Some(said),
            "synopsis" => manifest.description = Some(said),
            _ => {}
        }
    }
    Ok(true)
}

pub(super) fn dune(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    let named = numbered(text).find_map(|(line, text)| {
        let name = text.trim().strip_prefix("(name ")?.trim_end_matches(')');
        Some((name.to_owned(), line))
    });
    manifest.name = named;
    Ok(true)
}

pub(super) fn dotnet(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    let file = manifest.path.rsplit('/').next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
    manifest.name = tags(text, "AssemblyName").into_iter().next().or(Some((stem, 1)));
    manifest.description = tags(text, "Description").into_iter().next();
    for tag in ["TargetFramework", "TargetFrameworks"] {
        for (version, line) in tags(text, tag) {
            manifest.toolchains.push((".net", version, line));
        }
    }
    for (number, line) in numbered(text) {
        if line.contains("Sdk=\"Microsoft.NET.Sdk.Web\"") {
            manifest.depends("Microsoft.NET.Sdk.Web", number);
        }
        let reference = line.find("<PackageReference").and_then(|at| line.get(at..));
        if let Some(name) = reference.and_then(|rest| quoted(rest).first().copied()) {
            manifest.depends(name, number);
        }
        if line.contains("<OutputType>Exe") {
            manifest.sections.push(("exe".into(), number));
        }
    }
    Ok(true)
}

/// A solution names its projects: `Project("{…}") = "Name", "src\Name\Name.csproj", …`.
pub(super) fn solution(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Read {
    manifest.package = false;
    let mut folders = Vec::new();
    for (number, line) in numbered(text).filter(|(_, line)| line.starts_with("Project(")) {
        if let Some(path) = quoted(line).get(2).map(|path| path.replace('\\', "/"))
            && let Some((folder, _)) = path.rsplit_once('/')
        {
            folders.push((folder.to_owned(), number));
        }
    }
    let path = manifest.path.clone();
    manifest.includes(folders, &path);
    Ok(true)
}
