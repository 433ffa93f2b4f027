//! What a conversation knows of the files, and its task list. Kept by session, and saved by whoever owns the session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{CallContext, ErrorCode, Hint, ToolError};
use toolcrib_workspace::{FileData, diff};

/// Texts longer than this are remembered by their hash alone.
const MAX_TEXT: usize = 64 << 10;
/// All remembered texts together.
const MAX_TEXTS: usize = 4 << 20;
/// Files remembered at most.
const MAX_FILES: usize = 5_000;

/// One task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// (What is to be done.)
    pub content: String,
    /// (Where it stands.)
    pub status: TodoStatus,
    /// As "Running the tests".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// What the model has seen of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seen {
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default)]
    order: u64,
    /// The lines seen so far, from 1; `None` when all of them were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<(usize, usize)>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    #[serde(default)]
    seen: HashMap<String, Seen>,
    #[serde(default)]
    todos: Vec<Todo>,
    #[serde(default)]
    clock: u64,
}

/// What one conversation knows.
#[derive(Debug, Default)]
pub struct SessionState {
    content: Mutex<Content>,
    /// Whether changes need no prior read: the caller is a person, not a model.
    lenient: bool,
}

impl SessionState {
    /// A conversation with a model: files must be read before they are changed.
    pub fn new() -> Self {
        Self::default()
    }

    /// A person's own calls: no prior read is needed.
    pub fn lenient() -> Self {
        Self { lenient: true, ..Self::default() }
    }

    /// Takes a saved conversation up again.
    pub fn from_json(text: &[u8]) -> Result<Self, String> {
        let content = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        Ok(Self { content: Mutex::new(content), lenient: false })
    }

    /// The conversation, to be saved.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(&*self.locked()).unwrap_or_default()
    }

    /// Whether the caller is a person.
    pub(crate) fn is_lenient(&self) -> bool {
        self.lenient
    }

    fn locked(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task list.
    pub fn todos(&self) -> Vec<Todo> {
        self.locked().todos.clone()
    }

    /// Replaces the task list.
    pub fn set_todos(&self, todos: Vec<Todo>) {
        self.locked().todos = todos;
    }

    /// Notes that the model has seen a whole file, or has written it.
    pub fn saw(&self, path: &str, hash: &str, bytes: Option<&[u8]>) {
        let text = bytes.filter(|bytes| bytes.len() <= MAX_TEXT);
        let text = text.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        self.insert(path, Seen { hash: hash.to_owned(), text, order: 0, lines: None });
    }

    /// Notes that a tool of the model has changed a file: what it had not seen of it before, it still has not. Lines
    /// before the first changed one keep their numbers, and so count as seen.
    pub(crate) fn changed(&self, path: &str, before: Option<&[u8]>, after: &[u8], hash: &str) {
        let partial = self.locked().seen.get(path).and_then(|seen| seen.lines.clone());
        let (Some(lines), Some(before)) = (partial, before) else { return self.saw(path, hash, Some(after)) };
        let same = before.iter().zip(after).take_while(|(a, b)| a == b).map(|(a, _)| *a);
        let first_changed = 1 + same.filter(|byte| *byte == b'\n').count();
        let kept = lines.into_iter().filter(|(first, _)| *first < first_changed);
        let kept: Vec<_> = kept.map(|(first, last)| (first, last.min(first_changed - 1))).collect();
        self.insert(path, Seen { hash: hash.to_owned(), text: None, order: 0, lines: Some(kept) });
    }

    /// Notes that the model has seen some lines of a file: enough to edit it, but not to overwrite it, until it has
    /// seen all of them.
    pub fn saw_lines(&self, path: &str, hash: &str, lines: (usize, usize), total: usize) {
        let mut seen = match self.locked().seen.get(path) {
            Some(known) if known.hash == hash => known.clone(),
            _ => Seen { hash: hash.to_owned(), text: None, order: 0, lines: Some(Vec::new()) },
        };
        if let Some(known) = &mut seen.lines {
            known.push(lines);
            known.sort_unstable();
            *known = merged(known);
            if matches!(known.as_slice(), [(first, last)] if *first <= 1 && *last >= total) {
                seen.lines = None;
            }
        }
        self.insert(path, seen);
    }

    fn insert(&self, path: &str, mut seen: Seen) {
        let mut content = self.locked();
        content.clock += 1;
        seen.order = content.clock;
        content.seen.insert(path.to_owned(), seen);
        content.shrink();
    }

    /// Notes that a file is gone.
    pub fn gone(&self, path: &str) {
        self.locked().seen.remove(path);
    }

    /// Refuses to overwrite a file that the model has not seen whole, or not as it is now.
    pub(crate) fn check_seen_whole(&self, file: &FileData) -> Result<(), ToolError> {
        self.check_fresh(file)?;
        let content = self.locked();
        let missing = content.seen.get(&file.path).and_then(|seen| seen.lines.as_ref());
        let Some(lines) = missing.filter(|_| !self.lenient) else { return Ok(()) };
        let next = lines.first().filter(|(first, _)| *first <= 1).map_or(1, |(_, last)| last + 1);
        let message = format!("{} has been read only in part, and this would overwrite all of it", file.path);
        let hint = Hint::new("to read the rest", "read_file", json!({"path": file.path, "offset": next}));
        Err(ToolError::new(ErrorCode::NotRead, message)
            .suggest("Edit the part that you have read, or read the rest first.")
            .details(json!({"path": file.path}))
            .hint(hint.or(json!({"paths": [format!("{}:{next}-", file.path)]}))))
    }

    /// Refuses a change to a file that the model has seen, but not as it is now.
    pub(crate) fn check_not_stale(&self, file: &FileData) -> Result<(), ToolError> {
        match self.check_fresh(file) {
            Err(error) if error.code == ErrorCode::StaleFile => Err(error),
            _ => Ok(()),
        }
    }

    /// Refuses a change to a file that the model has not seen, or not as it is now.
    pub(crate) fn check_fresh(&self, file: &FileData) -> Result<(), ToolError> {
        if self.lenient {
            return Ok(());
        }
        let content = self.locked();
        let hint =
            Hint::new("to see it", "read_file", json!({"path": file.path})).or(json!({"paths": [file.path]}));
        let Some(seen) = content.seen.get(&file.path) else {
            let message =
                format!("{} exists and has not been read in this conversation", visible_path(&file.path));
            return Err(ToolError::new(ErrorCode::NotRead, message)
                .details(json!({"path": file.path}))
                .hint(hint));
        };
        if seen.hash == file.hash.to_string() {
            return Ok(());
        }
        let changed = match &seen.text {
            Some(text) => {
                bounded(&diff::unified(&file.path, &file.path, Some(text.as_bytes()), Some(&file.bytes)))
            }
            None => String::new(),
        };
        let mut message =
            format!("{} has changed since you read it; nothing was written", visible_path(&file.path));
        if !changed.is_empty() {
            message = format!("{message}. What changed:\n{changed}");
        }
        Err(ToolError::new(ErrorCode::StaleFile, message).details(json!({"path": file.path})).hint(hint))
    }
}

