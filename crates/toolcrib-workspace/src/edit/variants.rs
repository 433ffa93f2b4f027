//! Search texts that were copied or encoded wrongly: line numbers left in, newlines escaped, code left out.

use super::lines::pieces;

/// An edit read another way.
pub(crate) struct Variant {
    pub(crate) old: String,
    pub(crate) new: String,
    /// The number that the first line carried.
    pub(crate) first_line: Option<usize>,
}

/// `  12\ttext`, `12→text`, `12|text`, `12 | text`, `12:text`: the number, the separator and the text.
fn numbered(line: &str) -> Option<(usize, char, &str)> {
    let bare = line.trim_start_matches(' ');
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 7 {
        return None;
    }
    let number = bare.get(..digits)?.parse().ok()?;
    let rest = bare.get(digits..)?;
    let rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with('|')).unwrap_or(rest);
    let separator = rest.chars().next().filter(|c| matches!(c, '\t' | '→' | '|' | ':'))?;
    Some((number, separator, rest.get(separator.len_utf8()..)?))
}

/// The edit without line numbers, if every line of the search text has one and they rise.
pub(crate) fn without_line_numbers(old: &str, new: &str) -> Vec<Variant> {
    let lines = pieces(old);
    let mut last = None;
    let mut separator = None;
    let mut spaced = true;
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let Some((number, found, rest)) = numbered(line) else { return Vec::new() };
        if last.is_some_and(|last| number <= last) || separator.is_some_and(|first| first != found) {
            return Vec::new();
        }
        spaced &= rest.is_empty() || rest.starts_with(' ');
        last = Some(number);
        separator = Some(found);
    }
    let Some(separator) = separator else { return Vec::new() };
    let first_line = lines.iter().find_map(|line| numbered(line)).map(|(number, _, _)| number);
    let with = |space: bool| {
        let new = strip_new(new, separator, space, first_line.unwrap_or(0), last.unwrap_or(0))?;
        let old: Vec<&str> = lines.iter().map(|line| strip(line, separator, space).unwrap_or(line)).collect();
        Some(Variant { old: old.join("\n"), new, first_line })
    };
    // `12: text` and `12 | text`: the blank may belong to the number or to the text.
    let spaced = spaced && matches!(separator, ':' | '|');
    spaced.then(|| with(true)).into_iter().chain([with(false)]).flatten().collect()
}

fn strip(line: &str, separator: char, space: bool) -> Option<&str> {
    let (_, found, rest) = numbered(line)?;
    let rest = if space { rest.strip_prefix(' ').unwrap_or(rest) } else { rest };
    (found == separator).then_some(rest)
}

/// The replacement without numbers. Only those count that can be numbers of this place: they continue those of the
/// search text. `None` where some lines have one, some do not, and it is not clear what they are.
fn strip_new(new: &str, separator: char, space: bool, from: usize, to: usize) -> Option<String> {
    let lines = pieces(new);
    let solid = lines.iter().filter(|line| !line.trim().is_empty()).count();
    let mut last = from;
    let carries: Vec<bool> = lines
        .iter()
        .map(|line| match numbered(line) {
            Some((number, found, _)) if found == separator && (last..=to + lines.len()).contains(&number) => {
                last = number;
                true
            }
            _ => false,
        })
        .collect();
    let carrying = carries.iter().filter(|carries| **carries).count();
    if carrying > 0 && carrying < solid && (separator == ':' || carrying * 2 < solid) {
        return None;
    }
    let strip = |(line, carries): (&&'_ str, &bool)| match strip(line, separator, space) {
        Some(rest) if *carries => rest.to_owned(),
        _ => (*line).to_owned(),
    };
    Some(lines.iter().zip(&carries).map(strip).collect::<Vec<_>>().join("\n"))
}

