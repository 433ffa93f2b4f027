//! The ways in which a true edit is damaged.

use fastrand::Rng;
use toolcrib_workspace::edit::{Edit, RefusalKind};

use super::sources::Source;
use super::{Case, Expect, Step, Truth, UNIT, indent, words};

/// A file whose lines in the region are `real`, and the caller's idea of old and new.
struct Maker<'a> {
    source: &'a Source,
    truth: &'a Truth,
    newline: bool,
}

impl Maker<'_> {
    fn join(&self, lines: &[String]) -> String {
        let mut text = lines.join("\n");
        if self.newline && !lines.is_empty() {
            text.push('\n');
        }
        text
    }

    /// The file with its region replaced by these lines.
    fn file(&self, region: &[String]) -> String {
        let lines = &self.source.lines;
        let end = self.truth.first + self.truth.lines.len();
        let mut all: Vec<&str> = lines[..self.truth.first].iter().map(String::as_str).collect();
        all.extend(region.iter().map(String::as_str));
        all.extend(lines[end..].iter().map(String::as_str));
        all.join("\n") + "\n"
    }

    fn before(&self) -> Vec<String> {
        self.truth.lines.clone()
    }

    fn after(&self) -> Vec<String> {
        self.truth.result(&self.truth.lines)
    }

    fn right(&self) -> Vec<u8> {
        self.file(&self.after()).into_bytes()
    }

    fn edit(&self, old: &[String], new: &[String]) -> Edit {
        Edit::new(self.join(old), self.join(new))
    }

    fn case(&self, kind: &'static str, old: &[String], new: &[String]) -> Option<Case> {
        self.full(kind, self.source.text.clone(), self.edit(old, new), Expect::Bytes(self.right()))
    }

    fn full(&self, kind: &'static str, file: String, edit: Edit, expect: Expect) -> Option<Case> {
        // Damage that leaves text which is elsewhere in the file has another right answer.
        if edit.old == edit.new || edit.old.trim().is_empty() {
            return None;
        }
        let lines = Some((self.truth.first + 1, self.truth.first + self.truth.lines.len()));
        let (file, edits) = (file.into_bytes(), vec![edit]);
        Some(Case { kind, file, edits, expect, lines, source: self.source.name.clone() })
    }
}

fn map(lines: &[String], change: impl Fn(&str) -> String) -> Vec<String> {
    lines.iter().map(|l| if l.trim().is_empty() { l.clone() } else { change(l) }).collect()
}

pub fn all(source: &Source, other: &Source, truth: &Truth, rng: &mut Rng) -> Vec<Case> {
    let maker = Maker { source, truth, newline: rng.bool() };
    let m = &maker;
    let mut out = Vec::new();
    out.extend(m.case("exact", &m.before(), &m.after()));
    out.extend(indents(m, rng));
    out.extend(whitespace(m, rng));
    out.extend(endings(m));
    out.extend(quotes(m));
    out.extend(numbers(m, rng));
    out.extend(escapes(m));
    out.extend(blanks(m, rng));
    out.extend(stale(m, rng));
    out.extend(refusals(m, other, rng));
    out
}

