//! One word of a command, as bash would read it: quotes undone, braces and tildes expanded, known variables filled in.
//!
//! The tree says where a word begins and ends and where its expansions are; how quotes work is read here, by bash's own
//! rules, because the tree keeps quotes as written.

use std::ops::Range;

/// How many words one word may expand to before it counts as unknown.
const MOST: usize = 64;
/// How many words a brace range may make before running it is a matter of its own.
const FLOOD: u64 = 100_000;
/// How many braces one word may have: each may double the words it makes.
const DEEPEST: usize = 16;
/// What stands for a part that only running would tell.
pub(super) const HOLE: char = '\u{fffc}';

/// One word after expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its value; [`HOLE`] stands for what is not known.
    pub(super) text: String,
    /// Whether all of it is known.
    pub(super) known: bool,
    /// Whether it was spelled out, without any expansion but a leading tilde.
    pub(super) literal: bool,
    /// Whether it has an unquoted glob character.
    pub(super) glob: bool,
    /// As written.
    pub(super) source: String,
}

impl Word {
    /// A word that is exactly this.
    pub(super) fn exact(text: &str) -> Self {
        Self { text: text.to_owned(), known: true, literal: true, glob: false, source: text.to_owned() }
    }

    /// A word of which nothing is known.
    pub(super) fn unknown(source: &str) -> Self {
        Self { text: HOLE.to_string(), known: false, literal: false, glob: false, source: source.to_owned() }
    }

    /// The value, if all of it is known.
    pub(super) fn value(&self) -> Option<&str> {
        self.known.then_some(self.text.as_str())
    }

    /// Whether it could be read as an option.
    pub(super) fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text.len() > 1
    }
}

/// One character or gap of a word, before expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Glyph {
    Char {
        c: char,
        quoted: bool,
    },
    /// An expansion with the values it may have; `None` among them: anything.
    Gap {
        values: Vec<Option<String>>,
        quoted: bool,
    },
    /// Where an unquoted value splits into two words.
    Split,
}

/// An expansion in a word, as the tree and the scope know it.
pub(super) struct Gap {
    /// Where it is, in bytes of the word's source.
    pub(super) range: Range<usize>,
    /// What it may be; `None`: anything.
    pub(super) values: Vec<Option<String>>,
}

/// What a word turned into.
pub(super) struct Expanded {
    pub(super) words: Vec<Word>,
    /// The word is not what bash would make of it: the tree and the quotes disagree.
    pub(super) odd: bool,
    /// It would expand to more words than anyone wants.
    pub(super) flood: bool,
}

/// Expands a word; `tilde` turns what follows a leading tilde into a directory.
pub(super) fn expand(source: &str, gaps: &[Gap], tilde: &dyn Fn(&str) -> Option<String>) -> Expanded {
    let mut lexer = Lexer { rest: source, at: 0, glyphs: Vec::new(), odd: false };
    lexer.run(gaps);
    let odd = lexer.odd;
    let literal = gaps.is_empty();
    let mut flood = false;
    let mut braced = Vec::new();
    let fits = braces(lexer.glyphs, &mut braced, 0, &mut flood);
    let plain = literal && braced.len() == 1;
    let mut words = Vec::new();
    let fits = fits && braced.into_iter().all(|one| fill(with_tilde(one, tilde), source, plain, &mut words));
    if !fits {
        words = vec![Word::unknown(source)];
    }
    Expanded { words, odd, flood }
}

