//! Generates the cases.

mod damage;
mod sources;

use fastrand::Rng;
use toolcrib_workspace::edit::{Edit, RefusalKind};

use sources::Source;

/// What must come out.
#[derive(Clone, Debug)]
pub enum Expect {
    Bytes(Vec<u8>),
    /// Keeping what the file really has, or refusing, are both fine.
    BytesOrRefusal(Vec<u8>),
    /// A refusal, of this kind if it matters, about the edit with this index.
    Refusal(Option<RefusalKind>, usize),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub kind: &'static str,
    pub file: Vec<u8>,
    pub edits: Vec<Edit>,
    pub expect: Expect,
    /// The lines that were meant (1-based), where a refusal should point to them.
    pub lines: Option<(usize, usize)>,
    pub source: String,
}

impl Case {
    pub fn describe(&self, got: Option<&[u8]>) -> String {
        let mut out = format!("source {} lines {:?}\n", self.source, self.lines);
        for edit in &self.edits {
            out += &format!("--- old\n{}\n--- new\n{}\n", edit.old, edit.new);
        }
        if let (Some(got), Expect::Bytes(expected) | Expect::BytesOrRefusal(expected)) = (got, &self.expect) {
            out += &toolcrib_workspace::diff::unified("expected", "got", Some(expected), Some(got));
        } else if let Some(got) = got {
            out += &toolcrib_workspace::diff::unified("before", "got", Some(&self.file), Some(got));
        } else if let Expect::Bytes(expected) = &self.expect {
            out += &toolcrib_workspace::diff::unified("file", "expected", Some(&self.file), Some(expected));
        }
        out
    }
}

/// A step of a true edit, on the lines of its region.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Keep(usize),
    Delete(usize),
    /// A word of this line becomes another; made separately on the file's line and on the remembered one.
    Rename(usize, String, String),
    /// The whole line becomes another.
    Replace(usize, String),
    Insert(String),
    /// The line goes one step deeper.
    Deeper(usize),
}

/// A true edit: a region of a file and what happens to its lines.
#[derive(Clone, Debug)]
pub struct Truth {
    pub first: usize,
    pub lines: Vec<String>,
    pub steps: Vec<Step>,
}

const UNIT: &str = "    ";

impl Truth {
    /// The region after the edit, if its lines were these.
    pub fn result(&self, lines: &[String]) -> Vec<String> {
        let mut out = Vec::new();
        for step in &self.steps {
            match step {
                Step::Keep(i) => out.push(lines[*i].clone()),
                Step::Delete(_) => {}
                Step::Rename(i, from, to) => out.push(lines[*i].replacen(from.as_str(), to, 1)),
                Step::Replace(_, text) | Step::Insert(text) => out.push(text.clone()),
                Step::Deeper(i) if lines[*i].trim().is_empty() => out.push(lines[*i].clone()),
                Step::Deeper(i) => out.push(format!("{UNIT}{}", lines[*i])),
            }
        }
        out
    }

    /// Whether this line and the one before it both stay, so that a blank line between them has one place.
    pub fn quiet_before(&self, line: usize) -> bool {
        let at = self.steps.iter().position(|step| *step == Step::Keep(line));
        at.is_some_and(|at| line > 0 && at > 0 && self.steps[at - 1] == Step::Keep(line - 1))
    }

    pub fn keeps(&self, line: usize) -> bool {
        self.steps.contains(&Step::Keep(line))
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| w.len() >= 3 && w.is_ascii()).collect()
}

