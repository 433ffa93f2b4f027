//! Stage 2: arguments as models really send them, brought to what the schema says.
//!
//! Only what the schema makes unambiguous is changed, and a value that already fits its place is never touched. What
//! cannot be mended stays as it came, so that validation speaks about what the model wrote. Each repair of a real
//! mistake is reported, so that the model stops making it; two are not mistakes and pass in silence: `null` for an
//! absent optional (strict function calling asks for it) and `10.0` for `10` (some APIs carry all numbers as floats).

mod fits;

use serde_json::{Map, Number, Value};

use crate::json::{JsonLimits, looks_like_container, parse_arguments};
use crate::sanitize::visible_field;
use crate::schema::{folded, types_of};
use fits::{MAX_DEPTH, fits};

/// Warnings reported one by one; the rest are counted.
const MAX_WARNINGS: usize = 10;
/// How often a value may be wrapped in a string within a string.
const MAX_UNWRAPS: usize = 4;

/// Mends arguments where the schema leaves no doubt; returns them with what was done, in words for the model.
///
/// ```
/// # use serde_json::json;
/// # use toolcrib_core::executor::repair::repair;
/// let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
/// let (args, warnings) = repair(&schema, json!("{\"limit\": \"10\"}"));
/// assert_eq!(args, json!({"limit": 10}));
/// assert_eq!(warnings.len(), 2);
/// ```
#[must_use]
pub fn repair(schema: &Value, args: Value) -> (Value, Vec<String>) {
    // The common case: nothing to do, nothing allocated.
    if fits(schema, &args, 0) {
        return (args, Vec::new());
    }
    let mut mender = Mender { warnings: Vec::new(), more: 0 };
    let args = mender.arguments(schema, args);
    let Mender { mut warnings, more } = mender;
    if more > 0 {
        warnings.push(format!("and {more} more repairs"));
    }
    (args, warnings)
}

struct Mender {
    warnings: Vec<String>,
    more: usize,
}

impl Mender {
    fn warn(&mut self, path: &str, what: &str) {
        if self.warnings.len() >= MAX_WARNINGS {
            self.more += 1;
            return;
        }
        let path = if path.is_empty() { "arguments".into() } else { visible_field(path, 80) };
        self.warnings.push(format!("{path}: {what}"));
    }

    /// The arguments as a whole may also be missing, or stand in a code fence.
    fn arguments(&mut self, schema: &Value, args: Value) -> Value {
        let wants_object = schema.as_object().is_some_and(|s| accepts_only(s, "object"));
        let empty = match &args {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            _ => false,
        };
        if wants_object && empty {
            return self.value(schema, Value::Object(Map::new()), "", 0);
        }
        self.value(schema, args, "", 0)
    }

    fn value(&mut self, schema: &Value, value: Value, path: &str, depth: usize) -> Value {
        let Some(object) = schema.as_object() else { return value };
        if depth > MAX_DEPTH || fits(schema, &value, depth) {
            return value;
        }
        if let Some([only]) = object.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
            && object.get("type").is_none()
        {
            return self.value(only, value, path, depth + 1);
        }
        let value =
            if object.contains_key("type") { self.typed(schema, object, value, path, depth) } else { value };
        match object.get("anyOf").or_else(|| object.get("oneOf")).and_then(Value::as_array) {
            Some(branches) if !fits(schema, &value, depth) => {
                self.union(schema, branches, value, path, depth)
            }
            None if !object.contains_key("type") => self.scalar(schema, object, value, path, depth),
            _ => value,
        }
    }

    /// By the schema's own type and properties.
    fn typed(
        &mut self,
        schema: &Value,
        object: &Map<String, Value>,
        value: Value,
        path: &str,
        depth: usize,
    ) -> Value {
        let types = types_of(object);
        let wants = |kind: &str| types.contains(&kind);
        match value {
            Value::Object(members) if wants("object") => {
                Value::Object(self.members(object, members, path, depth))
            }
            Value::Array(items) if wants("array") => Value::Array(self.items(object, items, path, depth)),
            Value::String(text) if !wants("string") && (wants("object") || wants("array")) => {
                self.text_for_container(schema, &types, text, path, depth)
            }
            other => self.scalar(schema, object, other, path, depth),
        }
    }

    /// Exactly one way to make a union valid is a repair; two are a guess.
    fn union(&mut self, schema: &Value, branches: &[Value], value: Value, path: &str, depth: usize) -> Value {
        let mut ways: Vec<(Value, Mender)> = Vec::new();
        for branch in branches {
            let mut attempt = Mender { warnings: Vec::new(), more: 0 };
            let mended = attempt.value(branch, value.clone(), path, depth + 1);
            let valid = fits(branch, &mended, depth) && fits(schema, &mended, depth);
            if valid && !ways.iter().any(|(other, _)| *other == mended) {
                ways.push((mended, attempt));
            }
        }
        // Ways without a real mistake differ in nulls at most; any of them is the value that was sent.
        if let Some(silent) = ways.iter().position(|(_, attempt)| attempt.warnings.is_empty()) {
            return ways.swap_remove(silent).0;
        }
        let Some((mended, attempt)) = ways.pop().filter(|_| ways.is_empty()) else { return value };
        self.warnings.extend(attempt.warnings);
        self.more += attempt.more + self.warnings.len().saturating_sub(MAX_WARNINGS);
        self.warnings.truncate(MAX_WARNINGS);
        mended
    }

