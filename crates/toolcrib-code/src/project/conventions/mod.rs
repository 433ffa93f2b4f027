//! `conventions`: how the code is written, measured line by line.
//!
//! Lexical on purpose: names, indentation and imports need no parser, and every language can be measured the same way.
//! Each figure comes with how many were looked at; what fewer than 60 % follow, or fewer than five show, is no style.

mod configured;
mod declarations;
mod imports;
mod lex;
mod measure;
mod shape;

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use toolcrib_workspace::Result;

use super::language::{self, Language};
use super::scan::{File, MAX_SOURCE, Scan};
pub use configured::Setting;
pub use measure::Measure;
use measure::{Tally, settle};

/// Files measured at most.
const MAX_FILES: usize = 2_000;
/// Bytes measured at most.
const MAX_BYTES: u64 = 20 << 20;
/// A language besides the main one is told of if it has this many files.
const MIN_FILES: usize = 3;
/// Languages told of at most.
const MAX_LANGUAGES: usize = 6;
/// Lines longer than this are counted as this long.
const MAX_LENGTH: usize = 500;

/// How long lines are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LineLength {
    /// The smallest usual limit that 99 % of the lines keep; `none` if they keep none.
    pub style: String,
    /// The share of lines that keep it.
    pub share: f64,
    /// Lines that are not blank.
    pub n: usize,
    /// Half of the lines are at most this long.
    pub p50: usize,
    /// 95 % are.
    pub p95: usize,
    /// The longest (500 for longer ones).
    pub max: usize,
}

/// How imports are written.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Imports {
    /// Whether neighbours are in alphabetical order, by file.
    pub order: Measure,
    /// Which groups come in which order, by file.
    pub groups: Measure,
    /// The form, by import.
    pub form: Measure,
    /// Relative or absolute, for imports of the project's own modules.
    pub paths: Measure,
}

/// Where tests are, and what they are called.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tests {
    /// `inline`, `beside`, `tests/`, `__tests__/`, `src/test/`.
    pub layout: Measure,
    /// The pattern of file names.
    pub naming: Measure,
}

/// How errors are handled.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Errors {
    /// The way errors are passed on.
    #[serde(flatten)]
    pub measure: Measure,
    /// How often certain means are used.
    pub uses: BTreeMap<String, usize>,
}

/// How many public items are documented.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Docs {
    /// `documented`, if at least 60 % are; else `none`.
    pub style: String,
    /// The share that is.
    pub share: f64,
    /// Public items.
    pub n: usize,
    /// How: `///`, docstrings, `/** */`.
    pub form: Measure,
    /// Items without.
    pub undocumented: Vec<String>,
}

/// The conventions of one language.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Conventions {
    /// Names by what they name: `function`, `type`, `constant`, `variable`, `file`, …
    pub naming: BTreeMap<String, Measure>,
    /// By lines.
    pub indent: Measure,
    /// By strings for which there was a choice.
    pub quotes: Measure,
    /// Whether statements end in one, where that is a choice.
    pub semicolons: Measure,
    /// How long lines are.
    pub line_length: LineLength,
    /// How imports are written.
    pub imports: Imports,
    /// Where tests are.
    pub tests: Tests,
    /// How errors are handled.
    pub errors: Errors,
    /// What is documented.
    pub docs: Docs,
    /// Files measured.
    pub files: usize,
}

/// The conventions of the scanned folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The main language; empty if there is no code.
    pub language: String,
    /// Its conventions.
    #[serde(flatten)]
    pub main: Conventions,
    /// Those of the other languages, by name.
    pub by_language: BTreeMap<String, Conventions>,
    /// What settings of formatters and editors demand.
    pub configured: Vec<Setting>,
    /// Files measured.
    pub sampled_files: usize,
    /// Files that there are.
    pub total_files: usize,
    /// Bytes measured.
    pub sampled_bytes: u64,
    /// What makes this less than it seems.
    pub warnings: Vec<String>,
}

/// What one file, or all of a language, shows.
#[derive(Default)]
pub(super) struct Facts {
    tallies: BTreeMap<&'static str, Tally>,
    uses: BTreeMap<String, usize>,
    lengths: BTreeMap<usize, usize>,
    documented: usize,
    public: usize,
    undocumented: Vec<String>,
    files: usize,
}

impl Facts {
    fn add(&mut self, topic: &'static str, style: &str, example: &str) {
        self.tallies.entry(topic).or_default().add(style, example);
    }

    fn many(&mut self, topic: &'static str, style: &str, count: usize, example: &str) {
        self.tallies.entry(topic).or_default().many(style, count, example);
    }

    fn merge(&mut self, other: Self) {
        for (topic, tally) in other.tallies {
            self.tallies.entry(topic).or_default().merge(tally);
        }
        for (what, count) in other.uses {
            *self.uses.entry(what).or_default() += count;
        }
        for (length, count) in other.lengths {
            *self.lengths.entry(length).or_default() += count;
        }
        self.documented += other.documented;
        self.public += other.public;
        self.undocumented.extend(other.undocumented);
        self.undocumented.truncate(5);
        self.files += 1;
    }

    fn measure(&mut self, topic: &'static str) -> Measure {
        self.tallies.remove(topic).unwrap_or_default().finish()
    }

