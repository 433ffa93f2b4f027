//! What takes the place of a match.
//!
//! Only what the edit really changes is taken from the caller. A line that the replacement repeats from the search
//! text stays as the file has it, because a tolerant match means the caller's memory of it may be off.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::find::{Found, Level};
use super::indent::{IndentMap, unit_around};
use super::inline::{self, Substitutions};
use super::lines::{self, Lines, indent};
use super::pairing::pair_lines;

/// What happens to the lines of a match, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// This line of the search text stays.
    Keep(usize),
    /// This line of the search text goes.
    Drop(usize),
    /// This line of the replacement comes.
    Insert(usize),
    /// This line of the search text turns into this line of the replacement.
    Change(usize, usize),
}

/// Why a replacement could not be built with certainty.
#[derive(Debug)]
pub(crate) struct Uncertain(pub(crate) String);

/// The steps that turn the search text into the replacement.
pub(crate) fn ops(old: &[&str], new: &[&str]) -> Vec<Op> {
    // A newline at the end of both ends the same line, whatever blank lines there are before.
    if let ([_, .., ""], [_, .., ""]) = (old, new)
        && let (Some((_, head)), Some((_, rest))) = (old.split_last(), new.split_last())
    {
        let mut out = ops(head, rest);
        out.push(Op::Keep(head.len()));
        return out;
    }
    let mut out = Vec::new();
    // Huge texts that have little in common: a coarser comparison is still a correct one.
    let deadline = Instant::now() + Duration::from_millis(300);
    for op in capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline)) {
        let (from, to) = (op.old_range(), op.new_range());
        match op {
            DiffOp::Equal { .. } => out.extend(from.map(Op::Keep)),
            DiffOp::Delete { .. } => out.extend(from.map(Op::Drop)),
            DiffOp::Insert { .. } => out.extend(to.map(Op::Insert)),
            DiffOp::Replace { .. } => replace_ops(&mut out, old, new, from, to),
        }
    }
    out
}

pub(crate) fn replace_ops(
    out: &mut Vec<Op>,
    old: &[&str],
    new: &[&str],
    from: Range<usize>,
    to: Range<usize>,
) {
    let pairs =
        pair_lines(old.get(from.clone()).unwrap_or_default(), new.get(to.clone()).unwrap_or_default());
    let (mut o, mut n) = (from.start, to.start);
    for (a, b) in pairs {
        out.extend((o..from.start + a).map(Op::Drop));
        out.extend((n..to.start + b).map(Op::Insert));
        out.push(Op::Change(from.start + a, to.start + b));
        o = from.start + a + 1;
        n = to.start + b + 1;
    }
    out.extend((o..from.end).map(Op::Drop));
    out.extend((n..to.end).map(Op::Insert));
}

/// One line of the matched part of the file.
struct Piece<'a> {
    body: &'a [u8],
    ending: &'a [u8],
}

/// Everything needed to build replacements for one edit.
pub(crate) struct Builder<'a> {
    pub(crate) bytes: &'a [u8],
    /// Split lines, wherever the level is above exact.
    pub(crate) file: Option<&'a Lines<'a>>,
    pub(crate) old: &'a [&'a str],
    pub(crate) new: &'a [&'a str],
    pub(crate) ops: &'a [Op],
    pub(crate) level: Level,
    /// Whether a lone `\r` ends a line, as it does in patches.
    pub(crate) lone_cr: bool,
    /// The ending of added lines, where the surroundings are not to decide.
    pub(crate) ending: Option<&'static [u8]>,
}

