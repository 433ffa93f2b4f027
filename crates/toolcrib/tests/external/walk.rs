//! A newcomer's walk: write a tool, call it, break it, mend it, let an agent use it.

use crate::support::Bench;
use crate::world::file;
use serde_json::{Value, json};

const HELLO: &str = ".toolcrib/tools/hello.tool.toml";

fn listed<'a>(tools: &'a Value, name: &str) -> Option<&'a Value> {
    tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name)
}

#[test]
fn a_newcomer_writes_a_tool() {
    let bench = Bench::new();
    let new = bench.run(&["tools", "new", "hello"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    assert!(new.stdout.contains(HELLO) && new.stdout.contains("toolcrib call hello"), "{}", new.stdout);
    // The very line that it says to try.
    let line =
        new.stdout.lines().find(|line| line.contains("toolcrib call hello")).unwrap().trim().to_owned();
    let line = line.replacen("toolcrib", env!("CARGO_BIN_EXE_toolcrib"), 1);
    let done = bench.shell(&format!("{line} --sandbox policy"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("Hello, world!"), "{}", done.stdout);
    let call = |input: Value| {
        bench.run_with(&["call", "hello", "-", "--json", "--sandbox", "policy"], input.to_string().as_bytes())
    };
    let done = call(json!({"who": "$(id)", "polite": true}));
    assert_eq!(done.json["data"]["stdout"], "Hello, $(id)!\nHow are you?\n");
    // It is listed, described and declared like any other, in every dialect.
    let tools = bench.run(&["tools", "--json"]).json;
    assert_eq!(listed(&tools, "hello").unwrap()["origin"], "project");
    assert_eq!(tools["files"][0]["trusted"], true);
    assert!(bench.run(&["tools"]).stdout.contains("(project)"));
    assert_eq!(bench.run(&["describe", "hello"]).code, 0);
    for profile in ["default", "claude", "codex", "gemini"] {
        let declared = bench.run(&["declarations", "--format", "mcp", "--json", "--profile", profile]);
        assert!(declared.stdout.contains("\"hello\""), "{profile}");
    }
    // An agent may use it, since whoever had it written knows what is in it.
    let agent = ["call", "hello", "{\"who\": \"x\"}", "--mode", "agent", "--policy", "auto"];
    let agent = bench.run(&agent);
    assert_eq!(agent.code, 0, "{}{}", agent.stdout, agent.stderr);
    // Again, or under a name that is taken: no.
    let again = bench.run(&["tools", "new", "hello"]);
    assert_eq!((again.code, again.stderr.contains("is there already")), (2, true), "{}", again.stderr);
    for name in ["grep", "Hello", "../evil", "a__b", "read_fi1e"] {
        let refused = bench.run(&["tools", "new", name]);
        assert_eq!(refused.code, 2, "{name}: {}", refused.stdout);
    }
    let names: Vec<_> = std::fs::read_dir(bench.path(".toolcrib/tools")).unwrap().collect();
    assert_eq!(names.len(), 1, "what cannot be used is not left there");
}

#[test]
fn what_is_broken_is_said_by_tools_and_doctor() {
    let bench = Bench::new();
    bench.run(&["tools", "new", "hello"]);
    bench.write(HELLO, bench.read(HELLO).replace("{{who}}", "{{whom}}"));
    let line = bench.read(HELLO).lines().position(|line| line.contains("{{whom}}")).unwrap() + 1;
    let expected = format!("{HELLO}:{line}: `command[2]`: there is no parameter \"whom\": who, polite");
    for arguments in [["tools"], ["doctor"]] {
        let said = bench.run(&arguments).stdout;
        assert!(said.contains(&expected), "{arguments:?}: {said}");
    }
    let files = bench.run(&["tools", "--json"]).json["files"].clone();
    assert_eq!((files[0]["line"].as_u64(), files[0]["tool"].is_null()), (Some(line as u64), true));
    assert_eq!(bench.run(&["call", "hello", "{}"]).code, 1);
    // Mended, but changed: an agent is asked for, and a person may trust it.
    bench.write(HELLO, bench.read(HELLO).replace("{{whom}}", "dear {{who}}"));
    let agent = ["call", "hello", "{\"who\": \"x\"}", "--mode", "agent", "--policy", "auto", "--json"];
    assert_eq!(bench.run(&agent).json["error"]["code"], "COMMAND_DENIED");
    assert!(bench.run(&["tools"]).stdout.contains("toolcrib tools trust hello"));
    assert!(bench.run(&["doctor"]).stdout.contains("toolcrib tools trust hello"));
    assert_eq!(bench.run(&["tools", "trust", "hello"]).code, 0);
    let done = bench.run(&agent);
    assert_eq!(done.json["data"]["stdout"], "Hello, dear x!\n", "{}", done.stdout);
    assert_eq!(bench.run(&["tools", "trust", "hello", "--remove"]).code, 0);
    assert_eq!(bench.run(&agent).json["error"]["code"], "COMMAND_DENIED");
    assert_eq!(bench.run(&["tools", "trust", "nothing"]).code, 2);
}

#[test]
fn the_users_own_are_there_in_every_project() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["tools", "new", "hello", "--user"]).code, 0);
    assert!(bench.state.path().join("config/toolcrib/tools/hello.tool.toml").exists());
    assert!(bench.names().is_empty(), "nothing is written into the workspace");
    let other = tempfile::tempdir().unwrap();
    let root = other.path().to_str().unwrap();
    let tools = bench.run(&["--root", root, "tools", "--json"]).json;
    assert_eq!(listed(&tools, "hello").unwrap()["origin"], "user");
    let done = bench.run(&["--root", root, "call", "hello", "{\"who\": \"you\"}", "--sandbox", "policy"]);
    assert!(done.stdout.contains("Hello, you!"), "{}{}", done.stdout, done.stderr);
    let dry = bench.run(&["tools", "new", "other", "--user", "--dry-run"]);
    assert!(dry.code == 0 && !bench.state.path().join("config/toolcrib/tools/other.tool.toml").exists());
}

