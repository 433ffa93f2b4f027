//! The languages, one folder each.
//!
//! A language is a table of what its files are called, a grammar, and a list of handlers by kind of syntax node; the
//! walk over the tree is the same for all. Languages of which only symbols and imports are known have a query instead of
//! handlers. To add one: its folder, and a line in [`ALL`].

#[cfg(feature = "bash")]
mod bash;
#[cfg(feature = "c")]
mod c;
#[cfg(feature = "c-sharp")]
mod c_sharp;
mod compiled;
#[cfg(feature = "cpp")]
mod cpp;
#[cfg(feature = "go")]
mod go;
#[cfg(feature = "java")]
mod java;
#[cfg(feature = "javascript")]
mod javascript;
mod kit;
#[cfg(feature = "kotlin")]
mod kotlin;
#[cfg(feature = "lua")]
mod lua;
mod outline;
#[cfg(feature = "php")]
mod php;
#[cfg(feature = "python")]
mod python;
#[cfg(feature = "ruby")]
mod ruby;
#[cfg(feature = "rust")]
mod rust;
#[cfg(feature = "scala")]
mod scala;
#[cfg(feature = "swift")]
mod swift;
#[cfg(feature = "typescript")]
mod typescript;

use std::sync::OnceLock;

pub(crate) use compiled::{Compiled, F, Handler};

/// A language.
pub struct Language {
    /// Its name, in lower case.
    pub name: &'static str,
    /// What file names end in, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole file names.
    pub file_names: &'static [&'static str],
    /// Programs named in a `#!` line.
    pub shebangs: &'static [&'static str],
    /// Node kinds of comments.
    pub comments: &'static [&'static str],
    /// What a comment begins with that documents the definition after it.
    pub doc_prefixes: &'static [&'static str],
    /// Parts of a path that make a file a test: a folder if it ends in `/`, else the start (`test_*`) or end (`*_test.go`)
    /// of its name.
    pub tests: &'static [&'static str],
    /// Whether references, scopes and types are known, and not only symbols and imports.
    pub full: bool,
    /// Reads a text as another one, where the grammar alone sees too little.
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) grammar: fn() -> tree_sitter::Language,
    pub(crate) rules: Rules,
    pub(crate) compiled: OnceLock<Compiled>,
}

/// Gives the text to read instead, with every offset as it was; none to read it as it is.
pub(crate) type Rewrite = fn(&str, &tree_sitter::Tree, &'static Language) -> Option<Rewritten>;

/// A text that is read instead of another.
pub(crate) struct Rewritten {
    pub(crate) text: String,
    pub(crate) tree: tree_sitter::Tree,
    /// Macros that are not in it any more: where they were used, and their names.
    pub(crate) macros: Vec<(u32, String)>,
}

/// How facts are read off a tree.
pub(crate) enum Rules {
    /// Handlers by kind of node.
    Walk {
        handlers: &'static [&'static [(&'static str, Handler)]],
        expr: compiled::ExprRule,
        ty: compiled::TypeRule,
    },
    /// A table of what defines and imports.
    Outline(&'static outline::Outline),
}

/// Every language that was compiled in.
pub static ALL: &[&Language] = &[
    #[cfg(feature = "rust")]
    &rust::RUST,
    #[cfg(feature = "python")]
    &python::PYTHON,
    #[cfg(feature = "typescript")]
    &typescript::TYPESCRIPT,
    #[cfg(feature = "typescript")]
    &typescript::TSX,
    #[cfg(feature = "javascript")]
    &javascript::JAVASCRIPT,
    #[cfg(feature = "go")]
    &go::GO,
    #[cfg(feature = "java")]
    &java::JAVA,
    #[cfg(feature = "c")]
    &c::C,
    #[cfg(feature = "cpp")]
    &cpp::CPP,
    #[cfg(feature = "c-sharp")]
    &c_sharp::C_SHARP,
    #[cfg(feature = "ruby")]
    &ruby::RUBY,
    #[cfg(feature = "php")]
    &php::PHP,
    #[cfg(feature = "kotlin")]
    &kotlin::KOTLIN,
    #[cfg(feature = "swift")]
    &swift::SWIFT,
    #[cfg(feature = "scala")]
    &scala::SCALA,
    #[cfg(feature = "lua")]
    &lua::LUA,
    #[cfg(feature = "bash")]
    &bash::BASH,
];

impl Language {
    /// The language of a path, by its name alone.
    pub fn of_path(path: &str) -> Option<&'static Language> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        ALL.iter().copied().find(|language| {
            language.file_names.contains(&name)
                || (!extension.is_empty() && language.extensions.contains(&extension))
        })
    }

    /// The language of a file, by its name and, where that leaves it open, its content.
    pub fn of_file(path: &str, content: &[u8]) -> Option<&'static Language> {
        let Some(by_name) = Self::of_path(path) else {
            let first = content.split(|byte| *byte == b'\n').next()?;
            return Self::of_shebang(std::str::from_utf8(first.get(..first.len().min(200))?).ok()?);
        };
        // A header is C++ if it has what C does not.
        if by_name.name == "c" && path.ends_with(".h") {
            let begins = |line: &[u8]| {
                let line = line.trim_ascii_start();
                let words: [&[u8]; 6] =
                    [b"class ", b"namespace ", b"template", b"public:", b"private:", b"using "];
                words.iter().any(|word| line.starts_with(word))
            };
            if content.split(|byte| *byte == b'\n').any(begins) {
                return Self::by_name("cpp").or(Some(by_name));
            }
        }
        Some(by_name)
    }

    /// The language that a `#!` line names.
    pub fn of_shebang(first_line: &str) -> Option<&'static Language> {
        let program =
            first_line.strip_prefix("#!")?.split_whitespace().find(|word| !word.ends_with("/env"))?;
        let program = program.rsplit('/').next()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        ALL.iter().copied().find(|language| language.shebangs.contains(&program))
    }

    /// A language by its name or one of its extensions.
    pub fn by_name(name: &str) -> Option<&'static Language> {
        let name = name.to_ascii_lowercase();
        let named =
            |language: &&&Language| language.name == name || language.extensions.contains(&name.as_str());
        ALL.iter().find(named).copied()
    }

    /// Whether a path is that of a test.
    pub fn is_test(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.tests.iter().any(|pattern| {
            if let Some(folder) = pattern.strip_suffix('/') {
                let mut folders = path.split('/').rev().skip(1);
                folders.any(|part| part == folder)
            } else if let Some(end) = pattern.strip_prefix('*') {
                name.ends_with(end)
            } else if let Some(start) = pattern.strip_suffix('*') {
                name.starts_with(start)
            } else {
                name == *pattern
            }
        })
    }

    /// Its grammar.
    pub fn grammar(&self) -> tree_sitter::Language {
        (self.grammar)()
    }

    pub(crate) fn compiled(&'static self) -> &'static Compiled {
        self.compiled.get_or_init(|| Compiled::new(self))
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}
