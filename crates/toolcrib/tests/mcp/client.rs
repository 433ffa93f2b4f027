//! A client that knows no more of the protocol than a test says.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Bench;

/// Longer than anything takes, so that only a fault runs into it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const MODERN: &str = "2026-07-28";

pub(crate) struct Client {
    pub(crate) bench: Bench,
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Messages that came while another one was waited for.
    kept: VecDeque<Value>,
    next: i64,
    /// The capabilities of a client of the newer protocol, which go along with every request.
    modern: Option<Value>,
}

impl Client {
    /// `toolcrib mcp ARGUMENTS`, not yet greeted.
    pub(crate) fn start(bench: Bench, arguments: &[&str]) -> Self {
        let mut child = bench
            .command(env!("CARGO_BIN_EXE_toolcrib"))
            .args(["mcp", "--root", bench.root.path().to_str().unwrap()])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { bench, child, input, lines, kept: VecDeque::new(), next: 1, modern: None }
    }

    /// A client of the older protocol.
    pub(crate) fn legacy(bench: Bench, arguments: &[&str], capabilities: Value) -> Self {
        let mut client = Self::start(bench, arguments);
        client.greet("2025-11-25", capabilities);
        client
    }

    /// A client of the newer one.
    pub(crate) fn modern(bench: Bench, arguments: &[&str], capabilities: Value) -> Self {
        let mut client = Self::start(bench, arguments);
        client.modern = Some(capabilities);
        client
    }

    pub(crate) fn greet(&mut self, version: &str, capabilities: Value) -> Value {
        let info = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": info});
        let said = self.request("initialize", hello);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        said
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends a request without waiting; returns its id.
    pub(crate) fn begin(&mut self, method: &str, mut params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        if let Some(capabilities) = &self.modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message from the server. Every line must be one.
    pub(crate) fn next(&mut self) -> Value {
        self.kept.pop_front().unwrap_or_else(|| self.read())
    }

    fn read(&mut self) -> Value {
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server is gone"),
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// The next message that is as wanted; others are kept.
    pub(crate) fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at).unwrap();
        }
        loop {
            let message = self.read();
            if wanted(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The next notification of a method.
    pub(crate) fn notification(&mut self, method: &str) -> Value {
        self.wait(|message| message["method"] == method)["params"].clone()
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    pub(crate) fn begin_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool; returns the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    pub(crate) fn cancel(&mut self, id: &Value) {
        let params = json!({"requestId": id});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }

    /// The messages that came and were not waited for.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Value> {
        self.kept.iter()
    }

    /// Closes the server's input.
    pub(crate) fn leave(&mut self) {
        drop(self.input.take());
    }

    /// Waits for the server to end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// A command that says `up` once it runs, and goes on until it is killed. Reading from what is returned
    /// ends when every process of it is gone.
    pub(crate) fn endless(&mut self) -> (i64, Alive) {
        let fifo = self.bench.path("alive");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let params = json!({
            "name": "run_command", "_meta": {"progressToken": "t"},
            "arguments": {"command": "exec 3>alive; (sleep 1000 & sleep 1000) & echo up >&3; sleep 1000"},
        });
        let id = self.begin("tools/call", params);
        let mut alive = BufReader::new(std::fs::File::open(fifo).unwrap());
        let mut line = String::new();
        alive.read_line(&mut line).unwrap();
        assert_eq!(line, "up\n");
        (id, Alive(alive))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The other end of a pipe that a command holds.
pub(crate) struct Alive(BufReader<std::fs::File>);

impl Alive {
    /// Waits until nobody holds it any more.
    pub(crate) fn gone(mut self) {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}
