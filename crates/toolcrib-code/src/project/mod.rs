//! What kind of project this is: measured and read from its own files, never guessed.
//!
//! Everything begins with a [`Scan`]: one walk of the folder. Manifests are read into one shape (`manifest`), in which
//! every statement has its line; what follows from them is looked up in tables (`catalog`).

#[rustfmt::skip]
mod catalog;
mod commands;
mod conventions;
mod detect;
pub(crate) mod language;
mod list;
mod manifest;
mod node;
mod overview;
mod scan;

pub use commands::{Command, Commands};
pub use conventions::{
    Conventions, Docs, Errors, Imports, LineLength, Measure, Report, Setting, Tests, conventions,
};
pub use detect::{Found, LanguageShare, MemberInfo, ProjectType, Toolchain, detect};
pub use list::{Project, Projects, projects};
pub use overview::{Document, Entry, Folder, Overview, StackPart, Statement, overview};
pub use scan::Scan;
