//! Maven, Gradle and sbt.

use super::super::scan::Scan;
use super::{Manifest, Said, numbered, quoted};

/// The texts of `<tag>…</tag>`, with lines; comments left out.
pub(super) fn tags(text: &str, tag: &str) -> Vec<Said> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut found = Vec::new();
    let (mut line, mut rest) = (1, text);
    while let Some(at) = rest.find(['<']) {
        line += count(rest.get(..at));
        rest = rest.get(at..).unwrap_or_default();
        let skip = if rest.starts_with("<!--") {
            rest.find("-->").map_or(rest.len(), |end| end + 3)
        } else if let Some(inner) = rest.strip_prefix(open.as_str()) {
            let end = inner.find(close.as_str()).unwrap_or(inner.len());
            found.push((inner.get(..end).unwrap_or_default().trim().to_owned(), line));
            open.len()
        } else {
            1
        };
        line += count(rest.get(..skip));
        rest = rest.get(skip..).unwrap_or_default();
    }
    found
}

fn count(text: Option<&str>) -> usize {
    text.unwrap_or_default().matches('\n').count()
}

pub(super) fn maven(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    if !text.contains("<project") {
        return Err("it has no <project>".into());
    }
    // The parent's coordinates come first and are not the project's own.
    let parent = match (text.find("<parent>"), text.find("</parent>")) {
        (Some(start), Some(end)) if start < end => start..end,
        _ => 0..0,
    };
    let blank: String =
        text.char_indices().map(|(at, c)| if parent.contains(&at) && c != '\n' { ' ' } else { c }).collect();
    let depends = blank.find("<dependencies>").map_or(usize::MAX, |at| count(blank.get(..at)) + 1);
    let own = |tag: &str| {
        let first = tags(&blank, tag).into_iter().next();
        first.filter(|(_, line)| tag != "artifactId" || *line <= depends)
    };
    manifest.name = own("artifactId");
    manifest.description = own("description");
    let own = manifest.name.clone();
    for (name, line) in tags(text, "artifactId").into_iter().filter(|said| Some(said) != own.as_ref()) {
        manifest.depends(name, line);
    }
    for tag in ["maven.compiler.release", "maven.compiler.source", "java.version", "release"] {
        if let Some((version, line)) = tags(text, tag).into_iter().next() {
            manifest.toolchains.push(("java", version, line));
            break;
        }
    }
    let path = manifest.path.clone();
    manifest.includes(tags(text, "module"), &path);
    Ok(true)
}

/// `include ':a', ':b:c'`, over lines too; and the name of the whole.
pub(super) fn settings(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    manifest.package = false;
    let mut globs = Vec::new();
    let mut inside = false;
    for (number, line) in numbered(text) {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line.starts_with("rootProject.name") {
            manifest.name = quoted(line).first().map(|name| ((*name).to_owned(), number));
        }
        let begins = line.starts_with("include") && !line.starts_with("includeBuild");
        if begins || inside {
            let folders = quoted(line).into_iter();
            globs.extend(folders.map(|path| (path.trim_start_matches(':').replace(':', "/"), number)));
            inside = line.ends_with([',', '(']);
        }
    }
    let path = manifest.path.clone();
    manifest.includes(globs, &path);
    Ok(true)
}

pub(super) fn gradle(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    for (number, line) in numbered(text) {
        let trimmed = line.trim();
        if trimmed.starts_with("//") {
            continue;
        }
        let words =
            trimmed.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')).next().unwrap_or("");
        let plugin = matches!(words, "id" | "kotlin" | "apply" | "alias");
        for text in quoted(trimmed) {
            // `group:artifact:version`, or the name of a plugin.
            let mut parts = text.split(':');
            match (parts.next(), parts.next()) {
                (Some(group), Some(artifact)) if !artifact.is_empty() => {
                    manifest.depends(artifact, number);
                    manifest.depends(group, number);
                }
                (Some(name), _) if plugin => manifest.depends(name, number),
                _ => {}
            }
        }
        if trimmed.starts_with("useJUnitPlatform") || trimmed.contains(" useJUnitPlatform") {
            manifest.sections.push(("useJUnitPlatform".into(), number));
        }
        if let Some(rest) = trimmed.find("JavaLanguageVersion.of(").and_then(|at| trimmed.get(at + 23..)) {
            let version: String = rest.chars().take_while(char::is_ascii_digit).collect();
            manifest.toolchains.push(("java", version, number));
        }
        if let Some(class) = trimmed.strip_prefix("mainClass") {
            let name = quoted(class).first().map(|name| (*name).to_owned());
            name.into_iter().for_each(|name| manifest.enters(name, "main class", number));
        }
    }
    Ok(true)
}

pub(super) fn sbt(text: &str, _: &Scan<'_>, manifest: &mut Manifest) -> Result<bool, String> {
    for (number, line) in numbered(text) {
        let trimmed = line.trim();
        let texts = quoted(trimmed);
        if trimmed.contains('%') {
            texts.iter().for_each(|text| manifest.depends(*text, number));
        }
        let value = |key: &str| trimmed.contains(key).then(|| texts.first()).flatten();
        if let Some(name) = value("name :=").filter(|_| manifest.name.is_none()) {
            manifest.name = Some(((*name).to_owned(), number));
        }
        if let Some(version) = value("scalaVersion :=") {
            manifest.toolchains.push(("scala", (*version).to_owned(), number));
        }
    }
    Ok(true)
}