fn indents(m: &Maker<'_>, rng: &mut Rng) -> Vec<Case> {
    let mut out = Vec::new();
    let (old, new) = (m.before(), m.after());
    let by = [UNIT, "  ", "\t"][rng.usize(0..3)];
    let deeper = |lines: &[String]| map(lines, |l| format!("{by}{l}"));
    out.extend(m.case("indent shifted deeper", &deeper(&old), &deeper(&new)));
    let solid = || old.iter().chain(&new).filter(|l| !l.trim().is_empty());
    let common = solid().map(|l| l.len() - l.trim_start_matches(' ').len()).min().unwrap_or(0);
    if common > 0 {
        let flat = |lines: &[String]| map(lines, |l| l[common..].to_owned());
        out.extend(m.case("indent shifted out", &flat(&old), &flat(&new)));
        if m.truth.steps.iter().any(|step| matches!(step, Step::Keep(i) if !old[*i].trim().is_empty())) {
            out.extend(m.case("indent shifted in old only", &flat(&old), &new));
        }
    }
    let tabbed = |lines: &[String]| {
        map(lines, |l| {
            let width = indent(l).len();
            "\t".repeat(width / 4) + &" ".repeat(width % 4) + l.trim_start()
        })
    };
    if solid().any(|l| l.starts_with(UNIT)) && solid().all(|l| !indent(l).contains('\t')) {
        // Without indentation in old, nothing tells how new should be indented.
        if tabbed(&old) == old {
            return out;
        }
        out.extend(m.case("tabs for spaces", &tabbed(&old), &tabbed(&new)));
        let file: Vec<String> = tabbed(&m.source.lines);
        let swapped = Maker {
            source: &Source::new(m.source.name.clone(), file.join("\n") + "\n"),
            truth: m.truth,
            newline: m.newline,
        };
        let expected = swapped.file(&tabbed(&new)).into_bytes();
        let text = swapped.source.text.clone();
        out.extend(m.full("spaces for tabs", text, m.edit(&old, &new), Expect::Bytes(expected)));
    }
    if indent(&old[0]).is_empty() || new.is_empty() || !m.truth.keeps(0) {
        return out;
    }
    let mut lost = (old.clone(), new.clone());
    lost.0[0] = lost.0[0].trim_start().to_owned();
    out.extend(m.case("first indent lost in old", &lost.0, &new));
    lost.1[0] = lost.1[0].trim_start().to_owned();
    out.extend(m.case("first indent lost", &lost.0, &lost.1));
    out
}

fn whitespace(m: &Maker<'_>, rng: &mut Rng) -> Vec<Case> {
    let mut out = Vec::new();
    let mut dirty = m.before();
    let whole = m.before();
    let last = whole.len() - usize::from(!m.newline);
    // Not where the text ends within the line (then it is not part of the match), nor on lines that occur twice.
    let single = |line: &String| {
        !line.trim().is_empty() && whole.iter().filter(|other| other.trim() == line.trim()).count() == 1
    };
    for line in dirty.iter_mut().take(last).filter(|line| single(line)) {
        line.push_str(["", "", "", " ", "  ", "\t"][rng.usize(0..6)]);
    }
    if dirty != m.before() {
        // Lines that the edit writes carry the same habit; the file has none of it.
        let new = m.truth.result(&dirty);
        let clean = |l: &String| l.trim_end() == l;
        if m.before().iter().all(clean) && m.after().iter().all(clean) {
            out.extend(m.case("trailing space in old", &dirty, &new));
        }
        // The other way round: the file has it, and lines that stay keep it.
        let expected: Vec<String> = m
            .truth
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Keep(i) => Some(dirty[*i].clone()),
                Step::Delete(_) => None,
                other => Truth { steps: vec![other.clone()], ..m.truth.clone() }.result(&m.before()).pop(),
            })
            .collect();
        let right = Expect::Bytes(m.file(&expected).into_bytes());
        out.extend(m.full("trailing space in file", m.file(&dirty), m.edit(&m.before(), &m.after()), right));
    }
    out
}

fn endings(m: &Maker<'_>) -> Vec<Case> {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let edit = m.edit(&m.before(), &m.after());
    let right = crlf(&String::from_utf8(m.right()).unwrap()).into_bytes();
    let mut out = Vec::new();
    out.extend(m.full("CRLF file, LF edit", crlf(&m.source.text), edit.clone(), Expect::Bytes(right)));
    let edit = Edit::new(crlf(&edit.old), crlf(&edit.new));
    out.extend(m.full("LF file, CRLF edit", m.source.text.clone(), edit, Expect::Bytes(m.right())));
    out
}

fn curly(line: &str) -> String {
    let mut open = true;
    line.chars()
        .map(|c| match c {
            '"' => {
                open = !open;
                if open { '”' } else { '“' }
            }
            '\'' => '’',
            c => c,
        })
        .collect()
}

fn quotes(m: &Maker<'_>) -> Vec<Case> {
    let mut out = Vec::new();
    let (old, new) = (m.before(), m.after());
    let ascii = old.iter().chain(&new).all(|l| l.is_ascii());
    let smart = map(&old, curly);
    if smart == old || !ascii {
        return out;
    }
    out.extend(m.case("smart quotes in edit", &smart, &map(&new, curly)));
    // The file has them, the edit is plain.
    let real = m.truth.result(&smart);
    let right = Expect::Bytes(m.file(&real).into_bytes());
    out.extend(m.full("smart quotes in file", m.file(&smart), m.edit(&old, &new), right));
    out
}

