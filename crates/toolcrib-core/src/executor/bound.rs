//! Stage 9: the outcome's text, within its cap.
//!
//! What is too long keeps its head and, because errors stand at the end, twice as much of its tail; the whole goes
//! to a spill file, and the text says exactly what is missing and how to get it.

use serde_json::{Value, json};

use super::Executor;
use super::call::Call;
use super::dedup;
use crate::error::ToolError;
use crate::outcome::{ErrorInfo, Hint, Metadata, Outcome};
use crate::render::RenderContext;
use crate::sanitize;
use crate::tokens;
use crate::tool::ToolOutput;

/// Keeps outputs that are too long for the model, where tools can read them. Implemented outside core.
pub trait SpillStore: Send + Sync {
    /// Keeps `text`; returns the path under which file tools can read it.
    fn store(&self, call_id: &str, text: &str) -> Result<String, String>;
}

pub(super) fn success(executor: &Executor, call: &mut Call, output: ToolOutput) -> Outcome {
    let view = output.view;
    let rendered = call.session.tracker(|tracker| {
        let mut cx = RenderContext::new(tracker, &call.ids.call_id);
        view.text(&mut cx)
    });
    let mut text = sanitize::visible(&rendered).into_owned();
    let mut hints = view.hints();
    collect_record(call, view.warnings());
    let earlier = dedup::remember(call, Some(&text));
    if let Some(earlier) = &earlier {
        text = format!("Unchanged: the answer is the same as that of {earlier}, earlier in this turn.");
        hints.clear();
    }
    let mut outcome = base(call, true);
    outcome.title = sanitize::visible_path(&view.title()).into_owned();
    outcome.data = output.data;
    outcome.preview = view.preview().iter().map(|line| one_line(line)).collect();
    outcome.attachments = view.attachments();
    outcome.metadata.deduplicated = earlier.is_some();
    outcome.metadata.truncated = view.truncated();
    outcome.metadata.spill = view.spill();
    finish_text(executor, call, &mut outcome, text, &hints);
    outcome
}

pub(super) fn failure(executor: &Executor, call: &mut Call, error: &ToolError) -> Outcome {
    collect_record(call, Vec::new());
    if call.key != [0; 32] {
        dedup::remember(call, None);
    }
    let mut info = ErrorInfo::from(error);
    info.message = sanitize::visible(&info.message).into_owned();
    info.suggestion = sanitize::visible(&info.suggestion).into_owned();
    let text = format!("{}: {}\n{}", info.code, info.message, info.suggestion);
    let mut outcome = base(call, false);
    let first = info.message.lines().next().unwrap_or_default();
    outcome.title = sanitize::visible_path(&format!("{}: {first}", info.code)).into_owned();
    outcome.data = error.more.data.clone().unwrap_or(Value::Null);
    outcome.error = Some(info);
    let hints: Vec<Hint> = error.more.hint.clone().into_iter().collect();
    finish_text(executor, call, &mut outcome, text, &hints);
    outcome
}

/// A line that stays one, whatever names are in it. Tabs are part of code.
fn one_line(text: &str) -> String {
    text.split('\t').map(sanitize::visible_path).collect::<Vec<_>>().join("\t")
}

fn collect_record(call: &mut Call, warnings: Vec<String>) {
    if let Some(context) = &call.context {
        let record = context.take_record();
        call.record.bytes_read += record.bytes_read;
        call.record.bytes_written += record.bytes_written;
        call.record.files.extend(record.files);
        call.record.warnings.extend(record.warnings);
    }
    call.record.warnings.extend(warnings);
}

fn base(call: &Call, success: bool) -> Outcome {
    let spec = call.entry.as_ref().map(|entry| entry.tool.spec());
    let record = &call.record;
    Outcome {
        tool: spec
            .map_or_else(|| sanitize::visible_field(&call.name, 64).into_owned(), |spec| spec.name.clone()),
        version: spec.map_or_else(String::new, |spec| spec.version.to_string()),
        call_id: call.ids.call_id.clone(),
        success,
        title: String::new(),
        output: String::new(),
        data: Value::Null,
        preview: Vec::new(),
        attachments: Vec::new(),
        error: None,
        metadata: Metadata {
            execution_time_ms: (call.time.as_secs_f64() * 1e6).round() / 1e3,
            attempts: call.attempts,
            bytes_read: record.bytes_read,
            bytes_written: record.bytes_written,
            files_accessed: record.files.clone(),
            warnings: record.warnings.iter().map(|text| one_line(text)).collect(),
            ..Metadata::default()
        },
    }
}

/// Caps the text and adds notes and hints, which are short and always shown.
fn finish_text(executor: &Executor, call: &Call, outcome: &mut Outcome, text: String, hints: &[Hint]) {
    let profile = executor.profile();
    let mut notes = String::new();
    for warning in outcome.metadata.warnings.iter().take(20) {
        notes.push_str("\nNote: ");
        notes.push_str(warning);
    }
    for hint in hints.iter().filter_map(|hint| profile.hint(hint)) {
        notes.push('\n');
        notes.push_str(&sanitize::visible(&hint));
    }
    let limit = call.session.reserve(call.ids.turn, cap(executor, call));
    let body = if tokens::fits(&text, limit) {
        text
    } else {
        let spill = spill(executor, call, &text);
        outcome.metadata.truncated = true;
        // What was cut away is not in the conversation.
        call.session.tracker(|tracker| tracker.map(|tracker| tracker.forget(&call.ids.call_id)));
        outcome.metadata.spill = spill.as_ref().ok().cloned();
        cut(&text, limit, spill, |hint| profile.hint(&hint))
    };
    outcome.output = body;
    if !notes.is_empty() {
        while outcome.output.ends_with('\n') {
            outcome.output.pop();
        }
        outcome.output.push_str(if outcome.output.is_empty() { notes.trim_start() } else { &notes });
    }
    let (count, estimated) = tokens::count_or_estimate(&outcome.output);
    outcome.metadata.tokens = count;
    outcome.metadata.tokens_estimated = estimated;
    call.session.settle(call.ids.turn, limit, count);
}