/// A realistic edit of a random region that occurs once.
fn truth(source: &Source, rng: &mut Rng) -> Option<Truth> {
    let lines = &source.lines;
    let length = rng.usize(3..=12);
    if lines.len() < length + 2 {
        return None;
    }
    let first = rng.usize(0..lines.len() - length);
    let region: Vec<String> = lines[first..first + length].to_vec();
    let solid: Vec<&String> = region.iter().filter(|l| !l.trim().is_empty()).collect();
    if region[0].trim().is_empty() || region[length - 1].trim().is_empty() || solid.len() < 3 {
        return None;
    }
    if region.iter().map(|l| l.trim().len()).sum::<usize>() < 30 || region.iter().any(|l| l.len() > 300) {
        return None;
    }
    // Once as lines, and once as text: the end of one line may read like another.
    if source.count_bare(&region) != 1 || source.text.matches(region.join("\n").trim()).count() != 1 {
        return None;
    }
    let mut steps: Vec<Step> = (0..length).map(Step::Keep).collect();
    let line = rng.usize(0..length);
    let fresh =
        |rng: &mut Rng| format!("{}_{}", ["extra", "other", "helper", "value"][rng.usize(0..4)], rng.u16(..));
    match rng.u8(0..7) {
        0 | 1 => {
            let word = words(&region[line]).first().map(|w| (*w).to_owned())?;
            let to = format!("{word}_{}", rng.u8(..));
            steps[line] = Step::Rename(line, word, to);
        }
        2 => {
            // Insert lines at a depth that is in the region.
            let depth = indent(&region[line]).to_owned();
            if region[line].trim().is_empty() {
                return None;
            }
            for _ in 0..rng.usize(1..=3) {
                steps.insert(line + 1, Step::Insert(format!("{depth}{}();", fresh(rng))));
            }
        }
        3 => {
            // A block, one step deeper inside.
            let depth = indent(&region[line]).to_owned();
            if region[line].trim().is_empty() {
                return None;
            }
            let block = [
                format!("{depth}if {} {{", fresh(rng)),
                format!("{depth}{UNIT}{}();", fresh(rng)),
                format!("{depth}}}"),
            ];
            for text in block.into_iter().rev() {
                steps.insert(line + 1, Step::Insert(text));
            }
        }
        4 => {
            let many = rng.usize(1..=2).min(length - line);
            (line..line + many).for_each(|i| steps[i] = Step::Delete(i));
            if length - many < 2 {
                return None;
            }
        }
        5 => {
            if region[line].trim().is_empty() {
                return None;
            }
            steps[line] = Step::Replace(
                line,
                format!("{}let {} = {};", indent(&region[line]), fresh(rng), rng.u16(..)),
            );
        }
        _ => {
            let many = rng.usize(1..=3).min(length - line);
            (line..line + many).for_each(|i| steps[i] = Step::Deeper(i));
            if (line..line + many).all(|i| region[i].trim().is_empty()) {
                return None;
            }
        }
    }
    let truth = Truth { first, lines: region, steps };
    let result = truth.result(&truth.lines);
    let text = result.join("\n");
    if text == truth.lines.join("\n") || text.trim().is_empty() {
        return None;
    }
    // What the edit leaves must not be elsewhere too; within the region it may be, when lines at its border go.
    let within = usize::from(Source::new(String::new(), truth.lines.join("\n")).count_bare(&result) > 0);
    if source.count_bare(&result) > within || (within == 0 && source.text.contains(&text)) {
        return None;
    }
    Some(truth)
}

/// Kinds for which exactly one result is right, and refusing it is a miss.
pub fn has_one_answer(kind: &str) -> bool {
    !kind.starts_with("must refuse") && !kind.starts_with("may refuse") && kind != "duplicated"
}

/// All cases, always the same for a seed and a set of sources.
pub fn generate(seed: u64) -> Vec<Case> {
    let mut rng = Rng::with_seed(seed);
    let sources = sources::load(&mut rng);
    let mut cases = Vec::new();
    // Fewer files (no registry on this machine) are edited more often.
    let rounds = 270usize.div_ceil(sources.len());
    for (index, source) in sources.iter().enumerate() {
        let other = &sources[(index + 7) % sources.len()];
        for _ in 0..rounds {
            let Some(truth) = (0..20).find_map(|_| truth(source, &mut rng)) else { continue };
            cases.extend(damage::all(source, other, &truth, &mut rng));
        }
    }
    cases
}
