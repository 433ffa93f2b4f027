//! Killing a writer, or failing it, at each of its system calls: `strace` injects, a fresh process looks.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod fs_support;

use std::path::Path;
use std::process::Command;

use fs_support::*;
use toolcrib_workspace::{Access, Expect, Workspace};

const CHILD: &str = "TOOLCRIB_TEST_CRASH_CHILD";
const PORTABLE: &str = "TOOLCRIB_TEST_CRASH_PORTABLE";

fn open(temp: &Path) -> Workspace {
    let portable = std::env::var_os(PORTABLE).is_some();
    Workspace::builder()
        .root(temp.join("ws"), Access::ReadWrite)
        .state(state_in(temp))
        .portable(portable)
        .build()
        .unwrap()
}

/// The victim: one change of every kind.
#[test]
fn victim() {
    let Some(temp) = std::env::var_os(CHILD) else { return };
    let ws = open(Path::new(&temp));
    let mut change = ws.begin(label());
    change.put("a", b"new".to_vec(), Expect::Any).unwrap();
    change.put("b", b"new".to_vec(), Expect::Any).unwrap();
    change.put("made/c", b"new".to_vec(), Expect::Absent).unwrap();
    change.delete("gone", Expect::Any).unwrap();
    change.commit(&|| false).unwrap();
}

/// Runs the victim; says whether the injection took place.
fn inject(temp: &Path, portable: bool, syscall: &str, fault: &str, nth: &str) -> bool {
    let log = temp.join("log");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(&log);
    command.args(["-e", &format!("trace={syscall}"), "-e", &format!("inject={syscall}:{fault}:when={nth}")]);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", "victim"]).env(CHILD, temp);
    if portable {
        command.env(PORTABLE, "1");
    }
    command.output().unwrap();
    let log = std::fs::read_to_string(&log).unwrap();
    log.contains("(INJECTED)") || log.contains("killed by SIGKILL")
}

fn all_or_nothing(syscall: &str, fault: &str, portable: bool, at_most: usize) -> (usize, usize) {
    let (mut injected, mut committed) = (0, 0);
    for nth in 1..=at_most {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("ws")).unwrap();
        for name in ["a", "b", "gone"] {
            std::fs::write(temp.path().join("ws").join(name), "old").unwrap();
        }
        // The journal is there already, so that the calls counted are those of the change.
        let first = put(&open(temp.path()), "first", "x").unwrap().change_id;
        if !inject(temp.path(), portable, syscall, fault, &nth.to_string()) {
            break;
        }
        injected += 1;
        let ws = open(temp.path());
        let changes = all_changes(&ws);
        assert_eq!(changes.last().unwrap().change_id, first);
        let shown: Vec<String> = tree(&ws)
            .into_iter()
            .filter(|(name, _)| !name.contains(".toolcrib-tmp-"))
            .map(|(name, node)| match node {
                Node::File(bytes, _) => format!("{name}={}", String::from_utf8(bytes).unwrap()),
                _ => name,
            })
            .collect();
        let new = ["a=new", "b=new", "first=x", "made", "made/c=new"];
        let old = ["a=old", "b=old", "first=x", "gone=old"];
        if changes.len() == 2 {
            committed += 1;
            assert_eq!(shown, new, "{syscall} {fault} {nth}");
        } else {
            assert_eq!(shown, old, "{syscall} {fault} {nth}: {:?}", ws.journal_problems());
        }
        put(&ws, "a", "and on").unwrap();
        assert_eq!(std::fs::read_dir(temp.path().join("state/journal/pending")).unwrap().count(), 0);
        let left = tree(&ws).keys().filter(|name| name.contains(".toolcrib-tmp-")).count();
        assert_eq!(left, 0, "temporary files left after {syscall} {fault} {nth}");
    }
    println!("{syscall} {fault}: {injected} injected, {committed} committed");
    (injected, committed)
}

fn strace_works() -> bool {
    let works = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .status()
        .is_ok_and(|status| status.success());
    if !works {
        println!("skipped: strace is not there or may not trace");
    }
    works
}

#[test]
fn killed_at_any_call() {
    if !strace_works() {
        return;
    }
    let mut total = 0;
    let often = [("write", 10), ("openat2", 20), ("openat", 20)];
    let each = [("fsync", 30), ("linkat", 30), ("renameat", 30), ("unlinkat", 30), ("mkdirat", 30)];
    for (syscall, at_most) in often.into_iter().chain(each) {
        let (injected, _) = all_or_nothing(syscall, "signal=KILL", false, at_most);
        assert!(injected > 0, "{syscall} was never called");
        total += injected;
    }
    total += all_or_nothing("renameat", "signal=KILL", true, 30).0;
    assert!(total > 20, "{total}");
}

#[test]
fn failed_at_any_call() {
    if !strace_works() {
        return;
    }
    let mut total = 0;
    for (syscall, fault) in [
        ("fsync", "error=EIO"),
        ("linkat", "error=ENOSPC"),
        ("renameat", "error=ENOSPC"),
        ("mkdirat", "error=ENOSPC"),
        ("unlinkat", "error=EACCES"),
        ("flock", "error=ENOLCK"),
        ("write", "error=ENOSPC"),
    ] {
        let (injected, _) = all_or_nothing(syscall, fault, false, 12);
        total += injected;
    }
    assert!(total > 20, "{total}");
}

/// A kernel or filter without `openat2`: the portable way takes over by itself.
#[test]
fn without_openat2() {
    if !strace_works() {
        return;
    }
    for error in ["ENOSYS", "EPERM"] {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("ws")).unwrap();
        for name in ["a", "b", "gone"] {
            std::fs::write(temp.path().join("ws").join(name), "old").unwrap();
        }
        assert!(
            inject(temp.path(), false, "openat2", &format!("error={error}"), "1+"),
            "openat2 was not tried"
        );
        assert_eq!(read(&open(temp.path()), "made/c").unwrap(), b"new", "{error}");
    }
}
