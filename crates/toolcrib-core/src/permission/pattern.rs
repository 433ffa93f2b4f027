//! Paths and hosts as rules name them.

use globset::{GlobBuilder, GlobMatcher};

/// A glob over canonical paths. What names a folder holds for everything in it.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    exact: [GlobMatcher; 2],
    folded: [GlobMatcher; 2],
    /// The path, if the pattern names one and no more.
    literal: Option<String>,
    /// The leading names without wildcards, in lower case.
    leading: Vec<String>,
}

impl PathPattern {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let plain = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
        let plain = if text == "." || text == "./" { "**" } else { plain };
        if plain.is_empty() {
            return Err("`path` is empty".into());
        }
        if plain.split('/').any(|name| name == ".." || name == ".") {
            return Err(format!("`path` {text:?}: paths are canonical, so `.` and `..` match nothing"));
        }
        let glob = |text: &str, fold: bool| {
            let built = GlobBuilder::new(text).literal_separator(true).case_insensitive(fold).build();
            built
                .map(|glob| glob.compile_matcher())
                .map_err(|error| format!("`path` {text:?}: {}", error.kind()))
        };
        let below = format!("{plain}/**");
        let leading = plain.split('/').take_while(|name| literal(name).is_some());
        Ok(Self {
            exact: [glob(plain, false)?, glob(&below, false)?],
            folded: [glob(plain, true)?, glob(&below, true)?],
            literal: literal(plain),
            leading: leading.filter_map(literal).map(|name| name.to_lowercase()).collect(),
        })
    }

    /// Whether a path is meant exactly as it is spelled.
    pub(super) fn permits(&self, path: &str) -> bool {
        self.exact.iter().any(|glob| glob.is_match(path))
    }

    /// Whether it names this very path, and not by a wildcard.
    pub(super) fn names(&self, path: &str) -> bool {
        self.literal.as_deref() == Some(path)
    }

    /// Whether a path is meant, as the most careless file system would see it.
    pub(super) fn refuses(&self, path: &str) -> bool {
        self.folded.iter().any(|glob| glob.is_match(path))
    }

    /// Whether something in the folder `path` may be meant. By leading names alone: with `*` every file could be a
    /// folder of that kind.
    pub(super) fn refuses_below(&self, path: &str) -> bool {
        let folder: Vec<String> = path.split('/').map(str::to_lowercase).collect();
        path == "." || (folder.len() <= self.leading.len() && self.leading.starts_with(&folder))
    }
}

/// A part of a pattern as the text that it matches, if that is one text: no wildcards, or only escaped ones.
fn literal(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '[' => match (rest.next(), rest.next()) {
                (Some(escaped), Some(']')) => text.push(escaped),
                _ => return None,
            },
            '*' | '?' | '{' | '}' | '\\' | ']' => return None,
            _ => text.push(c),
        }
    }
    Some(text)
}

/// Paths that a word of a command may mean, relative to the first root as far as can be told from the word.
pub(super) fn paths_in(word: &str) -> Vec<String> {
    let word = match word.split_once('=') {
        Some((_, value)) if word.starts_with('-') => value,
        _ if word.starts_with('-') => return Vec::new(),
        _ => word,
    };
    let mut names: Vec<&str> = Vec::new();
    for name in word.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if name == ".." && names.last().is_some_and(|last| *last != "..") {
            names.pop();
        } else {
            names.push(name);
        }
    }
    if names.is_empty() {
        return if word.starts_with('/') || word.is_empty() { Vec::new() } else { vec![".".to_owned()] };
    }
    // Where the root lies is not known here: of an absolute path any tail may be the path in it.
    let tails = if word.starts_with('/') || word.starts_with('~') { names.len().min(64) } else { 1 };
    (0..tails).map(|at| names.get(at..).unwrap_or_default().join("/")).collect()
}

/// A host by name, by a domain (`*.docs.rs`), or any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostPattern {
    Any,
    Exactly(String),
    Below(String),
}

impl HostPattern {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("`host` {text:?}: {why}"));
        if text == "*" {
            return Ok(Self::Any);
        }
        let (domain, below) = text.strip_prefix("*.").map_or((text, false), |domain| (domain, true));
        if domain.is_empty() {
            return wrong("it is empty");
        }
        let fits = |c: char| c.is_alphanumeric() || "-._:[]".contains(c);
        if !domain.chars().all(fits) || domain.starts_with('.') {
            return wrong(
                "write a host (`docs.rs`), `*.docs.rs` for all below it, or `*`; no scheme, path or other wildcard",
            );
        }
        let domain = plain_host(domain);
        Ok(if below { Self::Below(format!(".{domain}")) } else { Self::Exactly(domain) })
    }

    pub(super) fn matches(&self, host: &str) -> bool {
        let host = plain_host(host);
        match self {
            Self::Any => true,
            Self::Exactly(name) => host == *name,
            Self::Below(domain) => host.len() > domain.len() && host.ends_with(domain.as_str()),
        }
    }

    /// Whether a word of a command names such a host: in a URL, an address of ssh, or alone.
    pub(super) fn within(&self, word: &str) -> bool {
        let between = |c: char| !(c.is_alphanumeric() || "-._".contains(c));
        // `*` is about reaching the network at all, which the effects say.
        *self != Self::Any && word.split(between).any(|part| !part.is_empty() && self.matches(part))
    }
}

