//! Programs that behave badly, and results that are not what they should be.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_gigabyte_is_bounded() {
    let world = World::new();
    for results in ["", "result = { format = \"json\" }"] {
        world.user_tool(
            "flood",
            &format!("command = [\"head\", \"-c\", \"1000000000\", \"/dev/zero\"]\n{results}"),
        );
        let outcome = world.call("flood", json!({})).await;
        assert!(outcome.output.len() < 100_000, "{}", outcome.output.len());
        assert!(outcome.data.to_string().len() < 8 << 20);
        assert_eq!(outcome.data["stdout_bytes"], 1_000_000_000u64);
        if results.is_empty() {
            assert!(outcome.success && outcome.metadata.truncated, "{}", outcome.title);
            assert!(outcome.metadata.spill.is_some_and(|spill| spill.starts_with("spill://")));
        } else {
            assert_eq!(outcome.error.unwrap().code.as_str(), "LIMIT_EXCEEDED");
        }
    }
}

#[tokio::test]
async fn what_takes_too_long_is_stopped() {
    let world = World::new();
    world.user_tool("slow", "timeout = 0.3\ncommand = [\"bash\", \"-c\", \"echo before; sleep 60\"]");
    let started = Instant::now();
    let outcome = world.call("slow", json!({})).await;
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(outcome.error.unwrap().code.as_str(), "TIMEOUT");
    assert!(outcome.output.contains("before"), "{}", outcome.output);
    assert_eq!(outcome.data["stdout"], "before\n");
}

#[tokio::test]
async fn a_failure_says_how() {
    let world = World::new();
    let bash = |line: &str, more: &str| format!("command = [\"bash\", \"-c\", '''{line}''']\n{more}");
    let json_result = "[result]\nformat = \"json\"\n";
    let schema = "[result]\nformat = \"json\"\nschema = { type = \"object\", required = [\"n\"], properties = { n = { type = \"integer\" } } }";
    for (line, more, code, parts) in [
        ("echo why >&2; exit 3", "", "COMMAND_FAILED", ["exited with 3", "why"]),
        ("kill -9 $$", "", "COMMAND_FAILED", ["exited with 137", "printed nothing"]),
        ("echo not json", json_result, "COMMAND_FAILED", ["invalid JSON at line 1", "not json"]),
        ("true", json_result, "COMMAND_FAILED", ["one JSON value", "printed nothing"]),
        ("echo '{} {}'", json_result, "COMMAND_FAILED", ["exactly one JSON value", "{} {}"]),
        ("echo '{\"n\": 1, \"n\": 2}'", json_result, "COMMAND_FAILED", ["invalid JSON", "n"]),
        ("printf '[%.0s' $(seq 5000)", json_result, "COMMAND_FAILED", ["invalid JSON", "nest"]),
        (
            "echo '{\"n\": \"x\"}'",
            schema,
            "COMMAND_FAILED",
            ["n: expected an integer, got \"x\"", "does not fit"],
        ),
        ("echo '{}'", schema, "COMMAND_FAILED", ["n: expected an integer", "got nothing"]),
        ("echo '[1]'", schema, "COMMAND_FAILED", ["the result: expected an object", "got [1]"]),
    ] {
        world.user_tool("bad", &bash(line, more));
        let (got, said) = world.fails("bad", json!({})).await;
        assert_eq!(got, code, "{line}: {said}");
        for part in parts {
            assert!(said.contains(part), "{line}: {part:?} is not in {said}");
        }
    }
    world.user_tool("missing", "command = [\"no-such-program-anywhere\"]");
    let (code, said) = world.fails("missing", json!({})).await;
    assert_eq!(code, "COMMAND_FAILED", "{said}");
    assert!(said.contains("no-such-program-anywhere"), "{said}");
    world.user_tool("elsewhere", "command = [\"true\"]\ncwd = \"../..\"");
    assert_eq!(world.fails("elsewhere", json!({})).await.0, "OUTSIDE_WORKSPACE");
}

