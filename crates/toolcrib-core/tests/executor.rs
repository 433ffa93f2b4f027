//! The stages of a call, with a scripted tool on a paused clock.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use support::*;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_core::executor::{After, Before, Hook, HookCall, SpillStore};
use toolcrib_core::permission::{Answer, Approver, BoxFuture, ConfirmRequest, GrantScope};
use toolcrib_core::{
    Arguments, CallRequest, Capabilities, ErrorCode, Executor, Outcome, PolicyMode, Profile, Registry,
    Session, ToolError, tokens,
};

fn request(session: &Arc<Session>, arguments: Value) -> CallRequest {
    CallRequest::new(session, "scripted", arguments)
}

fn code(outcome: &Outcome) -> Option<ErrorCode> {
    outcome.error.as_ref().map(|error| error.code)
}

#[tokio::test(start_paused = true)]
async fn a_call_that_works() {
    let (executor, mut events) = executor(Scripted::reading([Step::Say("hello".into())]));
    let outcome = executor.call(request(&session(), json!({"path": "a"}))).await;
    assert!(outcome.success && outcome.output == "hello" && outcome.data == json!({"text": "hello"}));
    assert_eq!(outcome.metadata.attempts, 1);
    assert_eq!(drain(&mut events), ["tool_call_start", "tool_call_end"]);
    let stats = executor.stats().of("scripted").unwrap();
    assert_eq!((stats.calls, stats.successes, stats.errors), (1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn timeout_is_the_tools_unless_the_caller_says() {
    let (executor, mut events) = executor(Scripted::reading([Step::Hang, Step::Hang]));
    let started = Instant::now();
    let outcome = executor.call(request(&session(), json!({}))).await;
    assert_eq!((code(&outcome), started.elapsed().as_secs()), (Some(ErrorCode::Timeout), 10));
    let mut quick = request(&session(), json!({}));
    quick.timeout = Some(Duration::from_secs(3));
    let outcome = executor.call(quick).await;
    assert_eq!((code(&outcome), started.elapsed().as_secs()), (Some(ErrorCode::Timeout), 13));
    assert_eq!(terminals(&drain(&mut events)), 2);
}

#[tokio::test(start_paused = true)]
async fn no_caller_may_wait_longer_than_the_limit() {
    let (executor, _events) = executor(Scripted::reading([Step::Hang]));
    let started = Instant::now();
    let mut long = request(&session(), json!({}));
    long.timeout = Some(Duration::from_secs(1_000_000));
    executor.call(long).await;
    assert_eq!(started.elapsed().as_secs(), 600);
}

#[tokio::test(start_paused = true)]
async fn cancel_ends_a_reading_call_at_once() {
    let (executor, mut events) = executor(Scripted::reading([Step::Hang]));
    let cancel = CancellationToken::new();
    let mut call = request(&session(), json!({}));
    call.cancel = cancel.clone();
    let started = Instant::now();
    let (outcome, ()) = tokio::join!(executor.call(call), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert_eq!((code(&outcome), started.elapsed().as_secs()), (Some(ErrorCode::Cancelled), 1));
    assert_eq!(terminals(&drain(&mut events)), 1);
}

#[tokio::test(start_paused = true)]
async fn what_writes_may_finish_or_stop_by_itself_but_not_hang() {
    let steps = [Step::FinishWhenCancelled, Step::StopWhenCancelled, Step::Hang];
    let (executor, mut events) = executor(Scripted::writing(steps));
    let finished = executor.call(request(&session(), json!({}))).await;
    assert!(finished.success && finished.metadata.warnings.len() == 1, "{finished:?}");
    let stopped = executor.call(request(&session(), json!({}))).await;
    assert_eq!((code(&stopped), stopped.data), (Some(ErrorCode::Timeout), json!({"so_far": 1})));
    let started = Instant::now();
    let hung = executor.call(request(&session(), json!({}))).await;
    assert_eq!((code(&hung), started.elapsed().as_secs()), (Some(ErrorCode::Timeout), 12));
    assert_eq!(terminals(&drain(&mut events)), 3);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_still_ends_with_one_event() {
    let (executor, mut events) = executor(Scripted::reading([Step::Hang]));
    let call = executor.call(request(&session(), json!({})));
    assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
    assert_eq!(drain(&mut events), ["tool_call_start", "error"]);
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_running_calls() {
    let (executor, mut events) = executor(Scripted::reading([Step::Hang]));
    let (outcome, ()) =
        tokio::join!(executor.call(request(&session(), json!({}))), async { executor.shutdown().await });
    assert_eq!(code(&outcome), Some(ErrorCode::Cancelled));
    assert_eq!(terminals(&drain(&mut events)), 1);
}

#[tokio::test(start_paused = true)]
async fn retries_with_backoff_where_tool_and_error_allow_it() {
    let fail = || Step::Fail(ErrorCode::IoError);
    let (executor, mut events) = executor(Scripted::reading([fail(), fail(), Step::Say("at last".into())]));
    let started = Instant::now();
    let outcome = executor.call(request(&session(), json!({}))).await;
    assert_eq!((outcome.success, outcome.metadata.attempts), (true, 3));
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(150) && waited <= Duration::from_millis(310), "{waited:?}");
    assert_eq!(executor.stats().of("scripted").unwrap().retries, 2);
    assert_eq!(drain(&mut events), ["tool_call_start", "tool_call_end"]);
}

#[tokio::test(start_paused = true)]
async fn does_not_retry_otherwise() {
    let io = || Scripted::writing([Step::Fail(ErrorCode::IoError)]);
    for (tool, expected) in [
        (io(), ErrorCode::IoError),
        (Scripted::reading([Step::Fail(ErrorCode::NoMatch)]), ErrorCode::NoMatch),
        (Scripted::reading([Step::Panic]), ErrorCode::Internal),
    ] {
        let (executor, _events) = executor(tool);
        let outcome = executor.call(request(&session(), json!({}))).await;
        assert_eq!((code(&outcome), outcome.metadata.attempts), (Some(expected), 1));
    }
    let always = (0..9).map(|_| Step::Fail(ErrorCode::IoError));
    let (executor, _events) = executor(Scripted::reading(always));
    let outcome = executor.call(request(&session(), json!({}))).await;
    assert_eq!((code(&outcome), outcome.metadata.attempts), (Some(ErrorCode::IoError), 3));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_error_that_tells_nothing() {
    let (executor, mut events) = executor(Scripted::reading([Step::Panic]));
    let outcome = executor.call(request(&session(), json!({}))).await;
    assert_eq!(code(&outcome), Some(ErrorCode::Internal));
    assert!(!serde_json::to_string(&outcome).unwrap().contains("secret"));
    assert_eq!(drain(&mut events), ["tool_call_start", "error"]);
    assert!(executor.call(request(&session(), json!({}))).await.success, "the executor lives on");
}

#[tokio::test(start_paused = true)]
async fn unknown_tools_are_named_and_have_no_figures() {
    let (executor, mut events) = executor(Scripted::reading([]));
    for name in ["Scripted", "scriptd", "scripted_tool"] {
        let mut call = request(&session(), json!({}));
        call.tool = name.into();
        let outcome = executor.call(call).await;
        assert_eq!(code(&outcome), Some(ErrorCode::ToolNotFound));
        assert!(outcome.output.contains("Did you mean scripted?"), "{}", outcome.output);
    }
    assert_eq!(terminals(&drain(&mut events)), 3);
    assert!(executor.stats().all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn all_violations_come_at_once_with_an_example() {
    let (executor, mut events) = executor(Scripted::reading([]));
    let arguments = json!({"path": {"a": 1}, "count": "many", "pth": 1});
    let outcome = executor.call(request(&session(), arguments)).await;
    assert_eq!(code(&outcome), Some(ErrorCode::ValidationError));
    let error = outcome.error.unwrap();
    assert_eq!(error.details["violations"].as_array().unwrap().len(), 3, "{:?}", error.details);
    assert!(outcome.output.contains(r#"{"path":"a.txt"}"#), "{}", outcome.output);
    assert_eq!(drain(&mut events), ["tool_call_start", "error"]);
}

#[tokio::test(start_paused = true)]
async fn arguments_are_repaired_and_that_is_said() {
    let (executor, _events) = executor(Scripted::reading([]));
    let outcome = executor.call(request(&session(), json!("{\"path\": \"a\", \"count\": \"7\"}"))).await;
    assert!(outcome.success && !outcome.metadata.warnings.is_empty(), "{outcome:?}");
    assert!(outcome.output.contains("Note: "));
    let mut call = request(&session(), Value::Null);
    call.arguments = Arguments::Text(b"{\"path\": \"a\", \"path\": \"b\"}".to_vec());
    assert_eq!(code(&executor.call(call).await), Some(ErrorCode::ValidationError), "duplicate keys");
}

#[tokio::test(start_paused = true)]
async fn reads_overlap_and_writes_to_one_path_do_not() {
    let slow = || (0..4).map(|_| Step::Slow(1000, "x"));
    for (tool, paths, most, seconds) in [
        (Scripted::reading(slow()), ["a", "a", "a", "a"], 4, 1),
        (Scripted::writing(slow()), ["a", "a", "a", "a"], 1, 4),
        (Scripted::writing(slow()), ["a", "b", "c", "d"], 4, 1),
        (Scripted::writing(slow()), ["a", "a/b", "c", "c"], 2, 2),
    ] {
        let overlap = Arc::clone(&tool.overlap);
        let (executor, _events) = executor(tool);
        let session = session();
        let started = Instant::now();
        let call = |path: &str| executor.call(request(&session, json!({"path": path})));
        let (a, b, c, d) = tokio::join!(call(paths[0]), call(paths[1]), call(paths[2]), call(paths[3]));
        assert!(a.success && b.success && c.success && d.success);
        assert_eq!((overlap.most(), started.elapsed().as_secs()), (most, seconds), "{paths:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_waiter_does_not_hold_up_those_behind_it() {
    let tool = Scripted::writing([Step::Slow(5000, "x"), Step::Slow(1000, "y")]);
    let (executor, _events) = executor(tool);
    let session = session();
    let cancel = CancellationToken::new();
    let mut second = request(&session, json!({"path": "a"}));
    second.cancel = cancel.clone();
    let started = Instant::now();
    let (first, second, third, ()) = tokio::join!(
        executor.call(request(&session, json!({"path": "a"}))),
        executor.call(second),
        executor.call(request(&session, json!({"path": "a"}))),
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            cancel.cancel();
        }
    );
    assert!(first.success && third.success);
    assert_eq!((code(&second), second.metadata.attempts), (Some(ErrorCode::Cancelled), 0));
    assert_eq!(started.elapsed().as_secs(), 6);
}

struct Kept(std::sync::Mutex<Vec<String>>);

impl SpillStore for Kept {
    fn store(&self, call_id: &str, text: &str) -> Result<String, String> {
        self.0.lock().unwrap().push(text.to_owned());
        Ok(format!("spill://{call_id}"))
    }
}

#[tokio::test(start_paused = true)]
async fn long_output_is_cut_and_kept() {
    let long: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let kept = Arc::new(Kept(std::sync::Mutex::default()));
    let tool = Scripted::reading([Step::Say(long.clone()), Step::Say(long.clone())]);
    let (executor, _events) = executor_with(tool, |builder| builder.spill(Arc::clone(&kept) as _));
    let outcome = executor.call(request(&session(), json!({}))).await;
    assert!(outcome.metadata.truncated && tokens::fits(&outcome.output, 10_000));
    assert_eq!(outcome.metadata.spill, Some(format!("spill://{}", outcome.call_id)));
    assert_eq!(kept.0.lock().unwrap()[0], long);
    assert_eq!(outcome.data["text"], long, "programs get everything");
    let mut small = request(&session(), json!({}));
    small.max_output_tokens = Some(300);
    let outcome = executor.call(small).await;
    assert!(tokens::fits(&outcome.output, 300), "{}", outcome.metadata.tokens);
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_turn_share_its_budget() {
    let long: String = "word ".repeat(5_000);
    let tool = Scripted::reading((0..3).map(|_| Step::Say(long.clone())));
    let (executor, _events) = executor(tool);
    let session = Arc::new(Session::new("s").with_turn_budget(6_000));
    let mut sizes = Vec::new();
    for path in ["a", "b"] {
        sizes.push(executor.call(request(&session, json!({"path": path}))).await.metadata.tokens);
    }
    session.next_turn();
    sizes.push(executor.call(request(&session, json!({"path": "c"}))).await.metadata.tokens);
    assert!(sizes[0] > 4_000 && sizes[1] <= 1_000 && sizes[2] > 4_000, "{sizes:?}");
}

#[tokio::test(start_paused = true)]
async fn the_same_answer_in_one_turn_is_named() {
    let steps = ["a", "a", "b", "b"].map(|text| Step::Say(text.into()));
    let (executor, _events) = executor(Scripted::reading(steps));
    let session = session();
    let call = || executor.call(request(&session, json!({"path": "x"})));
    let first = call().await;
    let second = call().await;
    assert!(second.metadata.deduplicated && second.output.contains(&first.call_id), "{}", second.output);
    assert_eq!(second.data, first.data);
    let changed = call().await;
    assert!(!changed.metadata.deduplicated && changed.output.starts_with('b'));
    session.next_turn();
    assert!(!call().await.metadata.deduplicated, "another turn may have been compacted away");
}

#[tokio::test(start_paused = true)]
async fn loops_are_named_to_the_model() {
    let (executor, _events) = executor(Scripted::writing([]));
    let session = session();
    let mut notes = Vec::new();
    for path in ["a", "a", "a", "b", "c", "b", "c", "d"] {
        let outcome = executor.call(request(&session, json!({"path": path}))).await;
        notes.push(outcome.output.contains("third time") || outcome.output.contains("alternating"));
    }
    assert_eq!(notes, [false, false, true, false, false, false, true, false]);
}

struct Rules;

impl Hook for Rules {
    fn before<'a>(&'a self, call: &'a HookCall) -> BoxFuture<'a, Before> {
        Box::pin(async move {
            match call.arguments["path"].as_str() {
                Some("forbidden") => Before::Deny("not this one".into()),
                Some("old") => Before::Rewrite(json!({"path": "new"})),
                Some("bad") => Before::Rewrite(json!({"path": 5})),
                Some("panic") => panic!("hook"),
                _ => Before::Continue,
            }
        })
    }

    fn after<'a>(&'a self, call: &'a HookCall, outcome: &'a Outcome) -> BoxFuture<'a, After> {
        Box::pin(async move {
            match call.arguments["path"].as_str() {
                Some("new") => After::AddContext(format!("ran {}", call.arguments)),
                Some("replace") => After::ReplaceText(format!("instead of {}", outcome.output)),
                _ => After::Keep,
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_deny_rewrite_and_add() {
    let tool = Scripted::writing([]);
    let overlap = Arc::clone(&tool.overlap);
    let (executor, mut events) = executor_with(tool, |builder| builder.hook(Arc::new(Rules)));
    let session = session();
    let call = |path: &str| executor.call(request(&session, json!({"path": path})));
    let denied = call("forbidden").await;
    assert_eq!(code(&denied), Some(ErrorCode::PermissionDenied));
    assert!(denied.output.contains("not this one"));
    assert_eq!(code(&call("panic").await), Some(ErrorCode::PermissionDenied), "fails closed");
    assert_eq!(code(&call("bad").await), Some(ErrorCode::ValidationError), "validated again");
    assert_eq!(overlap.runs.load(Ordering::SeqCst), 0);
    let rewritten = call("old").await;
    assert!(rewritten.output.ends_with(r#"ran {"path":"new"}"#), "{}", rewritten.output);
    assert_eq!(call("replace").await.output, "instead of done");
    assert_eq!(terminals(&drain(&mut events)), 5);
}

/// Answers by a function of the question.
struct Person<F>(F, AtomicUsize);

impl<F: Fn(&ConfirmRequest) -> Answer + Send + Sync> Approver for Person<F> {
    fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { (self.0)(request) })
    }
}

fn asking(
    answer: impl Fn(&ConfirmRequest) -> Answer + Send + Sync + 'static,
) -> (Executor, Arc<support::Overlap>, Arc<dyn Fn() -> usize>) {
    let tool = Scripted::writing([]);
    let overlap = Arc::clone(&tool.overlap);
    let person = Arc::new(Person(answer, AtomicUsize::new(0)));
    let asked = Arc::clone(&person);
    let (executor, _events) =
        executor_with(tool, |builder| builder.policy_mode(PolicyMode::Ask).approver(person));
    (executor, overlap, Arc::new(move || asked.1.load(Ordering::SeqCst)))
}

fn yes(request: &ConfirmRequest, scope: GrantScope) -> Answer {
    Answer::Approve { input_hash: request.input_hash.clone(), scope }
}

#[tokio::test(start_paused = true)]
async fn an_approval_holds_for_its_exact_input() {
    let first = Arc::new(std::sync::Mutex::new(None::<String>));
    let (executor, overlap, asked) = asking(move |request| {
        let mut first = first.lock().unwrap();
        let hash = first.get_or_insert_with(|| request.input_hash.clone()).clone();
        Answer::Approve { input_hash: hash, scope: GrantScope::Once }
    });
    let session = session();
    assert!(executor.call(request(&session, json!({"path": "a"}))).await.success);
    let other = executor.call(request(&session, json!({"path": "b"}))).await;
    assert_eq!(code(&other), Some(ErrorCode::PermissionDenied), "an approval was used for another input");
    assert_eq!((overlap.runs.load(Ordering::SeqCst), asked()), (1, 2));
    assert!(executor.call(request(&session, json!({"path": "a"}))).await.success);
    assert_eq!(asked(), 3, "once is once");
}

#[tokio::test(start_paused = true)]
async fn a_grant_for_the_session_is_not_asked_again() {
    let (executor, _, asked) = asking(|request| yes(request, GrantScope::Session));
    let session = session();
    for path in ["a", "b", "c"] {
        assert!(executor.call(request(&session, json!({"path": path}))).await.success);
    }
    assert_eq!(asked(), 1);
    executor.call(request(&Arc::new(Session::new("other")), json!({"path": "a"}))).await;
    assert_eq!(asked(), 2, "another session asks for itself");
}

#[tokio::test(start_paused = true)]
async fn no_means_no_and_says_why() {
    let (executor, overlap, _) = asking(|_| Answer::Deny { reason: Some("use b instead".into()) });
    let outcome = executor.call(request(&session(), json!({"path": "a"}))).await;
    assert!(outcome.output.contains("use b instead"), "{}", outcome.output);
    let (panicking, more, _) = asking(|_| panic!("the terminal is gone"));
    let outcome = panicking.call(request(&session(), json!({"path": "a"}))).await;
    assert_eq!(code(&outcome), Some(ErrorCode::PermissionDenied));
    assert_eq!(overlap.runs.load(Ordering::SeqCst) + more.runs.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn with_nobody_to_ask_it_is_denied() {
    let tool = Scripted::writing([]);
    let overlap = Arc::clone(&tool.overlap);
    let (executor, mut events) = executor_with(tool, |builder| builder.policy_mode(PolicyMode::Ask));
    let outcome = executor.call(request(&session(), json!({"path": "a"}))).await;
    assert_eq!(code(&outcome), Some(ErrorCode::PermissionDenied));
    assert!(outcome.output.contains("nobody to ask"));
    assert_eq!(overlap.runs.load(Ordering::SeqCst), 0);
    assert_eq!(terminals(&drain(&mut events)), 1);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_about_a_call_that_is_wrong() {
    let (executor, _, asked) = asking(|request| yes(request, GrantScope::Once));
    executor.call(request(&session(), json!({"path": 5, "count": "x"}))).await;
    assert_eq!(asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_is_not_timed() {
    struct Slow;
    impl Approver for Slow {
        fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer> {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                yes(request, GrantScope::Once)
            })
        }
    }
    let (executor, _events) = executor_with(Scripted::writing([Step::Slow(9_000, "x")]), |builder| {
        builder.policy_mode(PolicyMode::Ask).approver(Arc::new(Slow))
    });
    assert!(executor.call(request(&session(), json!({"path": "a"}))).await.success);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_changes_nothing_and_asks_nobody() {
    let (executor, overlap, asked) = asking(|request| yes(request, GrantScope::Once));
    let mut call = request(&session(), json!({"path": "a"}));
    call.dry_run = true;
    let outcome = executor.call(call).await;
    assert!(outcome.success && outcome.output.contains("would write a"), "{}", outcome.output);
    assert_eq!((overlap.runs.load(Ordering::SeqCst), asked()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn effects_beyond_the_capabilities_fail() {
    let mut tool = Scripted::writing([]);
    tool.capabilities = Capabilities { writes_files: true, ..Capabilities::default() };
    let (executor, _events) = executor(tool);
    assert!(executor.call(request(&session(), json!({"path": "a"}))).await.success);
    // The same effects, declared by a tool that says it only reads.
    struct Liar(Scripted);
    impl toolcrib_core::Tool for Liar {
        type Input = support::Input;
        type Output = support::Said;
        fn spec(&self) -> toolcrib_core::ToolSpec {
            self.0.spec().capabilities(Capabilities::read_only())
        }
        fn effects(&self, input: &support::Input) -> toolcrib_core::Effects {
            toolcrib_core::Effects::writes(input.path.clone())
        }
        async fn run(
            &self,
            cx: &toolcrib_core::CallContext,
            input: support::Input,
        ) -> Result<support::Said, ToolError> {
            self.0.run(cx, input).await
        }
    }
    let registry = Arc::new(Registry::new());
    registry.register(Liar(Scripted::reading([]))).unwrap();
    let liar = Executor::builder(registry).policy_mode(PolicyMode::Full).build().ok().unwrap();
    let outcome = liar.call(request(&session(), json!({"path": "a"}))).await;
    assert_eq!(code(&outcome), Some(ErrorCode::Internal));
}

#[tokio::test(start_paused = true)]
async fn a_profile_speaks_its_own_names() {
    let text = r#"
        name = "dialect"
        description = "For the test."
        [[tools]]
        name = "Touch"
        tool = "scripted"
        required = ["file_path"]
        [tools.params]
        file_path = "path"
        n = { to = "count", add = 1 }
        "-v" = { ignore = "boolean", description = "Ignored." }
    "#;
    let profile = Profile::parse(text).unwrap();
    let (executor, _events) = executor_with(Scripted::reading([]), |builder| builder.profile(profile));
    let mut call = request(&session(), json!({"file_path": "a", "n": 1, "-v": true}));
    call.tool = "Touch".into();
    let outcome = executor.call(call).await;
    assert_eq!((outcome.success, outcome.tool.as_str()), (true, "scripted"));
    let mut wrong = request(&session(), json!({"path": "a"}));
    wrong.tool = "Touch".into();
    let outcome = executor.call(wrong).await;
    assert!(outcome.output.contains("file_path") && outcome.output.contains("{\"file_path\":\"a.txt\"}"));
    let unknown = executor.call(request(&session(), json!({}))).await;
    assert!(unknown.output.contains("Did you mean Touch?"), "{}", unknown.output);
}

#[test]
fn a_profile_is_checked() {
    let registry = Registry::new();
    registry.register(Scripted::reading([])).unwrap();
    let text = r#"
        name = "p"
        description = "For the test."
        [[tools]]
        name = "A"
        tool = "missing"
        [[tools]]
        name = "B"
        tool = "scripted"
        [tools.params]
        x = "no_such_parameter"
        [[tools]]
        name = "C"
        tool = "scripted"
        required = ["nothing"]
    "#;
    let wrong = Profile::parse(text).unwrap().bind(&registry).err().unwrap();
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert!(Profile::parse("name = 1").is_err());
}

#[tokio::test]
async fn the_registry_is_ordered_and_refuses_duplicates() {
    let registry = Arc::new(Registry::new());
    for name in ["zebra", "apple", "mango"] {
        registry.register(Scripted::new(name, Capabilities::read_only(), [])).unwrap();
    }
    assert_eq!(registry.names(), ["zebra", "apple", "mango"]);
    for name in ["apple", "APPLE", "has space", ""] {
        assert!(registry.register(Scripted::new(name, Capabilities::read_only(), [])).is_err(), "{name}");
    }
    let executor = Executor::builder(Arc::clone(&registry)).build().ok().unwrap();
    let mut events = executor.activity().subscribe_all();
    assert!(registry.unregister("apple") && !registry.unregister("apple"));
    registry.register(Scripted::new("writer", Capabilities::writes(), [])).unwrap();
    assert_eq!(drain(&mut events), ["registry_changed", "registry_changed"]);
    assert_eq!(registry.names(), ["zebra", "mango", "writer"]);
    assert!(executor.profile().get("writer").is_some(), "a new tool can be called at once");
    let read = toolcrib_core::PermissionSet::of(&[toolcrib_core::Permission::Read]);
    let allowed: Vec<_> = registry.by_permissions(read).iter().map(|tool| tool.spec().name.clone()).collect();
    assert_eq!(allowed, ["zebra", "mango"]);
    assert_eq!(registry.by_mode(toolcrib_core::Mode::Mcp).len(), 3);
}

#[tokio::test]
async fn tools_are_exchanged_in_their_places_with_one_event() {
    let tool = |name: &'static str| -> Arc<dyn toolcrib_core::DynTool> {
        toolcrib_core::tool::erase(Scripted::new(name, Capabilities::read_only(), []))
    };
    let registry = Arc::new(Registry::new());
    let (a, b, c) = (tool("a"), tool("b"), tool("c"));
    assert!(registry.swap(&[], vec![a.clone(), b.clone(), c.clone()]).is_empty());
    let executor = Executor::builder(Arc::clone(&registry)).build().ok().unwrap();
    let mut events = executor.activity().subscribe_all();
    let new_b = tool("b");
    let refused = registry.swap(&[b.clone(), c.clone()], vec![tool("d"), new_b.clone(), tool("A")]);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(registry.names(), ["a", "b", "d"]);
    assert!(Arc::ptr_eq(&registry.get("b").unwrap(), &new_b));
    assert_eq!(drain(&mut events), ["registry_changed"]);
    // Only the very tool goes, not another one of its name.
    assert!(registry.swap(&[b], Vec::new()).is_empty());
    assert_eq!(registry.names(), ["a", "b", "d"]);
    assert!(drain(&mut events).is_empty(), "nothing changed");
    assert!(executor.profile().get("d").is_some() && executor.profile().get("c").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_view_that_panics_is_an_error_too() {
    struct Painter;
    #[derive(serde::Serialize)]
    struct Picture;
    impl toolcrib_core::Render for Picture {
        fn title(&self) -> String {
            "A picture".into()
        }
        fn text(&self, _cx: &mut toolcrib_core::RenderContext<'_>) -> String {
            panic!("no paint")
        }
    }
    impl toolcrib_core::Tool for Painter {
        type Input = support::Input;
        type Output = Picture;
        fn spec(&self) -> toolcrib_core::ToolSpec {
            toolcrib_core::ToolSpec::new("scripted", "Painter", "Paints.")
        }
        fn effects(&self, _input: &support::Input) -> toolcrib_core::Effects {
            toolcrib_core::Effects::none()
        }
        async fn run(
            &self,
            _cx: &toolcrib_core::CallContext,
            _input: support::Input,
        ) -> Result<Picture, ToolError> {
            Ok(Picture)
        }
    }
    let registry = Arc::new(Registry::new());
    registry.register(Painter).unwrap();
    let executor = Executor::builder(registry).build().ok().unwrap();
    let mut events = executor.activity().subscribe_all();
    let outcome = executor.call(request(&session(), json!({}))).await;
    assert_eq!(code(&outcome), Some(ErrorCode::Internal));
    assert_eq!(drain(&mut events), ["tool_call_start", "error"]);
}
