//! What to paste into the configuration of a client.

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::super::output::{Failure, Output};
use super::super::{Global, setup};

/// A client whose configuration is known.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Client {
    /// Claude Desktop and Claude Code.
    Claude,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Zed.
    Zed,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
}

impl Client {
    /// Where it goes.
    fn place(self) -> &'static str {
        match self {
            Self::Claude => {
                ".mcp.json in the project (Claude Code), or claude_desktop_config.json (Claude Desktop)"
            }
            Self::Cursor => ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json in the project",
            Self::Zed => "settings.json of Zed",
            Self::Codex => "~/.codex/config.toml",
            Self::Gemini => ".gemini/settings.json in the project, or ~/.gemini/settings.json",
        }
    }

    fn config(self, command: &str, args: &[String]) -> Result<String, Failure> {
        let server = json!({"command": command, "args": args});
        let json = |value: Value| serde_json::to_string_pretty(&value).unwrap_or_default();
        Ok(match self {
            Self::Claude | Self::Cursor | Self::Gemini => json(json!({"mcpServers": {"toolcrib": server}})),
            Self::Vscode => {
                json(json!({"servers": {"toolcrib": {"type": "stdio", "command": command, "args": args}}}))
            }
            Self::Zed => json(json!({"context_servers": {"toolcrib": server}})),
            Self::Codex => {
                let table: toml::Table = serde_json::from_value(json!({"mcp_servers": {"toolcrib": server}}))
                    .map_err(|error| Failure::usage(error.to_string()))?;
                toml::to_string(&table).map_err(|error| Failure::usage(error.to_string()))?
            }
        })
    }
}

pub(super) fn print(global: &Global, client: Client, output: &Output) -> Result<ExitCode, Failure> {
    let command = std::env::current_exe()
        .ok()
        .and_then(|path| path.to_str().map(str::to_owned))
        .unwrap_or_else(|| "toolcrib".into());
    let mut args = vec!["mcp".to_owned()];
    for (path, access) in setup::roots(global)? {
        let path = path.canonicalize().unwrap_or(path);
        let path = path.to_str().ok_or_else(|| {
            Failure::usage(format!("{}: a path that is not text cannot stand in a file", path.display()))
        })?;
        let read_only = access == toolcrib::Access::ReadOnly;
        args.extend(["--root".to_owned(), if read_only { format!("{path}:ro") } else { path.to_owned() }]);
    }
    if global.profile != "default" {
        args.extend(["--profile".to_owned(), global.profile.clone()]);
    }
    if let Some(policy) = global.policy {
        let name = policy.to_possible_value().map(|value| value.get_name().to_owned());
        args.extend(["--policy".to_owned(), name.unwrap_or_default()]);
    }
    let config = client.config(&command, &args)?;
    output.print(&json!({"file": client.place(), "config": config}), |output| {
        // Only what is to be pasted goes to stdout, so that it can be piped there.
        output.note(&output.dim(&format!("for {}:", client.place())));
        config.clone()
    });
    Ok(ExitCode::SUCCESS)
}
