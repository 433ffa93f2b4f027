//! What `toolcrib tools new` writes: a tool that works, with a word on each part.

use crate::names;

/// A file for a tool of this name.
///
/// # Errors
/// Says what is wrong with the name.
pub fn example(name: &str) -> Result<String, String> {
    names::check(name)?;
    Ok(include_str!("example.tool.toml").replace("@NAME@", name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Manifest;

    #[test]
    fn the_example_loads() {
        let manifest = Manifest::parse(example("hello").unwrap().as_bytes()).unwrap();
        assert_eq!((manifest.name.as_str(), manifest.examples.len()), ("hello", 1));
        assert!(example("../x").is_err() && example("Hello").is_err());
    }
}
