//! Commands: judged before they run ([`shell`]), confined by the kernel ([`sandbox`]), and gone when told.
//!
//! An engine of its own: it knows nothing of tools, models or permissions. [`Commands`] starts a [`Process`] at a
//! [`Level`]; a [`Table`] keeps those that outlive a call.

mod commands;
mod environment;
pub mod output;
mod process;
pub mod sandbox;
pub mod shell;
mod table;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "portable.rs"]
mod platform;

pub use commands::{Commands, Limits, Program, Request, Settings, StartError};
pub use environment::{EnvironmentSettings, is_secret};
pub use output::{Piece, Spill};
pub use platform::{harden, run_if_asked as run_supervisor_if_asked};
pub use process::{End, Output, Process, Stream};
pub use sandbox::{Bounds, Finder, Level, Report, Root, Verdict};
pub use table::{Entry, MAX_LIVE, Table};
