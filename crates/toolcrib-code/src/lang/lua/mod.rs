//! Lua: symbols, imports and names.

use std::sync::OnceLock;

use super::outline::Outline;
use super::{Language, Rules};
use crate::facts::Kind;

/// Lua.
pub(super) static LUA: Language = Language {
    name: "lua",
    extensions: &["lua"],
    file_names: &[],
    shebangs: &["lua", "luajit"],
    comments: &["comment"],
    doc_prefixes: &["--"],
    tests: &["spec/", "*_spec.lua", "test/"],
    full: false,
    rewrite: None,
    grammar: || tree_sitter_lua::LANGUAGE.into(),
    rules: Rules::Outline(&OUTLINE),
    compiled: OnceLock::new(),
};

static OUTLINE: Outline = Outline {
    definitions: &[("function_declaration", Kind::Function), ("assignment_statement", Kind::Variable)],
    names: &["identifier"],
    bases: &[],
    imports: &[],
    loaders: &["require", "dofile"],
    packages: &[],
    calls: &["function_call"],
    private: &["local"],
};
