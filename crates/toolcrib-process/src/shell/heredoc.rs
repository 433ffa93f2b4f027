//! Here-documents by bash's rules: where the text ends, and what in it is run.

use std::ops::Range;

/// Whether the delimiter is quoted, so that nothing in the text is run.
pub(super) fn is_quoted(delimiter: &str) -> bool {
    delimiter.contains(['\'', '"', '\\'])
}

/// Where the text of a here-document is, whose delimiter was written like this and ends here in the command.
pub(super) fn body(command: &str, delimiter: &str, after: usize, dashed: bool) -> Option<Range<usize>> {
    let delimiter = delimiter.replace(['\'', '"', '\\'], "");
    let first = after + command.get(after..)?.find('\n')? + 1;
    let mut at = first;
    for line in command.get(first..)?.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = if dashed { bare.trim_start_matches('\t') } else { bare };
        if bare == delimiter {
            return Some(first..at);
        }
        at += line.len();
    }
    None
}

/// The code of the substitutions in a text that is not quoted; `None` if one does not end.
pub(super) fn substitutions(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '`', '$']) {
        let (_, found) = rest.split_at_checked(at)?;
        if let Some(escaped) = found.strip_prefix('\\') {
            let mut chars = escaped.chars();
            chars.next();
            rest = chars.as_str();
        } else if let Some(code) = found.strip_prefix('`') {
            let end = unescaped_backtick(code)?;
            out.push(code.get(..end)?.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\"));
            rest = code.get(end + 1..)?;
        } else if let Some(code) = found.strip_prefix("$(") {
            let end = closing(code)?;
            let code_here = code.get(..end)?;
            let arithmetic = code_here.starts_with('(') && code_here.ends_with(')');
            if arithmetic {
                out.extend(substitutions(code_here)?);
            } else {
                out.push(code_here.to_owned());
            }
            rest = code.get(end + 1..)?;
        } else {
            rest = found.get(1..)?;
        }
        if out.len() > 64 {
            return None;
        }
    }
    Some(out)
}

/// The code of the substitution that a text begins with, and where it ends; `None` if it does not end.
pub(super) fn first(text: &str) -> Option<(String, usize)> {
    if let Some(code) = text.strip_prefix('`') {
        let end = unescaped_backtick(code)?;
        let code = code.get(..end)?.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\");
        return Some((code, end + 2));
    }
    let code = text.get(2..)?;
    let end = closing(code)?;
    Some((code.get(..end)?.to_owned(), end + 3))
}

fn unescaped_backtick(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let found = (c == '`' && !escaped).then_some(at);
        escaped = c == '\\' && !escaped;
        found
    })
}

/// Where the bracket that is already open closes. Brackets in quotes are counted too: then the code does not parse.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_where_bash_ends_them() {
        for (command, delimiter, dashed, expected) in [
            ("cat <<E\na\nE\nls", "E", false, Some("a\n")),
            ("cat <<'E'\na\nE \nE\n", "'E'", false, Some("a\nE \n")),
            ("cat <<-E\na\n\tE\nE", "E", true, Some("a\n")),
            ("cat <<E\na\n\tE\nE", "E", false, Some("a\n\tE\n")),
            ("cat <<E\na", "E", false, None),
        ] {
            let after = command.find('\n').unwrap_or(0);
            let found = body(command, delimiter, after, dashed).and_then(|range| command.get(range));
            assert_eq!(found, expected, "{command}");
        }
    }

    #[test]
    fn substitutions_are_found() {
        assert_eq!(
            substitutions("a `b` $(c (d)) ${x:-$(e)} $((1+$(f)))"),
            Some(vec!["b".into(), "c (d)".into(), "e".into(), "f".into()])
        );
        assert_eq!(substitutions(r"\`a\` \$(b) $c"), Some(vec![]));
        assert_eq!(substitutions("$(a"), None);
        assert_eq!(substitutions("`a"), None);
    }
}
