//! A SCIP index laid over the files as they are now.
//!
//! Such an index does not say of which content it was made. So a document holds for a file only if everything
//! that it names is written where it says, and only as long as the file stays the same: the hash it was
//! compared with is kept.

use std::collections::{HashMap, HashSet};

use toolcrib_workspace::Hash;

use super::{Document, ScipIndex, Suffix, SymbolId, descriptors};
use crate::facts::{LineTable, Span, Sym};
use crate::index::Snapshot;

/// Why a document is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no such source file.
    NoFile,
    /// It names places that the file does not have.
    NoPlace,
    /// Other names are written at its places.
    OtherText,
    /// It names nothing that could be compared.
    NothingToCompare,
}

impl Refused {
    /// The words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Refused::NoFile => "there is no such file",
            Refused::NoPlace => "it names places that are not in the file",
            Refused::OtherText => "other names are written in the file",
            Refused::NothingToCompare => "it names nothing that could be compared",
        }
    }
}

/// A document that held when it was compared.
struct Laid {
    path: String,
    hash: Hash,
    /// Where a symbol is used, by place.
    uses: Vec<(u32, SymbolId)>,
}

/// What an index says about the files that it still fits.
#[derive(Default)]
pub struct Overlay {
    documents: Vec<Laid>,
    by_path: HashMap<String, usize>,
    /// Documents, and where a name begins in them.
    definitions: HashMap<SymbolId, Vec<(usize, u32)>>,
    refused: Vec<(String, Refused)>,
}

impl Overlay {
    /// Lays an index over a snapshot. Its paths count from the folder `under`, empty for the root of the
    /// workspace.
    pub fn new(index: &ScipIndex, snapshot: &Snapshot, under: &str) -> Self {
        let mut overlay = Self::default();
        let aliases = Aliases::of(snapshot);
        for document in &index.documents {
            let path = match under.trim_matches('/') {
                "" | "." => document.path.clone(),
                under => format!("{under}/{}", document.path),
            };
            if let Err(why) = overlay.add(index, document, snapshot, &path, &aliases) {
                overlay.refused.push((path, why));
            }
        }
        overlay
    }

    fn add(
        &mut self,
        index: &ScipIndex,
        document: &Document,
        snapshot: &Snapshot,
        path: &str,
        aliases: &Aliases,
    ) -> Result<(), Refused> {
        let file = snapshot.file(path).ok_or(Refused::NoFile)?;
        let source = snapshot.source(file).ok_or(Refused::NoFile)?;
        let number = self.documents.len();
        let mut uses = Vec::new();
        let mut definitions = Vec::new();
        for (start, symbol, is_definition) in compared(index, document, &source, aliases)? {
            if is_definition {
                definitions.push((symbol, (number, start)));
            } else {
                uses.push((start, symbol));
            }
        }
        uses.sort_unstable();
        self.by_path.insert(path.to_owned(), number);
        self.documents.push(Laid { path: path.to_owned(), hash: file.hash, uses });
        for (symbol, place) in definitions {
            self.definitions.entry(symbol).or_default().push(place);
        }
        Ok(())
    }

    /// How many documents held when they were compared.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether none did.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Documents that are not used, and why.
    pub fn refused(&self) -> impl Iterator<Item = (&str, Refused)> {
        self.refused.iter().map(|(path, why)| (path.as_str(), *why))
    }

    /// Whether it says something about a file with this content.
    pub fn holds(&self, path: &str, hash: &Hash) -> bool {
        self.laid(path).is_some_and(|laid| laid.hash == *hash)
    }

