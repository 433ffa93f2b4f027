//! The index of the code, opened when the first tool asks for it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use toolcrib_code::index::{CodeIndex, Control, IndexReport, Snapshot};
use toolcrib_code::query::map::Uses;
use toolcrib_code::resolve::Program;
use toolcrib_code::scip::{Overlay, ScipIndex};
use toolcrib_core::{CallContext, ErrorCode, ToolError};
use toolcrib_workspace::ReadWorkspace;

use super::errors::tool_error;
use super::roots::Stop;

/// The code of a workspace. Cheap to clone; nothing is read before it is asked for.
#[derive(Clone)]
pub struct CodeEngine(Arc<Inner>);

struct Inner {
    workspace: ReadWorkspace,
    cache: Option<PathBuf>,
    /// A SCIP index that another tool made of this code.
    scip: Option<PathBuf>,
    index: OnceLock<CodeIndex>,
    /// What was worked out over the snapshot of the last call.
    program: Mutex<Option<Arc<Program>>>,
    /// Who uses what, and the program it was worked out from.
    uses: Mutex<Option<(Arc<Program>, Arc<Uses>)>>,
}

impl CodeEngine {
    /// For this workspace; what was read is kept in `cache`, if there is one.
    pub fn new(workspace: ReadWorkspace, cache: Option<PathBuf>) -> Self {
        Self::with_scip(workspace, cache, None)
    }

    /// The same, with a SCIP index whose answers go before our own in files that it still fits.
    pub fn with_scip(workspace: ReadWorkspace, cache: Option<PathBuf>, scip: Option<PathBuf>) -> Self {
        Self(Arc::new(Inner {
            workspace,
            cache,
            scip,
            index: OnceLock::new(),
            program: Mutex::default(),
            uses: Mutex::default(),
        }))
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

    /// The code as it is now, to be asked across files.
    pub(crate) fn program(&self, cx: &CallContext, control: &Control<'_>) -> Result<Arc<Program>, ToolError> {
        let snapshot = self.refresh(cx, control)?;
        let mut kept = self.0.program.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match kept.as_ref() {
            Some(before) => before.renewed(snapshot),
            None => self.overlaid(Program::new(snapshot))?,
        };
        Ok(Arc::clone(kept.insert(Arc::new(program))))
    }

    fn overlaid(&self, program: Program) -> Result<Program, ToolError> {
        let Some(path) = &self.0.scip else { return Ok(program) };
        let failed = |what: String| {
            ToolError::new(ErrorCode::IoError, format!("the SCIP index {}: {what}", path.display()))
        };
        let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let index = ScipIndex::parse(&bytes).map_err(|error| failed(error.to_string()))?;
        let overlay = Overlay::new(&index, program.snapshot(), "");
        if overlay.is_empty() {
            return Err(failed("none of its files is here as it was when the index was made".into()));
        }
        Ok(program.with_overlay(Arc::new(overlay)))
    }

    /// Who uses what in a program, worked out anew only when the program is another than last time.
    pub(crate) fn uses(&self, program: &Arc<Program>, control: &Control<'_>) -> Result<Arc<Uses>, ToolError> {
        let lock = || self.0.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, uses)) = lock().as_ref().filter(|(before, _)| program.is_as(before)) {
            return Ok(Arc::clone(uses));
        }
        let uses = Arc::new(Uses::of(program, control).map_err(|error| tool_error(&error))?);
        *lock() = Some((Arc::clone(program), Arc::clone(&uses)));
        Ok(uses)
    }
}

/// How to work, stopping when the call is given up.
pub(crate) fn control(include_ignored: Option<bool>, stop: &Stop) -> Control<'static> {
    let include_ignored = include_ignored == Some(true);
    Control { cancel: Some(stop.flag()), include_ignored, ..Control::default() }
}

/// What an answer stands on, where that is worth a word.
pub(crate) fn notes(report: &IndexReport) -> Vec<String> {
    let mut notes = report.notes.clone();
    if report.unsupported > 0 {
        notes.push(format!("{} source files could not be read as code", report.unsupported));
    }
    notes
}
