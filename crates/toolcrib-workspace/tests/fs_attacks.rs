//! Paths that lead out, files that hang, places that must not change: ATTACKS.md, section 1, as far as files go.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod fs_support;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fs_support::*;
use toolcrib_workspace::{Access, ErrorKind, Expect, MountSource, Workspace};

const DISKS: [Backend; 2] = [Backend::Kernel, Backend::Portable];

fn on_disk(test: impl Fn(&World)) {
    for backend in DISKS {
        println!("on {backend:?}");
        let w = World::new(backend);
        test(&w);
        w.assert_outside_untouched();
    }
}

/// Reading, writing, deleting and moving all say the same.
fn refused(w: &World, path: &str, expected: ErrorKind) {
    put(&w.ws, "source", "x").unwrap();
    assert_eq!(kind(read(&w.ws, path)), expected, "read {path}");
    assert_eq!(kind(put(&w.ws, path, "evil")), expected, "put {path}");
    assert_eq!(kind(rename(&w.ws, "source", path)), expected, "rename to {path}");
    assert_eq!(kind(w.ws.locate(path)), expected, "locate {path}");
}

#[test]
fn p01_to_p04_paths_that_lead_out() {
    on_disk(|w| {
        let evil = format!("{}_evil/f", w.root().display());
        std::fs::create_dir(w.temp.path().join("ws_evil")).unwrap();
        std::fs::write(&evil, SECRET).unwrap();
        let secret = w.outside().join("secret");
        for path in [
            "../out/secret",
            "a/../../out/secret",
            evil.as_str(),
            secret.to_str().unwrap(),
            "/etc/passwd",
            "/",
        ] {
            refused(w, path, ErrorKind::OutsideWorkspace);
            assert_eq!(kind(delete_tree(&w.ws, path)), ErrorKind::OutsideWorkspace);
        }
        assert_eq!(std::fs::read(&evil).unwrap(), SECRET);
        let message = w.ws.read("../out/secret", 10).unwrap_err().to_string();
        assert!(!message.contains(w.temp.path().to_str().unwrap()), "{message}");
    });
}

#[test]
fn p05_to_p14_symlinks_that_lead_out() {
    on_disk(|w| {
        w.mkdir("sub");
        w.symlink(w.outside().join("secret").to_str().unwrap(), "file");
        w.symlink("../out", "dir");
        w.symlink("../../out/secret", "sub/up");
        w.symlink("two", "one");
        w.symlink("three", "two");
        w.symlink("../out/secret", "three");
        w.symlink(w.outside().join("new").to_str().unwrap(), "dangling");
        w.symlink("../out/new", "dangling2");
        w.symlink("sub/../../out/secret", "winding");
        w.symlink("/proc/self/root/etc/passwd", "magic");
        let out = [
            "file",
            "dir/secret",
            "dir/x/y",
            "sub/up",
            "one",
            "dangling",
            "dangling2",
            "winding",
            "magic",
            "dir",
        ];
        for path in out {
            refused(w, path, ErrorKind::OutsideWorkspace);
        }
        assert_eq!(kind(w.ws.list("dir")), ErrorKind::OutsideWorkspace);
        assert!(!w.outside().join("new").exists());
        // P16: links go as links, whatever they lead to.
        put(&w.ws, "sub/f", "x").unwrap();
        let id = delete_tree(&w.ws, "sub").unwrap().change_id;
        w.assert_outside_untouched();
        undo(&w.ws, &id).unwrap();
        assert_eq!(std::fs::read_link(w.root().join("sub/up")).unwrap(), PathBuf::from("../../out/secret"));
        delete(&w.ws, "dir").unwrap();
        assert!(!w.root().join("dir").exists());
    });
}

#[test]
fn p10_absolute_links_back_inside() {
    on_disk(|w| {
        w.write("f", "inside");
        w.symlink(w.root().join("f").to_str().unwrap(), "link");
        assert_eq!(read(&w.ws, "link").unwrap(), b"inside");
        assert_eq!(read(&w.ws, w.root().join("f").to_str().unwrap()).unwrap(), b"inside");
        let display = w.ws.locate(w.root().join("x/../f").to_str().unwrap()).unwrap().display;
        assert_eq!(display, "f");
    });
}

