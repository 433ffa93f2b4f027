#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use scip::types::Index;

use super::*;
use crate::facts::LineTable;

fn occurrence(range: &[i32], symbol: &str, definition: bool) -> WrittenOccurrence {
    WrittenOccurrence {
        range: range.to_vec(),
        symbol: symbol.into(),
        symbol_roles: i32::from(definition),
        ..WrittenOccurrence::default()
    }
}

fn index(documents: &[(&str, Vec<WrittenOccurrence>)]) -> ScipIndex {
    let mut index = Index::new();
    for (path, occurrences) in documents {
        let mut document = Written::new();
        document.relative_path = (*path).into();
        document.occurrences.clone_from(occurrences);
        index.documents.push(document);
    }
    ScipIndex::parse(&index.write_to_bytes().unwrap()).unwrap()
}

#[test]
fn definitions_are_found_across_documents() {
    let f = "tool npm pkg 1.0 `a.ts`/f().";
    let read = index(&[
        ("a.ts", vec![occurrence(&[0, 9, 10], f, true), occurrence(&[1, 0, 1], "local 0", true)]),
        ("b.ts", vec![occurrence(&[2, 0, 1], f, false), occurrence(&[3, 0, 1], "local 0", false)]),
    ]);
    let uses = &read.documents[1].occurrences;
    let found: Vec<_> = read.definitions(uses[0].symbol).map(|(document, at)| (&document.path, at)).collect();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0.as_str(), found[0].1.range.column), ("a.ts", 9));
    // A local of another document is another symbol.
    assert_eq!(read.definitions(uses[1].symbol).count(), 0);
    assert_eq!(read.class(uses[0].symbol), Class::Function);
}

#[test]
fn what_is_no_index_is_refused() {
    assert!(matches!(ScipIndex::parse(b"\x12\xff\xff\xff\xff\x0f"), Err(ScipError::Malformed(_))));
    assert!(matches!(ScipIndex::parse(b"text, not a message"), Err(ScipError::Malformed(_))));
    assert!(ScipIndex::parse(b"").unwrap().documents.is_empty());
}

#[test]
fn symbols_tell_what_they_stand_for() {
    let class = |descriptors: &str| Class::of(&format!("rust-analyzer cargo a 1.0 {descriptors}"), 0);
    assert_eq!(class("m/f()."), Class::Function);
    assert_eq!(class("m/T#"), Class::Type);
    assert_eq!(class("m/T#f()."), Class::Method);
    assert_eq!(class("m/impl#[T][`From<&str>`]from()."), Class::Method);
    assert_eq!(class("m/T#x."), Class::Field);
    assert_eq!(class("m/T#typeLiteral0:x."), Class::Field);
    assert_eq!(class("m/X."), Class::Constant);
    assert_eq!(class("m/x!"), Class::Constant);
    assert_eq!(class("m/"), Class::Module);
    assert_eq!(class("`a.b`/__init__:"), Class::Module);
    assert_eq!(class("m/f().(x)"), Class::Local);
    assert_eq!(class("m/f(+1)."), Class::Function);
    assert_eq!(Class::of("local 4", 0), Class::Local);
    assert_eq!(Class::of("rust-analyzer cargo a 1.0 m/E#V#", 12), Class::Constant);
    let names: Vec<_> = descriptors("s m  p n 1 `a``b`/C#").into_iter().map(|step| step.name).collect();
    assert_eq!(names, ["a`b", "C"]);
    assert!(descriptors("broken").is_empty());
}

#[test]
fn columns_become_bytes() {
    let source = "a = 1\nx😀é = y\r\n".as_bytes();
    let lines = LineTable::of(source);
    let at = |line, column, end_column, encoding| {
        let range = Range { line, column, end_line: line, end_column };
        range.span(source, &lines, encoding).map(|span| String::from_utf8_lossy(span.of(source)).into_owned())
    };
    assert_eq!(at(1, 7, 8, Encoding::Utf16).as_deref(), Some("y"));
    assert_eq!(at(1, 6, 7, Encoding::Utf32).as_deref(), Some("y"));
    assert_eq!(at(1, 10, 11, Encoding::Utf8).as_deref(), Some("y"));
    assert_eq!(at(0, 0, 1, Encoding::Utf16).as_deref(), Some("a"));
    // In the middle of a character, past the end of a line, past the end of the file.
    assert_eq!(at(1, 2, 3, Encoding::Utf16), None);
    assert_eq!(at(0, 0, 6, Encoding::Utf8), None);
    assert_eq!(at(9, 0, 0, Encoding::Utf8), None);
}

mod overlay {
    use std::path::Path;
    use std::sync::Arc;

    use toolcrib_workspace::Workspace;

    use super::super::*;
    use super::{index, occurrence};
    use crate::index::{CodeIndex, Control, Snapshot};

    const F: &str = "tool npm pkg 1.0 `a.ts`/f().";
    const A: &str = "export function f() {}\nfunction g() { return f(); }\n";
    const B: &str = "import { f as other } from \"./a\";\nother();\nnew Other();\n";

