//! Questions about one symbol: what the datasets of the tools cannot show.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use toolcrib_code::index::{CodeIndex, Control};
use toolcrib_code::query::{
    Found, InfoQuery, ReferenceQuery, References, Subject, Wanted, pick, references, resolve, symbol_info,
};
use toolcrib_code::resolve::{Label, Program};
use toolcrib_workspace::{ChangeLabel, ErrorKind, Expect, Workspace};

fn program(files: &[(&str, &str)]) -> Program {
    let workspace = Workspace::memory();
    let mut change = workspace.begin(ChangeLabel::default());
    for (path, text) in files {
        change.put(path, text.as_bytes().to_vec(), Expect::Absent).unwrap();
    }
    change.commit(&|| false).unwrap();
    let index = CodeIndex::open(workspace.read_only(), None);
    Program::new(index.refresh(&Control::default()).unwrap())
}

fn wanted(symbol: &str) -> Wanted<'_> {
    Wanted { symbol, ..Wanted::default() }
}

fn one(program: &Program, symbol: &str) -> Subject {
    match pick(program, &wanted(symbol), &Control::default()).unwrap() {
        Found::One(subject) => subject,
        other => panic!("{symbol}: {other:?}"),
    }
}

fn all() -> ReferenceQuery {
    ReferenceQuery { path: None, min_label: Label::NameMatch, offset: 0, limit: 1000 }
}

fn uses(program: &Program, symbol: &str) -> References {
    references(program, one(program, symbol), &all(), &Control::default()).unwrap()
}

#[test]
fn a_cancelled_question_ends() {
    let program = program(&[("a.py", "def go(): pass\ngo()\n")]);
    let subject = one(&program, "go");
    let cancel = Some(Arc::new(AtomicBool::new(true)));
    let control = Control { cancel, ..Control::default() };
    let kinds = [
        pick(&program, &wanted("go"), &control).unwrap_err().kind(),
        references(&program, subject, &all(), &control).unwrap_err().kind(),
        resolve(&program, &wanted("go"), &control).unwrap_err().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::Cancelled; 3]);
}

#[test]
fn a_long_line_is_cut_around_the_use() {
    let line = format!("{}; go(); {}", "x = 1; ".repeat(50), "y = 2; ".repeat(50));
    let program = program(&[("a.py", &format!("def go(): pass\n{line}\n"))]);
    let found = uses(&program, "go");
    let text = &found.references[0].text;
    assert!(text.contains("go();") && text.chars().count() <= 162, "{text}");
    assert!(text.starts_with('…') && text.ends_with('…'), "{text}");
}

#[test]
fn columns_count_characters() {
    let program = program(&[("a.py", "def go(): pass\ns = \"ä€𝄞\"; go()\n")]);
    assert_eq!(uses(&program, "go").references[0].column, 12);
}

#[test]
fn names_that_lead_back_to_each_other_end() {
    let program = program(&[
        ("a.ts", "export { a as b } from './b';\nexport function real() {}\n"),
        ("b.ts", "export { b as a } from './a';\nexport { real as a2 } from './a';\n"),
    ]);
    assert!(uses(&program, "real").total <= 1);
}

#[test]
fn both_names_of_a_typedef_are_one() {
    let source = "typedef struct node { struct node *next; } node;\nnode *make(void);\n";
    let program = program(&[("a.c", source)]);
    let found = uses(&program, "node");
    assert_eq!(found.definition.unwrap().kind, "struct");
    assert_eq!(found.references.iter().map(|one| one.line).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_body_is_bounded() {
    let body = "    x = 1\n".repeat(1000);
    let program = program(&[("a.py", &format!("def go():\n{body}"))]);
    let Subject::Definition(def) = one(&program, "go") else { panic!("a local") };
    let query = InfoQuery { body: true, limit: 10 };
    let info = symbol_info(&program, def, query, &Control::default()).unwrap().unwrap();
    assert_eq!(info.body.unwrap().lines().count(), 400);
    assert_eq!(info.body_lines_left, Some(601));
}

#[test]
fn candidates_are_bounded_and_tests_come_last() {
    let many: Vec<(String, String)> =
        (0..50).map(|at| (format!("src/m{at}.py"), "def go(): pass\n".to_owned())).collect();
    let mut files: Vec<(&str, &str)> = vec![("a/test_go.py", "def go(): pass\n")];
    files.extend(many.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let program = program(&files);
    let Found::Several(found) = pick(&program, &wanted("go"), &Control::default()).unwrap() else {
        panic!("one of many")
    };
    assert_eq!((found.list.len(), found.total), (30, 51));
    assert!(found.list.iter().all(|one| one.path.starts_with("src/")));
}
