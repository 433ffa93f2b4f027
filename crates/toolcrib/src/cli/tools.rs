//! `toolcrib tools`: what there is, and tools of one's own.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;
use toolcrib::ExternalTools;
use toolcrib::external::{Manifest, Origin, SUFFIX, example};
use toolcrib_workspace::Hash;

use super::output::{Failure, Output};
use super::{Global, declare, setup};

#[derive(Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    command: Option<ToolsCommand>,
}

#[derive(Subcommand)]
enum ToolsCommand {
    /// List them, as without a subcommand.
    List,
    /// Write an example of a tool, ready to be called and to be changed.
    New {
        /// What it is called.
        name: String,
        /// Put it into your own folder, for all projects, and not into this project's.
        #[arg(long)]
        user: bool,
    },
    /// Let agents use a tool of this project like any other, as its file is now: a changed one is not trusted.
    Trust {
        /// The tool.
        name: String,
        /// Trust it no longer.
        #[arg(long)]
        remove: bool,
    },
}

pub(crate) fn tools(global: &Global, args: &ToolsArgs, output: &Output) -> Result<ExitCode, Failure> {
    match &args.command {
        None | Some(ToolsCommand::List) => declare::tools(global, output),
        Some(ToolsCommand::New { name, user }) => new(global, name, *user, output),
        Some(ToolsCommand::Trust { name, remove }) => trust(global, name, *remove, output),
    }
}

fn external(global: &Global) -> Result<ExternalTools, Failure> {
    let global = Global { profile: "default".into(), ..global.clone() };
    let (crib, _) = setup::crib(&global)?;
    crib.external_tools().cloned().ok_or_else(|| Failure::usage("there are no tool folders here"))
}

fn new(global: &Global, name: &str, user: bool, output: &Output) -> Result<ExitCode, Failure> {
    let text = example(name).map_err(Failure::usage)?;
    let external = external(global)?;
    let origin = if user { Origin::User } else { Origin::Project };
    let folder = external.folders().path(origin);
    let folder = folder.ok_or_else(|| Failure::usage("there is no folder to write it to: set HOME"))?;
    let path = folder.join(format!("{name}{SUFFIX}"));
    let shown = external.folders().shown(origin, &format!("{name}{SUFFIX}"));
    if global.dry_run {
        output.print(&json!({"dry_run": true, "path": path, "content": text}), |_| {
            format!("would write {shown}:\n\n{text}")
        });
        return Ok(ExitCode::SUCCESS);
    }
    write_new(&path, &text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{shown} is there already")).suggest("Edit it, or choose another name.")
        }
        _ => Failure::io(&shown, &error),
    })?;
    external.reload();
    if external.get(name).is_none() {
        let _ = fs::remove_file(&path);
        let report = external.report().into_iter().find(|report| report.file == shown);
        let why = report.and_then(|report| report.problem).map(|problem| problem.to_string());
        return Err(Failure::usage(why.unwrap_or_else(|| format!("{name:?} cannot be used here")))
            .suggest("Choose another name."));
    }
    // Whoever had it written knows what is in it.
    if external.trust().add(&Hash::of(text.as_bytes())).is_err() {
        output.note("toolcrib: it could not be noted that you trust it");
    }
    let input = Manifest::parse(text.as_bytes()).ok().and_then(|manifest| manifest.examples.first().cloned());
    let call = format!("toolcrib call {name} '{}'", input.unwrap_or_else(|| json!({})));
    let said = json!({"tool": name, "path": path, "origin": origin.as_str(), "try": call});
    output.print(&said, |output| {
        let again = if user {
            ""
        } else {
            "After a change agents are asked again, until you `toolcrib tools trust` it.\n"
        };
        let (file, head) = (output.bold(&shown), output.bold("Try"));
        let then = "Then edit the file: `toolcrib tools` says if it does not load.";
        format!("wrote {file}\n\n{head}\n  {call}\n  toolcrib describe {name}\n\n{then}\n{again}")
    });
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let folder: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    fs::create_dir_all(&folder)?;
    let mut file = fs::File::options().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn trust(global: &Global, name: &str, remove: bool, output: &Output) -> Result<ExitCode, Failure> {
    let external = external(global)?;
    let Some(tool) = external.get(name) else {
        return Err(Failure::usage(format!("no file here describes a tool {name:?} that loads"))
            .suggest("`toolcrib tools` lists them, and the files that do not load."));
    };
    let report = external.report().into_iter().find(|report| report.tool.as_deref() == Some(name));
    if let Some(problem) = report.as_ref().and_then(|report| report.problem.as_ref()) {
        return Err(Failure::usage(format!("its file does not load as it is: {problem}")));
    }
    let kept = match (remove, global.dry_run) {
        (_, true) => Ok(()),
        (true, false) => external.trust().remove(tool.content()),
        (false, false) => external.trust().add(tool.content()),
    };
    kept.map_err(Failure::usage)?;
    let file = report.map(|report| report.file).unwrap_or_default();
    let said = json!({"tool": name, "file": file, "trusted": !remove, "dry_run": global.dry_run});
    output.print(&said, |_| match remove {
        true => format!("{name} is not trusted any more: an agent's calls of it are asked for"),
        false => format!("{name} is trusted as {file} is now: its calls are judged like any other command"),
    });
    Ok(ExitCode::SUCCESS)
}
