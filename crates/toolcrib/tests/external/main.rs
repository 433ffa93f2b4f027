//! Tools that files describe, through the executor and the command, with the real binary as supervisor.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "what could not be tested is said")]

#[path = "../support/mod.rs"]
mod support;

mod abuse;
mod attacks;
mod reload;
mod walk;
mod world;
