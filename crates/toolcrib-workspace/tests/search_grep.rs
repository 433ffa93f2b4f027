//! grep: what matches, how it is shown, where it stops.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod search_support;

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use search_support::{Memory, Node, memory};
use toolcrib_workspace::ErrorKind;
use toolcrib_workspace::fs::directory::{DirEntry, Directory, EntryStat};
use toolcrib_workspace::search::{GrepOptions, GrepResult, Mode, WalkOptions, WalkRoot, grep, grep_file};

/// A result as text: `path:number:column:text` for matches, `path-number-text` for context, `!` after a cut line.
fn shown(result: &GrepResult) -> Vec<String> {
    let mut lines = Vec::new();
    for file in &result.files {
        for line in &file.lines {
            let cut = if line.cut { "!" } else { "" };
            lines.push(match line.column {
                Some(column) => format!("{}:{}:{column}:{}{cut}", file.path, line.number, line.text),
                None => format!("{}-{}-{}{cut}", file.path, line.number, line.text),
            });
            assert_eq!(line.column.is_some(), line.is_match);
        }
        assert_eq!(file.count, file.lines.iter().filter(|line| line.is_match).count());
    }
    lines
}

fn run(root: &WalkRoot, options: &GrepOptions) -> Vec<String> {
    shown(&grep(root, options).unwrap())
}

/// The lines found in one file `f`.
fn in_text(text: &str, options: &GrepOptions) -> Vec<String> {
    run(&memory([("f", text)]), options)
}

fn pattern(pattern: &str) -> GrepOptions {
    GrepOptions::new(pattern)
}

fn bytes(content: &[u8]) -> Node {
    Node::File(Arc::new(content.to_vec()))
}

#[test]
fn matches_come_by_path_and_line() {
    let root = memory([("b", "x\n"), ("a/c", "-\nx\nxx"), ("a.d", "x"), ("e", "y")]);
    let result = grep(&root, &pattern("x")).unwrap();
    assert_eq!(shown(&result), ["a/c:2:1:x", "a/c:3:1:xx", "a.d:1:1:x", "b:1:1:x"]);
    assert_eq!((result.total, result.next_offset, result.searched_files), (Some(4), None, 4));
}

#[test]
fn pattern_switches() {
    let text = "foo(a)\nFOO(a)\nfood(a)\na.c abc\n";
    assert_eq!(in_text(text, &pattern(r"^foo\b")), ["f:1:1:foo(a)"]);
    assert_eq!(in_text(text, &GrepOptions { literal: true, ..pattern("o(") }), ["f:1:3:foo(a)"]);
    assert_eq!(in_text(text, &GrepOptions { literal: true, ..pattern("a.c") }), ["f:4:1:a.c abc"]);
    let ignore_case = GrepOptions { ignore_case: true, ..pattern("foo") };
    assert_eq!(in_text(text, &ignore_case), ["f:1:1:foo(a)", "f:2:1:FOO(a)", "f:3:1:food(a)"]);
    assert_eq!(in_text(text, &GrepOptions { word: true, ..pattern("foo") }), ["f:1:1:foo(a)"]);
    assert_eq!(in_text("a-2 b\n-2\n", &GrepOptions { word: true, ..pattern("-2") }), ["f:2:1:-2"]);
    let both = GrepOptions { word: true, ignore_case: true, literal: true, ..pattern("A.C") };
    assert_eq!(in_text(text, &both), ["f:4:1:a.c abc"]);
}

#[test]
fn context_is_merged_and_ends_at_the_file() {
    let text = "1\nx2\n3\nx4\n5\n6\n7\n8\nx9";
    let options = GrepOptions { before: 1, after: 1, ..pattern("x") };
    let expected = ["f-1-1", "f:2:1:x2", "f-3-3", "f:4:1:x4", "f-5-5", "f-8-8", "f:9:1:x9"];
    assert_eq!(in_text(text, &options), expected);
    assert_eq!(in_text(text, &GrepOptions { after: 2, ..pattern("x4") }), ["f:4:1:x4", "f-5-5", "f-6-6"]);
    assert_eq!(in_text(text, &GrepOptions { before: 9, ..pattern("3") }), ["f-1-1", "f-2-x2", "f:3:1:3"]);
    let huge = GrepOptions { before: usize::MAX, after: usize::MAX, ..pattern("6") };
    assert_eq!(in_text(text, &huge).len(), 9);
}

