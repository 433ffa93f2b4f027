//! The contract of Toolcrib: what a tool is, how it is registered, shown and run, and what a call returns.
//!
//! This crate has no file, process or network access. Read [`tool`], then [`executor`], and you know the system.

pub mod activity;
pub mod context;
pub mod declarations;
pub mod effects;
pub mod error;
pub mod executor;
pub mod json;
pub mod outcome;
pub mod permission;
pub mod profile;
pub mod registry;
pub mod render;
pub mod sanitize;
pub mod schema;
pub mod services;
pub mod session;
pub mod spec;
pub mod stats;
pub mod tokens;
pub mod tool;

pub use activity::{ActivityStream, Event, EventKind, EventType};
pub use context::CallContext;
pub use effects::{CommandEffect, Effects, Judgement};
pub use error::{ErrorCode, ErrorType, ToolError};
pub use executor::{Arguments, CallRequest, Executor};
pub use outcome::{Attachment, Hint, Outcome};
pub use permission::{Permission, PermissionSet, PolicyMode};
pub use profile::Profile;
pub use registry::Registry;
pub use render::{Render, RenderContext, ResourceTracker};
pub use services::Services;
pub use session::Session;
pub use spec::{Capabilities, Mode, ToolSpec};
pub use tool::{BoundCall, DynTool, Preview, Tool, ToolOutput, Violations};
