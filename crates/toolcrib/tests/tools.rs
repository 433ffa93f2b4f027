//! The tools through the executor: what is easy to get wrong.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::tools::SessionState;
use toolcrib::{Outcome, PolicyMode, Session, Toolcrib};

struct Bench {
    root: TempDir,
    crib: Toolcrib,
    session: Arc<Session>,
}

impl Bench {
    /// A person's own calls: no prior read is needed.
    fn new() -> Self {
        Self::with(PolicyMode::Full, true)
    }

    fn with(policy: PolicyMode, lenient: bool) -> Self {
        let root = tempfile::tempdir().unwrap();
        let crib = Toolcrib::builder().root(root.path()).policy(policy).build().unwrap();
        if lenient {
            crib.sessions().insert("s", SessionState::lenient());
        }
        let session = crib.session("s");
        Self { root, crib, session }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.path().join(path)).ok()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        self.session.next_turn();
        self.crib.call(&self.session, tool, arguments).await
    }

    async fn ok(&self, tool: &str, arguments: Value) -> Outcome {
        let outcome = self.call(tool, arguments).await;
        assert!(outcome.success, "{}", outcome.output);
        outcome
    }

    async fn code(&self, tool: &str, arguments: Value) -> String {
        let outcome = self.call(tool, arguments).await;
        outcome.error.map_or_else(|| "ok".to_owned(), |error| error.code.to_string())
    }
}

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")})
}

#[tokio::test]
async fn moves_that_are_more_than_moves_lose_nothing() {
    let move_a = "*** Update File: a\n*** Move to: b\n@@\n-one\n+ONE";
    let bench = Bench::new();
    bench.write("a", "one\n");
    bench.ok("apply_patch", patch(&format!("{move_a}\n*** Add File: a\n+shim"))).await;
    assert_eq!((bench.read("a"), bench.read("b")), (Some("shim\n".into()), Some("ONE\n".into())));

    let bench = Bench::new();
    bench.write("a", "one\n");
    bench
        .ok("apply_patch", patch(&format!("{move_a}\n*** Update File: b\n*** Move to: c\n@@\n-ONE\n+1")))
        .await;
    let after = (bench.read("a"), bench.read("b"), bench.read("c"));
    assert_eq!(after, (None, None, Some("1\n".into())));

    let bench = Bench::new();
    bench.write("a", "one\n");
    bench.write("b", "two\n");
    let swap = "*** Update File: a\n*** Move to: t\n@@\n-one\n+one!\n*** Update File: b\n*** Move to: a\n@@\n-two\n+two!\n\
        *** Update File: t\n*** Move to: b\n@@\n-one!\n+one!!";
    bench.ok("apply_patch", patch(swap)).await;
    let after = (bench.read("a"), bench.read("b"), bench.read("t"));
    assert_eq!(after, (Some("two!\n".into()), Some("one!!\n".into()), None));
    bench.ok("undo_changes", json!({"action": "undo"})).await;
    assert_eq!((bench.read("a"), bench.read("b")), (Some("one\n".into()), Some("two\n".into())));
}

#[tokio::test]
async fn undo_and_redo_go_on() {
    let bench = Bench::new();
    for text in ["1", "2", "3"] {
        bench.ok("write_file", json!({"path": "a", "content": text})).await;
    }
    let turn = |action: &'static str| bench.ok("undo_changes", json!({"action": action}));
    turn("undo").await;
    turn("undo").await;
    assert_eq!(bench.read("a").unwrap(), "1");
    turn("redo").await;
    assert_eq!(bench.read("a").unwrap(), "2");
    turn("redo").await;
    assert_eq!(bench.read("a").unwrap(), "3");
    assert_eq!(bench.code("undo_changes", json!({"action": "redo"})).await, "CONFLICT");
    bench.ok("undo_changes", json!({"action": "undo", "count": 2})).await;
    assert_eq!(bench.read("a").unwrap(), "1");
    let undone = bench.ok("undo_changes", json!({"action": "undo", "path": "a"})).await;
    assert_eq!(bench.read("a"), None, "{}", undone.output);
    assert_eq!(undone.data["changes"].as_array().unwrap().len(), 1);
    bench.ok("undo_changes", json!({"action": "redo", "path": "a"})).await;
    assert_eq!(bench.read("a").unwrap(), "1");
}

