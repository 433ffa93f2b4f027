//! The ordered set of tools that exist.

use std::sync::{Arc, PoisonError, RwLock};

use crate::context::InitContext;
use crate::error::ToolError;
use crate::permission::PermissionSet;
use crate::spec::Mode;
use crate::tool::{DynTool, Tool, erase};

/// Tools came or went. A name in both lists is that of a tool that was replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryChange {
    /// Names that came.
    pub added: Vec<String>,
    /// Names that went.
    pub removed: Vec<String>,
}

/// Why a tool was not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterError {
    /// A tool with this name (or one that reads the same) exists.
    Duplicate(String),
    /// The spec is not usable.
    BadSpec(String),
}

impl std::fmt::Display for RegisterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Duplicate(name) => write!(f, "a tool named {name:?} exists already"),
            Self::BadSpec(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RegisterError {}

type Listener = Box<dyn Fn(&RegistryChange) + Send + Sync>;

/// The ordered set of tools that exist. The order of registration is the order of every list.
#[derive(Default)]
pub struct Registry {
    tools: RwLock<Vec<Arc<dyn DynTool>>>,
    listeners: RwLock<Vec<Listener>>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a typed tool.
    pub fn register<T: Tool>(&self, tool: T) -> Result<(), RegisterError> {
        self.register_dyn(erase(tool))
    }

    /// Adds an erased tool. Names are compared ignoring case, so that none can pass for another.
    pub fn register_dyn(&self, tool: Arc<dyn DynTool>) -> Result<(), RegisterError> {
        let name = tool.spec().name.clone();
        check_spec(tool.as_ref())?;
        {
            let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
            if tools.iter().any(|other| other.spec().name.eq_ignore_ascii_case(&name)) {
                return Err(RegisterError::Duplicate(name));
            }
            tools.push(tool);
        }
        self.announce(RegistryChange { added: vec![name], removed: Vec::new() });
        Ok(())
    }

    /// Removes a tool; says whether there was one.
    pub fn unregister(&self, name: &str) -> bool {
        let removed = {
            let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
            let before = tools.len();
            tools.retain(|tool| tool.spec().name != name);
            tools.len() != before
        };
        if removed {
            self.announce(RegistryChange { added: Vec::new(), removed: vec![name.to_owned()] });
        }
        removed
    }

    /// Makes several changes at once, with one announcement: these very tools go, those come, each in the place of the
    /// one of its name that went. Returns what could not be registered. Calls that run finish on the tool they began with.
    pub fn swap(
        &self,
        gone: &[Arc<dyn DynTool>],
        come: Vec<Arc<dyn DynTool>>,
    ) -> Vec<(String, RegisterError)> {
        let mut refused = Vec::new();
        let mut change = RegistryChange::default();
        {
            let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
            let leaves = |tool: &Arc<dyn DynTool>| gone.iter().any(|other| Arc::ptr_eq(tool, other));
            let mut places: Vec<Option<Arc<dyn DynTool>>> = Vec::new();
            let mut left: Vec<(String, usize)> = Vec::new();
            for tool in std::mem::take(&mut *tools) {
                if leaves(&tool) {
                    left.push((tool.spec().name.clone(), places.len()));
                    change.removed.push(tool.spec().name.clone());
                    places.push(None);
                } else {
                    places.push(Some(tool));
                }
            }
            for tool in come {
                let name = tool.spec().name.clone();
                let taken =
                    places.iter().flatten().any(|other| other.spec().name.eq_ignore_ascii_case(&name));
                let checked = if taken { Err(RegisterError::Duplicate(name.clone())) } else { Ok(()) };
                if let Err(error) = check_spec(tool.as_ref()).and(checked) {
                    refused.push((name, error));
                    continue;
                }
                change.added.push(name.clone());
                let place = left.iter().find(|(other, _)| *other == name).map(|(_, place)| *place);
                match place.and_then(|place| places.get_mut(place)) {
                    Some(free @ None) => *free = Some(tool),
                    _ => places.push(Some(tool)),
                }
            }
            *tools = places.into_iter().flatten().collect();
        }
        if change != RegistryChange::default() {
            self.announce(change);
        }
        refused
    }

    /// The tool with this name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn DynTool>> {
        self.tools().into_iter().find(|tool| tool.spec().name == name)
    }

    /// All tools, in order.
    pub fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All names, in order.
    pub fn names(&self) -> Vec<String> {
        self.tools().iter().map(|tool| tool.spec().name.clone()).collect()
    }

    /// The tools that can be used in `mode`, in order.
    pub fn by_mode(&self, mode: Mode) -> Vec<Arc<dyn DynTool>> {
        self.tools().into_iter().filter(|tool| tool.spec().modes.contains(&mode)).collect()
    }

    /// The tools that need no more than `granted`, in order.
    pub fn by_permissions(&self, granted: PermissionSet) -> Vec<Arc<dyn DynTool>> {
        self.tools().into_iter().filter(|tool| granted.covers(tool.spec().permissions())).collect()
    }

    /// Calls `listener` after every change.
    pub fn on_change(&self, listener: impl Fn(&RegistryChange) + Send + Sync + 'static) {
        self.listeners.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }

    /// Initializes every tool, in order; returns what failed.
    pub async fn initialize_all(&self, cx: &InitContext) -> Vec<(String, ToolError)> {
        let mut failed = Vec::new();
        for tool in self.tools() {
            if let Err(error) = tool.initialize(cx).await {
                failed.push((tool.spec().name.clone(), error));
            }
        }
        failed
    }

    /// Shuts every tool down, in reverse order.
    pub async fn shutdown_all(&self) {
        for tool in self.tools().into_iter().rev() {
            tool.shutdown().await;
        }
    }

    fn announce(&self, change: RegistryChange) {
        for listener in self.listeners.read().unwrap_or_else(PoisonError::into_inner).iter() {
            listener(&change);
        }
    }
}

/// A tool that no model could call is refused at once, not when it is first called.
fn check_spec(tool: &dyn DynTool) -> Result<(), RegisterError> {
    let spec = tool.spec();
    let name_ok = (1..=64).contains(&spec.name.len())
        && spec.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if !name_ok {
        return Err(RegisterError::BadSpec(format!(
            "tool name {:?}: use 1 to 64 ASCII letters, digits, `_` and `-`",
            spec.name
        )));
    }
    if spec.description.trim().is_empty() {
        return Err(RegisterError::BadSpec(format!("tool {:?} has no description", spec.name)));
    }
    if spec.input_schema.get("type").and_then(|kind| kind.as_str()) != Some("object") {
        return Err(RegisterError::BadSpec(format!(
            "tool {:?}: its input schema is not of type object",
            spec.name
        )));
    }
    Ok(())
}
