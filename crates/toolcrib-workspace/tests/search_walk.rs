//! Listing and glob: what is found, in which order, and within which limits.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod search_support;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use search_support::{Memory, Node, disk, memory};
use toolcrib_workspace::ErrorKind;
use toolcrib_workspace::fs::directory::{Directory, EntryKind};
use toolcrib_workspace::search::{
    GlobOptions, GlobalIgnore, GrepOptions, ListOptions, Sort, WalkOptions, WalkRoot, glob, grep, list,
};

fn find(root: &WalkRoot, patterns: &[&str]) -> Vec<String> {
    glob(root, &globs(patterns)).unwrap().paths
}

fn globs(patterns: &[&str]) -> GlobOptions {
    GlobOptions { patterns: patterns.iter().map(|&p| p.to_owned()).collect(), ..GlobOptions::default() }
}

fn file(content: &str) -> Node {
    Node::File(Arc::new(content.as_bytes().to_vec()))
}

#[test]
fn paths_come_in_component_order() {
    let root = memory([("a.rs", ""), ("a/z", ""), ("a-b/c", ""), ("B", ""), ("a/b/c", "")]);
    // `a` sorts before `a-b`, so what is in it does too, although `-` is below `/`.
    assert_eq!(find(&root, &["**"]), ["B", "a/b/c", "a/z", "a-b/c", "a.rs"]);
}

#[test]
fn globs_match_as_described() {
    let root = memory([
        ("Cargo.toml", ""),
        ("src/lib.rs", ""),
        ("src/a/mod.rs", ""),
        ("src/a/x.txt", ""),
        ("tests/t.rs", ""),
        ("tests/src/u.rs", ""),
        (".github/w.yml", ""),
    ]);
    let all_rs = ["src/a/mod.rs", "src/lib.rs", "tests/src/u.rs", "tests/t.rs"];
    assert_eq!(find(&root, &["*.rs"]), all_rs);
    assert_eq!(find(&root, &["**/*.rs"]), all_rs);
    assert_eq!(find(&root, &["src/*.rs"]), ["src/lib.rs"]);
    assert_eq!(find(&root, &["/src/**/*.rs"]), ["src/a/mod.rs", "src/lib.rs"]);
    assert_eq!(find(&root, &["src/a/*.rs", "tests/src/*"]), ["src/a/mod.rs", "tests/src/u.rs"]);
    assert_eq!(find(&root, &["./src/"]), ["src/a/mod.rs", "src/a/x.txt", "src/lib.rs"]);
    assert_eq!(find(&root, &["src/"]), ["src/a/mod.rs", "src/a/x.txt", "src/lib.rs", "tests/src/u.rs"]);
    assert_eq!(find(&root, &["*.rs", "!src/"]), ["tests/t.rs"]);
    assert_eq!(find(&root, &["*.{toml,yml}"]), [".github/w.yml", "Cargo.toml"]);
    assert_eq!(find(&root, &["*.rs", "!tests"]), ["src/a/mod.rs", "src/lib.rs"]);
    assert_eq!(find(&root, &["!tests/**", "*.rs"]), ["src/a/mod.rs", "src/lib.rs"]);
    assert_eq!(find(&root, &["!*.rs"]), [".github/w.yml", "Cargo.toml", "src/a/x.txt"]);
    assert_eq!(find(&root, &["lib.rs"]), ["src/lib.rs"]);
    assert!(find(&root, &["nothing/*.rs"]).is_empty());
}

#[test]
fn globs_may_be_written_from_the_root_of_what_is_shown() {
    let mut root = memory([("a/x.rs", ""), ("y.rs", ""), ("src/z.rs", "")]);
    root.display_prefix = "src".into();
    assert_eq!(find(&root, &["src/**/*.rs"]), ["src/a/x.rs", "src/src/z.rs", "src/y.rs"]);
    assert_eq!(find(&root, &["src/*.rs"]), ["src/src/z.rs", "src/y.rs"]);
}