/// Sorted ranges with those that touch made one.
fn merged(ranges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (first, last) in ranges {
        match all.last_mut() {
            Some(before) if *first <= before.1 + 1 => before.1 = before.1.max(*last),
            _ => all.push((*first, *last)),
        }
    }
    all
}

/// At most 60 lines of a difference.
fn bounded(diff: &str) -> String {
    let lines: Vec<&str> = diff.lines().collect();
    let shown: Vec<String> = lines.iter().take(60).map(|line| line.chars().take(300).collect()).collect();
    let more = lines.len().saturating_sub(shown.len());
    let shown = shown.join("\n");
    if more == 0 { shown } else { format!("{shown}\n[… {more} more lines]") }
}

impl Content {
    /// Forgets the oldest texts, then the oldest files, so that a long conversation stays small.
    fn shrink(&mut self) {
        let size = |seen: &Seen| seen.text.as_ref().map_or(0, String::len);
        let mut total: usize = self.seen.values().map(size).sum();
        if total <= MAX_TEXTS && self.seen.len() <= MAX_FILES {
            return;
        }
        let mut by_age: Vec<(u64, String)> =
            self.seen.iter().map(|(path, seen)| (seen.order, path.clone())).collect();
        by_age.sort_unstable();
        let surplus = self.seen.len().saturating_sub(MAX_FILES);
        for (index, (_, path)) in by_age.into_iter().enumerate() {
            if index < surplus {
                self.seen.remove(&path);
            } else if total > MAX_TEXTS
                && let Some(seen) = self.seen.get_mut(&path)
            {
                total = total.saturating_sub(size(seen));
                seen.text = None;
            }
        }
    }
}

/// The conversations of an executor, by session.
#[derive(Clone, Default)]
pub struct SessionStates(Arc<Mutex<HashMap<String, Arc<SessionState>>>>);

impl SessionStates {
    /// No conversations yet; each begins empty when it is first used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the state of a session.
    pub fn insert(&self, session: &str, state: SessionState) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.insert(session.to_owned(), Arc::new(state));
    }

    /// The state of a session.
    pub fn get(&self, session: &str) -> Arc<SessionState> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(states.entry(session.to_owned()).or_default())
    }

    /// Forgets a session that is over.
    pub fn remove(&self, session: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}

/// The state of the session that a call belongs to.
pub(crate) fn state_of(cx: &CallContext) -> Result<Arc<SessionState>, ToolError> {
    Ok(cx.get::<SessionStates>()?.get(&cx.session().id))
}
