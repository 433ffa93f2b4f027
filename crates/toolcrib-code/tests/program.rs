//! What names mean across files, case by case: a title, files with their paths, and every use with what it stands for.
//!
//! The cases are in `tests/program/<language>.txt`; `TOOLCRIB_BLESS=1` writes the expected texts anew. A case is
//! `=== title`, then for each file `--- path` and its text, then `---` alone and what is expected.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use toolcrib_code::index::{CodeIndex, Control};
use toolcrib_code::resolve::{Def, Meaning, Program, Source};
use toolcrib_workspace::Workspace;

/// The files of a case and what is expected of them.
struct Case<'t> {
    title: &'t str,
    files: Vec<(&'t str, &'t str)>,
    written: &'t str,
    expected: &'t str,
}

impl<'t> Case<'t> {
    fn read(text: &'t str) -> Self {
        let (title, rest) = text.split_once('\n').unwrap();
        let (written, expected) = rest.split_once("\n---\n").unwrap_or((rest.trim_end(), ""));
        let parts = written.strip_prefix("--- ").unwrap().split("\n--- ");
        let files = parts.map(|part| part.split_once('\n').unwrap_or((part, ""))).collect();
        Self { title, files, written, expected }
    }
}

fn path_of(program: &Program, file: u32) -> &str {
    program.file(file).map_or("?", |file| file.path.as_str())
}

fn place(program: &Program, def: Def) -> String {
    let line = match (program.facts(def.file), program.definition(def)) {
        (Some(facts), Some(definition)) => facts.lines.line(definition.name_start),
        _ => 0,
    };
    format!("{}:{line}", path_of(program, def.file))
}

/// What a use stands for, in a few words.
fn meaning(program: &Program, file: u32, meaning: &Meaning) -> String {
    let several = |list: Vec<String>| list.join(", ");
    match meaning {
        Meaning::Definitions(defs) => several(defs.iter().map(|def| place(program, *def)).collect()),
        Meaning::Local(index) => {
            let facts = program.facts(file).unwrap();
            let line = facts.bindings.get(*index).map_or(0, |binding| facts.lines.line(binding.start));
            format!("local {line}")
        }
        Meaning::Module(files) => {
            format!(
                "module {}",
                several(files.iter().map(|file| path_of(program, *file).to_owned()).collect())
            )
        }
        Meaning::External(package) => format!("outside {package}").trim_end().to_owned(),
        Meaning::Unknown => "?".to_owned(),
    }
}

fn answers(program: &Program) -> String {
    let mut text = String::new();
    for file in 0..program.snapshot().files().len() as u32 {
        let Some(facts) = program.facts(file) else { continue };
        let path = path_of(program, file);
        for (index, import) in facts.imports.iter().enumerate() {
            let leads = match program.import(file, index) {
                Source::Files(files) => {
                    files.iter().map(|file| path_of(program, *file)).collect::<Vec<_>>().join(", ")
                }
                Source::Package(package) => format!("outside {package}"),
                Source::Unresolved(why) => format!("? {why}"),
            };
            let line = facts.lines.line(import.span.start);
            let _ = writeln!(text, "{path}:{line}: import {:?} -> {leads}", facts.text(import.source));
        }
        for (index, reference) in facts.references.iter().enumerate() {
            let answer = program.answer(file, index);
            let line = facts.lines.line(reference.start);
            let found = meaning(program, file, &answer.meaning);
            let label = match &answer.meaning {
                Meaning::Definitions(_) | Meaning::Module(_) => format!(" ({})", answer.label.as_str()),
                _ => String::new(),
            };
            let _ = writeln!(text, "{path}:{line}: {} -> {found}{label}", facts.text(reference.name));
        }
    }
    text
}

fn program(files: &[(&str, &str)]) -> (tempfile::TempDir, Program) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let index = CodeIndex::open(Workspace::open(dir.path()).unwrap().read_only(), None);
    let program = Program::new(index.refresh(&Control::default()).unwrap());
    (dir, program)
}

#[test]
fn names_mean_the_same_in_every_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let (mut blessed, mut wrong) = (String::new(), String::new());
        for case in format!("\n{text}").split("\n=== ").skip(1).map(Case::read) {
            let (_dir, program) = program(&case.files);
            let found = answers(&program);
            let _ = write!(blessed, "=== {}\n{}\n---\n{found}\n", case.title, case.written);
            if found.trim() != case.expected.trim() {
                let _ = writeln!(
                    wrong,
                    "{}, {}:\n--- expected\n{}\n--- found\n{found}",
                    path.display(),
                    case.title,
                    case.expected
                );
            }
        }
        if std::env::var_os("TOOLCRIB_BLESS").is_some() {
            std::fs::write(path, blessed.trim_end().to_owned() + "\n").unwrap();
        } else {
            assert!(wrong.is_empty(), "{wrong}");
        }
    }
}

/// An answer may not depend on what was asked before.
#[test]
fn the_order_of_questions_does_not_matter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program");
    for path in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(path.unwrap().path()).unwrap();
        for case in format!("\n{text}").split("\n=== ").skip(1).map(Case::read) {
            let (_dir, forwards) = program(&case.files);
            answers(&forwards);
            let fresh = Program::new(Arc::clone(forwards.snapshot()));
            for file in (0..fresh.snapshot().files().len() as u32).rev() {
                let count = fresh.facts(file).map_or(0, |facts| facts.references.len());
                for reference in (0..count).rev() {
                    let (one, other) = (forwards.answer(file, reference), fresh.answer(file, reference));
                    assert_eq!(one, other, "{}: {}", case.title, path_of(&fresh, file));
                }
            }
        }
    }
}
