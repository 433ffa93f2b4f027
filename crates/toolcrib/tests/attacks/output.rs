//! Names and content that would act on a terminal or deceive a reader (P35, O01, O02).

use serde_json::{Value, json};
use toolcrib::Outcome;

use crate::world::{World, patch};

/// Characters that must not reach a person or a model as they are.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn assert_harmless(outcome: &Outcome, what: &str) {
    let mut texts = vec![("output", outcome.output.as_str()), ("title", outcome.title.as_str())];
    texts.extend(outcome.preview.iter().map(|line| ("preview", line.as_str())));
    texts.extend(outcome.metadata.warnings.iter().map(|warning| ("warning", warning.as_str())));
    if let Some(error) = &outcome.error {
        texts.push(("message", &error.message));
        texts.push(("suggestion", &error.suggestion));
    }
    for (place, text) in texts {
        // `\r\n` ends a line.
        assert!(!text.replace("\r\n", "\n").contains(acts), "{what}: {place} has {text:?}");
        assert!(
            place != "title" && place != "preview" || !text.contains('\n'),
            "{what}: {place} has {text:?}"
        );
    }
}

/// Names, each of which forges the line `FORGED` if it is shown as it is.
const NAMES: [&str; 6] = [
    "new\nFORGED",
    "esc\u{1b}[2J\u{1b}]0;title\u{7}",
    "rtl\u{202e}txt.exe",
    "cr\rFORGED",
    "zero\u{200b}width\u{feff}",
    "c1\u{9b}31m\u{85}FORGED",
];

fn assert_no_forgery(outcome: &Outcome, what: &str) {
    assert_harmless(outcome, what);
    let error = outcome.error.as_ref().map_or("", |error| error.message.as_str());
    for text in [&outcome.output, error] {
        assert!(text.lines().all(|line| !line.starts_with("FORGED")), "{what}: {text:?}");
    }
}

#[test]
fn p35_names_in_every_tool() {
    for name in NAMES {
        let w = World::new();
        let folder = format!("{name}-dir");
        w.write(name, "line\n");
        w.write(&format!("{folder}/{name}"), "line\n");
        w.write(&format!("{folder}/.ignore"), "x".repeat(2 << 20));
        w.write(&format!("{folder}/.gitignore"), "a?b\n".repeat(2_000));
        let calls: Vec<(&str, Value)> = vec![
            ("list_directory", json!({})),
            ("list_directory", json!({"depth": 4, "sizes": true, "limit": 1})),
            ("list_directory", json!({"path": folder})),
            ("glob", json!({"pattern": "**"})),
            ("glob", json!({"pattern": "**", "sort": "modified", "limit": 1})),
            ("glob", json!({"pattern": name, "path": folder})),
            ("glob", json!({"pattern": format!("absent{name}")})),
            ("glob", json!({"pattern": format!("[{name}")})),
            ("grep", json!({"pattern": "line", "include": format!("{{{name}")})),
            ("grep", json!({"pattern": "line", "type": name})),
            ("grep", json!({"pattern": "line", name: 1, "limit": name})),
            ("read_file", json!({"path": "source", name: name})),
            ("grep", json!({"pattern": "line"})),
            ("grep", json!({"pattern": "line", "mode": "files"})),
            ("grep", json!({"pattern": "line", "mode": "count", "limit": 1})),
            ("grep", json!({"pattern": name, "literal": true, "multiline": true})),
            ("grep", json!({"pattern": "line", "path": name})),
            ("grep", json!({"pattern": "[", "path": folder})),
            ("read_file", json!({"path": name})),
            ("read_file", json!({"paths": [name, format!("{folder}/{name}"), format!("no{name}")]})),
            ("read_file", json!({"path": folder})),
            ("read_file", json!({"path": format!("{name}x")})),
            ("edit_file", json!({"path": name, "old_string": "absent", "new_string": "x"})),
            ("edit_file", json!({"path": name, "old_string": "line", "new_string": "edited"})),
            ("write_file", json!({"path": name, "content": "line\n"})),
            ("write_file", json!({"path": format!("made-{name}"), "content": "{"})),
            ("write_file", json!({"path": format!("made-{name}.json"), "content": "{"})),
            ("write_file", json!({"path": format!("{folder}/.git/config/{name}"), "content": "x"})),
            ("write_file", json!({"path": format!("../{name}"), "content": "x"})),
            ("undo_changes", json!({"action": "list"})),
            ("undo_changes", json!({"action": "preview"})),
            ("delete_file", json!({"path": name})),
            ("delete_file", json!({"path": folder})),
            ("undo_changes", json!({"action": "undo"})),
            ("delete_file", json!({"path": folder, "recursive": true})),
            ("undo_changes", json!({"action": "undo", "path": folder})),
            ("undo_changes", json!({"action": "undo", "change_id": name})),
        ];
        for (tool, arguments) in calls {
            let what = format!("P35 {tool} {arguments}");
            assert_no_forgery(&w.call("P35", tool, arguments), &what);
        }
        if !name.contains(['\n', '\r']) {
            for lines in [
                format!("*** Update File: {name}\n@@\n-line\n+edited"),
                format!("*** Update File: {name}\n*** Move to: moved-{name}\n@@\n-edited\n+line"),
                format!("*** Delete File: moved-{name}"),
                format!("*** Delete File: absent-{name}"),
            ] {
                assert_no_forgery(&w.call("P35", "apply_patch", patch(&lines)), &lines);
            }
        }
        let unknown = w.call("P35", name, json!({}));
        assert_no_forgery(&unknown, "an unknown tool");
        assert!(!unknown.tool.contains(acts) && !unknown.tool.contains('\n'), "{:?}", unknown.tool);
    }
}

