//! What one file shows: indentation, lengths, quotes, names, docs, tests, errors.

use std::collections::{BTreeMap, HashSet};

use super::super::language::Language;
use super::declarations;
use super::lex::{Lexed, Line, lex};
use super::measure::{name_style, share};
use super::{Facts, LineLength, MAX_LENGTH, imports};

/// Everything that a file shows.
pub(super) fn measure(path: &str, language: &Language, text: &str, local: &HashSet<String>) -> Facts {
    let lexed = lex(language, text);
    let mut facts = Facts::default();
    let name = language.name;
    indent(path, &lexed, &mut facts);
    for line in lexed.lines.iter().filter(|line| !line.raw.trim().is_empty()) {
        *facts.lengths.entry(line.raw.chars().count().min(MAX_LENGTH)).or_default() += 1;
    }
    if matches!(name, "Python" | "JavaScript" | "TypeScript" | "Ruby" | "PHP" | "Dart" | "Lua") {
        facts.many("quotes", "single", lexed.single, path);
        facts.many("quotes", "double", lexed.double, path);
    }
    if matches!(name, "JavaScript" | "TypeScript") {
        semicolons(path, &lexed.lines, &mut facts);
    }
    file_name(path, name, &mut facts);
    names(path, name, &lexed.lines, &mut facts);
    imports::measure(name, path, &lexed.lines, local, &mut facts);
    tests(path, name, &lexed.lines, &mut facts);
    errors(name, path, &lexed.lines, &mut facts);
    facts
}

/// The unit of indentation, by how much deeper lines are than those above them. Counted in indented lines.
fn indent(path: &str, lexed: &Lexed<'_>, facts: &mut Facts) {
    let (mut tabs, mut spaces) = (0, 0);
    let mut steps: BTreeMap<usize, usize> = BTreeMap::new();
    let mut above = 0;
    for line in lexed.lines.iter().filter(|line| !line.inside && !line.trimmed().is_empty()) {
        let width = line.raw.len() - line.raw.trim_start_matches(' ').len();
        tabs += usize::from(line.raw.starts_with('\t'));
        spaces += usize::from(width > 0);
        if width > above && !line.raw.starts_with('\t') {
            *steps.entry(width - above).or_default() += 1;
        }
        above = width;
    }
    facts.many("indent", "tabs", tabs, path);
    let unit = steps
        .into_iter()
        .filter(|(step, _)| matches!(step, 1..=8))
        .max_by_key(|(step, count)| (*count, std::cmp::Reverse(*step)));
    if let Some((unit, _)) = unit {
        facts.many("indent", &format!("{unit} spaces"), spaces, path);
    }
}

/// How long lines are.
pub(super) fn line_length(lengths: &BTreeMap<usize, usize>) -> LineLength {
    let n: usize = lengths.values().sum();
    let at = |part: usize| {
        let mut sum = 0;
        let found = lengths.iter().find(|(_, count)| {
            sum += **count;
            sum * 100 >= n * part
        });
        found.map_or(0, |(length, _)| *length)
    };
    let within = |limit: usize| lengths.range(..=limit).map(|(_, count)| count).sum::<usize>();
    let limit =
        [72, 79, 80, 88, 100, 110, 120, 140, 160].into_iter().find(|limit| within(*limit) * 100 >= n * 99);
    let plain = limit.filter(|_| n >= 20);
    LineLength {
        style: plain.map_or_else(|| "none".to_owned(), |limit| limit.to_string()),
        share: plain.map_or(0.0, |limit| share(within(limit), n)),
        n,
        p50: at(50),
        p95: at(95),
        max: lengths.keys().next_back().copied().unwrap_or(0),
    }
}

/// Lines that end a statement, with or without one.
fn semicolons(path: &str, lines: &[Line<'_>], facts: &mut Facts) {
    let code: Vec<&Line<'_>> = lines.iter().filter(|line| !line.trimmed().is_empty()).collect();
    for (index, line) in code.iter().enumerate() {
        let text = line.trimmed();
        if text.ends_with(';') {
            facts.add("semicolons", "always", path);
            continue;
        }
        let statement =
            ["const ", "let ", "var ", "return", "import ", "throw ", "break", "continue", "await ", "this."]
                .iter()
                .any(|start| text.starts_with(start));
        let open = text
            .ends_with(['{', '(', '[', ',', '+', '-', '*', '/', '=', '&', '|', '?', ':', '<', '>', '.', '`']);
        // The next line may go on with it.
        let next = code.get(index + 1).map_or("", |next| next.trimmed());
        let goes_on = next.starts_with(['.', '?', ':', '+', '-', '*', '/', '&', '|', '=', ')', ']', ',']);
        if statement && !open && !goes_on {
            facts.add("semicolons", "never", path);
        }
    }
}

fn file_name(path: &str, language: &str, facts: &mut Facts) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    // Names that the language or a framework prescribes.
    let given = matches!(
        stem,
        "mod"
            | "lib"
            | "main"
            | "build"
            | "index"
            | "__init__"
            | "__main__"
            | "setup"
            | "conftest"
            | "doc"
            | "manage"
    );
    let stem = match language {
        "Go" => stem.strip_suffix("_test").unwrap_or(stem),
        "Python" => stem.strip_prefix("test_").unwrap_or(stem),
        _ => stem,
    };
    if !given && let Some(style) = name_style(stem) {
        facts.add("naming.file", style, name);
    }
}

