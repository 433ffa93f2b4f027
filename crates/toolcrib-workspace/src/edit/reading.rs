//! Whether a replacement is indented as the search text or as the file, where those two differ.

use super::build::Uncertain;
use super::find::Found;
use super::lines::{Lines, indent};

/// The search text with the file's indentation, if the replacement is written with that one and not with that of the
/// search text: then only the search text is off, and there is nothing to translate.
pub(crate) fn with_indent_of_file(
    file: &Lines<'_>,
    found: &Found,
    old: &[&str],
    new: &[&str],
) -> Result<Option<Vec<String>>, Uncertain> {
    let first = file.at(found.start);
    let mut moved = Vec::with_capacity(old.len());
    for (index, piece) in old.iter().enumerate() {
        let at = found.map.get(index).copied().flatten().filter(|_| !piece.trim().is_empty());
        moved.push(match at {
            Some(at) => {
                let real = String::from_utf8_lossy(file.body(first + at)).into_owned();
                format!("{}{}", indent(&real), piece.trim_start_matches([' ', '\t']))
            }
            None => (*piece).to_owned(),
        });
    }
    let (mut remembered, mut real) = (0, 0);
    // Brackets alone are everywhere and at every depth, so they are no evidence for the file.
    let telling = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    for line in new.iter().filter(|line| !line.trim().is_empty()) {
        let was = old.contains(line);
        let is = moved.iter().any(|other| other == line);
        remembered += usize::from(was && !is);
        real += usize::from(is && !was && telling(line));
    }
    let least = |lines: &mut dyn Iterator<Item = &str>| {
        lines.filter(|line| !line.trim().is_empty()).map(|line| indent(line).len()).min()
    };
    let (was, is) = (least(&mut old.iter().copied()), least(&mut moved.iter().map(String::as_str)));
    let now = least(&mut new.iter().copied());
    // A block that is moved by just the difference has lines of the other reading in it. But one of the readings
    // leaves the replacement as deep as what it replaces.
    let (as_old, as_file) = (was != is && now == was, was != is && now == is);
    let file_reading = match (real, remembered) {
        // Nothing tells the two apart, except that the replacement starts as deep as the file does.
        (0, 0) if as_file => return Err(unclear()),
        (0, _) => false,
        (_, 0) => true,
        // An edit that moves a few lines by just the difference: the reading with far fewer changes is the one.
        _ if remembered >= real * 2 => false,
        _ if real >= remembered * 4 => true,
        _ => return Err(unclear()),
    };
    match file_reading {
        true if as_old && moves_whole_block(old, new) => Ok(None),
        true if as_old => Err(unclear()),
        true => Ok(Some(moved)),
        false if as_file && moves_whole_block(old, new) => Err(unclear()),
        false => Ok(None),
    }
}

/// Whether a block is put around the lines, or taken away: one of the texts starts with a line that the other lacks
/// and that all its other lines are at least as deep as.
fn moves_whole_block(old: &[&str], new: &[&str]) -> bool {
    let heads = |lines: &[&str], others: &[&str]| {
        let mut solid = lines.iter().filter(|line| !line.trim().is_empty());
        let Some(first) = solid.next() else { return false };
        let bare = first.trim();
        // A line that ends one block and starts the next belongs to what is around.
        let goes_on = bare.starts_with(['}', ')', ']', '<'])
            || CONTINUES.contains(&bare.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default());
        !goes_on
            && solid.clone().next().is_some()
            && solid.all(|line| indent(line).len() >= indent(first).len())
            && !others.iter().any(|line| line.trim() == bare)
    };
    heads(old, new) || heads(new, old)
}

const CONTINUES: [&str; 11] =
    ["else", "elif", "elsif", "except", "finally", "catch", "case", "default", "when", "rescue", "ensure"];

fn unclear() -> Uncertain {
    Uncertain(
        "it is not clear whether new_string is indented as old_string or as the file, so how deep its lines belong \
         is not certain"
            .to_owned(),
    )
}
