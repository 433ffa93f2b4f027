//! Violations in words.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_core::executor::validate::{MAX_VIOLATIONS, Validator};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "offset": {"type": "integer", "minimum": 1},
            "limit": {"type": "integer", "maximum": 100},
            "mode": {"type": "string", "enum": ["content", "count"]},
            "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
            "edits": {"type": "array", "items": {
                "type": "object",
                "properties": {"old_string": {"type": "string"}, "new_string": {"type": "string"}},
                "required": ["old_string", "new_string"],
                "additionalProperties": false
            }},
            "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "target": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "file"}, "path": {"type": "string"}},
                 "required": ["kind", "path"]},
                {"type": "object", "properties": {"kind": {"const": "line"}, "number": {"type": "integer"}},
                 "required": ["kind", "number"]}
            ]}
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

fn said(args: &Value) -> Vec<String> {
    Validator::new(&schema()).unwrap().check(args).iter().map(ToString::to_string).collect()
}

#[test]
fn each_kind_has_its_words() {
    let cases = [
        (json!({}), "path: expected a string (required), got nothing"),
        (json!({"path": ""}), "path: expected text that is not empty, got \"\""),
        (json!({"path": 5}), "path: expected a string, got 5"),
        (json!({"path": "p", "limit": "abc"}), "limit: expected an integer, got \"abc\""),
        (json!({"path": "p", "limit": 101}), "limit: expected at most 100, got 101"),
        (json!({"path": "p", "offset": 0}), "offset: expected at least 1, got 0"),
        (json!({"path": "p", "mode": "all"}), "mode: expected one of \"content\", \"count\", got \"all\""),
        (json!({"path": "p", "name": "ABC"}), "name: expected text that matches /^[a-z]+$/, got \"ABC\""),
        (json!({"path": "p", "name": "abcdef"}), "name: expected at most 5 characters, got \"abcdef\""),
        (json!({"path": "p", "tags": []}), "tags: expected at least 1 item, got []"),
        (json!({"path": "p", "tags": ["a", 1]}), "tags[1]: expected a string, got 1"),
        (json!({"path": "p", "either": 3}), "either: expected a string or an array, got 3"),
        (json!({"path": "p", "either": ["a", 3]}), "either[1]: expected a string, got 3"),
        (
            json!({"path": "p", "target": {"kind": "line", "number": "x"}}),
            "target.number: expected an integer, got \"x\"",
        ),
        (
            json!({"path": "p", "edits": [{"old_string": "a", "new_string": "b", "new_str": "c"}]}),
            "edits[0].new_str: expected a known parameter: old_string, new_string; \
             did you mean \"new_string\", which is there already?, got \"new_str\"",
        ),
        (json!([]), "arguments: expected an object, got []"),
        (json!("x"), "arguments: expected an object, got \"x\""),
    ];
    for (args, expected) in cases {
        assert_eq!(said(&args), [expected], "{args}");
    }
}

#[test]
fn all_violations_come_at_once_in_order() {
    let args = json!({"pth": "x", "limit": "a", "edits": [{"old_string": 1}, {"new_string": "x", "old_string": "y"}, 7]});
    let lines = said(&args);
    assert_eq!(
        lines,
        [
            "edits[0].new_string: expected a string (required), got nothing",
            "edits[0].old_string: expected a string, got 1",
            "edits[2]: expected an object, got 7",
            "limit: expected an integer, got \"a\"",
            "path: expected a string (required), got nothing",
            "pth: expected a known parameter: path, offset, limit, mode, name, tags, edits, either, target; \
             did you mean \"path\"?, got \"pth\"",
        ]
    );
}

#[test]
fn indices_sort_as_numbers_and_the_rest_is_counted() {
    let tags: Vec<Value> = (0..500).map(Value::from).collect();
    let violations = Validator::new(&json!({"properties": {"t": {"items": {"type": "string"}}}}))
        .unwrap()
        .check(&json!({ "t": tags }));
    assert_eq!(violations.len(), MAX_VIOLATIONS + 1);
    assert_eq!(violations[2].path, "t[2]");
    assert_eq!(violations[10].path, "t[10]");
    assert_eq!(violations[MAX_VIOLATIONS].got, "480 more violations");
}

#[test]
fn large_and_hostile_values_are_not_echoed() {
    let validator = Validator::new(&schema()).unwrap();
    let key = "k\u{1b}[2J\u{202e}".repeat(5000);
    let args = json!({"path": "p", "limit": "x".repeat(50_000_000), "mode": "\u{1b}]0;t\u{7}", key: 1,
        "tags": [vec!["y".repeat(1000); 1000]], "name": {"a": {"b": "z".repeat(100_000)}}});
    let violations = validator.check(&args);
    assert!(violations.len() >= 5);
    for violation in violations {
        let line = violation.to_string();
        assert!(line.chars().count() < 400, "{} characters", line.chars().count());
        assert!(!line.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{line:?}");
    }
}

#[test]
fn odd_keys_stand_in_brackets() {
    let validator = Validator::new(&json!({"additionalProperties": {"type": "integer"}})).unwrap();
    assert_eq!(validator.check(&json!({"a b": "x"}))[0].path, "[\"a b\"]");
    assert_eq!(validator.check(&json!({"a/b~c": "x"}))[0].path, "[\"a/b~c\"]");
    assert_eq!(validator.check(&json!({"0": "x"}))[0].path, "0");
}

#[test]
fn long_paths_keep_their_end() {
    let mut schema = json!({"type": "integer"});
    let mut args = json!("x");
    for _ in 0..40 {
        schema = json!({"properties": {"some_long_name": schema}});
        args = json!({"some_long_name": args});
    }
    let path = &Validator::new(&schema).unwrap().check(&args)[0].path;
    assert!(path.starts_with('…') && path.ends_with(".some_long_name"), "{path}");
    assert!(path.chars().count() <= 202);
}

#[test]
fn patterns_run_in_linear_time_and_without_look_around() {
    let validator = Validator::new(&json!({"type": "string", "pattern": "^(a+)+$"})).unwrap();
    let start = Instant::now();
    assert!(!validator.is_valid(&json!(format!("{}!", "a".repeat(50_000)))));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(Validator::new(&json!({"pattern": "(?=a)b"})).is_err());
    assert!(Validator::new(&json!({"pattern": "(a{1000}){1000}"})).is_err());
}

#[test]
fn bad_schemas_are_refused_in_words() {
    let error = Validator::new(&json!({"type": "strnig"})).unwrap_err();
    assert!(error.contains("/type"), "{error}");
    let error = Validator::new(&json!({"$ref": "https://example.com/x.json"})).unwrap_err();
    assert!(error.contains("not usable"), "{error}");
    assert!(Validator::new(&json!({"$ref": "file:///etc/passwd"})).is_err());
    assert!(Validator::new(&json!({"$schema": "https://example.com/own-dialect", "type": "object"})).is_ok());
    assert!(
        Validator::new(&json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}))
            .is_ok()
    );
}
