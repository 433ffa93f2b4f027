//! PHP: symbols, imports and names.

use std::sync::OnceLock;

use super::outline::Outline;
use super::{Language, Rules};
use crate::facts::Kind;

/// PHP.
pub(super) static PHP: Language = Language {
    name: "php",
    extensions: &["php"],
    file_names: &[],
    shebangs: &["php"],
    comments: &["comment"],
    doc_prefixes: &["/**", "//", "#"],
    tests: &["tests/", "test/", "*Test.php"],
    full: false,
    rewrite: None,
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    rules: Rules::Outline(&OUTLINE),
    compiled: OnceLock::new(),
};

static OUTLINE: Outline = Outline {
    definitions: &[
        ("class_declaration", Kind::Class),
        ("interface_declaration", Kind::Interface),
        ("trait_declaration", Kind::Trait),
        ("enum_declaration", Kind::Enum),
        ("enum_case", Kind::Variant),
        ("function_definition", Kind::Function),
        ("method_declaration", Kind::Function),
        ("const_element", Kind::Constant),
        ("property_element", Kind::Field),
    ],
    names: &["name"],
    bases: &["base_clause", "class_interface_clause"],
    imports: &["namespace_use_declaration"],
    loaders: &[],
    packages: &["namespace_definition"],
    calls: &[
        "function_call_expression",
        "member_call_expression",
        "scoped_call_expression",
        "object_creation_expression",
    ],
    private: &["private"],
};