#[test]
fn a_page_border_in_context_shows_further_matches_as_context() {
    let text = "1\nx\nx\nx\nx\n6\n7\n";
    let options = GrepOptions { after: 3, limit: 2, ..pattern("x") };
    let root = memory([("f", text), ("g", "x")]);
    let first = grep(&root, &options).unwrap();
    assert_eq!(shown(&first), ["f:2:1:x", "f:3:1:x", "f-4-x", "f-5-x", "f-6-6"]);
    assert_eq!((first.total, first.next_offset), (None, Some(2)));
    let second = grep(&root, &GrepOptions { offset: 2, ..options.clone() }).unwrap();
    assert_eq!(shown(&second), ["f:4:1:x", "f:5:1:x", "f-6-6", "f-7-7"]);
    let third = grep(&root, &GrepOptions { offset: 4, ..options }).unwrap();
    assert_eq!((shown(&third), third.next_offset), (vec!["g:1:1:x".to_owned()], None));
}

#[test]
fn multiline_matches_span_lines() {
    let text = "fn a(\n    x: i32,\n) {\n}\nfn b() {}\nfn c(\n) {\n";
    let options = GrepOptions { multiline: true, ..pattern(r"fn \w\(\s*\n[^)]*\)") };
    assert_eq!(
        in_text(text, &options),
        ["f:1:1:fn a(", "f:2:1:    x: i32,", "f:3:1:) {", "f:6:1:fn c(", "f:7:1:) {"]
    );
    let options = GrepOptions { multiline: true, ..pattern("b.*c") };
    assert!(in_text("b\nc\n", &options).is_empty(), "a dot stays in its line");
    let options = GrepOptions { multiline: true, ..pattern("(?s)b.*c") };
    assert_eq!(in_text("ab\nc\n", &options), ["f:1:2:ab", "f:2:1:c"]);
    let options = GrepOptions { multiline: true, literal: true, ..pattern("b\nc") };
    assert_eq!(in_text("äb\ncd\n", &options), ["f:1:2:äb", "f:2:1:cd"]);
    let options = GrepOptions { multiline: true, ..pattern("x") };
    assert_eq!(in_text("ax\nxx\n", &options), ["f:1:2:ax", "f:2:1:xx"], "neighbours keep their own columns");
    let options = GrepOptions { multiline: true, limit: 2, ..pattern(r"(?s)b.*e") };
    let result = grep(&memory([("f", "b\nc\nd\ne\n")]), &options).unwrap();
    assert_eq!((shown(&result), result.next_offset), (vec!["f:1:1:b".into(), "f:2:1:c".into()], Some(2)));
}

#[test]
fn both_line_endings_are_line_endings() {
    let text = "foo\r\nbar foo\r\nfoo bar\nfoo";
    assert_eq!(in_text(text, &pattern("foo$")), ["f:1:1:foo", "f:2:5:bar foo", "f:4:1:foo"]);
    assert_eq!(in_text(text, &pattern("^foo$")), ["f:1:1:foo", "f:4:1:foo"]);
    assert_eq!(
        in_text("a\r\nb\n", &pattern(r"a\r")),
        ["f:1:1:a"],
        "a pattern may ask for the carriage return"
    );
    assert_eq!(in_text("a\rb\n", &pattern("b")), ["f:1:3:a\rb"]);
    let multiline = GrepOptions { multiline: true, ..pattern(r"^bar foo$") };
    assert_eq!(in_text(text, &multiline), ["f:2:1:bar foo"]);
}

#[test]
fn columns_count_characters() {
    assert_eq!(in_text("ä→x\n", &pattern("x")), ["f:1:3:ä→x"]);
    assert_eq!(in_text("\tx x\n", &pattern("x")), ["f:1:2:\tx x"], "of the first match");
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let long = format!("{}needle{}", "ä".repeat(5000), "b".repeat(5000));
    let options = GrepOptions { max_line: 100, ..pattern("needle") };
    let result = grep(&memory([("f", long.as_str())]), &options).unwrap();
    let line = &result.files[0].lines[0];
    assert_eq!((line.column, line.cut), (Some(5001), true));
    assert_eq!(line.text.chars().count(), 102, "and two marks");
    assert!(line.text.contains("needle") && line.text.starts_with("…ä") && line.text.ends_with("b…"));

    let at_start = format!("needle{}", "b".repeat(500));
    assert!(in_text(&at_start, &options)[0].starts_with("f:1:1:needleb"));
    let at_end = format!("{}needle", "b".repeat(500));
    assert!(in_text(&at_end, &options)[0].ends_with("bneedle!"));
    let fits = format!("{}needle", "ä".repeat(94));
    assert_eq!(in_text(&fits, &options), [format!("f:1:95:{fits}")], "100 characters are not too long");
    let context = GrepOptions { before: 1, ..options };
    let text = format!("{}\nneedle\n", "c".repeat(101));
    assert_eq!(in_text(&text, &context)[0], format!("f-1-{}…!", "c".repeat(100)));
}

