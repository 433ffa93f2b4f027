//! The command as people and programs use it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use serde_json::{Value, json};
use support::Bench;

#[test]
fn reads_edits_and_undoes_across_invocations() {
    let bench = Bench::new();
    bench.write("a.txt", "one\ntwo\n");
    let read = bench.call("read_file", json!({"path": "a.txt"}));
    assert_eq!((read.code, read.json["output"].as_str()), (0, Some("1\tone\n2\ttwo")));
    assert_eq!(read.json["data"]["files"][0]["content"], "one\ntwo\n");
    let edit = bench.call("edit_file", json!({"path": "a.txt", "old_string": "two", "new_string": "2"}));
    assert_eq!(edit.json["data"]["edits"], json!([{"strategy": "exact", "count": 1, "lines": [2, 2]}]));
    assert_eq!(bench.read("a.txt"), "one\n2\n");
    let id = edit.json["data"]["change_id"].as_str().unwrap();
    let list = bench.run(&["undo", "--list", "--json"]).json;
    assert_eq!(list["changes"][0]["change_id"], id);
    assert_eq!(list["changes"][0]["paths"], json!(["a.txt"]));
    assert_eq!(bench.run(&["undo", "--preview"]).code, 0);
    assert_eq!(bench.read("a.txt"), "one\n2\n", "a preview changes nothing");
    assert_eq!(bench.run(&["undo", id]).code, 0);
    assert_eq!(bench.read("a.txt"), "one\ntwo\n");
    assert_eq!(bench.run(&["undo", id]).code, 1, "it is undone already");
    assert_eq!(bench.run(&["undo", "--redo"]).code, 0);
    assert_eq!(bench.read("a.txt"), "one\n2\n");
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let bench = Bench::new();
    bench.write("a.txt", "x\n");
    for arguments in [
        vec!["--json"],
        vec!["tools", "--json"],
        vec!["describe", "grep", "--json"],
        vec!["--json", "describe", "nothing"],
        vec!["declarations", "--format", "mcp", "--json"],
        vec!["doctor", "--json"],
        vec!["undo", "--list", "--json"],
        vec!["permissions", "--json"],
        vec!["permissions", "check", "--path", "a.txt", "--json"],
        vec!["permissions", "add", "--json"],
        vec!["call", "read_file", "{\"path\": \"a.txt\"}", "--json"],
        vec!["call", "read_file", "{broken", "--json"],
        vec!["call", "no_such_tool", "--json"],
    ] {
        let done = bench.run(&arguments);
        assert!(done.json.is_object() || done.json.is_array(), "{arguments:?}: {}", done.stdout);
        assert_eq!(done.stdout.trim_end().lines().count(), 1, "{arguments:?}");
    }
}

#[test]
fn exit_codes() {
    let bench = Bench::new();
    for (arguments, code) in [
        (vec!["tools"], 0),
        (vec!["call", "todo_read"], 0),
        (vec!["call", "read_file", "{\"path\": \"missing\"}"], 1),
        (vec!["call", "unknown"], 1),
        (vec!["call"], 2),
        (vec!["frobnicate"], 2),
        (vec!["--root", "/no/such/directory", "tools"], 0),
        (vec!["--root", "/no/such/directory", "call", "todo_read"], 2),
        (vec!["call", "todo_read", "--profile", "nope"], 2),
        (vec!["call", "todo_read", "--timeout", "-1"], 2),
        (vec!["call", "todo_read", "{}", "--arg", "a=b"], 2),
        (vec!["call", "todo_read", "@/no/such/file"], 2),
        (vec!["call", "todo_read", "--session", "../evil"], 2),
        (vec!["describe", "unknown"], 2),
        (vec!["declarations", "--format", "unknown"], 2),
    ] {
        assert_eq!(bench.run(&arguments).code, code, "{arguments:?}");
    }
}