/// The cap of this call: the caller's, else the tool's, else the executor's.
pub(super) fn cap(executor: &Executor, call: &Call) -> usize {
    let of_tool = || call.entry.as_ref().and_then(|entry| entry.tool.spec().max_output_tokens);
    call.max_output_tokens.or_else(of_tool).unwrap_or(executor.0.limits.max_output_tokens)
}

fn spill(executor: &Executor, call: &Call, text: &str) -> Result<String, String> {
    match &executor.0.spill {
        Some(store) => store.store(&call.ids.call_id, text),
        None => Err("no place to keep it".into()),
    }
}

/// Head and tail of `text` on line borders within `limit` tokens, with what was left out between them.
fn cut(
    text: &str,
    limit: usize,
    spill: Result<String, String>,
    hint: impl Fn(Hint) -> Option<String>,
) -> String {
    // The notice itself costs tokens too.
    let budget = limit.saturating_sub(120).max(40);
    let (mut head_budget, mut tail_budget) = (budget / 3, budget - budget / 3);
    loop {
        let head = take_lines(text.split_inclusive('\n'), head_budget);
        let tail = take_lines(text.split_inclusive('\n').rev(), tail_budget);
        let (head_end, tail_start) = (head.bytes, text.len().saturating_sub(tail.bytes).max(head.bytes));
        let middle = text.get(head_end..tail_start).unwrap_or_default();
        let notice = notice(middle, head.lines, &spill, &hint);
        let head = text.get(..head_end).unwrap_or_default();
        let tail = text.get(tail_start..).unwrap_or_default();
        let separator = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        let whole = format!("{head}{separator}{notice}\n{tail}");
        // Counted by parts the sum is almost always an upper bound; where it is not, take less.
        if tokens::fits(&whole, limit) || budget_is_gone(head_budget, tail_budget) {
            return whole;
        }
        head_budget = head_budget * 9 / 10;
        tail_budget = tail_budget * 9 / 10;
    }
}

fn budget_is_gone(head: usize, tail: usize) -> bool {
    head <= 1 && tail <= 1
}

fn notice(
    middle: &str,
    head_lines: usize,
    spill: &Result<String, String>,
    hint: &impl Fn(Hint) -> Option<String>,
) -> String {
    let lines = middle.split_inclusive('\n').count();
    let size = format!("[… {lines} lines, {} tokens left out", tokens::count(middle));
    match spill {
        Ok(path) => {
            let arguments = json!({"path": path, "offset": head_lines + 1, "limit": lines});
            let how = hint(Hint::new("to read on", "read_file", arguments));
            format!("{size}; all of it is in {path}; {}]", how.unwrap_or_else(|| "ask for less".into()))
        }
        Err(why) => format!("{size}, and not kept ({why}); ask for less at once]"),
    }
}

struct Taken {
    bytes: usize,
    lines: usize,
}

/// As many whole lines as fit. A first line that is too long by itself is cut, so that something is always shown.
fn take_lines<'a>(lines: impl Iterator<Item = &'a str>, budget: usize) -> Taken {
    let mut taken = Taken { bytes: 0, lines: 0 };
    let mut left = budget;
    for line in lines {
        if line.len() > left && !tokens::fits(line, left) {
            break;
        }
        left = left.saturating_sub(if line.len() < 4 { 1 } else { tokens::count(line) });
        taken.bytes += line.len();
        taken.lines += 1;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_plain(text: &str, limit: usize) -> String {
        cut(text, limit, Ok("spill://x".into()), |hint| Some(hint.arguments.to_string()))
    }

    #[test]
    fn keeps_whole_lines_of_both_ends_and_counts_the_rest() {
        let text: String = (0..5000).map(|n| format!("line number {n}\n")).collect();
        let got = cut_plain(&text, 1000);
        assert!(tokens::fits(&got, 1000));
        assert!(got.starts_with("line number 0\n") && got.ends_with("line number 4999\n"), "{got}");
        let shown = got.lines().filter(|line| line.starts_with("line number")).count();
        let left_out: usize =
            got.split_once("[… ").unwrap().1.split_once(" lines").unwrap().0.parse().unwrap();
        assert_eq!(shown + left_out, 5000);
        let head = got.lines().take_while(|line| line.starts_with("line")).count();
        assert!(head * 3 > shown / 2 && head < shown / 2, "{head} of {shown} lines are in the head");
        assert!(got.contains(&format!("\"offset\":{}", head + 1)), "{got}");
    }

    #[test]
    fn one_endless_line_is_bounded() {
        let got = cut_plain(&"x y".repeat(500_000), 500);
        assert!(tokens::fits(&got, 500), "{}", got.len());
        assert!(got.contains("1 lines"));
    }
}
