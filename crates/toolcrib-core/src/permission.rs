//! Who may do what: permissions, policy modes, the policy and approver traits, grants.

use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effects::Effects;
use crate::error::ToolError;

/// A boxed future, used where a trait must be object safe.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Look at files.
    Read,
    /// Change files.
    Write,
    /// Start programs.
    Execute,
    /// Reach the network.
    Network,
}

impl Permission {
    /// All permissions, in their order of weight.
    pub const ALL: [Permission; 4] = [Self::Read, Self::Write, Self::Execute, Self::Network];

    /// The name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Network => "network",
        }
    }
}

/// A set of permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PermissionSet(u8);

impl PermissionSet {
    /// The set of these.
    pub fn of(permissions: &[Permission]) -> Self {
        let mut set = Self::default();
        for permission in permissions {
            set.insert(*permission);
        }
        set
    }

    /// Every permission.
    pub fn all() -> Self {
        Self::of(&Permission::ALL)
    }

    /// Adds one.
    pub fn insert(&mut self, permission: Permission) {
        self.0 |= 1 << permission as u8;
    }

    /// Whether it is in the set.
    pub fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u8) != 0
    }

    /// Whether all of `other` is in the set.
    pub fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The permissions in it, in order.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |permission| self.contains(*permission))
    }
}

/// How much may happen without a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyMode {
    /// Only reading.
    Plan,
    /// Reading; everything else is asked.
    #[default]
    Ask,
    /// Reading and ordinary writes in the workspace; the rest is asked.
    Auto,
    /// Everything.
    Full,
}

impl PolicyMode {
    /// The name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Full => "full",
        }
    }
}

impl FromStr for PolicyMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "plan" => Ok(Self::Plan),
            "ask" => Ok(Self::Ask),
            "auto" => Ok(Self::Auto),
            "full" => Ok(Self::Full),
            other => Err(format!("unknown policy {other:?}: use plan, ask, auto or full")),
        }
    }
}

/// How careful one must be with a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sensitivity {
    /// An ordinary file.
    #[default]
    Normal,
    /// Writing it can make other programs run code or give away secrets: worth a question.
    Sensitive(String),
    /// Fine to write, but a person should be told.
    Flagged(String),
}

/// A path of an effect, as the workspace sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The canonical path, with symlinks resolved, so that one file has one name.
    pub path: String,
    /// How careful to be with it.
    pub sensitivity: Sensitivity,
}

/// Turns the paths that a call names into canonical ones, before policy and locks look at them. Implemented by the
/// workspace; core itself touches no files.
pub trait PathResolver: Send + Sync {
    /// The canonical form of a path that is to be read or written. Paths that can never be used are an error here,
    /// so that nobody is asked about them.
    fn resolve(&self, path: &str, write: bool) -> Result<ResolvedPath, ToolError>;
}

/// What the policy is asked.
#[derive(Clone, Debug)]
pub struct PolicyRequest<'a> {
    /// The tool, by its own name.
    pub tool: &'a str,
    /// What its capabilities say it needs.
    pub permissions: PermissionSet,
    /// What this call will touch, in canonical paths.
    pub effects: &'a Effects,
    /// Paths to be written that are worth a question, with the reason.
    pub sensitive: &'a [(String, String)],
    /// The arguments.
    pub arguments: &'a Value,
}

/// What the policy answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Allow,
    /// Ask a person, who is told why. With nobody to ask it is a denial.
    Ask(String),
    /// Refuse; the model is told why.
    Deny(String),
}

/// Decides about calls. Rule engines implement it; [`ModePolicy`] is the base beneath any rules.
pub trait Policy: Send + Sync {
    /// Decides about one call.
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision;

    /// The mode in force, for reports.
    fn mode(&self) -> PolicyMode;
}

/// The policy of a mode alone, without rules.
#[derive(Clone, Copy, Debug)]
pub struct ModePolicy(pub PolicyMode);

impl Policy for ModePolicy {
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        let effects = request.effects;
        let executes = request.permissions.contains(Permission::Execute) && !effects.commands.is_empty();
        let writes = !effects.writes.is_empty() || (effects.writes_anything && !executes);
        let network = !effects.hosts.is_empty();
        if !executes && !writes && !network {
            return Decision::Allow;
        }
        match self.0 {
            PolicyMode::Full => Decision::Allow,
            PolicyMode::Plan => {
                Decision::Deny("the policy is `plan`: nothing may be changed, run or fetched".into())
            }
            PolicyMode::Ask if writes => {
                Decision::Ask("the policy is `ask`: every change is asked for".into())
            }
            PolicyMode::Auto if writes && !executes && !network => match request.sensitive.first() {
                Some((path, reason)) => Decision::Ask(format!("{path}: {reason}")),
                None => Decision::Allow,
            },
            _ if executes => Decision::Ask("it runs a command".into()),
            _ => Decision::Ask("it reaches the network".into()),
        }
    }

    fn mode(&self) -> PolicyMode {
        self.0
    }
}

