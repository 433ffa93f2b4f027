//! One rule that somebody wrote down: checked with its own examples, matched against parts of a call.

use std::cell::OnceCell;
use std::fmt;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::Decision;
use super::mode::Part;
use super::pattern::{HostPattern, PathPattern, paths_in};
use super::words::{Pattern, arguments, joined, permits, readings, refuses, usual_name};
use crate::effects::{CommandEffect, Judgement};

/// Words of a command as they are written in a rule: a line to be split like a shell does, or a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`command` is text (\"cargo test\") or a list of words, each a word or a list of alternatives ([\"cargo\", [\"test\", \"check\"]])"
)]
pub enum WordsText {
    /// `"cargo test"`.
    Line(String),
    /// `["cargo", ["test", "check"]]`.
    List(Vec<WordText>),
}

/// One word of such a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WordText {
    /// This word.
    One(String),
    /// One of these.
    Any(Vec<String>),
}

/// Which use of a path a rule is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathAccess {
    /// Reading it.
    Read,
    /// Creating, changing or deleting it.
    #[default]
    Write,
}

/// A rule as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/permissions.md describes every key")]
pub struct RuleText {
    pub decision: Decision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<WordsText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<PathAccess>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<String>,
}

impl RuleText {
    /// A rule that says nothing yet but what it decides.
    pub fn new(decision: Decision) -> Self {
        Self {
            decision,
            tool: None,
            command: None,
            exact: None,
            glob: None,
            path: None,
            access: None,
            host: None,
            network: None,
            reason: None,
            matches: Vec::new(),
            not_match: Vec::new(),
        }
    }
}

/// A rule that has been checked.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it decides.
    pub decision: Decision,
    /// Why, in the words of its author.
    pub reason: Option<String>,
    /// Whether it also lets its commands reach the network.
    pub network: bool,
    shown: String,
    hash: String,
    tool: Option<GlobMatcher>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// The tool alone.
    Tool,
    Command {
        pattern: Pattern,
        exact: bool,
    },
    Glob {
        glob: GlobMatcher,
        open_ended: bool,
    },
    Path {
        pattern: Box<PathPattern>,
        access: PathAccess,
    },
    Host(HostPattern),
}

/// A part of a call, with what is worked out about it only once for all rules.
pub(super) struct Candidate<'a> {
    pub part: Part<'a>,
    readings: OnceCell<Vec<Vec<String>>>,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(part: Part<'a>) -> Self {
        Self { part, readings: OnceCell::new() }
    }

    pub(super) fn readings(&self, command: &CommandEffect) -> &[Vec<String>] {
        self.readings.get_or_init(|| readings(command))
    }
}

const MAX_REASON: usize = 500;

impl Rule {
    /// Checks a rule as it is written, with its examples.
    pub fn new(text: &RuleText) -> Result<Self, String> {
        let shown = shown(text)?;
        let tool = match &text.tool {
            Some(name) => Some(glob(name, "tool")?),
            None => None,
        };
        let is_command = text.command.is_some() || text.glob.is_some();
        let misplaced = [
            (text.access.is_some() && text.path.is_none(), "`access` belongs to `path`"),
            (text.network.is_some() && !is_command, "`network` belongs to `command` or `glob`"),
            (text.exact.is_some() && text.command.is_none(), "`exact` belongs to `command`"),
        ];
        if let Some((_, why)) = misplaced.iter().find(|(wrong, _)| *wrong) {
            return Err((*why).into());
        }
        if text.reason.as_ref().is_some_and(|reason| reason.chars().count() > MAX_REASON) {
            return Err(format!("`reason` is longer than {MAX_REASON} characters"));
        }
        let rule = Self {
            decision: text.decision,
            reason: text.reason.clone().filter(|reason| !reason.trim().is_empty()),
            network: text.network.unwrap_or(false),
            shown,
            hash: hash(text)?,
            tool,
            what: What::new(text)?,
        };
        rule.check_examples(text)?;
        Ok(rule)
    }

