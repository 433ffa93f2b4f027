//! The process engine, with the real binary as its supervisor: running, bounding, confining, ending.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "what could not be tested is said")]

mod asking;
mod bench;
mod degraded;
mod kill;
mod output;
mod run;
mod sandbox;
