//! The hash by which contents are compared and kept.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, ErrorKind};

/// A BLAKE3 hash of file content. Shown as the first 16 bytes in hex: short enough to print, and still beyond
/// collision by accident. Two hashes are equal when those 16 bytes are, so one read back from text compares well.
#[derive(Clone, Copy)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    fn shown(&self) -> &[u8] {
        self.0.get(..16).unwrap_or_default()
    }
}

impl PartialEq for Hash {
    fn eq(&self, other: &Self) -> bool {
        self.shown() == other.shown()
    }
}

impl Eq for Hash {}

impl std::hash::Hash for Hash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.shown().hash(state);
    }
}

impl PartialOrd for Hash {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Hash {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.shown().cmp(other.shown())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl FromStr for Hash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bad = || Error::new(ErrorKind::Corrupt, "a hash is 32 hexadecimal digits");
        if text.len() != 32 || !text.is_ascii() {
            return Err(bad());
        }
        let mut bytes = [0_u8; 32];
        for (slot, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
            *slot = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_reads_back_equal() {
        let hash = Hash::of(b"abc");
        assert_eq!(hash.to_string(), "6437b3ac38465133ffb63b75273a8db5");
        assert_eq!(hash.to_string().parse::<Hash>().unwrap(), hash);
        assert_eq!(serde_json::to_string(&hash).unwrap(), "\"6437b3ac38465133ffb63b75273a8db5\"");
        assert_ne!(hash, Hash::of(b"abd"));
        assert!("6437".parse::<Hash>().is_err());
        assert!("g437b3ac38465133ffb63b75273a8db5".parse::<Hash>().is_err());
    }
}
