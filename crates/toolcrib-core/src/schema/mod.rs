//! JSON Schemas as tools declare them: one self-contained tree.
//!
//! `schemars` writes correct JSON Schema, but model APIs and MCP clients choke on parts of it: `$ref`, `$defs`,
//! integer formats, `oneOf` of constants for a plain enum, and `null` as a type of every optional field. What comes out
//! here says the same in the plainest form, so that each exporter starts from a tree without indirection.

mod inline;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

pub use inline::inline_refs;

/// Nesting past which a schema is left as it is; far beyond what any model API takes.
pub(crate) const MAX_DEPTH: usize = 64;

/// Keywords whose value is one schema.
const ONE: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value maps names to schemas.
const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// The input schema of `T`: inlined, closed objects, optional fields of their plain type, doc comments as descriptions.
///
/// ```
/// # use schemars::JsonSchema;
/// /// Reads a file.
/// #[derive(JsonSchema)]
/// struct Input {
///     /// Path of the file.
///     path: String,
///     /// Lines to read.
///     limit: Option<u64>,
/// }
/// let schema = toolcrib_core::schema::schema_of::<Input>();
/// assert_eq!(schema["properties"]["limit"]["type"], "integer");
/// assert_eq!(schema["additionalProperties"], false);
/// ```
#[must_use]
pub fn schema_of<T: schemars::JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut schema = generate::<T>(settings);
    // Before inlining, because a cut recursion is an open object by intention and not an empty struct.
    tighten(&mut schema);
    let mut schema = inline_refs(&schema);
    simplify(&mut schema, 0);
    drop_optional_nulls(&mut schema, 0);
    schema
}

/// The output schema of `T`: inlined like [`schema_of`], but open and with its nulls, because it describes what is sent.
#[must_use]
pub fn output_schema_of<T: schemars::JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = inline_refs(&generate::<T>(settings));
    simplify(&mut schema, 0);
    schema
}

fn generate<T: schemars::JsonSchema>(mut settings: SchemaSettings) -> Value {
    settings.meta_schema = None;
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Closes every object that lists its properties: a misspelt key is then an error that names it, not a silent default.
///
/// Objects that say themselves what else they take (maps), or that are combined with alternatives, stay as they are.
pub fn tighten(schema: &mut Value) {
    close(schema, 0);
}

fn close(schema: &mut Value, depth: usize) {
    let Some(object) = schema.as_object_mut() else { return };
    if depth > MAX_DEPTH {
        return;
    }
    let is_object = object.get("type").and_then(Value::as_str) == Some("object");
    let says_itself = ["additionalProperties", "unevaluatedProperties", "patternProperties", "$ref"]
        .iter()
        .chain(&["allOf", "anyOf", "oneOf", "propertyNames"])
        .any(|keyword| object.contains_key(*keyword));
    if is_object && !says_itself {
        object.insert("additionalProperties".into(), Value::Bool(false));
    }
    // Parts of an `allOf` see each other's properties; closing one would refuse the other's.
    for_each_subschema(object, &mut |keyword, sub| {
        if keyword != "allOf" {
            close(sub, depth + 1);
        }
    });
}

/// Calls `visit` with every direct subschema and the keyword it stands under.
pub(crate) fn for_each_subschema(object: &mut Map<String, Value>, visit: &mut dyn FnMut(&str, &mut Value)) {
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Object(named) if NAMED.contains(&keyword) => {
                named.values_mut().for_each(|sub| visit(keyword, sub));
            }
            Value::Array(list) if LIST.contains(&keyword) => {
                list.iter_mut().for_each(|sub| visit(keyword, sub))
            }
            Value::Object(_) | Value::Bool(_) if ONE.contains(&keyword) => visit(keyword, value),
            _ => {}
        }
    }
}

/// Drops what only schema tools read, and folds an enum written as alternatives into `enum`.
fn simplify(schema: &mut Value, depth: usize) {
    let Some(object) = schema.as_object_mut() else { return };
    if depth > MAX_DEPTH {
        return;
    }
    for keyword in ["title", "$schema", "$id", "$comment", "$anchor"] {
        object.shift_remove(keyword);
    }
    let is_number = types_of(object).iter().any(|t| *t == "integer" || *t == "number");
    if is_number && object.get("format").is_some_and(Value::is_string) {
        object.shift_remove("format");
    }
    if object.get("default") == Some(&Value::Null) {
        object.shift_remove("default");
    }
    for_each_subschema(object, &mut |_, sub| simplify(sub, depth + 1));
    fold_constants(object);
    fold_single_union(object);
}

