//! Names that no tool from outside may have: those of other tools, and whatever could be taken for one.

use std::sync::OnceLock;

use toolcrib_tools::profiles;

/// What a name looks like at a glance: case, separators and digits that pass for letters make no difference.
fn skeleton(name: &str) -> String {
    let alike = |c: char| match c {
        '0' => 'o',
        '1' | 'i' => 'l',
        '2' => 'z',
        '5' => 's',
        '8' => 'b',
        other => other,
    };
    let plain = name.chars().filter(char::is_ascii_alphanumeric).map(|c| alike(c.to_ascii_lowercase()));
    plain.collect::<String>().replace("rn", "m").replace("vv", "w").replace("cl", "d")
}

/// The names that are taken, with whose they are.
#[derive(Clone, Default)]
pub struct Names {
    taken: Vec<(String, String)>,
}

impl Names {
    /// The names under which the profiles that come with Toolcrib show its tools.
    pub fn of_profiles() -> Self {
        static KNOWN: OnceLock<Names> = OnceLock::new();
        KNOWN.get_or_init(Self::read_profiles).clone()
    }

    fn read_profiles() -> Self {
        let mut names = Self::default();
        for profile in profiles::names().filter_map(|name| profiles::profile(name).ok()) {
            for entry in profile.tools {
                names.take(&entry.name, &format!("the tool that the profile {} shows", profile.name));
            }
        }
        names
    }

    /// Takes a name for somebody.
    pub fn take(&mut self, name: &str, whose: &str) {
        self.taken.push((skeleton(name), format!("{name:?}, {whose}")));
    }

    /// Why this name cannot be had; nothing if it can.
    pub fn refuse(&self, name: &str) -> Option<String> {
        let wanted = skeleton(name);
        let (_, other) = self.taken.iter().find(|(known, _)| *known == wanted)?;
        Some(format!("the name {name:?} is, or looks like, that of {other}: choose another"))
    }
}

/// What is wrong with a name by itself. `__` stands between a server and its tool, so no file can pass for one
/// of a server's.
pub(crate) fn check(name: &str) -> Result<(), String> {
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let fits = (1..=48).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(lower);
    if !fits {
        let shown: String = name.chars().take(60).flat_map(char::escape_default).collect();
        return Err(format!(
            "\"{shown}\" is no name for a tool: use 1 to 48 lower-case ASCII letters, digits, `_` and `-`, \
             beginning with a letter"
        ));
    }
    if name.contains("__") {
        return Err("`__` is kept for the tools of MCP servers: choose another name".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_the_same() {
        let mut names = Names::of_profiles();
        names.take("read_file", "a built-in tool");
        names.take("glob", "a built-in tool");
        for name in
            ["read_file", "readfile", "read-file", "read_fi1e", "read_flle", "ReadFile", "g1ob", "gl0b"]
        {
            assert!(names.refuse(name).is_some(), "{name}");
        }
        // What other dialects call a tool is taken too.
        assert!(names.refuse("bash").is_some() && names.refuse("b4sh").is_none());
        assert!(names.refuse("deploy").is_none());
    }

    #[test]
    fn names_are_plain() {
        for name in ["hello", "a", "run-tests", "x2_y"] {
            assert!(check(name).is_ok(), "{name}");
        }
        let long = "x".repeat(49);
        for name in
            ["", "Hello", "2x", "_x", "r\u{435}ad", "a b", "a/b", "a.b", "github__pr", "\u{200b}a", &long]
        {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
