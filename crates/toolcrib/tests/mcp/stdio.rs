//! What a well-behaved client sees.

use serde_json::{Value, json};

use crate::client::{Client, MODERN, text};
use crate::support::Bench;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("a.txt", "one\ntwo\n");
    bench
}

#[test]
fn every_era_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start(bench(), &[]);
        let said = client.greet(version, json!({}));
        assert_eq!(said["result"]["protocolVersion"], version);
        assert_eq!(said["result"]["serverInfo"]["name"], "toolcrib");
        let result = client.call("read_file", json!({"path": "a.txt"}));
        assert_eq!((text(&result), &result["isError"]), ("1\tone\n2\ttwo", &json!(false)));
        assert_eq!(result.get("structuredContent"), None, "text-like tools answer with text alone");
        assert_eq!(result.get("resultType"), None);
    }
    let mut client = Client::start(bench(), &[]);
    let said = client.greet("1999-01-01", json!({}));
    assert_eq!(said["result"]["protocolVersion"], "2025-11-25", "the newest with a handshake is offered");

    let mut client = Client::modern(bench(), &[], json!({}));
    let found = client.request("server/discover", json!({}))["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)), "{found}");
    let listed = client.request("tools/list", json!({}))["result"].clone();
    assert!(listed["ttlMs"].as_u64().unwrap() >= 60_000 && listed["cacheScope"] == "private", "{listed}");
    let result = client.call("read_file", json!({"path": "a.txt"}));
    assert_eq!((text(&result), &result["resultType"]), ("1\tone\n2\ttwo", &json!("complete")));
    assert_eq!(client.request("ping", json!({}))["error"]["code"], -32601, "gone from the protocol");
}

#[test]
fn tools_are_listed_with_all_that_clients_want() {
    let mut client = Client::legacy(bench(), &[], json!({}));
    let listed = client.request("tools/list", json!({}))["result"].clone();
    let tools = listed["tools"].as_array().unwrap();
    assert!(tools.len() > 10);
    for tool in tools {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint} of {tool}");
        }
        assert!(tool["title"].is_string() && tool["inputSchema"]["type"] == "object", "{tool}");
        assert!(!tool.to_string().contains("\"$ref\""), "{tool}");
    }
    let named = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(named("read_file")["annotations"]["readOnlyHint"], true);
    assert_eq!(named("write_file")["annotations"]["destructiveHint"], true);
    let bytes = listed.to_string().len();
    assert!(bytes / tools.len() < 800, "{bytes} bytes for {} tools", tools.len());
    let again = client.request("tools/list", json!({}))["result"].clone();
    assert_eq!(listed, again, "in the same order");
    // The same as the command prints, so that there is one truth.
    let printed = client.bench.run(&["declarations", "--format", "mcp", "--mode", "mcp", "--json"]).json;
    assert_eq!(printed["tools"], listed["tools"]);
}

#[test]
fn a_profile_and_its_names() {
    let mut client = Client::legacy(bench(), &["--profile", "claude"], json!({}));
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"Read") && !names.contains(&"read_file"), "{names:?}");
    let path = client.bench.path("a.txt");
    assert_eq!(client.call("Read", json!({"file_path": path}))["isError"], false);
}