struct Lexer<'a> {
    rest: &'a str,
    at: usize,
    glyphs: Vec<Glyph>,
    odd: bool,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        self.at += c.len_utf8();
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn push(&mut self, c: char, quoted: bool) {
        self.glyphs.push(Glyph::Char { c, quoted });
    }

    /// Steps over an expansion that begins here.
    fn gap(&mut self, gaps: &[Gap], quoted: bool) -> bool {
        let Some(gap) = gaps.iter().find(|gap| gap.range.start == self.at) else { return false };
        let length = gap.range.end.saturating_sub(self.at);
        let Some(rest) = self.rest.get(length..).filter(|_| length > 0) else { return false };
        self.rest = rest;
        self.at = gap.range.end;
        self.glyphs.push(Glyph::Gap { values: gap.values.clone(), quoted });
        true
    }

    fn run(&mut self, gaps: &[Gap]) {
        while self.peek().is_some() {
            if self.gap(gaps, false) {
                continue;
            }
            match self.next() {
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c) => self.push(c, true),
                    None => self.push('\\', true),
                },
                Some('\'') => self.single(),
                Some('"') => self.double(gaps),
                Some('$') if self.peek() == Some('\'') => {
                    self.next();
                    self.ansi();
                }
                Some('$') if self.peek() == Some('"') => {}
                Some('$') => {
                    let expands = |c: char| c.is_alphanumeric() || "_({@*#?-$!".contains(c);
                    self.odd |= self.peek().is_some_and(expands);
                    self.push('$', false);
                }
                Some(c) => {
                    self.odd |=
                        matches!(c, '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')') || c.is_whitespace();
                    self.push(c, false);
                }
                None => {}
            }
        }
    }

    fn single(&mut self) {
        // An empty pair of quotes still makes a word.
        self.glyphs.push(Glyph::Gap { values: vec![Some(String::new())], quoted: true });
        loop {
            match self.next() {
                Some('\'') => return,
                Some(c) => self.push(c, true),
                None => {
                    self.odd = true;
                    return;
                }
            }
        }
    }

    fn double(&mut self, gaps: &[Gap]) {
        self.glyphs.push(Glyph::Gap { values: vec![Some(String::new())], quoted: true });
        loop {
            if self.gap(gaps, true) {
                continue;
            }
            match self.next() {
                Some('"') => return,
                Some('\\') => match self.peek() {
                    Some('\n') => {
                        self.next();
                    }
                    Some(c @ ('"' | '\\' | '$' | '`')) => {
                        self.next();
                        self.push(c, true);
                    }
                    _ => self.push('\\', true),
                },
                Some(c) => {
                    let expands = |c: char| c.is_alphanumeric() || "_({@*#?-$!".contains(c);
                    self.odd |= c == '`' || (c == '$' && self.peek().is_some_and(expands));
                    self.push(c, true);
                }
                None => {
                    self.odd = true;
                    return;
                }
            }
        }
    }

    /// `$'…'`, with its escapes.
    fn ansi(&mut self) {
        self.glyphs.push(Glyph::Gap { values: vec![Some(String::new())], quoted: true });
        loop {
            match self.next() {
                Some('\'') => return,
                Some('\\') => self.ansi_escape(),
                Some(c) => self.push(c, true),
                None => {
                    self.odd = true;
                    return;
                }
            }
        }
    }

    fn ansi_escape(&mut self) {
        let c = match self.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('e' | 'E') => '\u{1b}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('x') => self.number(16, 2, 0),
            Some('u') => self.number(16, 4, 0),
            Some('U') => self.number(16, 8, 0),
            Some('c') => self.next().map_or('\\', |c| char::from(u8::try_from(c).unwrap_or(0) & 0x1f)),
            Some(c) => match c.to_digit(8) {
                Some(first) => self.number(8, 2, first),
                None => c,
            },
            None => '\\',
        };
        self.push(c, true);
    }

    fn number(&mut self, radix: u32, most: usize, first: u32) -> char {
        let mut value = first;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.next();
        }
        char::from_u32(value).unwrap_or(HOLE)
    }
}

/// The glyphs with a leading unquoted `~` or `~name` as its directory.
fn with_tilde(glyphs: Vec<Glyph>, tilde: &dyn Fn(&str) -> Option<String>) -> Vec<Glyph> {
    if !matches!(glyphs.first(), Some(Glyph::Char { c: '~', quoted: false })) {
        return glyphs;
    }
    let end =
        glyphs.iter().position(|glyph| matches!(glyph, Glyph::Char { c: '/', .. })).unwrap_or(glyphs.len());
    let mut name = String::new();
    for glyph in glyphs.iter().take(end).skip(1) {
        match glyph {
            Glyph::Char { c, quoted: false } => name.push(*c),
            _ => return glyphs,
        }
    }
    let value = tilde(&name);
    let rest = glyphs.into_iter().skip(end);
    match value {
        Some(value) => value.chars().map(|c| Glyph::Char { c, quoted: true }).chain(rest).collect(),
        None => std::iter::once(Glyph::Gap { values: vec![None], quoted: true }).chain(rest).collect(),
    }
}

