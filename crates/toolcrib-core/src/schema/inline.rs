//! Replaces `$ref` by what it points to.

use serde_json::{Map, Value, json};

use super::MAX_DEPTH;

/// Schemas a tree may grow to. Nested references double at each level, so a kilobyte can ask for terabytes.
const MAX_NODES: usize = 20_000;

/// The same schema without `$ref` and `$defs`: local references are replaced by their targets.
///
/// A reference to itself is cut to its bare type, a reference that leads out of the document or nowhere accepts
/// anything, and a tree that grows past 20,000 schemas is cut the same way. Nothing is fetched.
#[must_use]
pub fn inline_refs(schema: &Value) -> Value {
    Inliner { root: schema, active: Vec::new(), nodes: 0 }.schema(schema, 0)
}

struct Inliner<'a> {
    root: &'a Value,
    /// References being expanded right now; meeting one of them again is recursion.
    active: Vec<&'a str>,
    nodes: usize,
}

impl<'a> Inliner<'a> {
    fn schema(&mut self, schema: &'a Value, depth: usize) -> Value {
        let Some(object) = schema.as_object() else { return schema.clone() };
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return bare(object);
        }
        match object.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.reference(reference, object, depth),
            None => Value::Object(self.members(object, depth)),
        }
    }

    fn reference(&mut self, reference: &'a str, object: &'a Map<String, Value>, depth: usize) -> Value {
        let siblings = self.members(object, depth);
        let target = match self.resolve(reference) {
            None => Value::Object(Map::new()),
            Some(target) if self.active.contains(&reference) || std::ptr::eq(target, self.root) => {
                target.as_object().map_or_else(|| target.clone(), bare)
            }
            Some(target) => {
                self.active.push(reference);
                let expanded = self.schema(target, depth + 1);
                self.active.pop();
                expanded
            }
        };
        merge(target, siblings)
    }

    fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let pointer = reference.strip_prefix('#')?;
        if !pointer.contains('%') {
            return self.root.pointer(pointer);
        }
        // Generic type names arrive percent-encoded.
        self.root.pointer(&percent_decoded(pointer)?)
    }

    fn members(&mut self, object: &'a Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut out = Map::new();
        for (keyword, value) in object {
            let key = keyword.as_str();
            let value = match value {
                _ if matches!(
                    key,
                    "$ref" | "$defs" | "definitions" | "$schema" | "$id" | "$anchor" | "$comment"
                ) =>
                {
                    continue;
                }
                Value::Object(named) if super::NAMED.contains(&key) => Value::Object(
                    named.iter().map(|(name, sub)| (name.clone(), self.schema(sub, depth + 1))).collect(),
                ),
                Value::Array(list) if super::LIST.contains(&key) => {
                    Value::Array(list.iter().map(|sub| self.schema(sub, depth + 1)).collect())
                }
                Value::Object(_) if super::ONE.contains(&key) => self.schema(value, depth + 1),
                _ => value.clone(),
            };
            out.insert(keyword.clone(), value);
        }
        out
    }
}

/// What remains of a schema that is not expanded further: its type and description.
fn bare(object: &Map<String, Value>) -> Value {
    let mut out = Map::new();
    match object.get("type") {
        Some(kind) => drop(out.insert("type".into(), kind.clone())),
        None if object.contains_key("properties") => drop(out.insert("type".into(), json!("object"))),
        None => {}
    }
    if let Some(description) = object.get("description") {
        out.insert("description".into(), description.clone());
    }
    Value::Object(out)
}

/// What stands beside a reference is closer to its use: its words win. Constraints that clash must both hold.
fn merge(target: Value, siblings: Map<String, Value>) -> Value {
    if siblings.is_empty() {
        return target;
    }
    let annotation =
        |key: &str| matches!(key, "description" | "title" | "default" | "examples" | "deprecated");
    match target {
        Value::Object(mut target) => {
            let clash =
                siblings.iter().any(|(k, v)| !annotation(k) && target.get(k).is_some_and(|own| own != v));
            if clash {
                return json!({"allOf": [target, siblings]});
            }
            target.extend(siblings);
            Value::Object(target)
        }
        Value::Bool(false) => Value::Bool(false),
        _ => Value::Object(siblings),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}
