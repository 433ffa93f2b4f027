//! The README shows the examples as they are.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[test]
fn the_readme_shows_the_examples() {
    let readme = include_str!("../../../README.md");
    let shown = |name: &str, source: &str| {
        // Without the lines that say how to run and test it.
        let code = source.split_once("\n\n").unwrap().1;
        let code = code.split("\n#[cfg(test)]").next().unwrap().trim_end();
        assert!(readme.contains(code), "README.md does not show examples/{name} as it is");
    };
    shown("embed.rs", include_str!("../examples/embed.rs"));
    shown("own_tool.rs", include_str!("../examples/own_tool.rs"));
}

#[test]
fn the_rules_in_the_documentation_load() {
    use toolcrib::core::permission::{RuleFile, Scope};
    let page = include_str!("../../../docs/permissions.md");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let file = RuleFile::parse(Scope::User, "docs/permissions.md", example).unwrap();
        assert!(!file.rules().is_empty(), "{example}");
    }
}

#[test]
fn the_page_on_mcp_shows_what_compiles_and_what_is_there() {
    let page = include_str!("../../../docs/mcp.md");
    let source = include_str!("../src/mcp_server.rs");
    let example = page.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    for line in example.lines() {
        assert!(source.contains(&format!("/// {line}\n")), "not in the tested example: {line}");
    }
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_toolcrib")).args(["mcp", "--help"]).output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("toolcrib mcp")).collect();
    assert!(commands.len() > 4);
    for option in
        commands.iter().flat_map(|line| line.split_whitespace()).filter(|word| word.starts_with("--"))
    {
        assert!(help.contains(option), "there is no {option}");
    }
}

#[test]
fn the_tools_in_the_documentation_load() {
    let page = include_str!("../../../docs/tools.md");
    let examples = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let names: Vec<String> = examples
        .map(|example| toolcrib::external::Manifest::parse(example.as_bytes()).unwrap().name)
        .collect();
    assert_eq!(names, ["find-todos", "sum"]);
}
