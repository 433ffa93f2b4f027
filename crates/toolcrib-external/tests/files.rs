//! Files that load and files that do not, each with what is said about it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use toolcrib_external::Manifest;

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let cases = include_str!("files/broken.txt").split("\n### ").skip(1);
    let mut count = 0;
    for case in cases {
        let (expected, file) = case.split_once('\n').unwrap();
        let problem = Manifest::parse(file.as_bytes()).err().unwrap_or_else(|| panic!("it loads:\n{file}"));
        let said = problem.to_string();
        assert!(said.contains(expected.trim_end()), "expected {expected:?}, said {said:?}:\n{file}");
        assert!(said.lines().count() == 1 || said.contains("JSON"), "{said}");
        count += 1;
    }
    assert!(count > 40, "{count}");
}

fn with_parameters(parameters: &str) -> String {
    format!("name = \"x\"\ndescription = \"x\"\ncommand = [\"true\"]\n{parameters}")
}

#[test]
fn hostile_files_are_refused_at_once() {
    let deep = |open: &str, close: &str| {
        with_parameters(&format!("parameters = {}{}", open.repeat(5000), close.repeat(5000)))
    };
    let many = |one: fn(usize) -> String, count: usize| -> String {
        with_parameters(&(0..count).map(one).collect::<String>())
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("a megabyte", vec![b'#'; 1 << 20]),
        ("binary", (0..=255).collect()),
        ("NULs", vec![0; 1000]),
        ("UTF-16", b"\xff\xfen\0a\0m\0e\0".to_vec()),
        ("deep lists", deep("[", "]").into_bytes()),
        ("deep tables", deep("{a=", "}").into_bytes()),
        (
            "a deep key",
            with_parameters(&format!("parameters.{} = 1", vec!["a"; 5000].join("."))).into_bytes(),
        ),
        ("deep JSON", with_parameters(&format!("parameters = '{}'", "[".repeat(20_000))).into_bytes()),
        (
            "patterns without end",
            many(|at| format!("parameters.properties.p{at}.pattern = '(\\w{{200}}){{20}}'\n"), 1000)
                .into_bytes(),
        ),
        (
            "a schema without end",
            many(|at| format!("parameters.properties.p{at}.title='x'\n"), 2100).into_bytes(),
        ),
    ];
    for (name, bytes) in cases {
        let started = Instant::now();
        let result = Manifest::parse(&bytes);
        assert!(result.is_err(), "{name}: {result:?}");
        assert!(started.elapsed() < Duration::from_secs(2), "{name}: {:?}", started.elapsed());
    }
}

#[test]
fn references_within_a_file_are_followed_but_not_without_end() {
    let cyclic = with_parameters(
        r##"
        [parameters.properties.tree]
        "$ref" = "#/$defs/node"
        [parameters."$defs".node]
        type = "object"
        properties = { left = { "$ref" = "#/$defs/node" }, name = { type = "string" } }
        "##,
    );
    assert!(Manifest::parse(cyclic.as_bytes()).is_ok());
    // Each level asks for the next one twice: a billion schemas, were they written out.
    let mut laughs = String::from("parameters.properties.a.\"$ref\" = '#/$defs/d0'\n");
    for level in 0..30 {
        let next = format!("'#/$defs/d{}'", level + 1);
        laughs.push_str(&format!(
            "parameters.\"$defs\".d{level} = {{ type = 'object', properties = {{ x = {{ \"$ref\" = {next} }}, y = {{ \"$ref\" = {next} }} }} }}\n"
        ));
    }
    laughs.push_str("parameters.\"$defs\".d30 = { type = 'string' }\n");
    let text = with_parameters(&laughs);
    let started = Instant::now();
    let workspace = toolcrib_workspace::Workspace::memory().read_only();
    let trust = toolcrib_external::Trust::of(None);
    let made = toolcrib_external::CommandTool::new(
        text.as_bytes(),
        toolcrib_external::Origin::User,
        &workspace,
        &trust,
    );
    assert!(made.is_err_and(|problem| problem.message.contains("written out")));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn a_whole_file_is_understood() {
    let file = r#"
        name = "find-text"
        version = "2.1.0"
        title = "Find text"
        description = "Finds text."
        capabilities = ["read", "write", "network", "idempotent"]
        timeout = 2.5
        cwd = "src"
        stdin = "json"
        exit_codes = [0, 1]
        command = ["grep", "-n", ["--include", "{{glob}}"], { if = "word", then = ["-w"] }, "--", "{{q}}", "{{paths}}"]
        env = { TOOL_LANG = "{{glob}}" }
        parameters = '{"properties": {"q": {"type": "string"}, "glob": {"type": ["string", "null"]}, "word": {"type": "boolean"}, "paths": {"type": "array"}}}'
        result = { format = "json", schema = { type = "object" } }
        examples = [{ q = "x" }]
    "#;
    let manifest = Manifest::parse(file.as_bytes()).unwrap();
    assert_eq!((manifest.name.as_str(), manifest.version.to_string().as_str()), ("find-text", "2.1.0"));
    assert!(manifest.capabilities.writes_files && manifest.capabilities.executes_commands);
    assert!(manifest.capabilities.accesses_network && manifest.capabilities.idempotent);
    assert_eq!(manifest.parameters["additionalProperties"], false);
    assert_eq!((manifest.timeout, manifest.json_input), (Duration::from_millis(2500), true));
    assert_eq!(manifest.exit_codes, [0, 1]);
}
