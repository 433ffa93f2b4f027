//! `go.mod` and `go.work`.

use super::super::scan::Scan;
use super::{Manifest, numbered};

/// The lines of a directive, alone or in a block: `use ./a`, `use ( … )`.
fn directive<'t>(text: &'t str, word: &str) -> Vec<(usize, &'t str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (number, line) in numbered(text) {
        let line = line.split("//").next().unwrap_or_default().trim();
        if inside {
            inside = line != ")";
            if inside && !line.is_empty() {
                found.push((number, line));
            }
        } else if let Some(rest) = line.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t', '('])) {
            match rest.trim() {
                "(" => inside = true,
                rest => found.push((number, rest)),
            }
        }
    }
    found
}

pub(super) fn module(text: &str, scan: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let Some((line, name)) = directive(text, "module").into_iter().next() else {
        return Err("it has no `module` line".into());
    };
    manifest.line = line;
    manifest.name = Some((name.trim_matches('"').to_owned(), line));
    for (line, version) in directive(text, "go") {
        manifest.toolchains.push(("go", version.to_owned(), line));
    }
    for (line, version) in directive(text, "toolchain") {
        manifest.toolchains.push(("go toolchain", version.to_owned(), line));
    }
    for (line, required) in directive(text, "require") {
        manifest.depends(required.split_whitespace().next().unwrap_or_default(), line);
    }
    let main = |path: &str| scan.has(&format!("{}{path}", manifest.folder));
    if main("main.go") {
        manifest.enters("main.go", "binary", line);
    }
    Ok(true)
}

pub(super) fn work(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    manifest.package = false;
    let used = directive(text, "use").into_iter();
    let used = used.map(|(line, folder)| (folder.trim_matches('"').to_owned(), line)).collect();
    let path = manifest.path.clone();
    manifest.includes(used, &path);
    for (line, version) in directive(text, "go") {
        manifest.toolchains.push(("go", version.to_owned(), line));
    }
    Ok(true)
}
