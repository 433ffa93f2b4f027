//! The journal: crashes at every step, damage, newer versions, contention, limits.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod fs_support;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Barrier;

use fs_support::*;
use tempfile::TempDir;
use toolcrib_workspace::{Access, Change, ErrorKind, Expect, Hash, StateDir, Workspace, WorkspaceBuilder};

fn fresh() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir(temp.path().join("ws")).unwrap();
    temp
}

fn journaled(temp: &Path) -> WorkspaceBuilder {
    Workspace::builder().root(temp.join("ws"), Access::ReadWrite).state(state_in(temp))
}

fn open(temp: &Path) -> Workspace {
    journaled(temp).build().unwrap()
}

/// A change of every kind at once, over a tree made for it.
fn prepare(ws: &Workspace) {
    let mut change = ws.begin(label());
    for (path, text) in
        [("mod", "old"), ("mod2", "old 2"), ("gone", "bye"), ("dir/a", "1"), ("dir/b/c", "2"), ("file", "x")]
    {
        change.put(path, text.into(), Expect::Absent).unwrap();
    }
    change.commit(&|| false).unwrap();
}

fn rich(ws: &Workspace) -> Change {
    let mut change = ws.begin(label());
    change.put("mod", b"new".to_vec(), Expect::Hash(Hash::of(b"old"))).unwrap();
    change.put("mod2", b"new 2".to_vec(), Expect::Any).unwrap();
    change.put("made/deep/er", b"made".to_vec(), Expect::Absent).unwrap();
    change.delete("gone", Expect::Any).unwrap();
    change.delete_tree("dir").unwrap();
    change.put("dir", b"a file now".to_vec(), Expect::Absent).unwrap();
    change.delete("file", Expect::Any).unwrap();
    change.put("file/inside", b"a directory now".to_vec(), Expect::Absent).unwrap();
    change.rename("link-target", "moved", None, Expect::Any, Expect::Absent).unwrap_err();
    change
}

#[test]
fn a_crash_at_any_step_leaves_all_or_nothing() {
    for portable in [false, true] {
        let (mut crashes, mut completed, mut reverted) = (0, 0, 0);
        for steps in 0.. {
            let temp = fresh();
            let ws = open(temp.path());
            prepare(&ws);
            let before = ws_tree(temp.path());
            let dying = journaled(temp.path()).portable(portable).crash_after(steps).build().unwrap();
            let result = rich(&dying).commit(&|| false);
            drop(dying);
            let next = open(temp.path());
            let listed = all_changes(&next);
            let after = ws_tree(temp.path());
            if result.is_ok() {
                assert_eq!(listed.len(), 2);
                break;
            }
            crashes += 1;
            match listed.len() {
                1 => {
                    assert_eq!(after, before, "crash after {steps}");
                    reverted += 1;
                }
                2 => {
                    assert_eq!(after["ws/made/deep/er"], "made", "crash after {steps}");
                    assert!(!after.contains_key("ws/gone"));
                    undo(&next, &listed[0].change_id).unwrap();
                    assert_eq!(ws_tree(temp.path()), before, "undo after a crash after {steps}");
                    completed += 1;
                }
                other => panic!("{other} changes"),
            }
            assert!(is_empty(&temp.path().join("state/journal/pending")));
            put(&next, "life", "goes on").unwrap();
        }
        println!("{crashes} crashes: {reverted} reverted, {completed} completed");
        assert!(crashes > 15 && completed >= 1 && reverted > 10);
    }
}

#[test]
fn a_crash_during_recovery_is_recovered_too() {
    for crash in [15, 18, 21, 24] {
        for again in 0.. {
            let temp = fresh();
            let ws = open(temp.path());
            prepare(&ws);
            let before = ws_tree(temp.path());
            let dying = journaled(temp.path()).crash_after(crash).build().unwrap();
            rich(&dying).commit(&|| false).unwrap_err();
            assert_ne!(ws_tree(temp.path()), before, "the crash came too early");
            let dying = journaled(temp.path()).crash_after(again).build().unwrap();
            all_changes(&dying);
            let recovered = !dying.journal_problems().iter().any(|problem| problem.contains("simulated"));
            let next = open(temp.path());
            assert_eq!(all_changes(&next).len(), 1);
            assert_eq!(ws_tree(temp.path()), before, "crash {crash}, then {again}");
            if recovered {
                break;
            }
        }
    }
}

