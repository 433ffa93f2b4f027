//! What patches look like in the wild, and where hunks go.

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

use toolcrib_workspace::edit::RefusalKind;
use toolcrib_workspace::patch::{FilePatch, HunkRefusal, apply_hunks, parse};

fn update(file: &str, patch: &str) -> Result<String, Box<HunkRefusal>> {
    let files = parse(patch).unwrap();
    let [FilePatch::Update { hunks, .. }] = files.as_slice() else {
        panic!("one update expected: {files:?}")
    };
    apply_hunks(file.as_bytes(), hunks).map(|bytes| String::from_utf8(bytes).unwrap())
}

fn body(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")
}

#[test]
fn wrappers_are_taken_off() {
    let inner = "*** Begin Patch ***\n*** Update File: f\n@@\n-a\n+b\n*** End Patch ***";
    for patch in [
        inner.to_owned(),
        format!("apply_patch <<'EOF'\n{inner}\nEOF\n"),
        format!("<<EOF\n{inner}\nEOF"),
        format!("```diff\n{inner}\n```\n"),
        format!("Here is the patch:\n\n{inner}\n"),
        inner.replace('\n', "\r\n"),
    ] {
        assert_eq!(update("a\n", &patch).unwrap(), "b\n", "{patch}");
    }
}

#[test]
fn broken_patches_name_the_line() {
    for (patch, line) in [
        ("", 1),
        ("nonsense", 1),
        ("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", 5),
        ("*** Begin Patch\n*** Update File: f\n*** End Patch", 3),
        ("*** Begin Patch\n*** Update File: f\n@@\nno sign\n*** End Patch", 4),
        ("*** Begin Patch\n*** Frobnicate File: f\n*** End Patch", 2),
        ("*** Begin Patch\n*** End Patch", 2),
        ("*** Begin Patch\n*** Add File: \n+x\n*** End Patch", 2),
        ("diff --git a/x b/x\nGIT binary patch\nliteral 3\n", 2),
    ] {
        assert_eq!(parse(patch).map_err(|e| e.line), Err(line), "{patch:?}");
    }
}

#[test]
fn git_diffs_add_delete_and_rename() {
    let patch = "diff --git a/new.txt b/new.txt\nnew file mode 100644\nindex 000..111\n--- /dev/null\n+++ b/new.txt\n\
                 @@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n\
                 diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                 diff --git a/a b.txt b/c d.txt\nsimilarity index 100%\nrename from a b.txt\nrename to c d.txt\n\
                 diff --git \"a/\\303\\244.txt\" \"b/\\303\\244.txt\"\n--- \"a/\\303\\244.txt\"\n+++ \"b/\\303\\244.txt\"\n@@ -1 +1 @@\n-a\n+b\n-- \n2.43.0\n";
    let files = parse(patch).unwrap();
    assert_eq!(files.len(), 4, "{files:?}");
    assert_eq!(files[0], FilePatch::Add { path: "new.txt".into(), content: b"one\ntwo".to_vec() });
    assert_eq!(files[1], FilePatch::Delete { path: "gone.txt".into() });
    assert_eq!(
        files[2],
        FilePatch::Update { path: "a b.txt".into(), move_to: Some("c d.txt".into()), hunks: vec![] }
    );
    assert!(
        matches!(&files[3], FilePatch::Update { path, hunks, .. } if path == "ä.txt" && hunks[0].lines.len() == 2)
    );
}

#[test]
fn plain_diffs_and_wrong_counts_work() {
    let patch = "--- f.orig\t2026-01-01 00:00:00\n+++ f\t2026-01-01 00:00:01\n@@ -1,9 +1,9 @@ fn heading\n a\n-b\n+B\n c\n\n";
    assert_eq!(update("a\nb\nc\n", patch).unwrap(), "a\nB\nc\n");
    let removal = "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n a\n--- x\n";
    assert_eq!(update("a\n-- x\n", removal).unwrap(), "a\n");
}

#[test]
fn line_numbers_pick_among_equals_and_order_does_too() {
    let file = "x\na\nx\nb\nx\nc\n";
    let at = |line: usize| format!("--- a/f\n+++ b/f\n@@ -{line},1 +{line},1 @@\n-x\n+y\n");
    assert_eq!(update(file, &at(3)).unwrap(), "x\na\ny\nb\nx\nc\n");
    assert_eq!(update(file, &at(2)).unwrap_err().kind, RefusalKind::Ambiguous);
    let refused = update(file, &body("@@\n-x\n+y")).unwrap_err();
    assert_eq!(refused.kind, RefusalKind::Ambiguous);
    assert_eq!(refused.candidates.len(), 3);
    assert_eq!(update(file, &body("@@\n-b\n+B\n@@\n-x\n+y")).unwrap(), "x\na\nx\nB\ny\nc\n");
}

#[test]
fn anchors_nest() {
    let file = "class A:\n    def f():\n        x\nclass B:\n    def f():\n        x\n";
    let patch = body("@@ class B:\n@@     def f():\n-        x\n+        y");
    assert_eq!(update(file, &patch).unwrap(), file.trim_end_matches("x\n").to_owned() + "y\n");
    let unclear = body("@@ def f():\n-        x\n+        y");
    assert_eq!(update(file, &unclear).unwrap_err().kind, RefusalKind::Ambiguous);
    let missing = update(file, &body("@@ class C:\n-        x\n+        y")).unwrap_err();
    assert_eq!(missing.kind, RefusalKind::NoMatch);
    assert!(missing.message.contains("class C:") && !missing.candidates.is_empty(), "{missing}");
    let added = body("@@ class B:\n+    z = 1");
    assert_eq!(update(file, &added).unwrap(), file.replace("class B:\n", "class B:\n    z = 1\n"));
}