    fn snapshot(dir: &Path, files: &[(&str, &str)]) -> Arc<Snapshot> {
        for (path, text) in files {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let workspace = Workspace::open(dir).unwrap().read_only();
        CodeIndex::open(workspace, None).refresh(&Control::default()).unwrap()
    }

    fn both() -> ScipIndex {
        let a = vec![occurrence(&[0, 16, 17], F, true), occurrence(&[1, 22, 23], F, false)];
        let b = vec![occurrence(&[0, 9, 10], F, false), occurrence(&[1, 0, 5], F, false)];
        index(&[("a.ts", a), ("b.ts", b)])
    }

    #[test]
    fn a_use_leads_to_its_definition() {
        let dir = tempfile::tempdir().unwrap();
        let now = snapshot(dir.path(), &[("a.ts", A), ("b.ts", B)]);
        let overlay = Overlay::new(&both(), &now, "");
        assert_eq!(overlay.len(), 2);
        let of = |path: &str, offset| overlay.definition_of(&now, path, offset);
        assert_eq!(of("a.ts", 45), Some(vec![("a.ts", 16)]));
        // Under its other name too.
        assert_eq!(of("b.ts", 34), Some(vec![("a.ts", 16)]));
        // A definition is no use, and the rest is nothing.
        assert_eq!(of("a.ts", 16), None);
        assert_eq!(of("b.ts", 41), None);
        assert_eq!(of("c.ts", 0), None);
    }

    #[test]
    fn paths_can_count_from_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let now = snapshot(dir.path(), &[("pkg/a.ts", A), ("pkg/b.ts", B)]);
        let overlay = Overlay::new(&both(), &now, "pkg/");
        assert_eq!(overlay.definition_of(&now, "pkg/a.ts", 45), Some(vec![("pkg/a.ts", 16)]));
        assert_eq!(Overlay::new(&both(), &now, "").len(), 0);
    }

    #[test]
    fn it_ends_with_the_content_it_was_compared_with() {
        let dir = tempfile::tempdir().unwrap();
        let then = snapshot(dir.path(), &[("a.ts", A), ("b.ts", B)]);
        let overlay = Overlay::new(&both(), &then, "");
        // A definition in a changed file is not where it was, though the use is.
        let now = snapshot(dir.path(), &[("a.ts", &format!("\n{A}"))]);
        assert_eq!(overlay.definition_of(&now, "a.ts", 45), None);
        assert_eq!(overlay.definition_of(&now, "b.ts", 34), None);
        assert!(overlay.holds("b.ts", &now.file("b.ts").unwrap().hash));
        assert!(!overlay.holds("a.ts", &now.file("a.ts").unwrap().hash));
        // As it was, it holds again.
        let again = snapshot(dir.path(), &[("a.ts", A)]);
        assert_eq!(overlay.definition_of(&again, "b.ts", 34), Some(vec![("a.ts", 16)]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |files: &[(&str, &str)], index: &ScipIndex| {
            let now = snapshot(dir.path(), files);
            let overlay = Overlay::new(index, &now, "");
            overlay.refused().map(|(_, why)| why).collect::<Vec<_>>()
        };
        assert_eq!(refused(&[("a.ts", A)], &both()), [Refused::NoFile]);
        let renamed = A.replace("f()", "h()");
        assert_eq!(refused(&[("a.ts", &renamed), ("b.ts", B)], &both()), [Refused::OtherText]);
        assert_eq!(refused(&[("a.ts", "let f;")], &both()), [Refused::NoPlace]);
        let silent = index(&[("a.ts", vec![occurrence(&[0, 16, 17], "tool npm other 1 f().", false)])]);
        assert_eq!(refused(&[("a.ts", A)], &silent), [Refused::NothingToCompare]);
    }

    #[test]
    fn a_single_place_that_is_another_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("{A}{}", "f();\n".repeat(300));
        let mut places = vec![occurrence(&[0, 16, 17], F, true)];
        places.extend((2..302).map(|line| occurrence(&[line, 0, 1], F, false)));
        let made = index(&[("a.ts", places)]);
        let edited = text.replacen("f();\nf();", "g();\nf();", 1);
        let now = snapshot(dir.path(), &[("a.ts", &edited)]);
        let overlay = Overlay::new(&made, &now, "");
        let first = A.len() as u32;
        assert_eq!(overlay.definition_of(&now, "a.ts", first), None);
        assert_eq!(overlay.definition_of(&now, "a.ts", first + 5), Some(vec![("a.ts", 16)]));
    }

    #[test]
    fn a_constructor_is_written_as_its_class() {
        let dir = tempfile::tempdir().unwrap();
        let text = "class Other { constructor() {} }\nnew Other();\n";
        let made = "tool npm pkg 1.0 `a.ts`/Other#`<constructor>`().";
        let places = vec![occurrence(&[0, 14, 25], made, true), occurrence(&[1, 4, 9], made, false)];
        let now = snapshot(dir.path(), &[("a.ts", text)]);
        let overlay = Overlay::new(&index(&[("a.ts", places)]), &now, "");
        assert_eq!(overlay.definition_of(&now, "a.ts", 37), Some(vec![("a.ts", 14)]));
    }

    #[test]
    fn a_local_is_the_same_everywhere() {
        let dir = tempfile::tempdir().unwrap();
        let text = "let one = 1;\none + one;\n";
        let x = "local 0";
        let places = vec![occurrence(&[0, 4, 7], x, true), occurrence(&[1, 0, 3], x, false)];
        let now = snapshot(dir.path(), &[("a.ts", text)]);
        let overlay = Overlay::new(&index(&[("a.ts", places.clone())]), &now, "");
        assert_eq!(overlay.definition_of(&now, "a.ts", 13), Some(vec![("a.ts", 4)]));
        let now = snapshot(dir.path(), &[("a.ts", &text.replace("let one", "let two"))]);
        assert!(Overlay::new(&index(&[("a.ts", places)]), &now, "").is_empty());
    }
}
