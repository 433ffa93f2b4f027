//! FIFOs, sockets, devices, and what the system itself forbids (P42-P45, P64, P65).

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::json;

use crate::world::{World, code_of, reading, skipped_as_root, writing};

fn make(w: &World, name: &str, kind: FileType, device: u64) -> bool {
    mknodat(CWD, w.path(name), kind, Mode::from_raw_mode(0o666), device).is_ok()
}

/// No tool opens it, waits for it or removes it; walks leave it out.
fn untouchable(w: &World, id: &str, name: &str) {
    for (tool, arguments) in reading(name).into_iter().chain(writing(name)) {
        let outcome = w.call(id, tool, arguments.clone());
        let code = code_of(&outcome);
        let expected: &[&str] = match tool {
            "list_directory" | "glob" => &["NOT_A_DIRECTORY", "NOT_A_FILE"],
            // There is no change of it to list or take back.
            "undo_changes" => &["ok", "CONFLICT"],
            _ => &["NOT_A_FILE"],
        };
        assert!(expected.contains(&code), "{id} {tool} {arguments}: {}", outcome.output);
    }
    assert!(w.path(name).symlink_metadata().is_ok(), "{id} {name} is still there");
    w.expect(id, "list_directory", json!({"include_ignored": true}), "ok");
    let found = w.expect(id, "glob", json!({"pattern": "**"}), "ok");
    assert!(!found.output.contains(name), "{}", found.output);
    w.expect(id, "grep", json!({"pattern": "line"}), "ok");
    assert_eq!(w.read("source"), b"line\n");
}

#[test]
fn p42_p43_fifos_never_hang() {
    let w = World::new();
    assert!(make(&w, "fifo", FileType::Fifo, 0));
    untouchable(&w, "P42", "fifo");
    w.link("fifo", "link");
    for (tool, arguments) in [
        ("read_file", json!({"path": "link"})),
        ("write_file", json!({"path": "link", "content": "x"})),
        ("grep", json!({"pattern": "x", "path": "link"})),
    ] {
        w.expect("P43", tool, arguments, "NOT_A_FILE");
    }
    // As an ignore file and as a git pointer, which are read without being asked for.
    w.mkdir("sub");
    for name in [".gitignore", ".ignore", ".git", "sub/.gitignore"] {
        assert!(make(&w, name, FileType::Fifo, 0));
    }
    w.expect("P42", "grep", json!({"pattern": "line"}), "ok");
    w.expect("P42", "list_directory", json!({"depth": 3}), "ok");
    w.expect("P42", "write_file", json!({"path": "sub/f", "content": "x"}), "ok");
    // In a folder that is deleted: refused as a whole, or undone as a whole.
    assert!(make(&w, "sub/fifo", FileType::Fifo, 0));
    let code = w.code("P42", "delete_file", json!({"path": "sub", "recursive": true}));
    assert_eq!(code, "NOT_A_FILE");
    assert!(w.path("sub/f").exists() && w.path("sub/fifo").exists());
}

#[test]
fn p44_sockets() {
    let w = World::new();
    let _listener = UnixListener::bind(w.path("socket")).unwrap();
    untouchable(&w, "P44", "socket");
}

#[test]
fn p45_devices() {
    let w = World::new();
    let zero = make(&w, "zero", FileType::CharacterDevice, makedev(1, 5));
    let block = make(&w, "block", FileType::BlockDevice, makedev(7, 200));
    if !zero || !block {
        eprintln!("skipped: devices cannot be made here");
        return;
    }
    untouchable(&w, "P45", "zero");
    untouchable(&w, "P45", "block");
}

#[test]
fn p45_whole_roots_of_devices() {
    let w = World::with(|builder, _| {
        builder.root_with("/dev", toolcrib::Access::ReadOnly).root_with("/proc", toolcrib::Access::ReadOnly)
    });
    for path in ["/dev/zero", "/dev/urandom", "/dev/tty", "/dev/null", "/dev/ptmx"] {
        let outcome = w.call("P45", "read_file", json!({"path": path}));
        assert!(["NOT_A_FILE", "FILE_NOT_FOUND"].contains(&code_of(&outcome)), "{path}: {}", outcome.output);
        w.expect("P45", "write_file", json!({"path": path, "content": "x"}), "READ_ONLY");
    }
    for path in ["/proc/self/environ", "/proc/self/mem", "/proc/kmsg"] {
        let outcome = w.call("P45", "read_file", json!({"path": path}));
        assert!(!outcome.success, "{path}: {}", outcome.output);
    }
    w.expect("P45", "read_file", json!({"path": "/proc/self/root/etc/passwd"}), "OUTSIDE_WORKSPACE");
}

