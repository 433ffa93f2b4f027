//! What continuous integration runs, read line by line: the shape of these files is known, and a parser of YAML would
//! bring more than the lines that are needed.

use super::Gather;
use super::classify::by_words;

/// Workflow files looked at.
const MAX_FILES: usize = 40;

fn is_workflow(below: &str) -> bool {
    let yaml = below.ends_with(".yml") || below.ends_with(".yaml");
    let in_folder = [".github/workflows/", ".forgejo/workflows/", ".gitea/workflows/", ".woodpecker/"];
    const NAMES: &[&str] = &[
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        "azure-pipelines.yml",
        ".travis.yml",
        "bitbucket-pipelines.yml",
        ".woodpecker.yml",
        ".drone.yml",
        ".cirrus.yml",
        "appveyor.yml",
        ".appveyor.yml",
        "cloudbuild.yaml",
        ".buildkite/pipeline.yml",
        "Jenkinsfile",
    ];
    (yaml && in_folder.iter().any(|folder| below.starts_with(folder))) || NAMES.contains(&below)
}

pub(super) fn workflows(gather: &mut Gather<'_, '_>) {
    let files = gather.scan.files.iter().map(|file| file.path.clone());
    let files = files.filter(|path| is_workflow(gather.scan.below(path))).take(MAX_FILES);
    for path in files.collect::<Vec<_>>() {
        let Some(text) = gather.scan.text(&path) else { continue };
        let base = gather.scan.bases.iter().find(|base| path.starts_with(base.as_str())).cloned();
        let commands = if path.ends_with("Jenkinsfile") { pipeline(&text) } else { commands(&text) };
        for (line, command) in commands {
            // An expression of the CI is not a command that anyone could run.
            if command.contains("${{") || command.contains("$(") {
                continue;
            }
            if let Some(goal) = by_words(&command) {
                gather.add(goal, base.as_deref().unwrap_or(""), "ci", command, format!("{path}:{line}"));
            }
        }
    }
}

/// `sh 'make test'`
fn pipeline(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().enumerate();
    let found = lines.filter_map(|(index, line)| {
        let rest = line.trim().strip_prefix("sh ").or_else(|| line.trim().strip_prefix("bat "))?;
        Some((index + 1, rest.trim_matches(['\'', '"', ' ']).to_owned()))
    });
    found.collect()
}

/// Keys whose value is a command, a block of commands, or a list of them.
const KEYS: &[&str] = &[
    "run",
    "script",
    "before_script",
    "command",
    "commands",
    "bash",
    "pwsh",
    "build",
    "test",
    "test_script",
    "build_script",
];

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The commands of a workflow with their lines.
pub(crate) fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    // The indentation of the key whose block or list this line may belong to.
    let mut block: Option<usize> = None;
    let mut continued = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if let Some(outer) = block {
            let item = trimmed.strip_prefix("- ");
            let deeper = indent(line) > outer || (indent(line) == outer && item.is_some());
            let nested = item.unwrap_or(trimmed);
            if deeper && !is_key(nested) {
                let command = unquoted(nested);
                let (command, goes_on) = match command.strip_suffix('\\') {
                    Some(command) => (command.trim_end(), true),
                    None => (command, false),
                };
                match found.last_mut() {
                    Some((_, last)) if continued => {
                        last.push(' ');
                        last.push_str(command);
                    }
                    _ => found.push((index + 1, command.to_owned())),
                }
                continued = goes_on;
                continue;
            }
            block = None;
            continued = false;
        }
        let key_line = trimmed.strip_prefix("- ").unwrap_or(trimmed);
        let Some((key, value)) = key_line.split_once(':') else { continue };
        if !KEYS.contains(&key.trim()) {
            continue;
        }
        match value.trim() {
            "" | "|" | "|-" | "|+" | ">" | ">-" => block = Some(indent(line)),
            value => found.push((index + 1, unquoted(value).to_owned())),
        }
    }
    found
}

/// Whether a line in a list opens a table of its own (`- run: x`, `name: y`) and is no command.
fn is_key(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let word = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    word && (value.is_empty() || value.starts_with(' '))
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lists_and_single_lines() {
        let github = "jobs:\n  a:\n    steps:\n      - uses: x@v1\n      - run: cargo test\n      - name: many\n        run: |\n          cargo fmt --check\n          cargo clippy \\\n            --all-targets\n      - run: \"npm test\"\n";
        let lines = |text: &str| {
            commands(text).into_iter().map(|(line, text)| format!("{line} {text}")).collect::<Vec<_>>()
        };
        assert_eq!(
            lines(github),
            ["5 cargo test", "8 cargo fmt --check", "9 cargo clippy --all-targets", "11 npm test"]
        );
        let gitlab =
            "test:\n  stage: test\n  script:\n    - pytest -q\n    - 'mypy .'\n  only:\n    - main\n";
        assert_eq!(lines(gitlab), ["4 pytest -q", "5 mypy ."]);
    }
}
