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
