//! The options and operands of a program, read leniently: GNU's abbreviations and clusters count, in any order.

use super::word::Word;

/// Whether a table, words with spaces between, has this one.
pub(super) fn listed(table: &str, word: &str) -> bool {
    table.split_ascii_whitespace().any(|listed| listed == word)
}

/// What follows the program's name.
#[derive(Clone, Copy)]
pub(super) struct Args<'a>(pub(super) &'a [Word]);

impl<'a> Args<'a> {
    /// The words before `--`.
    fn optional(self) -> impl Iterator<Item = &'a Word> {
        self.0.iter().take_while(|word| word.text != "--")
    }

    /// Whether one of these letters is given as a short option, alone or in a cluster.
    pub(super) fn short(self, letters: &str) -> bool {
        self.optional().any(|word| {
            word.text
                .strip_prefix('-')
                .is_some_and(|rest| !rest.starts_with('-') && rest.contains(|c| letters.contains(c)))
        })
    }

    /// Whether this long option is given, in full or abbreviated, with or without a value.
    pub(super) fn long(self, name: &str) -> bool {
        self.optional().any(|word| {
            word.text.strip_prefix("--").is_some_and(|rest| {
                let given = rest.split('=').next().unwrap_or(rest);
                !given.is_empty() && (name.starts_with(given))
            })
        })
    }

    /// Whether a word is exactly one of these.
    pub(super) fn any(self, words: &[&str]) -> bool {
        self.0.iter().any(|word| words.contains(&word.text.as_str()))
    }

    /// Whether a word begins with one of these.
    pub(super) fn begins(self, starts: &[&str]) -> bool {
        self.0.iter().any(|word| starts.iter().any(|start| word.text.starts_with(start)))
    }

    /// The words that are no options; all of those behind `--`.
    pub(super) fn operands(self) -> Vec<&'a Word> {
        let mut rest = false;
        self.0
            .iter()
            .filter(|word| {
                if rest {
                    return true;
                }
                rest = word.text == "--";
                !rest && !word.is_option()
            })
            .collect()
    }

    /// The operands, where these short and long options take the next word as their value.
    pub(super) fn operands_but(self, takes: &[&str]) -> Vec<&'a Word> {
        let mut out = Vec::new();
        let mut words = self.0.iter();
        while let Some(word) = words.next() {
            if word.text == "--" {
                out.extend(words);
                break;
            }
            if takes.contains(&word.text.as_str()) {
                words.next();
            } else if !word.is_option() {
                out.push(word);
            }
        }
        out
    }

    /// The values of an option given as `-o v`, `-ov`, `--long v` or `--long=v`.
    pub(super) fn values(self, short: &str, long: &str) -> Vec<Word> {
        let mut out = Vec::new();
        let mut words = self.0.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let part = |rest: &str| Word { text: rest.to_owned(), ..word.clone() };
            if !short.is_empty() && text == short || !long.is_empty() && text == long {
                out.extend(words.next().cloned());
            } else if let Some(rest) = text.strip_prefix(long).and_then(|rest| rest.strip_prefix('='))
                && !long.is_empty()
            {
                out.push(part(rest));
            } else if let Some(rest) = text.strip_prefix(short)
                && !short.is_empty()
                && !rest.is_empty()
                && !short.starts_with("--")
            {
                out.push(part(rest));
            }
        }
        out
    }

    /// Whether any word is only known by running.
    pub(super) fn unknown(self) -> bool {
        self.0.iter().any(|word| !word.known)
    }
}
