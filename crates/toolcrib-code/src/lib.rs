//! Code intelligence: what a code base is made of, told with how sure it is.
//!
//! An engine of its own: it knows nothing of tools, models or permissions. It reads files only through the confined
//! workspace.

pub mod project;
