//! What all connections share.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Tool;
use toolcrib_core::declarations::{Format, declarations};
use toolcrib_core::profile::BoundProfile;
use toolcrib_core::{Executor, Mode, Session};

use crate::changes::Changes;
use crate::conformance::Pack;
use crate::progress::Routes;
use crate::state::States;

/// A resource in a list.
#[derive(Clone, Debug, Default)]
pub struct ResourceInfo {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its media type.
    pub mime: String,
    /// Its size in bytes, where that is known.
    pub size: Option<u64>,
}

/// What a resource holds.
#[derive(Clone, Debug)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

/// Things to read besides the answers of tools. May block: it is called off the reactor.
pub trait Resources: Send + Sync {
    /// What there is, in a stable order.
    fn list(&self) -> Vec<ResourceInfo>;

    /// One of them, with its media type. `None` if there is no such resource; an error says why it cannot be
    /// read.
    fn read(&self, uri: &str) -> Option<Result<(String, ResourceBody), String>>;
}

/// Told when a session is over.
pub type Ended = Arc<dyn Fn(&str) + Send + Sync>;

/// How a server presents itself.
#[derive(Default)]
pub struct Options {
    /// What the workspace is called in descriptions.
    pub workspace: String,
    /// What clients are told about the server as a whole.
    pub instructions: Option<String>,
    /// Things to read.
    pub resources: Option<Arc<dyn Resources>>,
    /// The fixtures of the official conformance suite. Their tools are in the registry already.
    pub conformance: Option<Pack>,
    /// Called with the id of a session that is over.
    pub ended: Option<Ended>,
}

type Listed = Option<(Arc<BoundProfile>, Arc<Vec<Tool>>)>;

pub(crate) struct Shared {
    pub(crate) executor: Executor,
    pub(crate) options: Options,
    pub(crate) changes: Changes,
    pub(crate) progress: Routes,
    pub(crate) states: States,
    listed: Mutex<Listed>,
    connections: AtomicU64,
}

/// A server for the tools of an executor, whatever the transport. Cheap to clone.
#[derive(Clone)]
pub struct Server(pub(crate) Arc<Shared>);

impl Server {
    /// A server for the tools of `executor`. Fails only if the system has no random numbers.
    pub fn new(executor: Executor, options: Options) -> io::Result<Self> {
        let states = States::new().ok_or_else(|| io::Error::other("the system has no random numbers"))?;
        let changes = Changes::of(executor.registry());
        let progress = Routes::default();
        progress.observe(executor.activity());
        if let Some(pack) = &options.conformance {
            pack.announce_with(&changes);
        }
        let shared = Shared {
            executor,
            options,
            changes,
            progress,
            states,
            listed: Mutex::default(),
            connections: AtomicU64::new(0),
        };
        Ok(Self(Arc::new(shared)))
    }
}

impl Shared {
    /// The tools as the profile shows them now. Their order is the profile's, so that prompt caches hold.
    pub(crate) fn tools(&self) -> Arc<Vec<Tool>> {
        let profile = self.executor.profile();
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tools)) = listed.as_ref()
            && Arc::ptr_eq(of, &profile)
        {
            return Arc::clone(tools);
        }
        let mut declared = declarations(Format::Mcp, &profile.views(Mode::Mcp, &self.options.workspace));
        let declared = declared.get_mut("tools").map(serde_json::Value::take).unwrap_or_default();
        let tools = serde_json::from_value(declared).unwrap_or_else(|error| {
            tracing::error!(%error, "the tools cannot be declared");
            Vec::new()
        });
        let tools = Arc::new(tools);
        *listed = Some((profile, Arc::clone(&tools)));
        tools
    }

    /// A conversation for a new connection.
    pub(crate) fn session(&self) -> Arc<Session> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        session(format!("mcp-{number}"))
    }
}

/// What is left of earlier answers in the client's context is not known.
pub(crate) fn session(id: impl Into<String>) -> Arc<Session> {
    Arc::new(Session::new(id).with_unknown_history())
}