#[tokio::test]
async fn results_are_text_or_data() {
    let world = World::new();
    std::fs::create_dir(world.root.path().join("sub")).unwrap();
    world.user_tool("where", "command = [\"pwd\"]\ncwd = \"sub\"");
    let outcome = world.ok("where", json!({})).await;
    assert!(outcome.data["stdout"].as_str().unwrap().trim_end().ends_with("/sub"), "{}", outcome.output);
    world.user_tool("none", "command = [\"grep\", \"-q\", \"x\", \"/dev/null\"]\nexit_codes = [0, 1]");
    let outcome = world.ok("none", json!({})).await;
    assert_eq!(outcome.data["exit_code"], 1);
    assert!(outcome.output.starts_with("(no output)"), "{}", outcome.output);
    world.user_tool(
        "sum",
        r#"
        stdin = "json"
        command = ["python3", "-c", "import json,sys; print(json.dumps({'sum': sum(json.load(sys.stdin)['numbers'])}))"]
        [parameters]
        type = "object"
        required = ["numbers"]
        properties = { numbers = { type = "array", items = { type = "integer" } } }
        [result]
        format = "json"
        schema = { type = "object", required = ["sum"], properties = { sum = { type = "integer" } } }
        "#,
    );
    let outcome = world.ok("sum", json!({"numbers": [1, 2, 39]})).await;
    assert_eq!(outcome.data, json!({"sum": 42}));
    assert!(outcome.output.starts_with("{\"sum\":42}"), "{}", outcome.output);
    let (code, said) = world.fails("sum", json!({"numbers": ["x"]})).await;
    assert_eq!(code, "VALIDATION_ERROR");
    assert!(said.contains("numbers[0]"), "{said}");
    let tool = world.crib.executor().registry().get("sum").unwrap();
    assert!(tool.spec().output_schema.is_some());
    // A program that does not read its input is no reason to fail, however much there is.
    world.user_tool(
        "deaf",
        "stdin = \"json\"\ncommand = [\"true\"]\n[parameters.properties.text]\ntype = \"string\"",
    );
    world.ok("deaf", json!({"text": "x".repeat(1 << 20)})).await;
}

#[tokio::test]
async fn a_recursive_schema_is_held_to_all_the_way_down() {
    let world = World::new();
    let tool = r##"
        stdin = "json"
        command = ["true"]
        [parameters.properties.tree]
        "$ref" = "#/$defs/node"
        [parameters."$defs".node]
        type = "object"
        properties = { name = { type = "string" }, next = { "$ref" = "#/$defs/node" } }
    "##;
    world.user_tool("tree", tool);
    world.ok("tree", json!({"tree": {"name": "a", "next": {"next": {"next": {"name": "b"}}}}})).await;
    let (code, said) = world.fails("tree", json!({"tree": {"next": {"next": {"next": {"name": 5}}}}})).await;
    assert_eq!(code, "VALIDATION_ERROR", "{said}");
}

#[test]
fn special_files_and_links_are_no_tools() {
    let world = World::new();
    let folder = world.project_file("x").parent().unwrap().to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(world.user.path().join("tools")).unwrap();
    for (kind, name) in [("p", "fifo"), ("p", "other")] {
        for folder in [&folder, &world.user.path().join("tools")] {
            let path = folder.join(format!("{name}.tool.toml"));
            assert!(std::process::Command::new("mknod").arg(&path).arg(kind).status().unwrap().success());
        }
    }
    let text = crate::world::says("linked", "x");
    std::fs::write(world.root.path().join("target"), &text).unwrap();
    std::os::unix::fs::symlink(world.root.path().join("target"), folder.join("link.tool.toml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", world.user.path().join("tools/zero.tool.toml")).unwrap();
    std::fs::create_dir(folder.join("dir.tool.toml")).unwrap();
    let started = Instant::now();
    world.crib.external_tools().unwrap().reload();
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(!world.serves("linked"), "a tool can write what a link of the project leads to");
    for report in world.crib.external_tools().unwrap().report() {
        assert!(report.problem.is_some() && report.tool.is_none(), "{report:?}");
    }
    // The user's own links, as from a folder of dotfiles, are followed.
    std::fs::write(world.user.path().join("dotfile"), &text).unwrap();
    std::os::unix::fs::symlink(world.user.path().join("dotfile"), world.user_file("mine")).unwrap();
    world.crib.external_tools().unwrap().reload();
    assert!(world.serves("linked"));
}

#[test]
fn a_thousand_files_are_too_many_and_said_to_be() {
    let world = World::new();
    for at in 0..1000 {
        World::put(&world.user_file(&format!("t{at:04}")), &crate::world::says(&format!("t{at}"), "x"));
    }
    let started = Instant::now();
    world.crib.external_tools().unwrap().reload();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(world.serves("t199") && !world.serves("t200"));
    assert!(world.problem("tools").unwrap().contains("1000 files"), "{:?}", world.problem("tools"));
}
