//! Python: packages, relative imports, `__init__` and `__all__`.

use super::Modules;

pub(super) struct Python;

impl Modules for Python {}
