//! Names that a caller may have meant.

use std::ffi::OsStr;

use crate::fs::Folder;

/// More names than this are not compared: a suggestion is not worth a long search.
const MAX_COMPARED: usize = 5_000;
const MAX_SHOWN: usize = 5;
const SIMILAR: f64 = 0.85;

/// The names in `folder` most like `wanted`, best first: those that only look the same before those that resemble it.
pub(super) fn near_names(folder: &dyn Folder, wanted: &OsStr) -> Vec<String> {
    let Ok(entries) = folder.entries_up_to(MAX_COMPARED) else { return Vec::new() };
    let wanted = skeleton(&wanted.to_string_lossy());
    let mut scored: Vec<(f64, String)> = Vec::new();
    for entry in entries {
        let Some(name) = entry.name.to_str().filter(|name| !name.starts_with(crate::fs::TEMP_PREFIX)) else {
            continue;
        };
        let other = skeleton(name);
        let stem = |text: &str| text.rsplit_once('.').map_or(text.to_owned(), |(stem, _)| stem.to_owned());
        let score = if other == wanted {
            2.0
        } else if !stem(&wanted).is_empty() && stem(&other) == stem(&wanted) {
            1.0
        } else {
            resemblance(&other, &wanted)
        };
        if score >= SIMILAR {
            scored.push((score, name.to_owned()));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(MAX_SHOWN).map(|(_, name)| name).collect()
}

/// A slip or two of the finger, or a shared beginning with little else.
fn resemblance(a: &str, b: &str) -> f64 {
    let slips = strsim::damerau_levenshtein(a, b);
    let allowed = a.chars().count().max(b.chars().count()).div_ceil(4);
    if slips <= allowed { 0.99 - slips as f64 / 100.0 } else { strsim::jaro_winkler(a, b).min(0.9) - 0.02 }
}

/// A name without case, marks and invisible characters, so that look-alikes are equal: also the composed and the
/// decomposed form of the common Latin letters.
fn skeleton(name: &str) -> String {
    let folded = crate::path::folded(OsStr::new(name));
    folded.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).map(base_letter).collect()
}

fn base_letter(c: char) -> char {
    const GROUPS: [(char, &str); 15] = [
        ('a', "àáâãäåāăąǎ"),
        ('c', "çćĉċč"),
        ('d', "ď"),
        ('e', "èéêëēĕėęě"),
        ('g', "ĝğġģ"),
        ('i', "ìíîïĩīĭįǐ"),
        ('l', "ĺļľ"),
        ('n', "ñńņň"),
        ('o', "òóôõöōŏőǒ"),
        ('r', "ŕŗř"),
        ('s', "śŝşš"),
        ('t', "ţťț"),
        ('u', "ùúûüũūŭůűųǔ"),
        ('y', "ýÿŷ"),
        ('z', "źżž"),
    ];
    if c.is_ascii() {
        return c;
    }
    GROUPS.iter().find(|(_, group)| group.contains(c)).map_or(c, |(base, _)| *base)
}