impl<'a> Builder<'a> {
    /// The bytes that take the place of this match.
    pub(crate) fn build(&self, found: &Found) -> Result<Vec<u8>, Uncertain> {
        let region = self.bytes.get(found.start..found.end).unwrap_or_default();
        let pieces: Vec<Piece<'a>> = lines::split(region, self.lone_cr)
            .into_iter()
            .map(|(body, next)| Piece {
                ending: region.get(body.end..next).unwrap_or_default(),
                body: region.get(body).unwrap_or_default(),
            })
            .collect();
        let ending = self.ending.unwrap_or_else(|| self.ending_near(found, &pieces));
        let adapt = Adapt::new(self, found, &pieces);
        let lines =
            Walk { builder: self, pieces: &pieces, found, adapt: &adapt, out: Vec::new(), next: 0 }.run()?;
        let mut out = Vec::with_capacity(region.len());
        let count = lines.len();
        for (index, (body, own)) in lines.into_iter().enumerate() {
            out.extend_from_slice(&body);
            if index + 1 < count {
                out.extend_from_slice(if own.is_empty() { ending } else { own });
            }
        }
        Ok(out)
    }

    /// The ending for added lines: what the matched lines mostly have, else the line of the match, else its neighbours.
    fn ending_near(&self, found: &Found, pieces: &[Piece<'_>]) -> &'static [u8] {
        let ended = pieces.iter().filter(|piece| !piece.ending.is_empty()).count();
        let crlf = pieces.iter().filter(|piece| piece.ending == b"\r\n").count();
        if ended > 0 && crlf * 2 != ended {
            return if crlf * 2 > ended { b"\r\n" } else { b"\n" };
        }
        let after = self.bytes.get(found.end..).unwrap_or_default();
        let before = self.bytes.get(..found.end).unwrap_or_default();
        let newline = match after.iter().position(|b| *b == b'\n') {
            Some(at) => Some(found.end + at),
            None => before.iter().rposition(|b| *b == b'\n'),
        };
        match newline.and_then(|at| at.checked_sub(1)).and_then(|at| self.bytes.get(at)) {
            Some(b'\r') => b"\r\n",
            _ => b"\n",
        }
    }
}

/// How new text is adapted to the file, as learnt from the lines that are the same in both.
struct Adapt {
    indents: Option<IndentMap>,
    /// The indentation of the first line, where the search text lost only that one.
    first_indent: Option<String>,
    substitutions: Substitutions,
    trim_end: bool,
}

impl Adapt {
    fn new(builder: &Builder<'_>, found: &Found, pieces: &[Piece<'_>]) -> Adapt {
        let mut adapt =
            Adapt { indents: None, first_indent: None, substitutions: BTreeMap::new(), trim_end: false };
        if builder.level <= Level::LineEndings {
            return adapt;
        }
        let mut indents: Vec<(usize, String, String)> = Vec::new();
        for (index, slot) in found.map.iter().enumerate() {
            let Some(piece) = slot.and_then(|at| pieces.get(at)) else { continue };
            let Some(old) = builder.old.get(index).filter(|old| !old.trim().is_empty()) else { continue };
            let text = String::from_utf8_lossy(piece.body);
            adapt.trim_end |= text.trim_end().len() == text.len() && old.trim_end().len() < old.len();
            inline::learn(&mut adapt.substitutions, piece.body, old);
            indents.push((index, indent(old).to_owned(), indent(&text).to_owned()));
        }
        inline::learn_quotes(&mut adapt.substitutions, pieces.iter().map(|piece| piece.body));
        if builder.level.moves_indent() {
            adapt.learn_indents(builder, found, indents);
        }
        adapt
    }

    fn learn_indents(
        &mut self,
        builder: &Builder<'_>,
        found: &Found,
        mut pairs: Vec<(usize, String, String)>,
    ) {
        let lost = pairs.first().is_some_and(|(index, o, f)| {
            *index == 0
                && o.is_empty()
                && !f.is_empty()
                && pairs.iter().skip(1).any(|(_, o, _)| !o.is_empty())
        });
        let rest_agrees = |pairs: &[(usize, String, String)]| pairs.iter().skip(1).all(|(_, o, f)| o == f);
        if lost && (rest_agrees(&pairs) || pairs.iter().skip(1).all(|(_, o, _)| !o.is_empty())) {
            let (_, _, first) = pairs.remove(0);
            self.first_indent = Some(first);
        }
        let unit = builder.file.and_then(|file| unit_around(file, file.at(found.start), file.at(found.end)));
        let pairs = pairs.into_iter().map(|(_, o, f)| (o, f)).collect();
        self.indents = Some(IndentMap::learn(pairs, unit));
    }

    fn tidy(&self, line: &str) -> String {
        let line = if self.trim_end { line.trim_end() } else { line };
        inline::substitute(&self.substitutions, line)
    }
}

/// A line of the result and the ending it brings along, if any.
type Written<'a> = (Vec<u8>, &'a [u8]);

