//! Paths and links that lead out, and names that only look as if they did (P01-P37).

use std::fs;

use serde_json::json;

use crate::world::World;

#[test]
fn p01_to_p04_paths_that_lead_out() {
    let w = World::new();
    w.mkdir("a");
    let at = |path: &str| w.top().join(path).to_str().unwrap().to_owned();
    for (id, path) in [
        ("P01", "../out/secret".to_owned()),
        ("P01", "..".to_owned()),
        ("P01", "../out".to_owned()),
        ("P02", "a/../../out/secret".to_owned()),
        ("P02", "./a/.././../out/secret".to_owned()),
        ("P03", at("out/secret")),
        ("P03", at("out")),
        ("P03", "/etc/passwd".to_owned()),
        ("P03", "/".to_owned()),
        ("P03", at("ws/../out/secret")),
        ("P04", at("ws_evil/f")),
        ("P04", "../ws_evil/f".to_owned()),
        ("P04", at("ws_evil")),
        ("P04", "spill://../../out/secret".to_owned()),
        ("P04", "spill://../journal/lock".to_owned()),
    ] {
        w.refused_by_every_tool(id, &path, "OUTSIDE_WORKSPACE");
    }
    w.assert_no_changes();
}

#[test]
fn p05_to_p16_links_that_lead_out() {
    let w = World::new();
    w.mkdir("sub/deep");
    w.link(w.top().join("out/secret"), "file");
    w.link(w.top().join("out"), "dir");
    w.link("../out/secret", "relative_file");
    w.link("../out", "relative_dir");
    w.link("two", "one");
    w.link("sub/three", "two");
    w.link("../../out/secret", "sub/three");
    w.link("sub/../../out/secret", "winding");
    w.link(w.top().join("out/new"), "dangling");
    w.link("../out/new", "dangling_relative");
    w.link("/proc/self/root/etc/passwd", "magic");
    w.link("/proc/self/cwd", "here");
    w.link("dir", "to_dir");
    for (id, path) in [
        ("P05", "file"),
        ("P06", "dir/secret"),
        ("P06", "dir"),
        ("P06", "dir/sub/secret"),
        ("P07", "relative_file"),
        ("P07", "relative_dir/secret"),
        ("P07", "relative_dir"),
        ("P08", "one"),
        ("P08", "to_dir/sub"),
        ("P09", "sub/three"),
        ("P09", "winding"),
        ("P09", "sub/deep/../three"),
        ("P11", "dangling"),
        ("P12", "dangling_relative"),
        ("P13", "dir/new/deep/f"),
        ("P13", "relative_dir/new/f"),
        ("P14", "to_dir/secret"),
        ("P37", "magic"),
        ("P39", "here/Cargo.toml"),
    ] {
        w.refused_by_every_tool(id, path, "OUTSIDE_WORKSPACE");
    }
    // Walks show links and follow none.
    let listed = w.expect("P05", "list_directory", json!({"depth": 9}), "ok");
    assert!(listed.output.contains("dir@"), "{}", listed.output);
    let found = w.expect("P06", "glob", json!({"pattern": "**/*secret*", "include_ignored": true}), "ok");
    assert_eq!(found.data["paths"], json!([]));
    let found =
        w.expect("P06", "grep", json!({"pattern": "do-not-", "literal": true, "mode": "files"}), "ok");
    assert_eq!(found.data["total"], 0);
    w.assert_no_changes();
}

#[test]
fn p10_links_that_stay_inside_work() {
    let w = World::new();
    w.write("sub/f", "line\n");
    w.link("sub", "dir");
    w.link("dir/f", "chain");
    w.link(w.path("sub/f"), "absolute");
    for path in ["chain", "dir/f", "absolute", "sub/../dir/f"] {
        w.expect("P10", "read_file", json!({"path": path}), "ok");
        w.expect(
            "P10",
            "edit_file",
            json!({"path": path, "old_string": "line", "new_string": "line!"}),
            "ok",
        );
        assert_eq!(w.read("sub/f"), b"line!\n", "{path}: the file is changed, not the link replaced");
        assert!(fs::symlink_metadata(w.path("chain")).unwrap().is_symlink());
        w.expect("P10", "undo_changes", json!({"action": "undo"}), "ok");
    }
    w.expect("P10", "list_directory", json!({"path": "dir"}), "ok");
    w.expect("P10", "write_file", json!({"path": "dir/new/f", "content": "x"}), "ok");
    assert_eq!(w.read("sub/new/f"), b"x");
}