#[test]
fn bad_globs_are_explained() {
    let root = memory([("a", "")]);
    for (pattern, says) in
        [("a{b", "unclosed alternate"), ("[z-a]", "invalid range"), ("", "empty"), ("!", "empty")]
    {
        let error = glob(&root, &globs(&[pattern])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPattern);
        assert!(error.message().contains(says), "{pattern}: {error}");
    }
    assert_eq!(glob(&root, &globs(&[])).unwrap_err().kind(), ErrorKind::InvalidPattern);
    let long = "x".repeat(20_000);
    assert_eq!(glob(&root, &globs(&[&long])).unwrap_err().kind(), ErrorKind::InvalidPattern);
}

#[test]
fn sorted_by_time_the_newest_comes_first_and_pages_fit() {
    // In memory a file's time is its size.
    let root = memory([("a", "1"), ("b", "333"), ("c", "22"), ("d/e", "333")]);
    let options = GlobOptions { sort: Sort::Modified, ..globs(&["**"]) };
    let all = glob(&root, &options).unwrap();
    assert_eq!((all.paths.as_slice(), all.total), (["b", "d/e", "c", "a"].map(String::from).as_slice(), 4));
    let second = glob(&root, &GlobOptions { offset: 1, limit: 2, ..options.clone() }).unwrap();
    assert_eq!(
        (second.paths, second.total, second.next_offset),
        (vec!["d/e".into(), "c".into()], 4, Some(3))
    );
    let last = glob(&root, &GlobOptions { offset: 3, limit: 2, ..options }).unwrap();
    assert_eq!((last.paths, last.next_offset), (vec!["a".to_owned()], None));
    let exact = glob(&root, &GlobOptions { limit: 4, ..globs(&["**"]) }).unwrap();
    assert_eq!((exact.paths.len(), exact.next_offset), (4, None));
}

#[test]
fn a_listing_has_kinds_sizes_depth_and_pages() {
    let mut tree = Memory::default();
    for (path, content) in [("a/b/c", "12"), ("a/d", "1"), ("e", "123"), (".hidden", ""), (".git/config", "")]
    {
        tree.add(path, file(content));
    }
    tree.add("link", Node::Symlink);
    tree.add("pipe", Node::Fifo);
    let root = WalkRoot::new(Arc::new(tree));
    let shown = |options: &ListOptions| -> Vec<String> {
        let entries = list(&root, options).unwrap().entries;
        entries.iter().map(|e| format!("{} {:?} {:?}", e.path, e.kind, e.size)).collect()
    };
    assert_eq!(
        shown(&ListOptions::default()),
        [".hidden File None", "a Dir None", "e File None", "link Symlink None"]
    );
    let deep = ListOptions { depth: 3, sizes: true, ..ListOptions::default() };
    assert_eq!(
        shown(&deep),
        [
            ".hidden File Some(0)",
            "a Dir None",
            "a/b Dir None",
            "a/b/c File Some(2)",
            "a/d File Some(1)",
            "e File Some(3)",
            "link Symlink None"
        ]
    );
    let page = list(&root, &ListOptions { depth: 2, offset: 2, limit: 2, ..ListOptions::default() }).unwrap();
    let paths: Vec<&str> = page.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!((paths, page.total, page.next_offset), (vec!["a/b", "a/d"], 6, Some(4)));
}

#[test]
fn ignore_files_count_and_what_they_hide_is_counted() {
    let files = [
        (".gitignore", "target/\n*.log\n"),
        (".ignore", "!keep.log\n"),
        ("target/debug/x.rs", ""),
        ("keep.log", ""),
        ("drop.log", ""),
        ("sub/.gitignore", "!drop.log\n/only\n"),
        ("sub/drop.log", ""),
        ("sub/only", ""),
        ("sub/deeper/only", ""),
        ("nested/.git/info/exclude", "secret\n"),
        ("nested/secret", ""),
        ("nested/drop.log", ""),
        (".git/HEAD", ""),
    ];
    let root = memory(files);
    let found = glob(&root, &globs(&["**"])).unwrap();
    let expected = [
        ".gitignore",
        ".ignore",
        "keep.log",
        // A repository of its own is not subject to the outer one's rules.
        "nested/drop.log",
        "sub/.gitignore",
        "sub/deeper/only",
        "sub/drop.log",
    ];
    assert_eq!(found.paths, expected);
    assert_eq!(found.ignored, 4, "target, drop.log, sub/only, nested/secret");

    let walk = WalkOptions { include_ignored: true, ..WalkOptions::default() };
    let all = glob(&root, &GlobOptions { walk, ..globs(&["**"]) }).unwrap();
    assert_eq!((all.total, all.ignored), (11, 0), "everything but .git");
}

