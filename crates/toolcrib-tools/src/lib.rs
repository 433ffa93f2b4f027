//! Toolcrib.
