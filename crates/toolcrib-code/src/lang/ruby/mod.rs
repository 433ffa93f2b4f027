//! Ruby: symbols, imports and names.

use std::sync::OnceLock;

use super::outline::Outline;
use super::{Language, Rules};
use crate::facts::Kind;

/// Ruby.
pub(super) static RUBY: Language = Language {
    name: "ruby",
    extensions: &["rb", "rake", "gemspec"],
    file_names: &["Rakefile", "Gemfile"],
    shebangs: &["ruby"],
    comments: &["comment"],
    doc_prefixes: &["#"],
    tests: &["test/", "spec/", "*_test.rb", "*_spec.rb"],
    full: false,
    rewrite: None,
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    rules: Rules::Outline(&OUTLINE),
    compiled: OnceLock::new(),
};

static OUTLINE: Outline = Outline {
    definitions: &[
        ("class", Kind::Class),
        ("module", Kind::Module),
        ("method", Kind::Function),
        ("singleton_method", Kind::Function),
        ("assignment", Kind::Constant),
    ],
    names: &["identifier", "constant"],
    bases: &["superclass"],
    imports: &[],
    loaders: &["require", "require_relative", "load", "autoload"],
    packages: &[],
    calls: &["call"],
    private: &[],
};
