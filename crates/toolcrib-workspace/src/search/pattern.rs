//! From what a caller asked for to a matcher, with errors that say what to write instead.

use grep_matcher::LineTerminator;
use grep_regex::{ErrorKind as RegexErrorKind, RegexMatcher, RegexMatcherBuilder};
use ignore::types::{Types, TypesBuilder};

use super::grep::GrepOptions;
use crate::error::{Error, ErrorKind, Result};

/// Longer patterns are refused.
const MAX_PATTERN: usize = 10_000;
/// What a pattern may compile to. Low enough that a hostile one is refused in milliseconds, as compiling stops there.
const SIZE_LIMIT: usize = 8 << 20;
/// What one thread's lazily built automaton may take.
const DFA_LIMIT: usize = 32 << 20;

/// Longer explanations lose their quotation.
const MAX_QUOTED: usize = 1_000;

/// Names that models use for types which ripgrep calls otherwise.
const TYPE_ALIASES: [(&str, &str); 13] = [
    ("bash", "sh"),
    ("c++", "cpp"),
    ("golang", "go"),
    ("javascript", "js"),
    ("jsx", "js"),
    ("kt", "kotlin"),
    ("plaintext", "txt"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("shell", "sh"),
    ("text", "txt"),
    ("tsx", "ts"),
    ("yml", "yaml"),
];

/// A compiled pattern.
#[derive(Clone)]
pub(super) struct Pattern {
    pub(super) matcher: RegexMatcher,
    /// With `\r\n`, `$` also matches before the `\r`; that can't be had for a pattern which itself asks for a `\r`.
    pub(super) line_end: LineTerminator,
}

impl Pattern {
    pub(super) fn new(options: &GrepOptions) -> Result<Self> {
        let pattern = options.pattern.as_str();
        if pattern.is_empty() {
            return Err(invalid("the pattern is empty; use glob to list files"));
        }
        if pattern.len() > MAX_PATTERN {
            let message =
                format!("the pattern has {} bytes, at most {MAX_PATTERN} are allowed", pattern.len());
            return Err(invalid(message));
        }
        if options.literal && !options.multiline && pattern.contains('\n') {
            return Err(needs_multiline());
        }
        match build(options, true) {
            Ok(matcher) => Ok(Self { matcher, line_end: LineTerminator::crlf() }),
            Err(error) if pattern.contains(['\r', '\\']) && is_not_allowed(&error) => build(options, false)
                .map(|matcher| Self { matcher, line_end: LineTerminator::byte(b'\n') })
                .map_err(|error| explain(&error, options)),
            Err(error) => Err(explain(&error, options)),
        }
    }
}

fn build(options: &GrepOptions, crlf: bool) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(options.ignore_case)
        .word(options.word)
        .fixed_strings(options.literal)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(DFA_LIMIT)
        .crlf(crlf);
    if options.multiline {
        builder.line_terminator(None);
    } else if !crlf {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&options.pattern)
}

fn is_not_allowed(error: &grep_regex::Error) -> bool {
    matches!(error.kind(), RegexErrorKind::NotAllowed(_))
}

fn explain(error: &grep_regex::Error, options: &GrepOptions) -> Error {
    if is_not_allowed(error) && !options.multiline {
        return needs_multiline();
    }
    let text = error.to_string();
    let hint = if text.contains("look-around") {
        "Look-around is not supported: search for the part without it, or filter the matches."
    } else if text.contains("backreferences") {
        "Backreferences are not supported: write the repeated text out."
    } else if text.contains("size limit") {
        "Use smaller repetition counts."
    } else {
        "Set literal to search for the text as it is."
    };
    // The explanation quotes the pattern, which its author knows; of a long one only the reason is worth repeating.
    let reason =
        if text.len() > MAX_QUOTED { text.rsplit("error: ").next().unwrap_or_default() } else { &text };
    invalid(format!("{}\n{hint}", reason.trim_end()))
}

fn needs_multiline() -> Error {
    invalid(
        "the pattern contains a line break, which no single line has; set multiline to match across lines",
    )
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidPattern, message)
}

/// The file types asked for, or `None` if none are.
pub(super) fn file_types(names: &[String]) -> Result<Option<Types>> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in names {
        let (negated, plain) = match name.strip_prefix('!') {
            Some(plain) => (true, plain),
            None => (false, name.as_str()),
        };
        let plain = plain.trim_start_matches('.').to_lowercase();
        let alias = TYPE_ALIASES.iter().find(|(alias, _)| *alias == plain).map(|(_, name)| *name);
        let known = alias.unwrap_or(&plain);
        if builder.definitions().iter().all(|definition| definition.name() != known) || known == "all" {
            return Err(unknown_type(name));
        }
        if negated {
            builder.negate(known);
        } else {
            builder.select(known);
        }
    }
    builder.build().map(Some).map_err(|error| invalid(error.to_string()))
}

fn unknown_type(name: &str) -> Error {
    let mut near: Vec<(f64, String)> =
        type_names().into_iter().map(|known| (strsim::jaro_winkler(name, &known), known)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let near: Vec<String> = near.into_iter().take(5).map(|(_, known)| known).collect();
    invalid(format!("there is no file type {name:?}; near it are {}", near.join(", "))).with_near(near)
}

/// All names of file types.
pub fn type_names() -> Vec<String> {
    let definitions = TypesBuilder::new().add_defaults().definitions();
    definitions.iter().map(|definition| definition.name().to_owned()).collect()
}
