//! The sessions of the older protocol: so many and no more, with ids that cannot be guessed.

use std::io;
use std::time::Duration;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionWorker, create_local_session,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

use crate::random;

/// How many there may be at a time.
const MAX_SESSIONS: usize = 64;
/// How long one is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(30 * 60);

pub(super) struct Sessions(LocalSessionManager);

impl Default for Sessions {
    fn default() -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(IDLE);
        Self(local)
    }
}

fn other(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

impl SessionManager for Sessions {
    type Error = io::Error;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> io::Result<(SessionId, Self::Transport)> {
        let id: SessionId =
            random::token().ok_or_else(|| io::Error::other("the system has no random numbers"))?.into();
        let mut sessions = self.0.sessions.write().await;
        if sessions.len() >= MAX_SESSIONS {
            return Err(io::Error::other(
                "too many sessions are open; end one, or wait until one has been idle",
            ));
        }
        let (handle, worker) = create_local_session(id.clone(), self.0.session_config.clone());
        sessions.insert(id.clone(), handle);
        Ok((id, WorkerTransport::spawn(worker)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> io::Result<ServerJsonRpcMessage> {
        self.0.initialize_session(id, message).await.map_err(other)
    }

    async fn has_session(&self, id: &SessionId) -> io::Result<bool> {
        self.0.has_session(id).await.map_err(other)
    }

    async fn close_session(&self, id: &SessionId) -> io::Result<()> {
        self.0.close_session(id).await.map_err(other)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> io::Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.0.create_stream(id, message).await.map_err(other)
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> io::Result<()> {
        self.0.accept_message(id, message).await.map_err(other)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> io::Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.0.create_standalone_stream(id).await.map_err(other)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> io::Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.0.resume(id, last_event_id).await.map_err(other)
    }
}
