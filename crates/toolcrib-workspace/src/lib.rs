//! Confined files for coding agents.

pub mod diff;
pub mod edit;
mod error;
pub mod fs;
mod hash;
mod journal;
mod path;
pub mod state;
pub mod workspace;
pub mod search;
pub mod patch;
pub mod text;

pub use error::{Error, ErrorKind, Result};
pub use hash::Hash;
pub use state::StateDir;
pub use workspace::sensitivity::{Sensitivity, sensitivity};
pub use workspace::{
    Access, Action, Change, ChangeFilter, ChangeId, ChangeInfo, ChangeLabel, ChangedFile, Committed,
    DirLocation, Expect, FileChange, FileData, Location, MountSource, OpenFile, ReadWorkspace, RootInfo,
    Stat, Undone, Workspace, WorkspaceBuilder,
};
