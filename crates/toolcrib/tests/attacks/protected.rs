//! Places inside a root that make other programs run code (P32, P33, P47-P57, P60).

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use toolcrib::{Access, PolicyMode, StateDir, Toolcrib};

use crate::world::{World, patch, writing};

#[test]
fn p50_to_p54_git_and_own_configuration() {
    let w = World::new();
    for folder in [".git/hooks", ".git/info", "sub/.git", "bare.git/objects", "bare.git/refs"] {
        w.mkdir(folder);
    }
    w.write(".git/config", "line\n");
    w.write("bare.git/HEAD", "ref: x\n");
    w.write("bare.git/config", "line\n");
    w.link(".git/hooks", "innocent");
    w.link(".git/config", "config_link");
    for (id, path) in [
        ("P50", ".git/hooks/pre-commit"),
        ("P50", ".git/hooks/sub/deep"),
        ("P50", "innocent/pre-commit"),
        ("P50", "sub/../.git/hooks/pre-commit"),
        ("P51", ".git/config"),
        ("P51", ".git/config.worktree"),
        ("P51", "config_link"),
        ("P51", ".git/modules/m/config"),
        ("P51", "sub/.git/config"),
        ("P32", ".GIT/config"),
        ("P32", ".Git/Hooks/pre-commit"),
        ("P32", ".git/HOOKS/pre-commit"),
        ("P32", ".Toolcrib/toolcrib.toml"),
        ("P33", ".g\u{200c}it/hooks/pre-commit"),
        ("P33", ".git\u{feff}/config"),
        ("P33", ".git/hoo\u{200b}ks/x"),
        ("P33", ".git/hook\u{17f}/x"),
        ("P33", ".tool\u{200d}crib/x"),
        ("P53", ".toolcrib/toolcrib.toml"),
        ("P53", ".toolcrib/hooks/x"),
        ("P53", ".toolcrib/tools/x.tool.toml"),
        ("P53", "sub/.toolcrib/agents/a.md"),
        ("P54", "not/yet/.git/hooks/x"),
        ("P54", "new/.git"),
        ("P54", "bare.git/hooks/post-update"),
        ("P54", "bare.git/config"),
        ("P60", ".git"),
        ("P60", ".git/hooks"),
        ("P60", "sub/.git"),
        ("P60", ".toolcrib"),
    ] {
        w.unchangeable(id, path, "PROTECTED_PATH");
    }
    for path in ["sub", "bare.git", "."] {
        w.expect("P60", "delete_file", json!({"path": path, "recursive": true}), "PROTECTED_PATH");
    }
    // Looking is allowed, and so are the neighbours.
    w.expect("P51", "read_file", json!({"path": ".git/config"}), "ok");
    for path in [".git/info/exclude", ".gitignore", "hooks/pre-commit", "config", "git/config"] {
        w.expect("P50", "write_file", json!({"path": path, "content": "fine"}), "ok");
    }
    assert!(!w.path(".toolcrib").exists() && !w.path("new").exists() && !w.path("not").exists());
    assert_eq!(fs::read_dir(w.path(".git/hooks")).unwrap().count(), 0);
}

#[test]
fn p52_the_git_directory_behind_a_file() {
    let w = World::new();
    w.mkdir("real/hooks");
    w.write(".git", "gitdir: real\n");
    for path in ["real/hooks/pre-commit", "real/config", "real", ".git", "REAL/config"] {
        w.unchangeable("P52", path, "PROTECTED_PATH");
    }
    // A pointer that leads out gives no way out.
    w.write(".git", "gitdir: ../out\n");
    w.refused_by_every_tool("P52", "../out/config", "OUTSIDE_WORKSPACE");
    w.unchangeable("P52", ".git", "PROTECTED_PATH");
    for broken in ["gitdir:", "gitdir: \0", "\u{ff}gitdir: x", "", "gitdir: .\n"] {
        w.write(".git", broken);
        w.unchangeable("P52", ".git", "PROTECTED_PATH");
        w.expect("P52", "read_file", json!({"path": "source"}), "ok");
    }
}

