//! Whether a value fits its place, cheaply and without compiling anything.
//!
//! This looks at structure only and is never stricter than full validation, except that `10.0` is no integer: it is one
//! to JSON Schema, but not to the typed input a tool decodes. So whatever full validation accepts, repair leaves alone.

use serde_json::{Map, Value};

/// Nesting past which values are left as they came.
pub(super) const MAX_DEPTH: usize = 64;

/// Whether nothing in `value` contradicts the structure `schema` describes.
pub(super) fn fits(schema: &Value, value: &Value, depth: usize) -> bool {
    let object = match schema {
        Value::Bool(all) => return *all,
        Value::Object(object) => object,
        _ => return true,
    };
    if depth > MAX_DEPTH {
        return true;
    }
    object.iter().all(|(keyword, wanted)| holds(object, keyword, wanted, value, depth))
}

fn holds(schema: &Map<String, Value>, keyword: &str, wanted: &Value, value: &Value, depth: usize) -> bool {
    match (keyword, wanted) {
        ("type", Value::String(kind)) => is_a(kind, value),
        ("type", Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).any(|kind| is_a(kind, value)),
        ("enum", Value::Array(options)) => options.iter().any(|option| same(option, value)),
        ("const", constant) => same(constant, value),
        ("properties", Value::Object(properties)) => value.as_object().is_none_or(|members| {
            members
                .iter()
                .all(|(key, member)| properties.get(key).is_none_or(|sub| fits(sub, member, depth + 1)))
        }),
        ("required", Value::Array(names)) => value.as_object().is_none_or(|members| {
            names.iter().filter_map(Value::as_str).all(|name| members.contains_key(name))
        }),
        ("additionalProperties", rest) if !schema.contains_key("patternProperties") => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let is_known = |key: &String| properties.is_some_and(|known| known.contains_key(key));
            value.as_object().is_none_or(|members| {
                members.iter().all(|(key, member)| is_known(key) || fits(rest, member, depth + 1))
            })
        }
        ("items", sub) if !schema.contains_key("prefixItems") => {
            value.as_array().is_none_or(|items| items.iter().all(|item| fits(sub, item, depth + 1)))
        }
        ("minItems", _) => at_least(wanted, value.as_array().map(Vec::len)),
        ("maxItems", _) => at_most(wanted, value.as_array().map(Vec::len)),
        ("minLength", _) => at_least(wanted, value.as_str().map(|text| text.chars().count())),
        ("maxLength", _) => at_most(wanted, value.as_str().map(|text| text.chars().count())),
        ("minimum", _) => in_order(Some(wanted), Some(value)),
        ("maximum", _) => in_order(Some(value), Some(wanted)),
        ("anyOf" | "oneOf", Value::Array(branches)) => {
            branches.iter().any(|branch| fits(branch, value, depth + 1))
        }
        ("allOf", Value::Array(parts)) => parts.iter().all(|part| fits(part, value, depth + 1)),
        // Patterns and formats would have to be compiled; conditions do not tell how a value was meant.
        _ => true,
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => true,
    }
}

/// Equality as JSON Schema has it: 1 and 1.0 are one number.
fn same(a: &Value, b: &Value) -> bool {
    a == b
        || (a.is_number() && b.is_number() && a.as_f64() == b.as_f64())
        || (is_container(a) && is_container(b))
}

/// Numbers inside containers would need the same care; treating containers as equal errs on the side of no repair.
fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

fn at_least(limit: &Value, len: Option<usize>) -> bool {
    let limit = limit.as_u64().unwrap_or(0);
    len.is_none_or(|len| u64::try_from(len).is_ok_and(|len| len >= limit))
}

fn at_most(limit: &Value, len: Option<usize>) -> bool {
    let limit = limit.as_u64().unwrap_or(u64::MAX);
    len.is_none_or(|len| u64::try_from(len).is_ok_and(|len| len <= limit))
}

/// `low <= high` where both are numbers. Floats round, so nearly equal counts as equal.
fn in_order(low: Option<&Value>, high: Option<&Value>) -> bool {
    match (low.and_then(Value::as_f64), high.and_then(Value::as_f64)) {
        (Some(low), Some(high)) => low <= high,
        _ => true,
    }
}
