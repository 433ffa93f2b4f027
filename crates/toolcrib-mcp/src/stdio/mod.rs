//! The protocol on standard input and output.
//!
//! Nobody else gets at them: the protocol keeps descriptors of its own, descriptor 1 is pointed at standard
//! error and descriptor 0 at nothing, so that no library, child or stray `println` can break into the stream.

mod lines;
mod streams;

use std::io;
use std::time::Duration;

use rmcp::service::serve_server_with_ct;
use rmcp::transport::TransportAdapterIdentity;
use tokio_util::sync::CancellationToken;

use crate::handler::Handler;
use crate::server::Server;
use lines::Lines;

/// How long calls in flight have to come to an end when the client is gone.
const WIND_DOWN: Duration = Duration::from_millis(400);

/// Serves the client at the other end of standard input and output until it is gone or `stop` is cancelled.
/// Calls in flight are cancelled then, and are given a moment to end. To be called once in a process, within
/// a runtime; whoever calls it ends the runtime with a timeout, since a read of standard input may never
/// return.
pub async fn serve_stdio(server: &Server, stop: CancellationToken) -> io::Result<()> {
    let (input, output) = streams::take()?;
    let gone = stop.child_token();
    let lines = Lines::new(input, output, gone.clone());
    let handler = Handler::new(server, false);
    let serving = async {
        // A client that leaves before it has said hello is no error.
        match serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(handler, lines, gone.clone()).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => tracing::debug!(%error, "the client left"),
        }
    };
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = gone.cancelled() => {
            let _ = tokio::time::timeout(WIND_DOWN, &mut serving).await;
        }
    }
    Ok(())
}
