//! What an ill-behaved client gets.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{Client, text};
use crate::support::Bench;

fn greeted(arguments: &[&str]) -> Client {
    let bench = Bench::new();
    bench.write("a.txt", "one\ntwo\n");
    Client::legacy(bench, arguments, json!({}))
}

fn still_answers(client: &mut Client) {
    // A note may follow that it is always the same call.
    let result = client.call("read_file", json!({"path": "a.txt"}));
    assert!(text(&result).starts_with("1\tone\n2\ttwo"), "{result}");
}

#[test]
fn what_is_no_message_is_answered() {
    let mut client = greeted(&[]);
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for (line, code, id) in [
        ("{broken", -32700, None),
        ("\u{0}", -32700, None),
        (deep.as_str(), -32700, None),
        ("[]", -32600, None),
        ("[{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}]", -32600, None),
        ("5", -32600, None),
        ("{\"id\":77,\"method\":\"ping\"}", -32600, Some(77)),
        ("{\"jsonrpc\":\"1.0\",\"id\":78,\"method\":\"ping\"}", -32600, Some(78)),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, None),
        ("{\"jsonrpc\":\"2.0\",\"id\":79,\"method\":\"no/such\"}", -32601, Some(79)),
    ] {
        client.send_raw(format!("{line}\n").as_bytes());
        let answer = client.next();
        let line: String = line.chars().take(60).collect();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert_eq!(answer["id"], id.map_or(Value::Null, |id: i32| json!(id)), "{line}: {answer}");
    }
    client.send_raw(b"\xff\xfe{}\n");
    assert_eq!(client.next()["error"]["code"], -32700);
    // Notifications of others, empty lines and a byte order mark are nothing to complain of.
    client.send_raw(b"\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{}}\n");
    client.send_raw(b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":80,\"method\":\"ping\"}\r\n");
    assert_eq!(client.next()["id"], 80);
    still_answers(&mut client);
}

#[test]
fn a_line_without_end_is_refused_and_not_kept() {
    let mut client = greeted(&[]);
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":41,\"method\":\"tools/call\",\"params\":{\"name\":\"");
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        client.send_raw(&chunk);
    }
    client.send_raw(b"\"}}\n");
    let answer = client.next();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(41), &json!(-32600)), "{answer}");
    still_answers(&mut client);
}

#[test]
fn a_message_may_come_in_pieces() {
    let mut client = greeted(&[]);
    let line = format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": 5000, "method": "tools/call",
        "params": {"name": "read_file", "arguments": {"path": "a.txt"}}})
    );
    for byte in line.as_bytes() {
        client.send_raw(&[*byte]);
    }
    assert_eq!(text(&client.answer(5000)["result"]), "1\tone\n2\ttwo");
}

#[test]
fn before_the_greeting_there_is_nothing() {
    let mut client = Client::start(Bench::new(), &[]);
    let answer = client.request("tools/list", json!({}));
    assert!(answer["error"]["code"].as_i64().unwrap() < -32000, "{answer}");
}

#[test]
fn many_calls_at_once_and_half_of_them_cancelled() {
    const CALLS: i64 = 1000;
    let mut client = greeted(&[]);
    let mut all = String::new();
    for id in 0..CALLS {
        let params = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
        all.push_str(&format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": 10_000 + id, "method": "tools/call", "params": params})
        ));
        if id % 2 == 1 {
            let params = json!({"requestId": 10_000 + id});
            all.push_str(&format!(
                "{}\n",
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            ));
        }
    }
    // The answers are read at the same time, or both sides would wait for each other.
    let mut input = client.input.take().unwrap();
    let writer = std::thread::spawn(move || {
        std::io::Write::write_all(&mut input, all.as_bytes()).unwrap();
        input
    });
    let mut answers: BTreeMap<i64, usize> = BTreeMap::new();
    while (0..CALLS).step_by(2).any(|id| !answers.contains_key(&(10_000 + id))) {
        let message = client.next();
        *answers.entry(message["id"].as_i64().unwrap()).or_default() += 1;
        assert!(text(&message["result"]).starts_with("1\tone\n2\ttwo"), "{message}");
    }
    client.input = Some(writer.join().unwrap());
    still_answers(&mut client);
    for late in client.kept() {
        *answers.entry(late["id"].as_i64().unwrap()).or_default() += 1;
    }
    assert!(answers.values().all(|count| *count == 1), "each at most once: {answers:?}");
}

#[test]
fn an_id_that_is_in_use_is_not_taken_twice() {
    let mut client = greeted(&["--policy", "full"]);
    let (id, alive) = client.endless();
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
    let refused = client.wait(|message| message.get("error").is_some());
    assert_eq!((refused["error"]["code"].as_i64(), refused.get("id")), (Some(-32600), None), "{refused}");
    // The first one is still there, and can be cancelled; then the id is free.
    client.cancel(&json!(id));
    alive.gone();
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    assert_eq!(client.answer(id)["result"], json!({}));
}

#[test]
fn nothing_but_the_protocol_is_on_stdout() {
    let mut client = greeted(&["--policy", "full", "--events", "-"]);
    // The client checks every line.
    let shouting = "echo loud; echo louder >&2; echo loudest > /dev/stdout; cat /proc/self/fd/0";
    let result = client.call("run_command", json!({"command": shouting}));
    assert!(text(&result).contains("loudest"), "{result}");
    still_answers(&mut client);
    if cfg!(target_os = "linux") {
        // Whoever writes to descriptor 1 of the server writes to its standard error, and reads nothing from
        // 0.
        let of = |fd: u8| std::fs::read_link(format!("/proc/{}/fd/{fd}", client.child.id())).unwrap();
        assert_eq!(of(1), of(2));
        assert_eq!(of(0).to_str(), Some("/dev/null"));
    }
}
