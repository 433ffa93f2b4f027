//! Paths in few tokens: `dir/: a b c`, a line a directory.

use serde_json::Value;
use toolcrib_core::sanitize::visible_path;

/// Groups paths by directory, in the order in which the directories first appear. `suffix` is appended to a name.
pub(crate) fn grouped<'a>(items: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for (path, suffix) in items {
        let (directory, name) = match path.rsplit_once('/') {
            Some((directory, name)) => (format!("{directory}/"), name),
            None => ("./".to_owned(), path),
        };
        let shown = format!("{}{suffix}", quoted(name));
        match lines.last_mut() {
            Some((last, names)) if *last == directory => names.push(shown),
            _ => match lines.iter_mut().find(|(known, _)| *known == directory) {
                Some((_, names)) => names.push(shown),
                None => lines.push((directory, vec![shown])),
            },
        }
    }
    let line = |(directory, names): (String, Vec<String>)| {
        format!("{}: {}", visible_path(&directory), names.join(" "))
    };
    lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A name that cannot be mistaken for two.
fn quoted(name: &str) -> String {
    let visible = visible_path(name);
    if visible.contains([' ', '"']) { format!("{visible:?}") } else { visible.into_owned() }
}

/// The arguments that were given: those that are not null.
pub(crate) fn given(arguments: &Value) -> Value {
    let fields = arguments.as_object().into_iter().flatten();
    Value::Object(
        fields
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `1.2k`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => bytes.to_string(),
        1000..1_000_000 => format!("{:.1}k", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1}M", bytes as f64 / 1e6),
        _ => format!("{:.1}G", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_directory() {
        let paths = ["a.txt", "src/x.rs", "src/y.rs", "src/deep/z.rs", "src/my file"];
        let text = grouped(paths.iter().map(|path| (*path, String::new())));
        assert_eq!(text, "./: a.txt\nsrc/: x.rs y.rs \"my file\"\nsrc/deep/: z.rs");
        assert_eq!([size(999), size(1500), size(2_500_000)], ["999", "1.5k", "2.5M"]);
    }
}
