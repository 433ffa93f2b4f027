//! Climbs the ladder for one edit, and decides what a set of matches means.

use std::borrow::Cow;
use std::ops::Range;

use super::build::{self, Builder, Op};
use super::find::{self, Found, Level, MAX_MATCHES};
use super::lines::{self, Lines, occurrences};
use super::repeated::{self, Instead};
use super::variants::{self, Variant};
use super::{Edit, Refusal, RefusalKind, Splice, Strategy, anchored, edges, escapes, reading, refuse};
use crate::text::Encoding;

/// One edit, ready to be put in place.
pub(crate) struct Step {
    pub(crate) strategy: Strategy,
    pub(crate) splices: Vec<Splice>,
    pub(crate) note: Option<String>,
}

type Outcome = Result<Step, Box<Refusal>>;

/// What one edit does to these bytes.
pub(crate) fn settle(bytes: &[u8], edit: &Edit, index: usize, encoding: Encoding) -> Outcome {
    let context = Context { bytes, edit, index, encoding };
    context.check()?;
    let exact = find::exact(bytes, &edit.old);
    if !exact.is_empty() {
        return context.decide(None, Strategy::Exact, Level::Exact, exact, &edit.old, &edit.new);
    }
    let file = Lines::new(bytes, false);
    if let Some((level, found)) = find::tolerant(&file, &edit.old) {
        return context.decide(Some(&file), strategy(level), level, found, &edit.old, &edit.new);
    }
    for (strategy, variants) in [
        (Strategy::LineNumbers, variants::without_line_numbers(&edit.old, &edit.new)),
        (Strategy::Unescape, escapes::unescaped(&edit.old, &edit.new)),
    ] {
        if let Some(outcome) = context.best_variant(&file, strategy, &variants) {
            return outcome;
        }
    }
    if !edit.replace_all && edit.expected_count.unwrap_or(1) == 1 {
        let (old, new) = (lines::pieces(&edit.old), lines::pieces(&edit.new));
        let ops = build::ops(&old, &new);
        if let Some(found) = anchored::anchored(&file, &old, &new, &ops) {
            return context.decide(
                Some(&file),
                Strategy::Anchored,
                Level::Anchored,
                vec![found],
                &edit.old,
                &edit.new,
            );
        }
    }
    Err(Box::new(match repeated::instead(&file, &edit.old, &edit.new) {
        Some(Instead::Made(at)) => refuse::already_applied(&file, index, at),
        Some(Instead::Kept(at)) => refuse::perhaps_made(&file, index, &edit.old, at, true),
        Some(Instead::There(at)) => refuse::perhaps_made(&file, index, &edit.old, at, false),
        None => refuse::no_match(&file, index, &edit.old),
    }))
}

fn strategy(level: Level) -> Strategy {
    match level {
        Level::Exact => Strategy::Exact,
        Level::LineEndings => Strategy::LineEndings,
        Level::Whitespace | Level::BlankLines => Strategy::Whitespace,
        Level::Reindent | Level::ReindentBlankLines => Strategy::Reindent,
        Level::Anchored => Strategy::Anchored,
    }
}

struct Context<'a> {
    bytes: &'a [u8],
    edit: &'a Edit,
    index: usize,
    encoding: Encoding,
}