#[test]
fn context_keeps_the_bytes_of_the_file_and_additions_fit_in() {
    let file = "fn a() {\n\tsay(“hi”);  \n\tend();\n}\n";
    let patch = body(
        "@@\n fn a() {\n     say(\"hi\");\n-    end();\n+    finish();\n+    if x {\n+        y();\n+    }\n }",
    );
    assert_eq!(
        update(file, &patch).unwrap(),
        "fn a() {\n\tsay(“hi”);  \n\tfinish();\n\tif x {\n\t\ty();\n\t}\n}\n"
    );
}

#[test]
fn the_end_of_the_file() {
    assert_eq!(update("a\nb", &body("@@\n-a\n+A")).unwrap(), "A\nb");
    assert_eq!(update("a\nb", &body("@@\n a\n-b")).unwrap(), "a\n");
    assert_eq!(update("a\nb", &body("@@\n+c")).unwrap(), "a\nb\nc\n");
    assert_eq!(update("a\nb", &body("@@\n b\n+c")).unwrap(), "a\nb\nc\n");
    assert_eq!(update("x\na\nx\n", &body("@@\n-x\n+y\n*** End of File")).unwrap(), "x\na\ny\n");
    let keep_open =
        "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n";
    assert_eq!(update("a\nb", keep_open).unwrap(), "a\nc");
    let opened = "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n";
    assert_eq!(update("a\nb\n", opened).unwrap(), "a\nc");
    assert_eq!(update("a\n", &body("@@\n-a")).unwrap(), "");
    assert_eq!(update("", &body("@@\n+a")).unwrap(), "a\n");
}

#[test]
fn refusals_show_the_closest_region() {
    let refused = update("one\ntwo(a, b)\nthree\n", &body("@@\n one\n-two(a)\n+two(c)\n three")).unwrap_err();
    assert_eq!((refused.kind, refused.hunk), (RefusalKind::NoMatch, 1));
    let divergence = refused.first_divergence.clone().unwrap();
    assert_eq!(divergence.how, "line 2: expected `two(a)`, file has `two(a, b)`");
    assert!(refused.to_string().contains("Nothing was written"), "{refused}");
    let again = update("one\nchanged line\n", &body("@@\n one\n-former line\n+changed line")).unwrap_err();
    assert_eq!(again.kind, RefusalKind::AlreadyApplied);
    let lazy = update("a\nb\n", &body("@@\n a\n-b\n+// ... existing code ...")).unwrap_err();
    assert_eq!(lazy.kind, RefusalKind::Placeholder);
}

#[test]
fn half_a_hunk_is_never_applied() {
    // The context line `}` lacks its space: what follows it must not be dropped in silence.
    let broken = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-a\n+A\n}\n c\n@@ -9 +9 @@\n-x\n+X\n";
    let error = parse(broken).unwrap_err();
    assert_eq!(error.line, 6, "{error}");
    let stray = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\nand then\n@@ -9 +9 @@\n-x\n+X\n";
    assert!(parse(stray).is_err(), "a hunk behind prose");
    let prose_after = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\nThat is all.\n";
    assert_eq!(update("a\n", prose_after).unwrap(), "A\n");
}

#[test]
fn an_insertion_by_number_moves_with_the_hunks_before_it() {
    let file = "new\nnew\na\nb\nc\nd\n";
    let patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -3,0 +4 @@\n+between\n";
    assert_eq!(update(file, patch).unwrap(), "new\nnew\nA\nb\nc\nbetween\nd\n");
    let stated = "--- a/f\n+++ b/f\n@@ -50,3 +50,4 @@\n+x\n";
    assert!(parse(stated).is_err(), "it states lines that it does not show");
}

#[test]
fn diffs_without_prefixes_and_with_modes() {
    let bare = "diff --git a.txt a.txt\nindex 1..2 100644\n--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n";
    assert!(
        matches!(&parse(bare).unwrap()[..], [FilePatch::Update { path, move_to: None, .. }] if path == "a.txt")
    );
    let moved =
        "diff --git d/f mv/f\nrename from d/f\nrename to mv/f\n--- d/f\n+++ mv/f\n@@ -1 +1 @@\n-a\n+b\n";
    assert!(matches!(&parse(moved).unwrap()[..],
        [FilePatch::Update { path, move_to: Some(to), .. }] if path == "d/f" && to == "mv/f"));
    let empty = "diff --git new new\nnew file mode 100644\nindex 0..e 100644\n";
    assert!(
        matches!(&parse(empty).unwrap()[..], [FilePatch::Add { path, content }] if path == "new" && content.is_empty())
    );
    let mode = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n";
    assert!(parse(mode).unwrap_err().message.contains("no file's content"));
    assert!(toolcrib_workspace::patch::asks_for_modes(mode));
    let both = format!("{mode}{}", bare.replace("a.txt", "y"));
    assert_eq!(parse(&both).unwrap().len(), 1);
}

#[test]
fn carriage_returns_of_new_files_are_kept() {
    let added = "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\r\n+b\r\n";
    assert!(
        matches!(&parse(added).unwrap()[..], [FilePatch::Add { content, .. }] if content == b"a\r\nb\r\n")
    );
    let all_crlf = added.replace("\r\n", "\n").replace('\n', "\r\n");
    assert!(
        matches!(&parse(&all_crlf).unwrap()[..], [FilePatch::Add { content, .. }] if content == b"a\nb\n")
    );
    let update = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n";
    assert_eq!(self::update("a\r\nb\r\n", update).unwrap(), "a\r\nc\r\n");
}
