//! Commands: judged before they run ([`shell`]), confined by the kernel, and gone when told.
//!
//! An engine of its own: it knows nothing of tools, models or permissions.

pub mod shell;
