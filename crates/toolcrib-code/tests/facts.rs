//! What is read off a file, case by case: source, and the facts as text.
//!
//! The cases are in `tests/facts/<language>.txt`. With `TOOLCRIB_BLESS=1` the expected texts are written anew; look at the
//! difference before you believe it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

use std::fmt::Write;
use std::path::Path;

use toolcrib_code::facts::{FileFacts, extract};
use toolcrib_code::lang::{ALL, Language};

fn check(path: &Path) {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let language = Language::by_name(name).unwrap_or_else(|| panic!("{name} is no language"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut blessed = String::new();
    let mut wrong = String::new();
    for case in text.split("=== ").skip(1) {
        let (title, rest) = case.split_once('\n').unwrap();
        let (source, expected) = rest.split_once("---\n").unwrap_or((rest, ""));
        let facts = extract(source.as_bytes(), language).unwrap();
        assert_eq!(
            FileFacts::decode(&facts.encode()).as_ref(),
            Some(&facts),
            "{name}, {title}: stored and read"
        );
        let found = facts.describe();
        let _ = write!(blessed, "=== {title}\n{source}---\n{found}");
        if found.trim() != expected.trim() {
            let _ = writeln!(wrong, "{name}, {title}:\n--- expected\n{expected}--- found\n{found}");
        }
        blessed.push('\n');
    }
    if std::env::var_os("TOOLCRIB_BLESS").is_some() {
        std::fs::write(path, blessed.trim_end().to_owned() + "\n").unwrap();
    } else {
        assert!(wrong.is_empty(), "{wrong}");
    }
}

#[test]
fn every_language_reads_its_cases() {
    for language in ALL {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/facts/{}.txt", language.name));
        assert!(path.exists(), "{} has no cases", language.name);
        check(&path);
    }
}
