//! Facts as bytes.
//!
//! Postcard writes small numbers in one byte, so positions that only grow are turned into distances first.

use serde::Serialize;

use super::{
    Binding, Definition, Export, Expr, FileFacts, Import, LineTable, Reference, Scope, Strings, Sym, Type,
};

/// The fields of [`FileFacts`] in their order, with only those copied that are stored differently.
#[derive(Serialize)]
struct Stored<'a> {
    strings: &'a Strings,
    lines: LineTable,
    package: Sym,
    scopes: &'a [Scope],
    definitions: &'a [Definition],
    bindings: &'a [Binding],
    references: Vec<Reference>,
    imports: &'a [Import],
    exports: &'a [Export],
    types: &'a [Type],
    exprs: &'a [Expr],
    parse_errors: u32,
}

impl FileFacts {
    /// As bytes to store.
    pub fn encode(&self) -> Vec<u8> {
        let (mut lines, mut references) = (self.lines.clone(), self.references.clone());
        lines.shrink();
        let mut last = 0;
        for reference in &mut references {
            (last, reference.start) = (reference.start, zigzag(reference.start.wrapping_sub(last)));
        }
        let stored = Stored {
            strings: &self.strings,
            lines,
            package: self.package,
            scopes: &self.scopes,
            definitions: &self.definitions,
            bindings: &self.bindings,
            references,
            imports: &self.imports,
            exports: &self.exports,
            types: &self.types,
            exprs: &self.exprs,
            parse_errors: self.parse_errors,
        };
        postcard::to_stdvec(&stored).unwrap_or_default()
    }

    /// From stored bytes; none if they are not ours.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (mut facts, rest) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        if !rest.is_empty() {
            return None;
        }
        facts.lines.grow();
        let mut last: u32 = 0;
        for reference in &mut facts.references {
            last = last.wrapping_add(unzigzag(reference.start));
            reference.start = last;
        }
        Some(facts)
    }
}

fn zigzag(value: u32) -> u32 {
    (value << 1) ^ ((value as i32 >> 31) as u32)
}

fn unzigzag(value: u32) -> u32 {
    (value >> 1) ^ 0_u32.wrapping_sub(value & 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_go_there_and_back() {
        for value in [0, 1, 5, u32::MAX, u32::MAX - 1, 1 << 31, 1 << 30] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
