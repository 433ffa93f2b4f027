//! What settings of formatters and editors demand: where they exist they hold, whatever was measured.

use serde::Serialize;

use super::super::node::{self, Node, Value};
use super::super::scan::Scan;

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its name, as it is written.
    pub name: String,
    /// Its value, as it is written.
    pub value: String,
    /// `path:line`.
    pub evidence: String,
}

/// Files in TOML or JSON, where in them to look, and what for.
const FILES: &[(&str, &[&str], &[&str])] = &[
    ("rustfmt.toml", &[], RUSTFMT),
    (".rustfmt.toml", &[], RUSTFMT),
    ("pyproject.toml", &["tool", "black"], &["line-length", "skip-string-normalization"]),
    ("pyproject.toml", &["tool", "ruff"], &["line-length", "indent-width"]),
    ("pyproject.toml", &["tool", "ruff", "format"], &["quote-style", "indent-style"]),
    ("ruff.toml", &[], &["line-length", "indent-width"]),
    (".prettierrc", &[], PRETTIER),
    (".prettierrc.json", &[], PRETTIER),
    ("package.json", &["prettier"], PRETTIER),
    ("biome.json", &["formatter"], &["indentStyle", "indentWidth", "lineWidth"]),
    ("biome.json", &["javascript", "formatter"], &["quoteStyle", "semicolons"]),
    ("deno.json", &["fmt"], &["useTabs", "lineWidth", "indentWidth", "semiColons", "singleQuote"]),
];

const RUSTFMT: &[&str] =
    &["max_width", "hard_tabs", "tab_spaces", "imports_granularity", "group_imports", "use_small_heuristics"];
const PRETTIER: &[&str] = &["printWidth", "tabWidth", "useTabs", "semi", "singleQuote", "trailingComma"];

fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::Other(text) | Value::Text(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

pub(super) fn settings(scan: &Scan<'_>) -> Vec<Setting> {
    let mut found = Vec::new();
    for base in &scan.bases {
        for (file, place, keys) in FILES {
            let path = format!("{base}{file}");
            let Some(text) = scan.has(&path).then(|| scan.text(&path)).flatten() else { continue };
            let parsed = if file.ends_with(".toml") { node::toml(&text) } else { node::json(&text) };
            // A file that can't be read is told of where it is a manifest; `.prettierrc` may as well be YAML.
            let Some(table) = parsed.ok().and_then(|root| root.at(place).cloned()) else { continue };
            for key in *keys {
                if let Some(node) = table.at(&[key])
                    && let Some(value) = scalar(node)
                {
                    found.push(Setting {
                        name: (*key).to_owned(),
                        value,
                        evidence: format!("{path}:{}", node.line),
                    });
                }
            }
        }
        editorconfig(scan, base, &mut found);
    }
    found
}

fn editorconfig(scan: &Scan<'_>, base: &str, found: &mut Vec<Setting>) {
    const KEYS: &[&str] =
        &["indent_style", "indent_size", "tab_width", "max_line_length", "end_of_line", "quote_type"];
    let path = format!("{base}.editorconfig");
    let Some(text) = scan.has(&path).then(|| scan.text(&path)).flatten() else { return };
    let mut section = String::new();
    for (index, line) in text.lines().enumerate().take(500) {
        let line = line.trim();
        if line.starts_with('[') {
            section = line.to_owned();
        } else if let Some((key, value)) = line.split_once('=')
            && KEYS.contains(&key.trim())
        {
            let name = format!("{section} {}", key.trim()).trim().to_owned();
            let (value, evidence) = (value.trim().to_owned(), format!("{path}:{}", index + 1));
            found.push(Setting { name, value, evidence });
        }
    }
}