    /// What it is about, in a line: `command "git push"`.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether it decides the same about the same, whatever the reason.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.hash == other.hash
    }

    /// The hash of what it decides about what, however it is written and whatever the reason.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    fn check_examples(&self, text: &RuleText) -> Result<(), String> {
        for (examples, wanted) in [(&text.matches, true), (&text.not_match, false)] {
            for example in examples {
                if self.matches_example(example, text)? != wanted {
                    let verb = if wanted { "does not match" } else { "matches" };
                    return Err(format!("it {verb} its own example {example:?}"));
                }
            }
        }
        Ok(())
    }

    fn matches_example(&self, example: &str, text: &RuleText) -> Result<bool, String> {
        let words =
            || shlex::split(example).ok_or_else(|| format!("the example {example:?} is not a command"));
        let command;
        let part = match &self.what {
            What::Tool => return Ok(self.tool.as_ref().is_some_and(|tool| tool.is_match(example))),
            What::Command { .. } | What::Glob { .. } => {
                command = CommandEffect {
                    text: example.to_owned(),
                    words: words()?,
                    prefix: 0,
                    bare: true,
                    judgement: Judgement::Plain,
                };
                Part::Command(&command)
            }
            What::Path { .. } if text.access == Some(PathAccess::Read) => Part::Read(example),
            What::Path { .. } => Part::Write(example, None),
            What::Host(_) => Part::Host(example),
        };
        let candidate = Candidate::new(part);
        Ok(match self.decision {
            Decision::Allow => self.what.lifts(part, false),
            _ => self.what.refuses(&candidate),
        })
    }

    /// Whether it is about this tool.
    fn is_about(&self, tool: &str) -> bool {
        self.tool.as_ref().is_none_or(|pattern| pattern.is_match(tool))
    }

    /// Whether it is about a call of this tool as a whole, whatever it does.
    pub(super) fn refuses_tool(&self, tool: &str) -> bool {
        matches!(self.what, What::Tool) && self.is_about(tool)
    }

    /// Whether a part of a call is what this rule denies, or wants asked.
    pub(super) fn refuses(&self, tool: &str, candidate: &Candidate<'_>) -> bool {
        self.is_about(tool) && self.what.refuses(candidate)
    }

    /// Whether this rule answers the question about a part of a call.
    pub(super) fn lifts(&self, tool: &str, part: Part<'_>) -> bool {
        // What stands around the words, a rule about words says nothing of.
        let (bare, risky) = match part {
            Part::Command(command) => (command.bare, matches!(command.judgement, Judgement::Risky(_))),
            _ => (true, false),
        };
        bare && self.is_about(tool) && self.what.lifts(part, risky)
    }
}

impl What {
    fn new(text: &RuleText) -> Result<Self, String> {
        let allow = text.decision == Decision::Allow;
        if let Some(words) = &text.command {
            return Ok(Self::Command { pattern: pattern(words)?, exact: text.exact.unwrap_or(false) });
        }
        if let Some(line) = &text.glob {
            let program = line.split_whitespace().next().unwrap_or_default();
            if allow && program.contains(['*', '?', '[', '{']) {
                return Err(format!("`glob` {line:?} allows any program: name the program"));
            }
            return Ok(Self::Glob {
                glob: glob(line, "glob")?,
                open_ended: line.ends_with(['*', ']', '}', '?']),
            });
        }
        if let Some(path) = &text.path {
            return Ok(Self::Path {
                pattern: Box::new(PathPattern::new(path)?),
                access: text.access.unwrap_or_default(),
            });
        }
        if let Some(host) = &text.host {
            return Ok(Self::Host(HostPattern::new(host)?));
        }
        Ok(Self::Tool)
    }

    fn lifts(&self, part: Part<'_>, risky: bool) -> bool {
        match (self, part) {
            // What the tool changes; never commands and hosts, which have rules of their own.
            (Self::Tool, Part::Write(_, None) | Part::WriteAnything) => true,
            (Self::Command { pattern, exact }, Part::Command(command)) => {
                permits(pattern, &command.words, *exact || risky)
            }
            (Self::Glob { open_ended: true, .. }, Part::Command(_)) if risky => false,
            (Self::Glob { glob, .. }, Part::Command(command)) => {
                let Some((program, rest)) = command.words.split_first() else { return false };
                // A program with a space in its name could pass for another with arguments.
                if program.contains(char::is_whitespace) {
                    return false;
                }
                let usual = [usual_name(program)].into_iter().chain(rest.iter().map(String::as_str));
                glob.is_match(command.words.join(" ")) || glob.is_match(usual.collect::<Vec<_>>().join(" "))
            }
            (Self::Path { pattern, access: PathAccess::Write }, Part::Write(path, why)) => {
                // Like a risky command, a sensitive path is allowed only by its name.
                if why.is_some() { pattern.names(path) } else { pattern.permits(path) }
            }
            (Self::Host(pattern), Part::Host(host)) => pattern.matches(host),
            _ => false,
        }
    }

    fn refuses(&self, candidate: &Candidate<'_>) -> bool {
        match (self, candidate.part) {
            (Self::Command { pattern, exact }, Part::Command(command)) => {
                refuses(pattern, candidate.readings(command), *exact)
            }
            (Self::Glob { glob, .. }, Part::Command(command)) => {
                let readings = candidate.readings(command);
                readings.iter().flat_map(|words| joined(words)).any(|line| glob.is_match(line))
                    || glob.is_match(&command.text)
            }
            (Self::Path { pattern, access: PathAccess::Write }, Part::Write(path, _)) => {
                pattern.refuses(path) || pattern.refuses_below(path)
            }
            (Self::Path { pattern, access: PathAccess::Read }, Part::Read(path)) => pattern.refuses(path),
            (Self::Path { pattern, access }, Part::Command(command)) => {
                // What is proved to read only cannot write.
                let concerned = *access == PathAccess::Read || command.judgement != Judgement::Safe;
                let meant = |path: &String| {
                    pattern.refuses(path)
                        || (*access == PathAccess::Write && path != "." && pattern.refuses_below(path))
                };
                concerned && arguments(command).iter().any(|word| paths_in(word).iter().any(meant))
            }
            (Self::Host(pattern), Part::Host(host)) => pattern.matches(host),
            (Self::Host(pattern), Part::Command(command)) => {
                candidate.readings(command).iter().flatten().any(|word| pattern.within(word))
            }
            _ => false,
        }
    }
}