#[test]
fn p22_hard_links_are_broken_not_written_through() {
    on_disk(|w| {
        std::fs::hard_link(w.outside().join("secret"), w.root().join("hard")).unwrap();
        assert_eq!(read(&w.ws, "hard").unwrap(), SECRET);
        let done = put(&w.ws, "hard", "mine").unwrap();
        assert!(done.warnings[0].contains("hard link"), "{:?}", done.warnings);
        assert_eq!(std::fs::read(w.outside().join("secret")).unwrap(), SECRET);
    });
}

#[test]
fn p23_to_p34_strange_names_are_literal_or_refused() {
    on_disk(|w| {
        for path in ["a\0b", "", &"n".repeat(256), &"n/".repeat(2100)] {
            refused(w, path, ErrorKind::InvalidPath);
        }
        for path in [
            "~root/x",
            "$HOME/x",
            "%2e%2e/x",
            "．．／x",
            "trailing ",
            "CON",
            "a:stream",
            "\\\\?\\x",
            "new\nline",
            "\u{202e}x",
        ] {
            put(&w.ws, path, path).unwrap();
            assert_eq!(read(&w.ws, path).unwrap(), path.as_bytes());
            assert!(w.root().join(path).exists(), "{path}");
        }
        put(&w.ws, "caf\u{e9}", "nfc").unwrap();
        assert_eq!(w.ws.read("cafe\u{301}", 9).unwrap_err().near(), ["caf\u{e9}"]);
    });
}

#[test]
fn p37_to_p44_devices_sockets_and_proc() {
    on_disk(|w| {
        for path in
            ["/proc/self/root/etc/passwd", "/proc/self/environ", "/dev/zero", "/dev/tty", "/dev/stdin"]
        {
            refused(w, path, ErrorKind::OutsideWorkspace);
        }
        let _socket = std::os::unix::net::UnixListener::bind(w.root().join("socket")).unwrap();
        assert_eq!(kind(read(&w.ws, "socket")), ErrorKind::NotAFile);
        assert_eq!(kind(put(&w.ws, "socket", "")), ErrorKind::NotAFile);
    });
    // Even where such things lie inside a root.
    let ws =
        Workspace::builder().root("/dev", Access::ReadOnly).root("/proc", Access::ReadOnly).build().unwrap();
    bounded(move || {
        for path in ["zero", "tty", "null", "/dev/urandom", "/proc/self/environ", "/proc/version"] {
            let kind = kind(ws.read(path, 10));
            assert!(matches!(kind, ErrorKind::NotAFile | ErrorKind::NotFound), "{path}: {kind:?}");
        }
        // `self` in /proc is a link, and what lies behind `root` and `cwd` is outside.
        assert_eq!(kind(ws.read("/proc/self/root/etc/passwd", 10)), ErrorKind::OutsideWorkspace);
    });
}

#[test]
fn p47_the_root_is_resolved_once() {
    for portable in [false, true] {
        let temp = tempfile::tempdir().unwrap();
        for dir in ["real", "other"] {
            std::fs::create_dir(temp.path().join(dir)).unwrap();
            std::fs::write(temp.path().join(dir).join("f"), dir).unwrap();
        }
        let link = temp.path().join("link");
        symlink("real", &link).unwrap();
        let ws = Workspace::builder().root(&link, Access::ReadWrite).portable(portable).build().unwrap();
        assert_eq!(read(&ws, link.join("f").to_str().unwrap()).unwrap(), b"real");
        std::fs::remove_file(&link).unwrap();
        symlink("other", &link).unwrap();
        assert_eq!(read(&ws, "f").unwrap(), b"real");
        // P20: and it stays with its directory, wherever that goes.
        std::fs::rename(temp.path().join("real"), temp.path().join("moved")).unwrap();
        std::fs::rename(temp.path().join("other"), temp.path().join("real")).unwrap();
        put(&ws, "f", "changed").unwrap();
        assert_eq!(std::fs::read(temp.path().join("moved/f")).unwrap(), b"changed");
        assert_eq!(std::fs::read(temp.path().join("real/f")).unwrap(), b"other");
    }
}

