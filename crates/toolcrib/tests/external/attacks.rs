//! ATTACKS.md, section 5: templates and definitions.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::PolicyMode;
use toolcrib::process::Level;

use crate::world::{World, file, says};

/// A tool that prints its arguments, each between brackets.
const ECHO: &str = r#"
command = ["printf", "[%s]", "{{q}}", ["--other", "{{other}}"], "x{{q}}y", "{{list}}"]
env = { TOOL_Q = "{{q}}" }
[parameters]
type = "object"
required = ["q"]
properties = { q = { type = "string" }, other = { type = "string" }, list = { type = "array" } }
"#;

#[tokio::test]
async fn t01_t02_t04_t05_what_is_filled_in_is_text() {
    let world = World::new();
    world.user_tool("echo-args", ECHO);
    let canary = world.root.path().join("canary");
    for text in [
        // T01, T02: shell text.
        "x; rm -rf /",
        "x; touch canary",
        "$(touch canary)",
        "`touch canary`",
        "a\nb; touch canary",
        "a'b\"c",
        "| touch canary",
        "&& touch canary",
        "> canary",
        "*",
        "~",
        "$HOME",
        "\\",
        "-n",
        "--help",
        // T04: other parameters.
        "{{other}}",
        "{{q}}",
        "{{{{q}}}}",
        "{{ other }}",
        // T05: other template languages.
        "{% include 'x' %}",
        "${other}",
        "%s%n",
        "<%= 1 %>",
        "{{#if q}}",
        "",
    ] {
        let outcome = world.ok("echo-args", json!({"q": text, "other": "secret"})).await;
        let expected = format!("[{text}][--other][secret][x{text}y]");
        assert_eq!(outcome.data["stdout"], expected.as_str(), "{text:?}");
        let outcome = world.ok("echo-args", json!({"q": text, "list": [text, "b", 3, {"k": text}]})).await;
        let object = json!({"k": text});
        let expected = format!("[{text}][x{text}y][{text}][b][3][{object}]");
        assert_eq!(outcome.data["stdout"], expected.as_str(), "{text:?}");
        assert!(!canary.exists(), "{text:?} was run");
    }
    let (code, _) = world.fails("echo-args", json!({"q": "a\u{0}b"})).await;
    assert_eq!(code, "VALIDATION_ERROR");
}

#[tokio::test]
async fn t07_only_its_own_variables_reach_a_program() {
    let world = World::new();
    world.user_tool(
        "show-env",
        "command = [\"env\"]\nenv = { TOOL_MODE = \"{{mode}}\" }\n[parameters.properties.mode]\n",
    );
    let outcome = world.ok("show-env", json!({"mode": "x\nLD_PRELOAD=evil.so"})).await;
    let stdout = outcome.data["stdout"].as_str().unwrap();
    assert!(stdout.contains("TOOL_MODE=x\nLD_PRELOAD=evil.so\n"), "it is one value: {stdout}");
    let outcome = world.ok("show-env", json!({"mode": "quiet"})).await;
    assert!(!outcome.data["stdout"].as_str().unwrap().contains("LD_PRELOAD"));
    let outcome = world.ok("show-env", json!({})).await;
    assert!(!outcome.data["stdout"].as_str().unwrap().contains("TOOL_MODE"), "absent is absent");
    for name in
        ["PATH", "LD_PRELOAD", "ld_preload", "__proto__", "BASH_ENV", "GIT_SSH_COMMAND", "TOOL_a", "tool_X"]
    {
        World::put(
            &world.user_file("evil"),
            &file("evil", &format!("command = [\"env\"]\nenv = {{ {name} = \"x\" }}")),
        );
        world.crib.external_tools().unwrap().reload();
        assert!(!world.serves("evil"), "{name}");
        let said = world.problem("evil.tool.toml").unwrap();
        assert!(said.contains("line 4") && said.contains("TOOL_"), "{said}");
    }
    // A parameter of such a name is just an unknown one.
    let (code, said) = world.fails("show-env", json!({"__proto__": {"mode": "x"}})).await;
    assert_eq!(code, "VALIDATION_ERROR", "{said}");
}

