//! Services by type: what an embedder offers to tools, each with the permission that a tool must have to get it.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{ErrorCode, ToolError};
use crate::permission::{Permission, PermissionSet};

/// Services by type, the idiom of `http::Extensions`, each guarded by a permission.
#[derive(Clone, Default)]
pub struct Services {
    by_type: HashMap<TypeId, (Permission, Arc<dyn Any + Send + Sync>)>,
}

impl Services {
    /// No services.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers `service` to every tool.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.with_for(Permission::Read, service)
    }

    /// Offers `service` only to tools whose capabilities give them `permission`.
    #[must_use]
    pub fn with_for<T: Send + Sync + 'static>(mut self, permission: Permission, service: T) -> Self {
        self.by_type.insert(TypeId::of::<T>(), (permission, Arc::new(service)));
        self
    }

    /// Whether there is such a service, for whoever may have it.
    pub fn offers<T: Send + Sync + 'static>(&self) -> bool {
        self.by_type.contains_key(&TypeId::of::<T>())
    }

    /// The service, if there is one and `granted` covers it.
    pub fn get<T: Send + Sync + 'static>(&self, granted: PermissionSet) -> Result<Arc<T>, ToolError> {
        let missing = |why: String| {
            tracing::error!(service = type_name::<T>(), why, "service refused");
            ToolError::new(ErrorCode::EngineNotAvailable, why)
        };
        let Some((permission, service)) = self.by_type.get(&TypeId::of::<T>()) else {
            return Err(missing("a service that this tool needs is not available here".into()));
        };
        if !granted.contains(*permission) {
            return Err(missing(format!(
                "the tool asked for a service that needs the `{}` permission, which its capabilities do not give it",
                permission.as_str()
            )));
        }
        Arc::clone(service)
            .downcast()
            .map_err(|_| missing("a service that this tool needs is not available here".into()))
    }
}
