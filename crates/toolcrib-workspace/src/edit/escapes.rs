//! Search texts that were escaped once too often, as in a JSON string within a JSON string.

use super::variants::Variant;

/// The edit with escapes undone, in every way that the texts allow.
pub(crate) fn unescaped(old: &str, new: &str) -> Vec<Variant> {
    let mut out: Vec<Variant> = Vec::new();
    if !old.contains('\\') {
        return out;
    }
    let mut add = |old: Option<String>, new: Option<String>| {
        if let (Some(old), Some(new)) = (old, new)
            && !out.iter().any(|other| other.old == old)
        {
            out.push(Variant { old, new, first_line: None, rank: 0 });
        }
    };
    let one_line = !old.contains('\n');
    let quoted = Quotes::of(old).any_escaped();
    if one_line || quoted {
        add(json_unescape(old), json_new(old, new));
    }
    if one_line {
        let bare =
            |text: &str| if text.contains('\n') { Some(text.to_owned()) } else { newline_unescape(text) };
        add(newline_unescape(old), bare(new));
    }
    if quoted {
        add(quotes_unescape(old, &Quotes::of(old)), quotes_new(old, new));
    }
    if one_line && old.contains("\\n") {
        let lines = every_newline(old);
        let new = every_newline_of_new(&lines, new);
        add(Some(lines), new);
    }
    out
}

/// How many quotes of a kind stand bare, and how many are escaped.
#[derive(Clone, Copy, Default)]
struct Count {
    bare: usize,
    escaped: usize,
}

struct Quotes {
    double: Count,
    single: Count,
}

impl Quotes {
    fn of(text: &str) -> Quotes {
        let mut quotes = Quotes { double: Count::default(), single: Count::default() };
        let mut escaped = false;
        for c in text.chars() {
            let count = match c {
                '"' => Some(&mut quotes.double),
                '\'' => Some(&mut quotes.single),
                _ => None,
            };
            if let Some(count) = count {
                *(if escaped { &mut count.escaped } else { &mut count.bare }) += 1;
            }
            escaped = c == '\\' && !escaped;
        }
        quotes
    }

    fn any_escaped(&self) -> bool {
        self.double.escaped + self.single.escaped > 0
    }

    /// Whether a kind has both forms, so that some of the backslashes belong to the text.
    fn mixed(&self) -> bool {
        [self.double, self.single].iter().any(|count| count.escaped > 0 && count.bare > 0)
    }
}

/// Takes the backslash from the quotes of the kinds that `quotes` has escaped; `None` where a kind has both forms.
fn quotes_unescape(text: &str, quotes: &Quotes) -> Option<String> {
    if quotes.mixed() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('"') if quotes.double.escaped > 0 => out.push('"'),
                Some('\'') if quotes.single.escaped > 0 => out.push('\''),
                Some(next) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    Some(out)
}

/// The replacement to a search text of which only the quotes were escaped: as it is if it has none that are.
fn quotes_new(old: &str, new: &str) -> Option<String> {
    let (was, is) = (Quotes::of(old), Quotes::of(new));
    let undo = |was: Count, is: Count| if was.escaped > 0 { is } else { Count::default() };
    let undo = Quotes { double: undo(was.double, is.double), single: undo(was.single, is.single) };
    quotes_unescape(new, &undo)
}

/// The replacement to a search text that was escaped as a whole.
fn json_new(old: &str, new: &str) -> Option<String> {
    if !new.contains('\n') && !old.contains('\n') {
        return json_unescape(new);
    }
    let quotes = Quotes::of(new).double;
    if quotes.escaped > 0 && quotes.bare == 0 {
        return json_unescape(new);
    }
    // Real newlines against escaped ones, or bare quotes against escaped ones: only the search text was escaped.
    let real_newlines = !old.contains('\n') && json_unescape(old).is_some_and(|old| old.contains('\n'));
    let plain = real_newlines || (quotes.escaped == 0 && (quotes.bare > 0 || !new.contains('\\')));
    plain.then(|| new.to_owned())
}

/// Undoes a JSON string's escaping. A bare quote or an unknown escape means that this is not what happened.
fn json_unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return None,
            '\\' => out.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                c @ ('"' | '\'' | '\\' | '/') => c,
                _ => return None,
            }),
            c => out.push(c),
        }
    }
    Some(out)
}

/// Undoes escaped newlines and tabs only, and leaves those within a string literal. `None` where that is unclear.
fn newline_unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut double, mut other) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let next = chars.next();
                match next {
                    Some('n' | 't' | 'r') if !double && other => return None,
                    Some('n') if !double => {
                        out.push('\n');
                        (double, other) = (false, false);
                    }
                    Some('t') if !double => out.push('\t'),
                    Some('r') if !double => out.push('\r'),
                    Some(next) => out.extend(['\\', next]),
                    None => out.push('\\'),
                }
                continue;
            }
            '"' => double = !double,
            '\'' | '`' => other = !other,
            _ => {}
        }
        out.push(c);
    }
    Some(out)
}

/// Undoes every escaped newline and tab, wherever it stands.
fn every_newline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(next) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    out
}

/// The replacement with every escaped newline undone, if none of them can be part of a string: a line that the search
/// text lacks has all its quotes in pairs.
fn every_newline_of_new(old: &str, new: &str) -> Option<String> {
    if new.contains('\n') {
        return Some(new.to_owned());
    }
    let lines = every_newline(new);
    let paired = |line: &str| ['"', '\'', '`'].iter().all(|quote| line.matches(*quote).count() % 2 == 0);
    let known = |line: &str| old.lines().any(|other| other.trim() == line.trim());
    lines.lines().all(|line| paired(line) || known(line)).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_only_where_clear() {
        assert_eq!(json_unescape(r#"a(\"x\\n\");\nb"#).as_deref(), Some("a(\"x\\n\");\nb"));
        assert_eq!(json_unescape(r#"a "b" \n"#), None);
        assert_eq!(newline_unescape(r#"a("x\n");\n\tb"#).as_deref(), Some("a(\"x\\n\");\n\tb"));
        assert_eq!(newline_unescape(r"a('x\n')"), None);
        assert!(unescaped("a\nb\\n", "c").is_empty());
    }

    #[test]
    fn quotes_are_undone_by_kind_and_only_where_all_are_escaped() {
        let undone = |old: &str, new: &str| {
            let old = quotes_unescape(old, &Quotes::of(old))?;
            Some((old, new.to_owned()))
        };
        assert_eq!(undone(r#"a(\"x\", 'y')"#, "").map(|v| v.0).as_deref(), Some(r#"a("x", 'y')"#));
        assert_eq!(undone(r#"a(\"x\", "y")"#, ""), None);
        let (old, json) = (r#"f(\"a\")"#, |new: &str| quotes_new(r#"f(\"a\")"#, new));
        assert_eq!(quotes_new(old, "f(\\\"b\\\")\ng()").as_deref(), Some("f(\"b\")\ng()"));
        assert_eq!(json("f(\"b\")").as_deref(), Some("f(\"b\")"));
        assert_eq!(json(r#"f("a \"b\"")"#), None);
        // Only the kind that the search text has escaped.
        assert_eq!(json(r"f('don\'t')").as_deref(), Some(r"f('don\'t')"));
    }
}
