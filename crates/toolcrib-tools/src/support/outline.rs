//! An outline of a text that is too long to show: headings and definitions, found by the look of their lines.
//!
//! It claims no more than that: it needs no grammar, works for any language that starts definitions with a keyword,
//! and is only a map for choosing what to read.

use serde::Serialize;

/// One line of an outline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OutlineEntry {
    /// The line, from 1.
    pub line: usize,
    /// Its text, shortened.
    pub text: String,
}

/// Entries shown at most.
const MAX_ENTRIES: usize = 150;
/// Characters of a line shown at most.
const MAX_CHARS: usize = 100;

const KEYWORDS: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "trait",
    "impl",
    "mod",
    "macro_rules!",
    "class",
    "def",
    "interface",
    "type",
    "function",
    "namespace",
    "module",
    "package",
    "object",
    "protocol",
    "extension",
    "func",
    "const",
    "static",
    "union",
    "record",
];
const MODIFIERS: &[&str] = &[
    "pub",
    "pub(crate)",
    "pub(super)",
    "async",
    "unsafe",
    "export",
    "default",
    "public",
    "private",
    "protected",
    "static",
    "abstract",
    "final",
    "extern",
    "\"C\"",
    "const",
    "declare",
    "override",
    "internal",
    "open",
    "sealed",
];

/// The outline of `lines`; the deepest levels go first when there is too much.
pub(crate) fn outline<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<OutlineEntry> {
    let mut found: Vec<(usize, OutlineEntry)> = lines
        .enumerate()
        .filter_map(|(index, line)| {
            let depth = level(line)?;
            let text: String = line.trim_end().chars().take(MAX_CHARS).collect();
            Some((depth, OutlineEntry { line: index + 1, text }))
        })
        .take(50_000)
        .collect();
    while found.len() > MAX_ENTRIES {
        let deepest = found.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
        if deepest == 0 {
            found.truncate(MAX_ENTRIES);
            break;
        }
        found.retain(|(depth, _)| *depth < deepest);
    }
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// How deep a heading or definition is nested, judged by `#` or indentation; `None` for other lines.
fn level(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let hashes = text.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&hashes) && line.starts_with('#') && text.get(hashes..)?.starts_with(' ') {
        return Some(hashes - 1);
    }
    let indent = line.len() - text.len();
    let mut words = text.split_whitespace().skip_while(|word| MODIFIERS.contains(word));
    let keyword = words.next()?;
    let name = words.next()?;
    let known =
        KEYWORDS.iter().any(|known| *known == keyword || (*known == "impl" && keyword.starts_with("impl<")));
    let named =
        name.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '<' || c == '(' || c == '*');
    (known && named).then_some(indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_definitions_and_headings() {
        let text = "# Title\nuse x;\npub async fn go() {\n    let class = 1;\n}\nimpl<T> Foo<T> {\n    fn inner(&self) {}\n}\nexport default class A {\n  def\n";
        let lines: Vec<usize> = outline(text.lines()).iter().map(|entry| entry.line).collect();
        assert_eq!(lines, [1, 3, 6, 7, 9]);
    }

    #[test]
    fn drops_the_deepest_first() {
        let text: String =
            (0..200).map(|n| format!("struct S{n};\n    fn f{n}() {{}}\n")).take(149).collect();
        let found = outline(text.lines());
        assert_eq!(found.len(), 149);
        assert!(found.iter().all(|entry| entry.text.starts_with("struct")));
    }
}