/// The edit with escapes undone, if the search text has no real newline but escapes in it.
pub(crate) fn unescaped(old: &str, new: &str) -> Vec<Variant> {
    if old.contains('\n') || !old.contains('\\') {
        return Vec::new();
    }
    let mut out = Vec::new();
    let whole = |text: &str| if text.contains('\n') { Some(text.to_owned()) } else { json_unescape(text) };
    if let (Some(old), Some(new)) = (json_unescape(old), whole(new)) {
        out.push(Variant { old, new, first_line: None });
    }
    let bare = |text: &str| if text.contains('\n') { Some(text.to_owned()) } else { newline_unescape(text) };
    if let (Some(old), Some(new)) = (newline_unescape(old), bare(new)) {
        out.push(Variant { old, new, first_line: None });
    }
    out
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

/// A line of `new` that stands for code left out, such as `// ... existing code ...`, and is not in `old`.
pub(crate) fn placeholder<'n>(old: &str, new: &'n str) -> Option<&'n str> {
    new.lines().map(str::trim).find(|line| line.len() < 120 && is_placeholder(line) && !old.contains(line))
}

fn is_placeholder(line: &str) -> bool {
    const OPENERS: [&str; 8] = ["//", "#", "--", "/*", "<!--", ";", "%", "{/*"];
    let opener = OPENERS.iter().find(|opener| line.starts_with(**opener));
    let body = line.get(opener.map_or(0, |opener| opener.len())..).unwrap_or_default();
    let body = body
        .trim_end_matches(['*', '/', '}', '-', '>', ' ', ')', ']'])
        .trim_start_matches([' ', '(', '[', '*']);
    let leads = body.starts_with("...") || body.starts_with('…');
    let dots = leads || body.ends_with("...") || body.ends_with('…');
    if opener.is_none() && !leads {
        return false;
    }
    let lower = line.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let rest = has(&["rest of ", "remaining code", "remaining of", "remainder of"]);
    let same = has(&["unchanged", "remains", "stays the same", "same as before", "as before", "omitted"]);
    (dots
        && (rest
            || same
            || has(&["existing code", "existing implementation", "previous code", "other code"])))
        || (rest && same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(old: &str, new: &str) -> Option<(String, String)> {
        without_line_numbers(old, new).into_iter().next().map(|v| (v.old, v.new))
    }

    #[test]
    fn numbers_go_only_when_every_line_has_a_rising_one() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(numbers("12\ta\n13\t\tb\n", "12\ta\n13\t\tc\n"), pair("a\n\tb\n", "a\n\tc\n"));
        assert_eq!(numbers("  9→a\n 10→b", "x"), pair("a\nb", "x"));
        assert_eq!(numbers("1: a\n2: b", "1: c"), pair("a\nb", "c"));
        assert_eq!(numbers("12 | a\n13 |\n14 |   b", "12 | a"), pair("a\n\n  b", "a"));
        assert_eq!(numbers("2\ta\n1\tb", "x"), None);
        assert_eq!(numbers("1\ta\nb", "x"), None);
    }

    #[test]
    fn escapes_are_undone_only_where_clear() {
        assert_eq!(json_unescape(r#"a(\"x\\n\");\nb"#).as_deref(), Some("a(\"x\\n\");\nb"));
        assert_eq!(json_unescape(r#"a "b" \n"#), None);
        assert_eq!(newline_unescape(r#"a("x\n");\n\tb"#).as_deref(), Some("a(\"x\\n\");\n\tb"));
        assert_eq!(newline_unescape(r"a('x\n')"), None);
        assert!(unescaped("a\nb\\n", "c").is_empty());
    }

    #[test]
    fn placeholders_are_comments_about_code_left_out() {
        assert!(placeholder("a", "a\n  // ... existing code ...\nb").is_some());
        assert!(placeholder("a", "# ... rest of the function ...").is_some());
        assert!(placeholder("a", "// rest of the file remains unchanged").is_some());
        assert!(placeholder("// ... existing code ...", "// ... existing code ...\nx").is_none());
        assert!(placeholder("a", "// waits for the rest of the batch...ish").is_none());
        assert!(placeholder("a", "print(\"...\") # existing").is_none());
        assert!(placeholder("a", "// keep the existing code path").is_none());
    }
}
