//! Unified diffs of what really changed.
//!
//! Computed on raw bytes, because a diff of normalised text hides exactly the damage people want to see: rewritten
//! line endings, a lost byte order mark, a dropped final newline.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use crate::text::{self, Encoding};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// After this long the diff stops looking for the smallest one and settles for a correct one.
const DEADLINE: Duration = Duration::from_millis(200);

/// A unified diff; `None` stands for "no file". Empty when nothing changed.
///
/// Carriage returns show as `␍` at the line end, but only in hunks whose lines don't all end alike.
pub fn unified(path_old: &str, path_new: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    if old == new && path_old == path_new {
        return String::new();
    }
    let name = |prefix: &str, path: &str, side: Option<&[u8]>| match side {
        Some(_) => quoted(format!("{prefix}/{path}")),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (name("a", path_old, old), name("b", path_new, new));
    let mut out = String::new();
    if path_old != path_new && old.is_some() && new.is_some() {
        let (from, to) = (quoted(path_old.to_owned()), quoted(path_new.to_owned()));
        out.push_str(&format!("rename from {from}\nrename to {to}\n"));
    }
    if old == new {
        return out;
    }
    if old.is_some_and(text::is_binary) || new.is_some_and(text::is_binary) {
        out.push_str(&format!("Binary files {from} and {to} differ\n"));
        return out;
    }
    let (old, new) = (comparable(old, new), comparable(new, old));
    out.push_str(&format!("--- {from}\n+++ {to}\n"));
    let (old, new) = (lines(&old), lines(&new));
    let ops = ops(&old, &new);
    for group in group_diff_ops(ops, CONTEXT) {
        write_hunk(&mut out, &group, &old, &new);
    }
    out
}

/// A path that stays on its line: quoted, as git does it, when a name in it contains control characters.
fn quoted(path: String) -> String {
    if path.contains(char::is_control) { format!("{path:?}") } else { path }
}

/// How many lines were added and removed.
pub fn stat(old: Option<&[u8]>, new: Option<&[u8]>) -> (usize, usize) {
    if old == new || old.is_some_and(text::is_binary) || new.is_some_and(text::is_binary) {
        return (0, 0);
    }
    let (old, new) = (comparable(old, new), comparable(new, old));
    let (old, new) = (lines(&old), lines(&new));
    ops(&old, &new).iter().fold((0, 0), |(added, removed), op| match op {
        DiffOp::Equal { .. } => (added, removed),
        DiffOp::Delete { old_len, .. } => (added, removed + old_len),
        DiffOp::Insert { new_len, .. } => (added + new_len, removed),
        DiffOp::Replace { old_len, new_len, .. } => (added + new_len, removed + old_len),
    })
}

/// UTF-16 is compared as the text it holds; a byte order mark stays visible only where the sides disagree about it.
fn comparable(side: Option<&[u8]>, other: Option<&[u8]>) -> Vec<u8> {
    let bytes = side.unwrap_or_default();
    let (mine, theirs) = (Encoding::of(bytes), Encoding::of(other.unwrap_or_default()));
    let same = mine == theirs || other.is_none_or(<[u8]>::is_empty) || bytes.is_empty();
    let mark = if same { String::new() } else { mark_of(mine) };
    match mine {
        Encoding::Utf16Le | Encoding::Utf16Be | Encoding::Utf8Bom => {
            format!("{mark}{}", text::decode(bytes).text).into_bytes()
        }
        Encoding::Utf8 | Encoding::Bytes => bytes.to_vec(),
    }
}

fn mark_of(encoding: Encoding) -> String {
    match encoding {
        Encoding::Utf8 | Encoding::Bytes => String::new(),
        Encoding::Utf8Bom => "<BOM>".to_owned(),
        Encoding::Utf16Le | Encoding::Utf16Be => format!("<BOM {}>", encoding.as_str()),
    }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|b| *b == b'\n').collect()
}

fn ops(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(Instant::now() + DEADLINE))
}

fn write_hunk(out: &mut String, group: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    out.push_str(&format!("@@ -{} +{} @@\n", span(&old_range), span(&new_range)));
    let (old_lines, new_lines) =
        (old.get(old_range).unwrap_or_default(), new.get(new_range).unwrap_or_default());
    let endings = || old_lines.iter().chain(new_lines).filter(|line| line.ends_with(b"\n"));
    let crlf = endings().filter(|line| line.ends_with(b"\r\n")).count();
    let mark = crlf > 0 && crlf < endings().count();
    for op in group {
        let removed = old.get(op.old_range()).unwrap_or_default();
        let added = new.get(op.new_range()).unwrap_or_default();
        if matches!(op, DiffOp::Equal { .. }) {
            removed.iter().for_each(|line| write_line(out, ' ', line, mark));
        } else {
            removed.iter().for_each(|line| write_line(out, '-', line, mark));
            added.iter().for_each(|line| write_line(out, '+', line, mark));
        }
    }
}

fn span(range: &std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        len => format!("{},{len}", range.start + 1),
    }
}

fn write_line(out: &mut String, sign: char, line: &[u8], mark: bool) {
    out.push(sign);
    let (body, ended) = match line.strip_suffix(b"\n") {
        Some(body) => (body, true),
        None => (line, false),
    };
    match body.strip_suffix(b"\r") {
        Some(body) if ended => {
            out.push_str(&String::from_utf8_lossy(body));
            if mark {
                out.push('␍');
            }
        }
        _ => out.push_str(&String::from_utf8_lossy(body)),
    }
    out.push('\n');
    if !ended {
        out.push_str("\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_has_context() {
        let diff = unified("x", "x", Some(b"a\nb\nc\n"), Some(b"a\nB\nc\n"));
        assert_eq!(diff, "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(stat(Some(b"a\nb\nc\n"), Some(b"a\nB\nc\nd\n")), (2, 1));
    }

    #[test]
    fn endings_show_where_they_differ() {
        let diff = unified("x", "x", Some(b"a\r\nb\r\n"), Some(b"a\r\nB\r\n"));
        assert!(!diff.contains('␍'), "{diff}");
        let diff = unified("x", "x", Some(b"a\r\nb\r\n"), Some(b"a\r\nb\n"));
        assert!(diff.contains("-b␍\n+b\n"), "{diff}");
        let diff = unified("x", "x", Some(b"a"), Some(b"a\n"));
        assert_eq!(diff, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    }

    #[test]
    fn no_file_is_dev_null_and_binary_is_not_shown() {
        assert_eq!(unified("x", "x", None, Some(b"a\n")), "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(unified("x", "x", Some(b"a\n"), None), "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified("x", "x", Some(b"\0"), Some(b"\0\x01")), "Binary files a/x and b/x differ\n");
        assert_eq!(unified("x", "y", Some(b"a"), Some(b"a")), "rename from x\nrename to y\n");
    }

    #[test]
    fn a_lost_mark_shows() {
        let diff = unified("x", "x", Some(b"\xef\xbb\xbfa\n"), Some(b"a\n"));
        assert!(diff.contains("-<BOM>a\n+a\n"), "{diff}");
    }
}
