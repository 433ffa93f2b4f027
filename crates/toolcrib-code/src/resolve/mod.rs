//! What a name means, and how sure that is.
//!
//! From near to far: the scopes of the file it is written in ([`scopes`]), then what its imports bring in. Everything is
//! worked out from facts when asked and kept nowhere. An answer is never more certain than what proves it.

mod answers;
mod asking;
mod cache;
mod callbacks;
mod cargo;
mod known;
mod layout;
mod manifests;
mod members;
mod modules;
mod narrow;
mod parts;
mod program;
mod query;
mod scopes;
mod types;
mod variants;

use serde::Serialize;

pub use answers::FROM_OUTSIDE;
pub use program::{Answer, Def, Meaning, Offered, Program, Source};
pub use scopes::{FileScopes, Target};

/// How sure an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Proved by scope, import or type.
    Resolved,
    /// The only candidate by name and number of arguments.
    Likely,
    /// The same name, and no more.
    NameMatch,
}

impl Label {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Label::Resolved => "resolved",
            Label::Likely => "likely",
            Label::NameMatch => "name_match",
        }
    }
}