#[tokio::test]
async fn a_conversation_undoes_its_own_changes() {
    let bench = Bench::with(PolicyMode::Auto, false);
    bench.ok("write_file", json!({"path": "mine", "content": "x"})).await;
    bench.crib.sessions().insert("person", SessionState::lenient());
    let person = bench.crib.session("person");
    bench.crib.call(&person, "write_file", json!({"path": "theirs", "content": "y"})).await;
    bench.ok("undo_changes", json!({"action": "undo"})).await;
    assert_eq!((bench.read("mine"), bench.read("theirs")), (None, Some("y".into())));
    assert_eq!(
        bench.code("undo_changes", json!({"action": "undo"})).await,
        "CONFLICT",
        "nothing of its own is left"
    );
}

#[tokio::test]
async fn undo_redo_and_deletion_ask_about_sensitive_files() {
    let bench = Bench::with(PolicyMode::Auto, true);
    bench.crib.sessions().insert("person", SessionState::lenient());
    bench.write(".github/workflows/ci.yml", "on: push\n");
    bench.write("src/a.rs", "fn a() {}\n");
    assert_eq!(
        bench.code("delete_file", json!({"path": ".github", "recursive": true})).await,
        "PERMISSION_DENIED"
    );
    assert!(bench.read(".github/workflows/ci.yml").is_some());
    bench.ok("delete_file", json!({"path": "src", "recursive": true})).await;
    bench.ok("undo_changes", json!({"action": "undo"})).await;
    assert!(bench.read("src/a.rs").is_some());
    // A person's full access writes the file; the model may not bring it back or take it away by undo.
    let full = Toolcrib::builder()
        .workspace(bench.crib.workspace().clone())
        .policy(PolicyMode::Full)
        .build()
        .unwrap();
    full.sessions().insert("s", SessionState::lenient());
    let written =
        full.call(&full.session("s"), "write_file", json!({"path": ".envrc", "content": "x"})).await;
    assert!(written.success);
    assert_eq!(bench.code("undo_changes", json!({"action": "undo"})).await, "PERMISSION_DENIED");
    assert!(bench.read(".envrc").is_some());
}

