//! `Cargo.toml`.

use super::super::node::{self, Node};
use super::super::scan::Scan;
use super::Manifest;

pub(super) fn read(text: &str, scan: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let root = node::toml(text)?;
    manifest.package = root.at(&["package"]).is_some();
    let anchor = root.at(&["package"]).or_else(|| root.at(&["workspace"]));
    manifest.line = anchor.map_or(1, |node| node.line);
    manifest.name = root.text_at(&["package", "name"]);
    manifest.description = root.text_at(&["package", "description"]);
    let path = manifest.path.clone();
    manifest.includes(root.texts_at(&["workspace", "members"]), &path);
    let excluded = root.texts_at(&["workspace", "exclude"]);
    manifest.excluded = excluded.into_iter().map(|(glob, _)| glob).collect();
    for place in [&["package", "rust-version"][..], &["workspace", "package", "rust-version"]] {
        if let Some((version, line)) = root.text_at(place) {
            manifest.toolchains.push(("rust", version, line));
        }
    }
    for lints in [&["lints", "clippy"][..], &["workspace", "lints", "clippy"]] {
        if let Some(node) = root.at(lints) {
            manifest.sections.push(("lints.clippy".into(), node.line));
        }
    }
    dependencies(&root, manifest);
    entries(&root, scan, manifest);
    Ok(true)
}

fn dependencies(root: &Node, manifest: &mut Manifest) {
    const TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = root.at(&["target"]).map(Node::entries).unwrap_or_default();
    let places = targets.iter().map(|(_, node)| node).chain([root]).chain(root.at(&["workspace"]));
    for (place, table) in places.flat_map(|place| TABLES.iter().map(move |table| (place, table))) {
        for (name, node) in place.at(&[table]).map(Node::entries).unwrap_or_default() {
            // Renamed: `serde1 = { package = "serde" }`.
            let real = node.text_at(&["package"]).map(|(real, _)| real);
            manifest.depends(real.unwrap_or_else(|| name.clone()), node.line);
        }
    }
    manifest.dependencies.sort_by_key(|dependency| dependency.line);
}

fn entries(root: &Node, scan: &Scan<'_>, manifest: &mut Manifest) {
    if !manifest.package {
        return;
    }
    let here = |path: &str| scan.has(&format!("{}{path}", manifest.folder));
    let name = manifest.name.as_ref().map_or("", |(name, _)| name.as_str()).to_owned();
    let mut found: Vec<(String, &'static str, usize)> = Vec::new();
    for bin in root.at(&["bin"]).map(Node::items).unwrap_or_default() {
        let called = bin.text_at(&["name"]);
        let path = bin.text_at(&["path"]).map(|(path, _)| path).or_else(|| {
            let called = called.as_ref().map(|(called, _)| called.as_str())?;
            let usual = [format!("src/bin/{called}.rs"), format!("src/bin/{called}/main.rs")];
            let usual = usual.into_iter().find(|path| here(path));
            usual.or_else(|| (called == name).then(|| "src/main.rs".to_owned()))
        });
        let line = called.map_or(bin.line, |(_, line)| line);
        found.extend(path.map(|path| (path, "binary", line)));
    }
    if here("src/main.rs") && !found.iter().any(|(path, ..)| path == "src/main.rs") {
        found.push(("src/main.rs".into(), "binary", manifest.line));
    }
    let lib = root.text_at(&["lib", "path"]).unwrap_or(("src/lib.rs".into(), manifest.line));
    if here(&lib.0) {
        found.push((lib.0, "library", lib.1));
    }
    found.into_iter().for_each(|(path, kind, line)| manifest.enters(path, kind, line));
}