fn names(path: &str, language: &str, lines: &[Line<'_>], facts: &mut Facts) {
    let mut is_test = false;
    for (index, line) in lines.iter().enumerate() {
        let code = line.trimmed();
        if code.starts_with("#[") || code.starts_with('@') {
            is_test |= code.ends_with("test]")
                || code.starts_with("#[test")
                || code.starts_with("@Test")
                || code.starts_with("#[tokio::test");
        }
        if line.inside || code.is_empty() {
            continue;
        }
        let Some(found) = declarations::of(language, line) else { continue };
        let test = match language {
            "Python" => found.kind == "function" && found.name.starts_with("test"),
            "Go" => found.kind == "function" && found.name.starts_with("Test") && path.ends_with("_test.go"),
            _ => found.kind == "function" && std::mem::take(&mut is_test),
        };
        let topic = match found.kind {
            _ if test => "naming.test",
            "function" => "naming.function",
            "type" => "naming.type",
            "constant" => "naming.constant",
            "variable" => "naming.variable",
            _ => "naming.module",
        };
        // A component is called like a type in every project that has any.
        let component = topic == "naming.function"
            && (path.ends_with(".tsx") || path.ends_with(".jsx"))
            && found.name.starts_with(char::is_uppercase);
        if let Some(style) = name_style(found.name).filter(|_| !component) {
            facts.add(topic, style, found.name);
        }
        if found.public && !test && matches!(found.kind, "function" | "type") {
            docs(path, language, lines, index, found.name, facts);
        }
    }
}

/// Whether the item on a line is documented.
fn docs(path: &str, language: &str, lines: &[Line<'_>], index: usize, name: &str, facts: &mut Facts) {
    let form =
        if language == "Python" { docstring(lines, index) } else { comment_above(language, lines, index) };
    facts.public += 1;
    match form {
        Some(form) => {
            facts.documented += 1;
            facts.add("docs", form, name);
        }
        None if facts.undocumented.len() < 5 => {
            facts.undocumented.push(format!("{name} ({path}:{})", index + 1))
        }
        None => {}
    }
}

fn docstring(lines: &[Line<'_>], index: usize) -> Option<&'static str> {
    // The signature may go on over lines.
    let end = lines.iter().skip(index).take(40).position(|line| line.trimmed().ends_with(':'))?;
    let body = lines.iter().skip(index + end + 1).find(|line| !line.raw.trim().is_empty())?;
    let text = body.raw.trim().trim_start_matches(['r', 'R', 'u', 'b']);
    (text.starts_with("\"\"\"") || text.starts_with("'''") || text.starts_with('"')).then_some("docstring")
}

fn comment_above(language: &str, lines: &[Line<'_>], index: usize) -> Option<&'static str> {
    for line in lines.get(..index)?.iter().rev().take(30) {
        let text = line.raw.trim();
        let attribute = text.starts_with("#[") || text.starts_with('@') || text.ends_with(")]");
        if attribute && !text.starts_with("#[doc") {
            continue;
        }
        return match text {
            _ if text.starts_with("///") || text.starts_with("#[doc") => Some("///"),
            _ if language == "Rust" => text.ends_with("*/").then_some("/** */"),
            _ if text.ends_with("*/") => Some("/** */"),
            _ if text.starts_with("//") => Some("//"),
            _ if text.starts_with('#') && !text.starts_with("#include") && !text.starts_with("#define") => {
                Some("#")
            }
            _ if text.starts_with("--") => Some("--"),
            _ => None,
        };
    }
    None
}

/// Where a test file lies and what it is called.
fn tests(path: &str, language: &str, lines: &[Line<'_>], facts: &mut Facts) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let folders: Vec<&str> = path.split('/').rev().skip(1).collect();
    let last = ending.rsplit('.').next().unwrap_or_default();
    let pattern = match language {
        _ if ending.starts_with("test.") => Some(format!("*.test.{last}")),
        _ if ending.starts_with("spec.") => Some(format!("*.spec.{last}")),
        _ if stem.starts_with("test_") => Some(format!("test_*.{last}")),
        _ if stem.ends_with("_test") => Some(format!("*_test.{last}")),
        _ if stem.ends_with("_spec") => Some(format!("*_spec.{last}")),
        "Java" | "Kotlin" | "C#" | "Scala" | "PHP" | "Swift" => {
            let endings = ["Tests", "Test", "IT", "Spec"];
            endings.iter().find(|end| stem.ends_with(*end)).map(|end| format!("*{end}.{last}"))
        }
        _ => None,
    };
    let rust_inline =
        language == "Rust" && lines.iter().any(|line| line.trimmed().starts_with("#[cfg(test)]"));
    let in_tests = folders.iter().find(|folder| matches!(**folder, "tests" | "test" | "spec" | "__tests__"));
    if rust_inline {
        facts.add("tests.layout", "inline", path);
    }
    let rust_file =
        language == "Rust" && in_tests.is_some() && lines.iter().any(|line| line.trimmed().contains("test]"));
    if pattern.is_none() && !rust_file {
        return;
    }
    let layout = match in_tests {
        Some(&"__tests__") => "__tests__/",
        Some(_) if path.contains("src/test/") => "src/test/",
        Some(&"spec") => "spec/",
        Some(_) => "tests/",
        None => "beside",
    };
    facts.add("tests.layout", layout, path);
    if let Some(pattern) = pattern {
        facts.add("tests.naming", &pattern, name);
    }
}

/// Signs of how errors are passed on: the sign, the way it stands for, and what it is counted as.
type Sign = (&'static str, &'static str, &'static str);

fn signs(language: &str) -> &'static [Sign] {
    match language {
        "Rust" => &[
            ("Result<", "Result", "Result"),
            ("?;", "Result", "?"),
            ("?)", "Result", "?"),
            ("?.", "Result", "?"),
            (".unwrap()", "panics", "unwrap"),
            (".expect(", "panics", "expect"),
            ("panic!(", "panics", "panic!"),
            ("anyhow::", "", "anyhow"),
            ("thiserror::", "", "thiserror"),
            ("eyre::", "", "eyre"),
            ("snafu::", "", "snafu"),
        ],
        "Python" => &[
            ("raise ", "exceptions", "raise"),
            ("except ", "exceptions", "except"),
            ("except:", "exceptions", "bare except"),
            ("Exception):", "", "own exceptions"),
            ("Error):", "", "own exceptions"),
        ],
        "TypeScript" | "JavaScript" => &[
            ("throw ", "exceptions", "throw"),
            ("catch (", "exceptions", "catch"),
            ("catch {", "exceptions", "catch"),
            (".catch(", "promises", ".catch()"),
            ("extends Error", "", "own errors"),
            ("neverthrow", "", "neverthrow"),
        ],
        "Go" => &[
            ("err != nil", "error returns", "err != nil"),
            ("panic(", "panics", "panic"),
            ("errors.New(", "", "errors.New"),
            ("fmt.Errorf(", "", "fmt.Errorf"),
            ("errors.Is(", "", "errors.Is"),
            ("errors.As(", "", "errors.As"),
        ],
        "Java" | "Kotlin" | "C#" | "Scala" => &[
            ("throw ", "exceptions", "throw"),
            ("throws ", "exceptions", "throws"),
            ("catch (", "exceptions", "catch"),
            ("Optional<", "", "Optional"),
            ("Result<", "results", "Result"),
        ],
        "C" => &[
            ("return -", "error codes", "return -"),
            ("errno", "error codes", "errno"),
            ("return NULL", "error codes", "return NULL"),
            ("goto ", "error codes", "goto"),
            ("abort(", "aborts", "abort"),
            ("exit(", "aborts", "exit"),
        ],
        "C++" => &[
            ("throw ", "exceptions", "throw"),
            ("catch (", "exceptions", "catch"),
            ("std::expected<", "values", "std::expected"),
            ("std::optional<", "values", "std::optional"),
            ("return -1", "error codes", "return -1"),
            ("noexcept", "", "noexcept"),
        ],
        "Ruby" => &[("raise ", "exceptions", "raise"), ("rescue", "exceptions", "rescue")],
        "PHP" | "Dart" | "Swift" => &[("throw ", "exceptions", "throw"), ("catch", "exceptions", "catch")],
        _ => &[],
    }
}

fn errors(language: &str, path: &str, lines: &[Line<'_>], facts: &mut Facts) {
    let signs = signs(language);
    let test_file = path.contains("test") || path.contains("/benches/") || path.contains("examples/");
    if signs.is_empty() || test_file {
        return;
    }
    // Tests at the end of a file may panic as they please.
    let own = lines.iter().take_while(|line| !line.trimmed().starts_with("#[cfg(test)]"));
    for line in own.filter(|line| !line.trimmed().is_empty()) {
        for (sign, way, what) in signs {
            let code = line.code.as_str();
            let word = sign.starts_with(|c: char| c.is_alphabetic());
            let count = code.match_indices(sign).filter(|(at, _)| {
                let before = code.get(..*at).and_then(|head| head.chars().next_back());
                !word || before.is_none_or(|c| !(c.is_alphanumeric() || c == '_')) || sign.ends_with("):")
            });
            let count = count.count();
            if count > 0 {
                *facts.uses.entry((*what).to_owned()).or_default() += count;
                if !way.is_empty() {
                    facts.many("errors", way, count, path);
                }
            }
        }
    }
}
