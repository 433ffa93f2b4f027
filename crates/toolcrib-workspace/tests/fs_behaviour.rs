//! What every backend must do alike.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod fs_support;

use std::os::unix::fs::PermissionsExt;

use fs_support::*;
use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::{Action, ChangeFilter, ErrorKind, Expect, Hash};

fn everywhere(test: impl Fn(World)) {
    for backend in BACKENDS {
        println!("on {backend:?}");
        test(World::new(backend));
    }
}

#[test]
fn creates_reads_and_lists() {
    everywhere(|w| {
        let done = put(&w.ws, "a/b/c.txt", "hello").unwrap();
        assert_eq!(done.change_id, "c1");
        assert_eq!(done.files.len(), 1);
        assert_eq!(done.files[0].path, "a/b/c.txt");
        assert_eq!(done.files[0].action, Action::Created);
        assert_eq!(done.files[0].before, None);
        assert_eq!(done.files[0].after.as_deref(), Some(&b"hello"[..]));
        let data = w.ws.read("./a//b/./c.txt/", 100).unwrap();
        assert_eq!((data.path.as_str(), data.bytes.as_slice()), ("a/b/c.txt", &b"hello"[..]));
        assert_eq!(data.hash, Hash::of(b"hello"));
        assert_eq!(data.mode, 0o644);
        let listed = w.ws.list("a").unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!((listed[0].0.name.to_str(), listed[0].0.kind), (Some("b"), EntryKind::Dir));
        assert_eq!(w.ws.stat("a/b/c.txt").unwrap().size, 5);
        assert_eq!(w.ws.stat(".").unwrap().kind, EntryKind::Dir);
        assert!(!w.ws.locate("a/x/y").unwrap().exists);
        assert_eq!(w.ws.locate("a/x/../b").unwrap().display, "a/b");
        let walk = w.ws.directory("a/b").unwrap();
        let parents: Vec<_> = walk.parents.iter().map(|(display, _)| display.as_str()).collect();
        assert_eq!((walk.display.as_str(), parents), ("a/b", vec![".", "a"]));
    });
}

#[test]
fn kinds_of_error() {
    everywhere(|w| {
        put(&w.ws, "dir/file", "x").unwrap();
        assert_eq!(kind(read(&w.ws, "none")), ErrorKind::NotFound);
        assert_eq!(kind(read(&w.ws, "dir")), ErrorKind::IsDirectory);
        assert_eq!(kind(w.ws.list("dir/file")), ErrorKind::NotADirectory);
        assert_eq!(kind(read(&w.ws, "dir/file/x")), ErrorKind::NotADirectory);
        assert_eq!(kind(put(&w.ws, "dir/file/x", "")), ErrorKind::NotADirectory);
        assert_eq!(kind(put(&w.ws, "dir", "")), ErrorKind::IsDirectory);
        assert_eq!(kind(delete(&w.ws, "dir")), ErrorKind::IsDirectory);
        assert_eq!(kind(delete(&w.ws, "none")), ErrorKind::NotFound);
        assert_eq!(kind(rename(&w.ws, "none", "x")), ErrorKind::NotFound);
        assert_eq!(kind(w.ws.read("dir/file", 0)), ErrorKind::TooLarge);
        assert_eq!(kind(put(&w.ws, ".", "")), ErrorKind::Protected);
        assert_eq!(kind(delete_tree(&w.ws, ".")), ErrorKind::Protected);
        assert_eq!(kind(read(&w.ws, "nowhere://x")), ErrorKind::NotFound);
        assert_eq!(kind(undo(&w.ws, "c99")), ErrorKind::NotFound);
    });
}