    fn members(
        &mut self,
        object: &Map<String, Value>,
        mut members: Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Map<String, Value> {
        let none = Map::new();
        let properties = object.get("properties").and_then(Value::as_object).unwrap_or(&none);
        strip_nulls(object, properties, &mut members, depth);
        let mut members = self.rename(object, properties, members, path);
        strip_nulls(object, properties, &mut members, depth);
        let rest = object.get("additionalProperties").filter(|rest| rest.is_object());
        for (key, slot) in &mut members {
            if let Some(schema) = properties.get(key).or(rest) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                *slot = self.value(schema, std::mem::take(slot), &path, depth + 1);
            }
        }
        members
    }

    /// A key in another style (`filePath` for `file_path`), where the right one is absent and no other key means it.
    fn rename(
        &mut self,
        object: &Map<String, Value>,
        properties: &Map<String, Value>,
        members: Map<String, Value>,
        path: &str,
    ) -> Map<String, Value> {
        if members.keys().all(|key| properties.contains_key(key)) {
            return members;
        }
        let closed = object.get("additionalProperties") == Some(&Value::Bool(false));
        let unknown: Vec<(String, String)> = members
            .keys()
            .filter(|key| !properties.contains_key(*key) && key.len() <= 100)
            .map(|key| (key.clone(), folded(key)))
            .collect();
        let target_of = |key: &str| -> Option<String> {
            let (_, plain) = unknown.iter().find(|(name, _)| name == key)?;
            let mut targets = properties.keys().filter(|name| folded(name) == *plain);
            let target = targets.next().filter(|_| targets.next().is_none())?;
            let sole = unknown.iter().filter(|(_, other)| other == plain).count() == 1;
            // An open object accepts the key as it is; only a missing required one says it was meant.
            let meant = closed || is_required(object, target);
            (sole && meant && !members.contains_key(target)).then(|| target.clone())
        };
        let targets: Vec<Option<String>> = members.keys().map(|key| target_of(key)).collect();
        let mut out = Map::new();
        for ((key, value), target) in members.into_iter().zip(targets) {
            match target {
                Some(target) => {
                    self.warn(path, &format!("took \"{}\" as \"{target}\"", visible_field(&key, 60)));
                    out.insert(target, value);
                }
                None => drop(out.insert(key, value)),
            }
        }
        out
    }

    fn items(
        &mut self,
        object: &Map<String, Value>,
        items: Vec<Value>,
        path: &str,
        depth: usize,
    ) -> Vec<Value> {
        let Some(schema) = object.get("items").filter(|_| !object.contains_key("prefixItems")) else {
            return items;
        };
        let mend = |(index, item)| self.value(schema, item, &format!("{path}[{index}]"), depth + 1);
        items.into_iter().enumerate().map(mend).collect()
    }

    /// Text where a list or an object belongs: JSON in a string, or a single item without its list.
    fn text_for_container(
        &mut self,
        schema: &Value,
        types: &[&str],
        text: String,
        path: &str,
        depth: usize,
    ) -> Value {
        if let Some(decoded) = decode(&text, types) {
            self.warn(path, "took a JSON string as the value it holds; send the value itself");
            return self.value(schema, decoded, path, depth + 1);
        }
        match schema.as_object() {
            // What looks like broken JSON is not one item of a list.
            Some(object) if !looks_like_container(&text) => {
                self.scalar(schema, object, Value::String(text), path, depth)
            }
            _ => Value::String(text),
        }
    }

    fn wrapped(&mut self, schema: &Value, value: Value, path: &str, depth: usize) -> Option<Value> {
        let types = schema.as_object().map(types_of)?;
        if !types.contains(&"array") || value.is_null() || value.is_array() {
            return None;
        }
        let mut attempt = Mender { warnings: Vec::new(), more: 0 };
        let list = attempt.value(schema, Value::Array(vec![value]), path, depth + 1);
        if !fits(schema, &list, depth) {
            return None;
        }
        self.warn(path, "took a single value as a list of one");
        Some(list)
    }

    fn scalar(
        &mut self,
        schema: &Value,
        object: &Map<String, Value>,
        value: Value,
        path: &str,
        depth: usize,
    ) -> Value {
        if let Some(choice) = choice(object, &value) {
            self.warn(path, &format!("took {} as {choice}", brief(&value)));
            return choice;
        }
        if let Some(converted) = converted(&types_of(object), &value)
            && fits(schema, &converted, depth)
        {
            if !(value.is_number() && converted.is_number()) {
                self.warn(path, &format!("took {} as {}", brief(&value), brief(&converted)));
            }
            return converted;
        }
        match value {
            Value::Array(items) if items.len() == 1 => self.only_item(schema, items, path, depth),
            other => match self.wrapped(schema, other.clone(), path, depth) {
                Some(list) => list,
                None => other,
            },
        }
    }