fn numbers(m: &Maker<'_>, rng: &mut Rng) -> Vec<Case> {
    let format = rng.usize(0..5);
    let first = m.truth.first + 1;
    let number = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .enumerate()
            .map(|(i, line)| match (first + i, format) {
                (n, 0) => format!("{n}\t{line}"),
                (n, 1) => format!("{n:>6}\t{line}"),
                (n, 2) => format!("{n}:{line}"),
                (n, 3) => format!("{n:>4}→{line}"),
                (n, _) => format!("{n} | {line}"),
            })
            .collect()
    };
    let mut out = Vec::new();
    out.extend(m.case("line numbers in both", &number(&m.before()), &number(&m.after())));
    out.extend(m.case("line numbers in old", &number(&m.before()), &m.after()));
    out
}

fn escapes(m: &Maker<'_>) -> Vec<Case> {
    let mut out = Vec::new();
    let edit = m.edit(&m.before(), &m.after());
    let json = |text: &str| {
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t")
    };
    let naive = |text: &str| text.replace('\n', "\\n");
    let real = Edit::new(json(&edit.old), json(&edit.new));
    out.extend(m.full("escaped as JSON", m.source.text.clone(), real, Expect::Bytes(m.right())));
    // With escapes of its own in the text, nobody can tell them apart.
    if !edit.old.contains('\\') && !edit.new.contains('\\') && !edit.old.contains(['\'', '`']) {
        let real = Edit::new(naive(&edit.old), naive(&edit.new));
        out.extend(m.full("escaped newlines", m.source.text.clone(), real, Expect::Bytes(m.right())));
    }
    out
}

fn blanks(m: &Maker<'_>, rng: &mut Rng) -> Vec<Case> {
    let mut out = Vec::new();
    let old = m.before();
    // A blank line that stays, between lines that stay, is forgotten.
    let quiet = |i: usize| m.truth.quiet_before(i) && m.truth.quiet_before(i + 1);
    let lone =
        |i: usize| old[i].trim().is_empty() && !old[i - 1].trim().is_empty() && !old[i + 1].trim().is_empty();
    let gaps: Vec<usize> = (1..old.len() - 1).filter(|i| lone(*i) && quiet(*i)).collect();
    if let Some(gap) = (!gaps.is_empty()).then(|| gaps[rng.usize(0..gaps.len())]) {
        let steps: Vec<Step> = m.truth.steps.iter().filter(|s| **s != Step::Keep(gap)).cloned().collect();
        let new = Truth { steps, ..m.truth.clone() }.result(&old);
        let mut short = old.clone();
        short.remove(gap);
        out.extend(m.case("blank line missing", &short, &new));
    }
    // One too many, anywhere between lines that stay.
    let places: Vec<usize> = (1..old.len()).filter(|i| m.truth.quiet_before(*i)).collect();
    if let Some(place) = (!places.is_empty()).then(|| places[rng.usize(0..places.len())]) {
        let at = m.truth.steps.iter().position(|s| *s == Step::Keep(place)).unwrap();
        let mut steps = m.truth.steps.clone();
        steps.insert(at, Step::Insert(String::new()));
        let mut long = old.clone();
        long.insert(place, String::new());
        out.extend(m.case("blank line extra", &long, &Truth { steps, ..m.truth.clone() }.result(&old)));
    }
    let around = |lines: &[String]| [vec![String::new()], lines.to_vec(), vec![String::new()]].concat();
    let at_border = |line: Option<&String>| line.is_none_or(|l| l.trim().is_empty());
    let above = m.truth.first.checked_sub(1).and_then(|i| m.source.lines.get(i));
    let below = m.source.lines.get(m.truth.first + old.len());
    if !at_border(above) && !at_border(below) && !m.after().is_empty() {
        out.extend(m.case("blank lines around", &around(&old), &around(&m.after())));
    }
    out
}

/// The line with one word remembered wrongly.
fn misremember(line: &str, rng: &mut Rng) -> Option<String> {
    let words = words(line);
    let word = words.get(rng.usize(0..words.len().max(1)))?;
    let wrong = ["legacy", "current", "inner", "handle", "state"][rng.usize(0..5)];
    let wrong = if rng.bool() { wrong.to_owned() } else { format!("{word}_{wrong}") };
    Some(line.replacen(word, &wrong, 1)).filter(|changed| changed != line)
}

