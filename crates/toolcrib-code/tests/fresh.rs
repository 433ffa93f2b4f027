//! What was worked out across files never goes stale: after any edits, every answer is that of a program over a clean
//! index, whatever was asked before and in whatever order.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use toolcrib_code::index::{CodeIndex, Control};
use toolcrib_code::resolve::{Meaning, Program};
use toolcrib_workspace::Workspace;

/// Files, and for each what it may hold.
const FILES: &[(&str, &[&str])] = &[
    (
        "Cargo.toml",
        &["[package]\nname = \"one\"\n", "[package]\nname = \"other\"\n[lib]\npath = \"src/root.rs\"\n"],
    ),
    (
        "src/lib.rs",
        &[
            "mod shape;\npub use shape::Shape;\npub fn area(s: &Shape) -> u32 { s.area() }\n",
            "pub mod shape;\npub use shape::*;\npub fn area(s: &Shape) -> u32 { let t = s.clone(); t.area() + helper() }\n",
            "mod other { pub struct Shape; }\nuse other::Shape;\n",
        ],
    ),
    (
        "src/shape.rs",
        &[
            "#[derive(Clone)] pub struct Shape { pub side: u32 }\nimpl Shape { pub fn area(&self) -> u32 { self.side } }\npub fn helper() -> u32 { 1 }\n",
            "pub struct Shape;\npub trait Area { fn area(&self) -> u32 { 0 } }\nimpl Area for Shape {}\n",
            "pub use super::loops::Shape;\n",
        ],
    ),
    (
        "tests/it.rs",
        &[
            "use one::{area, Shape};\n#[test] fn t() { area(&Shape { side: 1 }); }\n",
            "use other::Shape;\nfn f(s: Shape) { s.area(); }\n",
        ],
    ),
    ("pkg/__init__.py", &["from .shape import Shape\n", "from .shape import *\nfrom . import shape\n", ""]),
    (
        "pkg/shape.py",
        &[
            "class Shape:\n    def area(self):\n        return helper(self)\n\ndef helper(s: Shape):\n    return s.area()\n",
            "from . import Shape\nclass Other(Shape):\n    def area(self): return super().area()\n",
        ],
    ),
    (
        "use.py",
        &[
            "from pkg import Shape as S\ns = S()\ns.area()\n",
            "import pkg.shape\npkg.shape.helper(pkg.Shape())\n",
        ],
    ),
    (
        "web/shape.ts",
        &[
            "export class Shape { area(): number { return helper(this); } }\nexport function helper(s: Shape) { return s.area(); }\nexport default Shape;\n",
            "export * from './index';\n",
        ],
    ),
    (
        "web/index.ts",
        &[
            "export { Shape, helper as help } from './shape';\n",
            "import S from './shape';\nexport const one = new S();\none.area();\n",
        ],
    ),
];

#[derive(Clone, Debug)]
enum Op {
    Write(usize, usize),
    Delete(usize),
    Ask(bool),
}

fn op() -> impl Strategy<Value = Op> {
    let file = 0..FILES.len();
    prop_oneof![
        5 => (file.clone(), 0..3_usize).prop_map(|(file, text)| Op::Write(file, text)),
        1 => file.prop_map(Op::Delete),
        3 => any::<bool>().prop_map(Op::Ask),
    ]
}

fn write(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// What every use, import and export means, asked from the first to the last or the other way round.
fn answers(program: &Program, backwards: bool) -> Vec<String> {
    let mut all = Vec::new();
    for (file, entry) in program.snapshot().files().iter().enumerate() {
        let file = file as u32;
        let Some(facts) = program.facts(file) else { continue };
        let mut uses: Vec<usize> = (0..facts.references.len()).collect();
        if backwards {
            uses.reverse();
        }
        for index in uses {
            let answer = program.answer(file, index);
            let meaning = match &answer.meaning {
                Meaning::Definitions(defs) => {
                    let named = |def: &toolcrib_code::resolve::Def| {
                        let path = &program.file(def.file).unwrap().path;
                        format!("{path}:{}", program.definition(*def).unwrap().name_start)
                    };
                    defs.iter().map(named).collect::<Vec<_>>().join(" ")
                }
                other => format!("{other:?}"),
            };
            let start = facts.references[index].start;
            all.push(format!("{}:{start} {meaning} {:?} {}", entry.path, answer.label, answer.reason));
        }
        for import in 0..facts.imports.len() {
            all.push(format!("{} {import} {:?}", entry.path, program.import(file, import)));
        }
        all.push(format!("{} {:?}", entry.path, program.exports(file)));
    }
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn a_program_kept_over_edits_equals_a_new_one(ops in prop::collection::vec(op(), 1..30)) {
        let dir = tempfile::tempdir().unwrap();
        for (path, texts) in FILES {
            write(dir.path(), path, texts[0]);
        }
        let workspace = || Workspace::open(dir.path()).unwrap().read_only();
        let index = CodeIndex::open(workspace(), None);
        let mut kept = Program::new(index.refresh(&Control::default()).unwrap());
        drop(answers(&kept, true));
        for op in ops.iter().chain([&Op::Ask(true)]) {
            match op {
                Op::Write(file, text) => {
                    let (path, texts) = FILES[*file];
                    write(dir.path(), path, texts[text % texts.len()]);
                }
                Op::Delete(file) => drop(std::fs::remove_file(dir.path().join(FILES[*file].0))),
                Op::Ask(backwards) => {
                    kept = kept.renewed(index.refresh(&Control::default()).unwrap());
                    let clean = CodeIndex::open(workspace(), None).refresh(&Control::default()).unwrap();
                    let clean = answers(&Program::new(Arc::clone(&clean)), false);
                    prop_assert_eq!(answers(&kept, *backwards), clean);
                }
            }
        }
    }
}

#[test]
fn a_manifest_counts_as_much_as_source() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "Cargo.toml", FILES[0].1[0]);
    write(dir.path(), "src/lib.rs", "pub fn area() {}\n");
    write(dir.path(), "tests/it.rs", "use one::area;\nfn f() { area(); }\n");
    let index = CodeIndex::open(Workspace::open(dir.path()).unwrap().read_only(), None);
    let program = Program::new(index.refresh(&Control::default()).unwrap());
    let resolved = |program: &Program| {
        let all = answers(program, false);
        all.iter().filter(|line| line.starts_with("tests/it.rs") && line.contains("src/lib.rs:7")).count()
    };
    assert_eq!(resolved(&program), 2, "{:?}", answers(&program, false));
    write(dir.path(), "Cargo.toml", FILES[0].1[1]);
    let program = program.renewed(index.refresh(&Control::default()).unwrap());
    assert_eq!(resolved(&program), 0, "{:?}", answers(&program, false));
}
