//! Who may do what: permissions, the policy with its modes, rules and grants, and asking a person.
//!
//! A call is judged in parts (each command, path and host by itself), and the strictest answer holds for all of it:
//! the mode says what is asked about, rules what people wrote down, grants what they said when asked, and
//! [`RulePolicy`] puts them together.

mod book;
mod grant;
mod mode;
mod pattern;
mod policy;
mod rules;
mod words;

use std::future::Future;
use std::pin::Pin;

pub use book::{RuleBook, RuleFile, Scope};
pub use grant::{Grant, GrantScope, GrantStore, GrantedCommand};
pub use mode::{Contained, Containment, PolicyMode};
pub use policy::RulePolicy;
pub use rules::{PathAccess, Rule, RuleText, WordText, WordsText};

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
    /// What people have granted in this session.
    pub grants: &'a [Grant],
    /// The arguments.
    pub arguments: &'a Value,
}

/// What is to be done with a call, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Go on.
    Allow,
    /// Ask a person. With nobody to ask it is a denial.
    Ask,
    /// Refuse.
    Deny,
}

impl Decision {
    /// The name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What the policy answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What is to be done.
    pub decision: Decision,
    /// Why: for the person who is asked, or the model that is refused.
    pub reason: String,
    /// What decided: a rule (`user:3f9a (command "git push")`), a mode (`mode ask`), or `floor`.
    pub rule: Option<String>,
    /// Whether a person may answer the question once and for all. A rule that says `ask` wants every call asked.
    #[serde(skip)]
    pub grantable: bool,
}

impl Verdict {
    /// A verdict that no rule is behind.
    pub fn new(decision: Decision, reason: impl Into<String>) -> Self {
        Self { decision, reason: reason.into(), rule: None, grantable: true }
    }

    /// The same verdict, naming what decided.
    #[must_use]
    pub fn by(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }
}

/// Decides about calls. [`RulePolicy`] is the one that Toolcrib comes with.
pub trait Policy: Send + Sync {
    /// Decides about one call. A question that the request's grants answer is not to be asked.
    fn decide(&self, request: &PolicyRequest<'_>) -> Verdict;

    /// The mode in force, for reports.
    fn mode(&self) -> PolicyMode;
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
    /// What a yes beyond this call would cover, as shown to the person. Without it there is only this call.
    pub grant: Option<Grant>,
    /// How far a yes may reach.
    pub scopes: Vec<GrantScope>,
    /// The hash of the exact input; an approval holds for it alone.
    pub input_hash: String,
}

/// The answer of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, to the input with this hash.
    Approve {
        /// The hash from the request.
        input_hash: String,
        /// How far it reaches. Further than the request offers is no further than this call.
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
