//! Over HTTP, as requests on the wire: nothing in between that would put them right.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::client::{MODERN, PATIENCE};
use crate::support::Bench;

struct Server {
    bench: Bench,
    child: Child,
    address: String,
    token: Option<String>,
    _stderr: BufReader<ChildStderr>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The messages of the body: one in JSON, or a stream of events.
    fn messages(&self) -> Vec<Value> {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let events: Vec<Value> = events.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect();
        match serde_json::from_str(&self.body) {
            Ok(message) => vec![message],
            Err(_) => events,
        }
    }

    fn message(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no message in {} {}", self.status, self.body))
    }
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let bench = Bench::new();
        bench.write("a.txt", "one\ntwo\n");
        let mut child = bench
            .command(env!("CARGO_BIN_EXE_toolcrib"))
            .args(["mcp", "--root", bench.root.path().to_str().unwrap(), "--http"])
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            stderr.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let url = line();
        let address = url.strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("{url}")).to_owned();
        let token = line().strip_prefix("token: ").map(str::to_owned);
        Self { bench, child, address, token, _stderr: stderr }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes as they are, and reads until the server closes.
    fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // It may refuse, and close, before it has read everything.
        let _ = stream.write_all(bytes);
        read_answer(&mut stream)
    }

    /// A request with these headers besides the usual; a header that is given replaces the usual one.
    fn request(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.raw(&self.bytes(method, headers, body))
    }

    fn bytes(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let length = body.len().to_string();
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}")).unwrap_or_default();
        let usual = [
            ("Host", self.address.as_str()),
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Length", length.as_str()),
            ("Connection", "close"),
        ];
        let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut text = format!("{method} /mcp HTTP/1.1\r\n");
        for (name, value) in usual.iter().filter(|(name, _)| !given(name)).chain(headers) {
            if !value.is_empty() {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        format!("{text}\r\n{body}").into_bytes()
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        self.request("POST", headers, &message.to_string())
    }

    /// A session of the older protocol.
    fn session(&self) -> String {
        let answer = self.post(&[], &initialize());
        assert_eq!(answer.status, 200, "{}", answer.body);
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&[("Mcp-Session-Id", &id)], &initialized).status, 202);
        id
    }

    /// A request of the newer protocol.
    fn modern(&self, method: &str, mut params: Value) -> Vec<u8> {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = [("Mcp-Method", method), ("Mcp-Name", name.as_str()), ("MCP-Protocol-Version", MODERN)];
        self.bytes("POST", &headers, &body)
    }
}

fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn initialize() -> Value {
    let info = json!({"name": "test", "version": "1"});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}})
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

fn read_file() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "read_file", "arguments": {"path": "a.txt"}}})
}

#[test]
fn both_eras_are_served() {
    let server = Server::start(&[]);
    let id = server.session();
    let answer = server.post(&[("Mcp-Session-Id", &id)], &read_file()).message();
    assert_eq!(answer["result"]["content"][0]["text"], "1\tone\n2\ttwo");
    let params = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
    let answer = server.raw(&server.modern("tools/call", params)).message();
    assert_eq!(answer["result"]["content"][0]["text"], "1\tone\n2\ttwo", "{answer}");
}

