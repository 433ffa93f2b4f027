//! Bounded work: large files, huge lines and hostile shapes are answered in reasonable time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking, helpers included"
)]

use std::time::{Duration, Instant};

use toolcrib_workspace::diff;
use toolcrib_workspace::edit::{Edit, RefusalKind, apply};
use toolcrib_workspace::patch::{FilePatch, apply_hunks, parse};

fn source(lines: usize) -> String {
    (0..lines).map(|i| format!("    let value_{i} = compute({}, \"{}\");\n", i % 97, i * 31 % 1009)).collect()
}

/// Unoptimised builds are many times slower; what must not happen is quadratic.
fn within(limit: Duration, what: &str, run: impl FnOnce()) {
    let started = Instant::now();
    run();
    let took = started.elapsed();
    println!("{what}: {took:?}");
    let slack = if cfg!(debug_assertions) { 20 } else { 1 };
    assert!(took < limit * slack, "{what} took {took:?}");
}

fn cases(size: usize) {
    let file = source(size / 45);
    let bytes = file.as_bytes();
    let middle = size / 90;
    let lines: Vec<&str> = file.lines().skip(middle).take(6).collect();
    let limit = Duration::from_millis(30 + size as u64 / 40_000);
    within(limit, "exact", || {
        assert!(apply(bytes, &[Edit::new(lines.join("\n"), "x")]).is_ok());
    });
    within(limit, "re-indented", || {
        let flat: Vec<&str> = lines.iter().map(|l| l.trim()).collect();
        let new = flat.join("\n").replace("compute", "count");
        assert!(apply(bytes, &[Edit::new(flat.join("\n"), new)]).is_ok());
    });
    within(limit, "no match", || {
        let old = lines.join("\n").replace("compute", "estimate");
        let refusal = apply(bytes, &[Edit::new(old, "x")]).unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::NoMatch);
    });
    within(limit, "one common line, many matches", || {
        let many = "}\n".repeat(size / 20);
        assert_eq!(
            apply(many.as_bytes(), &[Edit::new("}\n}\n}", "x")]).unwrap_err().kind,
            RefusalKind::Ambiguous
        );
        let _ = apply(many.as_bytes(), &[Edit::new("}\n }\n}\n}\nx", "x")]);
    });
    within(limit, "one line", || {
        let one = "ab".repeat(size / 20);
        assert!(apply(one.as_bytes(), &[Edit::new("abc", "x")]).is_err());
        assert!(apply(one.as_bytes(), &[Edit::new("ab“c", "x")]).is_err());
        let typographic = "a“".repeat(size / 40);
        assert!(apply(typographic.as_bytes(), &[Edit::new("a\"a\"b", "x")]).is_err());
    });
    within(limit, "patch", || {
        let patch =
            format!("*** Begin Patch\n*** Update File: f\n@@\n-{}\n+x\n*** End Patch", lines.concat());
        let FilePatch::Update { hunks, .. } = &parse(&patch).unwrap()[0] else { panic!() };
        assert!(apply_hunks(bytes, hunks).is_err());
    });
    within(limit + Duration::from_millis(500), "diff", || {
        let other = file.replace("value", "result");
        assert!(!diff::unified("f", "f", Some(bytes), Some(other.as_bytes())).is_empty());
    });
}

#[test]
fn five_thousand_lines() {
    cases(5_000 * 45);
}

#[test]
fn four_megabytes() {
    cases(4 << 20);
}

/// Slow without optimisation, so it runs in `scripts/soak`.
#[test]
fn fifty_megabytes() {
    if std::env::var_os("TOOLCRIB_SOAK").is_some() {
        cases(50 << 20);
    }
}

#[test]
fn replacing_more_than_is_counted_is_refused() {
    let file = "a,".repeat(100_001);
    let edit = Edit { replace_all: true, ..Edit::new(",", ";") };
    assert_eq!(apply(file.as_bytes(), &[edit]).unwrap_err().kind, RefusalKind::CountMismatch);
}

#[test]
fn a_long_line_with_many_folded_matches_is_quick() {
    let file = "a\u{201c}".repeat(50_000);
    let started = std::time::Instant::now();
    assert!(apply(file.as_bytes(), &[Edit::new("a\"a", "x")]).is_err(), "ambiguous");
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}
