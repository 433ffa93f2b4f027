//! The command tools through the executor, in one process, as an agent uses them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::{CallRequest, CommandSettings, EventKind, Outcome, PolicyMode, Session, StateDir, Toolcrib};

struct Desk {
    _folders: (TempDir, TempDir),
    crib: Toolcrib,
    session: Arc<Session>,
}

impl Desk {
    fn new() -> Self {
        Self::with(PolicyMode::Full)
    }

    fn with(policy: PolicyMode) -> Self {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut commands =
            CommandSettings { supervisor: Some(env!("CARGO_BIN_EXE_toolcrib").into()), ..Default::default() };
        // These tests are about the tools, so they need no sandbox that works.
        commands.sandbox.level = Some(toolcrib::process::Level::Policy);
        let crib = Toolcrib::builder()
            .root(root.path())
            .state(StateDir::at(state.path().join("state")).unwrap())
            .policy(policy)
            .commands(commands)
            .build()
            .unwrap();
        let session = crib.session("s");
        Self { _folders: (root, state), crib, session }
    }

    async fn call(&self, tool: &str, input: Value) -> Outcome {
        self.crib.call(&self.session, tool, input).await
    }

    async fn data(&self, tool: &str, input: Value) -> Value {
        let outcome = self.call(tool, input.clone()).await;
        assert!(outcome.success, "{tool} {input}: {}", outcome.output);
        outcome.data
    }

    async fn code(&self, tool: &str, input: Value) -> String {
        let outcome = self.call(tool, input.clone()).await;
        assert!(!outcome.success, "{tool} {input}: {}", outcome.output);
        outcome.error.unwrap().code.as_str().to_owned()
    }
}

#[tokio::test]
async fn the_data_has_the_fields_that_programs_rely_on() {
    let desk = Desk::new();
    let data = desk.data("run_command", json!({"command": "echo out; echo err >&2; exit 3"})).await;
    assert_eq!(data["exit_code"], 3);
    assert_eq!((data["stdout"].as_str(), data["stderr"].as_str()), (Some("out\n"), Some("err\n")));
    assert_eq!((data["timed_out"].as_bool(), data["sandbox"].as_str()), (Some(false), Some("policy")));
    assert!(data["duration_ms"].is_u64() && data.get("process_id").is_none(), "{data}");
    let data = desk.data("run_command", json!({"argv": ["printf", "%s", "a b $x"]})).await;
    assert_eq!(data["stdout"], "a b $x");
    let outcome = desk.call("run_command", json!({"command": "exit 3"})).await;
    assert!(outcome.success && outcome.title.contains("exited with 3"), "{}", outcome.title);
    assert!(outcome.output.starts_with("exit code: 3\n"), "{}", outcome.output);
}

#[tokio::test]
async fn wrong_calls_are_explained() {
    let desk = Desk::new();
    for (input, code) in [
        (json!({}), "VALIDATION_ERROR"),
        (json!({"command": "  "}), "VALIDATION_ERROR"),
        (json!({"command": "ls", "argv": ["ls"]}), "VALIDATION_ERROR"),
        (json!({"argv": []}), "VALIDATION_ERROR"),
        (json!({"argv": [""]}), "VALIDATION_ERROR"),
        (json!({"command": "a\u{0}b"}), "VALIDATION_ERROR"),
        (json!({"command": "ls", "timeout": 601}), "VALIDATION_ERROR"),
        (json!({"command": "ls", "timeout": 0}), "VALIDATION_ERROR"),
        (json!({"command": "ls", "cwd": "nowhere"}), "FILE_NOT_FOUND"),
        (json!({"command": "ls", "cwd": "../.."}), "OUTSIDE_WORKSPACE"),
        (json!({"command": "ls", "cwd": "/etc"}), "OUTSIDE_WORKSPACE"),
        (json!({"argv": ["no-such-program"]}), "COMMAND_FAILED"),
        (json!({"command": "sudo true"}), "COMMAND_DENIED"),
    ] {
        assert_eq!(desk.code("run_command", input.clone()).await, code, "{input}");
    }
    assert_eq!(desk.code("command_output", json!({"process_id": "p1"})).await, "PROCESS_NOT_FOUND");
    assert_eq!(desk.code("stop_command", json!({"process_id": "p1"})).await, "PROCESS_NOT_FOUND");
}

#[tokio::test]
async fn a_timeout_returns_what_was_printed() {
    let desk = Desk::new();
    let started = Instant::now();
    let outcome = desk.call("run_command", json!({"command": "echo before; sleep 60", "timeout": 0.4})).await;
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!(outcome.error.as_ref().unwrap().code.as_str(), "TIMEOUT");
    assert_eq!(
        (outcome.data["stdout"].as_str(), outcome.data["timed_out"].as_bool()),
        (Some("before\n"), Some(true))
    );
    assert!(outcome.output.contains("before"), "{}", outcome.output);
}

