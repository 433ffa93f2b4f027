//! What the journal writes down about a change.

use serde::{Deserialize, Serialize};

use crate::Hash;

/// The version of the records and of the journal's layout.
pub(crate) const VERSION: u32 = 1;

/// What a name stands for, before or after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum State {
    /// Nothing: not the same as an empty file.
    Absent,
    File {
        hash: Hash,
        size: u64,
        /// None: whatever a new file gets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    Dir {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    Link {
        target: String,
    },
    /// Something that is never changed.
    Other,
}

impl State {
    /// Whether both have the same content, modes aside.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { hash: a, .. }, Self::File { hash: b, .. }) => a == b,
            (Self::Dir { .. }, Self::Dir { .. }) => true,
            _ => self == other,
        }
    }

    /// Whether one can become the other in a single step.
    pub(crate) fn same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    pub(crate) fn hash(&self) -> Option<Hash> {
        match self {
            Self::File { hash, .. } => Some(*hash),
            _ => None,
        }
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    pub(crate) fn is_dir(&self) -> bool {
        matches!(self, Self::Dir { .. })
    }
}

/// A path in the journal: the key of its root and its encoded names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalPath {
    pub(crate) root: String,
    pub(crate) path: String,
}

/// What happened to one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(flatten)]
    pub(crate) at: JournalPath,
    /// The path as people were shown it.
    pub(crate) display: String,
    pub(crate) before: State,
    pub(crate) after: State,
    /// For directories: whether removing one that is not empty is a failure, and not just left undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) strict: bool,
    /// Where the content came from, for a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) moved_from: Option<JournalPath>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) version: u32,
    pub(crate) id: String,
    pub(crate) at: String,
    pub(crate) tool: String,
    pub(crate) call_id: String,
    pub(crate) session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<u64>,
    /// Changes that this one took back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) undoes: Vec<String>,
    /// Changes that this one made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) redoes: Vec<String>,
    pub(crate) entries: Vec<Entry>,
}

/// What can be said of a record whose version is not known.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Outline {
    pub(crate) version: u32,
    #[serde(default)]
    pub(crate) at: String,
    #[serde(default)]
    pub(crate) tool: String,
}
