//! Permissions as a call meets them: explained, denied, asked, granted and kept.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use support::{Said, drain, session};
use toolcrib_core::activity::Subscription;
use toolcrib_core::executor::ExecutorBuilder;
use toolcrib_core::permission::{
    Answer, Approver, BoxFuture, ConfirmRequest, Contained, Decision, Grant, GrantScope, GrantStore,
    RuleBook, RuleFile, RulePolicy, Scope,
};
use toolcrib_core::{
    CallContext, CallRequest, Capabilities, CommandEffect, Effects, ErrorCode, Executor, Judgement, Outcome,
    PolicyMode, Preview, Registry, Session, Tool, ToolError, ToolSpec,
};

/// Declares the commands that it is told to, and runs none.
struct Runs(Arc<AtomicUsize>);

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Commands joined by ` && `; `?` before a risky one, `!` before a forbidden one, `~` before an unknown one.
    command: String,
    /// Whether it reaches the network.
    network: Option<bool>,
}

impl Tool for Runs {
    type Input = Input;
    type Output = Said;

    fn spec(&self) -> ToolSpec {
        let capabilities =
            Capabilities { executes_commands: true, accesses_network: true, ..Capabilities::default() };
        ToolSpec::new("run_command", "Run", "Runs a command.")
            .capabilities(capabilities)
            .example("list", json!({"command": "ls"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        let command = |text: &str| {
            let judgement = match text.chars().next() {
                Some('?') => Judgement::Risky("it deletes".into()),
                Some('!') => Judgement::Forbidden("it ends the machine".into()),
                Some('~') => Judgement::Risky("only running it would tell".into()),
                _ => Judgement::Plain,
            };
            let unknown = text.starts_with('~');
            let text = text.trim_start_matches(['?', '!', '~']);
            let words = if unknown { Vec::new() } else { text.split(' ').map(str::to_owned).collect() };
            CommandEffect { text: text.into(), words, prefix: 2, bare: !text.contains(['<', '>']), judgement }
        };
        let hosts = if input.network == Some(true) { vec!["*".into()] } else { Vec::new() };
        Effects {
            commands: input.command.split(" && ").map(command).collect(),
            hosts,
            writes_anything: true,
            ..Effects::none()
        }
    }

    async fn preview(&self, _cx: &CallContext, input: &Input) -> Result<Preview, ToolError> {
        if input.command == "cannot start" {
            return Err(ToolError::new(ErrorCode::CommandFailed, "it cannot start"));
        }
        Ok(Preview { title: "would run".into(), text: input.command.clone() })
    }

    async fn run(&self, _cx: &CallContext, _input: Input) -> Result<Said, ToolError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Said::new("ran"))
    }
}

#[derive(Default)]
struct Person {
    answers: Mutex<Vec<Option<GrantScope>>>,
    asked: Mutex<Vec<ConfirmRequest>>,
}

impl Person {
    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Approver for Person {
    fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer> {
        self.asked.lock().unwrap().push(request.clone());
        let answer = match self.answers.lock().unwrap().pop().flatten() {
            Some(scope) => Answer::Approve { input_hash: request.input_hash.clone(), scope },
            None => Answer::Deny { reason: Some("not today".into()) },
        };
        Box::pin(async move { answer })
    }
}

/// Keeps grants by putting them in force, or fails.
struct Store(Arc<RulePolicy>, bool);

impl GrantStore for Store {
    fn keep(&self, grant: &Grant) -> Result<(), String> {
        if !self.1 {
            return Err("the disk is full".into());
        }
        let rules = grant.to_rules();
        let text: String = rules
            .iter()
            .map(|rule| format!("[[permissions.rules]]\n{}", toml::to_string(rule).unwrap()))
            .collect();
        self.0.set_rules(RuleBook::new(vec![RuleFile::parse(Scope::Granted, "grants", &text)?]));
        Ok(())
    }
}

struct World {
    executor: Executor,
    events: Subscription,
    runs: Arc<AtomicUsize>,
}

impl World {
    fn new(policy: Arc<RulePolicy>, more: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> Self {
        let registry = Arc::new(Registry::new());
        let runs = Arc::new(AtomicUsize::new(0));
        registry.register(Runs(Arc::clone(&runs))).unwrap();
        let executor = more(Executor::builder(registry).policy(policy)).build().unwrap();
        let events = executor.activity().subscribe_all();
        Self { executor, events, runs }
    }

    async fn call(&self, session: &Arc<Session>, command: &str) -> Outcome {
        self.executor.call(CallRequest::new(session, "run_command", json!({"command": command}))).await
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

fn policy(mode: PolicyMode, rules: &str) -> Arc<RulePolicy> {
    let book = RuleBook::new(vec![RuleFile::parse(Scope::User, "rules", rules).unwrap()]);
    Arc::new(RulePolicy::new(mode).rules(book).containment(Arc::new(Contained::Yes)))
}

fn code(outcome: &Outcome) -> &'static str {
    outcome.error.as_ref().map_or("ok", |error| error.code.as_str())
}

const DENY_PUSH: &str =
    "[[permissions.rules]]\ndecision = \"deny\"\ncommand = \"git push\"\nreason = \"CI releases.\"\n";

#[tokio::test]
async fn denied_commands_have_a_code_of_their_own() {
    let world = World::new(policy(PolicyMode::Full, DENY_PUSH), |builder| builder);
    let session = session();
    for (command, expected) in
        [("git pull", "ok"), ("git push", "COMMAND_DENIED"), ("!rm -rf /", "COMMAND_DENIED")]
    {
        assert_eq!(code(&world.call(&session, command).await), expected, "{command}");
    }
    let said = world.call(&session, "git push").await;
    assert!(
        said.output.contains("CI releases.") && said.output.contains("(command \"git push\")"),
        "{}",
        said.output
    );
    assert_eq!(world.runs(), 1);
}

#[tokio::test]
async fn explaining_runs_asks_and_records_nothing() {
    let person = Arc::new(Person::default());
    let approver = Arc::clone(&person);
    let mut world = World::new(policy(PolicyMode::Ask, DENY_PUSH), |builder| builder.approver(approver));
    let session = session();
    let explain = |world: &World, arguments| {
        world.executor.explain(CallRequest::new(&session, "run_command", arguments))
    };
    let deny_push = RuleFile::parse(Scope::User, "rules", DENY_PUSH).unwrap().id(0);
    for (command, decision, rule) in [
        ("cargo test", Decision::Ask, "mode ask"),
        ("git push", Decision::Deny, &deny_push),
        ("!rm -rf /", Decision::Deny, "floor"),
        ("cannot start", Decision::Ask, "mode ask"),
    ] {
        let verdict = explain(&world, json!({"command": command})).unwrap();
        assert_eq!((verdict.decision, verdict.rule.as_deref()), (decision, Some(rule)), "{command}");
    }
    assert_eq!(explain(&world, json!({"command": 5, "x": 1})).unwrap_err().code, ErrorCode::ValidationError);
    let unknown = world.executor.explain(CallRequest::new(&session, "nothing", json!({})));
    assert_eq!(unknown.unwrap_err().code, ErrorCode::ToolNotFound);
    assert_eq!((world.runs(), person.asked(), drain(&mut world.events).len()), (0, 0, 0));
    let granted = Grant::default();
    let granted = Grant { tool: "run_command".into(), ..granted };
    let command = toolcrib_core::permission::GrantedCommand {
        words: vec!["cargo".into(), "test".into()],
        whole: false,
    };
    let with = Arc::new(Session::new("g").with_grants(vec![Grant { commands: vec![command], ..granted }]));
    let request = CallRequest::new(&with, "run_command", json!({"command": "cargo test -p x"}));
    let verdict = world.executor.explain(request).unwrap();
    assert_eq!((verdict.decision, verdict.rule.as_deref()), (Decision::Allow, Some("session")));
    let json = serde_json::to_string(&verdict).unwrap();
    assert_eq!(json, r#"{"decision":"allow","reason":"granted for this session","rule":"session"}"#);
}

#[tokio::test]
async fn a_yes_reaches_as_far_as_it_was_given() {
    // The answer to the first call, what is called next, in this session or another, and how often people were asked.
    for (scope, next, same_session, asked) in [
        (GrantScope::Once, "cargo test", true, 2),
        (GrantScope::Session, "cargo test -p b", true, 1),
        (GrantScope::Session, "cargo run", true, 2),
        (GrantScope::Session, "cargo test", false, 2),
        (GrantScope::Project, "cargo test -p b", true, 1),
        (GrantScope::Project, "cargo test -p b", false, 1),
        (GrantScope::Project, "cargo run", false, 2),
    ] {
        let person = Arc::new(Person { answers: Mutex::new(vec![None, Some(scope)]), ..Person::default() });
        let (approver, policy) = (Arc::clone(&person), policy(PolicyMode::Ask, ""));
        let store = Arc::new(Store(Arc::clone(&policy), true));
        let world = World::new(policy, |builder| builder.approver(approver).grants(store));
        let first = session();
        assert_eq!(code(&world.call(&first, "cargo test -p a").await), "ok");
        let second = if same_session { first } else { Arc::new(Session::new("other")) };
        let outcome = world.call(&second, next).await;
        assert_eq!(person.asked(), asked, "{scope:?} {next}");
        assert_eq!(code(&outcome), if asked == 1 { "ok" } else { "COMMAND_DENIED" }, "{scope:?} {next}");
    }
}

#[tokio::test]
async fn only_what_can_be_granted_is_offered() {
    use GrantScope::{Once, Project, Session};
    let asks = "[[permissions.rules]]\ndecision = \"ask\"\ncommand = \"git push\"\n";
    for (command, stored, expected) in [
        ("cargo test", true, vec![Once, Session, Project]),
        ("cargo test", false, vec![Once, Session]),
        ("~eval x", true, vec![Once]),
        ("cargo test && ~eval x", true, vec![Once]),
        ("git push", true, vec![Once]),
        ("cargo test > x", true, vec![Once]),
        ("cargo test && make < x", true, vec![Once]),
    ] {
        // The answer reaches further than what was offered.
        let person = Arc::new(Person { answers: Mutex::new(vec![Some(Project)]), ..Person::default() });
        let (approver, policy) = (Arc::clone(&person), policy(PolicyMode::Ask, asks));
        let store = Arc::new(Store(Arc::clone(&policy), true));
        let world = World::new(policy, |builder| {
            let builder = builder.approver(approver);
            if stored { builder.grants(store) } else { builder }
        });
        let session = session();
        assert_eq!(code(&world.call(&session, command).await), "ok");
        assert_eq!(person.asked.lock().unwrap()[0].scopes, expected, "{command}");
        assert!(session.grants().is_empty(), "{command}: what was not offered was kept");
    }
}

#[tokio::test]
async fn a_grant_that_cannot_be_kept_holds_for_the_session() {
    let person =
        Arc::new(Person { answers: Mutex::new(vec![Some(GrantScope::Project)]), ..Person::default() });
    let (approver, policy) = (Arc::clone(&person), policy(PolicyMode::Ask, ""));
    let store = Arc::new(Store(Arc::clone(&policy), false));
    let world = World::new(policy, |builder| builder.approver(approver).grants(store));
    let session = session();
    let first = world.call(&session, "cargo test").await;
    assert!(first.metadata.warnings.iter().any(|warning| warning.contains("the disk is full")), "{first:?}");
    assert_eq!(code(&world.call(&session, "cargo test x").await), "ok");
    assert_eq!(person.asked(), 1);
}

#[tokio::test]
async fn with_nobody_to_ask_the_model_learns_what_a_person_could_do() {
    let world = World::new(policy(PolicyMode::Ask, ""), |builder| builder);
    let said = world.call(&session(), "cargo test -p x").await;
    assert_eq!(code(&said), "COMMAND_DENIED");
    assert!(
        said.output.contains("toolcrib permissions add --allow --command 'cargo test'"),
        "{}",
        said.output
    );
    for command in ["~eval x", "make > x", "cargo test && make < x"] {
        let said = world.call(&session(), command).await;
        assert!(!said.output.contains("toolcrib permissions add"), "{}", said.output);
    }
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_must_fail() {
    let person = Arc::new(Person::default());
    let approver = Arc::clone(&person);
    let world = World::new(policy(PolicyMode::Ask, DENY_PUSH), |builder| builder.approver(approver));
    for command in ["cannot start", "git push", "!rm"] {
        assert_ne!(code(&world.call(&session(), command).await), "ok");
    }
    let wrong = CallRequest::new(&session(), "run_command", json!({"command": ["x"], "what": 1}));
    assert_eq!(code(&world.executor.call(wrong).await), "VALIDATION_ERROR");
    assert_eq!(person.asked(), 0);
    let said = world.call(&session(), "cargo test").await;
    assert!(said.output.contains("the person said no: not today"), "{}", said.output);
    assert_eq!((code(&said), person.asked()), ("COMMAND_DENIED", 1));
}
