//! Code by its shape.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

use toolcrib_code::index::{CodeIndex, Control};
use toolcrib_code::pattern::{PatternQuery, pattern};
use toolcrib_workspace::{ChangeLabel, Expect, Workspace};

const FILES: [(&str, &str); 5] = [
    (
        "a.rs",
        "pub fn one(x: u8) -> u8 { x }\nfn two() {}\nimpl T { async fn three(&self, y: u8) { y.unwrap(); } }\ntrait U { fn four(); }\n",
    ),
    (
        "b.py",
        "def one(a, b):\n    return a\n\nclass C:\n    async def two(self) -> int:\n        print(self)\n",
    ),
    ("c.ts", "export function one(a: string): void { console.log(a, 1); }\nif (a === b) { go(); }\n"),
    ("d.go", "package d\nfunc One(x int) error { return nil }\nfunc two() {}\n"),
    ("e.c", "int one(int x) { return x; }\n"),
];

fn find(text: &str, path: &str) -> Result<Vec<String>, String> {
    let workspace = Workspace::memory();
    let mut change = workspace.begin(ChangeLabel::default());
    for (path, text) in FILES {
        change.put(path, text.as_bytes().to_vec(), Expect::Absent).unwrap();
    }
    change.commit(&|| false).unwrap();
    let index = CodeIndex::open(workspace.read_only(), None);
    let snapshot = index.refresh(&Control::default()).unwrap();
    let query =
        PatternQuery { pattern: text.into(), path: Some(path.into()), limit: 20, ..PatternQuery::default() };
    let hits = pattern(&snapshot, &query, &Control::default()).map_err(|error| error.message().to_owned())?;
    let shown = hits.hits.iter().map(|hit| {
        let inside = hit.enclosing.as_deref().map_or(String::new(), |inside| format!(" in {inside}"));
        format!("{}:{} {}{inside}", hit.line, hit.column, hit.name)
    });
    Ok(shown.collect())
}

#[test]
fn heads_of_functions_find_them_whatever_else_they_have() {
    assert_eq!(
        find("fn $NAME($$$ARGS)", "a.rs").unwrap(),
        ["1:1 one", "2:1 two", "3:10 three in T", "4:11 four in U"]
    );
    assert_eq!(find("def $NAME($$$ARGS)", "b.py").unwrap(), ["1:1 one", "5:5 two in C"]);
    assert_eq!(find("function $NAME($$$ARGS)", "c.ts").unwrap(), ["1:8 one"]);
    assert_eq!(find("func $NAME($$$ARGS)", "d.go").unwrap(), ["2:1 One", "3:1 two"]);
}

#[test]
fn expressions_are_found_by_shape() {
    assert_eq!(find("$X.unwrap()", "a.rs").unwrap(), ["3:41 y in T.three"]);
    assert_eq!(find("console.log($$$ARGS)", "c.ts").unwrap(), ["1:40 a,1 in one"]);
    assert_eq!(find("$A === $B", ".").unwrap(), ["2:5 a"]);
}

#[test]
fn a_bad_pattern_says_how_it_was_read() {
    let why = find("fn $NAME((", "a.rs").unwrap_err();
    assert!(why.contains("no rust") && why.contains("It was read as (source_file"), "{why}");
    let why = find("$$$", "a.rs").unwrap_err();
    assert!(why.contains("inside other code"), "{why}");
}