#[test]
fn expectations() {
    everywhere(|w| {
        put(&w.ws, "f", "one").unwrap();
        let mut change = w.ws.begin(label());
        assert_eq!(kind(change.put("f", vec![], Expect::Absent)), ErrorKind::AlreadyExists);
        assert_eq!(kind(change.put("f", vec![], Expect::Hash(Hash::of(b"two")))), ErrorKind::Stale);
        assert_eq!(kind(change.put("g", vec![], Expect::Hash(Hash::of(b"two")))), ErrorKind::Stale);
        assert!(change.is_empty());
        change.put("f", b"two".to_vec(), Expect::Hash(Hash::of(b"one"))).unwrap();
        // Somebody else writes between planning and committing.
        w.write("f", "theirs");
        assert_eq!(kind(change.commit(&|| false)), ErrorKind::Stale);
        assert_eq!(read(&w.ws, "f").unwrap(), b"theirs");
        let mut change = w.ws.begin(label());
        change.put("new", b"mine".to_vec(), Expect::Absent).unwrap();
        w.write("new", "theirs");
        assert_eq!(kind(change.commit(&|| false)), ErrorKind::Stale);
        assert_eq!(read(&w.ws, "new").unwrap(), b"theirs");
    });
}

#[test]
fn several_files_or_none() {
    everywhere(|w| {
        put(&w.ws, "keep", "old").unwrap();
        put(&w.ws, "gone", "old").unwrap();
        let before = w.tree();
        let mut change = w.ws.begin(label());
        change.put("keep", b"new".to_vec(), Expect::Any).unwrap();
        change.put("deep/er/file", b"new".to_vec(), Expect::Any).unwrap();
        change.delete("gone", Expect::Any).unwrap();
        assert_eq!(change.preview().len(), 3);
        assert_eq!(w.tree(), before);
        assert_eq!(kind(change.commit(&|| true)), ErrorKind::Cancelled);
        assert_eq!(w.tree(), before);
        assert_eq!(all_changes(&w.ws).len(), 2);
    });
}

#[test]
fn one_change_may_touch_a_path_often() {
    everywhere(|w| {
        put(&w.ws, "a", "1").unwrap();
        put(&w.ws, "d/x", "2").unwrap();
        let before = w.tree();
        let mut change = w.ws.begin(label());
        change.rename("a", "b", None, Expect::Any, Expect::Absent).unwrap();
        change.put("b", b"3".to_vec(), Expect::Hash(Hash::of(b"1"))).unwrap();
        change.put("a/inside", b"4".to_vec(), Expect::Absent).unwrap();
        assert_eq!(change.delete_tree("d").unwrap(), 1);
        change.put("d", b"now a file".to_vec(), Expect::Absent).unwrap();
        let done = change.commit(&|| false).unwrap();
        assert_eq!(read(&w.ws, "b").unwrap(), b"3");
        assert_eq!(read(&w.ws, "a/inside").unwrap(), b"4");
        assert_eq!(read(&w.ws, "d").unwrap(), b"now a file");
        let after = w.tree();
        undo(&w.ws, &done.change_id).unwrap();
        assert_eq!(w.tree(), before);
        redo(&w.ws, &done.change_id).unwrap();
        assert_eq!(w.tree(), after);
    });
}

#[test]
fn nothing_to_do_is_no_change() {
    everywhere(|w| {
        put(&w.ws, "f", "same").unwrap();
        let done = put(&w.ws, "f", "same").unwrap();
        assert_eq!((done.change_id.as_str(), done.files.len()), ("", 0));
        assert_eq!(all_changes(&w.ws).len(), 1);
    });
}

#[test]
fn undo_tells_no_file_from_an_empty_one() {
    everywhere(|w| {
        w.write("empty", "");
        let made = put(&w.ws, "new/sub/file", "").unwrap().change_id;
        let filled = put(&w.ws, "empty", "x").unwrap().change_id;
        undo(&w.ws, &filled).unwrap();
        undo(&w.ws, &made).unwrap();
        assert_eq!(read(&w.ws, "empty").unwrap(), b"");
        assert_eq!(w.tree().keys().collect::<Vec<_>>(), ["empty"]);
    });
}

