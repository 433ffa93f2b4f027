//! Code intelligence: what a code base is made of, told with how sure it is.
//!
//! An engine of its own: it knows nothing of tools, models or permissions. It reads files only through the confined
//! workspace.
//!
//! From the bottom up: [`lang`] knows languages, [`facts`] reads one file, [`index`] keeps the facts of all files fresh,
//! and whatever concerns several files is worked out from there when asked.

pub mod facts;
pub mod index;
pub mod lang;
pub mod pattern;
pub mod project;
pub mod resolve;
pub mod search;
