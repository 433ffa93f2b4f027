//! What a model need not read: every declaration is part of every request.
//!
//! Calls are validated against the whole schema all the same, and a refusal says what was expected; so what is left out
//! here costs a model that guesses wrong one call, and every other model nothing.

use serde_json::{Map, Value};

use crate::schema::{MAX_DEPTH, for_each_subschema};

/// Numbers from which on a maximum is a safety net that no sensible call meets.
const FAR: f64 = 50.0;

/// Leaves out that objects are closed, bounds that go without saying, descriptions that are asides, and what
/// one item is where it is said what the list is.
pub(super) fn lean(schema: &mut Value) {
    walk(schema, 0);
}

fn walk(schema: &mut Value, depth: usize) {
    let Some(object) = schema.as_object_mut() else { return };
    if depth > MAX_DEPTH {
        return;
    }
    if object.get("additionalProperties") == Some(&Value::Bool(false)) {
        object.shift_remove("additionalProperties");
    }
    let number = |object: &Map<String, Value>, key: &str| object.get(key).and_then(Value::as_f64);
    for key in ["minimum", "minItems"] {
        if number(object, key).is_some_and(|least| (0.0..=1.0).contains(&least)) {
            object.shift_remove(key);
        }
    }
    for key in ["maximum", "maxItems"] {
        if number(object, key).is_some_and(|most| most >= FAR) {
            object.shift_remove(key);
        }
    }
    if object.get("description").and_then(Value::as_str).is_some_and(is_aside) {
        object.shift_remove("description");
    }
    if object.contains_key("description")
        && let Some(Value::Object(items)) = object.get_mut("items")
    {
        items.shift_remove("description");
    }
    for_each_subschema(object, &mut |_, sub| walk(sub, depth + 1));
}

/// Whether a description is for people only, who read it in parentheses: the name of the parameter tells a model as much.
fn is_aside(text: &str) -> bool {
    text.starts_with('(') && text.ends_with(')')
}