#[test]
fn binary_and_odd_encodings() {
    let mut tree = Memory::default();
    tree.add("binary", bytes(b"needle\n\0needle\n"));
    tree.add("late", bytes(&[&b"needle\n"[..], &[b'x'; 200_000], b"\0"].concat()));
    tree.add("late-large", bytes(&[&b"needle\n"[..], &[b'x'; 1 << 20], b"\n\0"].concat()));
    tree.add("latin1", bytes(b"caf\xe9 needle\n"));
    let utf16 = |bom: [u8; 2], unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        bom.into_iter().chain("ä needle\nno\n".encode_utf16().flat_map(unit)).collect()
    };
    tree.add("utf16be", bytes(&utf16([0xfe, 0xff], u16::to_be_bytes)));
    tree.add("utf16le", bytes(&utf16([0xff, 0xfe], u16::to_le_bytes)));
    tree.add("utf8bom", bytes(b"\xef\xbb\xbfneedle\n"));
    let result = grep(&WalkRoot::new(Arc::new(tree)), &pattern("needle")).unwrap();
    assert_eq!(
        shown(&result),
        [
            "late-large:1:1:needle",
            "latin1:1:6:caf\u{fffd} needle",
            "utf16be:1:3:ä needle",
            "utf16le:1:3:ä needle",
            "utf8bom:1:1:needle"
        ]
    );
    assert_eq!((result.binary_skipped, result.searched_files), (2, 7));
}

#[test]
fn large_files_stream_and_can_be_refused() {
    let mut text = "filler line\n".repeat(300_000);
    text.push_str("needle at the end\n");
    let root = memory([("big", text.as_str()), ("small", "needle")]);
    assert_eq!(run(&root, &pattern("needle")), ["big:300001:1:needle at the end", "small:1:1:needle"]);
    let multiline = GrepOptions { multiline: true, ..pattern(r"line\nneedle") };
    assert_eq!(run(&root, &multiline), ["big:300000:8:filler line", "big:300001:1:needle at the end"]);
    let result = grep(&root, &GrepOptions { max_file_bytes: 2 << 20, ..pattern("needle") }).unwrap();
    assert_eq!((shown(&result), result.too_large), (vec!["small:1:1:needle".to_owned()], 1));
    let result = grep(&root, &GrepOptions { max_file_bytes: 3, ..pattern("needle") }).unwrap();
    assert_eq!((result.files.len(), result.too_large), (0, 2));
}

#[test]
fn a_line_of_500_megabytes_is_bounded() {
    let mut tree = Memory::default();
    tree.add("line", Node::Endless(b'x', 500 << 20));
    tree.add("small", bytes(b"xneedle"));
    let root = WalkRoot::new(Arc::new(tree));
    let options = GrepOptions { max_file_bytes: u64::MAX, ..pattern("needle") };
    let result = grep(&root, &options).unwrap();
    assert_eq!(shown(&result), ["small:1:2:xneedle"]);
    assert_eq!(result.notices[0].as_str(), "line: searched only up to a line of more than 16 MiB");
    for mode in [Mode::Files, Mode::Count] {
        let result = grep(&root, &GrepOptions { mode, ..options.clone() }).unwrap();
        assert_eq!((result.total, result.notices.len()), (Some(1), 1));
    }
    assert_eq!(grep(&root, &pattern("needle")).unwrap().too_large, 1, "with the usual limit");
}

#[test]
fn files_and_counts() {
    let root = memory([("a", "x\nx\ny"), ("b", "y"), ("c", "x"), ("d", "x")]);
    for mode in [Mode::Files, Mode::Count] {
        let options = GrepOptions { mode, ..pattern("x") };
        let result = grep(&root, &options).unwrap();
        let found: Vec<_> = result.files.iter().map(|file| (file.path.as_str(), file.count)).collect();
        assert_eq!((found, result.total), (vec![("a", 2), ("c", 1), ("d", 1)], Some(3)));
        let page = grep(&root, &GrepOptions { offset: 1, limit: 1, ..options }).unwrap();
        assert_eq!(page.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["c"]);
        assert_eq!((page.total, page.next_offset), (None, Some(2)));
    }
}

