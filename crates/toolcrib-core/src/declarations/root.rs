//! Arguments are an object, and model APIs want that said plainly at the root.

use serde_json::{Map, Value, json};

use crate::schema::{inline_refs, required_of};

/// The schema inlined, with an object at its root and no union, condition or enum beside it.
///
/// A union at the root becomes one object with the properties of all alternatives, requiring what all require. It
/// accepts more than the original; validation of the call still uses the original.
pub(super) fn object_root(schema: &Value) -> Value {
    let Value::Object(mut root) = inline_refs(schema) else {
        return json!({"type": "object", "properties": {}});
    };
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = root.shift_remove(keyword) {
            absorb(&mut root, &branches, Required::InAll);
        }
    }
    if let Some(Value::Array(parts)) = root.shift_remove("allOf") {
        absorb(&mut root, &parts, Required::InAny);
    }
    for keyword in
        ["not", "if", "then", "else", "enum", "const", "title", "dependentSchemas", "dependentRequired"]
    {
        root.shift_remove(keyword);
    }
    root.insert("type".into(), json!("object"));
    root.entry("properties").or_insert_with(|| json!({}));
    Value::Object(root)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Required {
    /// A name is required if every part requires it.
    InAll,
    /// A name is required if some part requires it.
    InAny,
}

/// Adds the properties of object schemas to `root`.
pub(super) fn absorb(root: &mut Map<String, Value>, parts: &[Value], rule: Required) {
    let parts: Vec<&Map<String, Value>> = parts.iter().filter_map(Value::as_object).collect();
    let mut properties = match root.get("properties") {
        Some(Value::Object(own)) => own.clone(),
        _ => Map::new(),
    };
    for (name, schema) in parts.iter().filter_map(|part| part.get("properties")?.as_object()).flatten() {
        let merged = match properties.shift_remove(name) {
            Some(own) => either(own, schema.clone()),
            None => schema.clone(),
        };
        properties.insert(name.clone(), merged);
    }
    let mut required = required_of(root);
    for name in parts.iter().flat_map(|part| required_of(part)) {
        let wanted = rule == Required::InAny || parts.iter().all(|part| required_of(part).contains(&name));
        if wanted && !required.contains(&name) {
            required.push(name);
        }
    }
    required.retain(|name| properties.contains_key(name));
    // Open alternatives leave the whole open; a closed whole would refuse what they take.
    let all_closed = parts.iter().all(|part| part.get("additionalProperties") == Some(&Value::Bool(false)));
    if all_closed && !parts.is_empty() && !root.contains_key("additionalProperties") {
        root.insert("additionalProperties".into(), Value::Bool(false));
    }
    root.insert("properties".into(), Value::Object(properties));
    if required.is_empty() {
        root.shift_remove("required");
    } else {
        root.insert("required".into(), json!(required));
    }
}

/// One schema for a property that two alternatives describe: the tags of a tagged union become one enum.
fn either(a: Value, b: Value) -> Value {
    if a == b {
        return a;
    }
    if let (Some(mut values), Some(more)) = (constants(&a), constants(&b)) {
        values.extend(more);
        let mut seen: Vec<Value> = Vec::new();
        for value in values {
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        let same_type = a.get("type") == b.get("type");
        let mut out = match a {
            Value::Object(out) => out,
            _ => Map::new(),
        };
        out.shift_remove("const");
        if !same_type {
            out.shift_remove("type");
        }
        out.insert("enum".into(), Value::Array(seen));
        return Value::Object(out);
    }
    match a {
        Value::Object(mut union) if union.len() == 1 && union.contains_key("anyOf") => {
            if let Some(Value::Array(branches)) = union.get_mut("anyOf")
                && !branches.contains(&b)
            {
                branches.push(b);
            }
            Value::Object(union)
        }
        a => json!({ "anyOf": [a, b] }),
    }
}

fn constants(schema: &Value) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(Value::Array(many))) => Some(many.clone()),
        _ => None,
    }
}
