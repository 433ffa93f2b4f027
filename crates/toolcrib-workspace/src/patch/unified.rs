//! Unified diffs, from git or from `diff -u`.

use super::begin::signed;
use super::{FilePatch, Hunk, HunkLine, PatchError};

/// The line at which a unified diff starts.
pub(super) fn start(lines: &[&str]) -> Option<usize> {
    (0..lines.len())
        .find(|at| lines.get(*at).is_some_and(|line| line.starts_with("diff --git ")) || is_names(lines, *at))
}

/// `--- old` directly followed by `+++ new`.
fn is_names(lines: &[&str], at: usize) -> bool {
    lines.get(at).is_some_and(|line| line.starts_with("--- "))
        && lines.get(at + 1).is_some_and(|line| line.starts_with("+++ "))
}

/// `-1,2 +3,4 @@ …` after its `@@`: the old start, the old count and the new count.
pub(super) fn ranges(rest: &str) -> Option<(usize, usize, usize)> {
    let mut words = rest.split_whitespace();
    let range = |word: &str, sign: char| -> Option<(usize, usize)> {
        let word = word.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let (start, old) = range(words.next()?, '-')?;
    let (_, new) = range(words.next()?, '+')?;
    Some((start, old, new))
}

#[derive(Default)]
struct Names {
    old: Option<String>,
    new: Option<String>,
    rename: (Option<String>, Option<String>),
    created: bool,
    deleted: bool,
    mode: bool,
}

pub(super) fn parse(lines: &[&str], start: usize) -> Result<Vec<FilePatch>, PatchError> {
    let mut at = start;
    let mut files = Vec::new();
    while at < lines.len() {
        let git = lines.get(at).and_then(|line| line.strip_prefix("diff --git "));
        if git.is_none() && !is_names(lines, at) {
            if lines.get(at).is_some_and(|line| line.starts_with("@@ ")) {
                return Err(PatchError::new(
                    at + 1,
                    "this hunk belongs to no file: `---` and `+++` lines are missing",
                ));
            }
            at += 1;
            continue;
        }
        let first = at;
        let mut names = Names::default();
        if let Some(both) = git {
            (names.old, names.new) = git_names(both);
            at += 1;
            at = extended_headers(lines, at, &mut names)?;
        }
        if is_names(lines, at) {
            names.old = lines.get(at).and_then(|line| line.strip_prefix("--- ")).and_then(name);
            names.new = lines.get(at + 1).and_then(|line| line.strip_prefix("+++ ")).and_then(name);
            at += 2;
        }
        let mut hunks = Vec::new();
        while let Some(rest) = lines.get(at).and_then(|line| line.strip_prefix("@@")) {
            let (hunk, next) = hunk(lines, at, rest)?;
            hunks.push(hunk);
            at = next;
        }
        files.extend(file(names, hunks).map_err(|message| PatchError::new(first + 1, message))?);
    }
    Ok(files)
}

fn extended_headers(lines: &[&str], mut at: usize, names: &mut Names) -> Result<usize, PatchError> {
    while let Some(line) = lines.get(at) {
        if line.starts_with("--- ") || line.starts_with("@@") || line.starts_with("diff --git ") {
            break;
        }
        if let Some(path) = line.strip_prefix("rename from ") {
            names.rename.0 = name(path);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            names.rename.1 = name(path);
        } else if line.starts_with("new mode ") {
            names.mode = true;
        } else if line.starts_with("new file mode") {
            names.created = true;
        } else if line.starts_with("deleted file mode") {
            names.deleted = true;
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(PatchError::new(at + 1, "binary changes cannot be applied from a patch"));
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(PatchError::new(at + 1, "copies cannot be applied; add the new file instead"));
        }
        at += 1;
    }
    Ok(at)
}

/// Both names of `diff --git a/x b/y`, which are not quoted when they hold blanks.
fn git_names(both: &str) -> (Option<String>, Option<String>) {
    if both.starts_with('"') {
        return (None, None);
    }
    // Equal names: the middle blank. Else the first ` b/`; renames are named again below it.
    let half = both.len() / 2;
    let middle = both.split_at_checked(half).map(|(a, b)| (a, b.trim_start()));
    // `--no-prefix`: both are the name itself.
    if let Some((a, _)) = middle.filter(|(a, b)| a == b) {
        return (name(a), name(a));
    }
    let same = middle.filter(|(a, b)| a.starts_with("a/") && a.strip_prefix("a/") == b.strip_prefix("b/"));
    match same.or_else(|| both.split_once(" b/")) {
        Some((a, b)) => (name(a), name(&format!("b/{}", b.strip_prefix("b/").unwrap_or(b)))),
        None => (None, None),
    }
}

/// A name as written in a header: quoted, or up to a tab (a timestamp follows).
fn name(text: &str) -> Option<String> {
    let text = text.trim_end_matches('\r');
    let path = match text.strip_prefix('"') {
        Some(quoted) => unquote(quoted),
        None => text.split('\t').next().unwrap_or_default().trim_end().to_owned(),
    };
    (!path.is_empty()).then_some(path)
}

/// Undoes git's C-style quoting.
fn unquote(quoted: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = quoted.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => match bytes.next() {
                Some(digit @ b'0'..=b'7') => {
                    let mut value = u32::from(digit - b'0');
                    for _ in 0..2 {
                        let Some(next) = bytes.next_if(|b| matches!(b, b'0'..=b'7')) else { break };
                        value = value * 8 + u32::from(next - b'0');
                    }
                    out.push((value & 0xff) as u8);
                }
                Some(b'n') => out.push(b'\n'),
                Some(b't') => out.push(b'\t'),
                Some(other) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hunk(lines: &[&str], start: usize, rest: &str) -> Result<(Hunk, usize), PatchError> {
    let mut hunk = Hunk::default();
    let counted = ranges(rest);
    let (mut old, mut new) = counted.map_or((usize::MAX, usize::MAX), |(_, old, new)| (old, new));
    hunk.old_start = counted.map(|(start, _, _)| start);
    let mut at = start + 1;
    while let Some(line) = lines.get(at) {
        let over = old == 0 && new == 0;
        if line.starts_with("@@") || line.starts_with("diff --git ") {
            break;
        }
        // `--- x` may be the removal of `-- x`; a name is followed by `+++ y` and a hunk.
        let named =
            is_names(lines, at) && (over || lines.get(at + 2).is_some_and(|line| line.starts_with("@@")));
        if named || (over && (line.trim_end() == "--" || line.trim().is_empty())) {
            break;
        }
        if line.starts_with('\\') {
            // Belongs to the line before it, and only matters for what the file becomes.
            hunk.no_final_newline = !matches!(hunk.lines.last(), Some(HunkLine::Remove(_)));
            at += 1;
            continue;
        }
        let Some(line) = signed(line) else {
            if over {
                break;
            }
            // Stopping here would apply half a hunk and lose those behind it.
            return Err(PatchError::new(
                at + 1,
                "a line of a hunk starts with ` `, `-` or `+`; a context line needs a space before its text",
            ));
        };
        if !matches!(line, HunkLine::Add(_)) {
            old = old.saturating_sub(1);
        }
        if !matches!(line, HunkLine::Remove(_)) {
            new = new.saturating_sub(1);
        }
        hunk.lines.push(line);
        at += 1;
    }
    trim_trailing_blank(&mut hunk, lines, at);
    let states_old = counted.is_some_and(|(_, old, _)| old > 0);
    if states_old && hunk.lines.iter().all(|line| matches!(line, HunkLine::Add(_))) {
        return Err(PatchError::new(
            start + 1,
            "the hunk's header states lines of the file, but it has none of them",
        ));
    }
    Ok((hunk, at))
}

/// Blank lines after the last hunk of a patch are the end of the message and not context.
fn trim_trailing_blank(hunk: &mut Hunk, lines: &[&str], at: usize) {
    let mut before = at;
    while before > 0
        && lines.get(before - 1).is_some_and(|line| line.is_empty())
        && matches!(hunk.lines.last(), Some(HunkLine::Context(text)) if text.is_empty())
    {
        hunk.lines.pop();
        before -= 1;
    }
}

/// What a section does; `None` if it only changes the mode of a file.
fn file(names: Names, hunks: Vec<Hunk>) -> Result<Option<FilePatch>, String> {
    let Names { old, new, rename, created, deleted, mode } = names;
    let none = |name: &Option<String>| name.as_deref() == Some("/dev/null");
    let (created, deleted) = (created || none(&old), deleted || none(&new));
    let prefixed = |name: &Option<String>, prefix: &str| {
        none(name) || name.as_ref().is_some_and(|n| n.starts_with(prefix))
    };
    let strip = prefixed(&old, "a/") && prefixed(&new, "b/");
    let bare = |name: Option<String>, prefix: &str| {
        let name = name.filter(|name| name != "/dev/null")?;
        Some(if strip { name.strip_prefix(prefix).unwrap_or(&name).to_owned() } else { name })
    };
    let (old, new) = (bare(old, "a/"), bare(new, "b/"));
    if deleted {
        return Ok(Some(FilePatch::Delete { path: old.ok_or("the deleted file has no name")? }));
    }
    if created {
        let path = new.ok_or("the new file has no name")?;
        return Ok(Some(FilePatch::Add { path, content: content(&hunks) }));
    }
    let renamed = rename.0.is_some() && rename.1.is_some();
    let from = rename.0.or(old).ok_or("the file has no name")?;
    let to = rename.1.or(new);
    // `diff -u x.orig x`: the new name is the file that is meant.
    let (path, move_to) = match to {
        Some(to)
            if to != from
                && !renamed
                && (from.strip_suffix(".orig") == Some(&to) || !strip)
                && hunks.iter().any(|h| !h.lines.is_empty()) =>
        {
            (to, None)
        }
        to => (from.clone(), to.filter(|to| *to != from)),
    };
    if hunks.is_empty() && move_to.is_none() && mode {
        return Ok(None);
    }
    if hunks.is_empty() && move_to.is_none() {
        return Err(format!("the update of `{path}` has no hunk"));
    }
    let hunks = hunks.into_iter().map(Hunk::without_cr).collect();
    Ok(Some(FilePatch::Update { path, move_to, hunks }))
}

fn content(hunks: &[Hunk]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        if let HunkLine::Add(text) = line {
            out.extend_from_slice(text.as_bytes());
            out.push(b'\n');
        }
    }
    if hunks.last().is_some_and(|hunk| hunk.no_final_newline) {
        out.pop();
    }
    out
}
