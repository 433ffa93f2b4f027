//! Scripts, targets, recipes and tasks that the project names.

use super::super::node;
use super::Gather;
use super::classify::{Goal, by_name, by_words};

/// Everything in a folder that names commands.
pub(super) fn scripts(gather: &mut Gather<'_, '_>, folder: &str) {
    manifest_scripts(gather, folder);
    makefile(gather, folder);
    justfile(gather, folder);
    taskfile(gather, folder);
    rakefile(gather, folder);
    cargo_aliases(gather, folder);
    python_runners(gather, folder);
    own_scripts(gather, folder);
}

/// By its name, or where that says nothing (or only "check"), by what it does.
fn goal_of(name: &str, body: &str) -> Option<Goal> {
    match by_name(name) {
        Some(goal) if !name.starts_with("check") => Some(goal),
        by_name => by_words(body).filter(|_| by_name.is_some()).or(by_name),
    }
}

fn manifest_scripts(gather: &mut Gather<'_, '_>, folder: &str) {
    const NODE: &[&str] = &["pnpm", "npm", "yarn", "bun"];
    for manifest in gather.manifests.iter().filter(|manifest| manifest.folder == folder) {
        let node = gather.manager(folder, NODE).unwrap_or("npm").to_owned();
        for script in &manifest.scripts {
            let (command, name) = match manifest.kind {
                "deno" => (format!("deno task {}", script.name), script.name.as_str()),
                "composer" => (format!("composer run {}", script.name), script.name.as_str()),
                // The name carries its runner: `poe test`.
                "python" => (script.name.clone(), script.name.rsplit(' ').next().unwrap_or_default()),
                _ => {
                    let short = matches!(script.name.as_str(), "test" | "start") && node != "bun";
                    let command = if short {
                        format!("{node} {}", script.name)
                    } else {
                        format!("{node} run {}", script.name)
                    };
                    (command, script.name.as_str())
                }
            };
            // What npm writes into a new package.
            let empty = script.body.contains("no test specified");
            if let Some(goal) = goal_of(name, &script.body).filter(|_| !empty) {
                gather.add(goal, folder, "script", command, manifest.evidence(script.line));
            }
        }
    }
}

/// The first of these files in a folder, with its text.
fn first(gather: &Gather<'_, '_>, folder: &str, names: &[&str]) -> Option<(String, std::rc::Rc<str>)> {
    let path = names.iter().map(|name| format!("{folder}{name}")).find(|path| gather.scan.has(path))?;
    let text = gather.scan.text(&path)?;
    Some((path, text))
}

fn makefile(gather: &mut Gather<'_, '_>, folder: &str) {
    let Some((path, text)) = first(gather, folder, &["GNUmakefile", "makefile", "Makefile"]) else { return };
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some((names, rest)) = line.split_once(':') else { continue };
        let variable =
            rest.starts_with('=') || rest.starts_with(":=") || names.contains(['=', '$', '%', '#']);
        if variable || line.starts_with(['\t', ' ', '.']) {
            continue;
        }
        let body = lines.get(index + 1).filter(|body| body.starts_with('\t')).map_or("", |body| body.trim());
        for name in names.split_whitespace() {
            let goal =
                if name == "check" { by_words(body).or(Some(Goal::Test)) } else { goal_of(name, body) };
            let command = if name == "all" { "make".to_owned() } else { format!("make {name}") };
            if let Some(goal) = goal {
                gather.add(goal, folder, "script", command, format!("{path}:{}", index + 1));
            }
        }
    }
}

fn justfile(gather: &mut Gather<'_, '_>, folder: &str) {
    let Some((path, text)) = first(gather, folder, &["justfile", "Justfile", ".justfile"]) else { return };
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let plain = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@');
        let Some((head, rest)) = line.split_once(':').filter(|_| plain) else { continue };
        let name = head.split_whitespace().next().unwrap_or_default().trim_start_matches('@');
        if rest.starts_with('=') || matches!(name, "set" | "alias" | "export" | "import" | "mod") {
            continue;
        }
        let body = lines.get(index + 1).map_or("", |body| body.trim());
        if let Some(goal) = goal_of(name, body) {
            gather.add(goal, folder, "script", format!("just {name}"), format!("{path}:{}", index + 1));
        }
    }
}

fn taskfile(gather: &mut Gather<'_, '_>, folder: &str) {
    let Some((path, text)) = first(gather, folder, &["Taskfile.yml", "Taskfile.yaml"]) else { return };
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if !line.starts_with([' ', '#']) && !line.trim().is_empty() {
            inside = line.trim_end() == "tasks:";
        } else if let Some(name) = line.strip_prefix("  ").and_then(|rest| rest.trim_end().strip_suffix(':'))
            && inside
            && !name.starts_with(' ')
            && let Some(goal) = by_name(name)
        {
            gather.add(goal, folder, "script", format!("task {name}"), format!("{path}:{}", index + 1));
        }
    }
}

