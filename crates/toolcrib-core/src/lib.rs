//! Toolcrib.

pub mod declarations;
pub mod executor;
pub mod json;
pub mod sanitize;
pub mod schema;
