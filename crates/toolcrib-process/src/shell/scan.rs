//! A search of raw text for what is forbidden, for texts that do not parse: words between anything that could separate
//! commands, quotes dropped.

use super::paths::{Place, is_glob, normalise, place};
use super::run::{Flow, Run};
use super::simple::Io;
use super::word::Word;
use super::{Judgement, Surroundings};
use std::path::Path;

/// How much of a text is searched, in bytes, and how many pieces of it.
const SEARCHED: usize = 64 * 1024;
const PIECES: usize = 1000;
/// The longest piece that could be a command worth a look, in words.
const WORDS: usize = 64;

/// Why the text is forbidden, if something forbidden is in plain sight.
pub(super) fn forbidden(text: &str, at: &Surroundings, cwd: Option<&Path>) -> Option<String> {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= SEARCHED).last().unwrap_or(0);
    let text = if text.len() <= SEARCHED { text } else { text.get(..end).unwrap_or_default() };
    let home = at.home.as_ref().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
    let text = text.replace("${HOME}", &home).replace("$HOME", &home);
    if let Some(reason) = redirected(&text, at) {
        return Some(reason);
    }
    let separators: &[char] = &[';', '&', '|', '\n', '\r', '(', ')', '{', '}', '`'];
    let with_quotes: &[char] = &[';', '&', '|', '\n', '\r', '(', ')', '{', '}', '`', '\'', '"', '='];
    let mut left = PIECES;
    for cut in [separators, with_quotes] {
        for piece in text.split(cut) {
            left = left.checked_sub(1)?;
            if let Some(reason) = piece_forbidden(piece, at, cwd, &home) {
                return Some(reason);
            }
        }
    }
    None
}

/// A redirection to a place that must not be written.
fn redirected(text: &str, at: &Surroundings) -> Option<String> {
    text.split('>').skip(1).take(PIECES).find_map(|rest| {
        let rest = rest.trim_start_matches(['|', '&', ' ', '\t', '"', '\'']);
        let end = rest.find(|c: char| c.is_whitespace() || ";|&<()'\"`".contains(c)).unwrap_or(rest.len());
        let target = rest.get(..end).filter(|target| target.starts_with('/'))?;
        match place(&normalise(Path::new(target)), at) {
            Place::Device => Some("writes to a raw device".to_owned()),
            Place::Accounts => Some("changes the machine's accounts or rights".to_owned()),
            _ => None,
        }
    })
}

fn piece_forbidden(piece: &str, at: &Surroundings, cwd: Option<&Path>, home: &str) -> Option<String> {
    let mut words: Vec<Word> = Vec::new();
    for raw in piece.split_whitespace().take(WORDS) {
        let text = raw.replace(['\'', '"', '\\'], "");
        let text = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
            _ => text,
        };
        words.push(Word {
            glob: is_glob(&text),
            known: !text.contains('$'),
            literal: false,
            source: raw.to_owned(),
            text,
        });
    }
    // Keywords and assignments before the command do not change it.
    let first = words.iter().position(|word| !is_leading(&word.text))?;
    let words = words.split_off(first);
    let mut run = Run::new(at).scanning();
    if let Some(cwd) = cwd {
        run.scope.cwds = vec![cwd.to_owned()];
    }
    run.command(words, &Io::default(), piece, &Flow::new());
    match run.finish().judgement() {
        Judgement::Forbidden(reason) => Some(reason.clone()),
        _ => None,
    }
}

fn is_leading(word: &str) -> bool {
    matches!(word, "if" | "then" | "else" | "do" | "while" | "until" | "!" | "time" | "$" | "")
}

/// A word as a shell would need it written, for people.
pub(super) fn shown_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