    fn finish(mut self, language: &str) -> Conventions {
        const NAMES: &[(&str, &str)] = &[
            ("naming.function", "function"),
            ("naming.type", "type"),
            ("naming.constant", "constant"),
            ("naming.variable", "variable"),
            ("naming.module", "module"),
            ("naming.file", "file"),
            ("naming.test", "test"),
        ];
        let mut naming = BTreeMap::new();
        for (topic, kind) in NAMES {
            let tally = self.tallies.remove(topic).unwrap_or_default();
            let measured = settle(tally, kind, language).finish();
            if measured.n > 0 || matches!(*kind, "function" | "type" | "constant" | "file") {
                naming.insert((*kind).to_owned(), measured);
            }
        }
        let imports = Imports {
            order: self.measure("imports.order"),
            groups: self.measure("imports.groups"),
            form: self.measure("imports.form"),
            paths: self.measure("imports.paths"),
        };
        let share = measure::share(self.documented, self.public);
        let plain = self.public >= measure::MIN_COUNT && share >= measure::MIN_SHARE;
        let docs = Docs {
            style: if plain { "documented" } else { "none" }.to_owned(),
            share,
            n: self.public,
            form: self.measure("docs"),
            undocumented: std::mem::take(&mut self.undocumented),
        };
        Conventions {
            naming,
            indent: self.measure("indent"),
            quotes: self.measure("quotes"),
            semicolons: self.measure("semicolons"),
            line_length: shape::line_length(&self.lengths),
            imports,
            tests: Tests { layout: self.measure("tests.layout"), naming: self.measure("tests.naming") },
            errors: Errors { measure: self.measure("errors"), uses: std::mem::take(&mut self.uses) },
            docs,
            files: self.files,
        }
    }
}

/// Languages with statements and names; styles, pages and templates (also those with code in them) have others.
fn is_measured(language: &Language) -> bool {
    !matches!(
        language.name,
        "HTML"
            | "Vue"
            | "Svelte"
            | "CSS"
            | "SCSS"
            | "Less"
            | "SQL"
            | "Makefile"
            | "CMake"
            | "Dockerfile"
            | "GraphQL"
            | "Protocol Buffers"
            | "Terraform"
            | "Nix"
            | "Starlark"
    )
}

/// Measures the scanned folder.
pub fn conventions(scan: &Scan<'_>) -> Result<Report> {
    let own = scan.files.iter().filter(|file| {
        !file.vendored && file.language.is_some_and(is_measured) && !language::is_generated_name(&file.path)
    });
    let own: Vec<&File> = own.collect();
    let sample = sample(&own);
    let total_files = own.len();
    let paths: Vec<&str> = sample.iter().map(|file| file.path.as_str()).collect();
    let local = local_packages(scan);
    let measured = scan.map_files(&paths, |index, bytes| {
        let file = sample.get(index)?;
        let language = file.language?;
        let text = String::from_utf8_lossy(bytes);
        let binary = language::lines(bytes).is_none();
        (!binary && !language::is_generated_text(bytes))
            .then(|| (language.name, bytes.len() as u64, shape::measure(&file.path, language, &text, &local)))
    })?;
    let (mut sampled_files, mut sampled_bytes) = (0, 0);
    let mut by_language: BTreeMap<&str, (u64, Facts)> = BTreeMap::new();
    for (language, bytes, facts) in measured.into_values().flatten() {
        sampled_files += 1;
        sampled_bytes += bytes;
        let (sum, all) = by_language.entry(language).or_default();
        *sum += bytes;
        all.merge(facts);
    }
    if sample.len() < total_files {
        scan.warn(format!(
            "{} of {total_files} files were measured: evenly chosen, at most {MAX_FILES} and 20 MB",
            sample.len()
        ));
    }
    let mut ranked: Vec<(&str, u64, Facts)> =
        by_language.into_iter().map(|(name, (bytes, facts))| (name, bytes, facts)).collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let mut ranked = ranked.into_iter();
    let (language, main) = match ranked.next() {
        Some((name, _, facts)) => (name.to_owned(), facts.finish(name)),
        None => (String::new(), Facts::default().finish("")),
    };
    let others = ranked.filter(|(_, _, facts)| facts.files >= MIN_FILES).take(MAX_LANGUAGES);
    let by_language = others.map(|(name, _, facts)| (name.to_owned(), facts.finish(name))).collect();
    let configured = configured::settings(scan);
    let warnings = scan.warnings();
    Ok(Report {
        language,
        main,
        by_language,
        configured,
        sampled_files,
        total_files,
        sampled_bytes,
        warnings,
    })
}

/// Evenly chosen over the paths, so that no folder is left out and the choice is the same every time.
fn sample<'f>(own: &[&'f File]) -> Vec<&'f File> {
    let fitting: Vec<&File> = own.iter().copied().filter(|file| file.size <= MAX_SOURCE).collect();
    let bytes: u64 = fitting.iter().map(|file| file.size).sum();
    let by_bytes = usize::try_from(bytes.div_ceil(MAX_BYTES)).unwrap_or(usize::MAX);
    let step = fitting.len().div_ceil(MAX_FILES).max(by_bytes).max(1);
    fitting.into_iter().step_by(step).collect()
}

/// The names of Python packages of the project's own.
fn local_packages(scan: &Scan<'_>) -> HashSet<String> {
    let files = scan.files.iter().filter(|file| !file.vendored);
    let names = files.filter_map(|file| {
        let folder = file.path.strip_suffix("/__init__.py").or_else(|| file.path.strip_suffix(".py"))?;
        Some(folder.rsplit('/').next()?.to_owned())
    });
    names.collect()
}
