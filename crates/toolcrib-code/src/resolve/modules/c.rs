//! C and C++: headers.

use super::Modules;

pub(super) struct C;

impl Modules for C {}
