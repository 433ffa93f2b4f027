//! Codex's apply-patch scenarios, through the executor. Found by `TOOLCRIB_PEER_SUITES`; skipped without it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcrib::tools::SessionState;
use toolcrib::{PolicyMode, Toolcrib, json};

/// All files below `folder`, by relative path.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(folder: &Path, below: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
        let Ok(entries) = std::fs::read_dir(folder.join(below)) else { return };
        for entry in entries.flatten() {
            let path = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                collect(folder, &path, into);
            } else {
                into.insert(path.clone(), std::fs::read(folder.join(&path)).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    collect(folder, Path::new(""), &mut all);
    all
}

#[tokio::test]
async fn codex_apply_patch() {
    let Some(suites) = std::env::var_os("TOOLCRIB_PEER_SUITES") else {
        println!("skipped: TOOLCRIB_PEER_SUITES is not set");
        return;
    };
    let suite = Path::new(&suites).join("codex-apply-patch");
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(&suite).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.join("patch.txt").exists());
    cases.sort();
    let mut right = 0;
    for case in &cases {
        let root = tempfile::tempdir().unwrap();
        for (path, bytes) in tree(&case.join("input")) {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let before = tree(root.path());
        let crib = Toolcrib::builder().root(root.path()).policy(PolicyMode::Full).build().unwrap();
        crib.sessions().insert("suite", SessionState::lenient());
        let session = crib.session("suite");
        let patch = std::fs::read_to_string(case.join("patch.txt")).unwrap();
        let outcome = crib.call(&session, "apply_patch", json!({"patch": patch})).await;
        // All or nothing: where the suite leaves half a failed patch, nothing is changed here.
        let deviates = case.file_name().unwrap().to_string_lossy().starts_with("015_");
        let expected = if deviates { before.clone() } else { tree(&case.join("expected")) };
        assert_eq!(tree(root.path()), expected, "{}: {}", case.display(), outcome.output);
        if outcome.success {
            let undone = crib.call(&session, "undo_changes", json!({"action": "undo"})).await;
            assert!(undone.success, "{}", undone.output);
            assert_eq!(tree(root.path()), before, "{}: not undone", case.display());
        }
        right += 1;
    }
    println!("codex-apply-patch: {right} of {} trees right", cases.len());
    assert!(right >= 25);
}
