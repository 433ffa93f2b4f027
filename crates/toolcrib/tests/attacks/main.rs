//! Attacks and abuse through the public executor: paths, special files, content, arguments, names, state, races, and
//! commands.
//!
//! Identifiers (`P01`, `C05`, …) number the cases of the threat list: P paths, C content and arguments, O output,
//! E concurrency, S commands, K what they do from inside their sandbox, and cancellation. The file engine has the same
//! attacks at its own level; here each one goes
//! through the built-in tools, and after every call the files outside are compared with what they were, and the
//! outcome and all events are searched for the secret.
//!
//! Commands are let loose at each level of confinement that the machine can do; what it cannot is printed.
//! Not attacked: K26 a million small files and K25 a full `/dev/shm` (nothing limits inodes, nor memory by files there),
//! K31 a clock that jumps (deadlines are monotonic, and a test may not set the clock), O08 secrets in arguments.
//!
//! No tool can do this yet, so there is nothing to attack:
//!
//! | case | what it would take |
//! |---|---|
//! | P17 copying a tree with a link to the outside | a tool that copies |
//! | P46 other file systems below the root | a policy that forbids them; they are allowed |
//! | P58 the index takes in links and secrets | a code index |
//! | P59, P61 repositories outside the root | a git tool |
//! | P62 archives that unpack elsewhere | a tool that unpacks |
//! | C13, C14 compressed and image bombs | a tool that decompresses or decodes |
//! | C20, C22, C23 YAML | a tool that reads YAML |
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a test that cannot run here says so")]

mod arguments;
mod commands;
mod commands_cases;
mod containment;
mod content;
mod lab;
mod lifetime;
mod output;
mod paths;
mod protected;
mod races;
mod special;
mod state;
mod world;
