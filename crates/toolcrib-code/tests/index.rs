//! The index: fresh after every change, the same as one built anew, stored and shared.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;
use toolcrib_code::index::{CodeIndex, Control, Snapshot};
use toolcrib_code::search::{SymbolQuery, symbols};
use toolcrib_workspace::Workspace;

fn write(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn index(dir: &Path, cache: Option<&Path>) -> CodeIndex {
    CodeIndex::open(Workspace::open(dir).unwrap().read_only(), cache.map(Path::to_path_buf))
}

fn fresh(index: &CodeIndex) -> Arc<Snapshot> {
    index.refresh(&Control::default()).unwrap()
}

fn find(snapshot: &Snapshot, query: &str) -> Vec<String> {
    let query = SymbolQuery { query: query.into(), limit: 50, ..SymbolQuery::default() };
    let hits = symbols(snapshot, &query).unwrap().hits;
    hits.iter().map(|hit| format!("{}:{} {} {}", hit.path, hit.line, hit.kind, hit.name)).collect()
}

/// Everything that an index can be asked.
fn answers(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for file in snapshot.files() {
        let facts = snapshot.facts(file);
        text += &format!("{} {:?}\n", file.path, file.language);
        text += &facts.map_or("none\n".to_owned(), |facts| facts.describe());
    }
    for name in ["alpha", "beta", "gamma", "Delta", "helper"] {
        let files: Vec<&str> = snapshot.files_with(name).map(|file| file.path.as_str()).collect();
        text += &format!("{name}: {files:?} {:?}\n", find(snapshot, name));
    }
    let report = snapshot.report();
    text + &format!("{} {} {}", report.files, report.parse_errors, report.unsupported)
}

#[test]
fn changes_are_seen_and_only_they_are_read_again() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.rs", "pub fn alpha() { beta() }\n");
    write(dir.path(), "src/b.py", "def beta(): pass\n");
    write(dir.path(), "target/c.rs", "fn ignored() {}\n");
    write(dir.path(), ".gitignore", "target\n");
    write(dir.path(), "run", "#!/usr/bin/env python3\ndef started(): pass\n");
    write(dir.path(), "LICENSE", "words\n");
    let index = index(dir.path(), None);
    let first = fresh(&index);
    assert_eq!(first.report().files, 3);
    assert_eq!(find(&first, "started"), ["run:2 function started"]);
    assert!(find(&first, "ignored").is_empty());
    let with: Vec<&str> = first.files_with("beta").map(|file| file.path.as_str()).collect();
    assert_eq!(with, ["a.rs", "src/b.py"]);

    write(dir.path(), "src/b.py", "def gamma(): pass\n");
    std::fs::remove_file(dir.path().join("run")).unwrap();
    let second = fresh(&index);
    assert_eq!(second.report().reread, 1);
    assert_eq!(find(&second, "gamma"), ["src/b.py:1 function gamma"]);
    assert!(second.file("run").is_none());
    // What was handed out before is as it was.
    assert_eq!(find(&first, "started").len(), 1);
}

#[test]
fn a_stored_index_is_read_back_and_a_broken_one_is_built_anew() {
    let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(dir.path(), "a.rs", "/// One.\npub fn alpha(x: u8) -> Delta { x.helper() }\n");
    write(dir.path(), "b.ts", "export class Delta { beta(): void {} }\n");
    // Stamps as young as this are not trusted, so they would not be stored.
    std::thread::sleep(std::time::Duration::from_millis(150));
    let built = fresh(&index(dir.path(), Some(cache.path())));
    assert_eq!(built.report().reread, 2);
    let again = fresh(&index(dir.path(), Some(cache.path())));
    assert_eq!(again.report().reread, 0);
    assert_eq!(answers(&built), answers(&again));

    for entry in std::fs::read_dir(cache.path()).unwrap().flatten() {
        std::fs::write(entry.path(), b"this is not a database at all, and long enough to be read as one")
            .unwrap();
    }
    let repaired = fresh(&index(dir.path(), Some(cache.path())));
    assert_eq!(answers(&built), answers(&repaired));
}

#[test]
fn two_processes_may_share_a_store() {
    let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for n in 0..40 {
        write(dir.path(), &format!("f{n}.py"), &format!("def alpha{n}(): return beta{n}()\n"));
    }
    let clean = answers(&fresh(&index(dir.path(), None)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(answers(&fresh(&index(dir.path(), Some(cache.path())))), clean));
        }
    });
}

#[test]
fn indexing_can_be_cancelled_and_tells_how_far_it_is() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..50 {
        write(dir.path(), &format!("f{n}.rs"), "fn alpha() {}\n");
    }
    let index = index(dir.path(), None);
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = AtomicUsize::new(0);
    let progress = |done: usize, total: usize| {
        assert!(done <= total && total == 50);
        seen.fetch_add(1, Ordering::Relaxed);
        cancel.store(true, Ordering::Relaxed);
    };
    let control =
        Control { cancel: Some(Arc::clone(&cancel)), progress: Some(&progress), ..Control::default() };
    let error = index.refresh(&control).err().unwrap();
    assert_eq!(error.kind(), toolcrib_workspace::ErrorKind::Cancelled);
    assert!(seen.load(Ordering::Relaxed) < 50);
    assert_eq!(fresh(&index).report().files, 50);
}

