//! What it is measured on.

use std::path::{Path, PathBuf};

pub(crate) struct Repository {
    pub set: String,
    pub language: String,
    /// The name of its folder.
    pub name: String,
    /// Its name in the registry.
    pub package: String,
    pub unseen: bool,
    pub sources: PathBuf,
    pub scip: PathBuf,
}

impl Repository {
    pub(crate) fn all(dir: &Path) -> Vec<Self> {
        let lines = include_str!("repositories.txt").lines().filter(|line| !line.starts_with('#'));
        let read = |line: &str| {
            let mut words = line.split_whitespace();
            let (set, language, package) = (words.next()?, words.next()?, words.next()?);
            let name = package.rsplit('/').next()?;
            let at = dir.join(set).join(language);
            Some(Self {
                set: set.into(),
                language: language.into(),
                name: name.into(),
                package: package.into(),
                unseen: set == "unseen",
                sources: at.join(name),
                scip: at.join(format!("{name}.scip")),
            })
        };
        lines.filter_map(read).collect()
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.sources.is_dir() && self.scip.is_file()
    }
}