/// Under `auto` and with nobody to ask, a question is a denial.
#[test]
fn p55_files_that_run_by_themselves() {
    let w = World::headless();
    let write = |path: &str| json!({"path": path, "content": "{}\n"});
    for path in [
        ".envrc",
        ".vscode/tasks.json",
        ".mcp.json",
        ".npmrc",
        ".cargo/config.toml",
        "sub/.envrc",
        ".ENVRC",
        ".e\u{200b}nvrc",
        ".env",
        ".env.local",
        ".bashrc",
        ".github/workflows/ci.yml",
        ".husky/pre-commit",
        ".githooks/pre-push",
        ".claude/hooks/deep/x.sh",
        ".devcontainer/devcontainer.json",
        ".pre-commit-config.yaml",
        ".ssh/authorized_keys",
        "./.vscode//settings.json",
        "x/../.envrc",
    ] {
        for (tool, arguments) in writing(path) {
            let code = w.code("P55", tool, arguments.clone());
            assert_eq!(code, "PERMISSION_DENIED", "{tool} {arguments}");
        }
        assert!(!w.path(path).exists(), "{path}");
    }
    assert_eq!(w.read("source"), b"line\n");
    for path in ["build.rs", "package.json", "Makefile"] {
        let outcome = w.expect("P55", "write_file", write(path), "ok");
        assert!(outcome.metadata.warnings.iter().any(|warning| warning.contains(path)), "{path}: no warning");
    }
    for path in ["src/main.rs", ".env.example", "envrc", "tasks.json"] {
        let outcome = w.expect("P55", "write_file", write(path), "ok");
        assert_eq!(outcome.metadata.warnings, Vec::<String>::new(), "{path}");
    }
}

#[test]
fn p55_by_a_link_or_by_a_move() {
    let w = World::headless();
    w.write(".envrc", "line\n");
    w.write(".vscode/tasks.json", "line\n");
    w.link(".envrc", "x");
    w.link(".vscode", "y");
    w.link("x", "z");
    for path in ["x", "z", "y/tasks.json", "y/settings.json"] {
        for (tool, arguments) in writing(path) {
            // Undo by path finds no change there, and asks all the same.
            w.expect("P55", tool, arguments, "PERMISSION_DENIED");
        }
    }
    let moves = [
        "*** Update File: source\n*** Move to: .envrc\n@@\n-line\n+evil",
        "*** Update File: source\n*** Move to: y/tasks.json\n@@\n-line\n+evil",
        "*** Update File: .envrc\n*** Move to: harmless\n@@\n-line\n+evil",
        "*** Add File: ok\n+ok\n*** Add File: .mcp.json\n+{}",
    ];
    for lines in moves {
        w.expect("P55", "apply_patch", patch(lines), "PERMISSION_DENIED");
    }
    let diff = "--- a/source\n+++ b/.npmrc\n@@ -1 +1 @@\n-line\n+evil\n";
    w.expect("P55", "apply_patch", json!({"patch": diff}), "PERMISSION_DENIED");
    assert_eq!((w.read(".envrc"), w.read("source")), (b"line\n".to_vec(), b"line\n".to_vec()));
    assert!(!w.path("ok").exists() && !w.path(".npmrc").exists());
    w.assert_no_changes();
}

/// A person has taken back what was written there; making it again is as much of a question as it was at first.
#[test]
fn p55_by_undo_and_redo() {
    let w = World::headless();
    let person = Toolcrib::builder()
        .root(w.path(""))
        .state(StateDir::at(w.top().join("state")).unwrap())
        .policy(PolicyMode::Full)
        .build()
        .unwrap();
    let session = person.session("person");
    let act = |tool: &str, arguments: Value| {
        let outcome = w.runtime().block_on(person.call(&session, tool, arguments));
        assert!(outcome.success, "{}", outcome.output);
        outcome.data["change_id"].as_str().unwrap().to_owned()
    };
    let evil = act("write_file", json!({"path": ".envrc", "content": "evil"}));
    let undo = act("undo_changes", json!({"action": "undo"}));
    for arguments in [
        json!({"action": "redo"}),
        json!({"action": "redo", "change_id": evil}),
        json!({"action": "redo", "since": "1h"}),
        json!({"action": "undo", "change_id": undo}),
    ] {
        w.expect("P55", "undo_changes", arguments, "PERMISSION_DENIED");
        assert!(!w.path(".envrc").exists());
    }
    act("write_file", json!({"path": "build.rs", "content": "fn main() {}"}));
    let outcome = w.expect("P55", "undo_changes", json!({"action": "undo"}), "ok");
    assert!(outcome.output.contains("it runs on the next build"), "{}", outcome.output);
    act("write_file", json!({"path": "plain", "content": "x"}));
    w.expect("P55", "undo_changes", json!({"action": "undo"}), "ok");
    assert!(!w.path("plain").exists());
}

