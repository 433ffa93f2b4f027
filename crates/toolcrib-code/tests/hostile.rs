//! Source that nobody wrote in good faith: bounded time and memory, noted, never a crash.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use toolcrib_code::facts::{Skipped, extract};
use toolcrib_code::index::{CodeIndex, Control};
use toolcrib_code::lang::{ALL, Language};
use toolcrib_workspace::Workspace;

fn within<T>(seconds: u64, what: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    assert!(started.elapsed() < Duration::from_secs(seconds), "{what} took {:?}", started.elapsed());
    done
}

#[test]
fn nesting_has_no_depth_that_breaks_it() {
    for language in ALL {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("a.b(", ")")] {
            let mut text = open.repeat(4_000);
            text.push('x');
            text.push_str(&close.repeat(4_000));
            // One line a bracket: a bundle would not be parsed at all.
            let text = text.replace('(', "(\n").replace('[', "[\n").replace('{', "{\n").replace(')', ")\n");
            within(30, language.name, || drop(extract(text.as_bytes(), language)));
        }
    }
}

#[test]
fn a_hundred_thousand_brackets() {
    for name in ["rust", "python", "typescript"] {
        let language = Language::by_name(name).unwrap();
        let text = format!("x = {}1{}\n", "(\n".repeat(100_000), ")\n".repeat(100_000));
        within(60, name, || drop(extract(text.as_bytes(), language)));
    }
}

#[test]
fn long_chains_and_patterns_take_no_longer_than_they_are_long() {
    let rust = Language::by_name("rust").unwrap();
    let chain = format!("fn f() {{ a{}; }}", "\n.b()".repeat(20_000));
    let facts = within(20, "chain", || extract(chain.as_bytes(), rust).unwrap());
    assert!(facts.references.len() >= 20_000);
    let pattern = format!("fn f() {{ let {}x{} = y; }}", "(\n".repeat(5_000), ",)".repeat(5_000));
    within(20, "pattern", || drop(extract(pattern.as_bytes(), rust)));
    let python = Language::by_name("python").unwrap();
    let wide = format!("{} = f()\n", (0..20_000).map(|n| format!("x{n}")).collect::<Vec<_>>().join(",\\\n"));
    within(20, "wide", || drop(extract(wide.as_bytes(), python)));
}

#[test]
fn what_is_not_source_is_skipped_and_noted() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("good.py", b"def fine(): pass\n");
    write("latin.py", b"# caf\xe9\ndef accent(): return '\xff\xfe'\n");
    write("bundle.js", format!("var a={};", "f(1),".repeat(20_000)).as_bytes());
    write("binary.rs", b"fn a() {}\0\0\0");
    std::fs::File::create(dir.path().join("huge.c")).unwrap().set_len(50 << 20).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(".", dir.path().join("loop")).unwrap();
    let index = CodeIndex::open(Workspace::open(dir.path()).unwrap().read_only(), None);
    let snapshot = within(20, "index", || index.refresh(&Control::default()).unwrap());
    let report = snapshot.report();
    assert_eq!((report.files, report.unsupported), (2, 3), "{report:?}");
    assert!(report.notes.iter().any(|note| note.starts_with("huge.c: larger")), "{report:?}");
    assert!(report.notes.iter().any(|note| note.starts_with("bundle.js: a minified")), "{report:?}");
    let latin = snapshot.facts(snapshot.file("latin.py").unwrap()).unwrap();
    assert_eq!(latin.text(latin.definitions[0].name), "accent");
}

#[test]
fn any_bytes_at_all() {
    let mut state = 0x1234_5678_u32;
    for language in ALL {
        for _ in 0..20 {
            let bytes: Vec<u8> = (0..600)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    b" \n(){}[]<>;:,.=+-*/'\"#!&|abcdfnruse\xc3\xa9\xff0"[(state >> 16) as usize % 39]
                })
                .collect();
            if let Ok(facts) = extract(&bytes, language) {
                let again = toolcrib_code::facts::FileFacts::decode(&facts.encode());
                assert_eq!(again.as_ref(), Some(&facts));
                drop(facts.describe());
            }
        }
    }
    assert_eq!(extract(&[b'x'; 100_000], ALL[0]), Err(Skipped::Bundle));
}

#[test]
fn damaged_facts_are_refused_not_believed() {
    let facts = extract(b"fn a(b: C) -> D { b.e() }\n", ALL[0]).unwrap();
    let bytes = facts.encode();
    for cut in 0..bytes.len() {
        assert!(toolcrib_code::facts::FileFacts::decode(&bytes[..cut]).is_none(), "{cut}");
    }
}

/// A workspace with so many small files, each with a function of its own.
fn many(files: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..files {
        let text = format!("def f{number}(a):\n    return f{number}(a)\n");
        std::fs::write(dir.path().join(format!("m{number:05}.py")), text).unwrap();
    }
    dir
}

#[test]
fn more_files_than_can_be_held_are_left_out_and_counted() {
    let dir = many(30);
    let index = CodeIndex::open(Workspace::open(dir.path()).unwrap().read_only(), None);
    let few = Control { max_files: Some(20), ..Control::default() };
    let report = index.refresh(&few).unwrap().report().clone();
    assert_eq!(report.files, 20);
    assert!(
        report.notes.iter().any(|note| note.contains("10 of the source files are not read")),
        "{report:?}"
    );
    assert_eq!(index.refresh(&Control::default()).unwrap().report().files, 30);
}

#[test]
fn cancelled_in_the_middle_it_ends_and_starts_again() {
    let dir = many(2_000);
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = AtomicUsize::new(0);
    let index = CodeIndex::open(Workspace::open(dir.path()).unwrap().read_only(), None);
    let stop_at_ten = |done: usize, _: usize| {
        seen.fetch_max(done, Ordering::Relaxed);
        if done >= 10 {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let control =
        Control { cancel: Some(Arc::clone(&cancel)), progress: Some(&stop_at_ten), ..Control::default() };
    let error = index.refresh(&control).err().unwrap();
    assert_eq!(error.kind(), toolcrib_workspace::ErrorKind::Cancelled);
    // No more than what was being read at that moment.
    assert!(seen.load(Ordering::Relaxed) < 100, "{seen:?}");
    assert_eq!(index.refresh(&Control::default()).unwrap().report().files, 2_000);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_one_version_or_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("busy.py");
    let version =
        |number: usize| format!("def version_{number}():\n    pass\n{}", "x = 1\n".repeat(number % 300));
    std::fs::write(&path, version(0)).unwrap();
    let index = CodeIndex::open(Workspace::open(dir.path()).unwrap().read_only(), None);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for number in 0..400 {
                std::fs::write(&path, version(number)).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let snapshot = index.refresh(&Control::default()).unwrap();
            // Torn writes are the writer's: what is there is read as it is, and the facts are those of its hash.
            if let Some(entry) = snapshot.file("busy.py")
                && let Some(source) = snapshot.source(entry)
            {
                let facts = snapshot.facts(entry).unwrap();
                assert_eq!(*facts, extract(&source, entry.language).unwrap());
            }
        }
    });
    let snapshot = index.refresh(&Control::default()).unwrap();
    let facts = snapshot.facts(snapshot.file("busy.py").unwrap()).unwrap();
    assert_eq!(facts.text(facts.definitions[0].name), "version_399");
}
