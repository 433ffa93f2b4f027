//! Go: packages are folders.

use super::Modules;

pub(super) struct Go;

impl Modules for Go {}
