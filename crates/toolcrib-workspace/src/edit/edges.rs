//! What the borders of a match mean: newlines that only one of the texts has, and indentation outside of the match.

use super::find::Found;
use super::indent::unit_around;
use super::lines::{self, Lines, indent};
use super::pairing::alike;

/// A replacement changed at its borders, and what to say about it.
pub(crate) struct Adjusted {
    pub(crate) new: String,
    pub(crate) note: &'static str,
}

/// Where a match lies in its lines.
struct Place<'a> {
    region: &'a [u8],
    /// What is on the first line before it, and on the last line after it.
    before: &'a [u8],
    after: &'a [u8],
}

impl<'a> Place<'a> {
    fn new(bytes: &'a [u8], found: &Found) -> Place<'a> {
        let head = bytes.get(..found.start).unwrap_or_default();
        let tail = bytes.get(found.end..).unwrap_or_default();
        let line = head.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let rest = tail.iter().position(|b| *b == b'\n').unwrap_or(tail.len());
        let after = tail.get(..rest).unwrap_or_default();
        Place {
            region: bytes.get(found.start..found.end).unwrap_or_default(),
            before: head.get(line..).unwrap_or_default(),
            after: after.strip_suffix(b"\r").unwrap_or(after),
        }
    }

    fn starts_with_newline(&self) -> bool {
        self.region.starts_with(b"\n") || self.region.starts_with(b"\r\n")
    }

    fn starts_a_line(&self) -> bool {
        self.before.iter().all(|b| matches!(b, b' ' | b'\t'))
    }

    fn ends_a_line(&self) -> bool {
        self.region.ends_with(b"\n") || self.after.is_empty()
    }
}

fn blanks(text: &str) -> usize {
    lines::pieces(text).iter().filter(|piece| piece.trim().is_empty()).count()
}

/// Keeps the newlines at a border that only the search text has: without them two lines would become one, which
/// nobody asks for along with another change.
pub(crate) fn keep_newlines(
    bytes: &[u8],
    chosen: &[Found],
    exact: bool,
    old: &str,
    new: &str,
) -> Option<Adjusted> {
    if new.trim().is_empty() || old.trim() == new.trim() || chosen.is_empty() {
        return None;
    }
    // The end of a search text may be the blank line below, which an exact one may well mean to replace.
    let blank_line_meant = exact || blanks(new) >= blanks(old);
    let places: Vec<Place<'_>> = chosen.iter().map(|found| Place::new(bytes, found)).collect();
    let ends = !new.ends_with('\n')
        && places.iter().all(|place| {
            place.region.ends_with(b"\n") && (place.starts_a_line() || place.starts_with_newline())
        });
    let starts = !new.starts_with('\n')
        && !new.starts_with("\r\n")
        && places.iter().all(|place| place.starts_with_newline() && place.ends_a_line());
    let joins_below = ends && places.iter().all(|place| !(place.after.is_empty() && blank_line_meant));
    // Above, a newline of its own is a blank line, which may be meant to go.
    let joins_above = starts && places.iter().all(|place| !place.before.is_empty());
    // Where one border was trimmed, so was the other.
    let (above, below) = (joins_above || (starts && joins_below), joins_below || (ends && joins_above));
    let newlines = |chars: &mut dyn Iterator<Item = char>| {
        "\n".repeat(chars.take_while(|c| matches!(c, '\n' | '\r')).filter(|c| *c == '\n').count())
    };
    let head = if above { newlines(&mut old.chars()) } else { String::new() };
    let tail = if below { newlines(&mut old.chars().rev()) } else { String::new() };
    (above || below).then(|| Adjusted {
        new: format!("{head}{new}{tail}"),
        note: "the newline at the border of old_string was kept, or two lines would have become one",
    })
}

/// Drops the newline at the end that only the replacement has, where the match was not exact and so was not copied
/// with care. `Err` where an empty line may be meant.
pub(crate) fn drop_newline(
    bytes: &[u8],
    chosen: &[Found],
    old: &str,
    new: &str,
) -> Result<Option<Adjusted>, ()> {
    let Some(rest) = new.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest)) else {
        return Ok(None);
    };
    let whole = chosen.iter().all(|found| {
        let place = Place::new(bytes, found);
        place.starts_a_line() && place.after.is_empty() && !place.region.ends_with(b"\n")
    });
    let last =
        |text: &str| text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
    // A blank line of the search text comes to stand at the end when what is below it goes.
    let pieces = lines::pieces(old);
    let blank_line_stays = pieces
        .windows(2)
        .any(|pair| matches!(pair, [line, blank] if blank.trim().is_empty() && line.trim() == last(rest)));
    if old.ends_with('\n') || !whole || rest.trim().is_empty() || rest == old {
        return Ok(None);
    }
    match (blank_line_stays, last(old) == last(rest)) {
        (true, false) => return Ok(None),
        (true, true) => return Err(()),
        _ => {}
    }
    if rest.ends_with('\n') || alike(&last(old), &last(rest)) < 0.5 {
        return Err(());
    }
    let note = "the newline at the end of new_string was left out, as old_string has none";
    Ok(Some(Adjusted { new: rest.to_owned(), note }))
}

