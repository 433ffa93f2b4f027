//! What a plain search for the word would give: every place with the name of a definition is a use of it.

use std::collections::HashMap;

use toolcrib_code::scip::SymbolId;

use crate::counts::{Counts, class_of};
use crate::references::wanted;
use crate::truth::Truth;

pub(crate) fn score(truth: &Truth, counts: &mut Counts) {
    let mut named: HashMap<String, Vec<SymbolId>> = HashMap::new();
    for (symbol, _) in truth.defined() {
        if class_of(truth.class(symbol)).is_some_and(|class| class < 3) {
            named.entry(truth.name(symbol)).or_default().push(symbol);
        }
    }
    for (file, known) in &truth.files {
        for (start, word) in words(&known.source) {
            let Some(symbols) = named.get(word) else { continue };
            let place = known.places.get(&start);
            for symbol in symbols {
                if truth.definitions(*symbol).contains(&(*file, start)) {
                    continue;
                }
                counts.word_pairs += 1;
                counts.word_right += usize::from(place.is_some_and(|place| place.uses.contains(symbol)));
            }
        }
        for (start, place) in &known.places {
            let Some((class, symbols)) = wanted(truth, *file, *start) else { continue };
            if class >= 3 {
                continue;
            }
            counts.word_uses += 1;
            let text = place.span.of(&known.source);
            let found = symbols.iter().any(|symbol| truth.name(*symbol).as_bytes() == text);
            counts.word_found += usize::from(found);
        }
    }
}

fn words(source: &[u8]) -> impl Iterator<Item = (u32, &str)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += source[at..].iter().position(is_part)?;
            let length = source[at..].iter().position(|byte| !is_part(byte)).unwrap_or(source.len() - at);
            let start = at;
            at += length;
            if let Ok(word) = std::str::from_utf8(&source[start..at]) {
                return Some((start as u32, word));
            }
        }
    })
}
