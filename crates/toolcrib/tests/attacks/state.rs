//! The journal, approvals, and calls that meet (O10, C25, C26, E04, E05, K29).

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib::core::executor::{Before, Hook, HookCall};
use toolcrib::core::permission::{Answer, Approver, BoxFuture, ConfirmRequest, GrantScope};
use toolcrib::tools::SessionState;
use toolcrib::{CallRequest, PolicyMode, StateDir, Toolcrib};

use crate::world::{World, code_of};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if path.is_dir() {
            found.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

#[test]
fn o10_state_is_for_its_owner_alone() {
    let w = World::new();
    let lines = "a line of words\n".repeat(9_000);
    w.write("big", &lines);
    w.expect("O10", "write_file", json!({"path": "f", "content": "x"}), "ok");
    w.expect("O10", "edit_file", json!({"path": "f", "old_string": "x", "new_string": "y"}), "ok");
    w.expect("O10", "undo_changes", json!({"action": "undo"}), "ok");
    let long = w.expect("O10", "grep", json!({"pattern": "line", "limit": 10_000}), "ok");
    let spill = long.metadata.spill.unwrap();
    w.expect("O10", "read_file", json!({"path": spill, "limit": 5}), "ok");
    w.expect("O10", "write_file", json!({"path": spill, "content": "x"}), "READ_ONLY");
    w.expect("O10", "delete_file", json!({"path": spill}), "READ_ONLY");
    let all = files_below(&w.top().join("state"));
    assert!(all.len() > 8, "{all:?}");
    for path in all {
        let mode = fs::symlink_metadata(&path).unwrap().mode() & 0o7777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}: {mode:o}", path.display());
    }
}

#[test]
fn c25_damaged_journal() {
    let w = World::new();
    let changes = w.top().join("state/journal/changes");
    for n in 1..=4 {
        w.expect("C25", "write_file", json!({"path": format!("f{n}"), "content": "x"}), "ok");
    }
    fs::write(changes.join("c1.json"), "{ not json").unwrap();
    fs::write(changes.join("c2.json"), b"").unwrap();
    fs::write(changes.join("c99999999999999999999.json"), "{}").unwrap();
    fs::write(changes.join("evil.json"), "[]").unwrap();
    let listed = w.expect("C25", "undo_changes", json!({"action": "list"}), "ok");
    assert_eq!(listed.data["total"], 2, "{}", listed.output);
    w.expect("C25", "write_file", json!({"path": "f5", "content": "x"}), "ok");
    w.expect("C25", "undo_changes", json!({"action": "undo", "change_id": "c1"}), "CONFLICT");
    w.expect("C25", "undo_changes", json!({"action": "undo", "change_id": "c3"}), "ok");
    assert!(!w.path("f3").exists() && w.path("f1").exists());
    // A record that is well formed and lies: it must not lead out, nor to protected places.
    w.mkdir(".git/hooks");
    let honest = fs::read_to_string(changes.join("c4.json")).unwrap();
    for (n, target) in ["../out/secret", "/etc/passwd", ".git/hooks/pre-commit", "..", ""].iter().enumerate()
    {
        let id = format!("c{}", 50 + n);
        let forged =
            honest.replace("\"c4\"", &format!("\"{id}\"")).replace("\"f4\"", &json!(target).to_string());
        assert_ne!(forged, honest);
        fs::write(changes.join(format!("{id}.json")), forged).unwrap();
        assert_ne!(
            w.code("C25", "undo_changes", json!({"action": "undo", "change_id": id})),
            "ok",
            "{target}"
        );
    }
    // Contents that are damaged are not restored.
    w.expect("C25", "write_file", json!({"path": "f4", "content": "second"}), "ok");
    for blob in fs::read_dir(w.top().join("state/journal/blobs")).unwrap() {
        fs::write(blob.unwrap().path(), "damaged").unwrap();
    }
    assert_ne!(w.code("C25", "undo_changes", json!({"action": "undo", "path": "f4", "count": 1})), "ok");
    assert_eq!(w.read("f4"), b"second");
    // A lock left by a process that is gone is no lock.
    fs::write(w.top().join("state/journal/lock"), "999999").unwrap();
    w.expect("C25", "write_file", json!({"path": "f6", "content": "x"}), "ok");
}

#[test]
fn c26_a_journal_of_the_future() {
    let w = World::new();
    w.expect("C26", "write_file", json!({"path": "f", "content": "x"}), "ok");
    fs::write(w.top().join("state/journal/version"), "999\n").unwrap();
    for (tool, arguments) in [
        ("write_file", json!({"path": "g", "content": "x"})),
        ("edit_file", json!({"path": "f", "old_string": "x", "new_string": "y"})),
        ("delete_file", json!({"path": "f"})),
        ("undo_changes", json!({"action": "undo"})),
    ] {
        w.expect("C26", tool, arguments, "CONFLICT");
    }
    assert_eq!(w.read("f"), b"x");
    assert!(!w.path("g").exists());
    w.expect("C26", "read_file", json!({"path": "f"}), "ok");
}