#[test]
fn filters_by_glob_and_type() {
    let root = memory([("a.rs", "x"), ("b.py", "x"), ("d/c.rs", "x"), ("d/e.tsx", "x"), ("README.md", "x")]);
    let paths = |include: &[&str], types: &[&str]| -> Vec<String> {
        let owned = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect();
        let options = GrepOptions { include: owned(include), types: owned(types), ..pattern("x") };
        grep(&root, &options).unwrap().files.into_iter().map(|file| file.path).collect()
    };
    assert_eq!(paths(&["*.rs"], &[]), ["a.rs", "d/c.rs"]);
    assert_eq!(paths(&["!*.rs", "!d"], &[]), ["README.md", "b.py"]);
    assert_eq!(paths(&[], &["rust", "py"]), ["a.rs", "b.py", "d/c.rs"]);
    assert_eq!(paths(&[], &["typescript"]), ["d/e.tsx"]);
    assert_eq!(paths(&[], &["tsx", "rs"]), ["a.rs", "d/c.rs", "d/e.tsx"]);
    assert_eq!(paths(&["d/"], &["rust"]), ["d/c.rs"]);
    assert_eq!(paths(&[], &["!rust"]), ["README.md", "b.py", "d/e.tsx"]);
    let error = grep(&root, &GrepOptions { types: vec!["pyton".into()], ..pattern("x") }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPattern);
    assert_eq!(error.near()[0], "python");
}

#[test]
fn bad_patterns_are_explained() {
    let root = memory([("f", "x")]);
    for (bad, says) in [
        ("foo(", "unclosed group"),
        ("foo(", "Set literal"),
        ("*a", "repetition operator missing expression"),
        ("(?=x)", "Look-around is not supported"),
        (r"(a)\1", "Backreferences are not supported"),
        (r"a\nb", "set multiline"),
        ("a\nb", "set multiline"),
        ("", "empty"),
    ] {
        let error = grep(&root, &pattern(bad)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{bad:?}");
        assert!(error.message().contains(says), "{bad:?}: {error}");
    }
    let error = grep(&root, &GrepOptions { literal: true, ..pattern("a\nb") }).unwrap_err();
    assert!(error.message().contains("set multiline"));
    assert_eq!(grep(&root, &pattern(&"x".repeat(20_000))).unwrap_err().kind(), ErrorKind::InvalidPattern);
    assert!(grep(&root, &GrepOptions { literal: true, ..pattern("foo(") }).is_ok());
}

#[test]
fn hostile_patterns_are_refused_quickly() {
    let root = memory([("f", "x")]);
    for bad in [
        r"(\w{1000}){1000}".to_owned(),
        r"((a{100}){100}){100}".to_owned(),
        "(".repeat(5000) + &")".repeat(5000),
        r"[\w\d\s]{999}{999}".to_owned(),
    ] {
        for options in [pattern(&bad), GrepOptions { ignore_case: true, word: true, ..pattern(&bad) }] {
            let start = Instant::now();
            let error = grep(&root, &options).unwrap_err();
            let took = start.elapsed();
            assert_eq!(error.kind(), ErrorKind::InvalidPattern);
            assert!(error.message().len() < 1_200, "{error}");
            assert!(took < Duration::from_millis(500), "{took:?}");
        }
    }
    assert!(grep(&root, &pattern(r"\w{1,50}\s+[\p{L}\d]{20}")).is_ok(), "ordinary ones are not");
}

/// Directories, sub-directories and matches at odd places.
fn forest() -> Vec<(String, String)> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut files = Vec::new();
    for i in 0..400 {
        let depth = random.usize(0..4);
        let dirs: String = (0..depth).map(|_| format!("d{}/", random.u8(0..4))).collect();
        let lines: String = (0..random.usize(0..30))
            .map(|_| ["nothing\n", "the needle\n", "x needle needle\n", "\n"][random.usize(0..4)])
            .collect();
        files.push((format!("{dirs}f{i}"), lines));
    }
    files
}

