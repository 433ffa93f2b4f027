//! Tools from outside: a `*.tool.toml` file describes a program, and that is a tool like any other.
//!
//! [`Manifest::parse`] reads a file, [`CommandTool`] runs it, [`ExternalTools`] keeps a registry in step with the
//! user's and the project's folder, and [`ExternalTools::watch`] does so as they change. A file that does not load
//! is reported with its line and leaves its last good version in use.

mod catalog;
mod example;
mod folders;
mod manifest;
mod names;
mod node;
mod output;
mod template;
mod tool;
mod trust;
mod watch;

pub use catalog::{ExternalTools, FileReport};
pub use example::example;
pub use folders::{Origin, PROJECT_FOLDER, SUFFIX, ToolFolders};
pub use manifest::{Manifest, Results};
pub use names::Names;
pub use node::Problem;
pub use tool::CommandTool;
pub use trust::Trust;
pub use watch::Watch;
