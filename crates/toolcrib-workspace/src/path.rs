//! Paths as callers write them, before any file system is asked.
//!
//! Normalisation is lexical and literal: `.`, `//`, a trailing `/` and `a/../b` are understood; `~`, `$HOME`, `%2e`
//! and look-alikes of dots and slashes are names like any other.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

use crate::{Error, ErrorKind, Result};

const MAX_PATH: usize = 4096;
const MAX_NAME: usize = 255;

/// What a caller's path asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Names below the first root.
    Relative(Vec<OsString>),
    /// Names from the top of the host's file system.
    Absolute(Vec<OsString>),
    /// Names below a mount.
    Mount(String, Vec<OsString>),
}

/// Understands a path, or says why it is none.
pub(crate) fn parse(path: &str) -> Result<Request> {
    let invalid = |why: &str| Error::new(ErrorKind::InvalidPath, why).at(printable(path));
    if path.is_empty() {
        return Err(invalid("the path is empty; `.` is the root"));
    }
    if path.contains('\0') {
        return Err(invalid("the path contains a NUL byte"));
    }
    if path.len() > MAX_PATH {
        return Err(invalid("the path is longer than 4096 bytes"));
    }
    let request = if let Some((name, rest)) = mount_of(path) {
        Request::Mount(
            name.to_owned(),
            normalise(rest.split('/').map(OsStr::new)).ok_or_else(|| outside(path))?,
        )
    } else if Path::new(path).has_root() || Path::new(path).is_absolute() {
        Request::Absolute(absolute_names(Path::new(path)))
    } else {
        let separators: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
        Request::Relative(normalise(path.split(separators).map(OsStr::new)).ok_or_else(|| outside(path))?)
    };
    let (Request::Relative(names) | Request::Absolute(names) | Request::Mount(_, names)) = &request;
    if names.iter().any(|name| name.len() > MAX_NAME) {
        return Err(invalid("a name in the path is longer than 255 bytes"));
    }
    if cfg!(windows) && names.iter().skip(1).any(|name| reserved_on_windows(name)) {
        return Err(invalid("a name in the path is reserved on Windows"));
    }
    Ok(request)
}

pub(crate) fn outside(path: &str) -> Error {
    Error::new(ErrorKind::OutsideWorkspace, "the path leads outside the workspace").at(printable(path))
}

/// A path short enough to repeat in a message.
pub(crate) fn printable(path: &str) -> String {
    let mut shown: String = path.chars().take(300).collect();
    if shown.len() < path.len() {
        shown.push('…');
    }
    shown
}

fn mount_of(path: &str) -> Option<(&str, &str)> {
    let (name, rest) = path.split_once("://")?;
    valid_mount(name).then_some((name, rest))
}

/// Whether `name` can name a mount.
pub(crate) fn valid_mount(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
}

/// Resolves `.` and `..` by text; `None` when that leads above the start.
fn normalise<'a>(parts: impl Iterator<Item = &'a OsStr>) -> Option<Vec<OsString>> {
    let mut names = Vec::new();
    for part in parts {
        if part == ".." {
            names.pop()?;
        } else if !part.is_empty() && part != "." {
            names.push(part.to_os_string());
        }
    }
    Some(names)
}

/// The names of an absolute path; above the top is still the top.
pub(crate) fn absolute_names(path: &Path) -> Vec<OsString> {
    let mut names: Vec<OsString> = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => names.push(prefix.as_os_str().to_os_string()),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                names.pop();
            }
            Component::Normal(name) => names.push(name.to_os_string()),
        }
    }
    names
}

/// The parts of a symlink's target, `..` kept, or `None` when it is absolute.
pub(crate) fn link_parts(target: &OsStr) -> Option<Vec<OsString>> {
    let path = Path::new(target);
    if path.has_root() || path.is_absolute() {
        return None;
    }
    let part = |component: Component<'_>| match component {
        Component::CurDir | Component::RootDir => None,
        other => Some(other.as_os_str().to_os_string()),
    };
    Some(path.components().filter_map(part).collect())
}

/// `names` without `prefix`, when it begins so.
pub(crate) fn strip<'a>(names: &'a [OsString], prefix: &[OsString]) -> Option<&'a [OsString]> {
    names.strip_prefix(prefix)
}

