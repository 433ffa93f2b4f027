//! `toolcrib call`.

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value};
use toolcrib::{Arguments, CallRequest, ErrorCode, Outcome, Toolcrib};

use super::Global;
use super::output::{Failure, Output};
use super::{sessions, setup};

/// More than this is refused before it is parsed; the executor's own limit is lower.
const MAX_INPUT: u64 = 256 << 20;

#[derive(Args)]
pub(crate) struct CallArgs {
    /// The tool.
    tool: String,
    /// Its arguments as JSON; `@FILE` reads a file, `-` stdin.
    arguments: Option<String>,
    /// One argument; repeat it for a list. `KEY:=JSON` for a value that is not text.
    #[arg(long = "arg", value_name = "KEY=VALUE")]
    args: Vec<String>,
    /// Seconds it may take.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// The cap of its text in tokens.
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<usize>,
}

pub(crate) async fn call(global: &Global, args: &CallArgs, output: &Output) -> Result<ExitCode, Failure> {
    let arguments = arguments(args)?;
    let timeout = match args.timeout {
        Some(seconds) => Some(
            Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|time| !time.is_zero())
                .ok_or_else(|| Failure::usage(format!("--timeout {seconds}: not a number of seconds")))?,
        ),
        None => None,
    };
    let (crib, state) = setup::crib(global)?;
    let open = sessions::open(&crib, &state, global.session.as_deref(), output)?;
    let request = CallRequest {
        arguments,
        timeout,
        dry_run: global.dry_run,
        mode: global.mode.into(),
        max_output_tokens: args.max_tokens,
        ..CallRequest::new(&open.session, &args.tool, Value::Null)
    };
    let (mut outcome, interrupted) = run(&crib, request).await;
    if outcome.data.get("process_id").is_some_and(Value::is_string) && outcome.tool == "run_command" {
        warn(
            &mut outcome,
            "a command in the background ends with its toolcrib process, and this one ends now",
        );
    }
    if let Err(why) = open.save(&crib) {
        output.note(&format!("toolcrib: the session could not be saved: {why}"));
    }
    print(&outcome, output);
    Ok(if let Some(code) = interrupted {
        ExitCode::from(code)
    } else if outcome.success {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Says something besides the outcome, where a program and a person would look.
fn warn(outcome: &mut Outcome, warning: &str) {
    outcome.metadata.warnings.push(warning.to_owned());
    outcome.output.push_str(&format!("\nNote: {warning}"));
}

/// Runs the call; Ctrl-C or a signal to end cancels it, and the outcome is still reported. The second value is the exit
/// code if that cut it short.
pub(crate) async fn run(crib: &Toolcrib, request: CallRequest) -> (Outcome, Option<u8>) {
    let cancel = request.cancel.clone();
    let mut call = std::pin::pin!(crib.executor().call(request));
    tokio::select! {
        outcome = &mut call => (outcome, None),
        code = told_to_end() => {
            cancel.cancel();
            let outcome = call.await;
            let cut = outcome.error.as_ref().is_some_and(|error| error.code == ErrorCode::Cancelled);
            (outcome, cut.then_some(code))
        }
    }
}

/// Waits for a signal to end; gives the exit code that belongs to it.
#[cfg(unix)]
pub(crate) async fn told_to_end() -> u8 {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut end), Ok(mut gone)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup())) else {
        let _ = tokio::signal::ctrl_c().await;
        return 130;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => 130,
        _ = end.recv() => 143,
        _ = gone.recv() => 129,
    }
}

#[cfg(not(unix))]
pub(crate) async fn told_to_end() -> u8 {
    let _ = tokio::signal::ctrl_c().await;
    130
}

pub(crate) fn print(outcome: &Outcome, output: &Output) {
    if output.is_json() {
        output.line(&serde_json::to_string(outcome).unwrap_or_default());
    } else if outcome.success {
        let said = outcome.output.lines().next().is_some_and(|first| first == outcome.title);
        if std::io::IsTerminal::is_terminal(&std::io::stdout()) && !said {
            output.line(&output.bold(&outcome.title));
        }
        let has_diff = outcome.data.get("diff").is_some();
        output.line(&if has_diff { output.coloured_diff(&outcome.output) } else { outcome.output.clone() });
    } else {
        output.note(&outcome.output);
    }
}

fn arguments(args: &CallArgs) -> Result<Arguments, Failure> {
    if !args.args.is_empty() {
        if args.arguments.is_some() {
            return Err(Failure::usage("give the arguments as JSON or by --arg, not both"));
        }
        return key_values(&args.args).map(Arguments::Json);
    }
    match args.arguments.as_deref() {
        None => Ok(Arguments::Json(Value::Object(Map::new()))),
        Some("-") => read(&mut std::io::stdin().lock(), "stdin").map(Arguments::Text),
        Some(text) => match text.strip_prefix('@') {
            Some(path) => {
                let mut file =
                    std::fs::File::open(path).map_err(|error| Failure::io(&format!("@{path}"), &error))?;
                read(&mut file, path).map(Arguments::Text)
            }
            None => Ok(Arguments::Text(text.as_bytes().to_vec())),
        },
    }
}

fn read(from: &mut impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(MAX_INPUT + 1).read_to_end(&mut bytes).map_err(|error| Failure::io(name, &error))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(Failure::usage(format!("{name}: more than {MAX_INPUT} bytes")));
    }
    Ok(bytes)
}

/// `path=a.rs limit=5 paths=a paths=b sizes:=true`. Text stays text; the executor makes numbers of it where the
/// schema wants them.
fn key_values(pairs: &[String]) -> Result<Value, Failure> {
    let mut fields: Map<String, Value> = Map::new();
    for pair in pairs {
        let wrong = || Failure::usage(format!("--arg {pair:?}: write KEY=VALUE or KEY:=JSON"));
        let (key, text) = pair.split_once('=').ok_or_else(wrong)?;
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => (key, serde_json::from_str(text).map_err(|_| wrong())?),
            None => (key, Value::String(text.to_owned())),
        };
        if key.is_empty() {
            return Err(wrong());
        }
        let merged = match fields.remove(key) {
            None => value,
            Some(Value::Array(mut items)) => {
                items.push(value);
                Value::Array(items)
            }
            Some(first) => Value::Array(vec![first, value]),
        };
        fields.insert(key.to_owned(), merged);
    }
    Ok(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_by_key() {
        let parse = |pairs: &[&str]| {
            key_values(&pairs.iter().map(|pair| (*pair).to_owned()).collect::<Vec<_>>()).ok()
        };
        assert_eq!(
            parse(&["path=a=b", "n:=5", "l=x", "l=y"]),
            Some(json!({"path": "a=b", "n": 5, "l": ["x", "y"]}))
        );
        assert_eq!(parse(&["novalue"]), None);
        assert_eq!(parse(&["n:=five"]), None);
        assert_eq!(parse(&["=x"]), None);
    }
}
