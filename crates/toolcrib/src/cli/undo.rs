//! `toolcrib undo`.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};
use toolcrib::CallRequest;

use super::Global;
use super::output::{Failure, Output};
use super::{call, sessions, setup};

#[derive(Args)]
pub(crate) struct UndoArgs {
    /// The change; the newest if absent.
    change: Option<String>,
    /// List the changes.
    #[arg(long)]
    list: bool,
    /// Show what would be undone.
    #[arg(long)]
    preview: bool,
    /// Make an undone change again.
    #[arg(long, conflicts_with_all = ["list", "preview"])]
    redo: bool,
    /// Changes of this file or folder.
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Changes since this time, or since so long ago (10m, 2h, 1d).
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// The newest so many.
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

impl UndoArgs {
    fn arguments(&self) -> Value {
        let action = match (self.list, self.preview, self.redo) {
            (true, _, _) => "list",
            (_, true, _) => "preview",
            (_, _, true) => "redo",
            _ => "undo",
        };
        let all = json!({
            "action": action, "change_id": self.change, "path": self.path, "since": self.since, "count": self.count,
        });
        let Value::Object(fields) = all else { return all };
        Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
    }
}

pub(crate) async fn undo(global: &Global, args: &UndoArgs, output: &Output) -> Result<ExitCode, Failure> {
    // The tool under its own name, whatever the profile.
    let global = &Global { profile: "default".into(), ..global.clone() };
    let (crib, state) = setup::crib(global)?;
    let open = sessions::open(&crib, &state, global.session.as_deref(), output)?;
    let request = CallRequest {
        mode: global.mode.into(),
        dry_run: global.dry_run,
        ..CallRequest::new(&open.session, "undo_changes", args.arguments())
    };
    let (outcome, interrupted) = call::run(&crib, request).await;
    if let Err(why) = open.save(&crib) {
        output.note(&format!("toolcrib: the session could not be saved: {why}"));
    }
    if output.is_json() && args.list && outcome.success {
        output.line(&outcome.data.to_string());
    } else {
        call::print(&outcome, output);
    }
    Ok(match (interrupted, outcome.success) {
        (Some(code), _) => ExitCode::from(code),
        (_, true) => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}
