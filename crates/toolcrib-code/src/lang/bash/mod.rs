//! Shell scripts: symbols, imports and names.

use std::sync::OnceLock;

use super::outline::Outline;
use super::{Language, Rules};
use crate::facts::Kind;

/// Shell scripts.
pub(super) static BASH: Language = Language {
    name: "bash",
    extensions: &["sh", "bash", "zsh"],
    file_names: &[".bashrc", ".profile"],
    shebangs: &["sh", "bash", "zsh", "dash"],
    comments: &["comment"],
    doc_prefixes: &["#"],
    tests: &["test/", "tests/"],
    full: false,
    rewrite: None,
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    rules: Rules::Outline(&OUTLINE),
    compiled: OnceLock::new(),
};

static OUTLINE: Outline = Outline {
    definitions: &[("function_definition", Kind::Function), ("variable_assignment", Kind::Variable)],
    names: &["word", "variable_name"],
    bases: &[],
    imports: &[],
    loaders: &["source", "."],
    packages: &[],
    calls: &["command"],
    private: &["local"],
};
