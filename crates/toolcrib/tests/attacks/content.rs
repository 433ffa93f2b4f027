//! Files, patterns and trees made to exhaust whoever reads them (C01-C12).

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::{World, code_of, patch};

/// Long enough for a debug build on a busy machine, far too short for anything that is not bounded.
const QUICK: Duration = Duration::from_secs(6);

fn quick(w: &World, id: &str, tool: &str, arguments: Value, expected: &[&str]) -> toolcrib::Outcome {
    let start = Instant::now();
    let outcome = w.call(id, tool, arguments.clone());
    let shown: String = arguments.to_string().chars().take(200).collect();
    assert!(start.elapsed() < QUICK, "{id} {tool} {shown}: took {:?}", start.elapsed());
    assert!(expected.contains(&code_of(&outcome)), "{id} {tool} {shown}: {}", outcome.output);
    assert!(outcome.output.len() < 200_000, "{id} {tool} {shown}: {} bytes", outcome.output.len());
    outcome
}

#[test]
fn c01_ten_gigabytes() {
    let w = World::new();
    File::create(w.path("zeros")).unwrap().set_len(10 << 30).unwrap();
    let mut text = File::create(w.path("text")).unwrap();
    text.write_all("line of text\n".repeat(2_000).as_bytes()).unwrap();
    text.set_len(10 << 30).unwrap();
    text.seek(SeekFrom::End(-5)).unwrap();
    text.write_all(b"tail\n").unwrap();
    for file in ["zeros", "text"] {
        let edit = json!({"path": file, "old_string": "line", "new_string": "x", "replace_all": true});
        quick(&w, "C01", "edit_file", edit, &["LIMIT_EXCEEDED"]);
        quick(&w, "C01", "write_file", json!({"path": file, "content": "x"}), &["LIMIT_EXCEEDED"]);
        quick(&w, "C01", "apply_patch", patch(&format!("*** Delete File: {file}")), &["LIMIT_EXCEEDED"]);
        quick(
            &w,
            "C01",
            "apply_patch",
            patch(&format!("*** Update File: {file}\n@@\n-line\n+x")),
            &["LIMIT_EXCEEDED"],
        );
        quick(&w, "C01", "delete_file", json!({"path": file}), &["LIMIT_EXCEEDED"]);
        assert_eq!(fs::metadata(w.path(file)).unwrap().len(), 10 << 30);
    }
    quick(&w, "C01", "read_file", json!({"path": "zeros"}), &["BINARY_FILE"]);
    quick(
        &w,
        "C01",
        "grep",
        json!({"pattern": "line", "path": "zeros"}),
        &["ok", "LIMIT_EXCEEDED", "BINARY_FILE"],
    );
    quick(&w, "C01", "grep", json!({"pattern": "line", "mode": "count"}), &["ok"]);
    quick(&w, "C01", "list_directory", json!({"sizes": true}), &["ok"]);
}

