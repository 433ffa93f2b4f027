//! Ignore rules against the `ignore` crate's own walk, on random trees.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod search_support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ignore::WalkBuilder;
use proptest::prelude::*;
use search_support::disk;
use toolcrib_workspace::search::{GlobOptions, WalkOptions, WalkRoot, glob};

/// One thing in a tree.
#[derive(Clone, Debug)]
enum Item {
    File(Vec<&'static str>),
    Rules(Vec<&'static str>, &'static str, Vec<String>),
    Repository(Vec<&'static str>, Vec<String>),
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "foo", "bar.rs", "x.log", ".hid", "build", "a b"])
}

fn dirs() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "foo", "build", ".hid"]), 0..4)
}

/// Lines as they stand in ignore files, valid or not.
fn line() -> impl Strategy<Value = String> {
    let glob = prop::sample::select(vec![
        "*", "**", "a", "b", "foo", "*.rs", "*.log", "x.*", "?", "[ab]", "[!a]", "build", ".hid", "a b",
        "a*", "{a,b}", "[", "\\", "foo\\*", "a\\ ",
    ]);
    let path = prop::collection::vec(glob, 1..4).prop_map(|parts| parts.join("/"));
    let with_sign = (prop::sample::select(vec!["", "", "", "!", "/", "!/", "#", "\\!", "**/"]), path)
        .prop_map(|(sign, path)| format!("{sign}{path}"));
    (with_sign, prop::sample::select(vec!["", "", "/", "/**", "/*", " ", "\r"]))
        .prop_map(|(line, end)| format!("{line}{end}"))
}

fn item() -> impl Strategy<Value = Item> {
    let rules = prop::sample::select(vec![".gitignore", ".gitignore", ".ignore", ".rgignore"]);
    let lines = || prop::collection::vec(line(), 1..5);
    prop_oneof![
        6 => (dirs(), name()).prop_map(|(mut path, name)| { path.push(name); Item::File(path) }),
        3 => (dirs(), rules, lines()).prop_map(|(dir, name, lines)| Item::Rules(dir, name, lines)),
        1 => (dirs(), lines()).prop_map(|(dir, lines)| Item::Repository(dir, lines)),
    ]
}

fn write(path: &Path, content: &str) {
    // A file may stand where a directory is wanted, and the other way round; then the first one stays.
    if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.is_dir() {
        fs::write(path, content).unwrap();
    }
}

fn build(root: &Path, items: &[Item], repositories: bool) {
    for item in items {
        match item {
            Item::File(path) => write(&root.join(path.join("/")), ""),
            Item::Rules(dir, name, lines) => write(&root.join(dir.join("/")).join(name), &lines.join("\n")),
            Item::Repository(dir, lines) if repositories => {
                write(&root.join(dir.join("/")).join(".git/info/exclude"), &lines.join("\n"));
            }
            Item::Repository(..) => {}
        }
    }
}

fn theirs(start: &Path, require_git: bool) -> BTreeSet<String> {
    let walk = WalkBuilder::new(start)
        .hidden(false)
        .parents(true)
        .ignore(true)
        .git_global(false)
        .git_ignore(true)
        .git_exclude(require_git)
        .require_git(require_git)
        .add_custom_ignore_filename(".rgignore")
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    walk.filter_map(|entry| {
        // Lines that are no patterns come as errors of their own.
        let entry = entry.ok()?;
        let path = entry.path().strip_prefix(start).unwrap().to_str().unwrap().to_owned();
        entry.file_type().unwrap().is_file().then_some(path)
    })
    .collect()
}

fn ours(root: &WalkRoot) -> BTreeSet<String> {
    let walk = WalkOptions { threads: 2, ..WalkOptions::default() };
    let options =
        GlobOptions { patterns: vec!["**".into()], limit: usize::MAX, walk, ..GlobOptions::default() };
    glob(root, &options).unwrap().paths.into_iter().collect()
}

/// Compares walks from the top and from every directory one and two levels down.
fn compare(items: &[Item], is_repository: bool) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    if is_repository {
        fs::create_dir(dir.path().join(".git")).unwrap();
    }
    build(dir.path(), items, is_repository);
    prop_assert_eq!(ours(&disk(dir.path())), theirs(dir.path(), is_repository));
    for first in ["a", "b", "foo", "build", ".hid"] {
        let path = dir.path().join(first);
        if !path.is_dir() {
            continue;
        }
        let mut root = disk(&path);
        root.ancestors = vec![(disk(dir.path()).dir, first.to_owned())];
        prop_assert_eq!(ours(&root), theirs(&path, is_repository), "from {}", first);
        for second in ["a", "foo"] {
            let deeper = path.join(second);
            if deeper.is_dir() {
                let mut below = disk(&deeper);
                below.ancestors = root.ancestors.clone();
                below.ancestors.push((disk(&path).dir, second.to_owned()));
                prop_assert_eq!(ours(&below), theirs(&deeper, is_repository), "from {}/{}", first, second);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_the_ignore_crate_in_a_repository(items in prop::collection::vec(item(), 1..25)) {
        compare(&items, true)?;
    }

    #[test]
    fn as_the_ignore_crate_without_one(items in prop::collection::vec(item(), 1..25)) {
        compare(&items, false)?;
    }
}