/// Expands the first braces that do something, and what follows. False when there would be too many words.
fn braces(glyphs: Vec<Glyph>, out: &mut Vec<Vec<Glyph>>, depth: usize, flood: &mut bool) -> bool {
    let Some((open, close, commas)) = first_braces(&glyphs) else {
        out.push(glyphs);
        return out.len() <= MOST;
    };
    let inner: Vec<Glyph> = glyphs.iter().take(close).skip(open + 1).cloned().collect();
    let choices = if commas.is_empty() {
        match range(&inner, flood) {
            Some(values) => values,
            None => return false,
        }
    } else {
        let mut choices = Vec::new();
        let mut start = 0;
        for comma in commas.iter().map(|at| at - open - 1).chain([inner.len()]) {
            choices.push(inner.iter().take(comma).skip(start).cloned().collect::<Vec<_>>());
            start = comma + 1;
        }
        choices
    };
    if depth > DEEPEST {
        *flood = true;
        return false;
    }
    choices.into_iter().all(|choice| {
        let before = glyphs.iter().take(open).cloned();
        let after = glyphs.iter().skip(close + 1).cloned();
        braces(before.chain(choice).chain(after).collect(), out, depth + 1, flood)
    })
}

/// The first unquoted `{…}` with a comma or a range in it, and where its own commas are.
fn first_braces(glyphs: &[Glyph]) -> Option<(usize, usize, Vec<usize>)> {
    let mut open: Vec<(usize, Vec<usize>, bool)> = Vec::new();
    let mut found: Option<(usize, usize, Vec<usize>)> = None;
    let mut dot = false;
    for (at, glyph) in glyphs.iter().enumerate() {
        let Glyph::Char { c, quoted: false } = glyph else {
            dot = false;
            continue;
        };
        match c {
            '{' => open.push((at, Vec::new(), false)),
            ',' => {
                if let Some((_, commas, _)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '.' if dot => {
                if let Some((_, _, range)) = open.last_mut() {
                    *range = true;
                }
            }
            '}' => {
                if let Some((start, commas, range)) = open.pop()
                    && (!commas.is_empty() || range)
                    && found.as_ref().is_none_or(|(first, _, _)| start < *first)
                {
                    found = Some((start, at, commas));
                }
            }
            _ => {}
        }
        dot = *c == '.';
    }
    found
}

/// `1..3`, `a..e`: its values; `None` when there are too many.
fn range(inner: &[Glyph], flood: &mut bool) -> Option<Vec<Vec<Glyph>>> {
    let text: String = inner
        .iter()
        .map(|glyph| match glyph {
            Glyph::Char { c, .. } => *c,
            Glyph::Gap { .. } | Glyph::Split => HOLE,
        })
        .collect();
    let mut ends = text.split("..");
    let (first, last) = (ends.next()?, ends.next()?);
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let count = first.abs_diff(last);
        *flood |= count >= FLOOD;
        if count >= MOST as u64 {
            return None;
        }
        let (low, high) = (first.min(last), first.max(last));
        return Some((low..=high).map(|n| quoted(&n.to_string())).collect());
    }
    match (first.chars().next(), last.chars().next(), first.chars().count(), last.chars().count()) {
        (Some(first), Some(last), 1, 1) => {
            Some((first.min(last)..=first.max(last)).take(MOST).map(|c| quoted(&c.to_string())).collect())
        }
        // No range after all: bash leaves it as it is.
        _ => Some(vec![quoted(&format!("{{{text}}}"))]),
    }
}

fn quoted(text: &str) -> Vec<Glyph> {
    text.chars().map(|c| Glyph::Char { c, quoted: true }).collect()
}

/// Fills in the expansions, in every combination, and splits. False when there would be too many words.
fn fill(glyphs: Vec<Glyph>, source: &str, literal: bool, words: &mut Vec<Word>) -> bool {
    let mut all: Vec<Vec<Glyph>> = vec![Vec::new()];
    for glyph in glyphs {
        let choices: Vec<Vec<Glyph>> = match &glyph {
            Glyph::Gap { values, quoted } => {
                values.iter().map(|value| filled(value.as_deref(), *quoted)).collect()
            }
            _ => vec![vec![glyph]],
        };
        if let [only] = choices.as_slice() {
            all.iter_mut().for_each(|one| one.extend(only.iter().cloned()));
            continue;
        }
        let mut next = Vec::new();
        for choice in &choices {
            for one in &all {
                next.push(one.iter().chain(choice).cloned().collect());
                if next.len() > MOST {
                    return false;
                }
            }
        }
        all = next;
    }
    for one in all {
        for part in one.split(|glyph| *glyph == Glyph::Split) {
            if !part.is_empty() {
                words.push(word(part, source, literal));
            }
        }
    }
    words.len() <= MOST
}

/// What an expansion puts in; an empty gap stays, to keep the empty word that quotes make.
fn filled(value: Option<&str>, quoted: bool) -> Vec<Glyph> {
    match value {
        None => vec![Glyph::Gap { values: Vec::new(), quoted }],
        Some("") if quoted => vec![Glyph::Char { c: '\0', quoted: true }],
        Some(value) if quoted => value.chars().map(|c| Glyph::Char { c, quoted: false }).collect(),
        Some(value) => value
            .chars()
            .map(|c| if c.is_whitespace() { Glyph::Split } else { Glyph::Char { c, quoted: false } })
            .collect(),
    }
}

fn word(glyphs: &[Glyph], source: &str, literal: bool) -> Word {
    let mut word = Word { known: true, literal, source: source.to_owned(), ..Word::default() };
    for glyph in glyphs {
        match glyph {
            Glyph::Char { c: '\0', .. } => {}
            Glyph::Char { c, quoted } => {
                word.glob |= !quoted && matches!(c, '*' | '?' | '[');
                word.known &= *c != HOLE;
                word.text.push(*c);
            }
            Glyph::Gap { .. } | Glyph::Split => {
                word.known = false;
                word.text.push(HOLE);
            }
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        let tilde = |name: &str| name.is_empty().then(|| "/home/u".to_owned());
        expand(source, &[], &tilde).words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_read_as_bash_reads_them() {
        for (source, expected) in [
            ("r''m", vec!["rm"]),
            (r"r\m", vec!["rm"]),
            ("\"a b\"", vec!["a b"]),
            (r#""a\"b\x""#, vec![r#"a"b\x"#]),
            (r"$'\x72\155\u0041'", vec!["rmA"]),
            ("$\"x\"", vec!["x"]),
            ("''", vec![""]),
            ("~/a", vec!["/home/u/a"]),
            ("'~'/a", vec!["~/a"]),
            ("a{b,c}d", vec!["abd", "acd"]),
            ("{a,{b,c}}", vec!["a", "b", "c"]),
            ("{1..3}", vec!["1", "2", "3"]),
            ("{}", vec!["{}"]),
            ("{a,b", vec!["{a,b"]),
            ("'{a,b}'", vec!["{a,b}"]),
            ("/{etc,usr}/*", vec!["/etc/*", "/usr/*"]),
        ] {
            assert_eq!(words(source), expected, "{source}");
        }
    }

    #[test]
    fn known_values_split_and_combine() {
        let gap = |values: &[&str]| Gap {
            range: 0..2,
            values: values.iter().map(|v| Some((*v).to_owned())).collect(),
        };
        let none = |_: &str| None;
        let texts = |source: &str, gaps: &[Gap]| {
            expand(source, gaps, &none).words.into_iter().map(|word| word.text).collect::<Vec<_>>()
        };
        assert_eq!(texts("$x", &[gap(&["-rf /"])]), ["-rf", "/"]);
        assert_eq!(texts("$x/a", &[gap(&["p", "q"])]), ["p/a", "q/a"]);
        assert!(!expand("{1..1000000}", &[], &none).words.iter().any(|word| word.known));
        assert!(expand("{1..1000000}", &[], &none).flood);
    }
}
