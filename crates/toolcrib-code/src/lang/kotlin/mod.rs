//! Kotlin: symbols, imports and names.

use std::sync::OnceLock;

use super::outline::Outline;
use super::{Language, Rules};
use crate::facts::Kind;

/// Kotlin.
pub(super) static KOTLIN: Language = Language {
    name: "kotlin",
    extensions: &["kt", "kts"],
    file_names: &[],
    shebangs: &[],
    comments: &["line_comment", "block_comment"],
    doc_prefixes: &["/**", "//"],
    tests: &["test/", "*Test.kt"],
    full: false,
    rewrite: None,
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    rules: Rules::Outline(&OUTLINE),
    compiled: OnceLock::new(),
};

static OUTLINE: Outline = Outline {
    definitions: &[
        ("class_declaration", Kind::Class),
        ("object_declaration", Kind::Class),
        ("enum_entry", Kind::Variant),
        ("function_declaration", Kind::Function),
        ("property_declaration", Kind::Variable),
        ("type_alias", Kind::Type),
    ],
    names: &["identifier"],
    bases: &["delegation_specifiers"],
    imports: &["import"],
    loaders: &[],
    packages: &["package_header"],
    calls: &["call_expression"],
    private: &["private", "internal"],
};
