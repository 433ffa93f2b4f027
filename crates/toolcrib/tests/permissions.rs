//! Rules, trust and grants: from files, through the command and through the library.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use support::{Bench, Done};
use toolcrib::core::permission::{
    Answer, Approver, BoxFuture, ConfirmRequest, Decision, GrantScope, RuleBook, RuleText, Scope, WordsText,
};
use toolcrib::core::{CommandEffect, Judgement};
use toolcrib::{
    CallContext, Capabilities, Effects, PolicyMode, Render, RenderContext, StateDir, Tool, ToolError,
    ToolSpec, Toolcrib,
};

fn user_file(bench: &Bench) -> PathBuf {
    bench.state.path().join("config/toolcrib/toolcrib.toml")
}

fn write_user(bench: &Bench, text: &str) {
    std::fs::create_dir_all(user_file(bench).parent().unwrap()).unwrap();
    std::fs::write(user_file(bench), text).unwrap();
}

fn permissions(bench: &Bench, arguments: &[&str]) -> Done {
    let mut all = vec!["permissions"];
    all.extend(arguments);
    all.push("--json");
    bench.run(&all)
}

/// `DECISION RULE`, as the check says.
fn check(bench: &Bench, arguments: &[&str]) -> String {
    let mut all = vec!["check"];
    all.extend(arguments);
    let done = permissions(bench, &all);
    assert_eq!(done.code, 0, "{arguments:?}: {}{}", done.stdout, done.stderr);
    let keys: Vec<&String> = done.json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["decision", "reason", "rule"], "{}", done.stdout);
    assert!(!done.json["reason"].as_str().unwrap().is_empty());
    let rule = done.json["rule"].as_str().unwrap_or("-");
    format!("{} {}", done.json["decision"].as_str().unwrap(), without_key(rule))
}

/// `user:3f9a (…)` as `user (…)`.
fn without_key(id: &str) -> String {
    let Some((scope, rest)) = id.split_once(':') else { return id.to_owned() };
    let what = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    assert!(rest.len() >= what.len() + 4, "{id}");
    format!("{scope}{what}")
}