#[test]
fn p15_link_loops_end() {
    let w = World::new();
    w.link("b", "a");
    w.link("a", "b");
    w.link(".", "self");
    w.mkdir("x/y");
    w.link("../..", "x/y/up");
    for path in ["a", "b", "a/f"] {
        for tool in ["read_file", "list_directory"] {
            let code = w.code("P15", tool, json!({"path": path}));
            assert!(
                ["IO_ERROR", "FILE_NOT_FOUND", "INVALID_PATH", "OUTSIDE_WORKSPACE"].contains(&code),
                "{code}"
            );
        }
        assert_ne!(w.code("P15", "write_file", json!({"path": path, "content": "x"})), "ok");
    }
    let walked = w.expect("P15", "list_directory", json!({"depth": 128}), "ok");
    assert_eq!(walked.data["total"], 7, "{}", walked.output);
    w.expect("P15", "grep", json!({"pattern": "line"}), "ok");
    w.expect("P15", "read_file", json!({"path": "self/self/x/y/up/source"}), "ok");
}

#[test]
fn p16_deleting_a_folder_deletes_links_not_what_they_lead_to() {
    let w = World::new();
    w.write("sub/f", "x");
    w.link("../../out", "sub/dir");
    w.link("../../out/secret", "sub/file");
    w.link("../../out/new", "sub/dangling");
    w.expect("P16", "delete_file", json!({"path": "sub", "recursive": true}), "ok");
    assert!(!w.path("sub").exists());
    w.expect("P16", "undo_changes", json!({"action": "undo"}), "ok");
    assert_eq!(fs::read_link(w.path("sub/dir")).unwrap().to_str(), Some("../../out"));
    assert_eq!(w.read("sub/f"), b"x");
    w.refused_by_every_tool("P16", "sub/dir/secret", "OUTSIDE_WORKSPACE");
    w.expect("P16", "undo_changes", json!({"action": "redo"}), "ok");
    w.expect("P16", "delete_file", json!({"path": ".", "recursive": true}), "PROTECTED_PATH");
}

#[test]
fn p21_p22_hard_links_are_broken_not_written_through() {
    let mut w = World::new();
    let shared = w.top().join("out/shared");
    fs::write(&shared, "line\n").unwrap();
    for name in ["one", "two", "three"] {
        fs::hard_link(&shared, w.path(name)).unwrap();
        w.accept_outside();
        w.expect("P22", "read_file", json!({"path": name}), "ok");
        let change = match name {
            "one" => ("write_file", json!({"path": name, "content": "mine"})),
            "two" => ("edit_file", json!({"path": name, "old_string": "line", "new_string": "mine"})),
            _ => ("apply_patch", crate::world::patch(&format!("*** Update File: {name}\n@@\n-line\n+mine"))),
        };
        // The number of links goes down by itself; what is in the file must not change.
        let request = toolcrib::CallRequest::new(&w.session, change.0, change.1);
        let outcome = w.runtime().block_on(w.crib.executor().call(request));
        assert!(outcome.success, "{}", outcome.output);
        assert!(outcome.metadata.warnings.iter().any(|warning| warning.contains("hard link")));
        assert_eq!(fs::read(&shared).unwrap(), b"line\n");
        assert_eq!(w.read(name).get(..4), Some(&b"mine"[..]));
    }
}

#[test]
fn p23_to_p27_impossible_paths() {
    let w = World::new();
    let (long_name, long_path) = ("n".repeat(256), "n/".repeat(2049));
    for (id, path) in [
        ("P23", "a\0b"),
        ("P23", "source\0.txt"),
        ("P23", "../out/secret\0"),
        ("P24", ""),
        ("P26", long_name.as_str()),
        ("P26", long_path.as_str()),
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old_string": "a", "new_string": "b"})),
            ("delete_file", json!({"path": path, "recursive": true})),
            ("list_directory", json!({"path": path})),
            ("glob", json!({"pattern": "*", "path": path})),
            ("grep", json!({"pattern": "x", "path": path})),
            ("undo_changes", json!({"action": "undo", "path": path})),
        ] {
            let outcome = w.expect(id, tool, arguments, "INVALID_PATH");
            assert!(outcome.output.len() < 2_000, "{id}: {}", outcome.output.len());
        }
    }
    // P27: just within the limits.
    w.expect("P27", "write_file", json!({"path": "n".repeat(255), "content": "x"}), "ok");
    let deep = "d/".repeat(300) + "f";
    w.expect("P27", "write_file", json!({"path": deep, "content": "deep\n"}), "ok");
    w.expect("P27", "read_file", json!({"path": deep}), "ok");
    w.expect("P27", "delete_file", json!({"path": "d", "recursive": true}), "ok");
    w.expect("P27", "undo_changes", json!({"action": "undo"}), "ok");
    assert_eq!(w.read(&deep), b"deep\n");
}