impl Context<'_> {
    /// What is wrong with the edit whatever the file holds.
    fn check(&self) -> Result<(), Box<Refusal>> {
        let Edit { old, new, .. } = self.edit;
        if old.is_empty() {
            return Err(Box::new(refuse::empty_old(self.index)));
        }
        if old == new {
            return Err(Box::new(refuse::no_change(self.index)));
        }
        if let Some(line) = variants::placeholder(old, new)
            && occurrences(self.bytes, line, 1).is_empty()
        {
            return Err(Box::new(refuse::placeholder(self.index, line)));
        }
        let strange = |c: &char| !c.is_ascii() && !old.contains(*c);
        if self.encoding == Encoding::Bytes && new.chars().any(|c| strange(&c)) {
            let message = "The file is not valid UTF-8, and new_string adds characters beyond ASCII; \
                           writing them as UTF-8 would mix encodings.";
            return Err(Box::new(refuse::not_lossless(self.index, message.to_owned())));
        }
        Ok(())
    }

    /// Of several readings, the one that has to forgive least.
    fn best_variant(&self, file: &Lines<'_>, strategy: Strategy, variants: &[Variant]) -> Option<Outcome> {
        let readable =
            variants.iter().filter(|variant| !variant.old.trim().is_empty() && variant.old != variant.new);
        let matched = readable.filter_map(|variant| {
            let exact = find::exact(self.bytes, &variant.old);
            let (level, found) =
                if exact.is_empty() { find::tolerant(file, &variant.old)? } else { (Level::Exact, exact) };
            Some((level, found, variant))
        });
        // A match that starts within a line's indentation has lost a blank of it.
        let within = |found: &[Found]| {
            let line = |one: &Found| file.get(file.at(one.start)).is_some_and(|line| line.start < one.start);
            found.iter().any(line)
        };
        let (level, mut found, variant) =
            matched.min_by_key(|(level, found, variant)| (*level, within(found), variant.rank))?;
        // The numbers that were left in say which of several equal places it was copied from.
        if let Some(first) = variant.first_line.filter(|_| found.len() > 1 && !self.edit.replace_all) {
            let named: Vec<Found> =
                found.iter().filter(|one| file.at(one.start) + 1 == first).cloned().collect();
            found = if named.len() == 1 { named } else { found };
        }
        Some(self.decide(Some(file), strategy, level, found, &variant.old, &variant.new))
    }

    /// One match, a chosen one, all, or a refusal.
    fn decide(
        &self,
        file: Option<&Lines<'_>>,
        strategy: Strategy,
        level: Level,
        found: Vec<Found>,
        old: &str,
        new: &str,
    ) -> Outcome {
        let chosen = self.choose(found)?;
        chosen.iter().try_for_each(|found| self.refuse_repeated(found, level, old, new))?;
        let mut notes: Vec<&'static str> = Vec::new();
        let (new, strategy) = self.at_borders(&chosen, strategy, level, old, new, &mut notes)?;
        let new = new.as_ref();
        let (old_pieces, new_pieces) = (lines::pieces(old), lines::pieces(new));
        let moved = match (file, chosen.as_slice()) {
            (Some(file), [one]) if level.moves_indent() => {
                reading::with_indent_of_file(file, one, &old_pieces, &new_pieces)
                    .map_err(|uncertain| self.uncertain(one, &uncertain.0))?
            }
            _ => None,
        };
        let old_pieces = match &moved {
            Some(moved) => moved.iter().map(String::as_str).collect(),
            None => old_pieces,
        };
        let literal = moved.is_none() && old_pieces == new_pieces;
        let ops = if literal { Vec::new() } else { self.steps(&chosen, level, &old_pieces, &new_pieces) };
        let builder = Builder {
            bytes: self.bytes,
            file,
            old: &old_pieces,
            new: &new_pieces,
            ops: &ops,
            level,
            lone_cr: false,
            ending: None,
        };
        let mut splices = Vec::with_capacity(chosen.len());
        for found in &chosen {
            // Old and new differ in line endings only: then those are the point.
            let bytes = if literal {
                new.as_bytes().to_vec()
            } else {
                builder.build(found).map_err(|uncertain| self.uncertain(found, &uncertain.0))?
            };
            splices.push((found.start..found.end, bytes));
        }
        self.check_result(&splices, level)?;
        notes.extend(
            note(strategy, level, &ops).filter(|_| strategy != Strategy::Reindent || notes.is_empty()),
        );
        Ok(Step { strategy, splices, note: (!notes.is_empty()).then(|| notes.join("; ")) })
    }

    /// The replacement as the borders of the match call for it.
    fn at_borders<'n>(
        &self,
        chosen: &[Found],
        strategy: Strategy,
        level: Level,
        old: &str,
        new: &'n str,
        notes: &mut Vec<&'static str>,
    ) -> Result<(Cow<'n, str>, Strategy), Box<Refusal>> {
        let mut out = (Cow::Borrowed(new), strategy);
        if let Some(adjusted) =
            edges::keep_newlines(self.bytes, chosen, strategy == Strategy::Exact, old, new)
        {
            out.0 = Cow::Owned(adjusted.new);
            notes.push(adjusted.note);
        } else if strategy != Strategy::Exact {
            let why = "new_string ends with a newline and old_string does not, so whether an empty line is meant is \
                       not certain";
            let dropped = edges::drop_newline(self.bytes, chosen, old, new);
            if let Some(adjusted) = dropped.map_err(|()| self.unclear_border(chosen, why))? {
                out.0 = Cow::Owned(adjusted.new);
                notes.push(adjusted.note);
            }
        }
        if let Some(rest) = self.doubled_indent(chosen, level, old, &out.0) {
            let rest = rest.to_owned();
            notes.push("the first line's indentation was in the file already and was not written twice");
            return Ok((Cow::Owned(rest), Strategy::Reindent));
        }
        if level <= Level::Whitespace {
            let why = "the line is indented there and old_string is not, so how deep the further lines of new_string \
                       belong is not certain";
            let indented = edges::indent_rest(self.bytes, chosen, old, &out.0);
            if let Some(adjusted) = indented.map_err(|()| self.unclear_border(chosen, why))? {
                notes.push(adjusted.note);
                return Ok((Cow::Owned(adjusted.new), Strategy::Reindent));
            }
        }
        Ok(out)
    }

    fn unclear_border(&self, chosen: &[Found], why: &str) -> Box<Refusal> {
        match chosen.first() {
            Some(found) => self.uncertain(found, why),
            None => Box::new(refuse::empty_old(self.index)),
        }
    }

    /// What happens to the lines. Where trailing blanks are forgiven, they are no change, unless they are the only one.
    fn steps(&self, chosen: &[Found], level: Level, old: &[&str], new: &[&str]) -> Vec<Op> {
        let ends_line = |found: &Found| {
            let rest = self.bytes.get(found.end..).unwrap_or_default();
            let starts_line = self.bytes.get(..found.end).unwrap_or_default().ends_with(b"\n");
            starts_line || rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
        };
        if level >= Level::Whitespace && chosen.iter().all(ends_line) {
            fn trimmed<'t>(lines: &[&'t str]) -> Vec<&'t str> {
                lines.iter().map(|line| line.trim_end()).collect()
            }
            let ops = build::ops(&trimmed(old), &trimmed(new));
            if ops.iter().any(|op| !matches!(op, Op::Keep(_))) {
                return ops;
            }
        }
        build::ops(old, new)
    }

    /// The replacement without its first indentation, where the search text left out exactly that one: it is in the
    /// file, before the match, and would come twice.
    fn doubled_indent<'n>(&self, chosen: &[Found], level: Level, old: &str, new: &'n str) -> Option<&'n str> {
        let ([one], true) = (chosen, level <= Level::LineEndings) else { return None };
        let before = self.bytes.get(..one.start)?;
        let line = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let there = std::str::from_utf8(before.get(line..)?).ok()?;
        let rest = new.strip_prefix(there)?;
        let doubled = is_indent(there) && !old.starts_with([' ', '\t']) && !rest.starts_with([' ', '\t']);
        (doubled && rest.trim() != old.trim()).then_some(rest)
    }

    fn choose(&self, found: Vec<Found>) -> Result<Vec<Found>, Box<Refusal>> {
        let Edit { replace_all, near_line, expected_count, .. } = *self.edit;
        let all = replace_all || expected_count.is_some_and(|count| count > 1);
        if all && found.len() >= MAX_MATCHES {
            return Err(Box::new(refuse::too_many(self.index)));
        }
        if all {
            let apart = without_overlaps(found);
            return match expected_count {
                Some(count) if count != apart.len() => {
                    Err(Box::new(refuse::count_mismatch(self.bytes, self.index, count, &apart)))
                }
                _ => Ok(apart),
            };
        }
        if expected_count == Some(0) {
            return Err(Box::new(refuse::count_mismatch(self.bytes, self.index, 0, &found)));
        }
        if found.len() == 1 {
            return Ok(found);
        }
        if let Some(line) = near_line
            && let Some(nearest) = nearest(self.bytes, &found, line)
        {
            return Ok(vec![nearest]);
        }
        Err(Box::new(refuse::ambiguous(self.bytes, self.index, &found, near_line)))
    }

    /// The match lies within what the replacement would make of it: this edit was made before.
    fn refuse_repeated(&self, found: &Found, level: Level, old: &str, new: &str) -> Result<(), Box<Refusal>> {
        if self.edit.replace_all {
            return Ok(());
        }
        let there = if level == Level::Exact {
            new.match_indices(old).any(|(at, _)| {
                let added = [new.get(..at), new.get(at + old.len()..)];
                let start = found.start.checked_sub(at);
                start.and_then(|start| self.bytes.get(start..start + new.len())) == Some(new.as_bytes())
                    && added
                        .iter()
                        .flatten()
                        .any(|part| part.chars().any(char::is_alphanumeric) || is_indent(part))
            })
        } else {
            repeated::around(&Lines::new(self.bytes, false), found, old, new)
        };
        if !there {
            return Ok(());
        }
        let file = Lines::new(self.bytes, false);
        Err(Box::new(refuse::already_applied(&file, self.index, found.start..found.end)))
    }

    fn uncertain(&self, found: &Found, why: &str) -> Box<Refusal> {
        let file = Lines::new(self.bytes, false);
        Box::new(refuse::uncertain(&file, self.index, &self.edit.old, found, why))
    }

    fn check_result(&self, splices: &[Splice], level: Level) -> Result<(), Box<Refusal>> {
        let before = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
        if splices.iter().all(|(range, bytes)| before(range) == bytes) {
            return Err(Box::new(refuse::nothing_left(self.bytes, self.index, splices)));
        }
        let lost = |bytes: &[u8]| occurrences(bytes, "\u{fffd}", usize::MAX).len();
        if self.encoding == Encoding::Bytes
            && level > Level::Exact
            && splices.iter().any(|(range, bytes)| lost(bytes) > lost(before(range)))
        {
            let message = "The changed line holds bytes that are not valid UTF-8 and were shown as U+FFFD.";
            return Err(Box::new(refuse::not_lossless(self.index, message.to_owned())));
        }
        Ok(())
    }
}