#[test]
fn p49_the_most_specific_root_wins() {
    for portable in [false, true] {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("ws");
        std::fs::create_dir_all(root.join("vendor/lib/mine")).unwrap();
        std::fs::write(root.join("vendor/f"), "v").unwrap();
        symlink("vendor", root.join("alias")).unwrap();
        let ws = Workspace::builder()
            .root(&root, Access::ReadWrite)
            .root(root.join("vendor"), Access::ReadOnly)
            .root(root.join("vendor/lib/mine"), Access::ReadWrite)
            .portable(portable)
            .build()
            .unwrap();
        put(&ws, "f", "x").unwrap();
        put(&ws, "vendor/lib/mine/f", "x").unwrap();
        for path in ["vendor/f", "vendor/new/f", "vendor/lib/f", "alias/f", "alias/new", "x/../vendor/f"] {
            assert_eq!(kind(put(&ws, path, "x")), ErrorKind::ReadOnly, "{path}");
        }
        let absolute = root.join("vendor/f");
        assert_eq!(kind(put(&ws, absolute.to_str().unwrap(), "x")), ErrorKind::ReadOnly);
        assert_eq!(kind(delete(&ws, "vendor/f")), ErrorKind::ReadOnly);
        assert_eq!(read(&ws, "vendor/f").unwrap(), b"v");
        assert_eq!(ws.locate("alias/f").unwrap().display, "vendor/f");
        assert!(!ws.locate("alias/f").unwrap().writable);
        // Deleting a directory in which a root lies.
        assert_eq!(kind(delete_tree(&ws, "vendor")), ErrorKind::Protected);
        assert_eq!(kind(delete_tree(&ws, "vendor/lib/mine")), ErrorKind::Protected);
    }
}

#[test]
fn several_roots_and_mounts() {
    let temp = tempfile::tempdir().unwrap();
    for dir in ["a", "b", "spill"] {
        std::fs::create_dir(temp.path().join(dir)).unwrap();
        std::fs::write(temp.path().join(dir).join("f"), dir).unwrap();
    }
    let ws = Workspace::builder()
        .mount("spill", MountSource::Disk(temp.path().join("spill")), Access::ReadOnly)
        .mount("vfs", MountSource::Memory, Access::ReadWrite)
        .root(temp.path().join("a"), Access::ReadWrite)
        .root(temp.path().join("b"), Access::ReadOnly)
        .build()
        .unwrap();
    assert_eq!(read(&ws, "f").unwrap(), b"a");
    let other = temp.path().join("b/f").canonicalize().unwrap();
    let data = ws.read(other.to_str().unwrap(), 10).unwrap();
    assert_eq!((data.path.as_str(), data.bytes.as_slice()), (other.to_str().unwrap(), &b"b"[..]));
    assert_eq!(ws.read("spill://f", 10).unwrap().path, "spill://f");
    assert_eq!(kind(put(&ws, "spill://f", "")), ErrorKind::ReadOnly);
    assert_eq!(kind(read(&ws, "spill://../a/f")), ErrorKind::OutsideWorkspace);
    assert_eq!(kind(read(&ws, "../b/f")), ErrorKind::OutsideWorkspace);
    let mut change = ws.begin(label());
    change.put("vfs://x/y", b"m".to_vec(), Expect::Absent).unwrap();
    change.put("both", b"d".to_vec(), Expect::Absent).unwrap();
    let id = change.commit(&|| false).unwrap().change_id;
    assert_eq!(read(&ws, "vfs://x/y").unwrap(), b"m");
    undo(&ws, &id).unwrap();
    assert!(ws.list("vfs://").unwrap().is_empty());
    // A mount is reached by its name alone.
    assert_eq!(kind(read(&ws, temp.path().join("spill/f").to_str().unwrap())), ErrorKind::OutsideWorkspace);
    assert_eq!(ws.roots().len(), 4);
}

