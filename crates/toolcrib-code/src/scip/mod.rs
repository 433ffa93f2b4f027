//! What another tool says about the same code, as it is written down in a SCIP file.
//!
//! rust-analyzer, scip-typescript, scip-python and others write such files: for every file the places where a
//! symbol is defined or used. Here they are read, bounded in size, and turned from lines and columns into
//! bytes of the source. The accuracy of our own answers is measured against them.

mod overlay;
mod place;
mod symbol;

use std::collections::HashMap;
use std::fmt;

use protobuf::rt::WireType;
use protobuf::{CodedInputStream, Message};
use scip::types::occurrence::Typed_range;
use scip::types::{Document as Written, Occurrence as WrittenOccurrence, PositionEncoding, SymbolRole};

pub use overlay::{Overlay, Refused};
pub use place::{Encoding, Range};
pub use symbol::{Class, Descriptor, Suffix, descriptors};

/// Larger files are refused.
pub const MAX_BYTES: usize = 1 << 30;
/// More occurrences than these are refused.
pub const MAX_OCCURRENCES: usize = 50_000_000;
/// `Index.documents` in the protocol.
const DOCUMENTS: u32 = 2;

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScipError {
    /// More bytes or occurrences than are read.
    TooLarge,
    /// Not what it says it is.
    Malformed(String),
}

impl fmt::Display for ScipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScipError::TooLarge => f.write_str("the SCIP index is too large"),
            ScipError::Malformed(why) => write!(f, "this is no SCIP index: {why}"),
        }
    }
}

impl std::error::Error for ScipError {}

/// A symbol of an index, by its place in the table. A symbol that is local to a document is one of that
/// document only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(u32);

/// A place where a symbol is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Where, in lines and columns.
    pub range: Range,
    /// Which symbol.
    pub symbol: SymbolId,
    /// Whether it is defined here, or else used.
    pub is_definition: bool,
}

/// What an index says about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The file, relative to the root of the project, with `/`.
    pub path: String,
    /// What its columns count.
    pub encoding: Encoding,
    /// All places in it that have a symbol.
    pub occurrences: Vec<Occurrence>,
}

/// What is known of a symbol.
#[derive(Clone, Debug, Default)]
struct Entry {
    text: String,
    kind: i32,
    /// Document and occurrence.
    definitions: Vec<(u32, u32)>,
}

/// An index that was read.
#[derive(Clone, Debug, Default)]
pub struct ScipIndex {
    /// Its documents.
    pub documents: Vec<Document>,
    symbols: Vec<Entry>,
    global: HashMap<String, SymbolId>,
}

impl ScipIndex {
    /// Reads an index. Symbols of other packages and all documentation are left where they are.
    pub fn parse(bytes: &[u8]) -> Result<Self, ScipError> {
        if bytes.len() > MAX_BYTES {
            return Err(ScipError::TooLarge);
        }
        let malformed = |error: protobuf::Error| ScipError::Malformed(error.to_string());
        let mut reader = Reader::default();
        let mut stream = CodedInputStream::from_bytes(bytes);
        // Document by document: the whole would take several times the memory.
        while let Some(tag) = stream.read_raw_tag_or_eof().map_err(malformed)? {
            let wire = WireType::new(tag & 7)
                .ok_or_else(|| ScipError::Malformed("a field of no known kind".into()))?;
            if tag >> 3 == DOCUMENTS && wire == WireType::LengthDelimited {
                let length = stream.read_raw_varint32().map_err(malformed)?;
                let start = usize::try_from(stream.pos()).unwrap_or(usize::MAX);
                // The stream itself takes a message that is cut off for a whole one.
                let message = start.checked_add(length as usize).and_then(|end| bytes.get(start..end));
                let message = message.ok_or_else(|| ScipError::Malformed("it is cut off".into()))?;
                reader.add(Written::parse_from_bytes(message).map_err(malformed)?)?;
                stream.skip_raw_bytes(length).map_err(malformed)?;
            } else {
                stream.skip_field(wire).map_err(malformed)?;
            }
        }
        Ok(reader.index)
    }

    /// The text of a symbol.
    pub fn symbol(&self, id: SymbolId) -> &str {
        self.symbols.get(id.0 as usize).map_or("", |entry| entry.text.as_str())
    }

