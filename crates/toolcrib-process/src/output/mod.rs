//! What commands print: kept within bounds, decoded without tearing characters, and cleaned for reading.

mod capture;
mod clean;

pub(crate) use capture::Capture;
pub use capture::{Piece, Spill};
pub use clean::clean;