#[tokio::test]
async fn a_cancel_ends_the_command_and_keeps_its_output() {
    let desk = Desk::new();
    let request = CallRequest::new(&desk.session, "run_command", json!({"command": "echo begun; sleep 60"}));
    let cancel = request.cancel.clone();
    let (began, begun) = tokio::sync::oneshot::channel();
    let began = Mutex::new(Some(began));
    desk.crib.executor().activity().observe(move |event| {
        if matches!(event.kind, EventKind::ToolOutputChunk { .. })
            && let Some(began) = began.lock().unwrap().take()
        {
            began.send(()).unwrap();
        }
    });
    let call = desk.crib.executor().call(request);
    let stop = async {
        begun.await.unwrap();
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(call, stop);
    assert_eq!(outcome.error.as_ref().unwrap().code.as_str(), "CANCELLED");
    assert_eq!(outcome.data["stdout"], "begun\n");
}

#[tokio::test]
async fn chunks_stream_while_it_runs_and_make_up_the_whole() {
    let desk = Desk::new();
    let chunks = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&chunks);
    desk.crib.executor().activity().observe(move |event| {
        if let EventKind::ToolOutputChunk { stream, chunk } = &event.kind {
            seen.lock().unwrap().push((stream.clone(), chunk.clone()));
        }
    });
    let line = "for i in 1 2 3; do echo $i; sleep 0.1; done; echo e >&2";
    desk.data("run_command", json!({"command": line})).await;
    let chunks = chunks.lock().unwrap();
    let of = |name: &str| -> String {
        chunks.iter().filter(|(stream, _)| stream == name).map(|(_, chunk)| chunk.as_str()).collect()
    };
    assert_eq!((of("stdout").as_str(), of("stderr").as_str()), ("1\n2\n3\n", "e\n"));
    assert!(chunks.len() >= 4, "{chunks:?}");
}

#[tokio::test]
async fn a_background_command_is_read_fed_listed_and_stopped() {
    let desk = Desk::new();
    let line = "echo ready; while read x; do echo \"got $x\"; done; echo over";
    let data = desk.data("run_command", json!({"command": line, "background": true})).await;
    let id = data["process_id"].as_str().unwrap().to_owned();
    assert_eq!((data["exit_code"].clone(), data["timed_out"].clone()), (Value::Null, json!(false)));
    let mut said = data["stdout"].as_str().unwrap().to_owned();
    if said.is_empty() {
        let data = desk.data("command_output", json!({"process_id": id, "wait": 5})).await;
        said = data["stdout"].as_str().unwrap().to_owned();
    }
    assert_eq!(said, "ready\n");
    let data = desk.data("command_input", json!({"process_id": id, "input": "one\n"})).await;
    assert_eq!((data["status"].as_str(), data["stdout"].as_str()), (Some("running"), Some("got one\n")));
    // Nothing is told twice.
    let data = desk.data("command_output", json!({"process_id": id})).await;
    assert_eq!((data["stdout"].as_str(), data["stderr"].as_str()), (Some(""), Some("")));
    let data = desk.data("stop_command", json!({})).await;
    assert_eq!(data["stopped"], false);
    assert_eq!(data["processes"][0]["process_id"], json!(id));
    assert_eq!(data["processes"][0]["status"], "running");
    let data = desk.data("command_input", json!({"process_id": id, "input": "", "eof": true})).await;
    assert_eq!((data["status"].as_str(), data["exit_code"].as_i64()), (Some("exited"), Some(0)), "{data}");
    assert_eq!(data["stdout"], "over\n");
    assert_eq!(desk.code("command_input", json!({"process_id": id, "input": "x"})).await, "CONFLICT");
    let data = desk.data("stop_command", json!({"process_id": id})).await;
    assert_eq!(data["stopped"], false);
}

#[tokio::test]
async fn stopping_stops_and_other_sessions_see_nothing() {
    let desk = Desk::new();
    let data = desk.data("run_command", json!({"command": "sleep 600", "background": true})).await;
    let id = data["process_id"].clone();
    let other = desk.crib.session("other");
    let seen = desk.crib.call(&other, "stop_command", json!({"process_id": id})).await;
    assert_eq!(seen.error.unwrap().code.as_str(), "PROCESS_NOT_FOUND");
    let data = desk.data("stop_command", json!({"process_id": id})).await;
    assert_eq!(
        (data["stopped"].clone(), data["processes"][0]["status"].clone()),
        (json!(true), json!("exited"))
    );
    assert_eq!(data["processes"][0]["exit_code"], 143);
}

#[tokio::test]
async fn a_slow_command_yields_and_runs_on() {
    let desk = Desk::new();
    let line = "echo first; sleep 0.6; echo second";
    let data = desk.data("run_command", json!({"command": line, "yield_after": 0.2})).await;
    assert_eq!(data["stdout"], "first\n");
    let id = data["process_id"].clone();
    let data = desk.data("command_output", json!({"process_id": id, "wait": 10})).await;
    assert_eq!((data["stdout"].as_str(), data["exit_code"].as_i64()), (Some("second\n"), Some(0)), "{data}");
    // One that is done in time is an ordinary one.
    let data = desk.data("run_command", json!({"command": "echo quick", "yield_after": 10})).await;
    assert_eq!((data["exit_code"].as_i64(), data.get("process_id")), (Some(0), None));
}