#[test]
fn global_options_stand_before_or_after() {
    let bench = Bench::new();
    bench.write("a.txt", "x\n");
    let root = bench.root.path().to_str().unwrap();
    for arguments in [
        vec!["--root", root, "--json", "call", "glob", "{\"pattern\": \"*\"}"],
        vec!["call", "glob", "{\"pattern\": \"*\"}", "--json", "--root", root],
        vec!["call", "--json", "glob", "--root", root, "--arg", "pattern=*"],
    ] {
        let done = bench.run_plain(&arguments, b"");
        assert_eq!(done.json["data"]["paths"], json!(["a.txt"]), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn arguments_from_stdin_files_and_keys() {
    let bench = Bench::new();
    bench.write("a.txt", "x\ny\nz\n");
    bench.write("args.json", "{\"path\": \"a.txt\", \"limit\": 1}");
    let file = format!("@{}", bench.root.path().join("args.json").display());
    for (arguments, stdin) in [
        (vec!["call", "read_file", "-"], "{\"path\": \"a.txt\", \"limit\": 1}"),
        (vec!["call", "read_file", &file], ""),
        (vec!["call", "read_file", "--arg", "path=a.txt", "--arg", "limit=1"], ""),
        (vec!["call", "read_file", "--arg", "path=a.txt", "--arg", "limit:=1"], ""),
        (vec!["call", "read_file", "\"{\\\"path\\\": \\\"a.txt\\\", \\\"limit\\\": \\\"1\\\"}\""], ""),
    ] {
        let mut all = arguments.clone();
        all.push("--json");
        let done = bench.run_with(&all, stdin.as_bytes());
        assert_eq!(done.json["data"]["files"][0]["end_line"], 1, "{arguments:?}: {}", done.stdout);
    }
}

#[test]
fn bad_input_is_answered() {
    let bench = Bench::new();
    bench.write("a.txt", "x\n");
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let deeper = "[".repeat(3_000_000);
    let big = format!("{{\"path\": \"b.txt\", \"content\": \"{}\"}}", "x".repeat(50 << 20));
    for (input, what) in [
        (&b"\xff\xfe{}"[..], "invalid UTF-8"),
        (deep.as_bytes(), "depth 200"),
        (deeper.as_bytes(), "depth 3,000,000"),
        (big.as_bytes(), "50 MB"),
        (b"{\"path\": \"a\", \"path\": \"b\"}", "duplicate keys"),
        (b"{\"path\": \"\\ud800\"}", "a lone surrogate"),
        (b"{\"path\": \"a\", \"limit\": 1e999}", "a number out of range"),
        (b"{\"path\": \"a\", \"limit\": 99999999999999999999}", "an integer out of range"),
        (b"[1, 2]", "a list"),
        (b"{\"path\": \"a.txt\"", "cut off"),
        (b"{\"path\": \"a\\u0000b\"}", "NUL in a path"),
    ] {
        let done = bench.run_with(&["call", "read_file", "-", "--json"], input);
        assert_eq!(done.code, 1, "{what}: {}", done.stderr);
        assert_eq!(done.json["success"], false, "{what}");
        assert!(done.stdout.len() < 5_000, "{what}: the answer must not echo the input");
        assert!(done.json["error"]["suggestion"].as_str().is_some_and(|text| !text.is_empty()), "{what}");
    }
    assert_eq!(bench.names(), ["a.txt"]);
}

#[test]
fn unknown_tools_and_all_violations_at_once() {
    let bench = Bench::new();
    let unknown = bench.call("raed_file", json!({}));
    assert_eq!(unknown.json["error"]["code"], "TOOL_NOT_FOUND");
    assert!(unknown.json["error"]["suggestion"].as_str().unwrap().contains("read_file"));
    let wrong = bench.call("grep", json!({"patern": "x", "limit": "many", "mode": "all", "context": -1}));
    let violations = wrong.json["error"]["details"]["violations"].as_array().unwrap();
    let paths: Vec<&str> = violations.iter().map(|violation| violation["path"].as_str().unwrap()).collect();
    assert_eq!(paths.len(), 5, "{paths:?}");
    for path in ["pattern", "patern", "limit", "mode", "context"] {
        assert!(paths.contains(&path), "{path} is not among {paths:?}");
    }
    assert!(wrong.json["output"].as_str().unwrap().contains("for example"));
}

#[test]
fn a_session_keeps_reads_todos_and_turns() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let call = |tool: &str, arguments: Value| {
        let arguments = arguments.to_string();
        bench.run(&["call", tool, &arguments, "--json", "--session", "s1"])
    };
    let overwrite = json!({"path": "a.txt", "content": "two\n"});
    assert_eq!(call("write_file", overwrite.clone()).json["error"]["code"], "NOT_READ");
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "1"});
    assert_eq!(call("edit_file", edit.clone()).json["error"]["code"], "NOT_READ");
    assert_eq!(call("read_file", json!({"path": "a.txt"})).code, 0);
    bench.write("a.txt", "one and more\n");
    let stale = call("edit_file", edit.clone());
    assert_eq!(stale.json["error"]["code"], "STALE_FILE");
    assert!(stale.json["output"].as_str().unwrap().contains("+one and more"), "{}", stale.stdout);
    assert_eq!(call("read_file", json!({"path": "a.txt"})).code, 0);
    assert_eq!(call("edit_file", edit).code, 0);
    assert_eq!(call("write_file", overwrite).code, 0, "what one wrote oneself counts as read");
    assert_eq!(
        call("write_file", json!({"path": "new.txt", "content": ""})).code,
        0,
        "a new file needs no read"
    );
    call("todo_write", json!({"todos": [{"content": "test", "status": "in_progress"}]}));
    assert_eq!(call("todo_read", json!({})).json["data"]["counts"]["in_progress"], 1);
    assert_eq!(bench.call("todo_read", json!({})).json["data"]["todos"], json!([]), "another session");
    let turns = call("undo_changes", json!({"action": "list", "turn": 6}));
    assert_eq!(turns.json["data"]["changes"].as_array().unwrap().len(), 1, "{}", turns.stdout);
}

