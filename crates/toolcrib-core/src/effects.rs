//! What one particular call will touch.

use serde::{Deserialize, Serialize};

/// One program that a call runs, as far as it is known without running it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEffect {
    /// As a person would read it.
    pub text: String,
    /// The program and its arguments with quotes undone; empty where only running it would tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// How many of the words name what is done (`cargo test`: 2): what a standing grant covers. 0: only all of them.
    #[serde(default)]
    pub prefix: usize,
    /// Whether the command is just its words: no assignments, no redirections that matter, no code from its input, in
    /// the directory of the call. Only then does what was said about the words hold for all of it.
    #[serde(default)]
    pub bare: bool,
    /// What is known of it.
    pub judgement: Judgement,
}

/// What is known of a command without running it, from harmless to out of the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "reason", rename_all = "lowercase")]
pub enum Judgement {
    /// Proved to read only.
    Safe,
    /// Understood; it changes things, and nothing about it is alarming.
    Plain,
    /// Dangerous, or not to be understood without running it: worth a question even inside a sandbox.
    Risky(String),
    /// Never run, whatever the rules say.
    Forbidden(String),
}

/// What one call will touch. Paths are relative to the first root; a directory stands for everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// Paths read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Paths created, changed or deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Commands run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandEffect>,
    /// Hosts reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Whether it may change anything anywhere in the workspace, so that it must run alone among writers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes_anything: bool,
}

impl Effects {
    /// Nothing that other calls could notice.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads these paths.
    pub fn reads<S: Into<String>>(paths: impl IntoIterator<Item = S>) -> Self {
        Self { reads: paths.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Writes these paths.
    pub fn writes<S: Into<String>>(paths: impl IntoIterator<Item = S>) -> Self {
        Self { writes: paths.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Whether nothing is changed, run or reached.
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty() && self.commands.is_empty() && self.hosts.is_empty() && !self.writes_anything
    }

    /// Whether two calls with these effects must not run at the same time.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.disturbs(other) || other.disturbs(self)
    }

    /// Whether what this call writes is read or written by the other.
    fn disturbs(&self, other: &Self) -> bool {
        if self.writes_anything {
            return other.writes_anything || !other.reads.is_empty() || !other.writes.is_empty();
        }
        self.writes
            .iter()
            .any(|mine| other.reads.iter().chain(&other.writes).any(|theirs| overlap(mine, theirs)))
    }
}

/// Whether one path is the other, or lies below it.
fn overlap(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let short = short.trim_end_matches('/');
    short.is_empty()
        || short == "."
        || long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_overlap_by_component() {
        for (a, b, expected) in [
            ("a", "a", true),
            ("a", "a/b", true),
            ("a/b", "a", true),
            ("a", "ab", false),
            (".", "x", true),
            ("", "x/y", true),
            ("a/b", "a/c", false),
            ("a/", "a/b", true),
        ] {
            assert_eq!(overlap(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn readers_never_conflict_and_writers_do() {
        let read = Effects::reads(["a"]);
        let write = Effects::writes(["a/b"]);
        assert!(!read.conflicts(&read));
        assert!(read.conflicts(&write) && write.conflicts(&read) && write.conflicts(&write));
        assert!(!write.conflicts(&Effects::writes(["a/c"])));
        let all = Effects { writes_anything: true, ..Effects::default() };
        assert!(all.conflicts(&read) && all.conflicts(&all) && !all.conflicts(&Effects::none()));
    }
}
