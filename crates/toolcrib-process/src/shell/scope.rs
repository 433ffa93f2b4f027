//! What is known while reading a text from top to bottom: directories, variables, functions, aliases.

use super::Surroundings;
use super::paths::normalise;
use super::word::{HOLE, Word};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How many values of one variable, or directories, are followed.
const MOST: usize = 16;

/// What is known at one place of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Where relative paths may start; empty: not known.
    pub(super) cwds: Vec<PathBuf>,
    /// Where they start if the last `cd` failed.
    pub(super) before_cd: Option<Vec<PathBuf>>,
    /// What variables may be; `None` among the values: anything.
    vars: HashMap<String, Vec<Option<String>>>,
    /// What arrays hold, where all of it is known.
    arrays: HashMap<String, Vec<String>>,
    /// The bodies of functions.
    pub(super) functions: HashMap<String, String>,
    /// What aliases stand for.
    pub(super) aliases: HashMap<String, String>,
    /// The functions whose bodies are being read.
    pub(super) reading: Vec<String>,
    /// Whether what is read may be skipped or repeated, so that an assignment adds a value.
    pub(super) maybe: bool,
}

impl Scope {
    pub(super) fn new(at: &Surroundings) -> Self {
        let mut scope = Self { cwds: vec![normalise(&at.cwd)], ..Self::default() };
        let home = at.home.as_ref().map(|home| home.to_string_lossy().into_owned());
        scope.vars.insert("HOME".to_owned(), vec![home]);
        scope
    }

    /// Gives a variable a value, or one more.
    pub(super) fn set(&mut self, name: &str, value: Option<String>) {
        let values = self.vars.entry(name.to_owned()).or_default();
        if !self.maybe {
            values.clear();
        } else if values.is_empty() {
            // Not set before: whatever the environment says.
            values.push(None);
        }
        if values.len() < MOST {
            values.push(value);
        } else {
            values.push(None);
            values.dedup();
        }
    }

    /// Gives a variable several values at once.
    pub(super) fn bind(&mut self, name: &str, words: &[Word]) {
        let values = words.iter().take(MOST).map(|word| word.value().map(str::to_owned));
        let mut values: Vec<Option<String>> = values.collect();
        if values.is_empty() || words.len() > MOST {
            values.push(None);
        }
        self.vars.insert(name.to_owned(), values);
    }

    /// Gives `$1`, `$2` … and `$@` these values.
    pub(super) fn bind_arguments(&mut self, words: &[Word]) {
        for (nth, word) in words.iter().take(9).enumerate() {
            self.bind(&(nth + 1).to_string(), std::slice::from_ref(word));
        }
        self.bind("@", words);
        self.bind("*", words);
    }

    /// Gives a variable one of several values, or one that only running would tell.
    pub(super) fn set_any(&mut self, name: &str, values: Vec<String>) {
        let values = values.into_iter().take(MOST).map(Some).chain([None]);
        self.vars.insert(name.to_owned(), values.collect());
    }

    /// Gives an array its elements, or more of them; `None`: they are not known.
    pub(super) fn set_array(&mut self, name: &str, words: Option<Vec<String>>, appends: bool) {
        let name = name.split('[').next().unwrap_or(name);
        match words {
            Some(words) if appends => self.arrays.entry(name.to_owned()).or_default().extend(words),
            Some(words) => drop(self.arrays.insert(name.to_owned(), words)),
            None => drop(self.arrays.remove(name)),
        }
        if self.arrays.get(name).is_some_and(|words| words.len() > MOST) {
            self.arrays.remove(name);
        }
    }

    /// What an array holds.
    pub(super) fn array(&self, name: &str) -> Option<&[String]> {
        self.arrays.get(name).map(Vec::as_slice)
    }

    /// Forgets what a variable is.
    pub(super) fn forget(&mut self, name: &str) {
        self.arrays.remove(name.split('[').next().unwrap_or(name));
        self.vars.entry(name.to_owned()).or_default().push(None);
    }

    /// What a variable may be.
    pub(super) fn get(&self, name: &str) -> Vec<Option<String>> {
        if name == "PWD" {
            return self.here();
        }
        match self.vars.get(name) {
            Some(values) if !values.is_empty() => values.clone(),
            _ => vec![None],
        }
    }

    /// The current directory, as a variable's values.
    pub(super) fn here(&self) -> Vec<Option<String>> {
        if self.cwds.is_empty() {
            return vec![None];
        }
        self.cwds.iter().map(|cwd| Some(cwd.to_string_lossy().into_owned())).collect()
    }

    /// The paths a word may name; empty when only running would tell.
    pub(super) fn paths(&self, word: &Word) -> Vec<PathBuf> {
        if !word.known || word.text.contains('\0') {
            return Vec::new();
        }
        self.paths_of(&word.text)
    }

    /// The paths that a text may name.
    pub(super) fn paths_of(&self, text: &str) -> Vec<PathBuf> {
        if text.starts_with('/') {
            return vec![normalise(Path::new(text))];
        }
        self.cwds.iter().map(|cwd| normalise(&cwd.join(text))).collect()
    }

    /// The directory that is known to hold what a partly known word names.
    pub(super) fn known_parent(&self, word: &Word) -> Option<PathBuf> {
        let (before, after) = word.text.split_once(HOLE)?;
        if after.contains("..") {
            return None;
        }
        let (parent, _) = before.rsplit_once('/')?;
        match self.paths_of(if parent.is_empty() { "/" } else { parent }).as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    /// Changes the directory.
    pub(super) fn cd(&mut self, to: Option<&Word>, home: Option<&Path>) {
        let before = std::mem::take(&mut self.cwds);
        self.cwds = match to {
            None => home.map(normalise).into_iter().collect(),
            Some(word) if word.text == "-" || word.glob || !word.known => Vec::new(),
            Some(word) if word.text.starts_with('/') => vec![normalise(Path::new(&word.text))],
            Some(word) => before.iter().map(|cwd| normalise(&cwd.join(&word.text))).collect(),
        };
        self.before_cd = Some(before);
    }

    /// Goes on whether the last `cd` worked or not.
    pub(super) fn either_way(&mut self) {
        let Some(before) = self.before_cd.take() else { return };
        if self.cwds.is_empty() || before.is_empty() {
            self.cwds.clear();
            return;
        }
        for cwd in before {
            if !self.cwds.contains(&cwd) {
                self.cwds.push(cwd);
            }
        }
        if self.cwds.len() > MOST {
            self.cwds.clear();
        }
    }
}
