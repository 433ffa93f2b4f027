//! Scala: symbols, imports and names.

use std::sync::OnceLock;

use super::outline::Outline;
use super::{Language, Rules};
use crate::facts::Kind;

/// Scala.
pub(super) static SCALA: Language = Language {
    name: "scala",
    extensions: &["scala", "sc", "sbt"],
    file_names: &[],
    shebangs: &["scala"],
    comments: &["comment", "block_comment"],
    doc_prefixes: &["/**", "//"],
    tests: &["test/", "*Spec.scala", "*Test.scala"],
    full: false,
    rewrite: None,
    grammar: || tree_sitter_scala::LANGUAGE.into(),
    rules: Rules::Outline(&OUTLINE),
    compiled: OnceLock::new(),
};

static OUTLINE: Outline = Outline {
    definitions: &[
        ("class_definition", Kind::Class),
        ("object_definition", Kind::Class),
        ("trait_definition", Kind::Trait),
        ("enum_definition", Kind::Enum),
        ("simple_enum_case", Kind::Variant),
        ("full_enum_case", Kind::Variant),
        ("function_definition", Kind::Function),
        ("function_declaration", Kind::Function),
        ("val_definition", Kind::Variable),
        ("var_definition", Kind::Variable),
        ("type_definition", Kind::Type),
    ],
    names: &["identifier", "type_identifier"],
    bases: &["extends_clause"],
    imports: &["import_declaration"],
    loaders: &[],
    packages: &["package_clause"],
    calls: &["call_expression"],
    private: &["private"],
};
