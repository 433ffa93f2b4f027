//! `find_references`: where a symbol is used, and how sure that is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_code::index::IndexReport;
use toolcrib_code::query::{
    Candidate, Counts, Found, Gaps, Located, ReferenceHit, ReferenceQuery, References, pick, references,
};
use toolcrib_code::resolve::Label;
use toolcrib_core::sanitize::{visible_field, visible_path};
use toolcrib_core::{
    CallContext, Effects, Hint, Render, RenderContext, Tool, ToolError, ToolSpec, Violations,
};
use toolcrib_workspace::ReadWorkspace;

use crate::support::code::{CodeEngine, control, notes};
use crate::support::errors::tool_error;
use crate::support::listing::{counted, given};
use crate::support::roots::Stop;
use crate::support::symbols::{Asked, ambiguous, check, not_found, place, unless_resolved};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 2_000;

/// Finds the uses of a symbol.
pub struct FindReferences;

/// How sure a use must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs, reason = "the words say it, and models read every one")]
pub enum MinLabel {
    Resolved,
    #[default]
    Likely,
    NameMatch,
}

/// Which symbol.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Which one.
    pub symbol: String,
    /// Where it is defined.
    pub file: Option<String>,
    /// And the line.
    pub line: Option<u32>,
    /// Only uses there.
    pub path: Option<String>,
    /// Default: likely.
    pub min_label: Option<MinLabel>,
    /// Default: 100.
    pub limit: Option<usize>,
    /// To skip.
    pub offset: Option<usize>,
    /// Also ignored files.
    pub include_ignored: Option<bool>,
}

/// What was found.
#[derive(Serialize)]
pub struct Output {
    definition: Option<Located>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<Located>,
    references: Vec<ReferenceHit>,
    counts: Counts,
    complete: bool,
    /// Uses of the same name that could not be resolved.
    unresolved: usize,
    total: usize,
    next_offset: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    index: IndexReport,
    #[serde(skip)]
    fitting: usize,
    #[serde(skip)]
    input: Input,
}

impl Output {
    fn of(found: References, index: IndexReport, input: Input) -> Self {
        Self {
            notes: gaps(&found.gaps),
            definition: found.definition,
            also: found.also,
            references: found.references,
            unresolved: found.counts.name_match,
            counts: found.counts,
            complete: found.complete,
            total: found.total,
            next_offset: found.next_offset,
            candidates: Vec::new(),
            fitting: 0,
            index,
            input,
        }
    }
}

/// What may be missing, in words.
fn gaps(gaps: &Gaps) -> Vec<String> {
    let mut notes = Vec::new();
    let more = |total: usize, named: &[String]| match total.saturating_sub(named.len()) {
        0 => named.join(", "),
        left => format!("{} and {left} more", named.join(", ")),
    };
    if let Some(language) = gaps.shallow {
        notes.push(format!(
            "of {language} only names are known, not what they stand for; use grep to be sure"
        ));
    }
    if gaps.unread_total > 0 {
        notes.push(format!("not searched: {}", more(gaps.unread_total, &gaps.unread)));
    }
    if gaps.broken_total > 0 {
        notes.push(format!("syntax errors in {}", more(gaps.broken_total, &gaps.broken)));
    }
    notes
}

fn run(
    cx: &CallContext,
    input: Input,
    stop_control: &toolcrib_code::index::Control<'_>,
) -> Result<Output, ToolError> {
    let asked = Asked::new(cx, &input.symbol, input.file.as_deref(), input.line, None)?;
    let mut path = input.path.clone().filter(|path| !path.trim().is_empty());
    if let Some(given) = path.as_mut().filter(|path| !path.contains(['*', '?', '[', '{'])) {
        *given = place(cx.get::<ReadWorkspace>()?.as_ref(), given)?.0;
    }
    let program = cx.get::<CodeEngine>()?.program(cx, stop_control)?;
    asked.is_indexed(cx, &program)?;
    let failed = |error: toolcrib_workspace::Error| tool_error(&error);
    let index = program.snapshot().report().clone();
    let label = match input.min_label.unwrap_or_default() {
        MinLabel::Resolved => Label::Resolved,
        MinLabel::Likely => Label::Likely,
        MinLabel::NameMatch => Label::NameMatch,
    };
    match pick(&program, &asked.wanted(), stop_control).map_err(failed)? {
        Found::Missing(missing) => Err(not_found(&missing, &input.symbol)),
        Found::One(subject) => {
            let (offset, limit) =
                (input.offset.unwrap_or(0), input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT));
            let query = ReferenceQuery { path, min_label: label, offset, limit };
            let found = references(&program, subject, &query, stop_control).map_err(failed)?;
            Ok(Output::of(found, index, input))
        }
        Found::Several(found) => Ok(Output {
            definition: None,
            also: Vec::new(),
            references: Vec::new(),
            counts: Counts::default(),
            complete: false,
            unresolved: 0,
            total: 0,
            next_offset: None,
            candidates: found.list,
            notes: Vec::new(),
            fitting: found.total,
            index,
            input,
        }),
    }
}