#[test]
fn undo_keeps_directories_that_others_use() {
    everywhere(|w| {
        let made = put(&w.ws, "d/e/mine", "x").unwrap().change_id;
        w.write("d/theirs", "y");
        undo(&w.ws, &made).unwrap();
        assert_eq!(w.tree().keys().collect::<Vec<_>>(), ["d", "d/theirs"]);
        redo(&w.ws, &made).unwrap();
        assert_eq!(read(&w.ws, "d/e/mine").unwrap(), b"x");
    });
}

#[test]
fn undo_is_undoable_and_derived() {
    everywhere(|w| {
        let first = put(&w.ws, "f", "1").unwrap().change_id;
        let second = put(&w.ws, "f", "2").unwrap().change_id;
        let undone = |id: &str| {
            let filter = ChangeFilter { change_id: Some(id.to_owned()), ..ChangeFilter::default() };
            w.ws.changes(&filter).unwrap()[0].undone
        };
        assert_eq!(kind(undo(&w.ws, &first)), ErrorKind::Stale);
        let back = undo(&w.ws, &second).unwrap();
        assert!(undone(&second) && !undone(&first));
        assert_eq!(kind(undo(&w.ws, &second)), ErrorKind::Conflict);
        assert_eq!(kind(redo(&w.ws, &first)), ErrorKind::Conflict);
        undo(&w.ws, &back).unwrap();
        assert!(!undone(&second) && undone(&back));
        assert_eq!(read(&w.ws, "f").unwrap(), b"2");
        let both = w.ws.undo(&[first.clone(), second.clone()], label(), false).unwrap();
        assert_eq!(both.restored, ["f"]);
        assert!(undone(&first) && undone(&second));
        assert_eq!(kind(read(&w.ws, "f")), ErrorKind::NotFound);
        redo(&w.ws, &first).unwrap();
        assert!(!undone(&first) && undone(&second));
        assert_eq!(read(&w.ws, "f").unwrap(), b"1");
        let listed = all_changes(&w.ws);
        assert_eq!(listed[0].redoes, std::slice::from_ref(&first));
        assert_eq!(listed[1].undoes, [second, first]);
        assert!(listed.windows(2).all(|pair| pair[0].at >= pair[1].at));
    });
}

#[test]
fn undo_never_discards_a_persons_edit() {
    everywhere(|w| {
        let mut change = w.ws.begin(label());
        change.put("a", b"1".to_vec(), Expect::Any).unwrap();
        change.put("b", b"1".to_vec(), Expect::Any).unwrap();
        let id = change.commit(&|| false).unwrap().change_id;
        w.write("b", "edited by a person");
        let before = w.tree();
        assert_eq!(kind(w.ws.undo(std::slice::from_ref(&id), label(), true)), ErrorKind::Stale);
        assert_eq!(kind(undo(&w.ws, &id)), ErrorKind::Stale);
        assert_eq!(w.tree(), before);
        assert_eq!(all_changes(&w.ws).len(), 1);
    });
}

#[test]
fn a_dry_run_shows_and_does_nothing() {
    everywhere(|w| {
        put(&w.ws, "f", "1").unwrap();
        let id = put(&w.ws, "f", "2").unwrap().change_id;
        let shown = w.ws.undo(std::slice::from_ref(&id), label(), true).unwrap();
        assert_eq!(shown.change_id, "");
        assert_eq!(shown.files[0].before.as_deref(), Some(&b"2"[..]));
        assert_eq!(shown.files[0].after.as_deref(), Some(&b"1"[..]));
        assert_eq!(read(&w.ws, "f").unwrap(), b"2");
        let content = w.ws.change_content(&id).unwrap();
        assert_eq!(content[0].before.as_deref(), Some(&b"1"[..]));
        assert_eq!(content[0].after.as_deref(), Some(&b"2"[..]));
    });
}

