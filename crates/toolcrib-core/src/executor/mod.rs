//! The executor's stages.

pub mod repair;
pub mod validate;