#[test]
fn failures_are_results_with_the_text_that_everybody_gets() {
    let mut client = Client::legacy(bench(), &[], json!({}));
    for (tool, arguments) in [
        ("read_file", json!({"path": "missing.txt"})),
        ("read_file", json!({"path": "../outside"})),
        ("read_file", json!({"path": 5, "offset": "x"})),
        ("grep", json!({"pattern": "("})),
    ] {
        let result = client.call(tool, arguments.clone());
        let elsewhere = client.bench.call(tool, arguments).json;
        assert_eq!(
            (text(&result), &result["isError"]),
            (elsewhere["output"].as_str().unwrap(), &json!(true))
        );
    }
    let unknown = client.request("tools/call", json!({"name": "reed_file", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("read_file"), "{unknown}");
}

#[test]
fn an_equal_call_gets_an_equal_answer() {
    // What is left of earlier answers in the client's context is not known, so nothing is left out.
    let mut client = Client::legacy(bench(), &[], json!({}));
    for _ in 0..2 {
        assert_eq!(text(&client.call("read_file", json!({"path": "a.txt"}))), "1\tone\n2\ttwo");
    }
}

#[test]
fn progress_grows_and_comes_before_the_answer() {
    let mut client = Client::legacy(bench(), &["--policy", "full"], json!({}));
    let go = client.bench.path("go");
    assert!(std::process::Command::new("mkfifo").arg(&go).status().unwrap().success());
    let params = json!({
        "name": "run_command", "arguments": {"command": "echo first; read x < go; echo second"},
        "_meta": {"progressToken": 7},
    });
    let id = client.begin("tools/call", params);
    let mut last = -1.0;
    let mut messages = Vec::new();
    loop {
        let message = client.next();
        if message["id"] == id {
            assert_eq!(message["result"]["isError"], false, "{message}");
            break;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], 7);
        let at = message["params"]["progress"].as_f64().unwrap();
        assert!(at > last, "{at} after {last}");
        last = at;
        messages.push(message["params"]["message"].as_str().unwrap_or_default().to_owned());
        if messages == ["first"] {
            std::fs::write(&go, "on\n").unwrap();
        }
    }
    assert_eq!(messages.first().map(String::as_str), Some("first"));
    // Nobody asked this time.
    client.call("run_command", json!({"command": "echo third"}));
    assert_eq!(client.kept().count(), 0);
}

#[test]
fn a_cancelled_call_stops_and_is_not_answered() {
    for modern in [false, true] {
        let policy = ["--policy", "full"];
        let mut client = match modern {
            false => Client::legacy(bench(), &policy, json!({})),
            true => Client::modern(bench(), &policy, json!({})),
        };
        let (id, alive) = client.endless();
        // Cancelling what is not there, or somebody else's, is nothing.
        for other in [json!(9999), json!("x"), Value::Null] {
            client.cancel(&other);
        }
        client.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        );
        alive.gone();
        assert_eq!(client.call("read_file", json!({"path": "a.txt"}))["isError"], false);
        assert!(client.kept().all(|message| message["id"] != id), "no answer to what was cancelled");
    }
}

#[test]
fn long_outputs_are_resources() {
    let bench = bench();
    let long: String = (0..20_000).map(|n| format!("line {n} of a long file\n")).collect();
    bench.write("long.txt", &long);
    let mut client = Client::legacy(bench, &["--policy", "full"], json!({}));
    assert_eq!(client.request("resources/list", json!({}))["result"]["resources"], json!([]));
    client.call("run_command", json!({"command": "cat long.txt"}));
    let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
    let uri = listed[0]["uri"].as_str().unwrap_or_else(|| panic!("{listed}"));
    assert!(uri.starts_with("spill://"), "{uri}");
    let read = client.request("resources/read", json!({"uri": uri}))["result"].clone();
    let body = read["contents"][0]["text"].as_str().unwrap();
    assert!(body.contains("line 10000 of a long file\n"), "{} bytes", body.len());
    for uri in ["spill://nothing.txt", "spill://../x", "spill://", "file:///etc/passwd", "a.txt", ""] {
        let answer = client.request("resources/read", json!({"uri": uri}));
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
    }
    assert_eq!(client.request("prompts/list", json!({}))["error"]["code"], -32601, "there are none");
}

#[test]
fn clients_hear_of_new_tools() {
    let pack = ["--pack", "conformance"];
    let mut client = Client::legacy(bench(), &pack, json!({}));
    client.call("test_trigger_tool_change", json!({}));
    client.notification("notifications/tools/list_changed");

    let mut client = Client::modern(bench(), &pack, json!({}));
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let listening = client.begin("subscriptions/listen", wanted);
    client.notification("notifications/subscriptions/acknowledged");
    client.call("test_trigger_tool_change", json!({}));
    let told = client.notification("notifications/tools/list_changed");
    assert_eq!(told["_meta"]["io.modelcontextprotocol/subscriptionId"], listening, "{told}");
}