#[test]
fn a_move_is_one_file() {
    everywhere(|w| {
        put(&w.ws, "from", "text").unwrap();
        let mut change = w.ws.begin(label());
        let expect = Expect::Hash(Hash::of(b"text"));
        change.rename("from", "to/there", Some(b"text 2".to_vec()), expect, Expect::Absent).unwrap();
        let done = change.commit(&|| false).unwrap();
        assert_eq!(done.files.len(), 1);
        let file = &done.files[0];
        assert_eq!((file.path.as_str(), file.action), ("to/there", Action::Moved));
        assert_eq!(file.moved_from.as_deref(), Some("from"));
        assert_eq!(file.before.as_deref(), Some(&b"text"[..]));
        let listed = &all_changes(&w.ws)[0];
        assert_eq!(listed.paths, ["from", "to/there"]);
        assert_eq!(listed.files.len(), 1);
        undo(&w.ws, &done.change_id).unwrap();
        assert_eq!(w.tree().keys().collect::<Vec<_>>(), ["from"]);
    });
}

#[test]
fn symlinks_inside_are_followed_and_survive() {
    everywhere(|w| {
        w.mkdir("real");
        w.write("real/file", "1");
        w.symlink("real/file", "link");
        w.symlink("real", "dir");
        w.symlink("../real/./file", "real/again");
        w.symlink("real/new", "dangling");
        assert_eq!(read(&w.ws, "dir/file").unwrap(), b"1");
        assert_eq!(read(&w.ws, "dir/again").unwrap(), b"1");
        assert_eq!(w.ws.locate("dir/again").unwrap().display, "real/file");
        assert_eq!(put(&w.ws, "link", "2").unwrap().files[0].path, "real/file");
        assert_eq!(put(&w.ws, "dangling", "3").unwrap().files[0].path, "real/new");
        assert_eq!(w.tree()["link"], Node::Link);
        assert_eq!(w.tree()["dangling"], Node::Link);
        assert_eq!(read(&w.ws, "real/file").unwrap(), b"2");
        // Deleting takes the link, and undo brings it back as one.
        let id = delete(&w.ws, "link").unwrap().change_id;
        assert_eq!(read(&w.ws, "real/file").unwrap(), b"2");
        undo(&w.ws, &id).unwrap();
        assert_eq!(w.tree()["link"], Node::Link);
        assert_eq!(read(&w.ws, "link").unwrap(), b"2");
    });
}

#[test]
fn symlink_loops_end() {
    everywhere(|w| {
        w.symlink("b", "a");
        w.symlink("a", "b");
        w.symlink(".", "self");
        assert_eq!(kind(read(&w.ws, "a")), ErrorKind::InvalidPath);
        assert_eq!(kind(put(&w.ws, "a/x", "")), ErrorKind::InvalidPath);
        w.write("f", "x");
        assert_eq!(read(&w.ws, "self/self/self/f").unwrap(), b"x");
    });
}

#[test]
fn trees_come_back_whole() {
    everywhere(|w| {
        put(&w.ws, "t/a/1", "one").unwrap();
        put(&w.ws, "t/b/2", "two").unwrap();
        w.mkdir("t/empty");
        w.chmod_dir("t/empty", 0o750);
        w.chmod_dir("t/b", 0o500);
        w.symlink("../../nowhere", "t/a/link");
        w.symlink("/etc", "t/a/etc");
        let before = w.tree();
        w.chmod_dir("t/b", 0o700);
        let mut change = w.ws.begin(label());
        assert_eq!(change.delete_tree("t").unwrap(), 4);
        // The mode at the time of deletion is what comes back.
        w.chmod_dir("t/b", 0o700);
        let id = change.commit(&|| false).unwrap().change_id;
        assert!(w.tree().is_empty());
        undo(&w.ws, &id).unwrap();
        w.chmod_dir("t/b", 0o500);
        assert_eq!(w.tree(), before);
        w.chmod_dir("t/b", 0o700);
    });
}

