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