    /// Where the name is defined that is used at a byte of a file: paths, and bytes where the name begins.
    /// None if it says nothing about that place, if the file is no longer what it was, or if all files with a
    /// definition are not.
    pub fn definition_of(&self, snapshot: &Snapshot, path: &str, offset: u32) -> Option<Vec<(&str, u32)>> {
        let is_fresh =
            |laid: &&Laid| snapshot.file(&laid.path).is_some_and(|file| self.holds(&laid.path, &file.hash));
        let laid = self.laid(path).filter(is_fresh)?;
        let first = laid.uses.partition_point(|(start, _)| *start < offset);
        let here = laid.uses.get(first..)?.iter().take_while(|(start, _)| *start == offset);
        let mut found: Vec<(&str, u32)> = here
            .filter_map(|(_, symbol)| self.definitions.get(symbol))
            .flatten()
            .filter_map(|(document, start)| {
                let laid = self.documents.get(*document).filter(is_fresh)?;
                Some((laid.path.as_str(), *start))
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        (!found.is_empty()).then_some(found)
    }

    fn laid(&self, path: &str) -> Option<&Laid> {
        self.documents.get(*self.by_path.get(path)?)
    }
}

/// The names of which one must be written where a symbol is; none if it has no name that is always written.
fn plain_names(symbol: &str) -> Vec<Vec<u8>> {
    let mut path = descriptors(symbol);
    let Some(last) = path.pop() else { return Vec::new() };
    if !matches!(last.suffix, Suffix::Type | Suffix::Term | Suffix::Method | Suffix::Macro) {
        return Vec::new();
    }
    // scip-typescript: `<get>name`, and `<constructor>` at the name of the class.
    let name = last.name.strip_prefix("<get>").or_else(|| last.name.strip_prefix("<set>"));
    let name = name.unwrap_or(&last.name);
    let names = match (name, path.pop()) {
        ("<constructor>", Some(class)) => vec![class.name.into_bytes(), b"constructor".to_vec()],
        _ => vec![name.as_bytes().to_vec()],
    };
    if names.iter().all(|name| is_identifier(name)) { names } else { Vec::new() }
}

fn is_identifier(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    text.iter().all(is_part) && text.first().is_some_and(|first| !first.is_ascii_digit())
}

/// Names under which something goes elsewhere: the other name, and its own.
#[derive(Default)]
struct Aliases(HashSet<(String, String)>);

impl Aliases {
    fn of(snapshot: &Snapshot) -> Self {
        let mut aliases = Self::default();
        for facts in snapshot.files().iter().filter_map(|file| snapshot.facts(file)) {
            let mut add = |alias: Sym, name: Sym| {
                if alias.is_some() && alias != name {
                    aliases.0.insert((facts.text(alias).to_owned(), facts.text(name).to_owned()));
                }
            };
            for name in facts.imports.iter().flat_map(|import| &import.names) {
                add(name.alias, name.name);
            }
            for export in &facts.exports {
                add(export.name, export.local);
            }
        }
        aliases
    }

    fn has(&self, alias: &[u8], name: &[u8]) -> bool {
        let (Ok(alias), Ok(name)) = (std::str::from_utf8(alias), std::str::from_utf8(name)) else {
            return false;
        };
        // A default export has any name.
        let pair = |name: &str| self.0.contains(&(alias.to_owned(), name.to_owned()));
        pair(name) || pair("default")
    }
}

/// The places of a document that is about this source: start, symbol, and whether it is defined there.
fn compared(
    index: &ScipIndex,
    document: &Document,
    source: &[u8],
    aliases: &Aliases,
) -> Result<Vec<(u32, SymbolId, bool)>, Refused> {
    let lines = LineTable::of(source);
    let spans: Option<Vec<Span>> =
        document.occurrences.iter().map(|one| one.range.span(source, &lines, document.encoding)).collect();
    let spans = spans.ok_or(Refused::NoPlace)?;
    let mut names: HashMap<SymbolId, Vec<Vec<u8>>> = HashMap::new();
    // A local has no name of its own; it must be the same everywhere.
    for (one, span) in document.occurrences.iter().zip(&spans) {
        let text = span.of(source);
        let symbol = index.symbol(one.symbol);
        if !symbol.starts_with("local ") {
            // What is defined elsewhere has names of its own: `os.path` is `posixpath`.
            let is_known = index.definitions(one.symbol).next().is_some();
            names
                .entry(one.symbol)
                .or_insert_with(|| if is_known { plain_names(symbol) } else { Vec::new() });
        } else if one.is_definition && is_identifier(text) {
            names.entry(one.symbol).or_insert_with(|| vec![text.to_vec()]);
        }
    }
    let (mut same, mut other) = (0_usize, 0_usize);
    let mut found = Vec::new();
    for (one, span) in document.occurrences.iter().zip(&spans) {
        let text = span.of(source);
        let names = names.get(&one.symbol).map_or(&[][..], Vec::as_slice);
        // Operators are uses of methods; nothing can be said of them by their text.
        if names.is_empty() || !is_identifier(text) {
            continue;
        }
        if names.iter().any(|name| text == name || aliases.has(text, name)) {
            same += 1;
        } else {
            // In a file that holds on the whole, a single place that does not is left out.
            other += 1;
            continue;
        }
        found.push((span.start, one.symbol, one.is_definition));
    }
    match (same, other) {
        (0, 0) => Err(Refused::NothingToCompare),
        // At least 99.5 % are as they should be.
        _ if same * 1000 < (same + other) * 995 => Err(Refused::OtherText),
        _ => Ok(found),
    }
}
