//! `toolcrib` alone: what it sees here, and how to go on.

use std::process::ExitCode;

use serde_json::json;
use toolcrib::Access;

use super::Global;
use super::declare;
use super::output::{Failure, Output};
use super::setup;

pub(crate) fn overview(global: &Global, output: &Output) -> Result<ExitCode, Failure> {
    let roots = setup::roots(global)?;
    let state = setup::state_of(&roots)?;
    let (profile, _) = declare::profile(global)?;
    let names: Vec<&str> = profile.tools.iter().map(|tool| tool.shown.as_str()).collect();
    let shown: Vec<_> = roots
        .iter()
        .map(|(path, access)| {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            json!({"path": path, "access": if *access == Access::ReadOnly { "read-only" } else { "read-write" },
                "git": path.join(".git").exists()})
        })
        .collect();
    let (crib, _) = setup::crib(global)?;
    let sandbox = crib.commands().level().map_or_else(|error| error.to_string(), |level| level.to_string());
    let seen = json!({
        "version": env!("CARGO_PKG_VERSION"), "workspace": shown, "profile": profile.name,
        "policy": global.policy().as_str(), "sandbox": sandbox, "tools": names, "state": state.path(),
    });
    output.print(&seen, |output| {
        let mut text = format!("{} {}\n\n", output.bold("toolcrib"), env!("CARGO_PKG_VERSION"));
        for root in &shown {
            let git = if root["git"] == true { ", a git repository" } else { "" };
            text.push_str(&format!(
                "workspace  {} ({}{git})\n",
                root["path"].as_str().unwrap_or_default(),
                root["access"].as_str().unwrap_or_default()
            ));
        }
        text.push_str(&format!("state      {}\n", state.path().display()));
        text.push_str(&format!("sandbox    {sandbox}\n"));
        text.push_str(&format!("profile    {} ({} tools)\n", profile.name, names.len()));
        text.push_str(&format!("tools      {}\n", names.join(" ")));
        text.push_str(&format!("\n{}\n", output.bold("Try")));
        for (command, what) in [
            ("toolcrib tools", "what there is"),
            ("toolcrib describe edit_file", "what a tool takes"),
            ("toolcrib call list_directory", "call one"),
            ("toolcrib call grep '{\"pattern\": \"fn main\"}'", "with arguments"),
            ("toolcrib call write_file --arg path=a.txt --arg content=hi --dry-run", "what would happen"),
            ("toolcrib call run_command --arg command='make test'", "run a command, confined"),
            ("toolcrib tools new hello", "a tool of your own"),
            ("toolcrib undo --list", "every change, to be undone"),
            ("toolcrib permissions check 'git push --force'", "what an agent may do, and why"),
            ("toolcrib declarations --format openai", "for a model API"),
            ("toolcrib mcp --print-config claude", "to paste into an MCP client"),
            ("toolcrib doctor", "does everything work here"),
        ] {
            text.push_str(&format!("  {command:<70} {}\n", output.dim(what)));
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}
