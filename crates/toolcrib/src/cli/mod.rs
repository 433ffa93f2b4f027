//! The command line: arguments in, one answer out.

mod ask;
mod call;
mod declare;
mod doctor;
mod events;
mod mcp;
mod output;
mod overview;
mod permissions;
mod sessions;
mod setup;
mod tools;
mod undo;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use toolcrib::{Mode, PolicyMode};
use toolcrib_core::declarations::Format;

use output::{Failure, Output};

/// Every tool an LLM coding agent needs, behind one counter.
#[derive(Parser)]
#[command(name = "toolcrib", version, about, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Options that may stand before or after the subcommand.
#[derive(Args, Clone)]
struct Global {
    /// A directory of the workspace; repeatable, `DIR:ro` for read-only. Default: the git root or the current directory.
    #[arg(long, global = true, value_name = "DIR")]
    root: Vec<String>,
    /// Print exactly one JSON object.
    #[arg(long, global = true)]
    json: bool,
    /// Say what would happen instead of doing it.
    #[arg(long, global = true)]
    dry_run: bool,
    /// Show the tools under the names of this profile.
    #[arg(long, global = true, default_value = "default", value_name = "PROFILE")]
    profile: String,
    /// Who calls.
    #[arg(long, global = true, value_enum, default_value_t = CliMode::Cli)]
    mode: CliMode,
    /// How much may happen without a question. Default: full for your own calls, ask for an agent's.
    #[arg(long, global = true, value_enum)]
    policy: Option<CliPolicy>,
    /// Confine commands exactly so: full, landlock or policy (not at all). Default: the best that works here.
    #[arg(long, global = true, value_name = "LEVEL")]
    sandbox: Option<toolcrib::process::Level>,
    /// Trust this SCIP index of the code where files are as they were when it was made.
    #[arg(long, global = true, value_name = "FILE")]
    scip: Option<PathBuf>,
    /// Write what happens to this file, a JSON object a line; `-` for stderr.
    #[arg(long, global = true, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Keep read state, task list and grants between calls under this name.
    #[arg(long, global = true, value_name = "NAME")]
    session: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CliMode {
    Cli,
    Agent,
    Mcp,
}

impl From<CliMode> for Mode {
    fn from(mode: CliMode) -> Self {
        match mode {
            CliMode::Cli => Self::Cli,
            CliMode::Agent => Self::Agent,
            CliMode::Mcp => Self::Mcp,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CliPolicy {
    Plan,
    Ask,
    Auto,
    Full,
}

impl Global {
    /// Your own call is its own approval; an agent's is not.
    fn policy(&self) -> PolicyMode {
        match (self.policy, self.mode) {
            (Some(CliPolicy::Plan), _) => PolicyMode::Plan,
            (Some(CliPolicy::Ask), _) => PolicyMode::Ask,
            (Some(CliPolicy::Auto), _) => PolicyMode::Auto,
            (Some(CliPolicy::Full), _) | (None, CliMode::Cli) => PolicyMode::Full,
            (None, _) => PolicyMode::Ask,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    /// List the tools, or add one of your own.
    Tools(tools::ToolsArgs),
    /// Say what a tool does and takes.
    Describe {
        /// The tool.
        tool: String,
    },
    /// Print the tools as a model API wants them declared.
    Declarations {
        /// gemini, gemini-legacy, openai, openai-strict, openai-responses, anthropic, mcp or langchain.
        #[arg(long, value_name = "FORMAT")]
        format: Format,
    },
    /// Call a tool.
    Call(call::CallArgs),
    /// Serve the tools over the Model Context Protocol, on stdio or HTTP.
    Mcp(mcp::McpArgs),
    /// List, preview or undo changes to files.
    Undo(undo::UndoArgs),
    /// List what is permitted, say why, or change it.
    Permissions(permissions::PermissionsArgs),
    /// Check that everything works here.
    Doctor,
}

/// Runs the command; the exit code says how it went: 0 well, 1 the tool failed, 2 wrong usage, 130 interrupted.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage_error(&error),
    };
    let output = Output::new(cli.global.json);
    // A server must answer while a call keeps a thread busy; for a single call one thread is quickest.
    let mut builder = match &cli.command {
        Some(Command::Mcp(_)) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return output.fail(&Failure::usage(format!("no runtime: {error}"))),
    };
    let code = runtime.block_on(async {
        match dispatch(&cli, &output).await {
            Ok(code) => code,
            Err(failure) => output.fail(&failure),
        }
    });
    // A tool that does not stop must not keep the process from ending.
    runtime.shutdown_background();
    if output.failed() { ExitCode::from(1) } else { code }
}

/// Help and versions as they are; a mistake in JSON too, if the caller seems to want that.
fn usage_error(error: &clap::Error) -> ExitCode {
    let given = |word: &str| std::env::args_os().any(|argument| argument == word);
    // An option of the command that is asked about: clap would call it a value of ours.
    let unquoted =
        error.kind() == clap::error::ErrorKind::UnknownArgument && given("permissions") && given("check");
    let hint = "Quote the command: toolcrib permissions check 'git push --force'";
    if error.use_stderr() && (given("--json") || unquoted) {
        let text = error.to_string();
        let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
        let said = lines.collect::<Vec<_>>().join(" ");
        let failure = Failure::usage(said.trim_start_matches("error: "));
        return Output::new(given("--json")).fail(&if unquoted { failure.suggest(hint) } else { failure });
    }
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

async fn dispatch(cli: &Cli, output: &Output) -> Result<ExitCode, Failure> {
    ignore_size_signal();
    let global = &cli.global;
    match &cli.command {
        None => overview::overview(global, output),
        Some(Command::Tools(arguments)) => tools::tools(global, arguments, output),
        Some(Command::Describe { tool }) => declare::describe(global, tool, output),
        Some(Command::Declarations { format }) => declare::declarations(global, *format, output),
        Some(Command::Call(arguments)) => call::call(global, arguments, output).await,
        Some(Command::Mcp(arguments)) => mcp::mcp(global, arguments, output).await,
        Some(Command::Undo(arguments)) => undo::undo(global, arguments, output).await,
        Some(Command::Permissions(arguments)) => permissions::permissions(global, arguments, output),
        Some(Command::Doctor) => doctor::doctor(global, output),
    }
}

/// A write beyond the file-size limit shall be an error that is reported, not the end of the process.
fn ignore_size_signal() {
    #[cfg(target_os = "linux")]
    {
        const SIGXFSZ: i32 = 25;
        // Having a handler is what counts; nobody waits for it.
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ));
    }
}
