//! Validation errors in words a model can act on.

use std::fmt::Write as _;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::Violation;
use crate::sanitize::visible_field;

/// Characters of a value that are repeated back; the model knows what it sent.
const SHOWN_CHARS: usize = 60;
/// Names listed as known before the rest is left out.
const LISTED: usize = 30;
/// Characters of a path that are shown.
const MAX_PATH_CHARS: usize = 200;
/// Unions within unions that are explained.
const MAX_NESTING: usize = 8;

/// A step of a path; indices sort as numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Index(usize),
    Key(String),
}

/// A violation with its place in comparable form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    path: Vec<Step>,
    expected: String,
    got: String,
}

impl Found {
    pub(super) fn into_violation(self) -> Violation {
        Violation { path: written(&self.path), expected: self.expected, got: self.got }
    }
}

/// `edits[0].old_string`; a key that is not a plain word stands in brackets.
fn written(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Index(index) => drop(write!(out, "[{index}]")),
            Step::Key(key) => {
                let plain = key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
                let key = visible_field(key, SHOWN_CHARS);
                match (plain && !key.is_empty(), out.is_empty()) {
                    (true, true) => out.push_str(&key),
                    (true, false) => drop(write!(out, ".{key}")),
                    (false, _) => drop(write!(out, "[\"{key}\"]")),
                }
            }
        }
    }
    // The end of a long path says more than its beginning.
    match out.char_indices().rev().nth(MAX_PATH_CHARS).and_then(|(at, _)| out.split_at_checked(at)) {
        Some((_, end)) => format!("…{end}"),
        None => out,
    }
}

/// What a violation is explained by: the schema, for names and types, and the arguments, for the path.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) schema: &'a Value,
    pub(super) args: &'a Value,
}

impl Context<'_> {
    /// A location writes the key "0" and the index 0 alike; the arguments tell which it is.
    fn steps(self, location: &Location) -> Vec<Step> {
        let mut here = Some(self.args);
        let mut out = Vec::new();
        for segment in location.segments() {
            let step = match segment {
                LocationSegment::Property(key) => Step::Key(key.into_owned()),
                LocationSegment::Index(index) if here.is_some_and(Value::is_object) => {
                    Step::Key(index.to_string())
                }
                LocationSegment::Index(index) => Step::Index(index),
            };
            here = here.and_then(|value| match &step {
                Step::Key(key) => value.get(key),
                Step::Index(index) => value.get(index),
            });
            out.push(step);
        }
        out
    }
}

/// A value as JSON, cut short. Only the part that is shown is ever written, however large the value.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let quoted = Value::String(text.chars().take(SHOWN_CHARS + 1).collect()).to_string();
            cut(&quoted, text.chars().nth(SHOWN_CHARS + 1).is_some())
        }
        Value::Array(items) if items.len() > 3 => format!("an array of {} items", items.len()),
        Value::Object(members) if members.len() > 3 => format!("an object with {} members", members.len()),
        Value::Array(_) | Value::Object(_) if is_large(value, &mut 20) => match value {
            Value::Array(items) => format!("an array of {} items", items.len()),
            _ => "an object".to_owned(),
        },
        other => cut(&other.to_string(), false),
    }
}

fn cut(text: &str, more: bool) -> String {
    let mut out = visible_field(text, SHOWN_CHARS).into_owned();
    if more && !out.ends_with('…') {
        out.push('…');
    }
    if out.ends_with('…') && out.starts_with('"') {
        out.push('"');
    }
    out
}

fn is_large(value: &Value, budget: &mut usize) -> bool {
    *budget = budget.saturating_sub(1);
    if *budget == 0 {
        return true;
    }
    match value {
        Value::String(text) => text.len() > 4 * SHOWN_CHARS,
        Value::Array(items) => items.iter().any(|item| is_large(item, budget)),
        Value::Object(members) => members.iter().any(|(k, v)| k.len() > SHOWN_CHARS || is_large(v, budget)),
        _ => false,
    }
}

/// Turns one error into the violations it stands for.
pub(super) fn phrase(cx: Context<'_>, error: &ValidationError<'_>, nesting: usize, found: &mut Vec<Found>) {
    let here = cx.steps(error.instance_path());
    let value = error.instance().as_ref();
    let mut push = |path: Vec<Step>, expected: String, got: String| found.push(Found { path, expected, got });
    let expected = match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default().to_owned();
            let expected = expected_property(cx.schema, error, &name);
            return push(child(here, name), expected, "nothing".into());
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = known_properties(cx.schema, error);
            for key in unexpected {
                let got = format!("\"{}\"", visible_field(key, SHOWN_CHARS));
                push(child(here.clone(), key.clone()), known_parameter(&known, key, value), got);
            }
            return;
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            return union(cx, error, context, nesting, found);
        }
        kind => expectation(kind),
    };
    push(here, expected, shown(value));
}

fn child(mut path: Vec<Step>, key: String) -> Vec<Step> {
    path.push(Step::Key(key));
    path
}

/// What belongs into a property that is missing.
fn expected_property(schema: &Value, error: &ValidationError<'_>, name: &str) -> String {
    let property = parent(schema, error).and_then(|object| object.get("properties")?.get(name));
    let kind = property.and_then(|p| p.get("type")).and_then(Value::as_str);
    kind.map_or("a value; it is required".into(), |kind| format!("{} (required)", with_article(kind)))
}

/// The schema that holds the keyword an error is about.
fn parent<'a>(schema: &'a Value, error: &ValidationError<'_>) -> Option<&'a Value> {
    let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
    schema.pointer(parent)
}