/// Two executors, as two processes would have them, edit one file; no edit may be lost.
#[test]
fn e04_parallel_edits_of_one_file() {
    const EDITS: usize = 25;
    let w = World::new();
    w.write("f", "END\n");
    let other = Toolcrib::builder()
        .root(w.path(""))
        .state(StateDir::at(w.top().join("state")).unwrap())
        .policy(PolicyMode::Full)
        .build()
        .unwrap();
    let edit = |crib: Toolcrib, name: &'static str| async move {
        crib.sessions().insert(name, SessionState::lenient());
        let session = crib.session(name);
        let mut refused = 0;
        for n in 0..EDITS {
            loop {
                let edit = json!({"path": "f", "old_string": "END", "new_string": format!("{name}{n}\nEND")});
                let outcome = crib.call(&session, "edit_file", edit).await;
                match code_of(&outcome) {
                    "ok" => break,
                    "STALE_FILE" | "CONFLICT" => refused += 1,
                    code => panic!("{code}: {}", outcome.output),
                }
                assert!(refused < 10_000, "no progress");
            }
        }
    };
    w.runtime().block_on(async {
        let all = [
            tokio::spawn(edit(w.crib.clone(), "a")),
            tokio::spawn(edit(other.clone(), "b")),
            tokio::spawn(edit(w.crib.clone(), "c")),
            tokio::spawn(edit(other, "d")),
        ];
        for task in all {
            tokio::time::timeout(Duration::from_secs(30), task).await.unwrap().unwrap();
        }
    });
    let text = String::from_utf8(w.read("f")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.pop(), Some("END"));
    lines.sort_unstable();
    let mut expected: Vec<String> =
        ["a", "b", "c", "d"].iter().flat_map(|name| (0..EDITS).map(move |n| format!("{name}{n}"))).collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

#[test]
fn k29_a_cancelled_write_leaves_old_or_new() {
    let w = World::new();
    let contents = ["old\n".repeat(500_000), "new\n".repeat(500_000)];
    w.write("f", &contents[0]);
    let (mut cancelled, mut done) = (0, 0);
    for round in 0..24_u64 {
        let content = &contents[usize::from(round % 2 == 0)];
        let before = w.read("f");
        let request = CallRequest::new(&w.session, "write_file", json!({"path": "f", "content": content}));
        let cancel = request.cancel.clone();
        let outcome = w.runtime().block_on(async {
            let call = tokio::spawn({
                let executor = w.crib.executor().clone();
                async move { executor.call(request).await }
            });
            tokio::time::sleep(Duration::from_millis(round * 3)).await;
            if round % 6 == 5 {
                // The caller is gone altogether.
                call.abort();
                return call.await.ok();
            }
            cancel.cancel();
            Some(call.await.unwrap())
        });
        let now = w.read("f");
        assert!(contents.iter().any(|whole| whole.as_bytes() == now), "torn: {} bytes", now.len());
        match outcome.as_ref().map(code_of) {
            Some("ok") => {
                done += 1;
                assert_eq!(now, content.as_bytes());
            }
            Some("CANCELLED") => {
                cancelled += 1;
                assert!(now == before || now == content.as_bytes());
            }
            // The call that was abandoned a round ago was still at work.
            Some("STALE_FILE") if round % 6 == 0 => {}
            Some(code) => panic!("{code}"),
            None => {}
        }
    }
    assert!(cancelled > 0 && done > 0, "{cancelled} cancelled, {done} done: nothing was tried");
    // So may the last one be; nothing waits for it but the file.
    let settle = json!({"path": "f", "content": "settled"});
    assert!((0..100).any(|_| w.code("K29", "write_file", settle.clone()) == "ok"));
    assert_eq!(w.read("f"), b"settled");
    let mut left: Vec<_> =
        fs::read_dir(w.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["f", "source"], "no temporary files");
}

type Reply = Box<dyn Fn(&ConfirmRequest) -> Answer + Send + Sync>;

/// A person who answers by a function.
struct Person(Reply, Mutex<Vec<ConfirmRequest>>);

impl Person {
    fn new(reply: impl Fn(&ConfirmRequest) -> Answer + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self(Box::new(reply), Mutex::default()))
    }
}

impl Approver for Person {
    fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer> {
        self.1.lock().unwrap().push(request.clone());
        Box::pin(async move { (self.0)(request) })
    }
}

fn approve(input_hash: &str) -> Answer {
    Answer::Approve { input_hash: input_hash.to_owned(), scope: GrantScope::Once }
}