#[test]
fn the_more_special_ignore_file_wins() {
    let root = memory([
        (".rgignore", "!a\n!b\nc\n"),
        (".ignore", "a\n!c\n!d\n"),
        (".gitignore", "b\nd\n!e\n!f\n"),
        (".git/info/exclude", "e\ng\n"),
        ("a", ""),
        ("b", ""),
        ("c", ""),
        ("d", ""),
        ("e", ""),
        ("f", ""),
        ("g", ""),
        ("h", ""),
    ]);
    let global_ignore = Some(Arc::new(GlobalIgnore::from_text("f\nh\n")));
    let walk = WalkOptions { global_ignore, ..WalkOptions::default() };
    let found = glob(&root, &GlobOptions { walk, ..globs(&["?"]) }).unwrap();
    assert_eq!(found.paths, ["a", "b", "d", "e", "f"]);
}

#[test]
fn rules_above_the_start_and_of_the_user_count() {
    let top = Memory::of([
        (".gitignore", "*.o\n/a/b/gen\n"),
        ("a/.ignore", "!x.o\n"),
        ("a/b/gen/y", ""),
        ("a/b/x.o", ""),
        ("a/b/z.o", ""),
        ("a/b/keep~", ""),
        ("a/b/keep", ""),
    ]);
    let a = top.open_dir("a".as_ref()).unwrap();
    let b = a.open_dir("b".as_ref()).unwrap();
    let root = WalkRoot {
        dir: b,
        display_prefix: "a/b/".into(),
        ancestors: vec![(top, "a".into()), (a, "b".into())],
    };
    assert_eq!(find(&root, &["**"]), ["a/b/keep", "a/b/keep~", "a/b/x.o"]);
    let global_ignore = Some(Arc::new(GlobalIgnore::from_text("*~\n!z.o\n")));
    let walk = WalkOptions { global_ignore, ..WalkOptions::default() };
    let found = glob(&root, &GlobOptions { walk, ..globs(&["**"]) }).unwrap();
    assert_eq!(found.paths, ["a/b/keep", "a/b/x.o"], "the user's rules are the weakest");
}

#[test]
fn a_start_inside_git_is_walked() {
    let top = Memory::of([(".git/hooks/pre-commit", "x")]);
    let git = top.open_dir(".git".as_ref()).unwrap();
    let root = WalkRoot { dir: git, display_prefix: ".git/".into(), ancestors: vec![(top, ".git".into())] };
    assert_eq!(find(&root, &["**"]), [".git/hooks/pre-commit"]);
}

#[test]
fn on_disk_symlinks_are_listed_and_not_followed_and_pipes_do_not_hang() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "needle").unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::write(dir.path().join("d/f"), "needle").unwrap();
    for (target, link) in [
        (dir.path(), "d/loop"),
        (outside.path(), "out"),
        (&outside.path().join("secret"), "leak"),
        (Path::new("nowhere"), "dangling"),
    ] {
        std::os::unix::fs::symlink(target, dir.path().join(link)).unwrap();
    }
    let fifo = std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap();
    assert!(fifo.success());
    let root = disk(dir.path());
    assert_eq!(find(&root, &["**"]), ["d/f", "d/loop", "dangling", "leak", "out"]);
    let entries = list(&root, &ListOptions { depth: 9, ..ListOptions::default() }).unwrap().entries;
    let links = entries.iter().filter(|entry| entry.kind == EntryKind::Symlink).count();
    assert_eq!((entries.len(), links), (6, 4));
    let found = grep(&root, &GrepOptions::new("needle")).unwrap();
    let paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((paths, found.searched_files), (vec!["d/f"], 1));
}

#[test]
fn names_pass_through_as_they_are() {
    let mut tree = Memory::default();
    for name in ["new\nline", "esc\u{1b}[31m", "rtl\u{202e}txt", " "] {
        tree.add(name, file("x"));
    }
    tree.nodes.insert(OsString::from_vec(b"bad\xff".to_vec()), file("x"));
    let root = WalkRoot::new(Arc::new(tree));
    let names = [" ", "bad\u{fffd}", "esc\u{1b}[31m", "new\nline", "rtl\u{202e}txt"];
    assert_eq!(find(&root, &["**"]), names);
    let found = grep(&root, &GrepOptions::new("x")).unwrap();
    assert_eq!(found.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), names);
}

