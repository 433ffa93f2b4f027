//! `toolcrib permissions`: what is permitted, why, and how to change it.

mod change;
mod check;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolcrib::{RuleFiles, Toolcrib};
use toolcrib_core::permission::{Decision, RuleFile, Scope};

use super::output::{Failure, Output};
use super::{CliPolicy, Global, setup};

#[derive(Args)]
pub(crate) struct PermissionsArgs {
    #[command(subcommand)]
    command: Option<PermissionsCommand>,
}

#[derive(Subcommand)]
enum PermissionsCommand {
    /// List the rules in force, as without a subcommand.
    List,
    /// Say what would be decided about a call, and why; nothing is run.
    Check(check::CheckArgs),
    /// Add a rule of your own.
    Add(change::AddArgs),
    /// Remove a rule of your own.
    Remove {
        /// Its id, as it is listed: `user:3f9a`.
        id: String,
    },
    /// Let the project's own rules allow things, as they are now; a changed file is not trusted.
    Trust {
        /// Trust it no longer.
        #[arg(long)]
        remove: bool,
    },
}

pub(crate) fn permissions(
    global: &Global,
    args: &PermissionsArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    // What an agent may do, unless said otherwise: your own calls are their own approval.
    let policy = global.policy.or(Some(CliPolicy::Ask));
    let global = &Global { policy, profile: "default".into(), ..global.clone() };
    let (crib, state) = setup::crib(global)?;
    let files = crib.rule_files();
    match &args.command {
        None | Some(PermissionsCommand::List) => list(&crib, output),
        Some(PermissionsCommand::Check(args)) => check::check(global, &crib, &state, args, output)?,
        Some(PermissionsCommand::Add(args)) => change::add(global, files, args, output)?,
        Some(PermissionsCommand::Remove { id }) => change::remove(global, files, id, output)?,
        Some(PermissionsCommand::Trust { remove: true }) => change::distrust(global, files, output)?,
        Some(PermissionsCommand::Trust { remove: false }) => change::trust(global, files, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(crib: &Toolcrib, output: &Output) {
    let files = crib.rule_files();
    let book = files.load();
    let mode = crib.executor().policy_mode().as_str();
    let shown: Vec<Value> = book.files.iter().map(|file| described(files, file)).collect();
    output.print(&json!({"mode": mode, "files": shown}), |output| {
        let mut text = format!("mode {mode} (change it with --policy)\n");
        for file in &book.files {
            text.push_str(&section(files, file, output));
        }
        if book.files.iter().all(|file| file.rules().is_empty() && file.problem().is_none()) {
            text.push_str("no rules; add one with `toolcrib permissions add`\n");
        }
        text
    });
}

fn place(files: &RuleFiles, scope: Scope) -> String {
    files.path(scope).map(|path| path.display().to_string()).unwrap_or_default()
}

fn short_id(file: &RuleFile, at: usize) -> String {
    format!("{}:{}", file.scope.as_str(), file.key(at).unwrap_or_default())
}

fn described(files: &RuleFiles, file: &RuleFile) -> Value {
    let rule = |(at, rule): (usize, &toolcrib_core::permission::Rule)| {
        json!({
            "id": short_id(file, at), "number": at + 1, "decision": rule.decision, "what": rule.shown(),
            "network": rule.network, "reason": rule.reason, "ignored": !file.counts(rule),
        })
    };
    json!({
        "scope": file.scope, "path": place(files, file.scope), "trusted": file.trusted, "problem": file.problem(),
        "rules": file.rules().iter().enumerate().map(rule).collect::<Vec<_>>(),
    })
}

fn section(files: &RuleFiles, file: &RuleFile, output: &Output) -> String {
    let scope = file.scope.as_str();
    let mut text = format!("\n{} {}\n", output.bold(scope), output.dim(&place(files, file.scope)));
    if let Some(why) = file.problem() {
        text.push_str(&format!(
            "  {} {why}\n",
            output.red("does not load, so nothing but reading is permitted:")
        ));
        return text;
    }
    if file.scope == Scope::Project {
        text.push_str(if file.trusted {
            "  trusted as it is now\n"
        } else {
            "  not trusted: it can only tighten; `toolcrib permissions trust` changes that\n"
        });
    }
    for (at, rule) in file.rules().iter().enumerate() {
        let decision = match rule.decision {
            Decision::Allow => output.green("allow"),
            Decision::Ask => output.yellow("ask  "),
            Decision::Deny => output.red("deny "),
        };
        let network = if rule.network { ", with network" } else { "" };
        let ignored = if file.counts(rule) { "" } else { "  (ignored: not trusted)" };
        let why = rule.reason.as_ref().map_or_else(String::new, |why| format!("  {}", output.dim(why)));
        text.push_str(&format!(
            "{:>4}  {}  {decision}  {}{network}{ignored}{why}\n",
            at + 1,
            short_id(file, at),
            rule.shown()
        ));
    }
    text
}