/// The ids of the rules that are listed.
fn ids(bench: &Bench) -> Vec<String> {
    let listed = permissions(bench, &["list"]).json;
    let rules = listed["files"].as_array().unwrap().iter().flat_map(|file| file["rules"].as_array().unwrap());
    rules.map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

fn write(bench: &Bench, path: &str) -> Value {
    let arguments = json!({"path": path, "content": "x\n"}).to_string();
    bench.run(&["call", "write_file", &arguments, "--json"]).json["error"]["code"].clone()
}

const DENY_SECRET: &str = "[[permissions.rules]]\ndecision = \"deny\"\npath = \"src/secret/**\"\n";

#[test]
fn checks_by_mode_path_and_host() {
    let bench = Bench::new();
    bench.write("a.txt", "x\n");
    write_user(
        &bench,
        "[[permissions.rules]]\ndecision = \"allow\"\nhost = \"*.docs.rs\"\n\
         [[permissions.rules]]\ndecision = \"deny\"\npath = \"*.pem\"\naccess = \"read\"\n",
    );
    for (arguments, expected) in [
        (vec!["--path", "a.txt"], "ask mode ask"),
        (vec!["--path", "a.txt", "--policy", "auto"], "allow mode auto"),
        (vec!["--path", "a.txt", "--policy", "plan"], "deny mode plan"),
        (vec!["--path", "new/b.txt", "--tool", "edit_file", "--policy", "full"], "allow mode full"),
        (vec!["--path", "a.txt", "--tool", "read_file"], "allow -"),
        (vec!["--path", "k.pem", "--tool", "read_file"], "deny user (reading \"*.pem\")"),
        (vec!["--path", ".envrc", "--policy", "auto"], "ask mode auto"),
        (vec!["--path", "../x", "--policy", "full"], "deny -"),
        (vec!["--path", "../x", "--tool", "read_file"], "deny -"),
        (vec!["--path", ".git/config", "--policy", "full"], "deny -"),
        (vec!["--path", ".toolcrib/toolcrib.toml", "--policy", "full"], "deny -"),
        (vec!["--host", "docs.rs"], "ask mode ask"),
        (vec!["--host", "a.docs.rs"], "allow user (host \"*.docs.rs\")"),
        (vec!["--host", "evil-docs.rs", "--tool", "grep"], "ask mode ask"),
        (vec!["--host", "docs.rs", "--policy", "full"], "allow mode full"),
    ] {
        assert_eq!(check(&bench, &arguments), expected, "{arguments:?}");
    }
    for arguments in [
        vec!["check"],
        vec!["check", "--path", "a", "--host", "b"],
        vec!["check", "ls", "--tool", "no_such_tool"],
        vec!["check", "ls", "--tool", "read_file"],
        vec!["check", "--path", "a", "--tool", "no_such_tool"],
    ] {
        assert_eq!(permissions(&bench, &arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn rules_hold_for_calls() {
    let bench = Bench::new();
    bench.write("src/secret/key.txt", "x\n");
    bench.write("src/a.txt", "x\n");
    bench.write("other/deep/k.pem", "x\n");
    write_user(
        &bench,
        &format!("{DENY_SECRET}[[permissions.rules]]\ndecision = \"deny\"\npath = \"**/*.pem\"\n"),
    );
    for (path, expected) in [
        ("src/secret/key.txt", json!("PERMISSION_DENIED")),
        ("src/new.txt", Value::Null),
        ("src/x.PEM", json!("PERMISSION_DENIED")),
    ] {
        assert_eq!(write(&bench, path), expected, "{path}");
    }
    for folder in ["src", "other"] {
        let done = bench.call("delete_file", json!({"path": folder, "recursive": true}));
        assert_eq!(done.json["error"]["code"], "PERMISSION_DENIED", "{folder}: {}", done.stdout);
    }
    assert!(bench.path("src/secret/key.txt").exists() && bench.path("other/deep/k.pem").exists());
    assert_eq!(bench.call("read_file", json!({"path": "src/secret/key.txt"})).code, 0);
}

#[test]
fn rules_are_added_and_removed_where_they_belong() {
    let bench = Bench::new();
    write_user(&bench, "# mine\n[web]\nx = 1 # kept\n");
    let add = |arguments: &[&str]| {
        let mut all = vec!["add"];
        all.extend(arguments);
        permissions(&bench, &all)
    };
    let user = add(&["--deny", "--path", "secret/**", "--reason", "Not yours.", "--user"]);
    let added = |done: &Done| without_key(done.json["added"].as_str().unwrap());
    assert_eq!(added(&user), "user (path \"secret/**\")", "{}", user.stdout);
    let text = std::fs::read_to_string(user_file(&bench)).unwrap();
    assert!(text.starts_with("# mine\n[web]\nx = 1 # kept\n") && text.contains("Not yours."), "{text}");
    let granted = add(&["--allow", "--path", "src/**"]);
    assert_eq!(added(&granted), "granted (path \"src/**\")", "{}", granted.stdout);
    assert_eq!(add(&["--allow", "--command", "cargo test", "--network", "--project"]).code, 0);
    assert_eq!(bench.names(), Vec::<String>::new(), "nothing is written into the workspace");
    assert_eq!(check(&bench, &["--path", "src/a"]), "allow granted (path \"src/**\")");
    assert_eq!(check(&bench, &["--path", "secret/a", "--policy", "full"]), "deny user (path \"secret/**\")");
    assert_eq!(write(&bench, "secret/a"), "PERMISSION_DENIED");
    let listed = permissions(&bench, &[]).json;
    assert_eq!(listed["mode"], "ask");
    let all = ids(&bench);
    assert_eq!(all.iter().map(|id| without_key(id)).collect::<Vec<_>>(), ["user", "granted", "granted"]);
    let text = bench.run(&["permissions"]).stdout;
    assert!(
        text.contains(&format!("   2  {}  allow  command \"cargo test\", with network", all[2])),
        "{text}"
    );
    for wrong in [
        vec!["add", "--allow"],
        vec!["add", "--allow", "--glob", "*"],
        vec!["add", "--allow", "--command", ""],
        vec!["add", "--allow", "--deny", "--command", "x"],
        vec!["add", "--command", "x"],
        vec!["add", "--allow", "--command", "x", "--path", "y"],
        vec!["add", "--allow", "--path", "x", "--network"],
        vec!["add", "--allow", "--command", "a && b"],
        vec!["add", "--allow", "--command", "a $(b)"],
        vec!["add", "--allow", "--host", "https://docs.rs/x"],
        vec!["add", "--allow", "--host", ""],
        vec!["check", "--host", "https://docs.rs/x"],
        vec!["check", "--host", ""],
        vec!["check", "git", "push", "--force"],
        vec!["remove", "user:1"],
        vec!["remove", "user:0"],
        vec!["remove", "user:"],
        vec!["remove", "granted:ffff"],
        vec!["remove", "project:1"],
        vec!["remove", "x"],
        vec!["trust"],
    ] {
        assert_eq!(permissions(&bench, &wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(permissions(&bench, &["remove", &all[1], "--dry-run"]).code, 0);
    assert_eq!(permissions(&bench, &["remove", "granted:ffff", "--dry-run"]).code, 2);
    let removed = permissions(&bench, &["remove", &all[1]]).json["removed"].clone();
    assert_eq!(removed, format!("{} (path \"src/**\")", all[1]));
    assert_eq!(permissions(&bench, &["remove", &all[1]]).code, 2, "an id is never another rule's");
    assert_eq!(ids(&bench), [&*all[0], &*all[2]]);
    let repeated = add(&["--allow", "--command", "cargo  test", "--network"]);
    assert_eq!(repeated.json["added"], format!("{} (command \"cargo test\")", all[2]));
    assert_eq!(ids(&bench).len(), 2, "what is there is not repeated");
    assert_eq!(check(&bench, &["--path", "src/a"]), "ask mode ask");
    assert_eq!(permissions(&bench, &["remove", &all[0]]).code, 0);
    assert_eq!(std::fs::read_to_string(user_file(&bench)).unwrap(), "# mine\n[web]\nx = 1 # kept\n");
}

#[test]
fn several_words_are_one_command() {
    let bench = Bench::new();
    write_user(&bench, "[[permissions.rules]]\ndecision = \"deny\"\ncommand = \"git push\"\n");
    let denied = "deny user (command \"git push\")";
    for words in [
        vec!["git push --force"],
        vec!["git", "push", "origin"],
        vec!["--policy", "full", "--", "git", "push", "--force"],
    ] {
        let mut all = words.clone();
        // What follows `--` belongs to the command.
        let json = all.iter().position(|word| *word == "--").unwrap_or(all.len());
        all.insert(json, "--json");
        let mut line = vec!["permissions", "check"];
        line.extend(&all);
        let done = bench.run(&line);
        let said = without_key(done.json["rule"].as_str().unwrap_or("-"));
        assert_eq!(format!("{} {said}", done.json["decision"].as_str().unwrap()), denied, "{words:?}");
    }
    assert_eq!(check(&bench, &["echo", "git push; ls"]), "allow -", "a word stays a word");
    let unquoted = bench.run(&["permissions", "check", "git", "push", "--force"]);
    assert!(unquoted.stderr.contains("Quote the command"), "{}", unquoted.stderr);
    assert_eq!(bench.run(&["permissions", "list"]).stdout, bench.run(&["permissions"]).stdout);
}

#[test]
fn settings_that_do_not_load_deny_commands_and_say_why() {
    let bench = Bench::new();
    bench.write("a.txt", "x\n");
    for (settings, why, writes) in [
        ("[sandbox]\nlevle = \"full\"\n", "levle", Value::Null),
        ("[sandbox]\nlevel = \"fulll\"\n", "line 2", Value::Null),
        ("[commands]\nset = 3\n", "line 2", Value::Null),
        ("[sandbx]\nrequire = true\n", "is `[sandbox]` meant?", json!("PERMISSION_DENIED")),
        ("[command]\n", "is `[commands]` meant?", json!("PERMISSION_DENIED")),
    ] {
        write_user(&bench, settings);
        for (command, policy) in [("touch x", "ask"), ("touch x", "full"), ("touch x", "auto")] {
            let done = permissions(&bench, &["check", command, "--policy", policy]);
            assert_eq!(done.json["decision"], "deny", "{settings}: {}", done.stdout);
            let reason = done.json["reason"].as_str().unwrap();
            assert!(reason.contains(why) && !reason.contains("no sandbox"), "{settings}: {reason}");
        }
        assert_eq!(write(&bench, "a.txt"), writes, "{settings}");
        let ran = bench.call("run_command", json!({"command": "touch x"}));
        assert_eq!(ran.json["error"]["code"], "COMMAND_DENIED", "{settings}: {}", ran.stdout);
    }
    write_user(&bench, "[web]\n[mcpServers.x]\n[models]\n[sandbox]\nlevel = \"policy\"\n");
    assert_eq!(check(&bench, &["touch x", "--policy", "full"]), "allow mode full");
}

#[test]
fn a_project_tightens_and_allows_only_when_trusted() {
    let bench = Bench::new();
    let rules = format!("{DENY_SECRET}[[permissions.rules]]\ndecision = \"allow\"\npath = \"docs/**\"\n");
    bench.write(".toolcrib/toolcrib.toml", &rules);
    assert_eq!(
        check(&bench, &["--path", "src/secret/a", "--policy", "full"]),
        "deny project (path \"src/secret/**\")"
    );
    assert_eq!(check(&bench, &["--path", "docs/a"]), "ask mode ask", "an untrusted file allows nothing");
    let file = permissions(&bench, &[]).json["files"][0].clone();
    assert_eq!((&file["trusted"], &file["rules"][1]["ignored"]), (&json!(false), &json!(true)));
    assert_eq!(permissions(&bench, &["trust"]).json["trusted"], true);
    assert_eq!(check(&bench, &["--path", "docs/a"]), "allow project (path \"docs/**\")");
    bench.write(".toolcrib/toolcrib.toml", format!("{rules}# changed\n"));
    assert_eq!(check(&bench, &["--path", "docs/a"]), "ask mode ask", "a changed file is another file");
    bench.write(".toolcrib/toolcrib.toml", &rules);
    assert_eq!(check(&bench, &["--path", "docs/a"]), "allow project (path \"docs/**\")");
    assert_eq!(permissions(&bench, &["trust", "--remove"]).code, 0);
    assert_eq!(check(&bench, &["--path", "docs/a"]), "ask mode ask");
    std::fs::remove_file(bench.path(".toolcrib/toolcrib.toml")).unwrap();
    assert_eq!(
        permissions(&bench, &["trust", "--remove"]).code,
        0,
        "also when there is nothing left to trust"
    );
}

#[test]
fn what_does_not_load_denies_all_but_reading() {
    let bench = Bench::new();
    bench.write("a.txt", "x\n");
    let denied = |what: &str| {
        assert_eq!(write(&bench, "a.txt"), "PERMISSION_DENIED", "{what}");
        let read = bench.call("read_file", json!({"path": "a.txt"}));
        assert_eq!(read.code, 0, "{what}: {}", read.stdout);
        let said = permissions(&bench, &["check", "--path", "a.txt", "--policy", "full"]);
        let reason = said.json["reason"].as_str().unwrap().to_owned();
        assert!(
            reason.contains("do not load") && !reason.contains(bench.state.path().to_str().unwrap()),
            "{reason}"
        );
        assert!(bench.run(&["permissions"]).stdout.contains("does not load"), "{what}");
        reason
    };
    for (text, why) in [
        ("[[permissions.rules]]\ndecision = \"allow\"\n", "rule 1: it needs one of"),
        ("[broken\n", "line 1"),
        ("[[permissions.rules]]\ndecision = \"deny\"\ncommand = \"a\"\nmatch = [\"b\"]\n", "own example"),
    ] {
        write_user(&bench, text);
        let said = denied(text);
        assert!(said.contains("the user's toolcrib.toml") && said.contains(why), "{said}");
        let add = permissions(&bench, &["add", "--allow", "--path", "x", "--user"]);
        assert_eq!(add.code, 2, "what does not load is not edited");
        assert_eq!(std::fs::read_to_string(user_file(&bench)).unwrap(), text);
    }
    std::fs::write(user_file(&bench), b"\xff\xfe").unwrap();
    denied("not UTF-8");
    std::fs::write(user_file(&bench), "#".repeat((1 << 20) + 1)).unwrap();
    denied("too large");
    std::fs::remove_file(user_file(&bench)).unwrap();
    std::fs::create_dir(user_file(&bench)).unwrap();
    denied("a folder");
    std::fs::remove_dir(user_file(&bench)).unwrap();
    assert_eq!(write(&bench, "a.txt"), Value::Null);
    bench.write(".toolcrib/toolcrib.toml", "permissions = 3\n");
    denied("the project's");
    let doctor = bench.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.stdout.contains(".toolcrib/toolcrib.toml"), "{}", doctor.stdout);
    std::fs::remove_file(bench.path(".toolcrib/toolcrib.toml")).unwrap();
    assert_eq!(permissions(&bench, &["add", "--allow", "--path", "x"]).code, 0);
    std::fs::write(bench.find_state("grants.toml"), "[[permissions.rules]]\n").unwrap();
    denied("the grants");
}

#[cfg(unix)]
#[test]
fn a_project_file_behind_a_link_denies() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    let outside = bench.state.path().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("toolcrib.toml"), "").unwrap();
    bench.write("inside/toolcrib.toml", "");
    let cases: [(&str, &dyn Fn()); 4] = [
        ("the folder leads out", &|| symlink(&outside, bench.path(".toolcrib")).unwrap()),
        ("the folder leads elsewhere inside", &|| symlink("inside", bench.path(".toolcrib")).unwrap()),
        ("the file leads out", &|| {
            std::fs::create_dir(bench.path(".toolcrib")).unwrap();
            symlink(outside.join("toolcrib.toml"), bench.path(".toolcrib/toolcrib.toml")).unwrap();
        }),
        ("the file leads nowhere", &|| {
            std::fs::create_dir(bench.path(".toolcrib")).unwrap();
            symlink("missing", bench.path(".toolcrib/toolcrib.toml")).unwrap();
        }),
    ];
    for (what, make) in cases {
        make();
        assert_eq!(write(&bench, "a.txt"), "PERMISSION_DENIED", "{what}");
        assert_eq!(permissions(&bench, &["trust"]).code, 2, "{what}");
        let made = bench.path(".toolcrib");
        if made.is_symlink() {
            std::fs::remove_file(made).unwrap()
        } else {
            std::fs::remove_dir_all(made).unwrap()
        }
    }
    assert_eq!(write(&bench, "a.txt"), Value::Null);
}

#[test]
fn no_tool_can_change_what_is_permitted() {
    let bench = Bench::new();
    let home = bench.state.path().to_str().unwrap().to_owned();
    assert_eq!(
        bench.run_plain(&["--root", &home, "permissions", "add", "--deny", "--path", "x"], b"").code,
        0
    );
    let granted = bench.find_state("grants.toml");
    let granted = granted.strip_prefix(bench.state.path()).unwrap().to_str().unwrap().to_owned();
    for path in [
        "config/toolcrib/toolcrib.toml",
        "CONFIG/Toolcrib/toolcrib.toml",
        ".toolcrib/toolcrib.toml",
        &granted,
    ] {
        let arguments = json!({"path": path, "content": ""}).to_string();
        let done = bench.run_plain(&["--root", &home, "call", "write_file", &arguments, "--json"], b"");
        assert_eq!(done.json["error"]["code"], "PROTECTED_PATH", "{path}: {}", done.stdout);
    }
}

/// Declares a command, and runs none.
struct Runs(Arc<AtomicUsize>);

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The command.
    command: String,
}

#[derive(Serialize)]
struct Ran;

impl Render for Ran {
    fn title(&self) -> String {
        "Ran".into()
    }
    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        "ran".into()
    }
}

impl Tool for Runs {
    type Input = Input;
    type Output = Ran;

    fn spec(&self) -> ToolSpec {
        let capabilities = Capabilities { executes_commands: true, ..Capabilities::default() };
        ToolSpec::new("pretend", "Pretend", "Pretends to run.")
            .capabilities(capabilities)
            .example("list", json!({"command": "ls"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        let words = input.command.split(' ').map(str::to_owned).collect();
        let command = CommandEffect {
            text: input.command.clone(),
            words,
            prefix: 2,
            bare: true,
            judgement: Judgement::Plain,
        };
        Effects { commands: vec![command], writes_anything: true, ..Effects::none() }
    }

    async fn run(&self, _cx: &CallContext, _input: Input) -> Result<Ran, ToolError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Ran)
    }
}

struct ForTheProject(AtomicUsize);

impl Approver for ForTheProject {
    fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let input_hash = request.input_hash.clone();
        Box::pin(async move { Answer::Approve { input_hash, scope: GrantScope::Project } })
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_grant_for_the_project_holds_at_once_and_later() {
    let bench = Bench::new();
    let state = || StateDir::at(bench.state.path().join("own")).unwrap();
    let person = Arc::new(ForTheProject(AtomicUsize::new(0)));
    let build = |own_rules: bool| {
        let builder = Toolcrib::builder()
            .root(bench.root.path())
            .state(state())
            .policy(PolicyMode::Ask)
            .approver(person.clone())
            .tool(Runs(Arc::default()));
        if own_rules { builder.rules(RuleBook::default()) } else { builder }.build().unwrap()
    };
    let asked = || person.0.load(Ordering::SeqCst);
    let crib = build(false);
    let call = async |crib: &Toolcrib, session: &str, command: &str| {
        let outcome = crib.call(&crib.session(session), "pretend", json!({"command": command})).await;
        assert!(outcome.success, "{}", outcome.output);
    };
    call(&crib, "a", "cargo test -p x").await;
    call(&crib, "b", "cargo test -p y").await;
    assert_eq!(asked(), 1, "it holds at once, in every session");
    call(&build(false), "c", "cargo test").await;
    assert_eq!(asked(), 1, "and for whoever comes later");
    call(&crib, "b", "cargo run").await;
    assert_eq!(asked(), 2, "for what was shown and no more");
    call(&build(false), "d", "cargo run --release").await;
    assert_eq!(asked(), 2, "the first grant is not lost to the second");
    call(&build(true), "e", "cargo test").await;
    assert_eq!(asked(), 3, "an embedder's own rules are all there is");
    assert_eq!(bench.names(), Vec::<String>::new());
    let kept = std::fs::read_to_string(bench.find_state("grants.toml")).unwrap();
    assert_eq!(kept.matches("[[permissions.rules]]").count(), 2, "{kept}");
    // Two that were asked at the same time, and both said yes.
    let files = crib.rule_files();
    let before = files.load();
    let grant = before.files.iter().find(|file| file.scope == Scope::Granted).unwrap().id(0);
    let rule =
        RuleText { command: Some(WordsText::Line("cargo test".into())), ..RuleText::new(Decision::Allow) };
    assert_eq!(files.add(Scope::Granted, &[rule]).unwrap(), [grant]);
    assert_eq!(std::fs::read_to_string(bench.find_state("grants.toml")).unwrap(), kept);
}
