//! Schemas from types, and references of others.

#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcrib_core::executor::validate::Validator;
use toolcrib_core::schema::{inline_refs, output_schema_of, schema_of, tighten};

/// How matches are shown.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    /// The lines themselves.
    Content,
    /// Only file names.
    FilesWithMatches,
    Count,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Plain {
    Asc,
    Desc,
}

/// One replacement.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Edit {
    /// Text to replace.
    old_string: String,
    /// Replace all of them.
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Target {
    /// A file.
    File { path: String },
    /// A symbol.
    Symbol { name: String },
}

/// Everything at once.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Input {
    /// The path.
    path: String,
    /// First line.
    offset: Option<u64>,
    #[serde(default)]
    small: Option<u8>,
    /// How to show matches.
    mode: Option<OutputMode>,
    order: Option<Plain>,
    edits: Vec<Edit>,
    title: Option<String>,
    labels: Option<BTreeMap<String, i32>>,
    target: Option<Target>,
    free: Option<Value>,
    inner: Option<Edit>,
    nested: Option<Vec<Option<String>>>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Flat {
    name: String,
    #[serde(flatten)]
    edit: Edit,
}

/// A tree.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

fn keywords(schema: &Value, out: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                if key == "properties" {
                    value.as_object().into_iter().flat_map(|p| p.values()).for_each(|sub| keywords(sub, out));
                    continue;
                }
                out.push(key.clone());
                keywords(value, out);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keywords(item, out)),
        _ => {}
    }
}

