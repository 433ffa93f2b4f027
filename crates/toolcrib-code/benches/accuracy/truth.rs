//! What the other tool says, by file and byte.

use std::collections::{BTreeMap, HashMap, HashSet};

use toolcrib_code::facts::{LineTable, Span};
use toolcrib_code::resolve::Program;
use toolcrib_code::scip::{Class, ScipIndex, SymbolId, descriptors};

use crate::repositories::Repository;

/// A file of the program and a byte in it.
pub(crate) type Position = (u32, u32);

/// A place with all symbols that are written there: a TypeScript name may be a type and a value at once.
#[derive(Default)]
pub(crate) struct Place {
    pub span: Span,
    pub uses: Vec<SymbolId>,
    pub defines: Vec<SymbolId>,
    /// Symbols that are defined once more here.
    pub again: Vec<SymbolId>,
}

impl Place {
    pub(crate) fn all(&self) -> impl Iterator<Item = &SymbolId> {
        self.uses.iter().chain(&self.defines).chain(&self.again)
    }
}

pub(crate) struct FileTruth {
    pub source: Vec<u8>,
    pub lines: LineTable,
    pub places: BTreeMap<u32, Place>,
}

pub(crate) struct Truth {
    pub index: ScipIndex,
    /// Indexed documents only: of others nothing is known, so nothing is counted there.
    pub files: BTreeMap<u32, FileTruth>,
    pub definitions: HashMap<SymbolId, Vec<Position>>,
    classes: HashMap<SymbolId, Class>,
    /// What the symbols of the repository itself begin with.
    own: HashSet<String>,
    pub language: String,
}

/// The scheme, manager, package and version of a symbol.
fn package(symbol: &str) -> &str {
    symbol.match_indices(' ').nth(3).map_or(symbol, |(at, _)| &symbol[..at])
}

impl Truth {
    pub(crate) fn load(repository: &Repository, program: &Program) -> Self {
        let index = ScipIndex::parse(&std::fs::read(&repository.scip).unwrap()).unwrap();
        let mut truth = Truth {
            files: BTreeMap::new(),
            definitions: HashMap::new(),
            own: HashSet::new(),
            classes: index.symbols().map(|symbol| (symbol, index.class(symbol))).collect(),
            language: repository.language.clone(),
            index,
        };
        let mut outside = 0;
        for document in &truth.index.documents {
            let file = program.file_at(&document.path);
            let file = file.unwrap_or_else(|| panic!("{} is in the truth only", document.path));
            let source = program.snapshot().source(program.file(file).unwrap()).unwrap();
            let lines = LineTable::of(&source);
            let mut places: BTreeMap<u32, Place> = BTreeMap::new();
            for occurrence in &document.occurrences {
                let Some(span) = occurrence.range.span(&source, &lines, document.encoding) else {
                    outside += 1;
                    continue;
                };
                if occurrence.is_definition {
                    truth.definitions.entry(occurrence.symbol).or_default().push((file, span.start));
                }
                // A module is defined by its whole file, and no name is written for it.
                if span.is_empty() || occurrence.range.line != occurrence.range.end_line {
                    continue;
                }
                let place = places.entry(span.start).or_default();
                let symbols = if occurrence.is_definition { &mut place.defines } else { &mut place.uses };
                if !symbols.contains(&occurrence.symbol) {
                    symbols.push(occurrence.symbol);
                }
                place.span =
                    if place.span.is_empty() || span.end < place.span.end { span } else { place.span };
            }
            truth.files.insert(file, FileTruth { source, lines, places });
        }
        truth.check(repository, program, outside);
        truth.own =
            truth.definitions.keys().map(|symbol| package(truth.index.symbol(*symbol)).to_owned()).collect();
        truth.set_right(program);
        truth
    }

    /// A truth that does not cover the sources, or was made of others, gives numbers that mean nothing.
    fn check(&self, repository: &Repository, program: &Program, outside: usize) {
        assert_eq!(outside, 0, "{}: places that are in no file; make the truth anew", repository.name);
        let files = program.snapshot().files().iter();
        let own: Vec<_> = files.filter(|file| file.language.name.starts_with(&repository.language)).collect();
        let known: HashSet<&str> = self.index.documents.iter().map(|one| one.path.as_str()).collect();
        let left: Vec<_> =
            own.iter().map(|file| &file.path).filter(|path| !known.contains(path.as_str())).collect();
        assert!(
            left.len() * 20 <= own.len(),
            "{}: {} of {} files are not in the truth: {left:?}",
            repository.name,
            left.len(),
            own.len()
        );
    }

    pub(crate) fn lines(&self) -> usize {
        self.files.values().map(|file| file.lines.len()).sum()
    }

    pub(crate) fn class(&self, symbol: SymbolId) -> Class {
        self.classes[&symbol]
    }

    pub(crate) fn text(&self, symbol: SymbolId) -> &str {
        self.index.symbol(symbol)
    }

    /// Where a symbol is defined in the repository.
    pub(crate) fn definitions(&self, symbol: SymbolId) -> &[Position] {
        self.definitions.get(&symbol).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn defined(&self) -> impl Iterator<Item = (SymbolId, &[Position])> {
        self.definitions.iter().map(|(symbol, places)| (*symbol, places.as_slice()))
    }

    /// The name of a symbol as it is written in the source.
    pub(crate) fn name(&self, symbol: SymbolId) -> String {
        let name = descriptors(self.text(symbol)).pop().map_or(String::new(), |last| last.name);
        // scip-typescript: `<constructor>`, `<get>x`, `<set>x`.
        let name = match name.split_once('>') {
            Some((_, rest)) if name.starts_with('<') && !rest.is_empty() => rest.into(),
            _ => name,
        };
        name.trim_matches(['<', '>']).to_owned()
    }

    pub(crate) fn place(&self, file: u32, start: u32) -> Option<&Place> {
        self.files.get(&file)?.places.get(&start)
    }

    /// Whether it says nothing to have this symbol: the tools write something of the kind where they do not
    /// know.
    pub(crate) fn is_mute(&self, symbol: SymbolId) -> bool {
        // An import that scip-python could not follow is a local that is defined nowhere, and a module that
        // it names by a relative path has a name that is defined nowhere; Rust's `Self` is a symbol of its
        // own, and what a macro makes is defined at no place.
        let is_own = |text: &str| text.starts_with("local ") || self.own.contains(package(text));
        self.definitions(symbol).is_empty() && is_own(self.text(symbol))
    }
}
