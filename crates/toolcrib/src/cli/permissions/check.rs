//! `toolcrib permissions check`.

use clap::{ArgGroup, Args};
use serde_json::json;
use toolcrib::{CallRequest, Effects, ErrorCode, StateDir, ToolError, Toolcrib};
use toolcrib_core::error::ErrorType;
use toolcrib_core::permission::{Decision, Rule, RuleText, Verdict, WordText};

use crate::cli::output::{Failure, Output};
use crate::cli::{Global, sessions};

/// The tool that runs commands, by its own name.
const RUNS: &str = "run_command";

#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true).args(["command", "path", "host"]))]
pub(crate) struct CheckArgs {
    /// A command, as a shell would get it; several words are one command. Quote it, or put `--` before it, if it has
    /// options of its own.
    command: Vec<String>,
    /// A path that the tool reads or writes.
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// A host that the tool reaches.
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// The tool. Default: run_command for a command, write_file for a path, web_fetch for a host.
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// The command may reach the network.
    #[arg(long, requires = "command")]
    network: bool,
}

impl CheckArgs {
    /// The command as one line: words that the own shell has taken apart are quoted again.
    fn line(&self) -> Option<String> {
        match self.command.as_slice() {
            [] => None,
            [line] => Some(line.clone()),
            words => {
                let quoted = words.iter().map(|word| WordText::One(word.clone()).to_string());
                Some(quoted.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

pub(super) fn check(
    global: &Global,
    crib: &Toolcrib,
    state: &StateDir,
    args: &CheckArgs,
    output: &Output,
) -> Result<(), Failure> {
    let open = sessions::open(crib, state, global.session.as_deref(), output)?;
    let tool = |default: &str| args.tool.clone().unwrap_or_else(|| default.to_owned());
    let explained = match (args.line(), &args.path, &args.host) {
        (Some(command), ..) => {
            let tool = known(crib, &tool(RUNS))?;
            let arguments = match args.network {
                true => json!({"command": command, "network": true}),
                false => json!({"command": command}),
            };
            crib.executor().explain(CallRequest::new(&open.session, tool, arguments))
        }
        (_, Some(path), _) => {
            let tool = known(crib, &tool("write_file"))?;
            let spec = crib.executor().registry().get(&tool).map(|tool| tool.spec().capabilities);
            let reads = spec.is_some_and(|capabilities| capabilities.is_read_only());
            let effects = if reads { Effects::reads([path]) } else { Effects::writes([path]) };
            crib.executor().explain_effects(&open.session, &tool, effects)
        }
        (_, _, host) => {
            let host = host.as_deref().unwrap_or_default().trim();
            // What cannot stand in a rule is no host.
            let named = RuleText { host: Some(host.to_owned()), ..RuleText::new(Decision::Ask) };
            Rule::new(&named).map_err(Failure::usage)?;
            let effects = Effects { hosts: vec![host.to_owned()], ..Effects::none() };
            crib.executor().explain_effects(&open.session, &tool("web_fetch"), effects)
        }
    };
    let verdict = explained.or_else(refused)?;
    output.print(&json!(verdict), |output| {
        let decision = match verdict.decision {
            Decision::Allow => output.green("allow"),
            Decision::Ask => output.yellow("ask"),
            Decision::Deny => output.red("deny"),
        };
        let rule = verdict.rule.as_ref().map_or_else(String::new, |rule| format!("\nby {rule}"));
        format!("{decision}: {}{rule}", verdict.reason)
    });
    Ok(())
}

fn known(crib: &Toolcrib, tool: &str) -> Result<String, Failure> {
    if crib.executor().registry().get(tool).is_some() {
        return Ok(tool.to_owned());
    }
    Err(Failure::usage(format!("there is no tool {tool:?}"))
        .code(ErrorCode::ToolNotFound)
        .suggest("See `toolcrib tools`, and name one by --tool."))
}

/// What no policy is asked about is denied all the same; what is wrong with the question itself is an error.
fn refused(error: ToolError) -> Result<Verdict, Failure> {
    match error.code.error_type() {
        ErrorType::SecurityError | ErrorType::PermissionError => {
            Ok(Verdict::new(Decision::Deny, error.message))
        }
        _ => Err(Failure::usage(error.message).code(error.code)),
    }
}
