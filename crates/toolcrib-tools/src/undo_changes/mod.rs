//! `undo_changes`: the journal, for models and people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{
    CallContext, Capabilities, Effects, ErrorCode, Preview, Render, RenderContext, Tool, ToolError, ToolSpec,
    Violations,
};
use toolcrib_workspace::{ChangeFilter, ChangeInfo, ErrorKind, FileChange, Undone};

use crate::support::change::{Desk, commit_error, diff_of, diff_preview, note, stat_of};
use crate::support::errors::tool_error;
use crate::support::listing::counted;

/// Changes listed if the caller does not say.
const DEFAULT_LIST: usize = 20;

/// Lists and undoes changes.
pub struct UndoChanges;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Action {
    List,
    Preview,
    Undo,
    Redo,
}

/// Which changes.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// (What to do.)
    pub action: Action,
    /// (This change.)
    pub change_id: Option<String>,
    /// (Changes of this file or folder.)
    pub path: Option<String>,
    /// (Changes of this turn.)
    pub turn: Option<u64>,
    /// `2026-01-31T08:00:00Z`, or `10m`, `2h`, `1d` ago.
    pub since: Option<String>,
    /// The newest so many (default 1).
    #[schemars(range(min = 1, max = 1000))]
    pub count: Option<usize>,
    /// (Listed at most; default 20.)
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// (How many to skip.)
    pub offset: Option<usize>,
}

/// What there is, and what was done.
#[derive(Serialize)]
pub struct Output {
    changes: Vec<ChangeInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    restored: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_id: Option<String>,
    total: usize,
    next_offset: Option<usize>,
    #[serde(skip)]
    action: &'static str,
}

/// The changes that the input names, newest first.
fn chosen(desk: &Desk, input: &Input) -> Result<Vec<ChangeInfo>, ToolError> {
    let path = match &input.path {
        Some(path) => Some(desk.workspace.locate(path).map_err(|error| tool_error(&error))?.display),
        None => None,
    };
    let filter = ChangeFilter {
        change_id: input.change_id.clone(),
        path,
        turn: input.turn,
        session: session_of(desk, input),
        since: input.since.as_deref().map(since).transpose()?,
        ..ChangeFilter::default()
    };
    desk.workspace.changes(&filter).map_err(|error| match error.kind() {
        ErrorKind::InvalidPattern => {
            ToolError::new(ErrorCode::ValidationError, format!("since: {}", error.message()))
                .suggest("Give a time such as 2026-01-31T08:00:00Z, or how long ago: 10m, 2h, 1d.")
        }
        _ => tool_error(&error),
    })
}

/// A conversation undoes its own changes unless it names another; a person's call, and a list, mean everybody's.
fn session_of(desk: &Desk, input: &Input) -> Option<String> {
    let own = input.turn.is_some()
        || (input.action != Action::List && input.change_id.is_none() && !desk.state.is_lenient());
    own.then(|| desk.label().session)
}

/// `10m` ago as a time; a time stays as it is.
fn since(text: &str) -> Result<String, ToolError> {
    let text = text.trim();
    let split = text.len().saturating_sub(1);
    let (Some(number), Some(unit)) = (text.get(..split), text.get(split..)) else {
        return Ok(text.to_owned());
    };
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Ok(text.to_owned()),
    };
    let Ok(number) = number.parse::<u32>() else { return Ok(text.to_owned()) };
    let ago = std::time::Duration::from_secs(u64::from(number) * seconds);
    let then = jiff::Timestamp::now()
        .checked_sub(ago)
        .map_err(|_| ToolError::new(ErrorCode::ValidationError, format!("since: {text} is too long ago")))?;
    Ok(then.to_string())
}