#[test]
fn a_tree_that_grows_meanwhile_is_not_deleted() {
    everywhere(|w| {
        put(&w.ws, "t/a", "one").unwrap();
        let mut change = w.ws.begin(label());
        change.delete_tree("t").unwrap();
        w.write("t/new", "theirs");
        assert_eq!(kind(change.commit(&|| false)), ErrorKind::Stale);
        assert_eq!(w.tree().keys().collect::<Vec<_>>(), ["t", "t/a", "t/new"]);
    });
}

#[test]
fn a_bottomless_tree_is_refused() {
    everywhere(|w| {
        let mut path = "t".to_owned();
        w.mkdir(&path);
        for _ in 0..450 {
            path.push_str("/d");
            w.mkdir(&path);
        }
        assert_eq!(kind(delete_tree(&w.ws, "t")), ErrorKind::TooLarge);
        assert!(w.ws.stat(&path).is_ok());
    });
}

#[test]
fn special_files_are_refused_at_once() {
    everywhere(|w| {
        w.mkdir("d");
        w.fifo("d/pipe");
        bounded(move || {
            assert_eq!(kind(read(&w.ws, "d/pipe")), ErrorKind::NotAFile);
            assert_eq!(kind(w.ws.open_file("d/pipe").map(|_| ())), ErrorKind::NotAFile);
            assert_eq!(kind(put(&w.ws, "d/pipe", "x")), ErrorKind::NotAFile);
            assert_eq!(kind(delete(&w.ws, "d/pipe")), ErrorKind::NotAFile);
            assert_eq!(kind(delete_tree(&w.ws, "d")), ErrorKind::NotAFile);
            assert_eq!(kind(rename(&w.ws, "d/pipe", "x")), ErrorKind::NotAFile);
            let dir = w.ws.directory("d").unwrap().dir;
            assert!(dir.open_file("pipe".as_ref()).is_err());
            assert_eq!(w.tree()["d/pipe"], Node::Other);
        });
    });
}

#[test]
fn near_names() {
    everywhere(|w| {
        put(&w.ws, "src/Main.rs", "").unwrap();
        put(&w.ws, "src/library.rs", "").unwrap();
        put(&w.ws, "caf\u{e9}.txt", "").unwrap();
        put(&w.ws, "unrelated", "").unwrap();
        let near = |path: &str| w.ws.read(path, 1).unwrap_err().near().to_vec();
        assert_eq!(near("src/main.rs"), ["src/Main.rs"]);
        assert_eq!(near("src/libary.rs"), ["src/library.rs"]);
        assert_eq!(near("cafe\u{301}.txt"), ["caf\u{e9}.txt"]);
        assert_eq!(near("scr/Main.rs"), ["src/Main.rs"]);
        assert!(near("zzzzzzzz").is_empty());
    });
}

#[test]
fn modes_are_kept() {
    for backend in [Backend::Kernel, Backend::Portable] {
        let w = World::new(backend);
        w.write("run", "#!/bin/sh\n");
        let path = w.root().join("run");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4751)).unwrap();
        let id = put(&w.ws, "run", "#!/bin/sh\ntrue\n").unwrap().change_id;
        // A new content does not inherit the right to act as its owner.
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
        undo(&w.ws, &id).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o4751);
        let id = delete(&w.ws, "run").unwrap().change_id;
        undo(&w.ws, &id).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o4751);
        rename(&w.ws, "run", "ran").unwrap();
        assert_eq!(w.ws.stat("ran").unwrap().mode, 0o751);
    }
}

#[test]
fn no_temporary_file_is_left() {
    for backend in [Backend::Kernel, Backend::Portable] {
        let w = World::new(backend);
        // A process id that cannot be alive, and our own.
        w.write(".toolcrib-tmp-4194999-aa", "stale");
        let live = format!(".toolcrib-tmp-{}-bb", std::process::id());
        w.write(&live, "in use");
        put(&w.ws, "f", "1").unwrap();
        put(&w.ws, "f", "2").unwrap();
        assert_eq!(w.tree().keys().cloned().collect::<Vec<_>>(), [live, "f".to_owned()]);
    }
}