#[test]
fn a_corrupt_session_is_set_aside_and_a_newer_one_refused() {
    let bench = Bench::new();
    let run = || bench.run(&["call", "todo_read", "--session", "s", "--json"]);
    assert_eq!(run().code, 0);
    let file = bench.find_state("s.json");
    std::fs::write(&file, "{broken").unwrap();
    assert_eq!(run().code, 0);
    assert!(file.with_file_name("s.json.corrupt").exists());
    std::fs::write(&file, "{\"version\": 99, \"turn\": 1}").unwrap();
    assert_eq!(run().code, 2);
    assert!(std::fs::read_to_string(&file).unwrap().contains("99"), "what is newer is left alone");
}

#[test]
fn policies_without_a_person() {
    let bench = Bench::new();
    let write = json!({"path": "a.txt", "content": "x"}).to_string();
    let envrc = json!({"path": ".envrc", "content": "x"}).to_string();
    for (policy, arguments, code) in [
        ("plan", &write, Some("PERMISSION_DENIED")),
        ("ask", &write, Some("PERMISSION_DENIED")),
        ("auto", &envrc, Some("PERMISSION_DENIED")),
        ("auto", &write, None),
        ("full", &envrc, None),
    ] {
        let done = bench.run(&["call", "write_file", arguments, "--policy", policy, "--json"]);
        assert_eq!(done.json["error"]["code"].as_str(), code, "{policy} {arguments}: {}", done.stdout);
    }
    let agent = bench.run(&["call", "write_file", &write, "--mode", "agent", "--json"]);
    assert_eq!(agent.json["error"]["code"], "PERMISSION_DENIED", "an agent's own call is no approval");
    let read = bench.run(&["call", "read_file", "{\"path\": \"a.txt\"}", "--policy", "plan"]);
    assert_eq!(read.code, 0, "reading needs no question");
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"}).to_string();
    let done = bench.run(&["call", "edit_file", &edit, "--dry-run", "--json"]);
    assert_eq!(done.code, 0);
    assert!(done.json["output"].as_str().unwrap().contains("-one\n+two"), "{}", done.stdout);
    assert_eq!(bench.read("a.txt"), "one\n");
    let list = bench.run(&["undo", "--list", "--json"]).json;
    assert_eq!(list["changes"], json!([]));
}

#[test]
fn events_are_json_lines_with_one_terminal_event() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let file = bench.state.path().join("events.jsonl");
    let path = file.to_str().unwrap();
    bench.run(&["call", "read_file", "{\"path\": \"a.txt\"}", "--events", path]);
    bench.run(&["call", "read_file", "{\"path\": \"missing\"}", "--events", path]);
    let text = std::fs::read_to_string(&file).unwrap();
    let types: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(types, ["tool_call_start", "tool_call_end", "tool_call_start", "error"]);
    let stderr = bench.run(&["call", "read_file", "{\"path\": \"a.txt\"}", "--events", "-"]).stderr;
    assert_eq!(stderr.lines().count(), 2);
}

