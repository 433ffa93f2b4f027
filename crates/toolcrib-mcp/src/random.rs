//! Numbers that nobody can guess.

/// 256 random bits in hexadecimal, for tokens and session ids. `None` where the system has none to give.
pub fn token() -> Option<String> {
    bytes().map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(crate) fn bytes() -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}