/// A question to a person.
#[derive(Clone, Debug, Serialize)]
pub struct ConfirmRequest {
    /// The call.
    pub call_id: String,
    /// The tool, by its own name.
    pub tool: String,
    /// What would happen, in a line.
    pub title: String,
    /// Why it is asked.
    pub reason: String,
    /// What would happen, in full: a diff, a command.
    pub preview: String,
    /// What it would touch.
    pub effects: Effects,
    /// What "for the session" would grant, as shown to the person.
    pub grant: Grant,
    /// The hash of the exact input; an approval holds for it alone.
    pub input_hash: String,
}

/// How far an approval reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantScope {
    /// This call.
    Once,
    /// The rest of the session.
    Session,
}

/// The answer of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, to the input with this hash.
    Approve {
        /// The hash from the request.
        input_hash: String,
        /// How far it reaches.
        scope: GrantScope,
    },
    /// No, with a reason for the model.
    Deny {
        /// The reason.
        reason: Option<String>,
    },
}

/// Asks a person. Without one, whatever must be asked is denied.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer.
    fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer>;
}

/// A standing approval: of a tool, for what its calls write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The tool.
    pub tool: String,
    /// The paths that may be written: these exactly, or any ordinary path of the workspace if empty.
    #[serde(default)]
    pub paths: Vec<String>,
}

impl Grant {
    /// What a yes "for the session" to this request would cover: sensitive paths only by name.
    pub fn for_request(request: &PolicyRequest<'_>) -> Self {
        let paths = request.sensitive.iter().map(|(path, _)| path.clone()).collect();
        Self { tool: request.tool.to_owned(), paths }
    }

    /// Whether this grant answers the request.
    pub fn covers(&self, request: &PolicyRequest<'_>) -> bool {
        // Commands and hosts are granted by their own rules, never by a tool's name alone.
        let effects = request.effects;
        let named = |path: &String| self.paths.contains(path);
        // A grant for named paths is for nothing else.
        let within = self.paths.is_empty() || (effects.writes.iter().all(named) && !effects.writes_anything);
        self.tool == request.tool
            && effects.commands.is_empty()
            && effects.hosts.is_empty()
            && within
            && request.sensitive.iter().all(|(path, _)| named(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::{CommandEffect, Judgement};

    fn decide(mode: PolicyMode, effects: &Effects, sensitive: &[(String, String)]) -> Decision {
        ModePolicy(mode).decide(&PolicyRequest {
            tool: "t",
            permissions: PermissionSet::all(),
            effects,
            sensitive,
            arguments: &Value::Null,
        })
    }

    #[test]
    fn a_grant_for_one_path_is_for_no_other() {
        let covers = |grant: &Grant, writes: &[&str], sensitive: &[&str]| {
            let sensitive: Vec<_> =
                sensitive.iter().map(|path| ((*path).to_owned(), String::new())).collect();
            grant.covers(&PolicyRequest {
                tool: "t",
                permissions: PermissionSet::all(),
                effects: &Effects::writes(writes.iter().copied()),
                sensitive: &sensitive,
                arguments: &Value::Null,
            })
        };
        let any = Grant { tool: "t".into(), paths: vec![] };
        let one = Grant { tool: "t".into(), paths: vec![".envrc".into()] };
        assert!(covers(&any, &["a"], &[]) && !covers(&any, &[".envrc"], &[".envrc"]));
        assert!(covers(&one, &[".envrc"], &[".envrc"]) && !covers(&one, &["a"], &[]));
        assert!(!covers(&Grant { tool: "u".into(), paths: vec![] }, &["a"], &[]));
    }

    #[test]
    fn modes() {
        let read = Effects::reads(["a"]);
        let write = Effects::writes(["a"]);
        let command = CommandEffect {
            text: "make".into(),
            words: vec!["make".into()],
            prefix: 1,
            judgement: Judgement::Plain,
        };
        let run = Effects { commands: vec![command], ..Effects::default() };
        let fetch = Effects { hosts: vec!["h".into()], ..Effects::default() };
        let sensitive = [(".envrc".to_owned(), "runs code".to_owned())];
        let short = |decision| match decision {
            Decision::Allow => "allow",
            Decision::Ask(_) => "ask",
            Decision::Deny(_) => "deny",
        };
        for (mode, expected) in [
            (PolicyMode::Plan, ["allow", "deny", "deny", "deny", "deny"]),
            (PolicyMode::Ask, ["allow", "ask", "ask", "ask", "ask"]),
            (PolicyMode::Auto, ["allow", "allow", "ask", "ask", "ask"]),
            (PolicyMode::Full, ["allow", "allow", "allow", "allow", "allow"]),
        ] {
            let got = [
                short(decide(mode, &read, &[])),
                short(decide(mode, &write, &[])),
                short(decide(mode, &write, &sensitive)),
                short(decide(mode, &run, &[])),
                short(decide(mode, &fetch, &[])),
            ];
            assert_eq!(got, expected, "{mode:?}");
        }
    }
}