#[test]
fn what_cannot_be_read_is_noticed_but_what_is_gone_is_not() {
    let mut tree = Memory::default();
    tree.add("a/f", file("x"));
    tree.add("locked", Node::Denied(EntryKind::Dir));
    tree.add("secret", Node::Denied(EntryKind::File));
    let root = WalkRoot::new(Arc::new(tree));
    let found = glob(&root, &globs(&["**"])).unwrap();
    assert_eq!(found.paths, ["a/f", "secret"]);
    let says = "could not read the directory locked: the operating system refuses access";
    assert_eq!(found.notices.iter().map(|n| n.as_str()).collect::<Vec<_>>(), [says]);
    let found = grep(&root, &GrepOptions::new("x")).unwrap();
    let notices: Vec<&str> = found.notices.iter().map(|n| n.as_str()).collect();
    assert_eq!(notices, [says, "could not read the file secret: the operating system refuses access"]);
}

#[test]
fn notices_are_bounded() {
    let mut tree = Memory::default();
    for i in 0..500 {
        tree.add(&format!("locked{i:03}"), Node::Denied(EntryKind::Dir));
    }
    let found = glob(&WalkRoot::new(Arc::new(tree)), &globs(&["**"])).unwrap();
    assert_eq!(found.notices.len(), 21);
    assert_eq!(found.notices[20].as_str(), "and 480 more notices like these");
}

