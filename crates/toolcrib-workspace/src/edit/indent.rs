//! How the indentation of a remembered block maps to that of the real one.
//!
//! Pairs of lines known to be the same give the evidence: what is indented so in the search text is indented so in
//! the file. A new line's indentation is looked up there, else derived from a rule that explains every pair. Where
//! rules that all fit disagree, a plain shift wins if its step is the file's own, and otherwise nobody does.

use super::lines::Lines;

/// Widths a tab may stand for, likeliest first.
const TAB_WIDTHS: [usize; 4] = [4, 8, 2, 3];

/// The evidence, and the rules that fit it.
#[derive(Debug, Default)]
pub(crate) struct IndentMap {
    pairs: Vec<(String, String)>,
    rules: Vec<Rule>,
    /// The width of one step in the file around the match (a tab counts as one).
    unit: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Same,
    Add(String),
    Remove(String),
    /// Spaces in the search text, tabs in the file: tab width and a shift in columns.
    ToTabs(usize, isize),
    /// Tabs in the search text, spaces in the file.
    ToSpaces(usize, isize),
    /// Both in spaces, with steps of different width: file = search * by / per.
    Scale(usize, usize),
}

impl Rule {
    fn apply(&self, indent: &str) -> Option<String> {
        match self {
            Rule::Same => Some(indent.to_owned()),
            Rule::Add(prefix) => Some(format!("{prefix}{indent}")),
            Rule::Remove(prefix) => indent.strip_prefix(prefix.as_str()).map(str::to_owned),
            Rule::ToTabs(tab, shift) => {
                let width = columns(indent, *tab).checked_add_signed(*shift)?;
                Some("\t".repeat(width / tab) + &" ".repeat(width % tab))
            }
            Rule::ToSpaces(tab, shift) => {
                let width = columns(indent, *tab).checked_add_signed(*shift)?;
                Some(" ".repeat(width))
            }
            Rule::Scale(by, per) => {
                let width = indent.len() * by;
                (width.is_multiple_of(*per) && !indent.contains('\t')).then(|| " ".repeat(width / per))
            }
        }
    }
}

fn columns(indent: &str, tab: usize) -> usize {
    indent.chars().map(|c| if c == '\t' { tab } else { 1 }).sum()
}

impl IndentMap {
    /// Learns from pairs of (search, file) indentation.
    pub(crate) fn learn(pairs: Vec<(String, String)>, unit: Option<usize>) -> Self {
        let mut distinct = pairs;
        distinct.sort();
        distinct.dedup();
        let rules = candidates(&distinct)
            .into_iter()
            .filter(|rule| distinct.iter().all(|(o, f)| rule.apply(o).as_deref() == Some(f.as_str())))
            .collect();
        IndentMap { pairs: distinct, rules, unit }
    }

    /// Whether one rule explains every pair, as it does when a block was only moved or written with other blanks.
    pub(crate) fn is_uniform(&self) -> bool {
        !self.rules.is_empty()
    }

    /// The file's indentation for a line that the search text would indent so; `None` if that is not certain.
    pub(crate) fn translate(&self, indent: &str) -> Option<String> {
        let mut seen = self.pairs.iter().filter(|(o, _)| o == indent).map(|(_, f)| f);
        if let Some(first) = seen.next() {
            return seen.all(|other| other == first).then(|| first.clone());
        }
        let mut results: Vec<(String, bool)> = Vec::new();
        for rule in &self.rules {
            if let Some(result) = rule.apply(indent)
                && !results.iter().any(|(other, _)| *other == result)
            {
                results.push((result, matches!(rule, Rule::Scale(..))));
            }
        }
        if results.len() > 1 {
            results.retain(|(result, scaled)| !scaled && self.is_one_step(result));
        }
        if results.len() == 1 { results.pop().map(|(result, _)| result) } else { None }
    }

    /// Whether a result lies one step of the file's size from an indentation known to be there, as most lines do
    /// that are deeper or shallower than their neighbours.
    fn is_one_step(&self, result: &str) -> bool {
        self.unit.is_some_and(|unit| self.pairs.iter().any(|(_, f)| result.len().abs_diff(f.len()) == unit))
    }
}