/// `oneOf: [{const: "a", description}, …]` becomes `enum: ["a", …]`, the variants' docs moving into the description.
fn fold_constants(object: &mut Map<String, Value>) {
    let Some(keyword) = ["oneOf", "anyOf"].into_iter().find(|k| object.contains_key(*k)) else { return };
    let Some(branches) = object.get(keyword).and_then(Value::as_array) else { return };
    let mut values = Vec::new();
    let mut docs = Vec::new();
    let mut kind: Option<&Value> = None;
    for branch in branches {
        let Some(branch) = branch.as_object() else { return };
        let known = ["const", "enum", "type", "description"];
        if !branch.keys().all(|k| known.contains(&k.as_str())) {
            return;
        }
        let here: Vec<&Value> = match (branch.get("const"), branch.get("enum").and_then(Value::as_array)) {
            (Some(one), None) => vec![one],
            (None, Some(many)) => many.iter().collect(),
            _ => return,
        };
        if kind.is_some_and(|kind| Some(kind) != branch.get("type")) {
            return;
        }
        kind = branch.get("type");
        if let (Some(doc), [Value::String(name)]) =
            (branch.get("description").and_then(Value::as_str), here.as_slice())
        {
            docs.push(format!("- {name}: {doc}"));
        }
        values.extend(here.into_iter().cloned());
    }
    if values.is_empty() {
        return;
    }
    let kind = kind.cloned();
    object.shift_remove(keyword);
    if !docs.is_empty() {
        let own = object.get("description").and_then(Value::as_str).unwrap_or_default();
        let all = if own.is_empty() { docs.join("\n") } else { format!("{own}\n{}", docs.join("\n")) };
        object.insert("description".into(), Value::String(all));
    }
    if let Some(kind) = kind {
        object.entry("type").or_insert(kind);
    }
    object.insert("enum".into(), Value::Array(values));
}

/// A union of one is that one.
fn fold_single_union(object: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let Some([Value::Object(only)]) = object.get(keyword).and_then(Value::as_array).map(Vec::as_slice)
        else {
            continue;
        };
        if only.keys().any(|k| k != "description" && object.contains_key(k)) {
            continue;
        }
        let only = only.clone();
        object.shift_remove(keyword);
        keep_value_docs(object, &only);
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}

/// The words at the place of use win over those of the type, but the lines that explain single values are kept.
fn keep_value_docs(object: &mut Map<String, Value>, only: &Map<String, Value>) {
    let Some(own) = object.get("description").and_then(Value::as_str) else { return };
    let inner = only.get("description").and_then(Value::as_str).filter(|_| only.contains_key("enum"));
    let docs: Vec<&str> =
        inner.unwrap_or_default().lines().skip_while(|line| !line.starts_with("- ")).collect();
    if !docs.is_empty() {
        let all = format!("{own}\n{}", docs.join("\n"));
        object.insert("description".into(), Value::String(all));
    }
}

/// An optional property is left out by leaving it out, so `null` need not be one of its types.
fn drop_optional_nulls(schema: &mut Value, depth: usize) {
    let Some(object) = schema.as_object_mut() else { return };
    if depth > MAX_DEPTH {
        return;
    }
    let required = required_of(object);
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            if let Some(property) = property.as_object_mut()
                && !required.contains(name)
            {
                without_null(property);
            }
        }
    }
    for_each_subschema(object, &mut |_, sub| drop_optional_nulls(sub, depth + 1));
}

/// Removes `null` from the types, values and alternatives of a schema; reports whether it was there.
pub(crate) fn without_null(object: &mut Map<String, Value>) -> bool {
    let mut found = false;
    if let Some(Value::Array(types)) = object.get_mut("type") {
        let before = types.len();
        types.retain(|t| t != "null");
        found |= types.len() < before;
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && values.len() > 1
    {
        let before = values.len();
        values.retain(|v| !v.is_null());
        found |= values.len() < before;
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = object.get_mut(keyword) {
            let before = branches.len();
            branches.retain(|b| *b != json!({"type": "null"}) && *b != json!({"const": null}));
            found |= branches.len() < before;
        }
    }
    fold_single_union(object);
    found
}

/// The types a schema names, as a list.
pub(crate) fn types_of(object: &Map<String, Value>) -> Vec<&str> {
    match object.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The required property names of an object schema.
pub(crate) fn required_of(object: &Map<String, Value>) -> Vec<String> {
    let names = object.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Case and separators taken away, to compare names written in different styles.
pub(crate) fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' ' | '\t' | '\n'))
        .flat_map(char::to_lowercase)
        .collect()
}
