//! Gemini's older `parameters`: a subset of OpenAPI 3.0.
//!
//! A keyword outside the subset fails the whole request, so this builds what is known to be taken instead of removing
//! what is known to be refused. Types are written in upper case: that is how the REST reference and Google's SDKs spell
//! the enum; lower case is merely tolerated by some endpoints.

use serde_json::{Map, Value, json};

use super::root::{Required, absorb, object_root};
use super::{ToolView, note, note_default};
use crate::schema::{MAX_DEPTH, required_of, types_of, without_null};

pub(super) fn declarations(tools: &[ToolView]) -> Value {
    json!({ "functionDeclarations": tools.iter().map(declaration).collect::<Value>() })
}

fn declaration(tool: &ToolView) -> Value {
    let mut out = json!({ "name": tool.name, "description": tool.description });
    let parameters = convert(&object_root(&tool.input_schema), 0);
    // An object without properties is refused; no parameters at all is how it is said.
    if let Some(object) = out.as_object_mut()
        && parameters.contains_key("properties")
    {
        object.insert("parameters".into(), Value::Object(parameters));
    }
    out
}

fn convert(schema: &Value, depth: usize) -> Map<String, Value> {
    let Some(object) = schema.as_object() else { return anything(&Map::new()) };
    if depth > MAX_DEPTH {
        return anything(object);
    }
    let mut object = object.clone();
    if let Some(Value::Array(parts)) = object.shift_remove("allOf") {
        merge_all(&mut object, &parts);
    }
    let nullable = without_null(&mut object) || is_only_null(&object);
    let mut out = match (values_of(&object), union_of(&object)) {
        (Some(values), _) => by_values(&object, &values),
        (None, Some(branches)) => by_union(&object, &branches, depth),
        (None, None) => by_type(&object, depth),
    };
    if nullable {
        set_nullable(&mut out);
    }
    out
}

/// Any value at all cannot be said; text can carry it.
fn anything(object: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::from_iter([("type".to_owned(), json!("STRING"))]);
    describe(object, &mut out);
    note(&mut out, "any JSON value");
    out
}

fn is_only_null(object: &Map<String, Value>) -> bool {
    types_of(object) == ["null"] || object.get("const") == Some(&Value::Null)
}

fn merge_all(object: &mut Map<String, Value>, parts: &[Value]) {
    if parts.iter().any(|part| part.get("properties").is_some()) {
        absorb(object, parts, Required::InAny);
    }
    for (key, value) in parts.iter().filter_map(Value::as_object).flatten() {
        object.entry(key.clone()).or_insert_with(|| value.clone());
    }
}

fn describe(from: &Map<String, Value>, out: &mut Map<String, Value>) {
    if let Some(description) = from.get("description").filter(|d| d.is_string()) {
        out.insert("description".into(), description.clone());
    }
}

/// A union must be the only field of its schema, so what is said about the whole goes to the first alternative.
fn on_whole(out: &mut Map<String, Value>, say: impl FnOnce(&mut Map<String, Value>)) {
    match out.get_mut("anyOf").and_then(|branches| branches.get_mut(0)) {
        Some(Value::Object(first)) => say(first),
        _ => say(out),
    }
}

fn set_nullable(out: &mut Map<String, Value>) {
    on_whole(out, |schema| drop(schema.insert("nullable".into(), Value::Bool(true))));
}

fn values_of(object: &Map<String, Value>) -> Option<Vec<Value>> {
    match (object.get("const"), object.get("enum")) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(Value::Array(many))) => Some(many.clone()),
        _ => None,
    }
}

/// The alternatives, unless the schema already says what it is: then they only narrow it.
fn union_of(object: &Map<String, Value>) -> Option<Vec<Value>> {
    if object.contains_key("properties") || object.contains_key("items") {
        return None;
    }
    let branches = object.get("anyOf").or_else(|| object.get("oneOf"))?.as_array()?;
    let inherit = |branch: &Value| {
        let mut branch = branch.as_object().cloned().unwrap_or_default();
        if let Some(kind) = object.get("type") {
            branch.entry("type").or_insert_with(|| kind.clone());
        }
        Value::Object(branch)
    };
    (!branches.is_empty()).then(|| branches.iter().map(inherit).collect())
}

