//! Repairs, one line a case.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use toolcrib_core::executor::repair::repair;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 0},
            "ratio": {"type": "number"},
            "all": {"type": "boolean"},
            "mode": {"type": "string", "enum": ["content", "files_with_matches"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "edits": {"type": "array", "items": {"type": "object",
                "properties": {"old_string": {"type": "string"}, "count": {"type": "integer"}},
                "required": ["old_string"], "additionalProperties": false}},
            "options": {"type": "object", "additionalProperties": {"type": "integer"}},
            "maybe": {"type": ["string", "null"]},
            "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
            "loose": {"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"type": "string"}]},
        },
        "required": ["file_path"],
        "additionalProperties": false
    })
}

/// The arguments after repair, always with the one required property.
fn repaired(mut args: Value) -> (Value, usize) {
    args["file_path"] = json!("p");
    let (mut out, warnings) = repair(&schema(), args);
    out.as_object_mut().unwrap().remove("file_path");
    (out, warnings.len())
}

#[test]
fn clear_mistakes_are_mended() {
    let cases = [
        (json!({"limit": "10"}), json!({"limit": 10}), 1),
        (json!({"limit": " 10 "}), json!({"limit": 10}), 1),
        (json!({"limit": "10.0"}), json!({"limit": 10}), 1),
        (json!({"limit": 10.0}), json!({"limit": 10}), 0),
        (json!({"limit": [10]}), json!({"limit": 10}), 1),
        (json!({"limit": null}), json!({}), 0),
        (json!({"ratio": "1.5"}), json!({"ratio": 1.5}), 1),
        (json!({"all": "True"}), json!({"all": true}), 1),
        (json!({"all": "false"}), json!({"all": false}), 1),
        (json!({"mode": "Content"}), json!({"mode": "content"}), 1),
        (json!({"mode": " files-with-matches"}), json!({"mode": "files_with_matches"}), 1),
        (json!({"tags": "a"}), json!({"tags": ["a"]}), 1),
        (json!({"tags": "[\"a\", \"b\"]"}), json!({"tags": ["a", "b"]}), 1),
        (json!({"tags": ["a", 5]}), json!({"tags": ["a", "5"]}), 1),
        (json!({"numbers": "5"}), json!({"numbers": [5]}), 1),
        (json!({"numbers": ["1", 2.0, "3"]}), json!({"numbers": [1, 2, 3]}), 2),
        (json!({"edits": {"old_string": "x"}}), json!({"edits": [{"old_string": "x"}]}), 1),
        (json!({"edits": "{\"old_string\": \"x\"}"}), json!({"edits": [{"old_string": "x"}]}), 1),
        (json!({"edits": ["{\"oldString\": \"x\"}"]}), json!({"edits": [{"old_string": "x"}]}), 2),
        (json!({"edits": [{"old_string": "x", "count": null}]}), json!({"edits": [{"old_string": "x"}]}), 0),
        (json!({"options": {"a": "1"}}), json!({"options": {"a": 1}}), 1),
        (json!({"either": "5"}), json!({"either": "5"}), 0),
        (json!({"either": "[5]"}), json!({"either": [5]}), 1),
        (json!({"either": ["5"]}), json!({"either": ["5"]}), 0),
        (json!({"LIMIT": 5}), json!({"limit": 5}), 1),
    ];
    for (args, expected, warnings) in cases {
        assert_eq!(repaired(args.clone()), (expected, warnings), "{args}");
    }
}

#[test]
fn doubtful_values_are_left_alone() {
    for args in [
        json!({"limit": "ten"}),
        json!({"limit": 10.5}),
        json!({"limit": "1e999"}),
        json!({"limit": "-1"}),
        json!({"limit": [1, 2]}),
        json!({"limit": true}),
        json!({"all": "yes"}),
        json!({"all": 1}),
        json!({"mode": "contents"}),
        json!({"tags": "[broken"}),
        json!({"tags": {"a": 1}}),
        json!({"edits": "not json"}),
        json!({"unknown": 1}),
        json!({"maybe": null}),
        json!({"loose": "5"}),
        json!({"limit": 5, "Limit": 6}),
        json!({"LIMIT": 5, "Limit": 6}),
    ] {
        assert_eq!(repaired(args.clone()), (args, 0));
    }
}

#[test]
fn whole_arguments_as_text_are_decoded() {
    let good = json!({"file_path": "p", "limit": 3});
    let once = good.to_string();
    let twice = json!(once).to_string();
    for text in [
        once.clone(),
        twice.clone(),
        json!(twice).to_string(),
        format!("```json\n{once}\n```"),
        format!("```\n{once}\n```"),
        format!("  {once}\n"),
        format!("\u{feff}{once}"),
    ] {
        let (args, warnings) = repair(&schema(), json!(text));
        assert_eq!(args, good, "{text}");
        assert_eq!(warnings.len(), 1);
    }
    assert_eq!(repair(&json!({"type": "object"}), json!("")).0, json!({}));
    assert_eq!(repair(&json!({"type": "object"}), Value::Null).0, json!({}));
    let (args, _) = repair(&schema(), json!("{\"file_path\": \"p\", \"file_path\": \"q\"}"));
    assert!(args.is_string(), "equal keys are not decoded: {args}");
}

#[test]
fn keys_in_another_style_are_renamed() {
    for key in ["filePath", "FilePath", "file-path", "FILE_PATH", "filepath"] {
        let (args, warnings) = repair(&schema(), json!({ key: "p" }));
        assert_eq!(args, json!({"file_path": "p"}));
        assert!(warnings[0].contains(key) && warnings[0].contains("file_path"), "{warnings:?}");
    }
    let both = json!({"filePath": "a", "file_path": "b"});
    assert_eq!(repair(&schema(), both.clone()).0, both);
    let twice = json!({"filePath": "a", "FilePath": "b"});
    assert_eq!(repair(&schema(), twice.clone()).0, twice);
    let open = json!({"type": "object", "properties": {"a_b": {"type": "string"}, "c": {"type": "integer"}}});
    let args = json!({"aB": "x", "c": "1"});
    assert_eq!(repair(&open, args).0, json!({"aB": "x", "c": 1}), "an open object takes the key as it is");
}

#[test]
fn the_order_of_keys_is_kept() {
    let (args, _) = repair(&schema(), json!({"tags": "a", "filePath": "p", "limit": "3"}));
    assert_eq!(args.as_object().unwrap().keys().collect::<Vec<_>>(), ["tags", "file_path", "limit"]);
}

#[test]
fn warnings_are_short_and_few() {
    let many: Vec<Value> = (0..1000).map(|n| json!(format!("{n}"))).collect();
    let (args, warnings) = repair(&schema(), json!({"file_path": "p", "numbers": many}));
    assert_eq!(args["numbers"][999], 999);
    assert_eq!(warnings.len(), 11);
    assert_eq!(warnings[10], "and 990 more repairs");
    assert!(warnings.iter().all(|w| w.chars().count() < 200));
}

#[test]
fn deep_and_odd_schemas_do_no_harm() {
    let mut schema = json!({"type": "integer"});
    let mut value = json!("1");
    for _ in 0..120 {
        schema = json!({"anyOf": [{"type": "array", "items": schema}, {"type": "array", "items": {"type": "null"}}]});
        value = json!([value]);
    }
    let (out, _) = repair(&schema, value.clone());
    assert_eq!(out, value);
    for schema in
        [json!(true), json!(false), json!(null), json!({"type": 5}), json!({"anyOf": 1, "properties": []})]
    {
        assert_eq!(repair(&schema, json!({"a": ["1"]})).0, json!({"a": ["1"]}));
    }
}