#[test]
fn e05_an_approval_holds_for_one_input() {
    let write = |content: &str| json!({"path": "f", "content": content});
    let first: Arc<Mutex<Option<String>>> = Arc::default();
    let kept = Arc::clone(&first);
    // The first approval is given again and again.
    let person = Person::new(move |request| {
        approve(kept.lock().unwrap().get_or_insert_with(|| request.input_hash.clone()))
    });
    let w = World::with(|builder, _| builder.policy(PolicyMode::Ask).approver(person.clone()));
    w.expect("E05", "write_file", write("one"), "ok");
    w.expect("E05", "write_file", write("two"), "PERMISSION_DENIED");
    w.expect("E05", "write_file", json!({"path": "g", "content": "one"}), "PERMISSION_DENIED");
    w.expect("E05", "delete_file", json!({"path": "f"}), "PERMISSION_DENIED");
    w.expect(
        "E05",
        "edit_file",
        json!({"path": "f", "old_string": "one", "new_string": "x"}),
        "PERMISSION_DENIED",
    );
    assert_eq!(w.read("f"), b"one");
    assert_eq!(person.1.lock().unwrap().len(), 5, "once is once: asked every time");
    for hash in ["", "0", &"0".repeat(64)] {
        let hash = hash.to_owned();
        let person = Person::new(move |_| approve(&hash));
        let w = World::with(|builder, _| builder.policy(PolicyMode::Ask).approver(person));
        w.expect("E05", "write_file", write("x"), "PERMISSION_DENIED");
        assert!(!w.path("f").exists());
    }
    let person = Person::new(|_| panic!("the terminal is gone"));
    let w = World::with(|builder, _| builder.policy(PolicyMode::Ask).approver(person));
    w.expect("E05", "write_file", write("x"), "PERMISSION_DENIED");
    assert!(!w.path("f").exists());
}

struct Rewrite(Value);

impl Hook for Rewrite {
    fn before<'a>(&'a self, _call: &'a HookCall) -> BoxFuture<'a, Before> {
        Box::pin(async { Before::Rewrite(self.0.clone()) })
    }
}

/// Hooks come before the question: what a person sees is what runs.
#[test]
fn e05_what_was_shown_is_what_runs() {
    let person = Person::new(|request| approve(&request.input_hash));
    let w = World::with(|builder, _| {
        let hook = Arc::new(Rewrite(json!({"path": "g", "content": "rewritten\n"})));
        builder.policy(PolicyMode::Ask).approver(person.clone()).executor(|executor| executor.hook(hook))
    });
    w.expect("E05", "write_file", json!({"path": "f", "content": "harmless\n"}), "ok");
    assert!(!w.path("f").exists());
    assert_eq!(w.read("g"), b"rewritten\n");
    let shown = person.1.lock().unwrap();
    assert_eq!(shown.len(), 1);
    assert!(
        shown[0].preview.contains("rewritten") && !shown[0].preview.contains("harmless"),
        "{:?}",
        shown[0]
    );
    assert_eq!(shown[0].effects.writes, ["g"]);
    // A hook cannot lead out either.
    for (path, expected) in [("../out/secret", "OUTSIDE_WORKSPACE"), (".git/config", "PROTECTED_PATH")] {
        let w = World::with(|builder, _| {
            let hook = Arc::new(Rewrite(json!({"path": path, "content": "x"})));
            builder.executor(|executor| executor.hook(hook))
        });
        w.expect("E05", "write_file", json!({"path": "f", "content": "x"}), expected);
    }
    let w = World::with(|builder, _| {
        builder.executor(|executor| executor.hook(Arc::new(Rewrite(json!({"path": 1})))))
    });
    w.expect("E05", "write_file", json!({"path": "f", "content": "x"}), "VALIDATION_ERROR");
}

/// While the person thinks, the path comes to mean another file.
#[test]
fn e05_the_world_changes_after_the_question() {
    for (target, expected) in [
        ("../out/secret", "OUTSIDE_WORKSPACE"),
        (".git/config", "PROTECTED_PATH"),
        (".envrc", "CONFLICT"),
        ("other", "CONFLICT"),
    ] {
        let link: Arc<Mutex<PathBuf>> = Arc::default();
        let place = Arc::clone(&link);
        let person = Person::new(move |request| {
            let path = place.lock().unwrap();
            fs::remove_file(&*path).unwrap();
            symlink(target, &*path).unwrap();
            approve(&request.input_hash)
        });
        let w = World::with(|builder, _| builder.policy(PolicyMode::Ask).approver(person));
        *link.lock().unwrap() = w.path("f");
        w.write("f", "line\n");
        for path in [".git/config", ".envrc", "other"] {
            w.write(path, "line\n");
        }
        let edit = json!({"path": "f", "old_string": "line", "new_string": "evil"});
        w.expect("E05", "edit_file", edit, expected);
        for path in [".git/config", ".envrc", "other"] {
            assert_eq!(w.read(path), b"line\n", "{target}");
        }
    }
}