#[test]
fn p50_to_p53_protected_places() {
    for backend in BACKENDS {
        let w = World::with(backend, |builder, _| builder.protect("secrets/*.pem"));
        for dir in [
            ".git",
            ".git/hooks",
            ".git/info",
            "sub",
            "sub/.git",
            "bare.git",
            "bare.git/objects",
            "bare.git/refs",
        ] {
            w.mkdir(dir);
        }
        w.write(".git/config", "c");
        w.write("bare.git/HEAD", "ref");
        w.write("bare.git/config", "c");
        w.symlink(".git/hooks", "innocent");
        let protected = [
            ".git/hooks/pre-commit",
            ".git/config",
            ".GIT/config",
            ".Git/Hooks/x",
            ".g\u{200c}it/hooks/x",
            "sub/.git/config",
            "sub/.git/hooks/a/b",
            "not/yet/.git/hooks/x",
            ".git/modules/m/hooks/x",
            ".git/modules/m/config",
            ".git/config.worktree",
            ".git",
            "sub/.git",
            "new/.git",
            ".toolcrib/toolcrib.toml",
            ".Toolcrib/x",
            "sub/.toolcrib/x",
            "innocent/pre-commit",
            "secrets/a.pem",
            "Secrets/B.PEM",
            "bare.git/hooks/post-update",
            "bare.git/config",
        ];
        for path in protected {
            let made = kind(put(&w.ws, path, "x"));
            assert!(matches!(made, ErrorKind::Protected), "{backend:?} put {path}: {made:?}");
            assert!(!w.ws.locate(path).unwrap().writable, "{path}");
        }
        for path in [".git", "sub", ".git/hooks", "bare.git", "."] {
            assert_eq!(kind(delete_tree(&w.ws, path)), ErrorKind::Protected, "{backend:?} delete {path}");
        }
        assert_eq!(kind(delete(&w.ws, ".git/config")), ErrorKind::Protected);
        assert_eq!(kind(rename(&w.ws, ".git/config", "x")), ErrorKind::Protected);
        assert_eq!(read(&w.ws, ".git/config").unwrap(), b"c");
        for path in [".git/info/exclude", ".gitignore", "hooks/x", "config", "secrets/a.txt"] {
            put(&w.ws, path, "fine").unwrap();
        }
    }
}

#[test]
fn p52_the_git_directory_behind_a_file() {
    on_disk(|w| {
        w.mkdir("elsewhere");
        w.write(".git", "gitdir: elsewhere\n");
        assert_eq!(kind(put(&w.ws, "elsewhere/hooks/x", "")), ErrorKind::Protected);
        assert_eq!(kind(put(&w.ws, "elsewhere/config", "")), ErrorKind::Protected);
        assert_eq!(kind(delete_tree(&w.ws, "elsewhere")), ErrorKind::Protected);
        assert_eq!(kind(put(&w.ws, ".git", "gitdir: ../out")), ErrorKind::Protected);
        w.write(".git", "gitdir: ../out/x");
        let outside = w.outside().canonicalize().unwrap().join("x");
        assert!(w.ws.protected_paths().contains(&outside), "{:?}", w.ws.protected_paths());
    });
}

#[test]
fn p56_own_state_inside_a_root() {
    for backend in DISKS {
        let w = World::with(backend, |builder, temp| {
            builder.state(toolcrib_workspace::StateDir::at(temp.join("ws/state")).unwrap())
        });
        assert_eq!(kind(put(&w.ws, "state/journal/changes/c1.json", "{}")), ErrorKind::Protected);
        put(&w.ws, "f", "x").unwrap();
        assert_eq!(kind(delete_tree(&w.ws, "state")), ErrorKind::Protected);
        assert_eq!(kind(delete(&w.ws, "state/journal/changes/c1.json")), ErrorKind::Protected);
        assert!(w.root().join("state/journal/changes/c1.json").exists());
    }
}