#[test]
fn p64_a_growing_file_is_read_to_an_end() {
    let w = World::new();
    w.write("log", "y\n".repeat(500));
    let stop = Arc::new(AtomicBool::new(false));
    let (path, stopped) = (w.path("log"), Arc::clone(&stop));
    let writer = std::thread::spawn(move || {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        while !stopped.load(Ordering::Relaxed) && file.metadata().unwrap().len() < 8_000_000 {
            file.write_all(&b"y\n".repeat(2048)).unwrap();
        }
    });
    for round in 0..12 {
        let outcome = w.expect("P64", "read_file", json!({"path": "log", "offset": 1 + round}), "ok");
        assert!(outcome.metadata.tokens <= 10_000);
        w.expect("P64", "grep", json!({"pattern": "y", "path": "log"}), "ok");
        w.expect("P64", "grep", json!({"pattern": "absent", "mode": "files"}), "ok");
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
}

#[test]
fn p63_a_file_where_a_folder_should_be_and_the_other_way_round() {
    let w = World::new();
    w.mkdir("folder");
    w.write("folder/x", "x");
    w.run(&[
        ("P63", "read_file", json!({"path": "folder"}), "IS_DIRECTORY"),
        ("P63", "write_file", json!({"path": "folder", "content": "x"}), "IS_DIRECTORY"),
        ("P63", "edit_file", json!({"path": "folder", "old_string": "a", "new_string": "b"}), "IS_DIRECTORY"),
        ("P63", "delete_file", json!({"path": "folder"}), "IS_DIRECTORY"),
        ("P63", "read_file", json!({"path": "source/x"}), "NOT_A_DIRECTORY"),
        ("P63", "write_file", json!({"path": "source/x", "content": "x"}), "NOT_A_DIRECTORY"),
        ("P63", "list_directory", json!({"path": "source"}), "NOT_A_DIRECTORY"),
        ("P63", "glob", json!({"pattern": "*", "path": "source"}), "NOT_A_DIRECTORY"),
    ]);
    assert_eq!(w.read("folder/x"), b"x");
}

#[test]
fn p65_forbidden_by_the_system() {
    if skipped_as_root("P65, files and folders without permission") {
        return;
    }
    let w = World::new();
    w.write("locked", "line\n");
    w.write("shut/f", "line\n");
    w.write("fixed/f", "line\n");
    let chmod =
        |path: &str, mode: u32| fs::set_permissions(w.path(path), Permissions::from_mode(mode)).unwrap();
    chmod("locked", 0o000);
    chmod("shut", 0o000);
    chmod("fixed", 0o555);
    w.run(&[
        ("P65", "read_file", json!({"path": "locked"}), "PERMISSION_DENIED"),
        ("P65", "grep", json!({"pattern": "x", "path": "locked"}), "PERMISSION_DENIED"),
        (
            "P65",
            "edit_file",
            json!({"path": "locked", "old_string": "a", "new_string": "b"}),
            "PERMISSION_DENIED",
        ),
        ("P65", "write_file", json!({"path": "locked", "content": "x"}), "PERMISSION_DENIED"),
        ("P65", "read_file", json!({"path": "shut/f"}), "PERMISSION_DENIED"),
        ("P65", "list_directory", json!({"path": "shut"}), "PERMISSION_DENIED"),
        ("P65", "write_file", json!({"path": "fixed/new", "content": "x"}), "PERMISSION_DENIED"),
        ("P65", "write_file", json!({"path": "fixed/f", "content": "x"}), "PERMISSION_DENIED"),
        ("P65", "delete_file", json!({"path": "fixed/f"}), "PERMISSION_DENIED"),
        ("P65", "delete_file", json!({"path": "fixed", "recursive": true}), "PERMISSION_DENIED"),
    ]);
    let searched = w.expect("P65", "grep", json!({"pattern": "line"}), "ok");
    assert_eq!(searched.data["total"], 2, "{}", searched.output);
    assert!(searched.metadata.warnings.iter().any(|warning| warning.contains("shut")), "{}", searched.output);
    w.expect("P65", "list_directory", json!({"depth": 3}), "ok");
    chmod("shut", 0o755);
    chmod("fixed", 0o755);
    assert_eq!(w.read("fixed/f"), b"line\n");
    drop(File::open(w.path("source")).unwrap());
}
