//! Toolcrib: the tool layer for LLM coding agents.
//!
//! [`Toolcrib`] puts the parts together: a confined workspace, the built-in tools, and the executor that validates,
//! permits, bounds, observes and can undo every call.
//!
//! ```
//! use toolcrib::{PolicyMode, Toolcrib, json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("hello.txt"), "hello\n")?;
//! let crib = Toolcrib::builder().root(folder.path()).policy(PolicyMode::Auto).build()?;
//! let session = crib.session("demo");
//! let outcome = crib.call(&session, "read_file", json!({"path": "hello.txt"})).await;
//! assert_eq!(outcome.output, "1\thello");
//! # Ok(())
//! # }
//! ```

mod commands;
mod crib;
mod mcp_server;
mod rule_files;

pub use commands::{CommandSettings, SandboxSettings};
pub use crib::{BuildError, Toolcrib, ToolcribBuilder};
pub use rule_files::RuleFiles;
pub use serde_json::json;
pub use toolcrib_core as core;
pub use toolcrib_core::{
    ActivityStream, Arguments, CallContext, CallRequest, Capabilities, Effects, ErrorCode, Event, EventKind,
    EventType, Executor, Hint, Mode, Outcome, Permission, PolicyMode, Preview, Profile, Registry, Render,
    RenderContext, Services, Session, Tool, ToolError, ToolSpec,
};
pub use toolcrib_external as external;
pub use toolcrib_external::{ExternalTools, ToolFolders};
pub use toolcrib_mcp as mcp;
pub use toolcrib_process as process;
pub use toolcrib_process::run_supervisor_if_asked;
pub use toolcrib_tools as tools;
pub use toolcrib_workspace as workspace;
pub use toolcrib_workspace::{Access, StateDir, Workspace};