/// A host in one spelling: lower case, without a final dot and without a port.
fn plain_host(host: &str) -> String {
    let host = host.trim();
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.chars().all(|c| c.is_ascii_digit()) => name,
        Some((name, port)) if name.ends_with(']') && port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    without_port.trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (pattern, path, permits, refuses) in [
            ("src/**", "src/a.rs", true, true),
            ("src/**", "src/a/b.rs", true, true),
            ("src/**", "SRC/a.rs", false, true),
            ("src", "src/a/b", true, true),
            ("src/", "src/a/b", true, true),
            ("./src/*", "src/a", true, true),
            ("src/*", "src/a/b", true, true),
            ("*.rs", "src/a.rs", false, false),
            ("**/*.rs", "src/a.rs", true, true),
            ("**/*.rs", "a.rs", true, true),
            ("src", "srcs/a", false, false),
            (".", "a/b", true, true),
            ("**", ".", true, true),
        ] {
            let found = PathPattern::new(pattern).unwrap();
            assert_eq!((found.permits(path), found.refuses(path)), (permits, refuses), "{pattern} {path}");
        }
        for wrong in ["", "/", "../x", "a/./b", "a[", "{a"] {
            assert!(PathPattern::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn folders_that_hold_what_is_refused() {
        for (pattern, folder, expected) in [
            ("src/secret/**", "src", true),
            ("src/secret/**", "SRC", true),
            ("src/secret/**", ".", true),
            ("src/secret/**", "sr", false),
            ("src/secret/**", "src/other", false),
            ("src/a[*]b/c", "src/a*b", true),
            ("**/*.pem", "src/main.rs", false),
            ("*/secret", "a.txt", false),
        ] {
            assert_eq!(
                PathPattern::new(pattern).unwrap().refuses_below(folder),
                expected,
                "{pattern} {folder}"
            );
        }
    }

    #[test]
    fn a_path_by_name_is_not_a_wildcard() {
        let names = |pattern: &str, path: &str| PathPattern::new(pattern).unwrap().names(path);
        assert!(names(".envrc", ".envrc") && names("a[*]b", "a*b"));
        assert!(
            !names("*", ".envrc")
                && !names(".env*", ".envrc")
                && !names("a[*]b", "axb")
                && !names("[ab]", "a")
        );
        for odd in ["a*b", "[x]", "{a,b}", "a?", "x]", "!a"] {
            assert!(names(&globset::escape(odd), odd), "{odd}");
        }
    }

    #[test]
    fn hosts() {
        for (pattern, host, expected) in [
            ("docs.rs", "docs.rs", true),
            ("docs.rs", "DOCS.RS.", true),
            ("docs.rs", "docs.rs:443", true),
            ("docs.rs", "evil-docs.rs", false),
            ("docs.rs", "docs.rs.evil.com", false),
            ("docs.rs", "a.docs.rs", false),
            ("*.docs.rs", "a.docs.rs", true),
            ("*.docs.rs", "a.b.Docs.rs", true),
            ("*.docs.rs", "docs.rs", false),
            ("*.docs.rs", "evil-docs.rs", false),
            ("*.docs.rs", ".docs.rs", false),
            ("*", "anything", true),
            ("*", "*", true),
            ("docs.rs", "*", false),
            ("[::1]", "[::1]:80", true),
            ("::1", "::1", true),
        ] {
            assert_eq!(HostPattern::new(pattern).unwrap().matches(host), expected, "{pattern} {host}");
        }
        for wrong in ["", "*.", "a*.rs", "https://docs.rs", "docs.rs/x", "*.*.rs", "..", "a b"] {
            assert!(HostPattern::new(wrong).is_err(), "{wrong}");
        }
        let within = |word: &str| HostPattern::new("evil.com").unwrap().within(word);
        assert!(within("https://u:p@EVIL.com:8/x") && within("git@evil.com:a/b.git") && within("evil.com"));
        assert!(!within("https://not-evil.com") && !within("evil.community"));
    }

    #[test]
    fn paths_in_words() {
        for (word, expected) in [
            ("src/a.rs", &["src/a.rs"][..]),
            ("./src//a/../b", &["src/b"]),
            ("--file=.env", &[".env"]),
            ("-r", &[]),
            ("/home/u/.env", &["home/u/.env", "u/.env", ".env"]),
            (".", &["."]),
            ("../x", &["../x"]),
            ("/", &[]),
        ] {
            assert_eq!(paths_in(word), expected, "{word}");
        }
    }
}
