//! Search texts that were copied wrongly: line numbers left in, code left out.

use super::lines::pieces;

/// An edit read another way.
pub(crate) struct Variant {
    pub(crate) old: String,
    pub(crate) new: String,
    /// The number that the first line carried.
    pub(crate) first_line: Option<usize>,
    /// Among readings that are as good, the one with the least is taken.
    pub(crate) rank: u8,
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

/// A line of which only the number is left: the blank line behind `12\t`, trimmed.
fn bare_number(line: &str) -> Option<usize> {
    let bare = line.trim();
    let digits = !bare.is_empty() && bare.len() <= 7 && bare.bytes().all(|b| b.is_ascii_digit());
    if digits { bare.parse().ok() } else { None }
}

/// The edit without line numbers, if every line of the search text has one and they rise.
pub(crate) fn without_line_numbers(old: &str, new: &str) -> Vec<Variant> {
    let lines = pieces(old);
    let mut last = None;
    let mut separator = None;
    let (mut spaced, mut apart) = (true, true);
    // A number alone is a trimmed blank line only between two lines that have theirs.
    let mut alone = false;
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let number = match numbered(line) {
            Some((number, found, rest)) if separator.is_none_or(|first| first == found) => {
                spaced &= rest.is_empty() || rest.starts_with(' ');
                apart &= line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(' ');
                separator = Some(found);
                alone = false;
                number
            }
            None if separator == Some('\t') => {
                let Some(number) = bare_number(line) else { return Vec::new() };
                alone = true;
                number
            }
            _ => return Vec::new(),
        };
        if last.is_some_and(|last| number <= last) {
            return Vec::new();
        }
        last = Some(number);
    }
    let Some(separator) = separator.filter(|_| !alone) else { return Vec::new() };
    let first_line = lines.iter().find_map(|line| numbered(line)).map(|(number, _, _)| number);
    let with = |space: bool| {
        let new = strip_new(new, separator, space, first_line.unwrap_or(0), last.unwrap_or(0))?;
        let old: Vec<&str> = lines.iter().map(|line| strip(line, separator, space).unwrap_or(line)).collect();
        Some(Variant { old: old.join("\n"), new, first_line, rank: u8::from(space != apart) })
    };
    // `12: text` and `12 | text`: the blank may belong to the number or to the text.
    let spaced = spaced && matches!(separator, ':' | '|');
    spaced.then(|| with(true)).into_iter().chain([with(false)]).flatten().collect()
}

fn strip(line: &str, separator: char, space: bool) -> Option<&str> {
    let Some((_, found, rest)) = numbered(line) else {
        return bare_number(line).filter(|_| separator == '\t').map(|_| "");
    };
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
        .map(|line| {
            let number = match numbered(line) {
                Some((number, found, _)) => Some(number).filter(|_| found == separator),
                None => bare_number(line).filter(|_| separator == '\t'),
            };
            let fits = number.filter(|number| (last..=to + lines.len()).contains(number));
            last = fits.unwrap_or(last);
            fits.is_some()
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