/// A directory that holds nothing but itself.
struct Endless(Option<&'static str>);

impl Directory for Endless {
    fn entries(&self) -> std::io::Result<Vec<toolcrib_workspace::fs::directory::DirEntry>> {
        let entry =
            |name: &str, kind| toolcrib_workspace::fs::directory::DirEntry { name: name.into(), kind };
        Ok(std::iter::once(entry("d", EntryKind::Dir))
            .chain(self.0.map(|f| entry(f, EntryKind::File)))
            .collect())
    }
    fn open_dir(&self, _: &std::ffi::OsStr) -> std::io::Result<Arc<dyn Directory>> {
        Ok(Arc::new(Endless(self.0)))
    }
    fn open_file(&self, _: &std::ffi::OsStr) -> std::io::Result<Box<dyn std::io::Read + Send>> {
        Ok(Box::new(&b"needle\n"[..]))
    }
    fn stat(&self, _: &std::ffi::OsStr) -> std::io::Result<toolcrib_workspace::fs::directory::EntryStat> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

#[test]
fn a_tree_too_deep_ends_with_a_notice() {
    let root = WalkRoot::new(Arc::new(Endless(Some("f"))));
    let found = glob(&root, &globs(&["**"])).unwrap();
    assert_eq!(found.total, 128);
    let below = ["d"; 128].join("/");
    assert_eq!(found.notices.len(), 1);
    assert_eq!(found.notices[0].as_str(), format!("stopped at depth 128 below {below}"));
    let found = grep(&root, &GrepOptions { limit: 1000, ..GrepOptions::new("needle") }).unwrap();
    assert_eq!((found.total, found.notices.len()), (Some(128), 1));
    let shallow = list(&root, &ListOptions { depth: 3, ..ListOptions::default() }).unwrap();
    assert_eq!((shallow.total, shallow.notices.len()), (6, 0), "a limit that was asked for needs no notice");
}

#[test]
fn a_tree_5000_deep_ends_with_a_notice() {
    let mut dir = Memory::default();
    dir.add("bottom", file("x"));
    for _ in 0..5000 {
        let mut parent = Memory::default();
        parent.nodes.insert("d".into(), Node::Dir(Arc::new(dir)));
        dir = parent;
    }
    let root = WalkRoot::new(Arc::new(dir));
    let found = glob(&root, &globs(&["**"])).unwrap();
    assert_eq!((found.total, found.notices.len()), (0, 1));
    // Dropping so many directories in one another would need a deep stack; that is the test's own affair.
    std::mem::forget(root);
}

#[test]
fn a_directory_of_100_000_entries_is_listed_and_limited() {
    let mut tree = Memory::default();
    let empty = Arc::new(Vec::new());
    for i in 0..100_000 {
        tree.nodes.insert(format!("f{i:06}").into(), Node::File(Arc::clone(&empty)));
    }
    let root = WalkRoot::new(Arc::new(tree));
    let page = list(&root, &ListOptions { offset: 99_990, limit: 100, ..ListOptions::default() }).unwrap();
    assert_eq!((page.total, page.entries.len(), page.next_offset), (100_000, 10, None));
    let walk = WalkOptions { max_entries: 5_000, ..WalkOptions::default() };
    let cut = list(&root, &ListOptions { walk: walk.clone(), limit: 10, ..ListOptions::default() }).unwrap();
    assert_eq!((cut.total, cut.entries.len()), (5_000, 10));
    assert_eq!(cut.notices[0].as_str(), "stopped after 5000 entries: there are more");
    let cut = grep(&root, &GrepOptions { walk, ..GrepOptions::new("x") }).unwrap();
    assert_eq!(cut.searched_files, 5_000);
    assert_eq!(cut.notices[0].as_str(), "stopped after 5000 files: there are more");
}

#[test]
fn hostile_ignore_files_are_bounded() {
    let names: String = (0..100_000).map(|i| format!("n{i}\n")).collect();
    let regexes: String = (0..100_000).map(|i| format!("*a{i}*b?c\n")).collect();
    let huge = "x".repeat(3 << 20);
    let unclosed = "{".repeat(3000) + "\n" + &"[".repeat(3000) + "\n" + &"**/".repeat(1300) + "zzz\n";
    for (rules, notices) in [
        (names, &["used only 20000 patterns of .gitignore"][..]),
        (regexes, &["used only the first", "used only 1000 patterns of .gitignore"][..]),
        (huge, &["used only the first 1024 KiB of .gitignore"][..]),
        (unclosed, &[][..]),
    ] {
        let mut tree = Memory::default();
        tree.add(".gitignore", file(&rules));
        for i in 0..200 {
            tree.add(&format!("dir/file{i}"), file(""));
        }
        let root = WalkRoot::new(Arc::new(tree));
        let start = Instant::now();
        let found = glob(&root, &globs(&["**"])).unwrap();
        let took = start.elapsed();
        assert_eq!(found.total, 201);
        let noticed = |says: &&str| found.notices.iter().any(|notice| notice.as_str().starts_with(says));
        assert!(notices.iter().all(noticed), "{:?}", found.notices);
        assert!(took < Duration::from_secs(3), "{took:?} for {:?}…", &rules[..10]);
    }
}

#[test]
fn left_out_patterns_are_noticed() {
    let names: String = (0..20_010).map(|i| format!("n{i}\n")).collect();
    let root = memory([("d/.ignore", names.as_str()), ("d/n19999", ""), ("d/n20000", "")]);
    let found = glob(&root, &globs(&["**"])).unwrap();
    assert_eq!(found.paths, ["d/.ignore", "d/n20000"]);
    assert_eq!(found.notices[0].as_str(), "used only 20000 patterns of d/.ignore and left out 10");
}

#[test]
fn a_cancelled_walk_ends_at_once() {
    let root = WalkRoot::new(Arc::new(Endless(None)));
    let cancel = Some(Arc::new(AtomicBool::new(true)));
    let walk = WalkOptions { cancel, ..WalkOptions::default() };
    let error = glob(&root, &GlobOptions { walk: walk.clone(), ..globs(&["**"]) }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    let error = list(&root, &ListOptions { walk, ..ListOptions::default() }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[test]
fn pages_together_are_the_whole() {
    let names: Vec<String> = (0..57).map(|i| format!("d{}/f{i}", i % 7)).collect();
    let root = memory(names.iter().map(|name| (name.as_str(), "")));
    let whole = find(&root, &["**"]);
    let mut pages = Vec::new();
    let mut offset = Some(0);
    while let Some(at) = offset {
        let page = glob(&root, &GlobOptions { offset: at, limit: 10, ..globs(&["**"]) }).unwrap();
        assert_eq!(page.total, 57);
        pages.extend(page.paths);
        offset = page.next_offset;
    }
    assert_eq!(pages, whole);
    assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), 57);
}
