//! The profiles that come with Toolcrib: the dialects that models and existing agents already know.

use toolcrib_core::Profile;

const BUILTIN: &[(&str, &str)] = &[
    ("default", include_str!("profiles/default.toml")),
    ("codecraft", include_str!("profiles/codecraft.toml")),
    ("ally", include_str!("profiles/ally.toml")),
    ("define", include_str!("profiles/define.toml")),
    ("claude", include_str!("profiles/claude.toml")),
    ("gemini", include_str!("profiles/gemini.toml")),
    ("codex", include_str!("profiles/codex.toml")),
];

/// The names of the profiles that come with Toolcrib.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The profile of this name.
pub fn profile(name: &str) -> Result<Profile, String> {
    let found = BUILTIN.iter().find(|(known, _)| *known == name);
    let Some((_, text)) = found else {
        let known: Vec<&str> = names().collect();
        return Err(format!("there is no profile {name:?}: use one of {}", known.join(", ")));
    };
    Profile::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::Registry;
    use toolcrib_core::declarations::{Format, check_name};

    #[test]
    fn every_profile_fits_the_tools_and_every_api() {
        let registry = Registry::new();
        crate::register_builtins(&registry, &toolcrib_workspace::Workspace::memory().read_only()).unwrap();
        for name in names() {
            let profile = profile(name).unwrap();
            assert_eq!(profile.name, name);
            let bound = profile.bind(&registry).unwrap_or_else(|wrong| panic!("{wrong:?}"));
            for tool in &bound.tools {
                for format in Format::ALL {
                    check_name(format, &tool.shown).unwrap();
                }
                assert!(tool.example().is_some(), "{name}: {} has no example in its own names", tool.shown);
            }
        }
    }
}
