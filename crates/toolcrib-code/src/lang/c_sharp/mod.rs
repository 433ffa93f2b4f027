//! C#: symbols, imports and names.

use std::sync::OnceLock;

use super::outline::Outline;
use super::{Language, Rules};
use crate::facts::Kind;

/// C#.
pub(super) static C_SHARP: Language = Language {
    name: "csharp",
    extensions: &["cs"],
    file_names: &[],
    shebangs: &[],
    comments: &["comment"],
    doc_prefixes: &["///", "//"],
    tests: &["*Tests.cs", "*Test.cs", "test/", "tests/"],
    full: false,
    rewrite: None,
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    rules: Rules::Outline(&OUTLINE),
    compiled: OnceLock::new(),
};

static OUTLINE: Outline = Outline {
    definitions: &[
        ("class_declaration", Kind::Class),
        ("record_declaration", Kind::Class),
        ("struct_declaration", Kind::Struct),
        ("interface_declaration", Kind::Interface),
        ("enum_declaration", Kind::Enum),
        ("enum_member_declaration", Kind::Variant),
        ("method_declaration", Kind::Function),
        ("constructor_declaration", Kind::Constructor),
        ("local_function_statement", Kind::Function),
        ("delegate_declaration", Kind::Type),
        ("property_declaration", Kind::Property),
        ("variable_declarator", Kind::Variable),
        ("namespace_declaration", Kind::Module),
    ],
    names: &["identifier"],
    bases: &["base_list"],
    imports: &["using_directive"],
    loaders: &[],
    packages: &["file_scoped_namespace_declaration"],
    calls: &["invocation_expression"],
    private: &["private", "internal"],
};