/// One pass over the steps, which are in file order.
struct Walk<'b, 'a> {
    builder: &'b Builder<'a>,
    pieces: &'b [Piece<'a>],
    found: &'b Found,
    adapt: &'b Adapt,
    out: Vec<Written<'a>>,
    /// The next line of the region that nothing was decided about yet.
    next: usize,
}

/// What a step did to its place in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Did {
    Stay,
    Go,
    Come,
}

impl<'a> Walk<'_, 'a> {
    fn run(mut self) -> Result<Vec<Written<'a>>, Uncertain> {
        self.refuse_blank_lines_of_unknown_place()?;
        let mut before = Did::Stay;
        for op in self.builder.ops {
            before = match *op {
                Op::Keep(o) => match self.place(o) {
                    None => before,
                    Some(at) => {
                        self.skipped(at, before, Did::Stay)?;
                        if let Some(piece) = self.pieces.get(at) {
                            self.out.push((piece.body.to_vec(), piece.ending));
                        }
                        Did::Stay
                    }
                },
                Op::Drop(o) => match self.place(o) {
                    None => before,
                    Some(at) => {
                        self.skipped(at, before, Did::Go)?;
                        Did::Go
                    }
                },
                Op::Change(o, n) => {
                    let at = self.place(o);
                    if let Some(at) = at {
                        self.skipped(at, before, Did::Stay)?;
                    }
                    let piece = at.and_then(|at| self.pieces.get(at));
                    let body = self.changed(piece, o, n)?;
                    let own = piece.filter(|_| self.builder.ending.is_none());
                    self.out.push((body, own.map_or(b"", |piece| piece.ending)));
                    Did::Stay
                }
                Op::Insert(n) => {
                    let body = self.inserted(n)?;
                    self.out.push((body, b""));
                    Did::Come
                }
            };
        }
        Ok(self.out)
    }

    fn place(&self, o: usize) -> Option<usize> {
        self.found.map.get(o).copied().flatten()
    }

    /// Blank lines the search text did not have stay between lines that stay, and go between lines that go.
    fn skipped(&mut self, at: usize, before: Did, now: Did) -> Result<(), Uncertain> {
        let skipped = self.next..at;
        self.next = at + 1;
        if skipped.is_empty() {
            return Ok(());
        }
        match (before, now) {
            (Did::Stay, Did::Stay) => {
                for piece in self.pieces.get(skipped).unwrap_or_default() {
                    self.out.push((piece.body.to_vec(), piece.ending));
                }
                Ok(())
            }
            (Did::Go, Did::Go) => Ok(()),
            _ => Err(Uncertain(
                "the file has a blank line that old_string lacks, right where the change is, so where the change \
                 goes is not certain"
                    .to_owned(),
            )),
        }
    }

    /// A blank line that only the caller has, where other blank lines are near a change: which of them stays, goes
    /// or comes cannot be told.
    fn refuse_blank_lines_of_unknown_place(&self) -> Result<(), Uncertain> {
        let blank = |lines: &[&str], at: usize| lines.get(at).is_some_and(|line| line.trim().is_empty());
        let (old, new) = (self.builder.old, self.builder.new);
        let last = old.len().saturating_sub(1);
        let stays = |op: &Op| matches!(op, Op::Keep(o) if !blank(old, *o));
        for stretch in self.builder.ops.split(stays) {
            let (mut ghosts, mut blanks, mut changes) = (0, 0, 0);
            for op in stretch {
                match *op {
                    Op::Keep(o) if o == last => {}
                    Op::Keep(o) | Op::Drop(o) if blank(old, o) && self.place(o).is_none() => ghosts += 1,
                    Op::Keep(_) => blanks += 1,
                    Op::Drop(o) => {
                        changes += 1;
                        blanks += usize::from(blank(old, o));
                    }
                    Op::Insert(n) | Op::Change(_, n) => {
                        changes += 1;
                        blanks += usize::from(blank(new, n));
                    }
                }
            }
            if ghosts > 0 && blanks > 0 && changes > 0 {
                return Err(Uncertain(
                    "old_string has a blank line that the file lacks, next to other blank lines and a change, so \
                     which of them is meant is not certain"
                        .to_owned(),
                ));
            }
        }
        Ok(())
    }

    fn inserted(&self, n: usize) -> Result<Vec<u8>, Uncertain> {
        let line = self.builder.new.get(n).copied().unwrap_or_default();
        if self.builder.level <= Level::LineEndings {
            return Ok(line.as_bytes().to_vec());
        }
        let Some(indents) = &self.adapt.indents else { return Ok(self.adapt.tidy(line).into_bytes()) };
        if line.trim().is_empty() {
            return Ok(Vec::new());
        }
        let own = indent(line);
        let translated = match &self.adapt.first_indent {
            Some(first) if n == 0 && own.is_empty() => Some(first.clone()),
            _ => indents.translate(own),
        };
        let Some(translated) = translated else { return Err(unknown_indent(line)) };
        let bare = line.get(own.len()..).unwrap_or_default();
        Ok((translated + &self.adapt.tidy(bare)).into_bytes())
    }

    fn changed(&self, piece: Option<&Piece<'_>>, o: usize, n: usize) -> Result<Vec<u8>, Uncertain> {
        let (Some(piece), Some(old), Some(new)) = (piece, self.builder.old.get(o), self.builder.new.get(n))
        else {
            return self.inserted(n);
        };
        let blank = new.trim().is_empty() && old.trim().is_empty();
        let off = old == new || piece.body != old.as_bytes();
        if self.builder.level > Level::LineEndings && blank && off {
            return Ok(piece.body.to_vec());
        }
        if self.builder.level <= Level::LineEndings || new.trim().is_empty() {
            return self.inserted(n);
        }
        let (old_indent, new_indent) = (indent(old), indent(new));
        // Only moved: what follows the indentation stays as the file has it.
        let moved = old.trim() == new.trim() && old_indent != new_indent;
        if self.adapt.indents.is_none() && !moved {
            return Ok(inline::merge(piece.body, old, new, &|text| self.adapt.tidy(text)));
        }
        let text = piece.body.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let (file_indent, file_bare) = piece.body.split_at_checked(text).unwrap_or((b"", piece.body));
        let (old_bare, new_bare) = (
            old.get(old_indent.len()..).unwrap_or_default(),
            new.get(new_indent.len()..).unwrap_or_default(),
        );
        let mut out = if old_indent == new_indent {
            file_indent.to_vec()
        } else {
            match &self.adapt.indents {
                None => new_indent.as_bytes().to_vec(),
                Some(indents) => {
                    indents.translate(new_indent).ok_or_else(|| unknown_indent(new))?.into_bytes()
                }
            }
        };
        if moved {
            let ended = new.trim_end().len() < new.len();
            out.extend_from_slice(if ended { file_bare } else { file_bare.trim_ascii_end() });
            return Ok(out);
        }
        out.extend(inline::merge(file_bare, old_bare, new_bare, &|text| self.adapt.tidy(text)));
        Ok(out)
    }
}

fn unknown_indent(line: &str) -> Uncertain {
    let shown: String = line.trim().chars().take(60).collect();
    Uncertain(format!(
        "the file is indented differently from old_string, and how deep `{shown}` belongs is not certain"
    ))
}
