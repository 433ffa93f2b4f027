//! Confined files for coding agents: byte-keeping edits, atomic journaled changes with undo, walking and search.
//!
//! The crate knows nothing of tools or models. Start at [`Workspace`]; [`edit`] and [`patch`] are pure functions over
//! bytes, [`search`] walks the directories that a workspace hands out.

pub mod diff;
pub mod edit;
mod error;
pub mod fs;
mod hash;
mod journal;
pub mod patch;
mod path;
pub mod search;
pub mod state;
pub mod text;
pub mod workspace;

pub use error::{Error, ErrorKind, Result};
pub use fs::disk::{Confinement, confinement};
pub use hash::Hash;
pub use state::StateDir;
pub use workspace::sensitivity::{Sensitivity, sensitivity};
pub use workspace::{
    Access, Action, Change, ChangeFilter, ChangeId, ChangeInfo, ChangeLabel, ChangedFile, Committed,
    DirLocation, Expect, FileChange, FileData, Location, MountSource, OpenFile, ReadWorkspace, RootInfo,
    Stat, Undone, Workspace, WorkspaceBuilder,
};