fn note(strategy: Strategy, level: Level, ops: &[Op]) -> Option<&'static str> {
    let stayed = ops.iter().any(|op| matches!(op, Op::Keep(_)));
    match (strategy, level) {
        (Strategy::Exact, _) => None,
        (Strategy::Anchored, _) => {
            Some("a line of old_string is not what the file has; the file's line was kept")
        }
        (Strategy::LineNumbers, _) => Some("line numbers were removed from old_string and new_string"),
        (Strategy::Unescape, _) => Some("escapes in old_string and new_string were undone"),
        (_, Level::Reindent | Level::ReindentBlankLines) => {
            Some("new_string was re-indented to fit the file")
        }
        _ if stayed => Some("unchanged lines kept the file's own bytes"),
        _ => None,
    }
}

/// Blanks only: an edit that indents, made twice, indents twice.
fn is_indent(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| matches!(b, b' ' | b'\t'))
}

fn without_overlaps(found: Vec<Found>) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        if out.last().is_none_or(|last| last.end <= next.start) {
            out.push(next);
        }
    }
    out
}

/// The match nearest to a line, unless two are equally near.
fn nearest(bytes: &[u8], found: &[Found], line: usize) -> Option<Found> {
    let mut best: Option<(usize, &Found)> = None;
    let mut tie = false;
    let (mut at, mut lines) = (0, 1);
    for candidate in found {
        let newlines = |range: Range<usize>| {
            bytes.get(range).unwrap_or_default().iter().filter(|b| **b == b'\n').count()
        };
        lines += newlines(at..candidate.start);
        at = candidate.start;
        let last = lines + newlines(candidate.start..candidate.end.saturating_sub(1).max(candidate.start));
        let distance = if line < lines { lines - line } else { line.saturating_sub(last) };
        match best {
            Some((least, _)) if distance > least => {}
            Some((least, _)) if distance == least => tie = true,
            _ => {
                best = Some((distance, candidate));
                tie = false;
            }
        }
    }
    best.filter(|_| !tie).map(|(_, found)| found.clone())
}

/// Whether a refusal is about the text not being found, so that an earlier edit may be the reason.
pub(crate) fn is_missing(kind: RefusalKind) -> bool {
    matches!(kind, RefusalKind::NoMatch | RefusalKind::AlreadyApplied)
}