/// The whole tree, straight from the disk.
fn ws_tree(temp: &Path) -> BTreeMap<String, String> {
    fn add(base: &Path, dir: &Path, into: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(base).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                add(base, &path, into);
                into.insert(name, "<dir>".into());
            } else {
                into.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut into = BTreeMap::new();
    add(temp, &temp.join("ws"), &mut into);
    into
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().count() == 0
}

#[test]
fn a_persons_edit_after_a_crash_is_left_alone() {
    let temp = fresh();
    let ws = open(temp.path());
    put(&ws, "a", "1").unwrap();
    put(&ws, "b", "1").unwrap();
    for steps in 0.. {
        let dying = journaled(temp.path()).crash_after(steps).build().unwrap();
        let mut change = dying.begin(label());
        change.put("a", b"2".to_vec(), Expect::Any).unwrap();
        change.put("b", b"2".to_vec(), Expect::Any).unwrap();
        change.commit(&|| false).unwrap_err();
        if std::fs::read(temp.path().join("ws/a")).unwrap() == b"2" {
            break;
        }
    }
    std::fs::write(temp.path().join("ws/b"), "a person").unwrap();
    let next = open(temp.path());
    assert_eq!(all_changes(&next).len(), 2);
    assert_eq!(std::fs::read(temp.path().join("ws/a")).unwrap(), b"1");
    assert_eq!(std::fs::read(temp.path().join("ws/b")).unwrap(), b"a person");
    assert!(
        next.journal_problems().iter().any(|problem| problem.contains('b')),
        "{:?}",
        next.journal_problems()
    );
    put(&next, "a", "3").unwrap();
}

#[test]
fn the_journal_outlives_the_process() {
    let temp = fresh();
    let id = put(&open(temp.path()), "f", "1").unwrap().change_id;
    let second = put(&open(temp.path()), "f", "2").unwrap().change_id;
    assert_ne!(id, second);
    let ws = open(temp.path());
    undo(&ws, &second).unwrap();
    undo(&open(temp.path()), &id).unwrap();
    assert!(ws.list(".").unwrap().is_empty());
    assert_eq!(all_changes(&ws).len(), 4);
}

#[test]
fn a_removed_journal_begins_again() {
    for portable in [false, true] {
        let temp = fresh();
        let ws = journaled(temp.path()).portable(portable).build().unwrap();
        put(&ws, "f", "1").unwrap();
        std::fs::remove_dir_all(temp.path().join("state")).unwrap();
        assert!(all_changes(&ws).is_empty());
        let id = put(&ws, "f", "2").unwrap().change_id;
        undo(&ws, &id).unwrap();
        assert_eq!(read(&ws, "f").unwrap(), b"1");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_unicode_come_back() {
    use std::os::unix::ffi::OsStringExt;
    let temp = fresh();
    let ws = open(temp.path());
    let dir = temp.path().join("ws/t").join(OsString::from_vec(b"d\xff".to_vec()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join(OsString::from_vec(b"\x80\xfe".to_vec()));
    std::fs::write(&file, "x").unwrap();
    symlink(OsString::from_vec(b"\xfe".to_vec()), dir.join("link")).unwrap();
    let mut change = ws.begin(label());
    assert_eq!(change.delete_tree("t").unwrap(), 2);
    let id = change.commit(&|| false).unwrap().change_id;
    assert!(is_empty(&temp.path().join("ws")));
    undo(&open(temp.path()), &id).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"x");
    assert_eq!(std::fs::read_link(dir.join("link")).unwrap().into_os_string().into_vec(), b"\xfe");
}

#[test]
fn damaged_records_are_put_aside() {
    let temp = fresh();
    let ws = open(temp.path());
    for n in 0..4 {
        put(&ws, &format!("f{n}"), "x").unwrap();
    }
    let journal = temp.path().join("state/journal");
    std::fs::write(journal.join("changes/c2.json"), "{ torn").unwrap();
    std::fs::write(journal.join("changes/strange.json"), "{}").unwrap();
    std::fs::copy(journal.join("changes/c1.json"), journal.join("changes/c9.json")).unwrap();
    std::fs::write(journal.join("pending/c7.json"), b"\xff\xfe").unwrap();
    let next = open(temp.path());
    let ids: Vec<_> = all_changes(&next).into_iter().map(|info| info.change_id).collect();
    assert_eq!(ids, ["c4", "c3", "c1"]);
    assert!(next.journal_problems().len() >= 4);
    let mut aside: Vec<OsString> = std::fs::read_dir(journal.join("quarantine"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    aside.sort();
    assert_eq!(aside, ["c2.json", "c7.json", "c9.json", "strange.json"]);
    undo(&next, "c3").unwrap();
    // Ids are never used twice.
    assert_eq!(put(&next, "g", "x").unwrap().change_id, "c11");
}

#[test]
fn a_damaged_or_lost_content_is_noticed() {
    let temp = fresh();
    let ws = open(temp.path());
    put(&ws, "f", "1").unwrap();
    let id = put(&ws, "f", "2").unwrap().change_id;
    let other = put(&ws, "g", "3").unwrap().change_id;
    let blob = temp.path().join("state/journal/blobs").join(Hash::of(b"1").to_string());
    std::fs::write(&blob, "0").unwrap();
    assert_eq!(kind(undo(&ws, &id)), ErrorKind::Corrupt);
    std::fs::remove_file(&blob).unwrap();
    assert_eq!(kind(undo(&ws, &id)), ErrorKind::Corrupt);
    assert_eq!(read(&ws, "f").unwrap(), b"2");
    undo(&ws, &other).unwrap();
    // A content that is needed again is kept anew.
    put(&ws, "f", "1").unwrap();
    undo(&ws, &put(&ws, "f", "4").unwrap().change_id).unwrap();
    assert_eq!(read(&ws, "f").unwrap(), b"1");
}

#[test]
fn newer_versions_are_shown_and_not_touched() {
    let temp = fresh();
    let ws = open(temp.path());
    put(&ws, "f", "1").unwrap();
    let journal = temp.path().join("state/journal");
    let record =
        r#"{"version": 2, "id": "c5", "tool": "future", "at": "2030-01-01T00:00:00Z", "wings": true}"#;
    std::fs::write(journal.join("changes/c5.json"), record).unwrap();
    let listed = all_changes(&ws);
    assert_eq!((listed[0].tool.as_str(), listed[0].newer_version), ("future", true));
    assert_eq!(kind(undo(&ws, "c5")), ErrorKind::NewerVersion);
    put(&ws, "f", "2").unwrap();
    // A change left open by a newer version must be finished by it.
    std::fs::write(journal.join("pending/c8.json"), record.replace("c5", "c8")).unwrap();
    assert_eq!(kind(put(&ws, "f", "3")), ErrorKind::NewerVersion);
    assert_eq!(all_changes(&ws).len(), 3);
    assert!(journal.join("pending/c8.json").exists());
    std::fs::remove_file(journal.join("pending/c8.json")).unwrap();
    std::fs::write(journal.join("version"), "7\n").unwrap();
    assert_eq!(kind(put(&ws, "f", "3")), ErrorKind::NewerVersion);
    assert_eq!(kind(undo(&ws, "c1")), ErrorKind::NewerVersion);
    assert_eq!(all_changes(&ws).len(), 3);
    assert_eq!(read(&ws, "f").unwrap(), b"2");
}

#[test]
fn o10_private_files_and_no_symlinks() {
    let temp = fresh();
    put(&open(temp.path()), "f", "1").unwrap();
    put(&open(temp.path()), "f", "2").unwrap();
    fn check(dir: &Path) {
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(dir), 0o700, "{}", dir.display());
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                check(&path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
            }
        }
    }
    check(&temp.path().join("state"));
    // Somebody plants a link where the state will be.
    let temp = fresh();
    std::fs::create_dir(temp.path().join("elsewhere")).unwrap();
    symlink("elsewhere", temp.path().join("state")).unwrap();
    assert!(put(&open(temp.path()), "f", "1").is_err());
    assert!(is_empty(&temp.path().join("elsewhere")));
    assert!(is_empty(&temp.path().join("ws")));
}

#[test]
fn without_a_place_for_state_nothing_is_touched() {
    let temp = fresh();
    std::fs::write(temp.path().join("file"), "").unwrap();
    let state = StateDir::at(temp.path().join("file/state")).unwrap();
    let ws =
        Workspace::builder().root(temp.path().join("ws"), Access::ReadWrite).state(state).build().unwrap();
    let error = put(&ws, "f", "1").unwrap_err();
    assert!(error.to_string().contains("state directory"), "{error}");
    assert!(is_empty(&temp.path().join("ws")));
}

#[test]
fn where_state_lives() {
    let env = |pairs: &'static [(&str, &str)]| {
        move |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    };
    let roots = [std::path::PathBuf::from("/some/My Project")];
    let home = StateDir::from_environment(&roots, env(&[("HOME", "/home/u")])).unwrap();
    let path = home.path().to_str().unwrap().to_owned();
    assert!(path.starts_with("/home/u/.local/state/toolcrib/My_Project-"), "{path}");
    assert!(home.cache_path().starts_with("/home/u/.cache/toolcrib"));
    let set = env(&[("HOME", "/home/u"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "relative")]);
    let set = StateDir::from_environment(&roots, set).unwrap();
    assert!(set.path().starts_with("/s/toolcrib"));
    assert!(set.cache_path().starts_with("/home/u/.cache"));
    assert_eq!(kind(StateDir::from_environment(&roots, env(&[]))), ErrorKind::NotFound);
    let other = [std::path::PathBuf::from("/other/My Project")];
    assert_ne!(StateDir::from_environment(&other, env(&[("HOME", "/home/u")])).unwrap().path(), home.path());

    let temp = tempfile::tempdir().unwrap();
    let state = StateDir::at(temp.path().join("s")).unwrap();
    assert_eq!(state.read("sessions", "a.json", 10).unwrap(), None);
    assert!(is_empty(temp.path()));
    state.write("sessions", "a.json", b"{}").unwrap();
    state.write("sessions", "a.json", b"[]").unwrap();
    assert_eq!(state.read("sessions", "a.json", 10).unwrap().as_deref(), Some(&b"[]"[..]));
    assert_eq!(kind(state.read("sessions", "a.json", 1)), ErrorKind::TooLarge);
    assert!(state.write("sessions", "../escape", b"").is_err());
    assert!(state.ensure("spill").unwrap().is_dir());
}

#[test]
fn the_journal_is_bounded() {
    let temp = fresh();
    let ws = journaled(temp.path()).journal_limits(10, 1 << 20).build().unwrap();
    for n in 0..200 {
        put(&ws, "f", format!("{n}")).unwrap();
    }
    let kept = all_changes(&ws).len();
    assert!((10..=42).contains(&kept), "{kept}");
    let blobs = std::fs::read_dir(temp.path().join("state/journal/blobs")).unwrap().count();
    assert!(blobs <= 45, "{blobs}");
    for info in all_changes(&ws) {
        undo(&ws, &info.change_id).unwrap();
    }
    // And by bytes: the newest stays whatever its size.
    let ws = journaled(temp.path()).journal_limits(1000, 1000).build().unwrap();
    for n in 0..70_u8 {
        put(&ws, "f", vec![n; 400]).unwrap();
    }
    assert!(all_changes(&ws).len() < 70);
    undo(&ws, &all_changes(&ws)[0].change_id).unwrap();
}

#[test]
fn e04_no_edit_is_lost() {
    for shared_journal in [true, false] {
        let temp = fresh();
        std::fs::write(temp.path().join("ws/count"), "0").unwrap();
        let barrier = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    // A handle of its own, as another process would have; flock does not know threads.
                    let builder = Workspace::builder().root(temp.path().join("ws"), Access::ReadWrite);
                    let builder = if shared_journal { builder.state(state_in(temp.path())) } else { builder };
                    let ws = builder.build().unwrap();
                    barrier.wait();
                    let mut done = 0;
                    while done < 10 {
                        let data = ws.read("count", 100).unwrap();
                        let next: u64 = String::from_utf8(data.bytes).unwrap().parse::<u64>().unwrap() + 1;
                        let mut change = ws.begin(label());
                        let result = change
                            .put("count", next.to_string().into_bytes(), Expect::Hash(data.hash))
                            .and_then(|()| change.commit(&|| false));
                        match result {
                            Ok(_) => done += 1,
                            Err(error) => assert_eq!(error.kind(), ErrorKind::Stale),
                        }
                    }
                });
            }
        });
        assert_eq!(std::fs::read_to_string(temp.path().join("ws/count")).unwrap(), "40");
        if shared_journal {
            assert_eq!(all_changes(&open(temp.path())).len(), 40);
        }
    }
}