#[test]
fn no_tool_can_write_tools() {
    let bench = Bench::new();
    let evil = file("evil", "command = [\"true\"]");
    let done = bench.call("write_file", json!({"path": ".toolcrib/tools/evil.tool.toml", "content": evil}));
    assert_eq!(done.json["error"]["code"], "PROTECTED_PATH", "{}", done.stdout);
}

#[test]
fn the_documentation_is_right() {
    let bench = Bench::new();
    let page = include_str!("../../../../docs/tools.md");
    for (at, example) in page.split("```toml\n").skip(1).enumerate() {
        bench.write(&format!(".toolcrib/tools/{at}.tool.toml"), example.split("```").next().unwrap());
    }
    bench.write("src/a.rs", "// TODO: one\n// todo: two\n");
    bench.write("src/b.py", "# TODO: three\n");
    let call = |tool: &str, input: Value| {
        let arguments = ["call", tool, "-", "--json", "--sandbox", "policy"];
        bench.run_with(&arguments, input.to_string().as_bytes()).json
    };
    let found =
        call("find-todos", json!({"word": "TODO", "paths": ["src"], "glob": "*.rs", "ignore_case": true}));
    assert_eq!(found["data"]["stdout"], "src/a.rs:1:// TODO: one\nsrc/a.rs:2:// todo: two\n", "{found}");
    let found = call("find-todos", json!({"word": "FIXME", "paths": ["src", "."]}));
    assert_eq!((found["success"].as_bool(), found["data"]["exit_code"].as_i64()), (Some(true), Some(1)));
    assert_eq!(
        call("find-todos", json!({"word": "-rf", "paths": ["."]}))["error"]["code"],
        "VALIDATION_ERROR"
    );
    assert_eq!(call("sum", json!({"numbers": [1, 2.5]}))["data"], json!({"sum": 3.5}));
}
