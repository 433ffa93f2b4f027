//! What several tools share.

pub(crate) mod change;
pub(crate) mod code;
pub(crate) mod commands;
pub(crate) mod errors;
pub(crate) mod listing;
pub(crate) mod outline;
pub(crate) mod paths;
pub(crate) mod places;
pub(crate) mod project;
pub(crate) mod roots;
pub(crate) mod sessions;
pub(crate) mod spill;
pub(crate) mod symbols;
pub(crate) mod syntax;
