//! Single cases for whoever improves the resolver, by what they look like.

use std::collections::BTreeMap;

use toolcrib_code::facts::{Expr, FileFacts, Reference};
use toolcrib_code::resolve::{Answer, Label, Meaning, Program, Source};
use toolcrib_code::scip::SymbolId;

use crate::args::Args;
use crate::truth::Truth;

pub(crate) struct Case {
    pub kind: &'static str,
    pub class: &'static str,
    pub file: u32,
    pub start: u32,
    /// The index of our reference, and what we say of it.
    pub said: Option<(usize, Answer)>,
    pub symbols: Vec<SymbolId>,
}

pub(crate) struct Cases {
    kind: String,
    class: Option<String>,
    group: Option<String>,
    limit: usize,
    found: Vec<Case>,
}

impl Cases {
    pub(crate) fn new(args: &Args) -> Option<Self> {
        let (class, group) = (args.class.clone(), args.group.clone());
        Some(Self { kind: args.cases.clone()?, class, group, limit: args.limit, found: Vec::new() })
    }

    pub(crate) fn add(&mut self, case: Case) {
        if case.kind == self.kind && self.class.as_ref().is_none_or(|class| class == case.class) {
            self.found.push(case);
        }
    }

    /// Where an import leads, in the words of an answer.
    pub(crate) fn answer_of(&self, source: Source) -> Answer {
        let meaning = match source {
            Source::Files(files) => Meaning::Module(files),
            Source::Package(name) => Meaning::External(name),
            Source::Unresolved(_) => Meaning::Unknown,
        };
        Answer { meaning, label: Label::NameMatch, reason: "", chain: Vec::new() }
    }

    pub(crate) fn print(&self, program: &Program, truth: &Truth) {
        let mut groups: BTreeMap<String, Vec<&Case>> = BTreeMap::new();
        for case in &self.found {
            groups.entry(title(program, truth, case)).or_default().push(case);
        }
        let wanted = |title: &String| self.group.as_ref().is_none_or(|group| title.contains(group.as_str()));
        let mut groups: Vec<_> = groups.into_iter().filter(|(title, _)| wanted(title)).collect();
        groups.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
        println!("  {} cases, {}, by what is before the name and what we said", self.found.len(), self.kind);
        for (title, cases) in &groups {
            println!("  {:6}  {title}", cases.len());
        }
        let mut left = self.limit;
        for (title, cases) in &groups {
            let share =
                (self.limit * cases.len() / self.found.len().max(1)).max(3).min(left).min(cases.len());
            if share == 0 {
                break;
            }
            left -= share;
            println!("\n  -- {title} ({share} of {})", cases.len());
            // Spread over all of them: neighbours are often alike.
            for at in 0..share {
                self.one(program, truth, cases[at * cases.len() / share]);
            }
        }
    }

    fn one(&self, program: &Program, truth: &Truth, case: &Case) {
        let known = &truth.files[&case.file];
        let (line, column) = known.lines.position(case.start, &known.source);
        let text = known.lines.span(line, &known.source);
        let text =
            String::from_utf8_lossy(text.of(&known.source)).trim().chars().take(110).collect::<String>();
        let said = case.said.as_ref().map_or("nothing".into(), |(_, answer)| describe(program, answer));
        let symbols: Vec<_> =
            case.symbols.iter().map(|symbol| said_by_truth(program, truth, *symbol)).collect();
        println!(
            "{}:{line}:{column} {text}\n      | we: {said}\n      | truth: {}",
            program.file(case.file).unwrap().path,
            if symbols.is_empty() { "nothing".into() } else { symbols.join(", ") }
        );
    }
}

fn at(program: &Program, file: u32, start: u32) -> String {
    let line = program.facts(file).map_or(0, |facts| facts.lines.line(start));
    format!("{}:{line}", program.file(file).map_or("?", |file| file.path.as_str()))
}

fn describe(program: &Program, answer: &Answer) -> String {
    let what = match &answer.meaning {
        Meaning::Definitions(found) => {
            let one = |def: &toolcrib_code::resolve::Def| {
                let Some(definition) = program.definition(*def) else { return "?".into() };
                let facts = program.facts(def.file).unwrap();
                let path = facts.parent_path(def.id);
                let name = facts.text(definition.name);
                format!(
                    "{} {path}.{name} {}",
                    definition.kind.as_str(),
                    at(program, def.file, definition.name_start)
                )
            };
            found.iter().take(4).map(one).collect::<Vec<_>>().join(", ")
        }
        Meaning::Local(_) => "a local".into(),
        Meaning::Module(files) => {
            let paths = files.iter().take(3).filter_map(|file| Some(program.file(*file)?.path.as_str()));
            format!("module {}", paths.collect::<Vec<_>>().join(", "))
        }
        Meaning::External(package) => format!("external {package}"),
        Meaning::Unknown => "unknown".into(),
    };
    format!("{what} ({}, {})", answer.label.as_str(), answer.reason)
}

fn said_by_truth(program: &Program, truth: &Truth, symbol: SymbolId) -> String {
    // Without scheme and manager.
    let text = truth.text(symbol);
    let text = text.splitn(4, ' ').nth(3).unwrap_or(text);
    match truth.definitions(symbol) {
        [] => format!("{text} (outside)"),
        [(file, start), ..] => format!("{text} {}", at(program, *file, *start)),
    }
}

fn title(program: &Program, truth: &Truth, case: &Case) -> String {
    let Some((index, answer)) = &case.said else { return format!("{} | no fact", case.class) };
    let said = match &answer.meaning {
        Meaning::Definitions(_) => format!("{} ({})", answer.label.as_str(), answer.reason),
        Meaning::Local(_) => "a local".into(),
        Meaning::Module(_) => "a module".into(),
        Meaning::External(_) => "external".into(),
        Meaning::Unknown => format!("unknown ({})", answer.reason),
    };
    let facts = program.facts(case.file).unwrap();
    let shape = facts
        .references
        .get(*index)
        .map_or("import".into(), |reference| shape(facts, reference, &truth.files[&case.file].source));
    format!("{} | {shape} | we: {said}", case.class)
}

/// What is before the name.
fn shape(facts: &FileFacts, reference: &Reference, source: &[u8]) -> String {
    let Some(receiver) = facts.expr(reference.receiver) else {
        return format!("bare, {}", reference.role.as_str());
    };
    let receiver = match receiver {
        Expr::Unknown => "something",
        Expr::Name(_) => "name",
        Expr::This => "this",
        Expr::Super => "super",
        Expr::Member { path: true, .. } => "path",
        Expr::Member { .. } => "member",
        Expr::Call { .. } => "call()",
        Expr::Typed(_) => "typed",
        Expr::Await(_) => "await",
        Expr::Try(_) => "try",
        Expr::Index(_) => "index[]",
        Expr::Literal(_) | Expr::Filled(..) | Expr::Tuple(_) => "literal",
        Expr::Either(..) | Expr::Inside(..) | Expr::Bound(_) => "either",
        Expr::Object(_) => "object",
        Expr::List(_) => "list",
        Expr::Lambda { .. } => "function",
    };
    let before = String::from_utf8_lossy(&source[..reference.start as usize]);
    let before = before.trim_end();
    let sign = ["::", "?.", "->", "."].into_iter().find(|sign| before.ends_with(sign)).unwrap_or(" ");
    format!("{receiver}{sign}, {}", reference.role.as_str())
}
