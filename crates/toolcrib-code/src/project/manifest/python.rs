//! What Python projects have: `pyproject.toml`, and everything that came before it.

use super::super::node::{self, Node};
use super::super::scan::Scan;
use super::{Manifest, Script, numbered, quoted};

/// `Flask[async]>=2; python_version > "3"` → `flask`.
fn requirement(text: &str) -> Option<String> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).unwrap_or(text.len());
    let name = text.get(..end).unwrap_or_default();
    // Dashes and underscores are the same to a package index.
    (!name.is_empty()).then(|| name.to_ascii_lowercase().replace('_', "-"))
}

pub(super) fn pyproject(text: &str, scan: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let root = node::toml(text)?;
    let anchor = ["project", "tool", "build-system"].iter().find_map(|key| root.at(&[key]));
    manifest.line = anchor.map_or(1, |node| node.line);
    let poetry = &["tool", "poetry"];
    let either = |key: &str| {
        root.text_at(&["project", key]).or_else(|| root.at(poetry).and_then(|node| node.text_at(&[key])))
    };
    manifest.package = root.at(&["project"]).is_some() || root.at(poetry).is_some();
    manifest.name = either("name");
    manifest.description = either("description");
    dependencies(&root, manifest);
    let demanded = root.text_at(&["project", "requires-python"]);
    let demanded = demanded.or_else(|| root.text_at(&["tool", "poetry", "dependencies", "python"]));
    if let Some((version, line)) = demanded {
        manifest.toolchains.push(("python", version, line));
    }
    for (tool, node) in root.at(&["tool"]).map(Node::entries).unwrap_or_default() {
        // A table that only exists through its parts stands where its first part does.
        let line = node.entries().first().map_or(node.line, |(_, inner)| inner.line.min(node.line.max(1)));
        manifest.sections.push((format!("tool.{tool}"), line));
    }
    if let Some((backend, line)) = root.text_at(&["build-system", "build-backend"]) {
        manifest.sections.push((format!("backend {backend}"), line));
    }
    let path = manifest.path.clone();
    manifest.includes(root.texts_at(&["tool", "uv", "workspace", "members"]), &path);
    let excluded = root.texts_at(&["tool", "uv", "workspace", "exclude"]);
    manifest.excluded.extend(excluded.into_iter().map(|(glob, _)| glob));
    // Poetry has no workspaces; a dependency by path that is edited in place is as good as a member.
    for (_, node) in root.at(&["tool", "poetry", "dependencies"]).map(Node::entries).unwrap_or_default() {
        if let Some((folder, _)) = node.text_at(&["path"]).filter(|(folder, _)| !folder.starts_with("..")) {
            manifest.includes(vec![(folder, node.line)], &path);
        }
    }
    for place in [&["project", "scripts"][..], &["tool", "poetry", "scripts"], &["project", "gui-scripts"]] {
        for (_, node) in root.at(place).map(Node::entries).unwrap_or_default() {
            if let Some(target) = node.text() {
                let (path, line) = (module_file(target, scan, manifest), node.line);
                manifest.enters(path, "script", line);
            }
        }
    }
    tasks(&root, manifest);
    Ok(true)
}

/// `pkg.cli:main` → `src/pkg/cli.py`, if there is such a file; else as it is written.
fn module_file(target: &str, scan: &Scan<'_>, manifest: &Manifest) -> String {
    let module = target.split(':').next().unwrap_or(target).replace('.', "/");
    let found = ["", "src/", "lib/"]
        .iter()
        .flat_map(|base| [format!("{base}{module}.py"), format!("{base}{module}/__init__.py")]);
    let mut found = found.filter(|path| scan.has(&format!("{}{path}", manifest.folder)));
    found.next().unwrap_or_else(|| target.to_owned())
}

fn dependencies(root: &Node, manifest: &mut Manifest) {
    let mut texts = root.texts_at(&["project", "dependencies"]);
    for place in [&["project", "optional-dependencies"][..], &["dependency-groups"]] {
        let groups = root.at(place).map(Node::entries).unwrap_or_default();
        texts.extend(groups.iter().flat_map(|(_, group)| group.texts_at(&[])));
    }
    texts.extend(root.texts_at(&["tool", "uv", "dev-dependencies"]));
    for (text, line) in texts {
        requirement(&text).into_iter().for_each(|name| manifest.depends(name, line));
    }
    let groups = root.at(&["tool", "poetry", "group"]).map(Node::entries).unwrap_or_default();
    let groups = groups.iter().filter_map(|(_, group)| group.at(&["dependencies"]));
    let places = [&["tool", "poetry", "dependencies"][..], &["tool", "poetry", "dev-dependencies"]];
    for table in places.iter().filter_map(|place| root.at(place)).chain(groups) {
        for (name, node) in table.entries().iter().filter(|(name, _)| name != "python") {
            requirement(name).into_iter().for_each(|name| manifest.depends(name, node.line));
        }
    }
}