#[test]
fn p25_to_p36_strange_names_are_literal() {
    let w = World::new();
    for (id, path) in [
        ("P25", "~root/x"),
        ("P25", "~/x"),
        ("P25", "$HOME/x"),
        ("P25", "${HOME}"),
        ("P25", "%2e%2e/x"),
        ("P25", "..%2fx"),
        ("P25", "$(touch pwned)"),
        ("P25", "`touch pwned`"),
        ("P25", "; touch pwned"),
        ("P29", "trailing "),
        ("P29", "trailing."),
        ("P29", "CON"),
        ("P29", "a:stream"),
        ("P29", "\\\\?\\C:\\x"),
        ("P29", "\\\\host\\share\\x"),
        ("P29", "..\\..\\out\\secret"),
        ("P30", " leading"),
        ("P30", "-rf"),
        ("P30", "--help"),
        ("P30", "..."),
        ("P34", "\u{ff0e}\u{ff0e}\u{ff0f}x"),
        ("P34", "\u{2025}/x"),
        ("P34", "\u{2024}\u{2024}/x"),
        ("P34", "a\u{2215}..\u{2215}x"),
        ("P36", "*"),
        ("P36", "[ab]"),
        ("P36", "{a,b}"),
        ("P36", "!not"),
    ] {
        let content = format!("content of {path}\n");
        w.expect(id, "write_file", json!({"path": path, "content": content}), "ok");
        assert_eq!(w.read(path), content.as_bytes(), "{id} {path}: exactly this name");
        let read = w.expect(id, "read_file", json!({"path": path}), "ok");
        assert_eq!(read.data["files"][0]["content"], content, "{id} {path}");
        w.expect(id, "grep", json!({"pattern": "content", "path": path}), "ok");
        w.expect(id, "edit_file", json!({"path": path, "old_string": "of", "new_string": "in"}), "ok");
        w.expect(id, "delete_file", json!({"path": path}), "ok");
        assert!(!w.path(path).exists(), "{id} {path}");
    }
    // What looks like a mount is one, or nothing.
    for path in ["http://x/y", "file:///etc/passwd", "spill:///etc/passwd"] {
        w.expect("P30", "read_file", json!({"path": path}), "FILE_NOT_FOUND");
    }
    assert!(!w.path("pwned").exists() && !std::path::Path::new("pwned").exists());
}

#[test]
fn p28_the_same_object_by_other_spellings() {
    let w = World::new();
    w.write("a/f", "line\n");
    let absolute = w.path("a/f").to_str().unwrap().to_owned();
    for path in ["a//f", "./a/./f", "a/f/", "a/b/../f", "//a/f", &absolute] {
        let path =
            if path.starts_with("//a") { format!("/{}//a/f", w.path("").display()) } else { path.into() };
        let read = w.expect("P28", "read_file", json!({"path": path}), "ok");
        assert_eq!(read.data["files"][0]["path"], "a/f", "{path}");
        let outcome = w.expect("P28", "write_file", json!({"path": path, "content": "line\n"}), "ok");
        assert_eq!(outcome.data["path"], "a/f", "{path}");
    }
}

#[test]
fn p31_names_are_bytes_and_near_ones_are_named() {
    let w = World::new();
    w.write("caf\u{e9}.txt", "composed\n");
    let outcome = w.expect("P31", "read_file", json!({"path": "cafe\u{301}.txt"}), "FILE_NOT_FOUND");
    assert!(outcome.output.contains("caf\u{e9}.txt"), "{}", outcome.output);
    w.expect("P31", "write_file", json!({"path": "cafe\u{301}.txt", "content": "decomposed\n"}), "ok");
    assert_eq!(w.read("caf\u{e9}.txt"), b"composed\n");
    assert_eq!(w.read("cafe\u{301}.txt"), b"decomposed\n");
    // What is outside is never named as near.
    let outcome = w.expect("P31", "read_file", json!({"path": "../out/secre"}), "OUTSIDE_WORKSPACE");
    assert!(!outcome.output.contains("secret"), "{}", outcome.output);
}

#[test]
fn p37_to_p41_proc_and_dev() {
    let w = World::new();
    let parent = format!("/proc/{}/environ", std::os::unix::process::parent_id());
    for (id, path) in [
        ("P37", "/proc/self/root/etc/passwd"),
        ("P38", "/proc/self/environ"),
        ("P38", parent.as_str()),
        ("P39", "/proc/self/fd/0"),
        ("P39", "/proc/self/cwd/Cargo.toml"),
        ("P39", "/proc/thread-self/maps"),
        ("P40", "/dev/zero"),
        ("P40", "/dev/urandom"),
        ("P41", "/dev/tty"),
        ("P41", "/dev/stdin"),
        ("P41", "/dev/fd/0"),
        ("P41", "/dev/null"),
    ] {
        w.refused_by_every_tool(id, path, "OUTSIDE_WORKSPACE");
    }
    w.assert_no_changes();
}
