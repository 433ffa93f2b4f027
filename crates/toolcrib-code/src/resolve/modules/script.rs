//! JavaScript and TypeScript: specifiers, exports and re-exports.

use super::Modules;

pub(super) struct Script;

impl Modules for Script {}
