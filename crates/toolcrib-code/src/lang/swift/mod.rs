//! Swift: symbols, imports and names.

use std::sync::OnceLock;

use super::outline::Outline;
use super::{Language, Rules};
use crate::facts::Kind;

/// Swift.
pub(super) static SWIFT: Language = Language {
    name: "swift",
    extensions: &["swift"],
    file_names: &[],
    shebangs: &["swift"],
    comments: &["comment", "multiline_comment"],
    doc_prefixes: &["///", "/**", "//"],
    tests: &["Tests/", "*Tests.swift"],
    full: false,
    rewrite: None,
    grammar: || tree_sitter_swift::LANGUAGE.into(),
    rules: Rules::Outline(&OUTLINE),
    compiled: OnceLock::new(),
};

static OUTLINE: Outline = Outline {
    definitions: &[
        ("class_declaration", Kind::Class),
        ("protocol_declaration", Kind::Interface),
        ("function_declaration", Kind::Function),
        ("protocol_function_declaration", Kind::Function),
        ("property_declaration", Kind::Variable),
        ("protocol_property_declaration", Kind::Property),
        ("enum_entry", Kind::Variant),
        ("typealias_declaration", Kind::Type),
    ],
    names: &["simple_identifier", "type_identifier"],
    bases: &["inheritance_specifier"],
    imports: &["import_declaration"],
    loaders: &[],
    packages: &[],
    calls: &["call_expression"],
    private: &["private", "fileprivate"],
};