/// Tasks of the runners that keep them in `pyproject.toml`.
fn tasks(root: &Node, manifest: &mut Manifest) {
    let runners = [
        (&["tool", "poe", "tasks"][..], "poe"),
        (&["tool", "taskipy", "tasks"], "task"),
        (&["tool", "pdm", "scripts"], "pdm run"),
        (&["tool", "hatch", "envs", "default", "scripts"], "hatch run"),
        (&["tool", "pixi", "tasks"], "pixi run"),
    ];
    for (place, runner) in runners {
        for (name, node) in root.at(place).map(Node::entries).unwrap_or_default() {
            let inner = ["cmd", "shell", "cmd"].iter().find_map(|key| node.text_at(&[key]));
            if let Some(body) = node.text().map(str::to_owned).or(inner.map(|(body, _)| body)) {
                // The name of such a script carries its runner.
                manifest.scripts.push(Script { name: format!("{runner} {name}"), body, line: node.line });
            }
        }
    }
}

pub(super) fn setup_cfg(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let (mut section, mut key) = (String::new(), String::new());
    for (number, line) in numbered(text) {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_owned();
            manifest.sections.push((section.clone(), number));
            continue;
        }
        let indented = line.starts_with([' ', '\t']);
        if !indented && let Some((left, value)) = trimmed.split_once('=') {
            key = left.trim().to_owned();
            match (section.as_str(), key.as_str()) {
                ("metadata", "name") => manifest.name = Some((value.trim().to_owned(), number)),
                ("metadata", "description") => manifest.description = Some((value.trim().to_owned(), number)),
                ("options", "python_requires") => {
                    manifest.toolchains.push(("python", value.trim().to_owned(), number));
                }
                _ => {}
            }
        } else if indented && (key == "install_requires" || section == "options.extras_require") {
            requirement(trimmed).into_iter().for_each(|name| manifest.depends(name, number));
        }
    }
    manifest.package = manifest.name.is_some();
    Ok(manifest.section("metadata").is_some() || manifest.section("tool:pytest").is_some())
}

pub(super) fn setup_py(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let mut requires = false;
    for (number, line) in numbered(text) {
        let trimmed = line.trim();
        let value = |key: &str| {
            let rest = trimmed.strip_prefix(key)?.trim_start().strip_prefix('=')?;
            quoted(rest).first().map(|text| ((*text).to_owned(), number))
        };
        manifest.name = manifest.name.take().or_else(|| value("name"));
        manifest.description = manifest.description.take().or_else(|| value("description"));
        if let Some((version, line)) = value("python_requires") {
            manifest.toolchains.push(("python", version, line));
        }
        requires |= trimmed.contains("_require") && !trimmed.starts_with('#');
        if requires {
            for text in quoted(trimmed) {
                requirement(text).into_iter().for_each(|name| manifest.depends(name, number));
            }
            requires = !trimmed.contains(']') || trimmed.contains('{');
        }
    }
    manifest.line = numbered(text).find(|(_, line)| line.contains("setup(")).map_or(1, |(line, _)| line);
    Ok(text.contains("setup("))
}

pub(super) fn pipfile(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    let root = node::toml(text)?;
    for table in ["packages", "dev-packages"] {
        for (name, node) in root.at(&[table]).map(Node::entries).unwrap_or_default() {
            requirement(name).into_iter().for_each(|name| manifest.depends(name, node.line));
        }
    }
    if let Some((version, line)) = root.text_at(&["requires", "python_version"]) {
        manifest.toolchains.push(("python", version, line));
    }
    for (name, node) in root.at(&["scripts"]).map(Node::entries).unwrap_or_default() {
        if let Some(body) = node.text() {
            let name = format!("pipenv run {name}");
            manifest.scripts.push(Script { name, body: body.to_owned(), line: node.line });
        }
    }
    Ok(true)
}

pub(super) fn requirements(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    manifest.package = false;
    for (number, line) in numbered(text) {
        let line = line.trim();
        if !line.starts_with(['#', '-']) && !line.contains("://") {
            requirement(line).into_iter().for_each(|name| manifest.depends(name, number));
        }
    }
    Ok(true)
}

pub(super) fn environment(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    for (number, line) in numbered(text) {
        let trimmed = line.trim();
        if let Some(name) = line.strip_prefix("name:") {
            manifest.name = Some((name.trim().to_owned(), number));
        } else if let Some(item) = trimmed.strip_prefix("- ") {
            requirement(item).into_iter().for_each(|name| manifest.depends(name, number));
        }
    }
    Ok(text.contains("dependencies:"))
}