/// A process of its own, killed while it holds the lock and writes without end.
#[test]
fn k29_kill_in_the_middle() {
    const CHILD: &str = "TOOLCRIB_TEST_WRITER";
    if let Some(temp) = std::env::var_os(CHILD) {
        let ws = open(Path::new(&temp));
        for n in 0_u64.. {
            let mut change = ws.begin(label());
            for file in ["a", "b", "c/d"] {
                change.put(file, format!("{n}").repeat(2000).into_bytes(), Expect::Any).unwrap();
            }
            change.commit(&|| false).unwrap();
            println!("{n}");
        }
    }
    for round in 0..12 {
        let temp = fresh();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "k29_kill_in_the_middle", "--nocapture"])
            .env(CHILD, temp.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        let seen =
            lines.by_ref().filter(|line| line.as_ref().is_ok_and(|line| line.trim().parse::<u64>().is_ok()));
        // Killed at a moment of its own in each round: right after a line, a different share of the next commit later.
        assert_eq!(seen.take(2 + round % 3).count(), 2 + round % 3);
        for _ in 0..round * 2000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let ws = open(temp.path());
        let changes = all_changes(&ws);
        assert!(changes.len() >= 2, "{:?}", ws.journal_problems());
        let a = read(&ws, "a").unwrap();
        assert_eq!(a, read(&ws, "b").unwrap());
        assert_eq!(a, read(&ws, "c/d").unwrap());
        put(&ws, "a", "next").unwrap();
    }
}