fn glob(text: &str, key: &str) -> Result<GlobMatcher, String> {
    if text.trim().is_empty() {
        return Err(format!("`{key}` is empty"));
    }
    let built = GlobBuilder::new(text).literal_separator(false).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| format!("`{key}` {text:?}: {}", error.kind()))
}

fn pattern(text: &WordsText) -> Result<Pattern, String> {
    let pattern: Pattern = match text {
        WordsText::Line(line) => {
            let words = split(line)?;
            if let Some(why) = syntax(line) {
                return Err(format!("`command` {line:?} would never match: {why}"));
            }
            if words.iter().any(|word| word == "*") {
                return Err(
                    "`command` is a prefix of words, without wildcards: leave the `*` out, or use `glob`"
                        .into(),
                );
            }
            words.into_iter().map(|word| vec![word]).collect()
        }
        WordsText::List(words) => words
            .iter()
            .map(|word| match word {
                WordText::One(word) => vec![word.clone()],
                WordText::Any(words) => words.clone(),
            })
            .collect(),
    };
    let program = pattern.first().is_some_and(|names| names.iter().all(|name| !name.trim().is_empty()));
    if !program || pattern.iter().any(Vec::is_empty) {
        return Err("`command` is empty".into());
    }
    Ok(pattern)
}

fn split(line: &str) -> Result<Vec<String>, String> {
    shlex::split(line).ok_or_else(|| format!("`command` {line:?}: a quote is not closed"))
}

/// What in a line is the shell's and not part of a command's words.
fn syntax(line: &str) -> Option<String> {
    let mut quote = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                rest.next();
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (Some('\''), _) => {}
            (_, '`') => return Some("what stands in backticks only running it would tell".into()),
            (_, '$') if rest.peek() == Some(&'(') => {
                return Some("what `$(…)` stands for only running it would tell".into());
            }
            (None, ';' | '&' | '|' | '\n') => {
                let c = if c == '\n' { "a line break".to_owned() } else { format!("`{c}`") };
                return Some(format!("{c} joins commands, and a rule is about one: write a rule for each"));
            }
            (None, '<' | '>' | '(' | ')') => {
                return Some(format!("`{c}` is not one of a command's words; a word like that is quoted"));
            }
            _ => {}
        }
    }
    None
}

fn hash(text: &RuleText) -> Result<String, String> {
    let words = match &text.command {
        Some(WordsText::Line(line)) => {
            Some(WordsText::List(split(line)?.into_iter().map(WordText::One).collect()))
        }
        words => words.clone(),
    };
    let essence = RuleText {
        command: words,
        exact: text.exact.filter(|exact| *exact),
        network: text.network.filter(|network| *network),
        reason: None,
        matches: Vec::new(),
        not_match: Vec::new(),
        ..text.clone()
    };
    let bytes = serde_json::to_vec(&essence).map_err(|error| error.to_string())?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

/// What a rule is about, in a line; an error unless it is about exactly one thing.
fn shown(text: &RuleText) -> Result<String, String> {
    let command = text.command.as_ref().map(|words| match words {
        WordsText::Line(line) => line.clone(),
        WordsText::List(words) => words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    });
    let exact = if text.exact == Some(true) { "exact command" } else { "command" };
    let path = if text.access == Some(PathAccess::Read) { "reading" } else { "path" };
    let about = [(exact, &command), ("glob", &text.glob), (path, &text.path), ("host", &text.host)];
    let mut about = about.iter().filter_map(|(key, value)| Some(format!("{key} {:?}", value.as_ref()?)));
    let (first, second) = (about.next(), about.next());
    let tool = text.tool.as_ref().map(|tool| format!("tool {tool:?}"));
    match (first, second, tool) {
        (_, Some(_), _) => Err("one rule takes one of `command`, `glob`, `path` and `host`".into()),
        (None, None, None) => Err("it needs one of `command`, `glob`, `path`, `host` and `tool`".into()),
        (Some(what), None, Some(tool)) => Ok(format!("{what}, {tool}")),
        (Some(what), None, None) => Ok(what),
        (None, None, Some(tool)) => Ok(tool),
    }
}

impl fmt::Display for WordText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |word: &str| shlex::try_quote(word).map_or_else(|_| word.to_owned(), Into::into);
        match self {
            Self::One(word) => f.write_str(&quoted(word)),
            Self::Any(words) => {
                write!(f, "({})", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join("|"))
            }
        }
    }
}
