//! The cases that codex publishes for its patch format, on a tree held in memory.
//!
//! `TOOLCRIB_PEER_SUITES` names the directory that holds `codex-apply-patch`; without it there is nothing to run.

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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcrib_workspace::patch::{FilePatch, apply_hunks, parse};

type Tree = BTreeMap<String, Vec<u8>>;

/// Toolcrib's patches are all-or-nothing, so this case leaves its input as it was.
const ALL_OR_NOTHING: &str = "015_failure_after_partial_success_leaves_changes";

fn suite() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("TOOLCRIB_PEER_SUITES")?).join("codex-apply-patch"))
}

fn read_tree(root: &Path) -> Tree {
    fn walk(directory: &Path, prefix: &str, tree: &mut Tree) {
        let Ok(entries) = std::fs::read_dir(directory) else { return };
        for entry in entries {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &format!("{name}/"), tree);
            } else {
                tree.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut tree = Tree::new();
    walk(root, "", &mut tree);
    tree
}

fn apply(tree: &Tree, patch: &str) -> Result<Tree, String> {
    let mut out = tree.clone();
    for file in parse(patch).map_err(|e| e.to_string())? {
        match file {
            FilePatch::Add { path, content } => {
                out.insert(path, content);
            }
            FilePatch::Delete { path } => {
                out.remove(&path).ok_or(format!("no file {path}"))?;
            }
            FilePatch::Update { path, move_to, hunks } => {
                let bytes = out.get(&path).ok_or(format!("no file {path}"))?;
                let bytes = apply_hunks(bytes, &hunks).map_err(|e| e.to_string())?;
                if move_to.is_some() {
                    out.remove(&path);
                }
                out.insert(move_to.unwrap_or(path), bytes);
            }
        }
    }
    Ok(out)
}

#[test]
fn every_case_leaves_the_right_tree() {
    let Some(suite) = suite() else {
        println!("skipped: TOOLCRIB_PEER_SUITES is not set");
        return;
    };
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(&suite).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    cases.sort();
    assert_eq!(cases.len(), 25, "the suite has 25 cases");
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case.file_name().unwrap().to_str().unwrap();
        let input = read_tree(&case.join("input"));
        let patch = std::fs::read_to_string(case.join("patch.txt")).unwrap();
        let outcome = apply(&input, &patch);
        let expected = if name == ALL_OR_NOTHING { input.clone() } else { read_tree(&case.join("expected")) };
        let tree = outcome.clone().unwrap_or(input);
        if tree != expected {
            wrong.push(format!("{name}: {:?}, got {tree:?}, expected {expected:?}", outcome.err()));
        }
    }
    assert!(wrong.is_empty(), "{} of 25 wrong:\n{}", wrong.len(), wrong.join("\n"));
    println!("25 of 25 right");
}
