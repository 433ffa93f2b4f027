//! The MCP server as clients meet it: the real command, on pipes and sockets, driven by a client of a few
//! lines.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod abuse;
mod client;
mod confirm;
mod ending;
mod http;
mod stdio;
#[path = "../support/mod.rs"]
mod support;
