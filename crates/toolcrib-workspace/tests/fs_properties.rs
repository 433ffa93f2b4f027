//! Disk and memory agree on any sequence of operations, and undo restores every byte.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod fs_support;

use fs_support::*;
use proptest::prelude::*;
use toolcrib_workspace::{ErrorKind, Expect, Hash, Workspace};

#[derive(Clone, Debug)]
enum Op {
    Put(&'static str, Vec<u8>),
    PutExpecting(&'static str, Vec<u8>, Expectation),
    Delete(&'static str),
    DeleteTree(&'static str),
    Rename(&'static str, &'static str),
    Several(Vec<(&'static str, Option<Vec<u8>>)>),
    Undo(usize),
    UndoMany(usize, usize),
    Redo(usize),
    Read(&'static str),
    List(&'static str),
    Foreign(&'static str, Vec<u8>),
}

#[derive(Clone, Copy, Debug)]
enum Expectation {
    Absent,
    Current,
    Wrong,
}

const PATHS: [&str; 14] = [
    "a",
    "b",
    "d",
    "d/x",
    "d/y",
    "d/e",
    "d/e/z",
    "d/../a",
    "link",
    "dirlink/x",
    "dirlink",
    "out",
    ".git/config",
    "../up",
];

fn path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&PATHS[..])
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![Just(Vec::new()), prop::collection::vec(any::<u8>(), 1..6), Just(b"same".to_vec())]
}

fn op() -> impl Strategy<Value = Op> {
    let expectation =
        prop::sample::select(&[Expectation::Absent, Expectation::Current, Expectation::Wrong][..]);
    prop_oneof![
        5 => (path(), bytes()).prop_map(|(path, bytes)| Op::Put(path, bytes)),
        2 => (path(), bytes(), expectation).prop_map(|(path, bytes, expect)| Op::PutExpecting(path, bytes, expect)),
        2 => path().prop_map(Op::Delete),
        2 => path().prop_map(Op::DeleteTree),
        2 => (path(), path()).prop_map(|(from, to)| Op::Rename(from, to)),
        2 => prop::collection::vec((path(), prop::option::of(bytes())), 1..5).prop_map(Op::Several),
        4 => (0..6_usize).prop_map(Op::Undo),
        1 => (0..4_usize, 1..4_usize).prop_map(|(from, count)| Op::UndoMany(from, count)),
        3 => (0..6_usize).prop_map(Op::Redo),
        1 => path().prop_map(Op::Read),
        1 => path().prop_map(Op::List),
        1 => (path(), bytes()).prop_map(|(path, bytes)| Op::Foreign(path, bytes)),
    ]
}

/// What an operation did, so far as two backends must agree on it.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Done(Vec<String>),
    Bytes(Vec<u8>),
    Names(Vec<String>),
    Failed(ErrorKind),
}

fn run(w: &World, op: &Op) -> Answer {
    let ws = &w.ws;
    let done = |result: Result<toolcrib_workspace::Committed, toolcrib_workspace::Error>| match result {
        Ok(done) => Answer::Done(
            done.files.into_iter().map(|file| format!("{:?} {}", file.action, file.path)).collect(),
        ),
        Err(error) => Answer::Failed(error.kind()),
    };
    let turned = |result: Result<toolcrib_workspace::Undone, toolcrib_workspace::Error>| match result {
        Ok(done) => Answer::Done(done.restored),
        Err(error) => Answer::Failed(error.kind()),
    };
    let nth = |n: usize| all_changes(ws).get(n).map(|info| info.change_id.clone());
    match op {
        Op::Put(path, bytes) => done(put(ws, path, bytes)),
        Op::PutExpecting(path, bytes, expectation) => {
            let expect = match expectation {
                Expectation::Absent => Expect::Absent,
                Expectation::Current => {
                    read(ws, path).map_or(Expect::Absent, |bytes| Expect::Hash(Hash::of(&bytes)))
                }
                Expectation::Wrong => Expect::Hash(Hash::of(b"something else entirely")),
            };
            let mut change = ws.begin(label());
            done(change.put(path, bytes.clone(), expect).and_then(|()| change.commit(&|| false)))
        }
        Op::Delete(path) => done(delete(ws, path)),
        Op::DeleteTree(path) => done(delete_tree(ws, path)),
        Op::Rename(from, to) => done(rename(ws, from, to)),
        Op::Several(parts) => {
            let mut change = ws.begin(label());
            let planned = parts.iter().try_for_each(|(path, bytes)| match bytes {
                Some(bytes) => change.put(path, bytes.clone(), Expect::Any),
                None => change.delete_tree(path).map(drop),
            });
            done(planned.and_then(|()| change.commit(&|| false)))
        }
        Op::Undo(n) => nth(*n).map_or(Answer::Done(vec![]), |id| turned(ws.undo(&[id], label(), false))),
        Op::Redo(n) => nth(*n).map_or(Answer::Done(vec![]), |id| turned(ws.redo(&[id], label(), false))),
        Op::UndoMany(from, count) => {
            let ids: Vec<_> = (*from..from + count).filter_map(nth).collect();
            turned(ws.undo(&ids, label(), false))
        }
        Op::Read(path) => read(ws, path).map_or_else(|error| Answer::Failed(error.kind()), Answer::Bytes),
        Op::List(path) => match ws.list(path) {
            Ok(found) => Answer::Names(found.into_iter().map(|(entry, _)| format!("{entry:?}")).collect()),
            Err(error) => Answer::Failed(error.kind()),
        },
        Op::Foreign(path, bytes) => {
            // A person writes, but only where there is a file: what a shell would do otherwise is not the point.
            if ["a", "b", "d/x", "d/y", "d/e/z"].contains(path)
                && ws.stat(path).is_ok_and(|stat| {
                    stat.size < 100 && stat.kind == toolcrib_workspace::fs::directory::EntryKind::File
                })
            {
                w.write(path, bytes);
            }
            Answer::Done(vec![])
        }
    }
}

fn world(backend: Backend) -> World {
    let w = World::new(backend);
    w.mkdir("d");
    w.write("a", "first");
    w.symlink("a", "link");
    w.symlink("d", "dirlink");
    w.symlink("../out/x", "out");
    w
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_backend_gives_the_same_answers(ops in prop::collection::vec(op(), 1..24)) {
        let worlds = BACKENDS.map(world);
        for op in &ops {
            let answers: Vec<Answer> = worlds.iter().map(|w| run(w, op)).collect();
            prop_assert_eq!(&answers[0], &answers[1], "{:?}", op);
            prop_assert_eq!(&answers[0], &answers[2], "{:?}", op);
            let trees: Vec<_> = worlds.iter().map(World::tree).collect();
            prop_assert_eq!(&trees[0], &trees[1], "{:?}", op);
            prop_assert_eq!(&trees[0], &trees[2], "{:?}", op);
        }
        worlds.iter().for_each(World::assert_outside_untouched);
        prop_assert!(worlds[0].ws.journal_problems().is_empty());
    }

    /// Whatever was done, taking it all back gives the tree that was, with its directories and modes; and a redo of
    /// each in turn gives the tree that came of it.
    #[test]
    fn undo_restores_the_tree(ops in prop::collection::vec(op(), 1..12), at_once in any::<bool>()) {
        let w = world(Backend::Kernel);
        let before = w.tree();
        let own = |op: &&Op| !matches!(op, Op::Foreign(..) | Op::Undo(_) | Op::UndoMany(..) | Op::Redo(_));
        for op in ops.iter().filter(own) {
            run(&w, op);
        }
        let after = w.tree();
        let ids: Vec<_> = all_changes(&w.ws).into_iter().filter(|info| !info.undone).map(|info| info.change_id).collect();
        if at_once && !ids.is_empty() {
            w.ws.undo(&ids, label(), false).unwrap();
            prop_assert_eq!(w.tree(), before);
            w.ws.redo(&ids, label(), false).unwrap();
        } else {
            for id in &ids {
                undo(&w.ws, id).unwrap();
            }
            prop_assert_eq!(w.tree(), before);
            for id in ids.iter().rev() {
                redo(&w.ws, id).unwrap();
            }
        }
        prop_assert_eq!(w.tree(), after);
    }

    #[test]
    fn any_path_is_answered(path in "[a./~\\\\ :%é\u{200b}\u{202e}\0-]{0,24}", bytes in bytes()) {
        let w = World::new(Backend::Kernel);
        let found = Workspace::memory();
        let _ = put(&found, &path, &bytes);
        let disk = put(&w.ws, &path, &bytes).map(|done| done.files).map_err(|error| error.kind());
        if disk.as_ref().is_ok_and(|files| !files.is_empty()) {
            prop_assert_eq!(read(&w.ws, &path).unwrap(), bytes);
        }
        w.assert_outside_untouched();
    }
}
