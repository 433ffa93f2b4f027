//! OpenAI with constrained arguments (`strict: true`).
//!
//! Every object is closed and requires all its properties; what was optional accepts `null` instead, which repair takes
//! out again. Bounds, lengths, patterns and formats move into the description: OpenAI itself takes some of them, but
//! fine-tuned models, Azure and other servers answer with an error, and validation checks them in any case. A tool
//! that cannot be said this way (maps, free-form values, tuples) is declared as it is with `strict: false`.

use serde_json::{Map, Value, json};

use super::root::{Required, absorb, object_root};
use super::{ToolView, note, note_default};
use crate::schema::{required_of, types_of};

/// OpenAI's own limits; a larger schema is an error there.
const MAX_LEVELS: usize = 10;
const MAX_PROPERTIES: usize = 5000;
const MAX_ENUM_VALUES: usize = 1000;
const MAX_NAME_BYTES: usize = 120_000;

/// For chat completions.
pub(super) fn chat(tools: &[ToolView]) -> Value {
    tools.iter().map(|tool| json!({ "type": "function", "function": function(tool) })).collect()
}

/// For responses: the same, flat. `strict` is always stated, because its default there is not that of chat.
pub(super) fn responses(tools: &[ToolView]) -> Value {
    tools
        .iter()
        .map(|tool| {
            let mut out = Map::from_iter([("type".to_owned(), json!("function"))]);
            out.extend(function(tool));
            Value::Object(out)
        })
        .collect()
}

fn function(tool: &ToolView) -> Map<String, Value> {
    let plain = object_root(&tool.input_schema);
    let strict = strict(&plain);
    Map::from_iter([
        ("name".to_owned(), json!(tool.name)),
        ("description".to_owned(), json!(tool.description)),
        ("strict".to_owned(), json!(strict.is_some())),
        ("parameters".to_owned(), strict.unwrap_or(plain)),
    ])
}

/// The schema in strict form, or nothing if it cannot be said.
fn strict(root: &Value) -> Option<Value> {
    let mut root = root.as_object()?.clone();
    // A tool without parameters is no map: an object that names nothing and forbids nothing.
    if root.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty) {
        root.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    Budget::default().schema(&root, false, 0)
}

#[derive(Default)]
struct Budget {
    properties: usize,
    enum_values: usize,
    name_bytes: usize,
}

impl Budget {
    fn schema(&mut self, object: &Map<String, Value>, nullable: bool, level: usize) -> Option<Value> {
        // Arrays and unions count here too, so this errs on the side of not strict.
        if level > MAX_LEVELS {
            return None;
        }
        if let Some(Value::Array(parts)) = object.get("allOf") {
            let is_object = |part: &Value| part.get("properties").is_some() && part.get("anyOf").is_none();
            if !parts.iter().all(is_object) {
                return None;
            }
            let mut merged = object.clone();
            merged.shift_remove("allOf");
            merged.insert("type".into(), json!("object"));
            absorb(&mut merged, parts, Required::InAny);
            return self.schema(&merged, nullable, level);
        }
        if ["patternProperties", "propertyNames", "prefixItems", "$ref"]
            .iter()
            .any(|k| object.contains_key(*k))
        {
            return None;
        }
        if let Some(values) = values_of(object) {
            return self.values(object, values, nullable);
        }
        if let Some(Value::Array(branches)) = object.get("anyOf").or_else(|| object.get("oneOf"))
            && !object.contains_key("properties")
        {
            return self.union(object, branches, nullable, level);
        }
        let mut types = types_of(object);
        if types.is_empty() {
            types = match (object.contains_key("properties"), object.contains_key("items")) {
                (true, _) => vec!["object"],
                (_, true) => vec!["array"],
                _ => return None,
            };
        }
        let nullable = nullable || types.contains(&"null");
        types.retain(|kind| *kind != "null");
        match types.as_slice() {
            [] => Some(described(object, json!({"type": "null"}))),
            [kind] => self.typed(object, kind, nullable, level),
            _ => self.one_of_types(object, &types, nullable, level),
        }
    }

    /// Several types at once are spelt as alternatives; only `null` may stand beside another type.
    fn one_of_types(
        &mut self,
        object: &Map<String, Value>,
        types: &[&str],
        nullable: bool,
        level: usize,
    ) -> Option<Value> {
        let mut bare = object.clone();
        bare.shift_remove("description");
        bare.shift_remove("default");
        let mut branches = Vec::new();
        for kind in types {
            branches.push(self.typed(&bare, kind, false, level + 1)?);
        }
        if nullable {
            branches.push(json!({"type": "null"}));
        }
        Some(described(object, json!({ "anyOf": branches })))
    }

    fn union(
        &mut self,
        object: &Map<String, Value>,
        branches: &[Value],
        nullable: bool,
        level: usize,
    ) -> Option<Value> {
        let mut out = Vec::new();
        for branch in branches {
            let mut branch = branch.as_object()?.clone();
            if let Some(kind) = object.get("type") {
                branch.entry("type").or_insert_with(|| kind.clone());
            }
            out.push(self.schema(&branch, false, level + 1)?);
        }
        if nullable && !out.iter().any(accepts_null) {
            out.push(json!({"type": "null"}));
        }
        (!out.is_empty()).then(|| described(object, json!({ "anyOf": out })))
    }