    /// What a symbol stands for.
    pub fn class(&self, id: SymbolId) -> Class {
        self.symbols.get(id.0 as usize).map_or(Class::Local, |entry| Class::of(&entry.text, entry.kind))
    }

    /// The symbol with this text, if it is not local to a document.
    pub fn find(&self, text: &str) -> Option<SymbolId> {
        self.global.get(text).copied()
    }

    /// All symbols.
    pub fn symbols(&self) -> impl Iterator<Item = SymbolId> + use<> {
        (0..self.symbols.len() as u32).map(SymbolId)
    }

    /// Where a symbol is defined: documents, and occurrences in them. Nowhere if it is one of another
    /// package.
    pub fn definitions(&self, id: SymbolId) -> impl Iterator<Item = (&Document, &Occurrence)> {
        let places = self.symbols.get(id.0 as usize).map_or(&[][..], |entry| entry.definitions.as_slice());
        places.iter().filter_map(|(document, occurrence)| {
            let document = self.documents.get(*document as usize)?;
            Some((document, document.occurrences.get(*occurrence as usize)?))
        })
    }
}

#[derive(Default)]
struct Reader {
    index: ScipIndex,
    occurrences: usize,
}

impl Reader {
    fn add(&mut self, written: Written) -> Result<(), ScipError> {
        self.occurrences += written.occurrences.len();
        if self.occurrences > MAX_OCCURRENCES {
            return Err(ScipError::TooLarge);
        }
        let number = self.index.documents.len() as u32;
        let mut local = HashMap::new();
        let encoding = match written.position_encoding.enum_value() {
            Ok(PositionEncoding::UTF8CodeUnitOffsetFromLineStart) => Encoding::Utf8,
            Ok(PositionEncoding::UTF32CodeUnitOffsetFromLineStart) => Encoding::Utf32,
            // The tools that say nothing are written in JavaScript.
            _ => Encoding::Utf16,
        };
        let mut occurrences = Vec::with_capacity(written.occurrences.len());
        for found in written.occurrences {
            let Some(range) = range_of(&found) else { continue };
            if found.symbol.is_empty() {
                continue;
            }
            let is_definition = found.symbol_roles & SymbolRole::Definition as i32 != 0;
            let symbol = self.intern(found.symbol, &mut local);
            if is_definition && let Some(entry) = self.index.symbols.get_mut(symbol.0 as usize) {
                entry.definitions.push((number, occurrences.len() as u32));
            }
            occurrences.push(Occurrence { range, symbol, is_definition });
        }
        for information in written.symbols {
            let kind = information.kind.value();
            let symbol = self.intern(information.symbol, &mut local);
            if let Some(entry) = self.index.symbols.get_mut(symbol.0 as usize) {
                entry.kind = kind;
            }
        }
        let path = written.relative_path.replace('\\', "/");
        self.index.documents.push(Document { path, encoding, occurrences });
        Ok(())
    }

    fn intern(&mut self, text: String, local: &mut HashMap<String, SymbolId>) -> SymbolId {
        let table = if text.starts_with("local ") { local } else { &mut self.index.global };
        if let Some(id) = table.get(&text) {
            return *id;
        }
        let id = SymbolId(self.index.symbols.len() as u32);
        self.index.symbols.push(Entry { text: text.clone(), ..Entry::default() });
        table.insert(text, id);
        id
    }
}

fn range_of(found: &WrittenOccurrence) -> Option<Range> {
    let parts = match (&found.typed_range, found.range.as_slice()) {
        (Some(Typed_range::SingleLineRange(at)), _) => {
            [at.line, at.start_character, at.line, at.end_character]
        }
        (Some(Typed_range::MultiLineRange(at)), _) => {
            [at.start_line, at.start_character, at.end_line, at.end_character]
        }
        (_, [line, start, end]) => [*line, *start, *line, *end],
        (_, [line, start, end_line, end]) => [*line, *start, *end_line, *end],
        _ => return None,
    };
    let [line, column, end_line, end_column] = parts.map(|part| u32::try_from(part).ok());
    Some(Range { line: line?, column: column?, end_line: end_line?, end_column: end_column? })
}

#[cfg(test)]
mod tests;