#[test]
fn the_token_is_long_random_and_needed() {
    let server = Server::start(&[]);
    let token = server.token.clone().unwrap();
    assert!(token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    assert_ne!(Server::start(&[]).token.clone().unwrap(), token);
    let short = format!("Bearer {}", token.get(..63).unwrap());
    let long = format!("Bearer {token}0");
    let other = format!("Bearer {}", "0".repeat(64));
    let basic = format!("Basic {token}");
    for shown in ["", "Bearer", "Bearer ", &short, &long, &other, &basic, &token] {
        let answer = server.post(&[("Authorization", shown)], &initialize());
        assert_eq!(answer.status, 401, "{shown}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let right = format!("Bearer {token}");
    assert_eq!(server.post(&[("Authorization", &right)], &initialize()).status, 200);
    let two = [("Authorization", right.as_str()), ("Authorization", other.as_str())];
    assert_eq!(server.post(&two, &initialize()).status, 401);
}

#[test]
fn other_addresses_are_not_served_without_a_token() {
    let bench = Bench::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let done = bench.run(&["mcp", "--http", address, "--no-token"]);
        assert_eq!(done.code, 2, "{address}: {}", done.stderr);
        assert!(done.stderr.contains("without a token"), "{}", done.stderr);
    }
    assert_eq!(bench.run(&["mcp", "--http", "nonsense"]).code, 2);
    assert_eq!(bench.run(&["mcp", "--no-token"]).code, 2, "stdio has none");
    let server = Server::start(&["0.0.0.0:0"]);
    assert!(server.token.is_some());
}

#[test]
fn hosts_and_origins_of_others_are_refused() {
    for arguments in [&["--no-token"][..], &[]] {
        let server = Server::start(arguments);
        let port = server.address.rsplit(':').next().unwrap().to_owned();
        for host in ["evil.com", "evil.com:80", "localhost.evil.com", "10.0.0.1", "127.0.0.1@evil.com"] {
            assert_eq!(server.post(&[("Host", host)], &initialize()).status, 403, "{host}");
        }
        assert_eq!(server.post(&[("Host", "localhost"), ("Host", "localhost")], &initialize()).status, 403);
        for origin in ["https://evil", "null", "http://", "::::", "http://localhost.evil.com", "file://"] {
            assert_eq!(server.post(&[("Origin", origin)], &initialize()).status, 403, "{origin}");
        }
        let own = format!("http://localhost:{port}");
        let both = [("Origin", own.as_str()), ("Origin", "https://evil")];
        assert_eq!(server.post(&both, &initialize()).status, 403);
        assert_eq!(server.post(&[("Origin", &own)], &initialize()).status, 200);
        assert_eq!(server.post(&[("Host", &format!("localhost:{port}"))], &initialize()).status, 200);
        // Also on paths that are none, and for the name in the request line.
        let line = "GET http://evil.com/mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        assert_eq!(server.raw(line.as_bytes()).status, 403);
        assert_eq!(server.raw(b"GET /x HTTP/1.1\r\nHost: evil.com\r\nConnection: close\r\n\r\n").status, 403);
        assert_eq!(server.raw(b"GET /mcp HTTP/1.0\r\n\r\n").status, 403, "no Host at all");
    }
}

#[test]
fn a_refusal_does_not_wait_for_the_body() {
    let server = Server::start(&[]);
    let head = "POST /mcp HTTP/1.1\r\nHost: evil.com\r\nContent-Type: application/json\r\n\
        Content-Length: 9999999\r\n\
        Connection: close\r\n\r\n";
    assert_eq!(server.raw(head.as_bytes()).status, 403);
}

#[test]
fn forms_of_web_pages_and_other_bodies() {
    let server = Server::start(&["--no-token"]);
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", ""]
    {
        assert_eq!(server.post(&[("Content-Type", kind)], &initialize()).status, 415, "{kind}");
    }
    assert_eq!(
        server.post(&[("Content-Type", "application/json; charset=utf-8")], &initialize()).status,
        200
    );
    let bad = server.request("POST", &[], "{broken");
    assert_eq!((bad.status, bad.message()["error"]["code"].as_i64()), (400, Some(-32700)));
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},".repeat(100_000);
    let batch = format!("[{}]", ping.trim_end_matches(','));
    for body in [deep.as_str(), batch.as_str(), "[]", "5", "\"x\"", "null", ""] {
        let status = server.request("POST", &[], body).status;
        assert!((400..500).contains(&status), "{status} for {:.40}", body);
    }
    let huge = format!("\"{}\"", "x".repeat(17 << 20));
    assert_eq!(server.request("POST", &[], &huge).status, 413);
    let chunked = format!("{:x}\r\n{huge}\r\n0\r\n\r\n", huge.len());
    let answer =
        server.request("POST", &[("Transfer-Encoding", "chunked"), ("Content-Length", "")], &chunked);
    assert_eq!(answer.status, 413);
    for method in ["PUT", "OPTIONS", "PATCH", "HEAD", "TRACE"] {
        assert_eq!(server.request(method, &[], "").status, 405, "{method}");
    }
    assert_eq!(server.post(&[], &initialize()).status, 200, "it still serves");
}

#[test]
fn two_lengths_smuggle_nothing() {
    let server = Server::start(&["--no-token"]);
    let inner = "GET /secret HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let body = format!("0\r\n\r\n{inner}");
    let length = body.len().to_string();
    let headers = [("Transfer-Encoding", "chunked"), ("Content-Length", length.as_str())];
    let answer = server.request("POST", &headers, &body);
    assert_eq!(answer.status, 400, "{}", answer.head);
    assert!(!answer.body.contains("HTTP/1.1"), "one answer: {}", answer.body);
    for lengths in [["5", "6"], ["5", "5, 6"]] {
        let headers = [("Content-Length", lengths[0]), ("Content-Length", lengths[1])];
        assert_eq!(server.request("POST", &headers, "{}   ").status, 400, "{lengths:?}");
    }
}

#[test]
fn sessions_are_apart_and_cannot_be_guessed() {
    let server = Server::start(&["--no-token", "--policy", "auto"]);
    let (one, two) = (server.session(), server.session());
    assert!(one.len() >= 32 && one != two, "{one} {two}");
    let call = |session: &str, tool: &str, arguments: Value| {
        let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        server.post(&[("Mcp-Session-Id", session)], &call).message()["result"].clone()
    };
    // What one has read, the other has not.
    assert_eq!(call(&one, "read_file", json!({"path": "a.txt"}))["isError"], false);
    let edit = json!({"path": "a.txt", "content": "gone\n"});
    let refused = call(&two, "write_file", edit.clone());
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(server.bench.read("a.txt"), "one\ntwo\n");
    assert_eq!(call(&one, "write_file", edit)["isError"], false);

    let mut guess = one.clone();
    guess.replace_range(0..1, if one.starts_with('0') { "1" } else { "0" });
    assert_eq!(server.post(&[("Mcp-Session-Id", &guess)], &list()).status, 404);
    assert_eq!(server.post(&[], &list()).status, 400, "without a session");
    // A session that was ended is over.
    assert!(server.request("DELETE", &[("Mcp-Session-Id", &one)], "").status < 300);
    assert_eq!(server.post(&[("Mcp-Session-Id", &one)], &list()).status, 404);
    assert_eq!(server.post(&[("Mcp-Session-Id", &two)], &list()).status, 200);
}

#[test]
fn there_are_only_so_many_sessions_and_streams() {
    let server = Server::start(&["--no-token"]);
    let ours: Vec<String> = (0..3).map(|_| server.session()).collect();
    let refused = (0..80).filter(|_| server.post(&[], &initialize()).status >= 500).count();
    assert!((10..40).contains(&refused), "{refused} of 80 more");
    assert_eq!(server.post(&[("Mcp-Session-Id", &ours[0])], &read_file()).status, 200);
    // Streams that wait for news are held open, each by its own connection.
    let mut open = Vec::new();
    let mut last = String::new();
    for session in ours.iter().cycle().take(80) {
        let headers =
            [("Mcp-Session-Id", session.as_str()), ("Connection", "keep-alive"), ("Content-Length", "")];
        let mut stream = server.connect();
        stream.write_all(&server.bytes("GET", &headers, "")).unwrap();
        let mut reader = BufReader::new(stream);
        last.clear();
        reader.read_line(&mut last).unwrap();
        open.push(reader);
    }
    assert!(last.contains(" 503 "), "{last}");
    assert_eq!(server.post(&[("Mcp-Session-Id", &ours[0])], &read_file()).status, 200);
}

#[test]
fn connections_that_say_nothing_starve_nobody() {
    let server = Server::start(&["--no-token"]);
    let session = server.session();
    // One that is in use from before, with a request half sent.
    let mut ours = server.connect();
    let bytes = server.bytes("POST", &[("Mcp-Session-Id", &session)], &read_file().to_string());
    ours.write_all(&bytes[..20]).unwrap();
    let idle: Vec<TcpStream> = (0..400).map(|_| server.connect()).collect();
    // Those beyond the cap are closed at once.
    let mut last = idle.last().unwrap();
    assert!(matches!(last.read(&mut [0]), Ok(0) | Err(_)));
    ours.write_all(&bytes[20..]).unwrap();
    assert_eq!(read_answer(&mut ours).status, 200);
    drop(idle);
    // As soon as they are gone there is room again.
    let since = Instant::now();
    while server.post(&[("Mcp-Session-Id", &session)], &list()).status != 200 {
        assert!(since.elapsed() < PATIENCE);
    }
}

/// A command over HTTP that runs until its pipe tells that it is gone.
fn endless(server: &Server) -> (BufReader<std::fs::File>, Value) {
    let fifo = server.bench.path("alive");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
    let arguments = json!({"command": "exec 3>alive; echo up >&3; sleep 1000"});
    (BufReader::new(file), json!({"name": "run_command", "arguments": arguments}))
}

/// Waits until the command runs; from then on it alone holds the pipe.
fn runs(server: &Server, mut pipe: BufReader<std::fs::File>) -> BufReader<std::fs::File> {
    let mut line = String::new();
    pipe.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    let reader = std::fs::File::open(server.bench.path("alive")).unwrap();
    drop(pipe);
    BufReader::new(reader)
}

#[test]
fn a_client_that_hangs_up_cancels_its_call() {
    let server = Server::start(&["--no-token", "--policy", "full"]);
    let (pipe, params) = endless(&server);
    let mut stream = server.connect();
    stream.write_all(&server.modern("tools/call", params)).unwrap();
    let mut pipe = runs(&server, pipe);
    drop(stream);
    pipe.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn a_client_of_the_older_protocol_cancels_by_a_message() {
    let server = Server::start(&["--no-token", "--policy", "full"]);
    let session = server.session();
    let (pipe, params) = endless(&server);
    let mut stream = server.connect();
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}).to_string();
    stream.write_all(&server.bytes("POST", &[("Mcp-Session-Id", &session)], &call)).unwrap();
    let mut pipe = runs(&server, pipe);
    // Another session cannot.
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    let other = server.session();
    assert_eq!(server.post(&[("Mcp-Session-Id", &other)], &cancel).status, 202);
    assert_eq!(
        server.post(&[("Mcp-Session-Id", &session)], &read_file()).status,
        200,
        "still busy with the other"
    );
    assert_eq!(server.post(&[("Mcp-Session-Id", &session)], &cancel).status, 202);
    pipe.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn a_signal_ends_the_server_with_calls_in_flight() {
    let mut server = Server::start(&["--no-token", "--policy", "full"]);
    let (pipe, params) = endless(&server);
    let mut stream = server.connect();
    stream.write_all(&server.modern("tools/call", params)).unwrap();
    let mut pipe = runs(&server, pipe);
    let since = Instant::now();
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    assert!(server.child.wait().unwrap().success());
    let took = since.elapsed();
    assert!(took.as_secs() < 4, "{took:?}");
    pipe.read_to_end(&mut Vec::new()).unwrap();
}
