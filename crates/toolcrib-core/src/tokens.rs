//! Counting tokens with a real tokenizer (o200k), loaded when it is first needed.
//!
//! Loading takes tens of milliseconds, so a text that fits by its bytes alone never causes it: no token is shorter
//! than a byte.

use std::sync::OnceLock;

static TOKENIZER: OnceLock<&'static bpe_openai::Tokenizer> = OnceLock::new();

fn tokenizer() -> &'static bpe_openai::Tokenizer {
    TOKENIZER.get_or_init(bpe_openai::o200k_base)
}

/// Loads the tokenizer now, so that no call has to wait for it. For servers, at start, on a thread of its own.
pub fn warm() {
    tokenizer();
}

/// Whether the tokenizer is loaded.
pub fn is_loaded() -> bool {
    TOKENIZER.get().is_some()
}

/// The number of tokens in `text`.
pub fn count(text: &str) -> usize {
    tokenizer().count(text)
}

/// Whether `text` is at most `limit` tokens. Does not load the tokenizer for texts that fit anyway.
pub fn fits(text: &str, limit: usize) -> bool {
    if text.len() <= limit {
        return true;
    }
    let tokenizer = tokenizer();
    tokenizer.count_till_limit(&tokenizer.normalize(text), limit).is_some()
}

/// The number of tokens, and whether it is only an estimate because the tokenizer has not been needed yet.
pub fn count_or_estimate(text: &str) -> (usize, bool) {
    if is_loaded() { (count(text), false) } else { (estimate(text), true) }
}

/// Source code has about 3.6 bytes a token.
fn estimate(text: &str) -> usize {
    (text.len() * 10).div_ceil(36)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_limits_agree() {
        let text = "fn main() {\n\tprintln!(\"hello\");\n}\n".repeat(50);
        let exact = count(&text);
        assert!(fits(&text, exact) && !fits(&text, exact - 1));
        let estimated = estimate(&text);
        assert!(estimated > exact / 2 && estimated < exact * 2, "{estimated} against {exact}");
        assert_eq!(count_or_estimate(&text), (exact, false));
    }
}