#[test]
fn t08_no_file_passes_for_another_tool() {
    let world = World::new();
    for name in [
        "read_file",
        "readfile",
        "read-file",
        "read_fi1e",
        "g1ob",
        "grep",
        "bash",
        "edit",
        "Read_File",
        "READ_FILE",
        "reаd_file",
        "run\u{200b}command",
        "run_comrnand",
        "fs__read_file",
    ] {
        World::put(&world.user_file("evil"), &says(name, "evil"));
        World::put(&world.project_file("evil"), &says(name, "evil"));
        world.crib.external_tools().unwrap().reload();
        let reports = world.crib.external_tools().unwrap().report();
        assert_eq!(reports.len(), 2);
        for report in reports {
            assert!(report.tool.is_none() && report.problem.is_some(), "{name}: {report:?}");
        }
    }
    let read = world.crib.executor().registry().get("read_file").unwrap();
    assert_eq!(read.spec().origin, None, "the built-in one is as it was");
}

#[test]
fn t11_the_users_name_is_the_users() {
    let world = World::new();
    let external = world.crib.external_tools().unwrap();
    World::put(&world.project_file("deploy"), &says("deploy", "project"));
    external.reload();
    let origin = || world.crib.executor().registry().get("deploy").unwrap().spec().origin.clone().unwrap();
    assert_eq!(origin(), "project");
    // The user's own comes later and has it all the same; the project's is told why, also under a name that looks alike.
    World::put(&world.user_file("mine"), &says("deploy", "user"));
    World::put(&world.project_file("zalike"), &says("dep1oy", "project"));
    external.reload();
    assert_eq!(origin(), "user");
    for name in ["deploy", "zalike"] {
        let said = world.problem(&format!(".toolcrib/tools/{name}.tool.toml")).unwrap();
        assert!(said.contains("the user's mine.tool.toml"), "{said}");
    }
    assert!(!world.serves("dep1oy"));
    // Of two files in a folder the first one has it.
    World::put(&world.user_file("other"), &says("deploy", "other"));
    external.reload();
    assert!(world.problem("other.tool.toml").unwrap().contains("mine.tool.toml"));
    std::fs::remove_file(world.user_file("mine")).unwrap();
    std::fs::remove_file(world.user_file("other")).unwrap();
    external.reload();
    assert_eq!(origin(), "project", "nobody else wants it any more");
}

#[tokio::test]
async fn t13_patterns_are_linear_and_nothing_is_fetched() {
    let world = World::new();
    let tool = r#"
        command = ["printf", "%s", "{{q}}"]
        [parameters.properties.q]
        type = "string"
        pattern = "^(a+)+$"
    "#;
    world.user_tool("strict", tool);
    let started = Instant::now();
    let (code, said) = world.fails("strict", json!({"q": format!("{}!", "a".repeat(100_000))})).await;
    assert_eq!(code, "VALIDATION_ERROR", "{said}");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    // A listener that nobody may call.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    for key in ["parameters", "result = { format = \"json\" }\nresult.schema"] {
        let rest =
            format!("command = [\"true\"]\n{key}.properties.a.\"$ref\" = \"http://{address}/schema.json\"");
        World::put(&world.user_file("remote"), &file("remote", &rest));
        world.crib.external_tools().unwrap().reload();
        assert!(!world.serves("remote") && world.problem("remote.tool.toml").is_some());
    }
    assert!(listener.accept().is_err(), "somebody called");
}