impl Tool for FindReferences {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("find_references", "Find references", include_str!("description.md"))
            .example("who uses a method", json!({"symbol": "Store/load"}))
            .example("of the definition at a line", json!({"symbol": "src/store.rs:42", "path": "src"}))
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        check(&input.symbol, input.line, None)
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([input.path.as_deref().or(input.file.as_deref()).unwrap_or(".")])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let stop = Stop::default();
        let control = control(input.include_ignored, &stop);
        cx.blocking(move |cx| run(cx, input, &control)).await
    }
}

impl Output {
    /// How many, how sure, and what is missing.
    fn summary(&self) -> String {
        let Counts { resolved, likely, name_match } = self.counts;
        let mut parts = vec![format!("{resolved} resolved")];
        if likely > 0 {
            parts.push(format!("{likely} likely"));
        }
        let mut text = parts.join(", ");
        if name_match > 0 {
            let listed = self.input.min_label == Some(MinLabel::NameMatch);
            let how = if listed { "" } else { ", not listed" };
            text.push_str(&format!("; {} of the same name not resolved{how}", counted(name_match, "use")));
        }
        if !self.complete {
            text.push_str("; may be incomplete");
        }
        for note in &self.notes {
            text.push_str(&format!("; {}", visible_field(note, 500)));
        }
        format!("[{text}]\n")
    }
}

impl Render for Output {
    fn title(&self) -> String {
        let symbol = visible_field(&self.input.symbol, 60);
        match self.candidates.is_empty() {
            true => format!("{} to {symbol}", counted(self.total, "reference")),
            false => format!("{} fit {symbol}", counted(self.fitting, "definition")),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let Some(definition) = &self.definition else {
            return ambiguous(&self.input.symbol, &self.candidates, self.fitting);
        };
        let at = |one: &Located| format!("{}:{}", visible_path(&one.path), one.line);
        let also: Vec<String> = self.also.iter().map(at).collect();
        let also = if also.is_empty() { String::new() } else { format!(" (also {})", also.join(", ")) };
        let head = format!("{}{also}: {}", at(definition), visible_field(&definition.signature, 400));
        let mut text = format!("{} {head}\n", definition.kind);
        let mut last = "";
        for one in &self.references {
            if one.path != last {
                text.push_str(&format!("{}\n", visible_path(&one.path)));
                last = &one.path;
            }
            let inside = one.enclosing.as_ref().map(|name| format!("in {name}"));
            let said: Vec<String> =
                unless_resolved(one.label).map(str::to_owned).into_iter().chain(inside).collect();
            let said = if said.is_empty() { String::new() } else { format!("  [{}]", said.join(", ")) };
            text.push_str(&format!(
                "{}\t{}{}\n",
                one.line,
                visible_field(&one.text, 400),
                visible_field(&said, 300)
            ));
        }
        if self.total > self.references.len() {
            text.push_str(&format!("[{} of {}]\n", counted(self.references.len(), "use"), self.total));
        }
        text.push_str(&self.summary());
        text
    }

    fn hints(&self) -> Vec<Hint> {
        let again = |why: &str, key: &str, value: serde_json::Value| {
            let mut input = given(&serde_json::to_value(&self.input).ok()?);
            input.as_object_mut()?.insert(key.into(), value);
            Some(Hint::new(why, "find_references", input))
        };
        let more = self.next_offset.and_then(|offset| again("for more", "offset", json!(offset)));
        let hidden = self.unresolved > 0 && self.input.min_label != Some(MinLabel::NameMatch);
        let rest = hidden.then(|| again("to list the unresolved ones", "min_label", json!("name_match")));
        more.into_iter().chain(rest.flatten()).collect()
    }

    fn truncated(&self) -> bool {
        self.next_offset.is_some()
    }

    fn warnings(&self) -> Vec<String> {
        notes(&self.index)
    }
}
