//! What names mean within a file, case by case: source, and every use with what it stands for.
//!
//! The cases are in `tests/resolve/<language>.txt`; `TOOLCRIB_BLESS=1` writes the expected texts anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use toolcrib_code::facts::extract;
use toolcrib_code::lang::Language;
use toolcrib_code::resolve::FileScopes;

#[test]
fn names_mean_what_their_scope_says() {
    for name in ["rust", "python", "typescript"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/resolve/{name}.txt"));
        let language = Language::by_name(name).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let (mut blessed, mut wrong) = (String::new(), String::new());
        for case in text.split("=== ").skip(1) {
            let (title, rest) = case.split_once('\n').unwrap();
            let (source, expected) = rest.split_once("---\n").unwrap_or((rest, ""));
            let facts = Arc::new(extract(source.as_bytes(), language).unwrap());
            let scopes = FileScopes::new(Arc::clone(&facts), language);
            let mut found = String::new();
            for reference in &facts.references {
                let target =
                    scopes.resolve(reference).map_or("?".to_owned(), |target| scopes.describe(target));
                let line = facts.lines.line(reference.start);
                let _ = writeln!(found, "{line}: {} -> {target}", facts.text(reference.name));
            }
            let _ = write!(blessed, "=== {title}\n{source}---\n{found}\n");
            if found.trim() != expected.trim() {
                let _ = writeln!(wrong, "{name}, {title}:\n--- expected\n{expected}--- found\n{found}");
            }
        }
        if std::env::var_os("TOOLCRIB_BLESS").is_some() {
            std::fs::write(path, blessed.trim_end().to_owned() + "\n").unwrap();
        } else {
            assert!(wrong.is_empty(), "{wrong}");
        }
    }
}