fn stale(m: &Maker<'_>, rng: &mut Rng) -> Vec<Case> {
    let mut out = Vec::new();
    let old = m.before();
    let middle: Vec<usize> = (1..old.len() - 1).filter(|i| m.truth.keeps(*i)).collect();
    if !middle.is_empty() {
        let line = middle[rng.usize(0..middle.len())];
        if let Some(wrong) = misremember(&old[line], rng) {
            let mut remembered = old.clone();
            remembered[line] = wrong;
            let edit = m.edit(&remembered, &m.truth.result(&remembered));
            out.extend(m.full(
                "may refuse: stale line stays",
                m.source.text.clone(),
                edit.clone(),
                Expect::BytesOrRefusal(m.right()),
            ));
            // The same with a near-duplicate of the block elsewhere, in which just that line differs.
            let mut twin = old.clone();
            if let Some(other) = misremember(&old[line], rng) {
                twin[line] = other;
                if twin[line] != remembered[line] {
                    let file = format!("{}{}\n", m.source.text, twin.join("\n"));
                    out.extend(m.full("must refuse: near-duplicates", file, edit, Expect::Refusal(None, 0)));
                }
            }
        }
    }
    // The wrong word is in the very line that changes.
    let changed = m.truth.steps.iter().find_map(|s| match s {
        Step::Rename(i, ..) | Step::Replace(i, _) | Step::Delete(i) => Some(*i),
        _ => None,
    });
    if let Some(line) = changed
        && let Some(wrong) = misremember(&old[line], rng)
    {
        let mut remembered = old.clone();
        remembered[line] = wrong;
        let edit = m.edit(&remembered, &m.truth.result(&remembered));
        out.extend(m.full(
            "must refuse: stale target",
            m.source.text.clone(),
            edit,
            Expect::Refusal(None, 0),
        ));
    }
    // A block of another name: the line above deeper lines is the one that differs.
    let names = |i: usize| {
        indent(&old[i + 1]).len() > indent(&old[i]).len() && m.truth.keeps(i) && !old[i + 1].trim().is_empty()
    };
    if let Some(line) = (0..old.len() - 1).find(|i| names(*i))
        && let Some(wrong) = misremember(&old[line], rng)
    {
        let mut remembered = old.clone();
        remembered[line] = wrong;
        let edit = m.edit(&remembered, &m.truth.result(&remembered));
        out.extend(m.full("must refuse: other block", m.source.text.clone(), edit, Expect::Refusal(None, 0)));
    }
    out
}

fn refusals(m: &Maker<'_>, other: &Source, rng: &mut Rng) -> Vec<Case> {
    let mut out = Vec::new();
    let edit = m.edit(&m.before(), &m.after());
    // Absent: the block is of another file.
    if other.count_bare(&m.before()) == 0 && other.count_bare(&m.after()) == 0 {
        let file = other.text.clone();
        let expect = Expect::Refusal(Some(RefusalKind::NoMatch), 0);
        out.extend(
            m.full("must refuse: absent", file, edit.clone(), expect).map(|c| Case { lines: None, ..c }),
        );
    }
    let twice = format!("{}{}\n", m.source.text, m.before().join("\n"));
    out.extend(m.full("duplicated", twice, edit.clone(), Expect::Refusal(Some(RefusalKind::Ambiguous), 0)));
    let done = String::from_utf8(m.right()).unwrap();
    let trivial = m.after().iter().map(|l| l.trim().len()).sum::<usize>() < 20;
    if !done.contains(&edit.old) && !trivial {
        // A deletion that was made leaves nothing to recognise it by.
        let deletes = edit.old.contains(edit.new.trim());
        let expect = Expect::Refusal((!deletes).then_some(RefusalKind::AlreadyApplied), 0);
        out.extend(m.full("must refuse: already applied", done, edit.clone(), expect));
    }
    // Several edits, of which one is bad.
    let bad = Edit::new(format!("{}_{}", other.lines[0], rng.u32(..)), "something else");
    let index = rng.usize(0..2);
    let mut edits = vec![edit];
    edits.insert(index, bad);
    let case = m.full(
        "must refuse: one of two",
        m.source.text.clone(),
        edits[1 - index].clone(),
        Expect::Refusal(Some(RefusalKind::NoMatch), index),
    );
    out.extend(case.map(|c| Case { edits, lines: None, ..c }));
    out
}