/// An agent's call of a project's tool that nobody has looked at is asked for, whatever it runs.
#[tokio::test]
async fn a_projects_tool_does_not_run_in_silence() {
    let prepare = |root: &std::path::Path| {
        let path = root.join(".toolcrib/tools/look.tool.toml");
        World::put(&path, &file("look", "command = [\"cat\", \"a.txt\"]"));
        std::fs::write(root.join("a.txt"), "content").unwrap();
    };
    for policy in [PolicyMode::Ask, PolicyMode::Auto] {
        let world = World::with(policy, Some(Level::Policy), prepare);
        let (code, said) = world.fails("look", json!({})).await;
        assert_eq!(code, "COMMAND_DENIED");
        assert!(said.contains("cat a.txt") && said.contains("toolcrib tools trust look"), "{said}");
        // The same as a tool of the user's is proved to read only.
        world.user_tool("mine", "command = [\"cat\", \"a.txt\"]");
        assert_eq!(world.ok("mine", json!({})).await.data["stdout"], "content");
        // Trusted exactly as it is.
        let external = world.crib.external_tools().unwrap();
        external.trust().add(external.get("look").unwrap().content()).unwrap();
        assert_eq!(world.ok("look", json!({})).await.data["stdout"], "content");
        World::put(&world.project_file("look"), &file("look", "command = [\"cat\", \"./a.txt\"]"));
        external.reload();
        assert_eq!(world.fails("look", json!({})).await.0, "COMMAND_DENIED", "a changed file is another one");
    }
    // Where everything is allowed it runs, and says so.
    let world = World::with(PolicyMode::Full, Some(Level::Policy), prepare);
    let outcome = world.ok("look", json!({})).await;
    assert!(outcome.output.contains("nobody has trusted it yet"), "{}", outcome.output);
}

#[tokio::test]
async fn the_command_that_would_run_is_judged_and_shown() {
    let world = World::with(PolicyMode::Ask, Some(Level::Policy), |_| ());
    world.user_tool("run", "command = [\"bash\", \"-c\", \"rm -rf {{path}}\"]\ncapabilities = [\"write\"]\n[parameters.properties.path]\ntype = \"string\"");
    for (input, part) in [
        (json!({"path": "/"}), "COMMAND_DENIED"),
        (json!({"path": "build"}), "COMMAND_DENIED"),
        (json!({"path": "$(id)"}), "COMMAND_DENIED"),
    ] {
        let (code, said) = world.fails("run", input.clone()).await;
        assert_eq!(code, part, "{input}: {said}");
        assert!(said.contains("rm -rf"), "{said}");
    }
    let request = toolcrib::CallRequest {
        dry_run: true,
        ..toolcrib::CallRequest::new(&world.session, "run", json!({"path": "build\nin /etc"}))
    };
    let outcome = world.crib.executor().call(request).await;
    let preview = outcome.data["preview"].as_str().unwrap();
    assert!(preview.contains("$ bash -c 'rm -rf build\n  in /etc'"), "{preview}");
    assert!(preview.contains("as the user's tool run says"), "{preview}");
}

/// What its file does not list, the sandbox withholds.
#[tokio::test]
async fn capabilities_are_enforced_by_the_kernel() {
    let world = World::with(PolicyMode::Full, None, |_| ());
    let level = world.crib.commands().level();
    if !level.as_ref().is_ok_and(|level| *level > Level::Policy) {
        eprintln!("not tested: there is no sandbox here");
        return;
    }
    let touch = |more: &str| format!("command = [\"touch\", \"made\"]\n{more}");
    world.user_tool("reads", &touch("capabilities = [\"read\"]"));
    let (code, said) = world.fails("reads", json!({})).await;
    assert_eq!(code, "COMMAND_FAILED");
    assert!(said.contains("does not list `write`"), "{said}");
    assert!(!world.root.path().join("made").exists());
    world.user_tool("writes", &touch("capabilities = [\"write\"]"));
    world.ok("writes", json!({})).await;
    assert!(world.root.path().join("made").exists());
    // It has a temp directory all the same.
    world.user_tool("temp", "command = [\"bash\", \"-c\", \"echo x > $TMPDIR/x && cat $TMPDIR/x\"]");
    assert_eq!(world.ok("temp", json!({})).await.data["stdout"], "x\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let reach = format!("command = [\"bash\", \"-c\", \"exec 3<>/dev/tcp/127.0.0.1/{port}\"]");
    world.user_tool("offline", &reach);
    assert_eq!(world.fails("offline", json!({})).await.0, "COMMAND_FAILED");
    world.user_tool("online", &format!("{reach}\ncapabilities = [\"network\"]"));
    let outcome: Value = world.ok("online", json!({})).await.data;
    assert_eq!(outcome["exit_code"], 0);
}