    fn values(
        &mut self,
        object: &Map<String, Value>,
        mut values: Vec<Value>,
        nullable: bool,
    ) -> Option<Value> {
        let declared = types_of(object);
        values.retain(|value| declared.is_empty() || declared.iter().any(|kind| is_a(kind, value)));
        if nullable && !values.contains(&Value::Null) {
            values.push(Value::Null);
        }
        let mut kinds: Vec<&str> = Vec::new();
        for value in &values {
            let kind = kind_of(value)?;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
            self.name_bytes += value.as_str().map_or(0, str::len);
        }
        self.enum_values += values.len();
        if values.is_empty() || self.enum_values > MAX_ENUM_VALUES || self.name_bytes > MAX_NAME_BYTES {
            return None;
        }
        let kind = if let [one] = kinds.as_slice() { json!(one) } else { json!(kinds) };
        Some(described(object, json!({ "type": kind, "enum": values })))
    }

    fn typed(
        &mut self,
        object: &Map<String, Value>,
        kind: &str,
        nullable: bool,
        level: usize,
    ) -> Option<Value> {
        let mut out = match kind {
            "object" => self.object(object, level)?,
            "array" => {
                let items = object.get("items")?.as_object()?;
                json!({ "items": self.schema(items, false, level + 1)? })
            }
            "string" | "integer" | "number" | "boolean" => json!({}),
            _ => return None,
        };
        let kind = if nullable { json!([kind, "null"]) } else { json!(kind) };
        let out_object = out.as_object_mut()?;
        out_object.shift_insert(0, "type".into(), kind);
        Some(described(object, out))
    }

    fn object(&mut self, object: &Map<String, Value>, level: usize) -> Option<Value> {
        let closed = object.get("additionalProperties") == Some(&Value::Bool(false));
        let none = Map::new();
        let properties = object.get("properties").and_then(Value::as_object).unwrap_or(&none);
        // A map, or an object that is explicitly open, is not a fixed list of names.
        if !closed && (properties.is_empty() || object.contains_key("additionalProperties")) {
            return None;
        }
        let required = required_of(object);
        if required.iter().any(|name| !properties.contains_key(name)) {
            return None;
        }
        self.properties += properties.len();
        self.name_bytes += properties.keys().map(String::len).sum::<usize>();
        if self.properties > MAX_PROPERTIES || self.name_bytes > MAX_NAME_BYTES {
            return None;
        }
        let mut out = Map::new();
        for (name, property) in properties {
            let property = property.as_object()?;
            out.insert(name.clone(), self.schema(property, !required.contains(name), level + 1)?);
        }
        let names: Vec<&String> = properties.keys().collect();
        Some(json!({ "properties": out, "required": names, "additionalProperties": false }))
    }
}

fn values_of(object: &Map<String, Value>) -> Option<Vec<Value>> {
    match (object.get("const"), object.get("enum")) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(Value::Array(many))) => Some(many.clone()),
        _ => None,
    }
}

fn kind_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => Some("null"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        Value::String(_) => Some("string"),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind_of(value) {
        Some("integer") => matches!(kind, "integer" | "number"),
        Some("number") => {
            kind == "number" || (kind == "integer" && value.as_f64().is_some_and(|f| f.fract() == 0.0))
        }
        Some(own) => own == kind,
        None => true,
    }
}

fn accepts_null(schema: &Value) -> bool {
    let types = schema.as_object().map(types_of).unwrap_or_default();
    let inside = schema.get("anyOf").and_then(Value::as_array);
    types.contains(&"null") || inside.is_some_and(|branches| branches.iter().any(accepts_null))
}

/// Carries the description over, with the dropped keywords in words.
fn described(from: &Map<String, Value>, mut schema: Value) -> Value {
    let Some(out) = schema.as_object_mut() else { return schema };
    if let Some(description) = from.get("description").filter(|d| d.is_string()) {
        out.insert("description".into(), description.clone());
    }
    let words = [
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
        ("minLength", "characters: at least"),
        ("maxLength", "characters: at most"),
        ("minItems", "items: at least"),
        ("maxItems", "items: at most"),
        ("pattern", "matches"),
        ("format", "format"),
    ];
    let says_little = |keyword: &str, value: &Value| keyword == "minimum" && value.as_f64() == Some(0.0);
    let notes: Vec<String> = words
        .iter()
        .filter_map(|(keyword, words)| Some((keyword, words, from.get(*keyword)?)))
        .filter(|(keyword, _, value)| {
            (value.is_number() || value.is_string()) && !says_little(keyword, value)
        })
        .map(|(_, words, value)| match value.as_str() {
            Some(text) => format!("{words} {text}"),
            None => format!("{words} {value}"),
        })
        .collect();
    if !notes.is_empty() {
        note(out, &notes.join(", "));
    }
    note_default(from, out);
    schema
}