#[test]
fn p55_plan_and_ask_change_nothing() {
    for (policy, expected) in
        [(PolicyMode::Plan, "PERMISSION_DENIED"), (PolicyMode::Ask, "PERMISSION_DENIED")]
    {
        let w = World::with(|builder, _| builder.policy(policy));
        for (tool, arguments) in writing("source") {
            w.expect("P55", tool, arguments, expected);
        }
        assert_eq!(w.read("source"), b"line\n");
        w.expect("P55", "read_file", json!({"path": "source"}), "ok");
        w.assert_no_changes();
    }
}

#[test]
fn p56_own_state_inside_the_workspace() {
    let w = World::with(|builder, top| builder.state(StateDir::at(top.join("ws/own")).unwrap()));
    w.expect("P56", "write_file", json!({"path": "f", "content": "x"}), "ok");
    let record = "own/journal/changes/c1.json";
    assert!(w.path(record).exists());
    let before = w.read(record);
    w.link("own", "alias");
    for path in [
        record,
        "own/journal/version",
        "own/journal/lock",
        "own/journal/blobs/x",
        "own/spill/evil.txt",
        "own/sessions/s.json",
        "own",
        "OWN/journal/version",
        "alias/journal/version",
        "o\u{200b}wn/journal/version",
    ] {
        for (tool, arguments) in writing(path) {
            w.expect("P56", tool, arguments, "PROTECTED_PATH");
        }
    }
    assert_eq!(w.read(record), before);
    w.expect("P56", "undo_changes", json!({"action": "undo"}), "ok");
    assert!(!w.path("f").exists());
}

#[test]
fn p57_planted_state_is_not_followed() {
    // Somebody has put links where Toolcrib would write its own files.
    for planted in ["journal", "spill", "journal/changes", "journal/blobs", "journal/version", "journal/lock"]
    {
        let w = World::with(|builder, top| {
            let path = top.join("state").join(planted);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let target =
                if planted.ends_with("version") || planted.ends_with("lock") { "out/secret" } else { "out" };
            symlink(top.join(target), path).unwrap();
            builder
        });
        let code = w.code("P57", "write_file", json!({"path": "f", "content": "x"}));
        assert!(planted == "spill" || code != "ok", "{planted}: {code}");
        w.expect("P57", "read_file", json!({"path": "source"}), "ok");
        let big = "word ".repeat(60_000);
        w.write("big.txt", big.replace("word word ", "word\n"));
        w.call("P57", "grep", json!({"pattern": "word", "limit": 10_000}));
    }
}

#[test]
fn p57_planted_fifos_and_links_in_the_state() {
    for planted in ["journal/version", "journal/lock", "journal/changes/c7.json", "journal/pending/c8.json"] {
        let w = World::with(|builder, top| {
            let path = top.join("state").join(planted);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            builder
        });
        // Whatever they say, they say it.
        w.call("P57", "write_file", json!({"path": "f", "content": "x"}));
        w.call("P57", "undo_changes", json!({"action": "list"}));
        w.call("P57", "undo_changes", json!({"action": "undo"}));
        w.expect("P57", "read_file", json!({"path": "source"}), "ok");
    }
    let w = World::with(|builder, top| {
        fs::create_dir_all(top.join("state/spill")).unwrap();
        symlink(top.join("out/secret"), top.join("state/spill/link")).unwrap();
        symlink(top.join("out"), top.join("state/spill/folder")).unwrap();
        builder
    });
    w.refused_by_every_tool("P57", "spill://link", "OUTSIDE_WORKSPACE");
    w.refused_by_every_tool("P57", "spill://folder/secret", "OUTSIDE_WORKSPACE");
    // The name of a spill file comes from the id of the call, which the caller chooses.
    w.write("big", "a line of words\n".repeat(9_000));
    for id in ["../../out/evil", "/etc/evil", "", "a\0b", "link", &"n".repeat(5_000)] {
        let request = toolcrib::CallRequest {
            call_id: Some(id.to_owned()),
            ..toolcrib::CallRequest::new(&w.session, "grep", json!({"pattern": "line", "limit": 10_000}))
        };
        let outcome = w.runtime().block_on(w.crib.executor().call(request));
        w.assert_outside_untouched(id);
        let spill = outcome.metadata.spill.unwrap();
        w.session.next_turn();
        w.expect("P57", "read_file", json!({"path": spill, "limit": 1}), "ok");
    }
}