fn forest_root(files: &[(String, String)]) -> WalkRoot {
    memory(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

#[test]
fn the_answer_is_that_of_a_plain_scan_whatever_the_threads() {
    let files = forest();
    let mut sorted: Vec<_> = files.iter().collect();
    sorted.sort_by(|a, b| a.0.split('/').cmp(b.0.split('/')));
    let mut expected = Vec::new();
    for (path, text) in sorted {
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(at) = line.find("needle") {
                expected.push(format!("{path}:{number}:{}:{line}", at + 1));
            }
        }
    }
    let root = forest_root(&files);
    for threads in [1, 2, 3, 8, 32] {
        let walk = WalkOptions { threads, ..WalkOptions::default() };
        let all = GrepOptions { limit: usize::MAX, walk: walk.clone(), ..pattern("needle") };
        let result = grep(&root, &all).unwrap();
        assert_eq!(shown(&result), expected, "{threads} threads");
        assert_eq!((result.total, result.searched_files), (Some(expected.len()), 400));
        for limit in [1, 7, 100, expected.len() - 1, expected.len()] {
            let cut = grep(&root, &GrepOptions { limit, ..all.clone() }).unwrap();
            assert_eq!(shown(&cut), expected[..limit], "{threads} threads, {limit}");
            let is_all = limit == expected.len();
            assert_eq!(cut.total, is_all.then_some(limit));
            assert_eq!(cut.next_offset, (!is_all).then_some(limit));
        }
    }
}

#[test]
fn a_stopped_search_reports_the_same_numbers_every_time() {
    let root = forest_root(&forest());
    let summary = |threads: usize, mode: Mode| {
        let walk = WalkOptions { threads, ..WalkOptions::default() };
        let result = grep(&root, &GrepOptions { limit: 50, mode, walk, ..pattern("needle") }).unwrap();
        (result.files, result.searched_files, result.ignored, result.notices)
    };
    for mode in [Mode::Content, Mode::Files, Mode::Count] {
        let alone = summary(1, mode);
        for _ in 0..30 {
            assert_eq!(summary(8, mode), alone);
        }
    }
}

#[test]
fn pages_together_are_the_whole() {
    let root = forest_root(&forest());
    for (mode, before, after) in [(Mode::Content, 0, 0), (Mode::Content, 2, 3), (Mode::Count, 0, 0)] {
        let options = GrepOptions { mode, before, after, ..pattern("needle") };
        let matches = |result: &GrepResult| -> Vec<String> {
            let lines = result.files.iter().flat_map(|file| {
                let lines = file.lines.iter().filter(|line| line.is_match);
                let lines = lines.map(|line| format!("{}:{}:{:?}", file.path, line.number, line.column));
                let count = (mode == Mode::Count).then(|| format!("{}:{}", file.path, file.count));
                lines.chain(count).collect::<Vec<_>>()
            });
            lines.collect()
        };
        let whole = grep(&root, &GrepOptions { limit: usize::MAX, ..options.clone() }).unwrap();
        let mut pages = Vec::new();
        let mut offset = Some(0);
        while let Some(at) = offset {
            let page = grep(&root, &GrepOptions { offset: at, limit: 37, ..options.clone() }).unwrap();
            pages.extend(matches(&page));
            offset = page.next_offset;
        }
        assert_eq!(pages, matches(&whole));
        let beyond = grep(&root, &GrepOptions { offset: 1 << 40, ..options }).unwrap();
        assert_eq!((beyond.files.len(), beyond.total), (0, whole.total));
    }
}

#[test]
fn stopping_early_opens_few_files() {
    let names: Vec<String> = (0..20_000).map(|i| format!("d{:03}/f{i}", i / 100)).collect();
    let mut tree = Memory::default();
    for name in &names {
        tree.add(name, bytes(b"needle\n"));
    }
    let opened = Arc::clone(&tree.opened);
    let result = grep(&WalkRoot::new(Arc::new(tree)), &pattern("needle")).unwrap();
    assert_eq!((result.files.len(), result.next_offset, result.searched_files), (100, Some(100), 101));
    let opened = opened.load(Ordering::Relaxed);
    assert!(opened < 2_000, "{opened} of 20000");
}

/// A file that can't be read to its end before `until` says so, and a panic if it is named so.
struct Odd {
    files: Arc<Memory>,
    until: fn(usize) -> bool,
}

impl Directory for Odd {
    fn entries(&self) -> io::Result<Vec<DirEntry>> {
        self.files.entries()
    }
    fn open_dir(&self, name: &OsStr) -> io::Result<Arc<dyn Directory>> {
        self.files.open_dir(name)
    }
    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn io::Read + Send>> {
        assert_ne!(name, "panic", "a directory that panics");
        let deadline = Instant::now() + Duration::from_millis(200);
        while name == "0slow"
            && !(self.until)(self.files.opened.load(Ordering::Relaxed))
            && Instant::now() < deadline
        {
            std::thread::yield_now();
        }
        self.files.open_file(name)
    }
    fn stat(&self, name: &OsStr) -> io::Result<EntryStat> {
        self.files.stat(name)
    }
}

#[test]
fn a_slow_file_at_the_front_does_not_let_the_others_run_away() {
    let mut tree = Memory::default();
    tree.add("0slow", bytes(b"needle\n"));
    for i in 0..5_000 {
        tree.add(&format!("f{i:04}"), bytes(b"needle\n"));
    }
    let opened = Arc::clone(&tree.opened);
    let walk = WalkOptions { threads: 4, ..WalkOptions::default() };
    let root = WalkRoot::new(Arc::new(Odd { files: Arc::new(tree), until: |opened| opened > 1_000 }));
    let result = grep(&root, &GrepOptions { walk, ..pattern("needle") }).unwrap();
    assert_eq!((result.files[0].path.as_str(), result.searched_files), ("0slow", 101));
    let opened = opened.load(Ordering::Relaxed);
    assert!(opened < 400, "{opened} of 5001, for 101 matches");
}

#[test]
fn a_panic_in_one_thread_does_not_leave_the_others_waiting() {
    let mut tree = Memory::default();
    tree.add("panic", bytes(b""));
    for i in 0..1_000 {
        tree.add(&format!("d{i}/f"), bytes(b"needle\n"));
    }
    let walk = WalkOptions { threads: 8, ..WalkOptions::default() };
    let root = WalkRoot::new(Arc::new(Odd { files: Arc::new(tree), until: |_| true }));
    let search = std::thread::spawn(move || {
        grep(&root, &GrepOptions { limit: usize::MAX, walk, ..pattern("needle") })
    });
    assert!(search.join().is_err());
}

#[test]
fn a_cancelled_search_ends_soon_even_in_a_large_file() {
    let mut tree = Memory::default();
    tree.add("endless", Node::Endless(b'\n', u64::MAX));
    let root = WalkRoot::new(Arc::new(tree));
    let cancel = Arc::new(AtomicBool::new(false));
    let walk = WalkOptions { cancel: Some(Arc::clone(&cancel)), ..WalkOptions::default() };
    let options = GrepOptions { max_file_bytes: u64::MAX, walk, ..pattern("needle") };
    let search = std::thread::spawn(move || grep(&root, &options).unwrap_err().kind());
    std::thread::sleep(Duration::from_millis(30));
    assert!(!search.is_finished());
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(search.join().unwrap(), ErrorKind::Cancelled);
}

#[test]
fn one_file_is_searched_by_itself() {
    let options = GrepOptions { include: vec!["*.rs".into()], limit: 2, ..pattern("x") };
    let result = grep_file(&b"x1\ny\nx3\nx4\n"[..], "spill/1.txt", &options).unwrap();
    assert_eq!(shown(&result), ["spill/1.txt:1:1:x1", "spill/1.txt:3:1:x3"]);
    assert_eq!((result.total, result.next_offset, result.searched_files), (None, Some(2), 1));
    let rest = grep_file(&b"x1\ny\nx3\nx4\n"[..], "f", &GrepOptions { offset: 2, ..options }).unwrap();
    assert_eq!((shown(&rest), rest.total, rest.next_offset), (vec!["f:4:1:x4".to_owned()], Some(3), None));
    assert_eq!(grep_file(&b"x\0"[..], "f", &pattern("x")).unwrap().binary_skipped, 1);
    assert_eq!(grep_file(&b"x"[..], "f", &pattern("(")).unwrap_err().kind(), ErrorKind::InvalidPattern);
}

#[test]
fn ignored_files_are_not_searched_unless_asked_for() {
    let root = memory([(".gitignore", "out/\n"), ("out/a", "x"), ("b", "x"), (".git/x", "x")]);
    let result = grep(&root, &pattern("x")).unwrap();
    assert_eq!((shown(&result), result.ignored), (vec!["b:1:1:x".to_owned()], 1));
    let walk = WalkOptions { include_ignored: true, ..WalkOptions::default() };
    assert_eq!(run(&root, &GrepOptions { walk, ..pattern("x") }), ["b:1:1:x", "out/a:1:1:x"]);
}
