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
    /// For each rule, the shortest beginning of its hash that no other rule has, but [`SHORTEST`] characters at least.
    keys: Vec<String>,
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
const SHORTEST: usize = 4;

/// The tables of `toolcrib.toml`, some of them reserved for later.
const TABLES: [&str; 10] = [
    "permissions",
    "sandbox",
    "commands",
    "tools",
    "mcp",
    "mcpServers",
    "agents",
    "models",
    "web",
    "profile",
];

impl RuleFile {
    /// The rules of `[permissions]` in `text`. `name` is how the file is called in errors.
    pub fn parse(scope: Scope, name: &str, text: &str) -> Result<Self, String> {
        let table: toml::Table = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("{name}, line {line}: {}", error.message())
        })?;
        Self::check_tables(&table).map_err(|why| format!("{name}: {why}"))?;
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
        let keys = keys(&rules);
        Ok(Self { scope, trusted: true, rules, keys, broken: None })
    }

    /// Whether all tables of a `toolcrib.toml` are known: a misspelled one would be a setting that does not hold.
    pub fn check_tables(table: &toml::Table) -> Result<(), String> {
        let Some(key) = table.keys().find(|key| !TABLES.contains(&key.as_str())) else { return Ok(()) };
        let name = key.to_lowercase();
        let far = |known: &str| strsim::damerau_levenshtein(&name, &known.to_lowercase());
        let meant = match TABLES.iter().min_by_key(|known| far(known)) {
            _ if ["rule", "rules"].contains(&name.as_str()) => "is `[[permissions.rules]]` meant?".to_owned(),
            Some(nearest) if far(nearest) <= 2.min(name.chars().count() / 2) => {
                format!("is `[{nearest}]` meant?")
            }
            _ => format!("these tables are: {}", TABLES.join(", ")),
        };
        Err(format!("`{key}` is not known; {meant}"))
    }

    /// A file that does not load: until it does, nothing but reading is permitted.
    pub fn broken(scope: Scope, why: impl Into<String>) -> Self {
        Self { scope, trusted: false, rules: Vec::new(), keys: Vec::new(), broken: Some(why.into()) }
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

    /// The id of its rule at `index`, which it keeps whatever rules come and go: `user:3f9a (command "git push")`.
    pub fn id(&self, index: usize) -> String {
        let shown = self.rules.get(index).map_or("", Rule::shown);
        format!("{}:{} ({shown})", self.scope.as_str(), self.key(index).unwrap_or_default())
    }

    /// What follows the scope in the id of its rule at `index`.
    pub fn key(&self, index: usize) -> Option<&str> {
        self.keys.get(index).map(String::as_str)
    }

    /// Where the rule with this key is; of several that say the same, the first.
    pub fn find(&self, key: &str) -> Result<usize, String> {
        let scope = self.scope.as_str();
        let mut found = self.rules.iter().enumerate().filter(|(_, rule)| rule.hash().starts_with(key));
        let enough = key.len() >= SHORTEST;
        match (found.next().filter(|_| enough), key.parse::<usize>()) {
            (Some((_, first)), _) if found.any(|(_, other)| other.hash() != first.hash()) => {
                Err(format!("several rules begin with {scope}:{key}: write more of the id"))
            }
            (Some((at, _)), _) => Ok(at),
            (None, Ok(number)) if (1..=self.rules.len()).contains(&number) => Err(format!(
                "rules are named by their ids, since numbers change with every removal: rule {number} is {}",
                self.id(number - 1)
            )),
            (None, _) => Err(format!("there is no rule {scope}:{key}")),
        }
    }

    /// Whether a rule of it counts: an allow of a file that is not trusted does not.
    pub fn counts(&self, rule: &Rule) -> bool {
        self.trusted || rule.decision != Decision::Allow
    }
}

fn keys(rules: &[Rule]) -> Vec<String> {
    let mut sorted: Vec<&str> = rules.iter().map(Rule::hash).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let key = |rule: &Rule| {
        let hash = rule.hash();
        let at = sorted.partition_point(|other| *other < hash);
        let around = [at.checked_sub(1).and_then(|at| sorted.get(at)), sorted.get(at + 1)];
        let shared = around.into_iter().flatten().map(|other| common(hash, other)).max().unwrap_or(0);
        hash.chars().take(SHORTEST.max(shared + 1)).collect()
    };
    rules.iter().map(key).collect()
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
