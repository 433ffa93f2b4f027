//! A message a line.
//!
//! The protocol library drops what it cannot read without a word, and its caller then waits for its own
//! timeout. Here every line gets an answer: what is not JSON, what is too long, and an id that is in use
//! already.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::streams::{Input, Output};

/// The longest line that is read: as much as an HTTP body may have.
pub(super) const MAX_LINE: usize = 16 << 20;
/// How many messages wait to be taken.
const WAITING: usize = 64;

type Writer = Arc<tokio::sync::Mutex<Option<Output>>>;
type Open = Arc<Mutex<HashSet<RequestId>>>;

/// The transport.
pub(super) struct Lines {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    writer: Writer,
    open: Open,
    gone: CancellationToken,
}

impl Lines {
    /// Reads until the end of `input`, and then cancels `gone`: a client that has left waits for no answers.
    pub(super) fn new(input: Input, output: Output, gone: CancellationToken) -> Self {
        let (sender, incoming) = mpsc::channel(WAITING);
        let writer: Writer = Arc::new(tokio::sync::Mutex::new(Some(output)));
        let open = Open::default();
        let reader = Reader { writer: Arc::clone(&writer), open: Arc::clone(&open), sender };
        let at_end = gone.clone();
        tokio::spawn(async move {
            reader.read(input).await;
            at_end.cancel();
        });
        Self { incoming, writer, open, gone }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = answered {
            self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
        let (writer, gone) = (Arc::clone(&self.writer), self.gone.clone());
        async move {
            let sent = write(&writer, &message).await;
            if sent.is_err() {
                // Nobody reads any more.
                gone.cancel();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        match self.incoming.recv().await {
            Some(message) => Some(message),
            // Saying that there is nothing more would make the library wait for the calls in flight. The end
            // is announced by the token, which also cancels them.
            None => std::future::pending().await,
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        drop(self.writer.lock().await.take());
        Ok(())
    }
}

async fn write(writer: &Writer, message: &ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    match writer.lock().await.as_mut() {
        Some(output) => {
            output.write_all(&line).await?;
            output.flush().await
        }
        None => Err(io::ErrorKind::NotConnected.into()),
    }
}

struct Reader {
    writer: Writer,
    open: Open,
    sender: mpsc::Sender<ClientJsonRpcMessage>,
}

impl Reader {
    /// Reads to the end. What stands after the last line break is an unfinished message.
    async fn read(self, input: Input) {
        let mut input = BufReader::with_capacity(64 << 10, input);
        let mut line = Vec::new();
        let mut too_long = false;
        loop {
            let available = match input.fill_buf().await {
                Ok([]) | Err(_) => return,
                Ok(available) => available,
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            too_long |= line.len() + taken > MAX_LINE;
            if !too_long {
                line.extend_from_slice(available.get(..taken).unwrap_or_default());
            }
            input.consume(taken);
            if end.is_none() {
                continue;
            }
            let going = if too_long { self.refuse_long(&line).await } else { self.take(&line).await };
            if !going {
                return;
            }
            too_long = false;
            line.clear();
            line.shrink_to(1 << 20);
        }
    }

    /// Hands a line on, or answers it; says whether anybody is still there.
    async fn take(&self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.is_empty() {
            return true;
        }
        let message = match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(message) => message,
            Err(_) => return self.explain(line).await,
        };
        match &message {
            JsonRpcMessage::Request(request) => {
                let free = self.open().insert(request.id.clone());
                if !free {
                    let error = ErrorData::invalid_request("a request with this id is in progress", None);
                    // It is the other one that will be answered under this id; this error has none.
                    return self.answer(error, None).await;
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open().remove(id);
                }
            }
            _ => {}
        }
        self.sender.send(message).await.is_ok()
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a line that is no message.
    async fn explain(&self, line: &[u8]) -> bool {
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => {
                let message = format!("this line is not JSON: {error}");
                return self.answer(ErrorData::new(ErrorCode::PARSE_ERROR, message, None), None).await;
            }
        };
        // Notifications are not answered, and those of others (of an editor's protocol) are none of ours.
        if value.get("method").is_some_and(Value::is_string) && value.get("id").is_none() {
            return true;
        }
        let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
        self.answer(ErrorData::invalid_request("this is not a JSON-RPC 2.0 message of MCP", None), id).await
    }

    /// Answers a line that was not kept whole. Its beginning may still say whose it is.
    async fn refuse_long(&self, beginning: &[u8]) -> bool {
        let message = format!("a message of more than {MAX_LINE} bytes is not read");
        self.answer(ErrorData::invalid_request(message, None), id_in(beginning)).await
    }

    async fn answer(&self, error: ErrorData, id: Option<RequestId>) -> bool {
        write(&self.writer, &ServerJsonRpcMessage::error(error, id)).await.is_ok()
    }
}

/// The id of a message of which only the beginning is there: the one before `params`, if it stands there.
fn id_in(beginning: &[u8]) -> Option<RequestId> {
    let head = beginning.get(..beginning.len().min(512))?;
    let head = String::from_utf8_lossy(head);
    let before_params = head.split("\"params\"").next()?;
    let (_, after) = before_params.split_once("\"id\"")?;
    let after = after.trim_start().strip_prefix(':')?.trim_start();
    let value = serde_json::Deserializer::from_str(after).into_iter::<Value>().next()?.ok()?;
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_message_that_is_cut() {
        let id = |text: &str| id_in(text.as_bytes()).map(|id| id.to_string());
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"na"#), Some("7".into()));
        assert_eq!(id(r#"{"id" : "a-1", "method":"x","params":{"#), Some("a-1".into()));
        assert_eq!(id(r#"{"method":"x","params":{"id":9,"#), None, "that is an argument");
    }
}