    /// A list of one where a single value belongs.
    fn only_item(&mut self, schema: &Value, mut items: Vec<Value>, path: &str, depth: usize) -> Value {
        let Some(item) = items.pop() else { return Value::Array(items) };
        let mut attempt = Mender { warnings: Vec::new(), more: 0 };
        let mended = attempt.value(schema, item.clone(), path, depth + 1);
        if !item.is_null() && fits(schema, &mended, depth) {
            self.warn(path, "took a list of one as its item");
            return mended;
        }
        Value::Array(vec![item])
    }
}

fn accepts_only(object: &Map<String, Value>, kind: &str) -> bool {
    types_of(object) == [kind]
}

fn is_required(object: &Map<String, Value>, name: &str) -> bool {
    object.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|n| n == name))
}

/// `null` for an optional that knows no `null` means absent.
fn strip_nulls(
    object: &Map<String, Value>,
    properties: &Map<String, Value>,
    members: &mut Map<String, Value>,
    depth: usize,
) {
    members.retain(|key, value| {
        let null_fits = || properties.get(key).is_none_or(|schema| fits(schema, &Value::Null, depth + 1));
        !value.is_null() || is_required(object, key) || null_fits()
    });
}

/// The list or object inside a string, through fences and repeated encoding.
fn decode(text: &str, types: &[&str]) -> Option<Value> {
    let mut text = unfenced(text).to_owned();
    for _ in 0..MAX_UNWRAPS {
        if !matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'[' | b'"')) {
            return None;
        }
        match parse_arguments(text.as_bytes(), &JsonLimits::default()).ok()? {
            Value::String(inner) => text = unfenced(&inner).to_owned(),
            value @ Value::Object(_) if types.contains(&"object") => return Some(value),
            value @ Value::Array(_) if types.contains(&"array") => return Some(value),
            // One object for a list of objects.
            value @ Value::Object(_) if types.contains(&"array") => return Some(Value::Array(vec![value])),
            _ => return None,
        }
    }
    None
}

/// What stands between Markdown fences, if the whole text is fenced.
fn unfenced(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    let inner = text.trim().strip_prefix("```").and_then(|t| t.strip_suffix("```"));
    let Some(inner) = inner else { return text };
    match inner.split_once('\n') {
        Some((language, body)) if language.trim().chars().all(char::is_alphanumeric) => body,
        _ => inner,
    }
}

/// The one allowed value that differs only in case, separators or surrounding space.
fn choice(object: &Map<String, Value>, value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|text| text.len() <= 200)?;
    let constant = object.get("const").map(std::slice::from_ref);
    let options = constant.or_else(|| object.get("enum")?.as_array().map(Vec::as_slice))?;
    let wanted = folded(text);
    let mut near = options.iter().filter(|option| option.as_str().is_some_and(|o| folded(o) == wanted));
    let found = near.next()?;
    near.next().is_none().then(|| found.clone())
}

/// The same scalar in another JSON type.
fn converted(types: &[&str], value: &Value) -> Option<Value> {
    let wants = |kind: &str| types.contains(&kind);
    match value {
        Value::String(text) if !wants("string") => {
            let text = text.trim();
            match text.to_ascii_lowercase().as_str() {
                "true" if wants("boolean") => return Some(Value::Bool(true)),
                "false" if wants("boolean") => return Some(Value::Bool(false)),
                _ => {}
            }
            if !(wants("integer") || wants("number")) || text.len() > 40 {
                return None;
            }
            let number =
                parse_arguments(text.as_bytes(), &JsonLimits::default()).ok().filter(Value::is_number)?;
            if wants("number") || !number.is_f64() { Some(number) } else { whole(&number) }
        }
        Value::Number(_) if value.is_f64() && wants("integer") => whole(value),
        // A float's text is not what the model wrote (1e3 and 1000.0 are one number), an integer's is.
        Value::Number(number) if accepts_text_only(types) && !value.is_f64() => {
            Some(Value::String(number.to_string()))
        }
        Value::Bool(flag) if accepts_text_only(types) => Some(Value::String(flag.to_string())),
        _ => None,
    }
}

fn accepts_text_only(types: &[&str]) -> bool {
    types == ["string"]
}

/// A float without a fraction as an integer, within what a float holds exactly.
fn whole(value: &Value) -> Option<Value> {
    let float = value.as_f64().filter(|f| f.fract() == 0.0 && f.abs() <= 9_007_199_254_740_992.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits, as checked above")]
    Some(Value::Number(Number::from(float as i64)))
}

fn brief(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::String(text) => format!("\"{}\"", visible_field(text, 40)),
        other => other.to_string(),
    }
}