/// The ids to take back or to make again.
fn targets(desk: &Desk, input: &Input, redo: bool) -> Result<Vec<String>, ToolError> {
    let all = chosen(desk, input)?;
    let explicit = input.change_id.is_some();
    // An undo is taken back by name, or by redo; "the last change" means the last one that did something.
    let fits = |change: &&ChangeInfo| {
        let turns = !change.undoes.is_empty() || !change.redoes.is_empty();
        if redo { change.undone && !turns } else { !change.undone && (explicit || !turns) }
    };
    let span = input.turn.is_some() || input.since.is_some();
    let most = input.count.unwrap_or(if span { usize::MAX } else { 1 });
    let ids: Vec<String> = if redo && !explicit && !span {
        last_undone(&all, most)
    } else {
        all.iter().filter(fits).take(most).map(|change| change.change_id.clone()).collect()
    };
    if !ids.is_empty() {
        return Ok(ids);
    }
    let what = if redo { "redo" } else { "undo" };
    let message = match (&input.change_id, all.first()) {
        (Some(id), None) => format!("there is no change {}", visible_path(id)),
        (Some(id), Some(_)) if redo => format!("change {id} is not undone"),
        (Some(id), Some(_)) => format!("change {id} is already undone"),
        _ => format!("there is nothing to {what}"),
    };
    Err(ToolError::new(ErrorCode::Conflict, message).suggest("List the changes to see what there is."))
}

/// What the newest undo took back and is still undone: that is what redo means.
fn last_undone(all: &[ChangeInfo], most: usize) -> Vec<String> {
    let is_undone = |id: &&String| all.iter().any(|change| change.change_id == **id && change.undone);
    let still = |change: &ChangeInfo| change.undoes.iter().filter(is_undone).cloned().collect::<Vec<_>>();
    let undos = all.iter().filter(|change| !change.undone).map(still).filter(|ids| !ids.is_empty());
    undos.take(most).flatten().collect()
}

fn carry_out(desk: &Desk, input: &Input, dry_run: bool) -> Result<(Vec<String>, Undone), ToolError> {
    let redo = input.action == Action::Redo;
    let ids = targets(desk, input, redo)?;
    let result = if redo {
        desk.workspace.redo(&ids, desk.label(), dry_run)
    } else {
        desk.workspace.undo(&ids, desk.label(), dry_run)
    };
    let undone = result.map_err(|error| {
        let done = if redo { "redone" } else { "undone" };
        let mut converted = commit_error(&error);
        if error.kind() == ErrorKind::Stale {
            converted.message = format!(
                "{}: it has been changed since; nothing was {done}",
                error.path().unwrap_or("a file")
            );
            converted =
                converted.suggest("Leave it, or take the change back by an edit of the file as it is now.");
        }
        converted
    })?;
    Ok((ids, undone))
}

fn listed(cx: &CallContext, desk: &Desk, input: &Input) -> Result<Output, ToolError> {
    let all = chosen(desk, input)?;
    let (offset, limit) = (input.offset.unwrap_or(0), input.limit.or(input.count).unwrap_or(DEFAULT_LIST));
    let total = all.len();
    let changes: Vec<ChangeInfo> = all.into_iter().skip(offset).take(limit).collect();
    let end = offset.saturating_add(changes.len());
    let next_offset = (end < total && !changes.is_empty()).then_some(end);
    desk.workspace.journal_problems().into_iter().for_each(|problem| cx.warn(problem));
    Ok(Output {
        changes,
        diff: None,
        restored: Vec::new(),
        change_id: None,
        total,
        next_offset,
        action: "listed",
    })
}

fn run(cx: &CallContext, input: &Input) -> Result<Output, ToolError> {
    let desk = Desk::new(cx, "undo_changes")?;
    if input.action == Action::List {
        return listed(cx, &desk, input);
    }
    let dry_run = input.action == Action::Preview;
    // Looked up before: once the files are changed, nothing may fail any more.
    let known = desk.workspace.changes(&ChangeFilter::default()).map_err(|error| tool_error(&error))?;
    let (ids, undone) = carry_out(&desk, input, dry_run)?;
    let is_undone = |before: bool| if dry_run { before } else { input.action == Action::Undo };
    let turned = known.into_iter().filter(|change| ids.contains(&change.change_id));
    let changes: Vec<ChangeInfo> =
        turned.map(|change| ChangeInfo { undone: is_undone(change.undone), ..change }).collect();
    if !dry_run {
        undone.files.iter().for_each(|file: &FileChange| note(cx, &desk.state, file));
    }
    undone.warnings.iter().for_each(|warning| cx.warn(warning.clone()));
    let (action, restored) = match input.action {
        Action::Redo => ("redone", undone.restored),
        Action::Preview => ("would be undone", Vec::new()),
        _ => ("undone", undone.restored),
    };
    Ok(Output {
        total: changes.len(),
        changes,
        diff: Some(diff_of(&undone.files)),
        restored,
        change_id: (!dry_run).then_some(undone.change_id),
        next_offset: None,
        action,
    })
}

