//! Rules in their files: read from TOML, numbered, trusted or not.

use serde::{Deserialize, Serialize};

use super::Decision;
use super::rules::{Rule, RuleText};

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The user's own configuration, for every workspace.
    User,
    /// The project's configuration, which comes with its files: it may only tighten until the user trusts it.
    Project,
    /// What the user granted for this workspace, kept in the user's own state.
    Granted,
}

impl Scope {
    /// The name in lower case, as in rule ids.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Granted => "granted",
        }
    }
}

/// The rules of one file.
#[derive(Clone, Debug)]
pub struct RuleFile {
    /// Where they come from.
    pub scope: Scope,
    /// Whether what it allows counts.
    pub trusted: bool,
    rules: Vec<Rule>,
    broken: Option<String>,
}

/// Rules of a file as they are written; other tables of the file are not ours.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Permissions {
    #[serde(default)]
    rules: Vec<toml::Value>,
}

const MAX_RULES: usize = 2000;

impl RuleFile {
    /// The rules of `[permissions]` in `text`. `name` is how the file is called in errors.
    pub fn parse(scope: Scope, name: &str, text: &str) -> Result<Self, String> {
        let table: toml::Table = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("{name}, line {line}: {}", error.message())
        })?;
        if let Some(key) = table.keys().find(|key| *key != "permissions" && misspelled(key)) {
            return Err(format!("{name}: `{key}` is not known; is `[[permissions.rules]]` meant?"));
        }
        let permissions = match table.get("permissions") {
            Some(value) => Permissions::deserialize(value.clone())
                .map_err(|error| format!("{name}: [permissions]: {}", error.message().trim_end()))?,
            None => Permissions::default(),
        };
        if permissions.rules.len() > MAX_RULES {
            return Err(format!("{name}: more than {MAX_RULES} rules"));
        }
        let mut rules = Vec::new();
        for (index, value) in permissions.rules.into_iter().enumerate() {
            let wrong = |why: &str| format!("{name}: rule {}: {}", index + 1, why.trim_end());
            let text = RuleText::deserialize(value).map_err(|error| wrong(error.message()))?;
            rules.push(Rule::new(&text).map_err(|why| wrong(&why))?);
        }
        Ok(Self { scope, trusted: true, rules, broken: None })
    }

    /// A file that does not load: until it does, nothing but reading is permitted.
    pub fn broken(scope: Scope, why: impl Into<String>) -> Self {
        Self { scope, trusted: false, rules: Vec::new(), broken: Some(why.into()) }
    }

    /// The same file; what it allows counts only if it is trusted.
    #[must_use]
    pub fn trusted(mut self, trusted: bool) -> Self {
        self.trusted = trusted;
        self
    }

    /// Its rules, in their order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Why it does not load.
    pub fn problem(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// The id of its rule at `index`: `user:3 (command "git push")`.
    pub fn id(&self, index: usize) -> String {
        let shown = self.rules.get(index).map_or("", Rule::shown);
        format!("{}:{} ({shown})", self.scope.as_str(), index + 1)
    }

    /// Whether a rule of it counts: an allow of a file that is not trusted does not.
    pub fn counts(&self, rule: &Rule) -> bool {
        self.trusted || rule.decision != Decision::Allow
    }
}

fn misspelled(key: &str) -> bool {
    let key = key.to_lowercase();
    key == "rules" || key == "rule" || strsim::jaro_winkler(&key, "permissions") > 0.9
}

/// All rule files in force.
#[derive(Clone, Debug, Default)]
pub struct RuleBook {
    /// The files.
    pub files: Vec<RuleFile>,
}

impl RuleBook {
    /// The rules of these files.
    pub fn new(files: Vec<RuleFile>) -> Self {
        Self { files }
    }

    /// Why a file does not load, and where it belongs.
    pub(super) fn problem(&self) -> Option<(Scope, &str)> {
        self.files.iter().find_map(|file| Some((file.scope, file.problem()?)))
    }

    /// The rules that count, with their files and places.
    pub(super) fn rules(&self) -> impl Iterator<Item = (&RuleFile, usize, &Rule)> {
        let of = |file| RuleFile::rules(file).iter().enumerate().map(move |(at, rule)| (file, at, rule));
        self.files.iter().flat_map(of).filter(|(file, _, rule)| file.counts(rule))
    }
}
