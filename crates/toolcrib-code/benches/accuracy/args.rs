//! What is asked for.

use std::path::{Path, PathBuf};

use crate::repositories::Repository;

const HELP: &str = "\
--repo NAME      only this repository (may be repeated)
--set SET        dev or unseen
--language LANG  rust, python or typescript
--json FILE      all numbers as JSON
--cases KIND     single cases of the dev set: wrong, missed, unknown, likely (right, but only likely),
                 definitions, imports
--class CLASS    only cases of function, type, method, field or constant
--group TEXT     only groups of cases with this in their title
--limit N        at most so many cases (60)";

#[derive(Default)]
pub(crate) struct Args {
    repos: Vec<String>,
    set: Option<String>,
    language: Option<String>,
    pub json: Option<PathBuf>,
    pub cases: Option<String>,
    pub class: Option<String>,
    pub group: Option<String>,
    pub limit: usize,
}

impl Args {
    pub(crate) fn read() -> Self {
        let mut args = Args { limit: 60, ..Args::default() };
        let mut given = std::env::args().skip(1);
        while let Some(name) = given.next() {
            let mut value = || given.next().unwrap_or_else(|| panic!("{name} needs a value\n{HELP}"));
            match name.as_str() {
                // Said by cargo.
                "--bench" => {}
                "--repo" => args.repos.push(value()),
                "--set" => args.set = Some(value()),
                "--language" => args.language = Some(value()),
                "--json" => args.json = Some(value().into()),
                "--cases" => args.cases = Some(value()),
                "--class" => args.class = Some(value()),
                "--group" => args.group = Some(value()),
                "--limit" => args.limit = value().parse().unwrap(),
                _ => {
                    println!("{HELP}");
                    std::process::exit(i32::from(name != "--help"));
                }
            }
        }
        args
    }

    /// Where sources and truth are.
    pub(crate) fn dir(&self) -> PathBuf {
        let target = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/accuracy");
        std::env::var_os("TOOLCRIB_ACCURACY_DIR").map_or_else(target, PathBuf::from)
    }

    pub(crate) fn wants(&self, repository: &Repository) -> bool {
        let repo = self.repos.is_empty()
            || self.repos.iter().any(|name| *name == repository.name || *name == repository.package);
        let set = self.set.as_ref().is_none_or(|set| *set == repository.set);
        repo && set && self.language.as_ref().is_none_or(|language| *language == repository.language)
    }
}
