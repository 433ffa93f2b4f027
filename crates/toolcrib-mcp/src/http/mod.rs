//! The protocol over HTTP.
//!
//! One path, `/mcp`. Before anything of a request is read, its Host and Origin must be ours and its token
//! right: a web page that a person looks at can reach this port too, and so can every user of the machine.

mod guard;
mod held;
mod patient;
mod sessions;

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::handler::Handler;
use crate::server::Server;
use guard::Guard;
use held::Held;
use patient::Patient;
use sessions::Sessions;

/// The only path.
const PATH: &str = "/mcp";
/// The largest body that is read. A file that is written comes in one.
const MAX_BODY: usize = 16 << 20;
/// How long a client may take for the head of a request, or be idle between two.
const HEAD_WITHIN: Duration = Duration::from_secs(30);
/// How long it may take for the body.
const BODY_WITHIN: Duration = Duration::from_secs(60);
/// How long it may read nothing of an answer.
const READ_WITHIN: Duration = Duration::from_secs(60);
/// How many connections there may be; more are closed at once.
const MAX_CONNECTIONS: usize = 256;
/// How many of them may be streams that wait for news.
const MAX_STREAMS: usize = 64;
/// How long answers may still take when the server is told to end.
const WIND_DOWN: Duration = Duration::from_millis(300);

/// How to serve over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where to listen.
    pub address: SocketAddr,
    /// What callers must show. Without one only this machine may call.
    pub token: Option<String>,
    /// Names by which the server may be called besides `localhost` and addresses.
    pub hosts: Vec<String>,
}

/// Why there is no server.
#[derive(Debug)]
pub enum HttpError {
    /// Other machines could call without a token.
    NoToken(SocketAddr),
    /// The token would be guessed.
    WeakToken,
    /// The address cannot be used.
    Bind(SocketAddr, io::Error),
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoToken(address) => {
                write!(f, "{address} can be reached from other machines, so it is not served without a token")
            }
            Self::WeakToken => f.write_str("a token needs at least 32 characters"),
            Self::Bind(address, error) => write!(f, "{address} cannot be used: {}", error.kind()),
        }
    }
}

impl std::error::Error for HttpError {}

type Service = StreamableHttpService<Handler, Sessions>;
type Body = Held;

struct State {
    guard: Guard,
    service: Service,
    streams: Arc<Semaphore>,
}

/// A server that listens.
pub struct Http {
    listener: TcpListener,
    state: Arc<State>,
    stopping: CancellationToken,
}

impl Http {
    /// Begins to listen.
    pub async fn bind(server: &Server, options: HttpOptions) -> Result<Self, HttpError> {
        let HttpOptions { address, token, hosts } = options;
        match &token {
            None if !address.ip().is_loopback() => return Err(HttpError::NoToken(address)),
            Some(token) if token.len() < 32 => return Err(HttpError::WeakToken),
            _ => {}
        }
        let listener = TcpListener::bind(address).await.map_err(|error| HttpError::Bind(address, error))?;
        let stopping = CancellationToken::new();
        // Host and Origin are checked here, for all paths and before anything else.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(MAX_BODY)
            .with_cancellation_token(stopping.clone());
        let server = server.clone();
        let service = StreamableHttpService::new(
            move || Ok(Handler::new(&server, true)),
            Arc::new(Sessions::default()),
            config,
        );
        let guard = Guard::new(address.ip().is_loopback(), token.as_deref(), hosts);
        let state = State { guard, service, streams: Arc::new(Semaphore::new(MAX_STREAMS)) };
        Ok(Self { listener, state: Arc::new(state), stopping })
    }

    /// Where it listens, with the port that the system chose.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is cancelled.
    pub async fn serve(self, stop: CancellationToken) {
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let stream = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Out of descriptors, most likely; some will be free again.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
            };
            let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else { continue };
            let (state, stopping) = (Arc::clone(&self.state), self.stopping.clone());
            tokio::spawn(async move {
                serve_connection(state, stream, stopping).await;
                drop(permit);
            });
        }
        self.stopping.cancel();
        let all = u32::try_from(MAX_CONNECTIONS).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(WIND_DOWN, connections.acquire_many(all)).await;
    }
}

async fn serve_connection(state: Arc<State>, stream: TcpStream, stopping: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(answer(&state, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .serve_connection(TokioIo::new(Patient::new(stream, READ_WITHIN)), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = &mut connection => {}
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn answer(state: &State, request: Request<Incoming>) -> Response<Body> {
    if let Err(refusal) = state.guard.check(request.uri(), request.headers()) {
        let mut response = plain(refusal.status(), refusal.text());
        if refusal.status() == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        return response;
    }
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "the server is at /mcp");
    }
    match *request.method() {
        Method::POST => post(state, request).await,
        Method::GET => {
            let Ok(permit) = Arc::clone(&state.streams).try_acquire_owned() else {
                return plain(StatusCode::SERVICE_UNAVAILABLE, "too many streams are open");
            };
            Held::response(state.service.handle(request).await, Some(permit))
        }
        Method::DELETE => Held::response(state.service.handle(request).await, None),
        _ => {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "use POST, GET or DELETE");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
            response
        }
    }
}

/// The body is read whole first, within a limit and a time; what is not JSON gets the protocol's own error.
async fn post(state: &State, request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let json = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !json.is_some_and(is_json) {
        return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");
    }
    let body = match tokio::time::timeout(BODY_WITHIN, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than 16 MiB");
        }
        Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "the body could not be read"),
        Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
    };
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
        let said = serde_json::json!({
            "jsonrpc": "2.0",
            "error": {"code": -32700, "message": format!("the body is not JSON: {error}")},
        });
        let mut response = Response::new(Held::full(Bytes::from(said.to_string())));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return response;
    }
    let request = Request::from_parts(head, Full::new(body));
    Held::response(state.service.handle(request).await, None)
}

/// `application/json`, with or without parameters.
fn is_json(value: &str) -> bool {
    let kind = value.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Held::full(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