/// Names joined for people; what isn't Unicode is shown as far as it can be.
pub(crate) fn join(names: &[OsString]) -> String {
    if names.is_empty() {
        return ".".to_owned();
    }
    names.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Names joined for the journal, so that [`decode`] gives the same bytes back. A name that isn't Unicode is written
/// in hex behind a NUL, which no name can contain.
pub(crate) fn encode(names: &[OsString]) -> String {
    names.iter().map(|name| encode_text(name)).collect::<Vec<_>>().join("/")
}

/// One text in the form of [`encode`].
pub(crate) fn encode_text(text: &OsStr) -> String {
    match text.to_str() {
        Some(text) => text.to_owned(),
        None => {
            let hex = text.as_encoded_bytes().iter().map(|byte| format!("{byte:02x}"));
            format!("\0{}", hex.collect::<String>())
        }
    }
}

/// The reverse of [`encode`]; refuses what no walk can have produced.
pub(crate) fn decode(text: &str) -> Option<Vec<OsString>> {
    let names: Option<Vec<OsString>> = text.split('/').map(decode_text).collect();
    names.filter(|names| names.iter().all(|name| !name.is_empty() && name != ".." && name != "."))
}

/// The reverse of [`encode_text`].
pub(crate) fn decode_text(text: &str) -> Option<OsString> {
    let Some(hex) = text.strip_prefix('\0') else { return Some(text.into()) };
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(byte).collect();
    #[cfg(unix)]
    return bytes.map(std::os::unix::ffi::OsStringExt::from_vec);
    #[cfg(not(unix))]
    return bytes.and_then(|bytes| String::from_utf8(bytes).ok()).map(OsString::from);
}

/// A name as a careless file system might compare it: without case, and without characters that don't show.
pub(crate) fn folded(name: &OsStr) -> String {
    let text = name.to_string_lossy();
    let shown = text.chars().filter(|c| !ignorable(*c));
    // Up and down again: that also joins letters with several lower-case forms, such as the long s.
    let mut folded: String = shown.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    if cfg!(windows) {
        if let Some((before, _)) = folded.split_once(':') {
            folded = before.to_owned();
        }
        folded.truncate(folded.trim_end_matches(['.', ' ']).len());
        if folded == "git~1" {
            folded = ".git".to_owned();
        }
    }
    folded
}

/// Characters that HFS+ and Unicode comparison ignore.
fn ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Names that mean devices or streams on Windows, or that it would silently change.
fn reserved_on_windows(name: &OsStr) -> bool {
    let text = name.to_string_lossy();
    let stem = text.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || (["COM", "LPT"]
            .iter()
            .any(|port| stem.strip_prefix(port).is_some_and(|n| n.chars().count() == 1)));
    device || text.ends_with(['.', ' ']) || text.contains(['<', '>', ':', '"', '|', '?', '*'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(path: &str) -> Vec<String> {
        match parse(path).unwrap() {
            Request::Relative(names) => names.into_iter().map(|name| name.into_string().unwrap()).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn normalises_by_text_and_expands_nothing() {
        assert_eq!(relative("./a//b/./c/"), ["a", "b", "c"]);
        assert_eq!(relative("a/../b"), ["b"]);
        assert!(relative(".").is_empty());
        for literal in ["~", "$HOME", "%2e%2e", "．．", "...", "CON", "a "] {
            assert_eq!(relative(literal), [literal]);
        }
        assert_eq!(relative("a:stream/http:x"), ["a:stream", "http:x"]);
    }

    #[test]
    fn refuses_the_impossible() {
        let kind = |path: &str| parse(path).unwrap_err().kind();
        assert_eq!(kind(""), ErrorKind::InvalidPath);
        assert_eq!(kind("a\0b"), ErrorKind::InvalidPath);
        assert_eq!(kind(&"n".repeat(256)), ErrorKind::InvalidPath);
        assert_eq!(kind(&"n/".repeat(2050)), ErrorKind::InvalidPath);
        assert_eq!(kind("a/../../b"), ErrorKind::OutsideWorkspace);
        assert_eq!(kind(".."), ErrorKind::OutsideWorkspace);
        assert_eq!(kind("spill://../x"), ErrorKind::OutsideWorkspace);
        assert_eq!(relative(&"n".repeat(255)).len(), 1);
    }

    #[test]
    fn folds_what_file_systems_fold() {
        for name in [".git", ".GIT", ".Git", ".g\u{200c}it", "\u{feff}.git", ".gIt\u{200d}"] {
            assert_eq!(folded(OsStr::new(name)), ".git", "{name:?}");
        }
        assert_eq!(folded(OsStr::new("hook\u{17f}")), "hooks");
        assert_eq!(folded(OsStr::new("\u{212a}")), "k");
        assert_ne!(folded(OsStr::new(".gitx")), ".git");
    }

    #[test]
    fn reserved_names() {
        for name in ["CON", "con.txt", "NUL", "com1", "LPT9.x", "a:stream", "x.", "x ", "a?b"] {
            assert!(reserved_on_windows(OsStr::new(name)), "{name}");
        }
        for name in ["CONSOLE", "com", "com10", "a.b", ".git"] {
            assert!(!reserved_on_windows(OsStr::new(name)), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn any_bytes_survive_the_journal() {
        use std::os::unix::ffi::OsStringExt;
        let names =
            vec![OsString::from("a"), OsString::from_vec(vec![0xff, b'x', 0x80]), OsString::from("ü")];
        assert_eq!(decode(&encode(&names)).unwrap(), names);
        assert!(decode("a/../b").is_none());
        assert!(decode("").is_none());
    }
}
