//! Documentation without the marks of its comment.

/// Longer documentation is cut.
const MOST: usize = 2_000;

/// The text of a comment or docstring.
pub(super) fn cleaned(comment: &str) -> String {
    let text = comment.trim();
    let lines = match quoted(text) {
        Some(inner) => dedent(&inner.lines().collect::<Vec<_>>()),
        None => text.lines().map(line).collect(),
    };
    let lines = lines.into_iter().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let whole = lines.trim();
    if whole.chars().count() <= MOST {
        return whole.to_owned();
    }
    let cut: String = whole.chars().take(MOST).collect();
    format!("{cut}…")
}

/// What is between the quotes of a docstring.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B']);
    ["\"\"\"", "'''", "\"", "'"].iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner)
    })
}

fn line(line: &str) -> &str {
    let mut line = line.trim();
    for end in ["*/", "--]]"] {
        line = line.strip_suffix(end).map_or(line, |rest| rest.trim_end_matches('*').trim_end());
    }
    let marks = ["///", "//!", "//", "/**", "/*!", "/*", "--[[", "---", "--", "#"];
    for mark in marks {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest.trim_start_matches('#').strip_prefix(' ').unwrap_or(rest);
        }
    }
    // A line inside a block comment.
    match line.strip_prefix('*') {
        Some(rest) => rest.strip_prefix(' ').unwrap_or(rest),
        None => line,
    }
}

/// Takes off the indentation that all lines but the first have.
fn dedent<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let rest = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
    let common = rest.map(|line| indent(line)).min().unwrap_or(0);
    let cut = |(index, line): (usize, &&'a str)| match index {
        0 => line.trim_start(),
        _ => line.get(common.min(indent(line))..).unwrap_or(line),
    };
    lines.iter().enumerate().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_off() {
        for (comment, text) in [
            ("/// One.\n    /// Two.", "One.\nTwo."),
            ("/** One.\n * Two.\n */", "One.\nTwo."),
            ("/* One. */", "One."),
            ("\"\"\"One.\n\n        Two.\n    \"\"\"", "One.\n\nTwo."),
            ("# One.\n# Two.", "One.\nTwo."),
            ("// One\n//   - a", "One\n  - a"),
            ("'x'", "x"),
            ("", ""),
        ] {
            assert_eq!(cleaned(comment), text, "{comment}");
        }
    }
}
