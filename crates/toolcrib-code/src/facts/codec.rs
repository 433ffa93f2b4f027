//! Facts as bytes.
//!
//! Postcard writes small numbers in one byte, so positions that only grow are turned into distances first.

use super::FileFacts;

impl FileFacts {
    /// As bytes to store.
    pub fn encode(&self) -> Vec<u8> {
        let mut facts = self.clone();
        facts.lines.shrink();
        let mut last = 0;
        for reference in &mut facts.references {
            (last, reference.start) = (reference.start, zigzag(reference.start.wrapping_sub(last)));
        }
        postcard::to_stdvec(&facts).unwrap_or_default()
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
