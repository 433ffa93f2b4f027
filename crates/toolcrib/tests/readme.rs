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
