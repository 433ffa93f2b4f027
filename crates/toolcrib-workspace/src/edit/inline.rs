//! Changes within a line whose typography the caller remembers differently.

use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::lines::{plain, units};

/// Typographic families of the caller, by their plain form, that the file has in plain form; `false` where it has
/// both. One half of a pair of quotes is evidence for the other.
pub(crate) type Substitutions = BTreeMap<&'static str, bool>;

/// Offsets after which `a` and `b` have folded to the same length, as pairs.
fn borders(a: &[u8], b: &[u8]) -> Vec<(usize, usize)> {
    fn steps(bytes: &[u8]) -> Vec<(usize, usize)> {
        let (mut raw, mut folded) = (0, 0);
        let mut out = vec![(0, 0)];
        for (c, len) in units(bytes) {
            raw += len;
            folded += plain(c).map_or(c.len_utf8(), str::len);
            out.push((folded, raw));
        }
        out
    }
    let (a, b) = (steps(a), steps(b));
    let mut out = Vec::new();
    let mut b = b.iter().peekable();
    for (folded, raw) in a {
        while b.next_if(|(other, _)| *other < folded).is_some() {}
        if let Some((other, theirs)) = b.peek()
            && *other == folded
        {
            out.push((raw, *theirs));
        }
    }
    out
}

/// Notes which typographic characters of `old` are plain in the file's version of the line.
pub(crate) fn learn(substitutions: &mut Substitutions, file: &[u8], old: &str) {
    if old.is_ascii() {
        return;
    }
    let indent = |bytes: &[u8]| bytes.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let file = file.get(indent(file)..).unwrap_or_default();
    let old = old.get(indent(old.as_bytes())..).unwrap_or_default();
    for pair in borders(old.as_bytes(), file).windows(2) {
        let &[(a, x), (b, y)] = pair else { continue };
        let (Some(mine), Some(theirs)) = (old.get(a..b), file.get(x..y)) else { continue };
        let mut chars = mine.chars();
        let (Some(c), None) = (chars.next(), chars.next()) else { continue };
        let Some(simple) = plain(c) else { continue };
        *substitutions.entry(simple).or_insert(true) &= theirs == simple.as_bytes();
    }
}

/// Any typography that the file has plain is evidence for quotes too, where the file has no typographic ones: half of
/// a pair, or one kind of quotes, made plain alone would be worse than either.
pub(crate) fn learn_quotes<'a>(substitutions: &mut Substitutions, mut file: impl Iterator<Item = &'a [u8]>) {
    const QUOTES: [&str; 2] = ["'", "\""];
    let evident = !substitutions.is_empty() && substitutions.values().all(|plain| *plain);
    let quote = |c: char| plain(c).is_some_and(|simple| QUOTES.contains(&simple));
    if evident && !file.any(|body| units(body).any(|(c, _)| quote(c))) {
        substitutions.extend(QUOTES.map(|quote| (quote, true)));
    }
}

/// Makes plain what the file has plain.
pub(crate) fn substitute(substitutions: &Substitutions, text: &str) -> String {
    if substitutions.is_empty() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match plain(c).filter(|simple| substitutions.get(simple) == Some(&true)) {
            Some(simple) => out.push_str(simple),
            None => out.push(c),
        }
    }
    out
}

/// The file's line with the change from `old` to `new` made in it: words that both have keep the file's bytes.
pub(crate) fn merge(file: &[u8], old: &str, new: &str, tidy: &dyn Fn(&str) -> String) -> Vec<u8> {
    if file == old.as_bytes() {
        return new.as_bytes().to_vec();
    }
    let map: BTreeMap<usize, usize> = borders(old.as_bytes(), file).into_iter().collect();
    let (from, to) = (words(old), words(new));
    let mut out = Vec::with_capacity(file.len());
    let mut at = 0;
    for op in capture_diff_slices(Algorithm::Myers, &from, &to) {
        let kept: usize = from.get(op.old_range()).unwrap_or_default().iter().map(|word| word.len()).sum();
        let own = match op {
            DiffOp::Equal { .. } => {
                map.get(&at).zip(map.get(&(at + kept))).and_then(|(start, end)| file.get(*start..*end))
            }
            _ => None,
        };
        match own {
            Some(own) => out.extend_from_slice(own),
            None => {
                let text: String = to.get(op.new_range()).unwrap_or_default().concat();
                let last = op.new_range().end == to.len();
                // Only the end of the line may be trimmed; `tidy` cannot know where a part lies.
                let tidied = tidy(&text);
                out.extend_from_slice(tidied.as_bytes());
                if !last {
                    let trimmed = text.len() - text.trim_end().len();
                    let left = tidied.len() - tidied.trim_end().len();
                    if left < trimmed {
                        out.extend_from_slice(
                            text.get(text.len() - trimmed + left..).unwrap_or_default().as_bytes(),
                        );
                    }
                }
            }
        }
        at += kept;
    }
    out
}

/// Runs of letters and digits, runs of blanks, and single other characters.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        ' ' | '\t' => 1,
        _ => 2,
    };
    let mut out = Vec::new();
    let mut start = 0;
    let mut previous = None;
    for (at, c) in text.char_indices() {
        let now = class(c);
        if previous.is_some_and(|before| before != now || now == 2) {
            out.extend(text.get(start..at));
            start = at;
        }
        previous = Some(now);
    }
    out.extend(text.get(start..).filter(|rest| !rest.is_empty()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_words_keep_the_typography_of_the_file() {
        let keep = |text: &str| text.to_owned();
        let merged = merge(
            "say “hi” — and “bye”…".as_bytes(),
            "say \"hi\" - and \"bye\"...",
            "say \"hi\" - then \"bye\"...",
            &keep,
        );
        assert_eq!(String::from_utf8(merged).unwrap(), "say “hi” — then “bye”…");
    }

    #[test]
    fn typography_of_the_caller_becomes_plain_where_the_file_is() {
        let mut learnt = Substitutions::new();
        learn(&mut learnt, b"\tprint(\"a\")", "    print(“a”)");
        assert_eq!(substitute(&learnt, "print(“b”)"), "print(\"b\")");
        learn(&mut learnt, "“x".as_bytes(), "“x");
        assert_eq!(substitute(&learnt, "“b”"), "“b”");
    }
}