fn by_union(object: &Map<String, Value>, branches: &[Value], depth: usize) -> Map<String, Value> {
    let mut converted: Vec<Value> = Vec::new();
    for branch in branches {
        let mut branch = convert(branch, depth + 1);
        match branch.shift_remove("anyOf") {
            Some(Value::Array(inner)) => converted.extend(inner),
            _ => converted.push(Value::Object(branch)),
        }
    }
    let mut out = union(converted);
    if let Some(description) = object.get("description").and_then(Value::as_str) {
        on_whole(&mut out, |schema| {
            let all = match schema.get("description").and_then(Value::as_str) {
                Some(own) if own != description => format!("{description} {own}"),
                _ => description.to_owned(),
            };
            schema.insert("description".into(), Value::String(all));
        });
    }
    on_whole(&mut out, |schema| note_default(object, schema));
    out
}

/// Alternatives as `anyOf`; one alone is itself.
fn union(branches: Vec<Value>) -> Map<String, Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for branch in branches {
        if !distinct.contains(&branch) {
            distinct.push(branch);
        }
    }
    match distinct.as_mut_slice() {
        [Value::Object(only)] => std::mem::take(only),
        _ => Map::from_iter([("anyOf".to_owned(), Value::Array(distinct))]),
    }
}

/// Only text can be an enum here, and only text that is not empty; other constants are said in words.
fn by_values(object: &Map<String, Value>, values: &[Value]) -> Map<String, Value> {
    let texts: Vec<&str> = values.iter().filter_map(Value::as_str).filter(|text| !text.is_empty()).collect();
    let others: Vec<&Value> = values.iter().filter(|v| !v.is_string() && !v.is_null()).collect();
    let mut branches = Vec::new();
    if values.iter().any(Value::is_string) || others.is_empty() {
        let mut branch = Map::from_iter([("type".to_owned(), json!("STRING"))]);
        // An enum that lost its empty text would forbid it.
        if !texts.is_empty() && !values.iter().any(|value| value.as_str() == Some("")) {
            branch.insert("format".into(), json!("enum"));
            branch.insert("enum".into(), json!(texts));
        } else if !texts.is_empty() {
            note(&mut branch, &format!("empty or one of {}", texts.join(", ")));
        }
        branches.push(Value::Object(branch));
    }
    for kind in ["INTEGER", "NUMBER", "BOOLEAN", "OBJECT"] {
        let here: Vec<String> = others.iter().filter(|v| kind_of(v) == kind).map(|v| v.to_string()).collect();
        if !here.is_empty() {
            let mut branch = Map::from_iter([("type".to_owned(), json!(kind))]);
            note(&mut branch, &format!("one of {}", here.join(", ")));
            branches.push(Value::Object(branch));
        }
    }
    let mut out = union(branches);
    on_whole(&mut out, |schema| {
        if let Some(description) = object.get("description").and_then(Value::as_str) {
            let own = schema.get("description").and_then(Value::as_str);
            let all = own.map_or_else(|| description.to_owned(), |own| format!("{description} ({own})"));
            schema.insert("description".into(), Value::String(all));
        }
        note_default(object, schema);
    });
    out
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "BOOLEAN",
        Value::Number(number) if number.is_f64() => "NUMBER",
        Value::Number(_) => "INTEGER",
        Value::Array(_) | Value::Object(_) => "OBJECT",
        Value::String(_) | Value::Null => "STRING",
    }
}

fn by_type(object: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    let mut types = types_of(object);
    types.retain(|kind| *kind != "null");
    if types.is_empty() {
        if object.contains_key("properties") {
            types.push("object");
        } else if object.contains_key("items") || object.contains_key("prefixItems") {
            types.push("array");
        }
    }
    match types.as_slice() {
        [] => anything(object),
        [kind] => typed(object, kind, depth),
        _ => union(types.iter().map(|kind| Value::Object(typed(object, kind, depth))).collect()),
    }
}