#[test]
fn c02_one_endless_line() {
    let w = World::new();
    let mut file = File::create(w.path("line")).unwrap();
    for _ in 0..80 {
        file.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    file.write_all(b"needle\nlast\n").unwrap();
    drop(file);
    let outcome = quick(&w, "C02", "read_file", json!({"path": "line"}), &["ok"]);
    assert!(outcome.output.len() < 50_000, "{} bytes", outcome.output.len());
    assert!(
        outcome.output.contains("more") || outcome.output.contains("cut"),
        "no notice: {}",
        outcome.output
    );
    let outcome = quick(&w, "C02", "read_file", json!({"path": "line", "offset": -1}), &["ok"]);
    assert!(outcome.output.contains("last"), "{}", outcome.output);
    let outcome = quick(&w, "C02", "grep", json!({"pattern": "needle", "path": "line"}), &["ok"]);
    assert!(outcome.output.len() < 5_000, "{} bytes", outcome.output.len());
    let outcome = quick(&w, "C02", "grep", json!({"pattern": "xneedle"}), &["ok"]);
    assert!(outcome.output.len() < 5_000, "{} bytes", outcome.output.len());
    let edit = json!({"path": "line", "old_string": "needle", "new_string": "n"});
    quick(&w, "C02", "edit_file", edit, &["LIMIT_EXCEEDED"]);
    // Small enough to be edited, and still one line.
    w.write("short", "x".repeat(3 << 20) + "needle");
    let edit = json!({"path": "short", "old_string": "needle", "new_string": "n"});
    let outcome = quick(&w, "C02", "edit_file", edit, &["ok"]);
    assert!(outcome.output.len() < 100_000, "{} bytes", outcome.output.len());
    assert_eq!(w.read("short").len(), (3 << 20) + 1);
    let absent = json!({"path": "short", "old_string": "not in there", "new_string": "n"});
    quick(&w, "C02", "edit_file", absent, &["NO_MATCH"]);
}

#[test]
fn c03_binary_is_told_from_text() {
    let w = World::new();
    w.write("nul", b"text\0text\n");
    w.write("elf", b"\x7fELF\x02\x01\x01\0\0\0\0");
    w.write("latin", b"caf\xe9 line\nline\n");
    for path in ["nul", "elf"] {
        let before = w.read(path);
        w.run(&[
            ("C03", "read_file", json!({"path": path}), "BINARY_FILE"),
            (
                "C03",
                "edit_file",
                json!({"path": path, "old_string": "text", "new_string": "x"}),
                "BINARY_FILE",
            ),
            ("C03", "apply_patch", patch(&format!("*** Update File: {path}\n@@\n-text\n+x")), "BINARY_FILE"),
        ]);
        assert_eq!(w.read(path), before);
    }
    // Bytes that are not UTF-8 survive an edit beside them, and one that spells them as they are shown.
    w.expect("C03", "edit_file", json!({"path": "latin", "old_string": "\nline", "new_string": "\nx"}), "ok");
    assert_eq!(w.read("latin"), b"caf\xe9 line\nx\n");
    let edit = json!({"path": "latin", "old_string": "caf\u{fffd} line", "new_string": "caf\u{fffd} text"});
    w.expect("C03", "edit_file", edit, "ok");
    assert_eq!(w.read("latin"), b"caf\xe9 text\nx\n");
}

#[test]
fn c04_bytes_outside_the_edit_are_kept() {
    let w = World::new();
    for (name, before, after) in [
        ("crlf", &b"a\r\nline\r\nb\r\n"[..], &b"a\r\nedited\r\nb\r\n"[..]),
        ("mixed", b"a\nline\r\nb\rc\n\n", b"a\nedited\r\nb\rc\n\n"),
        ("bare", b"a\nline", b"a\nedited"),
        ("bom", b"\xef\xbb\xbfline\n", b"\xef\xbb\xbfedited\n"),
        ("bytes", b"\xfd\xff\xfe\nline\n\x80", b"\xfd\xff\xfe\nedited\n\x80"),
        ("controls", b"\x1b[2J\nline\n\x07\x08", b"\x1b[2J\nedited\n\x07\x08"),
        ("spaces", b" \t \nline \t\n", b" \t \nedited \t\n"),
    ] {
        w.write(name, before);
        w.expect(
            "C04",
            "edit_file",
            json!({"path": name, "old_string": "line", "new_string": "edited"}),
            "ok",
        );
        assert_eq!(w.read(name), after, "{name}");
        w.expect("C04", "undo_changes", json!({"action": "undo"}), "ok");
        assert_eq!(w.read(name), before, "{name}");
    }
}

#[test]
fn c05_c06_edits_that_do_not_fit() {
    let w = World::new();
    let text = "one\ntwo\nthree\ntwo\n";
    w.write("f", text);
    let one = |old: &str, new: &str| json!({"path": "f", "old_string": old, "new_string": new});
    let with = |old: &str, key: &str, value: Value| {
        let mut edit = one(old, "x");
        edit[key] = value;
        edit
    };
    let many = |edits: Value| json!({"path": "f", "edits": edits});
    let step = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    w.run(&[
        ("C05", "edit_file", one("absent", "x"), "NO_MATCH"),
        ("C05", "edit_file", one("two", "x"), "AMBIGUOUS_MATCH"),
        ("C05", "edit_file", one("", "x"), "VALIDATION_ERROR"),
        ("C05", "edit_file", one("one", "one"), "VALIDATION_ERROR"),
        ("C05", "edit_file", with("two", "expected_count", json!(3)), "AMBIGUOUS_MATCH"),
        ("C05", "edit_file", with("one", "near_line", json!(0)), "VALIDATION_ERROR"),
        ("C06", "edit_file", many(json!([])), "VALIDATION_ERROR"),
        ("C06", "edit_file", many(json!([step("one", "1"), step("absent", "x")])), "NO_MATCH"),
        ("C06", "edit_file", many(json!([step("one\ntwo", "1"), step("two\nthree", "2")])), "NO_MATCH"),
        ("C06", "edit_file", many(json!([step("one", "1"), step("one", "2")])), "NO_MATCH"),
        ("C06", "edit_file", many(json!([step("one", "1"), step("", "2")])), "VALIDATION_ERROR"),
        (
            "C06",
            "edit_file",
            json!({"path": "f", "old_string": "one", "new_string": "1", "edits": []}),
            "VALIDATION_ERROR",
        ),
        ("C06", "apply_patch", patch("*** Update File: f\n@@\n-absent\n+x"), "NO_MATCH"),
        (
            "C06",
            "apply_patch",
            patch("*** Update File: f\n@@\n-one\n+1\n*** Update File: f\n@@\n-one\n+2"),
            "NO_MATCH",
        ),
        (
            "C06",
            "apply_patch",
            patch("*** Delete File: f\n*** Update File: f\n@@\n-one\n+2"),
            "FILE_NOT_FOUND",
        ),
        ("C06", "apply_patch", json!({"patch": ""}), "VALIDATION_ERROR"),
        (
            "C06",
            "apply_patch",
            json!({"patch": "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n"}),
            "VALIDATION_ERROR",
        ),
        (
            "C06",
            "apply_patch",
            json!({"patch": "--- a/f\n+++ b/f\n@@ -9999999999,1 +1 @@\n-absent\n+x\n"}),
            "NO_MATCH",
        ),
    ]);
    assert_eq!(w.read("f"), text.as_bytes());
    // What replaces must not be replaced again.
    let mut edit = one("two", "two two");
    edit["replace_all"] = json!(true);
    w.expect("C06", "edit_file", edit, "ok");
    assert_eq!(w.read("f"), b"one\ntwo two\nthree\ntwo two\n");
}

#[test]
fn c07_to_c09_patterns_that_explode() {
    let w = World::new();
    w.write("as", "a".repeat(30_000) + "\n");
    let long = "a|".repeat(6_000);
    let groups = "(".repeat(2_000) + &")".repeat(2_000);
    let alternatives = "{a,b}".repeat(60);
    let nested = "{".repeat(500) + "a" + &"}".repeat(500);
    let stars = "**/".repeat(1_000) + "x";
    let many: Vec<String> = (0..20_000).map(|n| format!("**/x{n}*/**/*{n}?")).collect();
    let grep = |pattern: &str| json!({"pattern": pattern});
    for (id, pattern) in [
        ("C07", r"(\w{1000}){1000}"),
        ("C07", r"((a{100}){100}){100}"),
        ("C07", r"\pL{5000}\pL{5000}"),
        ("C07", r"(?i)(\w+\s?){500}[\p{L}]{500}"),
        ("C07", &long),
        ("C07", &groups),
        ("C07", "["),
        ("C07", ""),
        ("C08", r"(a)\1"),
        ("C08", r"(?=a)b"),
        ("C08", r"(?<!a)b"),
        ("C08", r"(?P>x)"),
    ] {
        quick(&w, id, "grep", grep(pattern), &["INVALID_PATTERN"]);
    }
    for pattern in [r"(a+)+$", r"(a|a)*b", r"(a*)*c", r"(.*)*(.*)*(.*)*x", r"^(([a-z])+.)+[A-Z]$"] {
        let mut arguments = grep(pattern);
        quick(&w, "C08", "grep", arguments.clone(), &["ok"]);
        arguments["multiline"] = json!(true);
        quick(&w, "C08", "grep", arguments, &["ok"]);
    }
    for pattern in [
        json!(alternatives),
        json!(nested),
        json!(stars),
        json!(many),
        json!("["),
        json!("{a"),
        json!("a**b/***/[!]"),
    ] {
        quick(&w, "C09", "glob", json!({"pattern": pattern}), &["ok", "INVALID_PATTERN", "LIMIT_EXCEEDED"]);
        quick(
            &w,
            "C09",
            "grep",
            json!({"pattern": "a", "include": pattern}),
            &["ok", "INVALID_PATTERN", "LIMIT_EXCEEDED"],
        );
    }
    // Patterns are no paths: they reach nothing outside.
    for pattern in ["../out/*", "/**/secret", "**/../../out/*", "../**", "/etc/*"] {
        let outcome = w.call("C09", "glob", json!({"pattern": pattern, "include_ignored": true}));
        assert!(!outcome.success || outcome.data["paths"] == json!([]), "{pattern}: {}", outcome.output);
    }
}

#[test]
fn c10_wide_and_deep_trees() {
    let w = World::new();
    w.mkdir("wide");
    for n in 0..20_000 {
        File::create(w.path(&format!("wide/file-{n:05}"))).unwrap();
    }
    let deep = "d/".repeat(200) + "f";
    w.write(&deep, "needle\n");
    let outcome = quick(&w, "C10", "list_directory", json!({"path": "wide"}), &["ok"]);
    assert_eq!((&outcome.data["total"], &outcome.data["next_offset"]), (&json!(20_000), &json!(500)));
    assert!(outcome.metadata.tokens <= 10_000);
    let outcome = quick(&w, "C10", "glob", json!({"pattern": "wide/*"}), &["ok"]);
    assert_eq!(outcome.data["total"], 20_000);
    quick(&w, "C10", "grep", json!({"pattern": "needle", "path": "wide"}), &["ok"]);
    let outcome =
        quick(&w, "C10", "list_directory", json!({"path": "d", "depth": 128, "limit": 10}), &["ok"]);
    assert!(outcome.metadata.tokens <= 10_000);
    let outcome = quick(&w, "C10", "grep", json!({"pattern": "needle", "path": "d"}), &["ok"]);
    assert!(outcome.output.contains("depth"), "a notice: {}", outcome.output);
    w.expect("C10", "list_directory", json!({"depth": 100_000}), "VALIDATION_ERROR");
    w.expect("C10", "read_file", json!({"path": deep}), "ok");
    w.expect("C10", "read_file", json!({"path": "wide/file-00000x"}), "FILE_NOT_FOUND");
}

#[test]
fn c11_hostile_ignore_files() {
    let w = World::new();
    let patterns: String = (0..100_000).map(|n| format!("x{n}*y/**/z?{n}[ab]\n")).collect();
    w.write(".gitignore", patterns);
    w.write("sub/.ignore", "*\n");
    w.write("sub/hidden", "needle\n");
    w.write("long/.gitignore", "a".repeat(5 << 20));
    w.write("bad/.gitignore", b"\xff\xfe\n[\n{a\n\0\n!\n/\n");
    w.write("bad/f", "needle\n");
    let outcome = quick(&w, "C11", "grep", json!({"pattern": "needle"}), &["ok"]);
    assert_eq!(outcome.data["total"], 1, "{}", outcome.output);
    assert!(
        outcome.metadata.warnings.iter().any(|warning| warning.contains(".gitignore")),
        "{}",
        outcome.output
    );
    let hidden = quick(&w, "C11", "grep", json!({"pattern": "needle", "path": "sub"}), &["ok"]);
    assert!(hidden.output.contains("ignored"), "{}", hidden.output);
    let listed = quick(&w, "C11", "list_directory", json!({"path": "sub"}), &["ok"]);
    assert!(listed.data["ignored"].as_u64() > Some(0), "{}", listed.output);
    let all = json!({"pattern": "needle", "include_ignored": true});
    assert_eq!(quick(&w, "C11", "grep", all, &["ok"]).data["total"], 2);
    // Links do not make an outside file a rule.
    w.link(w.top().join("out/secret"), "bad/.ignore");
    quick(&w, "C11", "list_directory", json!({"path": "bad"}), &["ok"]);
}

#[test]
fn c12_huge_patches_and_edits() {
    let w = World::new();
    let lines: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    w.write("f", &lines);
    let adds: String = (0..300).map(|n| format!("*** Add File: new/{n}\n+x\n")).collect();
    let sections = adds + "*** Update File: f\n@@\n-absent\n+x";
    let start = Instant::now();
    w.expect("C12", "apply_patch", patch(&sections), "NO_MATCH");
    assert!(!w.path("new").exists(), "all or nothing");
    let wrong: Vec<Value> =
        (0..200).map(|n| json!({"old_string": format!("lone {n}?"), "new_string": "x"})).collect();
    w.expect("C12", "edit_file", json!({"path": "f", "edits": wrong}), "NO_MATCH");
    let block = lines.replace("line", "lime");
    w.expect("C12", "edit_file", json!({"path": "f", "old_string": block, "new_string": "x"}), "NO_MATCH");
    assert!(start.elapsed() < QUICK * 3, "took {:?}", start.elapsed());
    assert_eq!(w.read("f"), lines.as_bytes());
}
