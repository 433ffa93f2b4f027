//! The file systems beneath a workspace: the disk, held by directory handles, and memory.

pub mod directory;