#[test]
fn profiles_speak_their_dialect() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    for (profile, tool, arguments) in [
        ("claude", "Read", json!({"file_path": "a.txt"})),
        (
            "claude",
            "Grep",
            json!({"pattern": "ONE", "-i": true, "-n": true, "output_mode": "files_with_matches"}),
        ),
        ("ally", "read", json!({"file_paths": ["a.txt"]})),
        ("define", "edit", json!({"filePath": "a.txt", "oldString": "one", "newString": "1"})),
        ("gemini", "read_file", json!({"file_path": "a.txt", "offset": 0, "limit": 1})),
        (
            "gemini",
            "replace",
            json!({"file_path": "a.txt", "old_string": "1", "new_string": "one", "instruction": "x"}),
        ),
        (
            "codex",
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch"}),
        ),
        ("codex", "update_plan", json!({"plan": [{"step": "a", "status": "pending"}]})),
        ("claude", "TodoWrite", json!({"todos": [{"content": "a", "status": "pending", "activeForm": "b"}]})),
        ("codecraft", "list_directory", json!({})),
    ] {
        let done = bench.run(&["call", tool, &arguments.to_string(), "--profile", profile, "--json"]);
        assert_eq!(done.code, 0, "{profile} {tool}: {}", done.stdout);
    }
    let wrong = bench.run(&["call", "Read", "{\"path\": \"a.txt\"}", "--profile", "claude", "--json"]);
    assert!(wrong.json["output"].as_str().unwrap().contains("file_path"));
}

#[test]
fn declarations_fit_in_16_kb_and_name_every_tool() {
    let bench = Bench::new();
    for format in ["gemini", "gemini-legacy", "openai", "openai-strict", "anthropic", "mcp", "langchain"] {
        let done = bench.run(&["declarations", "--format", format, "--json"]);
        assert_eq!(done.code, 0);
        for tool in ["read_file", "write_file", "edit_file", "apply_patch", "grep", "todo_read"] {
            assert!(done.stdout.contains(&format!("\"{tool}\"")), "{format} lacks {tool}");
        }
        for left in ["$ref", "$defs", "$schema"] {
            assert!(!done.stdout.contains(left), "{format} has {left}");
        }
    }
    let mcp = bench.run(&["declarations", "--format", "mcp", "--json"]).stdout;
    assert!(mcp.len() < 16_000, "tools/list has {} bytes", mcp.len());
}

#[test]
fn roots_read_only_nested_and_broken() {
    let bench = Bench::new();
    bench.write("sub/a.txt", "x\n");
    let root = bench.root.path().to_str().unwrap();
    let nested = format!("{root}/sub:ro");
    let write = |path: &str| {
        let arguments = json!({"path": path, "content": "y"}).to_string();
        bench
            .run_plain(&["--root", root, "--root", &nested, "call", "write_file", &arguments, "--json"], b"")
            .json
    };
    assert_eq!(write("sub/a.txt")["error"]["code"], "READ_ONLY", "the most specific root wins");
    assert_eq!(write("b.txt")["success"], true);
    let file = format!("{root}/b.txt");
    let done = bench.run_plain(&["--root", &file, "call", "todo_read", "--json"], b"");
    assert_eq!((done.code, done.json["error"]["code"].as_str()), (2, Some("NOT_A_DIRECTORY")));
}

#[test]
fn a_file_size_limit_is_an_error_and_loses_nothing() {
    let bench = Bench::new();
    bench.write("a.txt", "old\n");
    let content = "x".repeat(4 << 20);
    let arguments = json!({"path": "a.txt", "content": content}).to_string();
    bench.write("args.json", &arguments);
    let script = format!(
        "ulimit -f 1024; exec {} --root {} call write_file @{}/args.json --json",
        env!("CARGO_BIN_EXE_toolcrib"),
        bench.root.path().display(),
        bench.root.path().display()
    );
    let done = bench.shell(&script);
    assert_eq!((done.code, done.json["error"]["code"].as_str()), (1, Some("NO_SPACE")), "{}", done.stdout);
    assert_eq!(bench.read("a.txt"), "old\n");
    assert_eq!(bench.run(&["undo", "--list", "--json"]).json["changes"], json!([]));
    assert_eq!(bench.names(), ["a.txt", "args.json"], "nothing is left over");
}
