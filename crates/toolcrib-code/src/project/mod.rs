//! What kind of project this is: measured and read from its own files, never guessed.
//!
//! Everything begins with a [`Scan`]: one walk of the folder. Manifests are read into one shape (`manifest`), in which
//! every statement has its line; what follows from them is looked up in tables (`catalog`).

#[rustfmt::skip]
mod catalog;
mod commands;
mod detect;
mod language;
mod manifest;
mod node;
mod scan;

pub use commands::{Command, Commands};
pub use detect::{Found, LanguageShare, MemberInfo, ProjectType, Toolchain, detect};
pub use scan::Scan;
