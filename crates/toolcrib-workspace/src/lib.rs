//! Confined files for coding agents.

mod error;
pub mod fs;

pub use error::{Error, ErrorKind, Result};
