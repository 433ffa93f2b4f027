//! Code intelligence: what a code base is made of, told with how sure it is.
//!
//! An engine of its own: it knows nothing of tools, models or permissions. It reads files only through the confined
//! workspace.
//!
//! From the bottom up: [`lang`] knows languages, [`facts`] reads one file, [`index`] keeps the facts of all files fresh,
//! and whatever concerns several files is worked out from there when asked.

#![cfg_attr(
    not(feature = "all-languages"),
    allow(dead_code, unused_imports, reason = "what the languages share is more than one of them needs")
)]

pub mod facts;
pub mod index;
pub mod lang;
pub mod pattern;
pub mod project;
pub mod query;
pub mod resolve;
pub mod scip;
pub mod search;