/// What an undo or redo would do.
fn foresee(cx: &CallContext, input: &Input) -> Result<(Vec<String>, Preview), ToolError> {
    let (_, undone) = carry_out(&Desk::new(cx, "undo_changes")?, input, true)?;
    let verb = if input.action == Action::Redo { "redo" } else { "undo" };
    let title = format!("would {verb} the change of {}", undone.restored.join(", "));
    Ok((undone.restored, Preview { title, text: diff_of(&undone.files) }))
}

impl Tool for UndoChanges {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("undo_changes", "Undo changes", include_str!("description.md"))
            .capabilities(Capabilities::writes())
            .example("what has changed", json!({"action": "list"}))
            .example("take the last change back", json!({"action": "undo"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        match input.action {
            Action::List | Action::Preview => Effects::none(),
            // Which files it touches is only known from the journal, so it runs alone among writers.
            Action::Undo | Action::Redo => Effects {
                writes: input.path.iter().filter(|path| path.trim_end_matches('/') != ".").cloned().collect(),
                writes_anything: true,
                ..Effects::default()
            },
        }
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        match (&input.action, &input.change_id) {
            (_, Some(id)) if id.len() > 100 => Err(vec![Violation {
                path: "change_id".into(),
                expected: "an id from the list of changes".into(),
                got: format!("{} bytes", id.len()),
            }]),
            _ => Ok(()),
        }
    }

    async fn preview(&self, cx: &CallContext, input: &Input) -> Result<Preview, ToolError> {
        if !changes_files(input) {
            return Ok(Preview { title: "would list changes".into(), text: String::new() });
        }
        let input = input.clone();
        cx.blocking(move |cx| Ok(foresee(cx, &input)?.1)).await
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        if changes_files(&input) {
            let asked = input.clone();
            let (paths, preview) = cx.blocking(move |cx| foresee(cx, &asked)).await?;
            cx.authorise(Effects::writes(paths), preview).await?;
        }
        cx.blocking(move |cx| run(cx, &input)).await
    }
}

fn changes_files(input: &Input) -> bool {
    matches!(input.action, Action::Undo | Action::Redo)
}

impl Render for Output {
    fn title(&self) -> String {
        match (&self.diff, self.action) {
            (None, _) => counted(self.total, "change"),
            (Some(diff), action) => format!("{} {action} ({})", counted(self.total, "change"), stat_of(diff)),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        if let Some(diff) = &self.diff {
            return format!("{}\n{diff}", self.title());
        }
        if self.changes.is_empty() {
            return "No changes.".into();
        }
        let line = |change: &ChangeInfo| {
            let undone = if change.undone { " (undone)" } else { "" };
            let at = change.at.split('.').next().unwrap_or_default().trim_end_matches('Z');
            let paths: Vec<_> = change.paths.iter().map(|path| visible_path(path)).collect();
            format!("{} {at}Z {} {}{undone}", change.change_id, change.tool, paths.join(" "))
        };
        let mut text = self.changes.iter().map(line).collect::<Vec<_>>().join("\n");
        if let Some(next) = self.next_offset {
            text.push_str(&format!(
                "\n[{} of {} shown; go on with offset {next}]",
                self.changes.len(),
                self.total
            ));
        }
        text
    }

    fn preview(&self) -> Vec<String> {
        self.diff.as_deref().map(diff_preview).unwrap_or_default()
    }
}