#[test]
fn the_pack_of_fixtures_is_off_by_default() {
    let mut client = Client::legacy(bench(), &[], json!({}));
    let listed = client.request("tools/list", json!({}))["result"].to_string();
    assert!(!listed.contains("test_simple_text"));
    let mut client = Client::legacy(bench(), &["--pack", "conformance"], json!({}));
    let result = client.call("test_multiple_content_types", json!({}));
    let kinds: Vec<_> =
        result["content"].as_array().unwrap().iter().map(|part| part["type"].clone()).collect();
    assert_eq!(json!(kinds), json!(["text", "image", "resource"]));
}

#[test]
fn configurations_to_paste_start_this_server() {
    let bench = bench();
    for (client, pointer) in [
        ("claude", "/mcpServers/toolcrib"),
        ("cursor", "/mcpServers/toolcrib"),
        ("gemini", "/mcpServers/toolcrib"),
        ("vscode", "/servers/toolcrib"),
        ("zed", "/context_servers/toolcrib"),
        ("codex", "/mcp_servers/toolcrib"),
    ] {
        let done = bench.run(&["mcp", "--print-config", client]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let config: Value = match client {
            "codex" => toml::from_str(&done.stdout).unwrap(),
            _ => serde_json::from_str(&done.stdout).unwrap(),
        };
        let server = config.pointer(pointer).unwrap_or_else(|| panic!("{client}: {config}"));
        assert_eq!(server["command"], env!("CARGO_BIN_EXE_toolcrib"));
        let root = bench.root.path().canonicalize().unwrap();
        assert_eq!(server["args"], json!(["mcp", "--root", root]));
    }
}

#[test]
fn nothing_is_indexed_before_it_is_needed() {
    let bench = bench();
    bench.write("a.rs", "fn main() {}\n");
    let mut client = Client::legacy(bench, &[], json!({}));
    client.request("tools/list", json!({}));
    client.call("read_file", json!({"path": "a.rs"}));
    let indexed = |client: &Client| {
        let found = std::process::Command::new("find").arg(client.bench.state.path()).output().unwrap();
        String::from_utf8(found.stdout).unwrap().lines().any(|path| path.contains("/code"))
    };
    assert!(!indexed(&client));
    client.call("search_code", json!({"query": "main"}));
    assert!(indexed(&client), "this is what would have been seen");
}

#[test]
fn options_of_single_calls_are_refused() {
    let bench = bench();
    for option in [&["--session", "x"][..], &["--dry-run"], &["--print-config", "nobody"], &["--pack", "x"]] {
        let mut arguments = vec!["mcp"];
        arguments.extend(option);
        assert_eq!(bench.run(&arguments).code, 2, "{option:?}");
    }
}

/// Node gives sockets to its children, a terminal or a test may give files: all of them work.
#[test]
fn standard_streams_of_other_kinds() {
    use std::io::{BufRead, BufReader, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let bench = bench();
    let mut command = bench.command(env!("CARGO_BIN_EXE_toolcrib"));
    command.args(["mcp", "--root", bench.root.path().to_str().unwrap()]);
    let ((ours_in, theirs_in), (ours_out, theirs_out)) =
        (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    let mut child =
        command.stdin(OwnedFd::from(theirs_in)).stdout(OwnedFd::from(theirs_out)).spawn().unwrap();
    writeln!(&ours_in, "{hello}").unwrap();
    let mut line = String::new();
    ours_out.set_read_timeout(Some(crate::client::PATIENCE)).unwrap();
    BufReader::new(&ours_out).read_line(&mut line).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], 1);
    ours_in.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(child.wait().unwrap().success());

    bench.write("input", format!("{hello}\n"));
    let output = std::fs::File::create(bench.path("output")).unwrap();
    let input = std::fs::File::open(bench.path("input")).unwrap();
    let mut command = bench.command(env!("CARGO_BIN_EXE_toolcrib"));
    command.args(["mcp", "--root", bench.root.path().to_str().unwrap()]);
    assert!(command.stdin(input).stdout(output).status().unwrap().success());
    // The end of the file comes right after the greeting, so it may have come first.
    let said = bench.read("output");
    assert!(said.is_empty() || serde_json::from_str::<Value>(&said).unwrap()["id"] == 1, "{said}");
}