fn typed(object: &Map<String, Value>, kind: &str, depth: usize) -> Map<String, Value> {
    let mut out = Map::new();
    let name = match kind {
        "string" => "STRING",
        "integer" => "INTEGER",
        "number" => "NUMBER",
        "boolean" => "BOOLEAN",
        "array" => "ARRAY",
        "object" => "OBJECT",
        _ => return anything(object),
    };
    out.insert("type".into(), json!(name));
    describe(object, &mut out);
    match kind {
        "string" => {
            copy(object, &mut out, &["minLength", "maxLength"], Value::is_u64);
            copy(object, &mut out, &["pattern"], Value::is_string);
            copy(object, &mut out, &["format"], |format| format == "date-time");
        }
        "integer" => {
            copy(object, &mut out, &["format"], |format| format == "int32" || format == "int64");
            bounds(object, &mut out, 1);
        }
        "number" => {
            copy(object, &mut out, &["format"], |format| format == "float" || format == "double");
            bounds(object, &mut out, 0);
        }
        "array" => {
            copy(object, &mut out, &["minItems", "maxItems"], Value::is_u64);
            out.insert("items".into(), Value::Object(items(object, depth)));
        }
        "object" => members(object, &mut out, depth),
        _ => {}
    }
    note_default(object, &mut out);
    out
}

fn copy(
    from: &Map<String, Value>,
    out: &mut Map<String, Value>,
    keywords: &[&str],
    good: impl Fn(&Value) -> bool,
) {
    for keyword in keywords {
        if let Some(value) = from.get(*keyword).filter(|value| good(value)) {
            out.insert((*keyword).to_owned(), value.clone());
        }
    }
}

/// Exclusive bounds do not exist here: an integer's neighbour says the same, a float's own bound is close enough.
fn bounds(from: &Map<String, Value>, out: &mut Map<String, Value>, step: i64) {
    for (inclusive, exclusive, step) in
        [("minimum", "exclusiveMinimum", step), ("maximum", "exclusiveMaximum", -step)]
    {
        copy(from, out, &[inclusive], Value::is_number);
        let Some(limit) = from.get(exclusive).filter(|limit| limit.is_number()) else { continue };
        let limit = match limit.as_i64().and_then(|limit| limit.checked_add(step)) {
            Some(moved) => json!(moved),
            None => limit.clone(),
        };
        let own = out.get(inclusive).and_then(Value::as_f64);
        let tighter = |own: f64| {
            limit.as_f64().is_some_and(|new| if inclusive == "minimum" { new > own } else { new < own })
        };
        if own.is_none_or(tighter) {
            out.insert(inclusive.to_owned(), limit);
        }
    }
}

/// A list must say what it holds.
fn items(object: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    if let Some(Value::Array(tuple)) = object.get("prefixItems") {
        let mut branches = Vec::new();
        for item in tuple {
            let mut item = convert(item, depth + 1);
            match item.shift_remove("anyOf") {
                Some(Value::Array(inner)) => branches.extend(inner),
                _ => branches.push(Value::Object(item)),
            }
        }
        if !branches.is_empty() {
            return union(branches);
        }
    }
    match object.get("items") {
        Some(items @ Value::Object(_)) => convert(items, depth + 1),
        _ => Map::from_iter([("type".to_owned(), json!("STRING"))]),
    }
}

fn members(object: &Map<String, Value>, out: &mut Map<String, Value>, depth: usize) {
    let Some(properties) = object.get("properties").and_then(Value::as_object).filter(|p| !p.is_empty())
    else {
        return;
    };
    let converted: Map<String, Value> = properties
        .iter()
        .map(|(name, property)| (name.clone(), Value::Object(convert(property, depth + 1))))
        .collect();
    // A required name that is not described is refused.
    let required: Vec<String> =
        required_of(object).into_iter().filter(|name| converted.contains_key(name)).collect();
    out.insert("properties".into(), Value::Object(converted));
    if !required.is_empty() {
        out.insert("required".into(), json!(required));
    }
}
