//! Nothing outlives its client.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Client;
use crate::support::Bench;

/// From the word to end until the process is gone.
const AT_MOST: Duration = Duration::from_secs(1);

/// Waits for server and command, and checks the time. The machine may be busy with other tests, so that a few
/// seconds more are a late clock; a server that waits for its calls takes a thousand.
fn ends(client: &mut Client, since: Instant) {
    let status = client.ended();
    assert!(status.success(), "{status}");
    let took = since.elapsed();
    assert!(took < AT_MOST * 4, "{took:?}");
}

#[test]
fn input_that_closes_ends_server_and_commands() {
    for modern in [false, true] {
        let policy = ["--policy", "full"];
        let mut client = match modern {
            false => Client::legacy(Bench::new(), &policy, json!({})),
            true => Client::modern(Bench::new(), &policy, json!({})),
        };
        let (_, alive) = client.endless();
        let since = Instant::now();
        client.leave();
        ends(&mut client, since);
        alive.gone();
    }
}

#[test]
fn a_signal_ends_server_and_commands() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut client = Client::legacy(Bench::new(), &["--policy", "full"], json!({}));
        let (_, alive) = client.endless();
        let since = Instant::now();
        let pid = client.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        ends(&mut client, since);
        alive.gone();
    }
}

#[test]
fn a_server_that_is_killed_leaves_no_command() {
    let mut client = Client::legacy(Bench::new(), &["--policy", "full"], json!({}));
    let (_, alive) = client.endless();
    client.child.kill().unwrap();
    alive.gone();
}

#[test]
fn background_commands_end_with_the_server() {
    let mut client = Client::legacy(Bench::new(), &["--policy", "full"], json!({}));
    let fifo = client.bench.path("held");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn(move || std::fs::read_to_string(fifo).unwrap());
    let command = json!({"command": "exec 3>held; echo up >&3; sleep 1000", "background": true});
    assert_eq!(client.call("run_command", command)["isError"], false);
    let since = Instant::now();
    client.leave();
    ends(&mut client, since);
    assert_eq!(reader.join().unwrap(), "up\n");
}

#[test]
fn leaving_at_any_moment_is_no_error() {
    // Before the first word, in the middle of one, and after the greeting.
    for said in ["", "{\"jsonrpc\"", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}\n"] {
        let mut client = Client::start(Bench::new(), &[]);
        client.send_raw(said.as_bytes());
        client.leave();
        assert!(client.ended().success(), "{said}");
    }
    let mut client = Client::legacy(Bench::new(), &[], json!({}));
    client.leave();
    assert!(client.ended().success());
}