#[tokio::test]
async fn at_most_32_run_at_a_time() {
    let desk = Desk::new();
    for _ in 0..32 {
        desk.data("run_command", json!({"command": "sleep 600", "background": true})).await;
    }
    assert_eq!(
        desk.code("run_command", json!({"command": "sleep 600", "background": true})).await,
        "LIMIT_EXCEEDED"
    );
    // In the foreground there is room.
    desk.data("run_command", json!({"command": "true"})).await;
    desk.data("stop_command", json!({"process_id": "p7"})).await;
    desk.data("run_command", json!({"command": "sleep 600", "background": true})).await;
    desk.crib.processes().stop_all(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn long_output_is_cut_and_all_of_it_can_be_read() {
    let desk = Desk::new();
    let outcome = desk.call("run_command", json!({"command": "seq 1 300000; echo last"})).await;
    assert!(
        outcome.success && outcome.metadata.truncated && outcome.metadata.tokens <= 10_000,
        "{}",
        outcome.metadata.tokens
    );
    assert!(outcome.output.contains("\n1\n2\n3\n") && outcome.output.contains("300000\nlast"), "cut wrongly");
    let path = outcome.output.split("spill://").nth(1).unwrap().split(',').next().unwrap();
    let read = json!({"path": format!("spill://{path}"), "offset": 150_000, "limit": 1});
    assert_eq!(desk.data("read_file", read).await["files"][0]["content"], "150000\n");
    assert!(outcome.data["stdout"].as_str().unwrap().len() < 1 << 20);
}

#[tokio::test]
async fn what_a_terminal_would_do_with_it_does_not_reach_the_model() {
    let desk = Desk::new();
    let line = r"printf '\033[31mred\033[0m\n\033]0;title\007x\n10%%\r100%%\n'; yes same | head -50";
    let outcome = desk.call("run_command", json!({"command": line})).await;
    let expected = "exit code: 0\nred\nx\n100%\nsame\n[the same line 49 more times]\n";
    assert!(outcome.output.starts_with(expected), "{}", outcome.output);
}

#[tokio::test]
async fn only_what_is_proved_to_read_runs_unasked() {
    let desk = Desk::with(PolicyMode::Ask);
    desk.data("run_command", json!({"command": "ls && pwd"})).await;
    for command in ["touch x", "ls; touch x", "$(echo ls)", "curl http://localhost"] {
        assert_eq!(
            desk.code("run_command", json!({"command": command})).await,
            "COMMAND_DENIED",
            "{command}"
        );
    }
    let plan = Desk::with(PolicyMode::Plan);
    plan.data("run_command", json!({"command": "git --version; ls"})).await;
    assert_eq!(plan.code("run_command", json!({"command": "touch x"})).await, "COMMAND_DENIED");
}

/// `toolcrib call run_command INPUT OPTIONS --json`, in a folder of its own.
fn command_line(input: Value, options: &[&str]) -> (std::process::Child, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_toolcrib"))
        .args(["call", "run_command", &input.to_string(), "--json", "--sandbox", "policy", "--root"])
        .arg(folder.path())
        .args(options)
        .env("XDG_STATE_HOME", folder.path().join(".state"))
        .env("XDG_CACHE_HOME", folder.path().join(".cache"))
        .env("XDG_CONFIG_HOME", folder.path().join(".config"))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    (child, folder)
}

fn outcome_of(child: std::process::Child) -> (Value, Option<i32>) {
    let output = child.wait_with_output().unwrap();
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), output.status.code())
}

#[test]
fn the_time_of_a_call_is_the_time_of_its_command() {
    let (child, _folder) = command_line(json!({"command": "echo part; sleep 60"}), &["--timeout", "0.6"]);
    let (outcome, code) = outcome_of(child);
    assert_eq!((outcome["error"]["code"].as_str(), code), (Some("TIMEOUT"), Some(1)), "{outcome}");
    assert_eq!(
        (outcome["data"]["stdout"].as_str(), outcome["data"]["timed_out"].as_bool()),
        (Some("part\n"), Some(true))
    );
    assert!(outcome["output"].as_str().unwrap().contains("part"), "{outcome}");
}

#[test]
fn what_cannot_run_on_is_said_to_end() {
    let (child, _folder) = command_line(json!({"command": "sleep 60", "background": true}), &[]);
    let (outcome, _) = outcome_of(child);
    assert!(outcome["metadata"]["warnings"].to_string().contains("this one ends now"), "{outcome}");
}

#[test]
fn a_signal_to_end_leaves_an_outcome_and_no_process() {
    let (child, folder) = command_line(json!({"command": "touch begun; exec sleep 61234.5"}), &[]);
    while !folder.path().join("begun").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let (outcome, code) = outcome_of(child);
    assert_eq!((outcome["error"]["code"].as_str(), code), (Some("CANCELLED"), Some(143)), "{outcome}");
    let left = std::process::Command::new("pgrep").args(["-f", "^sleep 61234.5"]).output().unwrap();
    assert!(left.stdout.is_empty());
}
