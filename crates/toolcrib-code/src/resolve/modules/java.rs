//! Java: packages and the types in them.

use super::Modules;

pub(super) struct Java;

impl Modules for Java {}