fn known_properties(schema: &Value, error: &ValidationError<'_>) -> Vec<String> {
    let properties = parent(schema, error).and_then(|object| object.get("properties")?.as_object());
    properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

fn known_parameter(known: &[String], key: &str, object: &Value) -> String {
    if known.is_empty() {
        return "no parameters".into();
    }
    let mut out = format!("a known parameter: {}", listed(known.iter().map(String::as_str)));
    if let Some(near) = nearest(known, key) {
        let taken = if object.get(near).is_some() { ", which is there already" } else { "" };
        let _ = write!(out, "; did you mean \"{near}\"{taken}?");
    }
    out
}

/// The known name closest to a misspelt one, if it is close at all.
fn nearest<'a>(known: &'a [String], key: &str) -> Option<&'a str> {
    // The measure is quadratic, and a key may be a megabyte.
    if key.chars().nth(100).is_some() {
        return None;
    }
    let folded = crate::schema::folded(key);
    let score = |name: &str| {
        let name = crate::schema::folded(name);
        let contained =
            name.len() >= 3 && folded.len() >= 3 && (name.contains(&folded) || folded.contains(&name));
        let near = strsim::normalized_damerau_levenshtein(&name, &folded);
        if contained { near.max(0.7) } else { near }
    };
    let best = known.iter().map(|name| (score(name), name)).max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= 0.5).then_some(best.1.as_str())
}

fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let mut out =
        names.take(LISTED).map(|name| visible_field(name, SHOWN_CHARS)).collect::<Vec<_>>().join(", ");
    if more > 0 {
        let _ = write!(out, " and {more} more");
    }
    out
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".into(),
        "integer" | "object" | "array" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

fn kinds(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(one.as_str()),
        TypeKind::Multiple(many) => {
            let names: Vec<String> = many.iter().map(|kind: JsonType| with_article(kind.as_str())).collect();
            names.join(" or ")
        }
    }
}

/// Words for the keywords that speak about one value.
fn expectation(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind } => kinds(kind),
        Kind::Enum { options } => one_of(options.as_array().map(Vec::as_slice).unwrap_or_default()),
        Kind::Constant { expected_value } => shown(expected_value),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit: 1 } => "text that is not empty".into(),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => {
            format!("at least {limit} {}", if *limit == 1 { "item" } else { "items" })
        }
        Kind::MaxItems { limit } => format!("at most {limit} {}", if *limit == 1 { "item" } else { "items" }),
        Kind::MinProperties { limit } => format!("at least {limit} members"),
        Kind::MaxProperties { limit } => format!("at most {limit} members"),
        Kind::AdditionalItems { limit } => format!("at most {limit} items"),
        Kind::UniqueItems => "items that differ from each other".into(),
        Kind::Pattern { pattern } => {
            format!("text that matches /{}/", visible_field(pattern, 2 * SHOWN_CHARS))
        }
        Kind::Format { format } => format!("text in the format {}", visible_field(format, SHOWN_CHARS)),
        Kind::OneOfMultipleValid { .. } => "a value that fits exactly one of the alternatives".into(),
        Kind::PropertyNames { error } => format!("names of this kind: {}", expectation(error.kind())),
        Kind::FalseSchema => "nothing here".into(),
        Kind::Not { .. } => "another value; this one is excluded".into(),
        _ => "a value that fits the schema".into(),
    }
}

fn one_of(options: &[Value]) -> String {
    match options {
        [only] => shown(only),
        _ => {
            let shown: Vec<String> = options.iter().map(shown).collect();
            format!("one of {}", listed(shown.iter().map(String::as_str)))
        }
    }
}

/// Explains a union by the alternative that comes closest.
fn union(
    cx: Context<'_>,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    nesting: usize,
    found: &mut Vec<Found>,
) {
    let here = error.instance_path().as_str();
    let top = |e: &ValidationError<'static>| e.instance_path().as_str() == here;
    // Where no alternative even has the right type, the types together are the expectation.
    let bare: Option<Vec<String>> = branches
        .iter()
        .map(|errors| match errors.as_slice() {
            [one] if top(one) && is_plain(one.kind()) => Some(expectation(one.kind())),
            _ => None,
        })
        .collect();
    if let Some(mut bare) = bare
        && !bare.is_empty()
    {
        bare.dedup();
        let got = shown(error.instance());
        return found.push(Found { path: cx.steps(error.instance_path()), expected: bare.join(" or "), got });
    }
    // A wrong tag or a wrong type says "not this one"; among the rest, fewer errors are closer.
    let distance = |errors: &[ValidationError<'static>]| {
        let wrong_type = errors.iter().any(|e| top(e) && matches!(e.kind(), Kind::Type { .. }));
        let wrong_tag = errors.iter().any(|e| matches!(e.kind(), Kind::Constant { .. } | Kind::Enum { .. }));
        (wrong_type, wrong_tag, errors.len())
    };
    let Some(closest) = branches.iter().min_by_key(|errors| distance(errors)) else { return };
    if nesting >= MAX_NESTING || closest.is_empty() {
        let expected = "a value that fits one of the alternatives".to_owned();
        return found.push(Found {
            path: cx.steps(error.instance_path()),
            expected,
            got: shown(error.instance()),
        });
    }
    for inner in closest {
        phrase(cx, inner, nesting + 1, found);
    }
}

fn is_plain(kind: &Kind) -> bool {
    matches!(kind, Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. })
}
