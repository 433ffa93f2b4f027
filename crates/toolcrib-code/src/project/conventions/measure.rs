//! Counting, and saying what the counts mean.

use std::collections::BTreeMap;

use serde::Serialize;

/// A style that fewer than this follow is none.
pub(super) const MIN_SHARE: f64 = 0.6;
/// Fewer occurrences than these show no style.
pub(super) const MIN_COUNT: usize = 5;
/// Examples kept.
const EXAMPLES: usize = 3;

/// What was measured of one thing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measure {
    /// The style that most follow; `none` if fewer than 60 % do, or there are fewer than 5.
    pub style: String,
    /// The share of the most frequent style.
    pub share: f64,
    /// How many were looked at.
    pub n: usize,
    /// How many of each style.
    pub counts: BTreeMap<String, usize>,
    /// A few of the most frequent style.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// Occurrences by style.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(BTreeMap<String, (usize, Vec<String>)>);

impl Tally {
    pub(super) fn add(&mut self, style: &str, example: &str) {
        self.many(style, 1, example);
    }

    pub(super) fn many(&mut self, style: &str, count: usize, example: &str) {
        if count == 0 {
            return;
        }
        let (sum, examples) = self.0.entry(style.to_owned()).or_default();
        *sum += count;
        if examples.len() < EXAMPLES && !example.is_empty() && !examples.iter().any(|known| known == example)
        {
            examples.push(example.to_owned());
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (style, (count, examples)) in other.0 {
            let (sum, kept) = self.0.entry(style).or_default();
            *sum += count;
            for example in examples {
                if kept.len() < EXAMPLES && !kept.contains(&example) {
                    kept.push(example);
                }
            }
        }
    }

    pub(super) fn count(&self, style: &str) -> usize {
        self.0.get(style).map_or(0, |(count, _)| *count)
    }

    /// Counts what was under one name under another.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        if let Some((count, examples)) = self.0.remove(from) {
            let (sum, kept) = self.0.entry(to.to_owned()).or_default();
            *sum += count;
            kept.extend(examples);
            kept.truncate(EXAMPLES);
        }
    }

    pub(super) fn finish(self) -> Measure {
        let n: usize = self.0.values().map(|(count, _)| count).sum();
        // Of equals the first by name.
        let winner = self.0.iter().max_by(|a, b| a.1.0.cmp(&b.1.0).then_with(|| b.0.cmp(a.0)));
        let (style, count, examples) = match winner {
            Some((style, (count, examples))) => (style.clone(), *count, examples.clone()),
            None => (String::new(), 0, Vec::new()),
        };
        let share = share(count, n);
        let plain = n >= MIN_COUNT && share >= MIN_SHARE;
        Measure {
            style: if plain { style } else { "none".to_owned() },
            share,
            n,
            counts: self.0.into_iter().map(|(style, (count, _))| (style, count)).collect(),
            examples,
        }
    }
}

/// A share to three places.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1000.0).round() / 1000.0 }
}

/// How a name is written. Names that fit several styles are `lowercase` or `UPPERCASE`.
pub(super) fn name_style(name: &str) -> Option<&'static str> {
    let name = name.trim_matches(['_', '$', '?', '!']);
    if name.chars().count() < 2 || !name.chars().any(char::is_alphabetic) {
        return None;
    }
    let upper = name.chars().any(char::is_uppercase);
    let lower = name.chars().any(char::is_lowercase);
    let capital = name.starts_with(char::is_uppercase);
    let style = match (name.contains('_'), name.contains('-'), upper, lower) {
        (true, true, ..) => "mixed",
        (true, _, false, _) => "snake_case",
        (true, _, true, false) => "SCREAMING_SNAKE_CASE",
        (true, ..) => "mixed",
        (_, true, false, _) => "kebab-case",
        (_, true, ..) => "mixed",
        (_, _, false, _) => "lowercase",
        (_, _, true, false) => "UPPERCASE",
        _ if capital => "PascalCase",
        _ => "camelCase",
    };
    Some(style)
}

/// Counts names of one word, which fit several styles, with the style that the others have.
pub(super) fn settle(mut names: Tally, kind: &str, language: &str) -> Tally {
    let mut candidates = ["snake_case", "camelCase", "kebab-case"];
    candidates.sort_by_key(|style| std::cmp::Reverse(names.count(style)));
    if let Some(style) = candidates.first().filter(|style| names.count(style) > 0) {
        names.rename("lowercase", style);
    }
    let upper = if kind == "type" || kind == "file" { "PascalCase" } else { "SCREAMING_SNAKE_CASE" };
    names.rename("UPPERCASE", upper);
    if language == "Go" && kind != "file" {
        // What tells the two apart is whether a name is exported, and that is no matter of style.
        names.rename("camelCase", "MixedCaps");
        names.rename("PascalCase", "MixedCaps");
        names.rename("lowercase", "MixedCaps");
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_of_names() {
        for (name, style) in [
            ("parse_config", Some("snake_case")),
            ("_private_name", Some("snake_case")),
            ("parseConfig", Some("camelCase")),
            ("ParseConfig", Some("PascalCase")),
            ("MAX_SIZE", Some("SCREAMING_SNAKE_CASE")),
            ("MAX", Some("UPPERCASE")),
            ("my-file", Some("kebab-case")),
            ("run", Some("lowercase")),
            ("Weird_Name", Some("mixed")),
            ("x", None),
            ("__", None),
        ] {
            assert_eq!(name_style(name), style, "{name}");
        }
    }

    #[test]
    fn no_style_below_the_thresholds() {
        let tally = |a: usize, b: usize| {
            let mut tally = Tally::default();
            tally.many("a", a, "x");
            tally.many("b", b, "y");
            tally.finish()
        };
        assert_eq!(tally(4, 0).style, "none", "too few");
        assert_eq!(tally(5, 0).style, "a");
        assert_eq!(tally(6, 4).style, "a");
        let even = tally(5, 5);
        assert_eq!((even.style.as_str(), even.share, even.n), ("none", 0.5, 10));
        assert_eq!(Tally::default().finish().style, "none");
    }

    #[test]
    fn names_of_one_word_go_with_the_others() {
        let mut names = Tally::default();
        names.many("lowercase", 6, "");
        names.many("snake_case", 3, "");
        names.many("camelCase", 1, "");
        let measure = settle(names, "function", "Rust").finish();
        assert_eq!((measure.style.as_str(), measure.share), ("snake_case", 0.9));
    }
}
