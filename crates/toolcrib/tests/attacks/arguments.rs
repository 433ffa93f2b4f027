//! Arguments that are not what they seem (C16-C19, C21).

use serde_json::{Value, json};
use toolcrib::core::executor::Arguments;

use crate::world::{World, code_of};

fn text(w: &World, id: &str, tool: &str, text: &[u8]) -> &'static str {
    let outcome = w.call_with(id, tool, Arguments::Text(text.to_vec()));
    assert!(outcome.output.len() < 10_000, "{id}: {} bytes", outcome.output.len());
    code_of(&outcome)
}

#[test]
fn c16_to_c19_json_that_means_two_things() {
    let w = World::new();
    let deep = format!("{{\"path\": {}1{}}}", "[".repeat(200), "]".repeat(200));
    let deepest = "[".repeat(1_000_000);
    let big = format!("{{\"path\": \"big\", \"content\": \"{}\"}}", "x".repeat(50 << 20));
    for (id, tool, input) in [
        ("C16", "write_file", &br#"{"path": "a", "path": "../out/secret", "content": "x"}"#[..]),
        ("C16", "write_file", br#"{"path": "a", "content": "x", "\u0070ath": ".git/config"}"#),
        (
            "C16",
            "edit_file",
            br#"{"path": "source", "edits": [{"old_string": "line", "new_string": "a", "new_string": "b"}]}"#,
        ),
        ("C17", "read_file", br#"{"path": "source", "offset": 1e999}"#),
        ("C17", "read_file", br#"{"path": "source", "offset": 9223372036854775808}"#),
        ("C17", "read_file", br#"{"path": "source", "offset": 123456789012345678901234567890}"#),
        ("C17", "read_file", br#"{"path": "source", "limit": -1}"#),
        ("C17", "read_file", br#"{"path": "source", "limit": 0}"#),
        ("C17", "read_file", br#"{"path": "source", "limit": 1.5}"#),
        ("C17", "read_file", br#"{"path": "source", "offset": NaN}"#),
        ("C17", "read_file", br#"{"path": "source", "offset": Infinity}"#),
        ("C17", "read_file", br#"{"path": "source", "offset": -0}"#),
        ("C17", "grep", br#"{"pattern": "x", "limit": 99999999999}"#),
        ("C17", "grep", br#"{"pattern": "x", "context": 101}"#),
        ("C18", "read_file", deep.as_bytes()),
        ("C18", "read_file", deepest.as_bytes()),
        ("C18", "write_file", big.as_bytes()),
        ("C19", "write_file", br#"{"path": "\ud800", "content": "x"}"#),
        ("C19", "write_file", br#"{"path": "a", "content": "\udc00\ud800"}"#),
        ("C19", "write_file", b"{\"path\": \"a\", \"content\": \"\xff\"}"),
        ("C19", "write_file", b"{\"path\": \"a\", \"content\": \"\xed\xa0\x80\"}"),
        ("C19", "write_file", br#"{"path": "a", "content": "x"} {"path": "b", "content": "x"}"#),
        ("C19", "write_file", br#"{"path": "a", "content": "x""#),
        ("C19", "write_file", b"{'path': 'a', 'content': 'x'}"),
    ] {
        assert_eq!(
            text(&w, id, tool, input),
            "VALIDATION_ERROR",
            "{}",
            String::from_utf8_lossy(input.get(..80.min(input.len())).unwrap())
        );
    }
    assert_eq!(w.read("source"), b"line\n");
    w.assert_no_changes();
    // What is merely odd works.
    assert_eq!(
        text(
            &w,
            "C19",
            "write_file",
            "\u{feff}{\"path\": \"a\", \"content\": \"\\ud83d\\ude00\"}".as_bytes()
        ),
        "ok"
    );
    assert_eq!(w.read("a"), "😀".as_bytes());
    assert_eq!(text(&w, "C17", "read_file", br#"{"path": "source", "offset": 9223372036854775807}"#), "ok");
    assert_eq!(text(&w, "C17", "read_file", br#"{"path": "source", "offset": -9223372036854775808}"#), "ok");
    assert_eq!(text(&w, "C17", "grep", br#"{"pattern": "line", "offset": 18446744073709551615}"#), "ok");
    assert_eq!(text(&w, "C17", "glob", br#"{"pattern": "*", "offset": 18446744073709551615}"#), "ok");
    assert_eq!(text(&w, "C17", "list_directory", br#"{"offset": 18446744073709551615}"#), "ok");
    assert_eq!(
        text(&w, "C17", "undo_changes", br#"{"action": "list", "offset": 18446744073709551615}"#),
        "ok"
    );
}

#[test]
fn c21_wrong_shapes() {
    let w = World::new();
    let cases: Vec<(&str, &str, Value, &str)> = vec![
        ("C21", "read_file", json!({}), "VALIDATION_ERROR"),
        ("C21", "read_file", json!([]), "VALIDATION_ERROR"),
        ("C21", "read_file", json!("source"), "VALIDATION_ERROR"),
        ("C21", "read_file", json!({"path": {"$ref": "../out/secret"}}), "VALIDATION_ERROR"),
        ("C21", "read_file", json!({"path": "source", "__proto__": {"x": 1}}), "VALIDATION_ERROR"),
        ("C21", "write_file", json!({"path": "a", "content": "x", "mode": "0777"}), "VALIDATION_ERROR"),
        ("C21", "write_file", json!({"path": "a", "content": null}), "VALIDATION_ERROR"),
        ("C21", "write_file", json!({"path": ["a", "b"], "content": "x"}), "VALIDATION_ERROR"),
        ("C21", "read_file", json!({"paths": []}), "VALIDATION_ERROR"),
        ("C21", "read_file", json!({"paths": vec!["source"; 51]}), "VALIDATION_ERROR"),
        ("C21", "grep", json!({"pattern": "x", "type": "no-such-type"}), "INVALID_PATTERN"),
        ("C21", "undo_changes", json!({"action": "destroy"}), "VALIDATION_ERROR"),
        ("C21", "undo_changes", json!({"action": "undo", "change_id": "x".repeat(101)}), "VALIDATION_ERROR"),
        ("C21", "undo_changes", json!({"action": "undo", "change_id": "../../out/secret"}), "CONFLICT"),
        ("C21", "undo_changes", json!({"action": "undo", "change_id": "c1/../../x"}), "CONFLICT"),
        ("C21", "undo_changes", json!({"action": "undo", "since": "99999999999999d"}), "VALIDATION_ERROR"),
        ("C21", "undo_changes", json!({"action": "list", "since": "\u{1F600}"}), "VALIDATION_ERROR"),
        ("C21", "read_file\0", json!({"path": "source"}), "TOOL_NOT_FOUND"),
        ("C21", "READ_FILE", json!({"path": "source"}), "TOOL_NOT_FOUND"),
        ("C21", "../read_file", json!({"path": "source"}), "TOOL_NOT_FOUND"),
        ("C21", "", json!({}), "TOOL_NOT_FOUND"),
    ];
    w.run(&cases);
    let long = "x".repeat(1 << 20);
    let outcome = w.expect("C21", &long, json!({}), "TOOL_NOT_FOUND");
    assert!(serde_json::to_string(&outcome).unwrap().len() < 10_000);
    // A string that holds the arguments is taken as them, and goes through the same checks.
    w.expect("C21", "read_file", json!("{\"path\": \"../out/secret\"}"), "OUTSIDE_WORKSPACE");
    w.expect("C21", "write_file", json!("{\"path\": \".git/config\", \"content\": \"x\"}"), "PROTECTED_PATH");
    w.assert_no_changes();
}