#[test]
fn p64_a_growing_file_is_capped() {
    on_disk(|w| {
        w.write("log", "x".repeat(1000));
        let stop = Arc::new(AtomicBool::new(false));
        let (path, stopped) = (w.root().join("log"), stop.clone());
        let writer = std::thread::spawn(move || {
            use std::io::Write;
            let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
            while !stopped.load(Ordering::Relaxed) && file.metadata().unwrap().len() < 200_000_000 {
                file.write_all(&[b'y'; 4096]).unwrap();
            }
        });
        for _ in 0..50 {
            match w.ws.read("log", 100_000) {
                Ok(data) => assert!(data.bytes.len() <= 100_000),
                Err(error) => assert_eq!(error.kind(), ErrorKind::TooLarge),
            }
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
}

#[test]
fn p65_forbidden_by_the_system() {
    // Root may do anything, so there is nothing to see.
    if rustix::process::geteuid().is_root() {
        println!("skipped: running as root");
        return;
    }
    on_disk(|w| {
        w.write("locked", "x");
        w.mkdir("dir");
        std::fs::set_permissions(w.root().join("locked"), std::fs::Permissions::from_mode(0o000)).unwrap();
        std::fs::set_permissions(w.root().join("dir"), std::fs::Permissions::from_mode(0o555)).unwrap();
        assert_eq!(kind(read(&w.ws, "locked")), ErrorKind::PermissionDenied);
        assert_eq!(kind(put(&w.ws, "dir/f", "x")), ErrorKind::PermissionDenied);
        std::fs::set_permissions(w.root().join("dir"), std::fs::Permissions::from_mode(0o755)).unwrap();
    });
}

#[test]
fn read_only_roots_are_read_only() {
    for portable in [false, true] {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("f"), "x").unwrap();
        let ws = Workspace::builder().root(temp.path(), Access::ReadOnly).portable(portable).build().unwrap();
        assert_eq!(read(&ws, "f").unwrap(), b"x");
        assert_eq!(kind(put(&ws, "f", "y")), ErrorKind::ReadOnly);
        assert_eq!(kind(put(&ws, "new/f", "y")), ErrorKind::ReadOnly);
        assert_eq!(kind(delete(&ws, "f")), ErrorKind::ReadOnly);
        assert!(!ws.locate("f").unwrap().writable);
    }
    assert_eq!(kind(Workspace::open("/nonexistent/root")), ErrorKind::NotFound);
}

/// P18-P20: a directory of the workspace and a link to the outside change places as fast as they can.
fn race(backend: Backend) -> (u64, u64, u64) {
    let w = World::new(backend);
    w.mkdir("d");
    w.mkdir("d/sub");
    w.write("d/secret", "inside");
    w.write("d/sub/secret", "inside");
    std::fs::create_dir(w.outside().join("sub")).unwrap();
    std::fs::write(w.outside().join("sub/secret"), SECRET).unwrap();
    symlink(w.outside(), w.root().join("l")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swaps = Arc::new(AtomicU64::new(0));
    let (root, stopped, counted) = (w.root(), stop.clone(), swaps.clone());
    let swapper = std::thread::spawn(move || {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        while !stopped.load(Ordering::Relaxed) {
            let (d, l) = (root.join("d"), root.join("l"));
            rustix::fs::renameat_with(rustix::fs::CWD, &d, rustix::fs::CWD, &l, flags).unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (mut escapes, mut successes) = (0, 0);
    let start = Instant::now();
    let mut round = 0_u64;
    while start.elapsed() < Duration::from_millis(1500) {
        round += 1;
        for path in ["d/secret", "d/sub/secret", "l/secret"] {
            if let Ok(bytes) = read(&w.ws, path) {
                successes += 1;
                escapes += u64::from(bytes == SECRET);
            }
        }
        if let Ok(found) = w.ws.directory("d") {
            let leaked = found.dir.open_file("secret".as_ref()).ok().and_then(|mut file| {
                let mut bytes = Vec::new();
                std::io::Read::read_to_end(&mut file, &mut bytes).ok()?;
                Some(bytes == SECRET)
            });
            escapes += u64::from(leaked == Some(true));
        }
        if round.is_multiple_of(4) {
            let _ = put(&w.ws, "d/secret", format!("inside {round}"));
            let _ = put(&w.ws, "d/sub/made/new", format!("{round}"));
            let _ = delete_tree(&w.ws, "d/sub/made");
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    let mut names: Vec<_> =
        std::fs::read_dir(w.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["secret", "sub"]);
    assert_eq!(std::fs::read_dir(w.outside().join("sub")).unwrap().count(), 1);
    assert_eq!(std::fs::read(w.outside().join("secret")).unwrap(), SECRET);
    assert_eq!(std::fs::read(w.outside().join("sub/secret")).unwrap(), SECRET);
    (escapes, successes, swaps.load(Ordering::Relaxed))
}

#[test]
fn p18_p19_exchanging_a_directory_with_a_link() {
    for backend in DISKS {
        let (escapes, successes, swaps) = race(backend);
        println!("{backend:?}: {escapes} escapes, {successes} reads, {swaps} swaps");
        assert_eq!(escapes, 0);
        assert!(successes > 100 && swaps > 100, "{successes} reads, {swaps} swaps: no race took place");
    }
}

/// The same exchange does catch an implementation that checks a path and then opens it, so the test above can fail.
#[test]
fn the_race_catches_check_then_open() {
    let w = World::new(Backend::Kernel);
    w.mkdir("d");
    w.write("d/secret", "inside");
    symlink(w.outside(), w.root().join("l")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (root, stopped) = (w.root(), stop.clone());
    let swapper = std::thread::spawn(move || {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        while !stopped.load(Ordering::Relaxed) {
            let (d, l) = (root.join("d"), root.join("l"));
            rustix::fs::renameat_with(rustix::fs::CWD, &d, rustix::fs::CWD, &l, flags).unwrap();
        }
    });
    let root = w.root().canonicalize().unwrap();
    let start = Instant::now();
    let mut escaped = false;
    while !escaped && start.elapsed() < Duration::from_secs(20) {
        let path = root.join("d/secret");
        if path.canonicalize().is_ok_and(|path| path.starts_with(&root)) {
            escaped = std::fs::read(&path).is_ok_and(|bytes| bytes == SECRET);
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(escaped);
}

#[test]
fn a_git_directory_cannot_be_put_together_or_reached_by_another_name() {
    let temp = tempfile::tempdir().unwrap();
    let ws = temp.path().join("ws");
    std::fs::create_dir_all(ws.join(".bare/objects")).unwrap();
    std::fs::create_dir_all(ws.join(".bare/refs")).unwrap();
    std::fs::create_dir_all(ws.join(".bare/worktrees/main")).unwrap();
    std::fs::write(ws.join(".bare/HEAD"), "ref: x\n").unwrap();
    std::fs::create_dir_all(ws.join(".git")).unwrap();
    std::fs::create_dir_all(ws.join("githooks")).unwrap();
    std::os::unix::fs::symlink("../githooks", ws.join(".git/hooks")).unwrap();
    let workspace = Workspace::open(&ws).unwrap();
    let put = |paths: &[&str]| {
        let mut change = workspace.begin(label());
        for path in paths {
            change.put(path, b"x".to_vec(), Expect::Any)?;
        }
        change.commit(&|| false).map(drop)
    };
    let kind = |paths: &[&str]| put(paths).err().map(|error| error.kind());
    for path in [".bare/worktrees/main/commondir", ".bare/config", ".git/hooks/pre-commit"] {
        assert_eq!(kind(&[path]), Some(ErrorKind::Protected), "{path}");
    }
    assert_eq!(kind(&["x/HEAD", "x/config", "x/objects/a", "x/refs/a"]), Some(ErrorKind::Protected));
    assert_eq!(kind(&["y/config", "y/HEAD", "y/objects/a"]), None, "two parts are no repository");
    assert_eq!(kind(&["y/refs/a"]), Some(ErrorKind::Protected), "the third part completes it");
    assert_eq!(kind(&["githooks/pre-commit"]), None, "by its own name it is an ordinary file");
}