#[cfg(unix)]
#[tokio::test]
async fn links_do_not_hide_what_is_sensitive() {
    let bench = Bench::with(PolicyMode::Auto, true);
    bench.write("dev/env.txt", "x\n");
    std::os::unix::fs::symlink("dev/env.txt", bench.root.path().join(".envrc")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", bench.root.path().join("out")).unwrap();
    assert_eq!(
        bench.code("write_file", json!({"path": ".envrc", "content": "y"})).await,
        "PERMISSION_DENIED"
    );
    assert_eq!(bench.code("write_file", json!({"path": "out", "content": "y"})).await, "OUTSIDE_WORKSPACE");
    assert_eq!(bench.code("apply_patch", patch("*** Delete File: out")).await, "OUTSIDE_WORKSPACE");
    assert_eq!(bench.code("delete_file", json!({"path": "out"})).await, "OUTSIDE_WORKSPACE");
    std::os::unix::fs::symlink("dev/env.txt", bench.root.path().join("link")).unwrap();
    assert_eq!(bench.code("apply_patch", patch("*** Delete File: link")).await, "NOT_A_FILE");
    assert_eq!(bench.read("dev/env.txt").unwrap(), "x\n");
}

#[tokio::test]
async fn line_endings_and_partial_reads() {
    let bench = Bench::with(PolicyMode::Auto, false);
    bench.write("crlf", "a\r\nb\r\nc\r\n");
    bench.write("lf", "a\nb\n");
    let shown = bench.ok("read_file", json!({"path": "crlf"})).await;
    assert_eq!(shown.output, "1\ta\n2\tb\n3\tc", "carriage returns are not shown");
    assert_eq!(shown.data["files"][0]["content"], "a\r\nb\r\nc\r\n", "data has every byte");
    bench.ok("write_file", json!({"path": "crlf", "content": "x\ny\n"})).await;
    assert_eq!(bench.read("crlf").unwrap(), "x\r\ny\r\n");
    bench.ok("read_file", json!({"path": "lf:1-1"})).await;
    let overwrite = json!({"path": "lf", "content": "x\r\ny\r\n"});
    assert_eq!(bench.code("write_file", overwrite.clone()).await, "NOT_READ", "half of it was never seen");
    bench.ok("edit_file", json!({"path": "lf", "old_string": "a", "new_string": "A"})).await;
    assert_eq!(bench.code("write_file", overwrite.clone()).await, "NOT_READ", "an edit shows no more of it");
    assert_eq!(bench.code("apply_patch", patch("*** Add File: lf\n+x")).await, "NOT_READ");
    bench.ok("read_file", json!({"path": "lf:2-2"})).await;
    bench.ok("read_file", json!({"path": "lf:1-1"})).await;
    bench.ok("write_file", overwrite).await;
    assert_eq!(bench.read("lf").unwrap(), "x\ny\n", "it stays a file with LF");
}

#[tokio::test]
async fn a_changed_file_is_not_deleted_unseen() {
    let bench = Bench::with(PolicyMode::Auto, false);
    bench.write("a", "1\n");
    bench.ok("read_file", json!({"path": "a"})).await;
    bench.write("a", "a person's\n");
    assert_eq!(bench.code("delete_file", json!({"path": "a"})).await, "STALE_FILE");
    bench.write("unread", "x\n");
    bench.ok("delete_file", json!({"path": "unread"})).await;
}

#[tokio::test]
async fn numbers_are_taken_as_json_means_them() {
    let bench = Bench::new();
    bench.write("a", "1\n2\n3\n");
    let read = bench.ok("read_file", json!({"path": "a", "offset": 2.0, "limit": 1.0})).await;
    assert_eq!(read.output.lines().next(), Some("2\t2"));
    for offset in [json!(1e30), json!(9_223_372_036_854_775_808_u64)] {
        assert_eq!(bench.code("read_file", json!({"path": "a", "offset": offset})).await, "VALIDATION_ERROR");
    }
}

#[tokio::test]
async fn what_is_cut_is_called_truncated_and_can_be_read_on() {
    let bench = Bench::new();
    let text: String = (1..=3000).map(|n| format!("some words in line {n} of the text\n")).collect();
    bench.write("long.txt", &text);
    let (mut got, mut offset) = (String::new(), 1);
    loop {
        let part = bench.ok("read_file", json!({"path": "long.txt", "offset": offset, "limit": 3000})).await;
        let file = &part.data["files"][0];
        got.push_str(file["content"].as_str().unwrap());
        let end = file["end_line"].as_u64().unwrap();
        assert_eq!(part.metadata.truncated, end < 3000);
        if end == 3000 {
            break;
        }
        assert!(part.output.contains(&format!("\"offset\":{}", end + 1)), "{}", part.output);
        offset = end + 1;
    }
    assert_eq!(got, text);
    let first = bench.ok("read_file", json!({"path": "long.txt"})).await;
    assert!(
        first.data["files"][0]["end_line"].as_u64().unwrap() > 300,
        "no outline, so the budget is for lines"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_edits_of_one_file_all_land() {
    let bench = Bench::new();
    let lines: String = (0..40).map(|n| format!("line {n};\n")).collect();
    bench.write("a", &lines);
    // Two executors over the same files, as two processes would be.
    let other = Toolcrib::builder().root(bench.root.path()).policy(PolicyMode::Full).build().unwrap();
    other.sessions().insert("s", SessionState::lenient());
    let mut calls = Vec::new();
    for n in 0..40 {
        let crib = if n % 2 == 0 { bench.crib.clone() } else { other.clone() };
        let edit =
            json!({"path": "a", "old_string": format!("line {n};"), "new_string": format!("done {n};")});
        calls.push(tokio::spawn(async move { crib.call(&crib.session("s"), "edit_file", edit).await }));
    }
    for call in calls {
        let outcome = call.await.unwrap();
        assert!(outcome.success, "{}", outcome.output);
    }
    assert_eq!(bench.read("a").unwrap(), lines.replace("line", "done"));
}
