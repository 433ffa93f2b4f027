//! Syntax errors that a change introduced, for the formats whose parsers are at hand.

use toolcrib_core::sanitize::visible_path;
use toolcrib_workspace::FileChange;

/// Warnings for files that parsed before the change (or are new) and no longer do.
pub(crate) fn new_errors(files: &[FileChange]) -> Vec<String> {
    files.iter().filter_map(new_error).collect()
}

fn new_error(file: &FileChange) -> Option<String> {
    let after = error_in(&file.path, file.after.as_deref()?)?;
    let broken_before = file.before.as_deref().is_some_and(|before| error_in(&file.path, before).is_some());
    (!broken_before)
        .then(|| format!("{} no longer parses after this change: {after}", visible_path(&file.path)))
}

/// What is wrong with the file, if its format is known and something is.
fn error_in(path: &str, bytes: &[u8]) -> Option<String> {
    const MAX: usize = 4 << 20;
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX)?;
    let text = text.trim_start_matches('\u{feff}');
    let extension = path.rsplit_once('.')?.1;
    match extension {
        "json" => serde_json::from_str::<serde::de::IgnoredAny>(text).err().map(|error| error.to_string()),
        "toml" => toml::from_str::<toml::Table>(text)
            .err()
            .map(|error| error.message().lines().next().unwrap_or_default().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: Option<&str>, after: &str) -> FileChange {
        FileChange {
            path: path.into(),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: Some(after.as_bytes().to_vec()),
            action: toolcrib_workspace::Action::Modified,
            moved_from: None,
        }
    }

    #[test]
    fn only_new_errors_are_reported() {
        assert_eq!(new_errors(&[change("a.json", Some("{}"), "{")]).len(), 1);
        assert_eq!(new_errors(&[change("a.json", Some("{,"), "{")]).len(), 0, "it was broken before");
        assert_eq!(new_errors(&[change("a.toml", None, "a = ")]).len(), 1);
        assert_eq!(new_errors(&[change("a.txt", None, "{")]).len(), 0);
    }
}