#[test]
fn a_type_becomes_a_plain_closed_schema() {
    let schema = schema_of::<Input>();
    let mut used = Vec::new();
    keywords(&schema, &mut used);
    for gone in ["$ref", "$defs", "$schema", "title", "format"] {
        assert!(!used.iter().any(|k| k == gone), "{gone} in {schema:#}");
    }
    assert_eq!(schema["description"], "Everything at once.");
    assert_eq!(schema["required"], json!(["path", "edits"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    let properties = &schema["properties"];
    assert_eq!(properties["path"], json!({"description": "The path.", "type": "string"}));
    assert_eq!(properties["offset"], json!({"description": "First line.", "type": "integer", "minimum": 0}));
    assert_eq!(properties["small"], json!({"type": "integer", "minimum": 0, "maximum": 255}));
    assert_eq!(properties["title"], json!({"type": "string"}));
    assert_eq!(properties["order"], json!({"type": "string", "enum": ["asc", "desc"]}));
    assert_eq!(properties["mode"]["type"], "string");
    let values = properties["mode"]["enum"].as_array().unwrap();
    assert_eq!(values.len(), 3);
    assert!(["content", "files_with_matches", "count"].iter().all(|v| values.contains(&json!(v))));
    let description = properties["mode"]["description"].as_str().unwrap();
    assert!(description.starts_with("How to show matches."), "{description}");
    assert!(description.contains("- content: The lines themselves."), "{description}");
    assert_eq!(properties["edits"]["items"]["additionalProperties"], json!(false));
    assert_eq!(properties["edits"]["items"]["description"], "One replacement.");
    assert_eq!(properties["inner"]["type"], "object");
    assert_eq!(properties["labels"]["additionalProperties"]["type"], "integer");
    assert_eq!(properties["nested"]["items"]["type"], json!(["string", "null"]), "items may be null");
    assert!(properties["target"]["oneOf"][0]["properties"]["kind"].is_object(), "{schema:#}");
}

#[test]
fn the_schema_takes_what_the_type_decodes() {
    let validator = Validator::new(&schema_of::<Input>()).unwrap();
    let good = json!({"path": "a", "edits": [{"old_string": "x"}], "mode": "count", "offset": 3,
        "target": {"kind": "file", "path": "p"}, "labels": {"a": 1}, "free": [1, {}], "nested": ["x", null]});
    assert_eq!(validator.check(&good), vec![]);
    serde_json::from_value::<Input>(good).unwrap();
    for bad in [
        json!({"path": "a", "edits": [], "pth": 1}),
        json!({"path": "a", "edits": [{"old_string": "x", "oops": 1}]}),
        json!({"path": "a", "edits": [], "target": {"kind": "file", "path": "p", "oops": 1}}),
        json!({"path": "a", "edits": [], "small": 256}),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

#[test]
fn no_parameters_is_a_closed_object() {
    let schema = schema_of::<Nothing>();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[test]
fn flattened_fields_belong_to_the_outer_object() {
    let schema = schema_of::<Flat>();
    let validator = Validator::new(&schema).unwrap();
    assert_eq!(validator.check(&json!({"name": "n", "old_string": "x", "replace_all": true})), vec![]);
    assert!(!validator.is_valid(&json!({"name": "n", "old_string": "x", "oops": 1})), "{schema:#}");
}

#[test]
fn recursion_is_cut() {
    let schema = schema_of::<Tree>();
    let child = &schema["properties"]["children"]["items"];
    assert_eq!(child["type"], "object");
    let validator = Validator::new(&schema).unwrap();
    let tree = json!({"name": "a", "children": [{"name": "b", "children": [{"name": "c", "children": []}]}]});
    assert_eq!(validator.check(&tree), vec![]);
}

#[test]
fn output_schemas_keep_their_nulls_and_stay_open() {
    let schema = output_schema_of::<Input>();
    assert_eq!(schema["properties"]["offset"]["type"], json!(["integer", "null"]));
    assert!(schema.get("additionalProperties").is_none());
}

#[test]
fn references_are_followed_but_never_fetched() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"A": {"type": "string", "description": "own"}, "a b": {"type": "integer"},
                  "Chain": {"$ref": "#/$defs/A"}},
        "type": "object",
        "properties": {
            "plain": {"$ref": "#/$defs/A"},
            "described": {"$ref": "#/$defs/Chain", "description": "here"},
            "encoded": {"$ref": "#/$defs/a%20b"},
            "narrowed": {"$ref": "#/$defs/A", "type": "string", "minLength": 1},
            "clash": {"$ref": "#/$defs/A", "type": "integer"},
            "remote": {"$ref": "https://example.com/evil.json", "description": "far"},
            "missing": {"$ref": "#/$defs/None"},
            "self": {"$ref": "#"},
            "$ref": {"type": "string"}
        }
    });
    let p = inline_refs(&schema)["properties"].clone();
    assert_eq!(p["plain"], json!({"type": "string", "description": "own"}));
    assert_eq!(p["described"], json!({"type": "string", "description": "here"}));
    assert_eq!(p["encoded"], json!({"type": "integer"}));
    assert_eq!(p["narrowed"]["minLength"], 1);
    assert_eq!(p["clash"]["allOf"].as_array().unwrap().len(), 2);
    assert_eq!(p["remote"], json!({"description": "far"}));
    assert_eq!(p["missing"], json!({}));
    assert_eq!(p["self"], json!({"type": "object"}));
    assert_eq!(p["$ref"], json!({"type": "string"}), "a property may be called $ref");
    assert!(Validator::new(&schema).is_err(), "a remote reference is not fetched");
}

#[test]
fn a_reference_bomb_stays_small() {
    let mut defs = serde_json::Map::new();
    for i in 0..60 {
        let next = format!("#/$defs/d{}", i + 1);
        defs.insert(
            format!("d{i}"),
            json!({"type": "object", "properties": {"a": {"$ref": next}, "b": {"$ref": next}}}),
        );
    }
    defs.insert("d60".into(), json!({"type": "string"}));
    let inlined = inline_refs(&json!({"$ref": "#/$defs/d0", "$defs": defs}));
    assert!(inlined.to_string().len() < 4_000_000);
    let mutual =
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
    assert_eq!(inline_refs(&mutual), json!({}));
}

#[test]
fn tightening_respects_maps_and_unions() {
    let mut schema = json!({"type": "object", "properties": {
        "map": {"type": "object", "additionalProperties": true},
        "union": {"type": "object", "oneOf": [{"type": "object", "properties": {"a": {}}}]},
        "all": {"allOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
    }});
    tighten(&mut schema);
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["map"]["additionalProperties"], true);
    assert!(schema["properties"]["union"].get("additionalProperties").is_none());
    assert!(schema["properties"]["all"]["allOf"][0].get("additionalProperties").is_none());
}
