//! A person is asked, in both eras, and the answer holds for exactly the call that was shown.

use serde_json::{Value, json};

use crate::client::{Client, text};
use crate::support::Bench;

fn can_ask() -> Value {
    json!({"elicitation": {}})
}

fn write(path: &str) -> Value {
    json!({"path": path, "content": "new\n"})
}

#[test]
fn an_older_client_is_asked_while_the_call_waits() {
    let mut client = Client::legacy(Bench::new(), &[], can_ask());
    for (name, answer, written) in [
        ("yes", json!({"action": "accept", "content": {"confirm": true}}), true),
        ("no", json!({"action": "accept", "content": {"confirm": false}}), false),
        ("declined", json!({"action": "decline"}), false),
        ("dismissed", json!({"action": "cancel"}), false),
        ("empty", json!({"action": "accept"}), false),
    ] {
        let id = client.begin_call("write_file", write(name));
        let asked = client.wait(|message| message["method"] == "elicitation/create");
        let params = &asked["params"];
        assert!(params["message"].as_str().unwrap().contains(name), "{params}");
        assert_eq!(params["requestedSchema"]["properties"]["confirm"]["type"], "boolean");
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
        let result = client.answer(id)["result"].clone();
        assert_eq!(result["isError"], !written, "{name}: {result}");
        assert_eq!(client.bench.path(name).exists(), written, "{name}");
        assert!(written || text(&result).contains("PERMISSION_DENIED"), "{result}");
    }
    // A client that answers the question with an error has not said yes.
    let id = client.begin_call("write_file", write("error"));
    let asked = client.wait(|message| message["method"] == "elicitation/create");
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": "no"}}));
    assert_eq!(client.answer(id)["result"]["isError"], true);
}

#[test]
fn a_yes_for_the_session_is_not_asked_for_again() {
    let mut client = Client::legacy(Bench::new(), &[], can_ask());
    let id = client.begin_call("write_file", write("a"));
    let asked = client.wait(|message| message["method"] == "elicitation/create");
    assert_eq!(asked["params"]["requestedSchema"]["properties"]["for_session"]["type"], "boolean", "{asked}");
    let yes = json!({"action": "accept", "content": {"confirm": true, "for_session": true}});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes}));
    assert_eq!(client.answer(id)["result"]["isError"], false);
    assert_eq!(client.call("write_file", json!({"path": "a", "content": "newer\n"}))["isError"], false);
    assert_eq!(client.kept().count(), 0, "nobody was asked");
}

#[test]
fn with_nobody_to_ask_the_policy_decides_and_says_so() {
    for modern in [false, true] {
        let mut client = match modern {
            false => Client::legacy(Bench::new(), &[], json!({})),
            true => Client::modern(Bench::new(), &[], json!({})),
        };
        let result = client.call("write_file", write("a"));
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains("there is nobody to ask"), "{result}");
        assert!(text(&result).contains("toolcrib permissions"), "what to do about it: {result}");
        assert!(!client.bench.path("a").exists());
    }
    let mut client = Client::legacy(Bench::new(), &["--policy", "auto"], json!({}));
    assert_eq!(client.call("write_file", write("a"))["isError"], false);
}

#[test]
fn a_newer_client_makes_the_call_again_with_the_answer() {
    let mut client = Client::modern(Bench::new(), &[], can_ask());
    let asked = client.call("write_file", write("a"));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["confirm"]["method"], "elicitation/create");
    assert!(!client.bench.path("a").exists());
    let state = asked["requestState"].clone();
    let again = |path: &str, state: &Value, answer: Value| {
        json!({"name": "write_file", "arguments": write(path), "requestState": state,
            "inputResponses": {"confirm": answer}})
    };
    let yes = || json!({"action": "accept", "content": {"confirm": true}});

    // Another call with this state, and a state that was tampered with.
    assert_eq!(client.request("tools/call", again("b", &state, yes()))["error"]["code"], -32602);
    let mut forged = state.as_str().unwrap().to_owned();
    forged.replace_range(8..9, if forged.get(8..9) == Some("A") { "B" } else { "A" });
    assert_eq!(client.request("tools/call", again("a", &json!(forged), yes()))["error"]["code"], -32602);
    // A yes without a state is a yes to nothing.
    let loose = json!({"name": "write_file", "arguments": write("a"), "inputResponses": {"confirm": yes()}});
    assert_eq!(client.request("tools/call", loose)["result"]["resultType"], "input_required");
    assert!(client.bench.names().is_empty(), "nothing was written so far");

    let done = client.request("tools/call", again("a", &state, yes()))["result"].clone();
    assert_eq!((&done["isError"], client.bench.read("a").as_str()), (&json!(false), "new\n"), "{done}");
    // It was good for once.
    std::fs::remove_file(client.bench.path("a")).unwrap();
    let replayed = client.request("tools/call", again("a", &state, yes()));
    assert_eq!(replayed["error"]["code"], -32602, "{replayed}");
    assert!(!client.bench.path("a").exists());
}

#[test]
fn a_newer_client_that_says_no_or_nothing() {
    let mut client = Client::modern(Bench::new(), &[], can_ask());
    let call = |state: &Value, answer: Value| {
        let mut params = json!({"name": "write_file", "arguments": write("a"), "inputResponses": answer});
        params["requestState"] = state.clone();
        params
    };
    let state = client.call("write_file", write("a"))["requestState"].clone();
    // An answer that is none: the question is put again, with a state of its own.
    let asked = client.request("tools/call", call(&state, json!({})))["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_ne!(asked["requestState"], state);
    let no = json!({"confirm": {"action": "decline"}});
    let denied = client.request("tools/call", call(&asked["requestState"], no))["result"].clone();
    assert!(text(&denied).contains("the person said no"), "{denied}");
    assert!(!client.bench.path("a").exists());
}
