//! One table of all names of a file: most are used many times, and each is kept once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use super::Sym;

/// The names and texts of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    /// A text; empty for none.
    pub fn get(&self, sym: Sym) -> &str {
        let Some(index) = sym.index() else { return "" };
        let start = match index.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or_default(),
            None => 0,
        };
        let end = self.ends.get(index).copied().unwrap_or_default();
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The number of a text, if the file has it.
    pub fn find(&self, text: &str) -> Option<Sym> {
        (0..self.ends.len()).map(Sym::new).find(|sym| self.get(*sym) == text)
    }

    /// All texts.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|index| self.get(Sym::new(index)))
    }

    fn push(&mut self, text: &str) -> Sym {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        Sym::new(self.ends.len() - 1)
    }
}

/// Gives every text its number.
#[derive(Default)]
pub(crate) struct Interner {
    strings: Strings,
    by_hash: HashMap<u64, Sym, BuildHasherDefault<Mixing>>,
}

impl Interner {
    pub(crate) fn intern(&mut self, text: &str) -> Sym {
        if text.is_empty() {
            return Sym::NONE;
        }
        let mut hash = hash(text.as_bytes());
        loop {
            match self.by_hash.get(&hash) {
                Some(&sym) if self.strings.get(sym) == text => return sym,
                // Another text with the same hash: look at the next place.
                Some(_) => hash = hash.wrapping_add(0x9E37_79B9_7F4A_7C15),
                None => {
                    let sym = self.strings.push(text);
                    self.by_hash.insert(hash, sym);
                    return sym;
                }
            }
        }
    }

    pub(crate) fn get(&self, sym: Sym) -> &str {
        self.strings.get(sym)
    }

    pub(crate) fn finish(self) -> Strings {
        self.strings
    }
}

/// FNV-1a with a final mix: names are short, and the value is stored, so it must not change between runs.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut value: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in bytes {
        value = (value ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    value ^ (value >> 32)
}

/// For keys that are small numbers, addresses or hashes: nobody outside chooses them, so speed is all that counts.
#[derive(Default)]
pub(crate) struct Mixing(u64);

impl Mixing {
    fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        // Tables look at both ends of the value.
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.add(hash(bytes));
    }

    fn write_u8(&mut self, value: u8) {
        self.add(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.add(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.add(value as u64);
    }
}
