//! Lines of code with the insides of strings and comments taken out.

use super::super::language::{Language, Syntax};

/// A line of a source file.
#[derive(Debug)]
pub(super) struct Line<'t> {
    /// As it stands in the file.
    pub(super) raw: &'t str,
    /// Without comments; strings are empty.
    pub(super) code: String,
    /// Whether it begins inside a string or comment, so that its indentation means nothing.
    pub(super) inside: bool,
}

impl Line<'_> {
    /// The code without white space around it.
    pub(super) fn trimmed(&self) -> &str {
        self.code.trim()
    }

    pub(super) fn indented(&self) -> bool {
        self.raw.starts_with([' ', '\t'])
    }
}

/// The lines of a file, and how its strings are quoted: by which quote, and whether there was a choice.
pub(super) struct Lexed<'t> {
    pub(super) lines: Vec<Line<'t>>,
    /// Strings that could as well have had the other quote, by quote.
    pub(super) single: usize,
    pub(super) double: usize,
}

enum State {
    Code,
    Block(usize),
    Text { quote: char, triple: bool, hashes: Option<usize>, other: bool },
}

struct Lexer<'s> {
    syntax: &'s Syntax,
    rust: bool,
    /// Strings in quotes may go on over lines.
    multiline: bool,
    state: State,
    single: usize,
    double: usize,
}

/// Takes a file apart.
pub(super) fn lex<'t>(language: &Language, text: &'t str) -> Lexed<'t> {
    let rust = language.name == "Rust";
    let mut lexer = Lexer {
        syntax: &language.syntax,
        rust,
        multiline: rust || matches!(language.name, "Ruby" | "Shell" | "PHP" | "Elixir"),
        state: State::Code,
        single: 0,
        double: 0,
    };
    let lines = text.lines().map(|raw| {
        let inside = !matches!(lexer.state, State::Code);
        Line { raw, code: lexer.line(raw), inside }
    });
    let lines = lines.collect();
    Lexed { lines, single: lexer.single, double: lexer.double }
}

impl Lexer<'_> {
    fn line(&mut self, raw: &str) -> String {
        let mut code = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(first) = rest.chars().next() {
            let taken = match self.state {
                State::Code => match self.code(rest, first, &mut code) {
                    Some(taken) => taken,
                    None => break,
                },
                State::Block(depth) => self.block(rest, first, depth),
                State::Text { .. } => self.string(rest, first, &mut code),
            };
            rest = rest.get(taken.max(1)..).unwrap_or_default();
        }
        if let State::Text { quote, triple: false, hashes: None, .. } = self.state
            && quote != '`'
            && !self.multiline
        {
            // A quote that does not end on its line was none.
            self.state = State::Code;
        }
        code
    }

    /// One step in code; none at a comment to the end of the line.
    fn code(&mut self, rest: &str, first: char, code: &mut String) -> Option<usize> {
        // Most of a line is none of these: take it as a whole.
        let plain = rest.find(|c: char| {
            !(c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '(' | ')' | ',' | '.' | ';' | ':' | '='))
        });
        let plain = plain.unwrap_or(rest.len());
        if plain > 1 && !(self.rust && first == 'r') && !self.syntax.line.contains(&";") {
            let mut end = plain;
            // A raw string begins with a letter.
            if self.rust && rest.get(..plain).is_some_and(|text| text.ends_with('r')) {
                end -= 1;
            }
            code.push_str(rest.get(..end).unwrap_or_default());
            return Some(end);
        }
        if self.syntax.line.iter().any(|mark| rest.starts_with(mark)) {
            return None;
        }
        if let Some((open, _)) = self.syntax.block.filter(|(open, _)| rest.starts_with(open)) {
            self.state = State::Block(1);
            return Some(open.len());
        }
        if self.rust {
            if let Some(taken) = raw_string(rest).filter(|_| !code.ends_with(is_word)) {
                self.state = State::Text { quote: '"', triple: false, hashes: Some(taken - 2), other: true };
                code.push('"');
                return Some(taken);
            }
            if first == '\'' {
                code.push('\'');
                return Some(char_literal(rest));
            }
        }
        if self.syntax.quotes.contains(&first) {
            let triple = self.syntax.triple
                && rest.starts_with([first, first, first].iter().collect::<String>().as_str());
            self.state = State::Text { quote: first, triple, hashes: None, other: false };
            code.push(first);
            return Some(if triple { 3 } else { 1 });
        }
        code.push(first);
        Some(first.len_utf8())
    }

    fn block(&mut self, rest: &str, first: char, depth: usize) -> usize {
        let Some((open, close)) = self.syntax.block else { return first.len_utf8() };
        if rest.starts_with(close) {
            self.state = if depth <= 1 { State::Code } else { State::Block(depth - 1) };
            return close.len();
        }
        if self.rust && rest.starts_with(open) {
            self.state = State::Block(depth + 1);
            return open.len();
        }
        first.len_utf8()
    }

    fn string(&mut self, rest: &str, first: char, code: &mut String) -> usize {
        let State::Text { quote, triple, hashes, other } = &mut self.state else { return first.len_utf8() };
        if first == '\\' && hashes.is_none() {
            *other = true;
            return 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
        }
        *other |= matches!(first, '"' | '\'') && first != *quote;
        if first != *quote {
            return first.len_utf8();
        }
        let closing = match (*triple, *hashes) {
            (true, _) => [*quote; 3].iter().collect(),
            (_, Some(hashes)) => format!("\"{}", "#".repeat(hashes)),
            _ => quote.to_string(),
        };
        if !rest.starts_with(&closing) {
            return first.len_utf8();
        }
        if !*other && !*triple {
            self.single += usize::from(*quote == '\'');
            self.double += usize::from(*quote == '"');
        }
        code.push(*quote);
        self.state = State::Code;
        closing.len()
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of `r#"`, if that is what the text begins with.
fn raw_string(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('r')?;
    let hashes = rest.chars().take_while(|c| *c == '#').count();
    rest.get(hashes..)?.starts_with('"').then_some(hashes + 2)
}

/// How long a character literal is; 1 for a lifetime.
fn char_literal(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some(_)) => {
            text.char_indices().skip(3).find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::language::named;
    use super::*;

    fn code(language: &str, text: &str) -> Vec<String> {
        lex(named(language).unwrap(), text).lines.into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn strings_and_comments_are_taken_out() {
        assert_eq!(
            code(
                "Rust",
                "let a = \"fn x // y\"; // fn z\nlet b: &'a str = r#\"a\"b\"#; '\"'\n/* a /* b */ fn */ let c"
            ),
            ["let a = \"\"; ", "let b: &'a str = \"\"; '", " let c"]
        );
        assert_eq!(code("Python", "x = '''def a\ndef b\n''' + 'c' # d"), ["x = '", "", "' + '' "]);
        assert_eq!(code("JavaScript", "a = `x\n${y}` + 'z'\nb = /'/\nc"), ["a = `", "` + ''", "b = /'", "c"]);
        let lexed = lex(named("TypeScript").unwrap(), "f('a', 'b', \"it's\", \"c\")");
        assert_eq!((lexed.single, lexed.double), (2, 1), "a string with the other quote had no choice");
    }
}