#[test]
fn an_edit_on_top_of_a_change_that_was_through_is_not_torn() {
    // Find the last step before the commit mark, where every file is new already.
    for steps in 1..200 {
        let temp = fresh();
        let (one, two) = (temp.path().join("ws/one"), temp.path().join("ws/two"));
        std::fs::write(&one, "old").unwrap();
        std::fs::write(&two, "old").unwrap();
        let crashing = journaled(temp.path()).crash_after(steps).build().unwrap();
        let mut change = crashing.begin(label());
        change.put("one", b"new".to_vec(), Expect::Any).unwrap();
        change.put("two", b"new".to_vec(), Expect::Any).unwrap();
        let crashed = change.commit(&|| false).is_err();
        drop(crashing);
        if !crashed {
            break;
        }
        if std::fs::read(&one).unwrap() != b"new" || std::fs::read(&two).unwrap() != b"new" {
            continue;
        }
        std::fs::write(&one, "new, and a person's").unwrap();
        open(temp.path()).changes(&Default::default()).unwrap();
        assert_eq!(std::fs::read_to_string(&one).unwrap(), "new, and a person's");
        assert_eq!(std::fs::read_to_string(&two).unwrap(), "new", "half of the change was taken back");
        return;
    }
    panic!("no step at which all files were new");
}

#[test]
fn undo_leaves_a_mode_that_a_person_changed() {
    let temp = fresh();
    let file = temp.path().join("ws/run.sh");
    std::fs::write(&file, "old").unwrap();
    let ws = open(temp.path());
    let mut change = ws.begin(label());
    change.put("run.sh", b"new".to_vec(), Expect::Any).unwrap();
    let id = change.commit(&|| false).unwrap().change_id;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    ws.undo(&[id], label(), false).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o755);
}