fn candidates(pairs: &[(String, String)]) -> Vec<Rule> {
    let Some((o, f)) = pairs.iter().max_by_key(|(o, f)| o.len() + f.len()) else { return vec![Rule::Same] };
    let mut rules = Vec::new();
    if o == f {
        rules.push(Rule::Same);
    }
    if let Some(prefix) = f.strip_suffix(o.as_str()).filter(|p| !p.is_empty()) {
        rules.push(Rule::Add(prefix.to_owned()));
    }
    if let Some(prefix) = o.strip_suffix(f.as_str()).filter(|p| !p.is_empty()) {
        rules.push(Rule::Remove(prefix.to_owned()));
    }
    let tabs = |side: fn(&(String, String)) -> &str| pairs.iter().any(|pair| side(pair).contains('\t'));
    let (search_tabs, file_tabs) = (tabs(|p| &p.0), tabs(|p| &p.1));
    if search_tabs != file_tabs {
        for tab in TAB_WIDTHS {
            let shift = columns(f, tab) as isize - columns(o, tab) as isize;
            let rule = if file_tabs { Rule::ToTabs } else { Rule::ToSpaces };
            rules.push(rule(tab, shift));
        }
        // Without a shift if that explains everything: then any shift is a coincidence of the tab width.
        let plain = |rule: &Rule| {
            matches!(rule, Rule::ToTabs(_, 0) | Rule::ToSpaces(_, 0))
                && pairs.iter().all(|(o, f)| rule.apply(o).as_deref() == Some(f.as_str()))
        };
        if rules.iter().any(plain) {
            rules.retain(plain);
        }
    } else if !search_tabs && o.len() != f.len() && !o.is_empty() && !f.is_empty() {
        rules.push(Rule::Scale(f.len(), o.len()));
    }
    rules
}

/// The usual step of indentation around some lines of a file: the most frequent increase from a line to the next.
pub(crate) fn unit_around(lines: &Lines<'_>, first: usize, last: usize) -> Option<usize> {
    const REACH: usize = 150;
    let mut counts = [0usize; 9];
    let mut previous: Option<usize> = None;
    for index in first.saturating_sub(REACH)..lines.lines.len().min(last.saturating_add(REACH)) {
        if lines.get(index).is_none_or(|line| line.is_blank()) {
            continue;
        }
        let depth = lines.body(index).iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        if let Some(before) = previous
            && depth > before
            && let Some(count) = counts.get_mut(depth - before)
        {
            *count += 1;
        }
        previous = Some(depth);
    }
    let (unit, count) = counts.iter().enumerate().max_by_key(|(_, count)| **count)?;
    (*count > 0).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)], unit: Option<usize>) -> IndentMap {
        IndentMap::learn(pairs.iter().map(|(o, f)| ((*o).to_owned(), (*f).to_owned())).collect(), unit)
    }

    #[test]
    fn shifts_both_ways() {
        let deeper = map(&[("", "    "), ("    ", "        ")], Some(4));
        assert_eq!(deeper.translate("        ").as_deref(), Some("            "));
        let shallower = map(&[("    ", ""), ("        ", "    ")], Some(4));
        assert_eq!(shallower.translate("            ").as_deref(), Some("        "));
        assert_eq!(shallower.translate("  "), None);
    }

    #[test]
    fn tabs_and_spaces() {
        let tabs = map(&[("    ", "\t"), ("        ", "\t\t")], Some(1));
        assert_eq!(tabs.translate("            ").as_deref(), Some("\t\t\t"));
        let spaces = map(&[("\t", "  ")], Some(2));
        assert_eq!(spaces.translate("\t\t").as_deref(), Some("    "));
        let wide = map(&[("        ", "\t")], Some(1));
        assert_eq!(wide.translate("                ").as_deref(), Some("\t\t"));
    }

    #[test]
    fn one_pair_is_read_by_the_steps_of_the_file() {
        assert_eq!(
            map(&[("    ", "        ")], Some(4)).translate("        ").as_deref(),
            Some("            ")
        );
        assert_eq!(map(&[("    ", "  ")], Some(2)).translate("        "), None);
        assert_eq!(
            map(&[("    ", "  "), ("        ", "    ")], Some(2)).translate("            ").as_deref(),
            Some("      ")
        );
        assert_eq!(map(&[("", "  "), ("", "    ")], Some(2)).translate(""), None);
    }
}
