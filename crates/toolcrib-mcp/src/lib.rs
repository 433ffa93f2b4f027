//! Toolcrib over the Model Context Protocol.
//!
//! One hand-written handler over an [`Executor`](toolcrib_core::Executor) serves both eras of the protocol,
//! up to 2025-11-25 with its `initialize` and 2026-07-28 without, on stdio ([`serve_stdio`]) and HTTP
//! ([`Http`]). Everything that a tool does goes through the executor: this crate translates and nothing more.
//! It is kept small because the protocol's service loop is compiled anew with every change to it.

mod call;
mod changes;
mod client;
mod confirm;
pub mod conformance;
mod content;
mod handler;
mod http;
mod progress;
mod random;
mod server;
mod state;
mod stdio;

pub use client::Client;
pub use http::{Http, HttpError, HttpOptions};
pub use random::token;
pub use server::{Ended, Options, ResourceBody, ResourceInfo, Resources, Server};
pub use stdio::serve_stdio;