/// The replacement of a search text of one line that left out the line's indentation, with that indentation on its
/// further lines too. They are left alone if they can only be meant as they are; `Err` where both are likely.
pub(crate) fn indent_rest(
    bytes: &[u8],
    chosen: &[Found],
    old: &str,
    new: &str,
) -> Result<Option<Adjusted>, ()> {
    let [one] = chosen else { return Ok(None) };
    let place = Place::new(bytes, one);
    let own = std::str::from_utf8(place.before).unwrap_or_default();
    let pieces = lines::pieces(new);
    let Some((first, rest)) = pieces.split_first() else { return Ok(None) };
    if own.is_empty()
        || !place.starts_a_line()
        || old.trim_end_matches(['\r', '\n']).contains('\n')
        || old.starts_with([' ', '\t', '\n', '\r'])
        || first.trim().is_empty()
        || !indent(first).is_empty()
        || opens_text(first)
        || least_depth(new) < least_depth(old).min(0)
    {
        return Ok(None);
    }
    let solid: Vec<&str> = rest.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    let Some(next) = solid.first().map(|line| indent(line)) else { return Ok(None) };
    // Tabs and spaces cannot be added up.
    let blank = if own.contains('\t') { ' ' } else { '\t' };
    if solid.iter().any(|line| indent(line).contains(blank)) {
        return Ok(None);
    }
    let flush = pieces.iter().skip(1).position(|line| !line.trim().is_empty() && indent(line).is_empty());
    // The line below one that opens a block is deeper; as it stands, it would not be.
    let file = Lines::new(bytes, false);
    let line = file.at(one.start);
    let step = |depth: usize| unit_around(&file, line, line).is_none_or(|unit| unit == depth);
    let child = opens_block(first) && !next.is_empty() && next.len() <= own.len() && step(next.len());
    match flush {
        None if !child => return Ok(None),
        // After a blank line something new may begin, outside of the block that the line is in.
        Some(at) if pieces.get(at).is_some_and(|line| line.trim().is_empty()) => return Err(()),
        _ => {}
    }
    let lines = rest.iter().map(|line| match line.trim().is_empty() {
        true => (*line).to_owned(),
        false => format!("{own}{line}"),
    });
    let new = [(*first).to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n");
    let note = "the further lines of new_string got the indentation that old_string left out";
    Ok(Some(Adjusted { new, note }))
}

/// How far a text closes brackets that it did not open, as a depth below zero.
fn least_depth(text: &str) -> isize {
    let (mut depth, mut least) = (0isize, 0);
    for c in text.chars() {
        depth += match c {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        least = least.min(depth);
    }
    least
}

/// Whether the lines below belong deeper.
fn opens_block(line: &str) -> bool {
    const WORDS: [&str; 5] = ["then", "do", "else", "begin", "try"];
    let line = line.trim_end();
    let word = line.rsplit([' ', '\t', ';']).next().unwrap_or_default();
    line.ends_with(['{', '(', '[', ':']) || WORDS.contains(&word)
}

/// Whether a text begins in this line whose further lines are not code, so that their indentation is content.
fn opens_text(line: &str) -> bool {
    let odd = |mark: &str| line.matches(mark).count() % 2 == 1;
    odd("\"\"\"") || odd("'''") || odd("`") || line.contains("<<") || odd("\"")
}