#[test]
fn p35_names_of_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let w = World::new();
    let name = std::ffi::OsStr::from_bytes(b"bytes\xff\xfe\x1b[2J\n");
    std::fs::write(w.path("").join(name), "line\n").unwrap();
    for (tool, arguments) in [
        ("list_directory", json!({})),
        ("glob", json!({"pattern": "bytes*"})),
        ("grep", json!({"pattern": "line"})),
    ] {
        let outcome = w.expect("P35", tool, arguments, "ok");
        assert!(outcome.output.contains("bytes"), "{}", outcome.output);
        assert_harmless(&outcome, tool);
    }
}

#[test]
fn o01_o02_content_is_shown_as_text() {
    let w = World::new();
    for (id, evil) in [
        ("O01", "\u{1b}[2J\u{1b}[H"),
        ("O01", "\u{1b}]0;title\u{7}"),
        ("O01", "\u{1b}]52;c;ZXZpbA==\u{7}"),
        ("O01", "\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\"),
        ("O02", "\u{1b}Pq\u{1b}\\\u{1b}_apc\u{1b}\\\u{1b}^pm\u{1b}\\"),
        ("O02", "\u{9b}31m\u{90}x\u{9c}"),
        ("O02", "safe\rEVIL"),
        ("O02", "a\u{8}\u{8}b\u{7f}"),
        ("O02", "\u{202e}reversed\u{2066}"),
        ("O02", "hidden\u{200b}\u{e0041}\u{e0042}"),
    ] {
        let bell = "\u{7}".repeat(1_000);
        w.write("f", format!("before\nline {evil}{bell}\nafter\n"));
        w.session.next_turn();
        for (tool, arguments) in [
            ("read_file", json!({"path": "f"})),
            ("grep", json!({"pattern": "line", "context": 1})),
            ("edit_file", json!({"path": "f", "old_string": "absent", "new_string": evil})),
            ("edit_file", json!({"path": "f", "old_string": "line", "new_string": format!("{evil} line")})),
            ("edit_file", json!({"path": "f", "old_string": "after", "new_string": evil})),
            ("write_file", json!({"path": "f", "content": format!("{evil}\n")})),
            ("undo_changes", json!({"action": "preview"})),
            ("undo_changes", json!({"action": "undo"})),
            ("apply_patch", patch(&format!("*** Update File: f\n@@\n-absent {evil}\n+x"))),
            ("grep", json!({"pattern": format!("[{evil}")})),
            ("read_file", json!({"path": "f", evil: 1})),
        ] {
            let outcome = w.call(id, tool, arguments.clone());
            assert_harmless(&outcome, &format!("{id} {tool} {arguments}"));
        }
        let kept = String::from_utf8(w.read("f")).unwrap();
        assert!(kept.contains(evil), "{id}: shown as text, kept as it is: {kept:?}");
    }
}
