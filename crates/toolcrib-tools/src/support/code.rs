//! The index of the code, opened when the first tool asks for it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use toolcrib_code::index::{CodeIndex, Control, IndexReport, Snapshot};
use toolcrib_core::{CallContext, ToolError};
use toolcrib_workspace::ReadWorkspace;

use super::errors::tool_error;
use super::roots::Stop;

/// The code of a workspace. Cheap to clone; nothing is read before it is asked for.
#[derive(Clone)]
pub struct CodeEngine(Arc<Inner>);

struct Inner {
    workspace: ReadWorkspace,
    cache: Option<PathBuf>,
    index: OnceLock<CodeIndex>,
}

impl CodeEngine {
    /// For this workspace; what was read is kept in `cache`, if there is one.
    pub fn new(workspace: ReadWorkspace, cache: Option<PathBuf>) -> Self {
        Self(Arc::new(Inner { workspace, cache, index: OnceLock::new() }))
    }

    /// The code as it is now. Progress is told as the call's, and the call's end stops the work.
    pub(crate) fn refresh(
        &self,
        cx: &CallContext,
        control: &Control<'_>,
    ) -> Result<Arc<Snapshot>, ToolError> {
        let inner = &self.0;
        let index = inner.index.get_or_init(|| CodeIndex::open(inner.workspace.clone(), inner.cache.clone()));
        let told = |done: usize, total: usize| {
            cx.progress("reading code", Some(done as u64), Some(total as u64));
        };
        let control = Control { progress: Some(&told), ..control.clone() };
        index.refresh(&control).map_err(|error| tool_error(&error))
    }
}

/// How to work, stopping when the call is given up.
pub(crate) fn control(include_ignored: Option<bool>, stop: &Stop) -> Control<'static> {
    Control { cancel: Some(stop.flag()), progress: None, include_ignored: include_ignored == Some(true) }
}

/// What an answer stands on, where that is worth a word.
pub(crate) fn notes(report: &IndexReport) -> Vec<String> {
    let mut notes = report.notes.clone();
    if report.unsupported > 0 {
        notes.push(format!("{} source files could not be read as code", report.unsupported));
    }
    notes
}
