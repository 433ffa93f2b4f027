//! `toolcrib permissions add`, `remove` and `trust`.

use clap::{ArgGroup, Args, ValueEnum};
use serde_json::json;
use toolcrib::RuleFiles;
use toolcrib_core::permission::{Decision, PathAccess, Rule, RuleText, Scope, WordsText};

use super::place;
use crate::cli::Global;
use crate::cli::output::{Failure, Output};

#[derive(Args)]
#[command(group = ArgGroup::new("decided").required(true).args(["allow", "ask", "deny"]))]
#[command(group = ArgGroup::new("scope").args(["user", "project"]))]
pub(crate) struct AddArgs {
    /// Let it happen without a question.
    #[arg(long)]
    allow: bool,
    /// Ask every time.
    #[arg(long)]
    ask: bool,
    /// Never let it happen.
    #[arg(long)]
    deny: bool,
    /// Commands that begin with these words.
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["glob", "path", "host"])]
    command: Option<String>,
    /// Only the command as it stands, with nothing after it.
    #[arg(long, requires = "command")]
    exact: bool,
    /// Commands that match as a whole line.
    #[arg(long, conflicts_with_all = ["path", "host"])]
    glob: Option<String>,
    /// Paths of the workspace.
    #[arg(long, value_name = "GLOB", conflicts_with = "host")]
    path: Option<String>,
    /// Which use of the path.
    #[arg(long, requires = "path")]
    access: Option<CliAccess>,
    /// A host, `*.DOMAIN` or `*`.
    #[arg(long)]
    host: Option<String>,
    /// Only for this tool, or the tool alone.
    #[arg(long)]
    tool: Option<String>,
    /// The commands may reach the network.
    #[arg(long)]
    network: bool,
    /// Why; the model is told.
    #[arg(long)]
    reason: Option<String>,
    /// In your own configuration, for every workspace.
    #[arg(long)]
    user: bool,
    /// For this workspace, kept with your own state (the default).
    #[arg(long)]
    project: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum CliAccess {
    Read,
    Write,
}

impl AddArgs {
    fn rule(&self) -> RuleText {
        let decision = match (self.allow, self.ask) {
            (true, _) => Decision::Allow,
            (_, true) => Decision::Ask,
            _ => Decision::Deny,
        };
        RuleText {
            tool: self.tool.clone(),
            command: self.command.clone().map(WordsText::Line),
            exact: self.exact.then_some(true),
            glob: self.glob.clone(),
            path: self.path.clone(),
            access: self.access.map(|access| match access {
                CliAccess::Read => PathAccess::Read,
                CliAccess::Write => PathAccess::Write,
            }),
            host: self.host.clone(),
            network: self.network.then_some(true),
            reason: self.reason.clone(),
            ..RuleText::new(decision)
        }
    }
}

pub(super) fn add(
    global: &Global,
    files: &RuleFiles,
    args: &AddArgs,
    output: &Output,
) -> Result<(), Failure> {
    let scope = if args.user { Scope::User } else { Scope::Granted };
    let text = args.rule();
    let rule = Rule::new(&text).map_err(refused)?;
    let id = if global.dry_run {
        format!("{} ({})", scope.as_str(), rule.shown())
    } else {
        files.add(scope, &[text]).map_err(refused)?.pop().unwrap_or_default()
    };
    said(global, output, "added", &id, &place(files, scope));
    Ok(())
}

pub(super) fn remove(global: &Global, files: &RuleFiles, id: &str, output: &Output) -> Result<(), Failure> {
    let wrong = || {
        Failure::usage(format!("{id:?} is no id of a rule"))
            .suggest("Ids are listed by `toolcrib permissions`.")
    };
    // The whole of what a verdict names is as good as the id.
    let (scope, key) = id.split_whitespace().next().unwrap_or_default().split_once(':').ok_or_else(wrong)?;
    let scope = match scope {
        "user" => Scope::User,
        "granted" => Scope::Granted,
        "project" => {
            return Err(Failure::usage(format!("{id} belongs to the project"))
                .suggest(format!("Edit {} yourself.", place(files, Scope::Project))));
        }
        _ => return Err(wrong()),
    };
    let removed = if global.dry_run { files.find(scope, key) } else { files.remove(scope, key) };
    let removed = removed.map_err(refused)?;
    said(global, output, "removed", &removed, &place(files, scope));
    Ok(())
}

pub(super) fn trust(global: &Global, files: &RuleFiles, output: &Output) -> Result<(), Failure> {
    if global.dry_run {
        said(global, output, "trusted", ".toolcrib/toolcrib.toml", &place(files, Scope::Project));
        return Ok(());
    }
    let file = files.trust().map_err(refused)?;
    output.print(&super::described(files, &file), |output| {
        super::section(files, &file, output).trim_start().to_owned()
    });
    Ok(())
}

pub(super) fn distrust(global: &Global, files: &RuleFiles, output: &Output) -> Result<(), Failure> {
    if !global.dry_run {
        files.distrust().map_err(refused)?;
    }
    said(global, output, "distrusted", ".toolcrib/toolcrib.toml", &place(files, Scope::Project));
    Ok(())
}

fn said(global: &Global, output: &Output, verb: &str, id: &str, path: &str) {
    output.print(&json!({verb: id, "path": path, "dry_run": global.dry_run}), |_| {
        let would = if global.dry_run { "would be " } else { "" };
        format!("{would}{verb}: {id}\nin {path}")
    });
}

fn refused(why: String) -> Failure {
    Failure::usage(why).suggest("Nothing was changed. docs/permissions.md describes rules.")
}
