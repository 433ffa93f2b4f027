//! One file of the index.

use std::sync::{Arc, OnceLock};

use toolcrib_workspace::Hash;
use toolcrib_workspace::fs::directory::EntryStat;

use crate::facts::{FileFacts, Skipped, Sym};
use crate::lang::Language;

/// What tells whether a file changed, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Which object it is.
    pub inode: u64,
    /// Its size.
    pub size: u64,
    /// When its content was changed; programs can set it.
    pub modified_ns: i128,
    /// When anything of it was changed; programs cannot set it.
    pub changed_ns: i128,
}

impl Stamp {
    pub(super) fn of(stat: &EntryStat) -> Self {
        Self {
            inode: stat.inode,
            size: stat.size,
            modified_ns: stat.modified_ns,
            changed_ns: stat.changed_ns,
        }
    }

    /// Whether a change right after `now` could leave the same stamp: clocks of file systems are coarse.
    pub(super) fn is_doubtful(&self, now_ns: i128) -> bool {
        // A file system without fractions of a second counts in seconds, or two.
        let coarse = self.changed_ns % 1_000_000_000 == 0;
        let step = if coarse { 2_500_000_000 } else { 100_000_000 };
        self.changed_ns.max(self.modified_ns) + step >= now_ns
    }
}

/// What is known of a file's content.
#[derive(Debug)]
pub enum Content {
    /// Facts, loaded when first asked for.
    Facts {
        /// Identifiers in it, as sorted hashes.
        names: Box<[u32]>,
        /// Places where the grammar did not fit.
        parse_errors: u32,
        /// The facts, if they are loaded.
        loaded: OnceLock<Option<Arc<FileFacts>>>,
    },
    /// A source file that has none.
    Skipped(Skipped),
    /// It could not be read.
    Unreadable(String),
}

/// A source file.
#[derive(Debug)]
pub struct FileEntry {
    /// Its path as shown.
    pub path: String,
    /// Its language.
    pub language: &'static Language,
    /// Its stamp when it was read.
    pub stamp: Stamp,
    /// Whether the stamp may not tell.
    pub(super) doubtful: bool,
    /// The hash of its content.
    pub hash: Hash,
    /// What is in it.
    pub content: Content,
    /// Whether it is a test, by its path.
    pub is_test: bool,
}

impl FileEntry {
    pub(crate) fn has_name(&self, key: u32) -> bool {
        match &self.content {
            Content::Facts { names, .. } => names.binary_search(&key).is_ok(),
            Content::Skipped(_) | Content::Unreadable(_) => false,
        }
    }

    pub(super) fn facts(&self, load: impl FnOnce() -> Option<FileFacts>) -> Option<Arc<FileFacts>> {
        match &self.content {
            Content::Facts { loaded, .. } => loaded.get_or_init(|| load().map(Arc::new)).clone(),
            Content::Skipped(_) | Content::Unreadable(_) => None,
        }
    }

    /// The same content under another stamp.
    pub(super) fn restamped(&self, stamp: Stamp, doubtful: bool) -> Self {
        let content = match &self.content {
            Content::Facts { names, parse_errors, loaded } => {
                Content::Facts { names: names.clone(), parse_errors: *parse_errors, loaded: loaded.clone() }
            }
            Content::Skipped(why) => Content::Skipped(*why),
            Content::Unreadable(why) => Content::Unreadable(why.clone()),
        };
        Self { path: self.path.clone(), stamp, doubtful, content, ..*self }
    }
}

/// An identifier as a number; two that share one only cost a look at a file too many.
pub(crate) fn name_key(name: &str) -> u32 {
    crate::facts::hash(name.as_bytes()) as u32
}

/// All identifiers of a file, as sorted numbers.
pub(super) fn names_of(facts: &FileFacts, source: &[u8]) -> Box<[u32]> {
    let mut syms: Vec<Sym> = facts.references.iter().map(|reference| reference.name).collect();
    syms.extend(facts.definitions.iter().map(|definition| definition.name));
    for import in &facts.imports {
        syms.push(import.alias);
        syms.extend(import.names.iter().flat_map(|name| [name.name, name.alias]));
    }
    syms.extend(facts.exports.iter().map(|export| export.name));
    syms.sort_unstable();
    syms.dedup();
    let mut keys: Vec<u32> =
        syms.into_iter().filter(|sym| sym.is_some()).map(|sym| name_key(facts.text(sym))).collect();
    // And every other word: a name may be written where the grammar sees only tokens.
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    let words = source.split(|byte| !is_part(byte)).filter(|word| !word.is_empty() && word.len() < 100);
    keys.extend(words.map(|word| crate::facts::hash(word) as u32));
    keys.sort_unstable();
    keys.dedup();
    keys.into_boxed_slice()
}
