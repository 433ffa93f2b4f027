//! `package.json`, `deno.json`, `lerna.json`, `project.json`.

use super::super::node::{self, Node, Value};
use super::super::scan::Scan;
use super::{Manifest, Said, Script, numbered, quoted};

pub(super) fn package(text: &str, scan: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let root = node::json(text)?;
    if !matches!(root.value, Value::Table(_)) {
        return Err("line 1: expected an object".into());
    }
    manifest.name = root.text_at(&["name"]);
    manifest.description = root.text_at(&["description"]);
    scripts(&root, &["scripts"], manifest);
    for table in ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"] {
        for (name, node) in root.at(&[table]).map(Node::entries).unwrap_or_default() {
            manifest.depends(name, node.line);
        }
    }
    let mut globs = root.texts_at(&["workspaces"]);
    globs.extend(root.texts_at(&["workspaces", "packages"]));
    let path = manifest.path.clone();
    manifest.includes(globs, &path);
    let beside = format!("{}pnpm-workspace.yaml", manifest.folder);
    if scan.has(&beside)
        && let Some(text) = scan.text(&beside)
    {
        manifest.includes(pnpm(&text), &beside);
    }
    for (name, node) in root.at(&["engines"]).map(Node::entries).unwrap_or_default() {
        let known = ["node", "npm", "pnpm", "yarn", "bun"].into_iter().find(|known| known == name);
        if let (Some(known), Some(version)) = (known, node.text()) {
            manifest.toolchains.push((known, version.to_owned(), node.line));
        }
    }
    for section in ["jest", "mocha", "ava", "eslintConfig", "prettier", "xo", "standard", "tap", "c8", "nyc"]
    {
        if let Some(node) = root.at(&[section]) {
            manifest.sections.push((section.into(), node.line));
        }
    }
    manifest.manager = root
        .text_at(&["packageManager"])
        .map(|(manager, line)| (manager.split('@').next().unwrap_or_default().to_owned(), line));
    entries(&root, manifest);
    Ok(true)
}

fn entries(root: &Node, manifest: &mut Manifest) {
    if let Some(bin) = root.at(&["bin"]) {
        if let Some(path) = bin.text() {
            manifest.enters(path, "binary", bin.line);
        }
        for (_, node) in bin.entries() {
            if let Some(path) = node.text() {
                manifest.enters(path, "binary", node.line);
            }
        }
    }
    for key in ["main", "module"] {
        if let Some((path, line)) = root.text_at(&[key]) {
            manifest.enters(path, "library", line);
        }
    }
    if let Some((path, line)) = root.text_at(&["exports"]) {
        manifest.enters(path, "library", line);
    }
}

fn scripts(root: &Node, place: &[&str], manifest: &mut Manifest) {
    for (name, node) in root.at(place).map(Node::entries).unwrap_or_default() {
        // A script may be a list of commands, or a table with the command in it.
        let body = match &node.value {
            Value::Text(body) => Some(body.clone()),
            Value::List(items) => Some(items.iter().filter_map(Node::text).collect::<Vec<_>>().join(" && ")),
            _ => node.text_at(&["command"]).map(|(body, _)| body),
        };
        if let Some(body) = body {
            manifest.scripts.push(Script { name: name.clone(), body, line: node.line });
        }
    }
}

/// The list under `packages:`.
fn pnpm(text: &str) -> Vec<Said> {
    let mut inside = false;
    let mut globs = Vec::new();
    for (number, line) in numbered(text) {
        let trimmed = line.trim();
        if !line.starts_with([' ', '\t', '-', '#']) && !trimmed.is_empty() {
            inside = trimmed.starts_with("packages:");
            // `packages: ["a/*", "b"]`
            if inside {
                globs.extend(quoted(trimmed).into_iter().map(|glob| (glob.to_owned(), number)));
            }
        } else if inside && let Some(item) = trimmed.strip_prefix('-') {
            let item = item.split(" #").next().unwrap_or_default().trim();
            globs.push((item.trim_matches(['"', '\'']).to_owned(), number));
        }
    }
    globs
}

pub(super) fn lerna(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let root = node::json(text)?;
    manifest.package = false;
    let globs = root.texts_at(&["packages"]);
    let found = !globs.is_empty();
    let path = manifest.path.clone();
    manifest.includes(globs, &path);
    Ok(found)
}

pub(super) fn nx(text: &str, scan: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let root = node::json(text)?;
    manifest.name = root.text_at(&["name"]);
    // The name of this file is common; Nx's own have these.
    let ours = ["targets", "projectType", "sourceRoot"].iter().any(|key| root.at(&[key]).is_some());
    let package = scan.has(&format!("{}package.json", manifest.folder));
    Ok(ours && !package)
}

pub(super) fn deno(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let root = node::json(text)?;
    manifest.name = root.text_at(&["name"]);
    scripts(&root, &["tasks"], manifest);
    for (name, node) in root.at(&["imports"]).map(Node::entries).unwrap_or_default() {
        manifest.depends(name.trim_end_matches('/'), node.line);
    }
    let path = manifest.path.clone();
    manifest.includes(root.texts_at(&["workspace"]), &path);
    for section in ["lint", "fmt", "test"] {
        if let Some(node) = root.at(&[section]) {
            manifest.sections.push((format!("deno {section}"), node.line));
        }
    }
    if let Some((path, line)) = root.text_at(&["exports"]) {
        manifest.enters(path, "library", line);
    }
    Ok(true)
}