fn rakefile(gather: &mut Gather<'_, '_>, folder: &str) {
    let Some((path, text)) = first(gather, folder, &["Rakefile"]) else { return };
    let rake = if gather.scan.has(&format!("{folder}Gemfile")) { "bundle exec rake" } else { "rake" };
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let name = ["task :", "task ", "Rake::TestTask.new(:", "RSpec::Core::RakeTask.new(:"]
            .iter()
            .find_map(|start| line.strip_prefix(start))
            .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
        let whole = line.starts_with("Rake::TestTask.new do").then(|| "test".to_owned());
        if let Some(name) = name.or(whole)
            && let Some(goal) = by_name(&name)
        {
            gather.add(goal, folder, "script", format!("{rake} {name}"), format!("{path}:{}", index + 1));
        }
    }
}

/// Aliases of cargo, by which `cargo xtask` and its like are made.
fn cargo_aliases(gather: &mut Gather<'_, '_>, folder: &str) {
    let names = [".cargo/config.toml", ".cargo/config"];
    let Some((path, text)) = first(gather, folder, &names) else { return };
    let root = match node::toml(&text) {
        Ok(root) => root,
        Err(why) => return gather.scan.warn(format!("{path} could not be understood: {why}")),
    };
    for (name, alias) in root.at(&["alias"]).map(node::Node::entries).unwrap_or_default() {
        let listed = alias.items().iter().filter_map(node::Node::text).collect::<Vec<_>>().join(" ");
        let body = format!("cargo {}", alias.text().unwrap_or(&listed));
        if let Some(goal) = by_name(name).or_else(|| by_words(&body).filter(|goal| *goal != Goal::Run)) {
            gather.add(goal, folder, "script", format!("cargo {name}"), format!("{path}:{}", alias.line));
        }
    }
}

fn python_runners(gather: &mut Gather<'_, '_>, folder: &str) {
    if let Some((path, text)) = first(gather, folder, &["tox.ini"]) {
        let line = text
            .lines()
            .position(|line| line.starts_with("[tox") || line.starts_with("[testenv"))
            .unwrap_or(0);
        gather.add(Goal::Test, folder, "script", "tox".into(), format!("{path}:{}", line + 1));
    }
    let Some((path, text)) = first(gather, folder, &["noxfile.py"]) else { return };
    let mut session = false;
    for (index, line) in text.lines().enumerate() {
        session |= line.starts_with("@nox.session") || line.starts_with("@session");
        if let Some(name) = line.strip_prefix("def ").and_then(|rest| rest.split('(').next())
            && std::mem::take(&mut session)
            && let Some(goal) = by_name(name)
        {
            gather.add(goal, folder, "script", format!("nox -s {name}"), format!("{path}:{}", index + 1));
        }
    }
}

/// Programs in a folder of scripts, which are called what they are for.
fn own_scripts(gather: &mut Gather<'_, '_>, folder: &str) {
    let mut found: Vec<String> = Vec::new();
    for place in ["scripts/", "script/", "bin/", "tools/", ""] {
        let prefix = format!("{folder}{place}");
        let here = gather.scan.files.iter().filter_map(|file| file.path.strip_prefix(&prefix));
        let named = here.filter(|name| {
            let stem = name.strip_suffix(".sh").or_else(|| name.strip_suffix(".py")).unwrap_or(name);
            // In the folder itself only what is plainly a script.
            !stem.contains(['/', '.'])
                && by_name(stem).is_some()
                && (!place.is_empty() || name.ends_with(".sh"))
        });
        found.extend(named.map(|name| format!("{place}{name}")));
    }
    for name in found {
        let path = format!("{folder}{name}");
        let is_script = gather.scan.text(&path).is_some_and(|text| text.starts_with("#!"));
        let stem = name.rsplit('/').next().unwrap_or_default();
        if is_script && let Some(goal) = by_name(stem) {
            gather.add(goal, folder, "script", format!("./{name}"), format!("{path}:1"));
        }
    }
}

/// What a container or a platform starts.
pub(super) fn containers(gather: &mut Gather<'_, '_>, folder: &str) {
    if let Some((path, text)) = first(gather, folder, &["Procfile"]) {
        for (index, line) in text.lines().enumerate() {
            if let Some((_, command)) = line.split_once(':').filter(|_| !line.starts_with('#')) {
                let command = command.trim().to_owned();
                gather.add(Goal::Run, folder, "container", command, format!("{path}:{}", index + 1));
            }
        }
    }
    let Some((path, text)) = first(gather, folder, &["Dockerfile", "Containerfile"]) else { return };
    if let Some((line, command)) = container_command(&text) {
        gather.add(Goal::Run, folder, "container", command, format!("{path}:{line}"));
    }
}

/// What the last stage of a Dockerfile starts: its entry point with its arguments.
pub(crate) fn container_command(text: &str) -> Option<(usize, String)> {
    let mut entry: Option<(usize, String)> = None;
    let mut arguments: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        match word.to_ascii_uppercase().as_str() {
            "FROM" => (entry, arguments) = (None, None),
            "ENTRYPOINT" => entry = Some((index + 1, exec_form(rest))),
            "CMD" => arguments = Some((index + 1, exec_form(rest))),
            _ => {}
        }
    }
    match (entry, arguments) {
        (Some((line, entry)), Some((_, arguments))) => Some((line, format!("{entry} {arguments}"))),
        (one, other) => one.or(other),
    }
}

fn exec_form(rest: &str) -> String {
    match node::json(rest.trim()) {
        Ok(list) if !list.items().is_empty() => {
            list.items().iter().filter_map(node::Node::text).collect::<Vec<_>>().join(" ")
        }
        _ => rest.trim().to_owned(),
    }
}
