//! Files that run by themselves, or hold secrets: writing them deserves a question or at least a word.

/// How careful to be with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensitivity {
    /// Nothing special.
    Normal,
    /// Ask before writing; the reason is for the person asked.
    Sensitive(&'static str),
    /// Fine to write, but say so; the reason is for the person who reads along.
    Flagged(&'static str),
}

use Sensitivity::{Flagged, Normal, Sensitive};

const ENVIRONMENT: &str = "its commands run when a shell enters the directory or starts";
const EDITOR: &str = "an editor runs commands from it";
const HOOKS: &str = "it runs on the next git command";
const SECRETS: &str = "it usually holds secrets";
const PACKAGES: &str = "it can redirect where packages are fetched from, or hold tokens";
const CI: &str = "it runs with the rights of the build service";
const MCP: &str = "it starts servers for an agent";
const GIT: &str = "it changes what git does with files of this repository";
const BUILD: &str = "it runs on the next build";

/// What is known about a path from its names alone, at any depth and whatever their case.
pub fn sensitivity(display_path: &str) -> Sensitivity {
    let folded: Vec<String> =
        display_path.split('/').map(|name| crate::path::folded(std::ffi::OsStr::new(name))).collect();
    let mut names: Vec<&str> = folded.iter().map(String::as_str).collect();
    let Some(last) = names.pop() else { return Normal };
    let parent = names.last().copied().unwrap_or_default();
    if let Some(found) = by_directory(&names, parent, last) {
        return found;
    }
    match last {
        ".env" | ".netrc" | ".pgpass" | ".git-credentials" => Sensitive(SECRETS),
        _ if last.starts_with(".env.") && !last.ends_with(".example") && !last.ends_with(".sample") => {
            Sensitive(SECRETS)
        }
        ".envrc" | ".bashrc" | ".bash_profile" | ".bash_login" | ".profile" | ".zshrc" | ".zshenv"
        | ".zprofile" | ".zlogin" | ".inputrc" | "config.fish" => Sensitive(ENVIRONMENT),
        ".mcp.json" => Sensitive(MCP),
        ".npmrc" | ".yarnrc" | ".yarnrc.yml" | ".pypirc" | "pip.conf" => Sensitive(PACKAGES),
        ".pre-commit-config.yaml" | ".pre-commit-config.yml" | "lefthook.yml" => Sensitive(HOOKS),
        ".gitlab-ci.yml" | "jenkinsfile" => Sensitive(CI),
        ".gitmodules" | ".gitconfig" => Sensitive(GIT),
        ".gitattributes" => Flagged(GIT),
        "build.rs" | "package.json" | "makefile" | "gnumakefile" | "conftest.py" | "setup.py" => {
            Flagged(BUILD)
        }
        _ => Normal,
    }
}

fn by_directory(above: &[&str], parent: &str, last: &str) -> Option<Sensitivity> {
    let under = |first: &str, second: &str| above.windows(2).any(|pair| pair == [first, second]);
    let within = |folders: &[&str]| above.iter().any(|name| folders.contains(name));
    match (parent, last) {
        (".vscode", "tasks.json" | "settings.json" | "launch.json" | "mcp.json") => Some(Sensitive(EDITOR)),
        (".cargo", "config.toml" | "config") => Some(Sensitive(BUILD)),
        (".idea", "workspace.xml") => Some(Sensitive(EDITOR)),
        _ if under(".idea", "runconfigurations") || parent == ".run" => Some(Sensitive(EDITOR)),
        // At any depth: `.claude/hooks/x.sh` runs as surely as what names it.
        _ if within(&[".cursor", ".claude", ".gemini", ".codex"]) => Some(Sensitive(MCP)),
        _ if within(&[".husky", ".githooks"]) => Some(Sensitive(HOOKS)),
        _ if within(&[".devcontainer", ".zed"]) => Some(Sensitive(EDITOR)),
        _ if within(&[".circleci"]) => Some(Sensitive(CI)),
        _ if under(".github", "workflows") || under(".github", "actions") => Some(Sensitive(CI)),
        _ if above.contains(&".ssh") => Some(Sensitive(SECRETS)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_flags_or_lets_pass() {
        let asked = ".envrc .ENV .env.local a/.vscode/tasks.json .VSCode/Settings.json .mcp.json x/.npmrc .cargo/config.toml \
            .idea/runConfigurations/a.xml .husky/pre-commit .github/workflows/ci.yml .pre-commit-config.yaml .bashrc \
            sub/.gitmodules .e\u{200b}nvrc .claude/hooks/a/b.sh .cursor/rules/x .githooks/pre-push \
            .devcontainer/devcontainer.json .zed/tasks.json .circleci/config.yml .codex/config.toml";
        for path in asked.split_whitespace() {
            assert!(matches!(sensitivity(path), Sensitive(_)), "{path}");
        }
        for path in ["build.rs", "a/package.json", ".gitattributes", "Makefile"] {
            assert!(matches!(sensitivity(path), Flagged(_)), "{path}");
        }
        for path in
            ["src/main.rs", ".env.example", ".github/README.md", "config.toml", "tasks.json", "env", "."]
        {
            assert_eq!(sensitivity(path), Normal, "{path}");
        }
    }
}