#[test]
fn p47_p48_the_root_is_resolved_once() {
    let mut w = World::with(|builder, top| {
        fs::rename(top.join("ws"), top.join("out/real")).unwrap();
        symlink("out/real", top.join("ws")).unwrap();
        builder
    });
    let read =
        |w: &World| w.call("P47", "read_file", json!({"path": "source"})).data["files"][0]["content"].clone();
    assert_eq!(read(&w), "line\n");
    // P47: the link leads elsewhere now, the workspace does not.
    fs::create_dir(w.top().join("out/fake")).unwrap();
    fs::write(w.top().join("out/fake/source"), "fake\n").unwrap();
    fs::remove_file(w.top().join("ws")).unwrap();
    symlink("out/fake", w.top().join("ws")).unwrap();
    w.accept_outside();
    w.session.next_turn();
    assert_eq!(read(&w), "line\n");
    // P20: nor does it follow when the directory itself is replaced.
    fs::rename(w.top().join("out/real"), w.top().join("out/moved")).unwrap();
    fs::rename(w.top().join("out/fake"), w.top().join("out/real")).unwrap();
    w.accept_outside();
    w.session.next_turn();
    assert_eq!(read(&w), "line\n");
    let request = toolcrib::CallRequest::new(
        &w.session,
        "write_file",
        json!({"path": "source", "content": "changed\n"}),
    );
    let outcome = w.runtime().block_on(w.crib.executor().call(request));
    assert!(outcome.success, "{}", outcome.output);
    assert_eq!(fs::read(w.top().join("out/moved/source")).unwrap(), b"changed\n");
    assert_eq!(fs::read(w.top().join("out/real/source")).unwrap(), b"fake\n");
    // P48: a root that is gone is an error, and nothing is made in its place.
    fs::remove_dir_all(w.top().join("out/moved")).unwrap();
    w.accept_outside();
    assert_ne!(w.code("P48", "write_file", json!({"path": "new", "content": "x"})), "ok");
    assert_ne!(w.code("P48", "read_file", json!({"path": "source"})), "ok");
}

#[test]
fn p49_the_most_specific_root_wins() {
    let w = World::with(|builder, top| {
        fs::create_dir_all(top.join("ws/vendor/mine")).unwrap();
        fs::write(top.join("ws/vendor/f"), "line\n").unwrap();
        symlink("vendor", top.join("ws/alias")).unwrap();
        builder
            .root_with(top.join("ws/vendor"), Access::ReadOnly)
            .root_with(top.join("ws/vendor/mine"), Access::ReadWrite)
    });
    for path in ["vendor/f", "alias/f", "vendor/mine/../f"] {
        for (tool, arguments) in writing(path) {
            w.expect("P49", tool, arguments, "READ_ONLY");
        }
        w.expect("P49", "read_file", json!({"path": path}), "ok");
    }
    let new = |path: &str| -> Value { json!({"path": path, "content": "x"}) };
    w.expect("P49", "write_file", new("vendor/new"), "READ_ONLY");
    w.expect("P49", "write_file", new("vendor/mine/new"), "ok");
    w.expect("P49", "delete_file", json!({"path": "vendor", "recursive": true}), "PROTECTED_PATH");
    assert_eq!(w.read("vendor/f"), b"line\n");
}