#[test]
fn symbols_are_ranked_by_how_well_the_name_fits() {
    let dir = tempfile::tempdir().unwrap();
    let source = "pub fn parse() {}\npub fn parse_all() {}\nfn get_parse_error() {}\npub struct Parser;\n\
                  impl Parser { pub fn parse(&self) {} }\nfn unrelated() {}\n#[test]\nfn parse_works() {}\n";
    write(dir.path(), "src/lib.rs", source);
    write(dir.path(), "tests/it.rs", "fn parse() {}\n");
    let snapshot = fresh(&index(dir.path(), None));
    assert_eq!(
        find(&snapshot, "parse"),
        [
            "src/lib.rs:1 function parse",
            "src/lib.rs:5 method parse",
            "tests/it.rs:1 function parse",
            "src/lib.rs:4 struct Parser",
            "src/lib.rs:2 function parse_all",
            "src/lib.rs:8 function parse_works",
            "src/lib.rs:3 function get_parse_error",
        ]
    );
    assert_eq!(find(&snapshot, "Parser::parse"), ["src/lib.rs:5 method parse"]);
    assert_eq!(find(&snapshot, "prseall"), ["src/lib.rs:2 function parse_all"]);
    assert_eq!(find(&snapshot, "error"), ["src/lib.rs:3 function get_parse_error"]);
    assert_eq!(find(&snapshot, "gpe"), ["src/lib.rs:3 function get_parse_error"]);
    assert_eq!(find(&snapshot, "getErr"), ["src/lib.rs:3 function get_parse_error"]);
    let page = |offset| {
        let query = SymbolQuery { query: "parse".into(), limit: 3, offset, ..SymbolQuery::default() };
        symbols(&snapshot, &query).unwrap()
    };
    assert_eq!((page(0).total, page(0).next_offset, page(6).next_offset), (7, Some(3), None));
    let below = SymbolQuery { path: Some("tests".into()), limit: 9, ..SymbolQuery::default() };
    assert_eq!(symbols(&snapshot, &below).unwrap().total, 1);
}

#[derive(Clone, Debug)]
enum Op {
    Write(usize, usize),
    Append(usize),
    Delete(usize),
    Rename(usize, usize),
    Ask,
}

const PATHS: [&str; 7] = ["a.rs", "src/b.rs", "src/m/c.py", "d.py", "e.ts", "src/f.tsx", "g.js"];
const TEXTS: [&str; 6] = [
    "fn alpha() { beta(); }\nstruct Delta { gamma: u8 }\n",
    "def alpha(x):\n    return x.beta()\n\nclass Delta(helper.Base):\n    gamma = 1\n",
    "export function alpha(d: Delta) { return d.gamma(); }\nimport { helper } from './e';\n",
    "}} not ( source alpha",
    "",
    "x = alpha\n",
];

fn op() -> impl Strategy<Value = Op> {
    let (path, text) = (0..PATHS.len(), 0..TEXTS.len());
    prop_oneof![
        4 => (path.clone(), text).prop_map(|(path, text)| Op::Write(path, text)),
        1 => path.clone().prop_map(Op::Append),
        1 => path.clone().prop_map(Op::Delete),
        1 => (path.clone(), path).prop_map(|(from, to)| Op::Rename(from, to)),
        3 => Just(Op::Ask),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn an_index_kept_up_to_date_equals_one_built_anew(ops in prop::collection::vec(op(), 1..25)) {
        let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (kept, stored) = (index(dir.path(), None), index(dir.path(), Some(cache.path())));
        for op in ops.iter().chain([&Op::Ask]) {
            match op {
                Op::Write(path, text) => write(dir.path(), PATHS[*path], TEXTS[*text]),
                Op::Append(path) => {
                    let old = std::fs::read_to_string(dir.path().join(PATHS[*path])).unwrap_or_default();
                    write(dir.path(), PATHS[*path], &(old + "\nhelper(1)\n"));
                }
                Op::Delete(path) => {
                    let _ = std::fs::remove_file(dir.path().join(PATHS[*path]));
                }
                Op::Rename(from, to) => {
                    let (from, to) = (dir.path().join(PATHS[*from]), dir.path().join(PATHS[*to]));
                    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                    let _ = std::fs::rename(from, to);
                }
                Op::Ask => {
                    let clean = answers(&fresh(&index(dir.path(), None)));
                    prop_assert_eq!(&answers(&fresh(&kept)), &clean);
                    prop_assert_eq!(&answers(&fresh(&stored)), &clean);
                    prop_assert_eq!(&answers(&fresh(&index(dir.path(), Some(cache.path())))), &clean);
                }
            }
        }
    }
}
