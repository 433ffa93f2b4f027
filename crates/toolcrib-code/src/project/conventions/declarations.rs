//! Names that a line of code declares, told by its words.

use super::lex::Line;

/// Something that is declared.
#[derive(Debug, PartialEq)]
pub(super) struct Declared<'l> {
    pub(super) kind: &'static str,
    pub(super) name: &'l str,
    /// Whether others can use it.
    pub(super) public: bool,
}

fn declared<'l>(kind: &'static str, name: &'l str, public: bool) -> Option<Declared<'l>> {
    let first = name.chars().next()?;
    let word = first.is_alphabetic() || first == '_' || first == '$';
    word.then_some(Declared { kind, name, public })
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).filter(|word| !word.is_empty())
}

/// The name before the first `(`, and what comes before it.
fn before_call(code: &str) -> Option<(&str, &str)> {
    let head = code.split_once('(')?.0.trim_end();
    let start = head
        .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '~')))
        .map_or(0, |at| at + head.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    Some((head.get(start..)?, head.get(..start)?.trim_end()))
}

const CONTROL: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "throw",
    "new",
    "else",
    "do",
    "function",
    "super",
    "this",
    "await",
    "sizeof",
    "case",
    "typeof",
    "synchronized",
    "using",
    "lock",
    "foreach",
    "defined",
    "constructor",
    "try",
    "assert",
    "yield",
    "delete",
    "goto",
    "when",
    "with",
    "import",
    "match",
    "loop",
    "print",
];

/// What a line declares.
pub(super) fn of<'l>(language: &str, line: &'l Line<'_>) -> Option<Declared<'l>> {
    let code = line.trimmed();
    if code.is_empty() {
        return None;
    }
    match language {
        "Rust" => rust(code),
        "Python" => python(code, line.indented()),
        "TypeScript" | "JavaScript" => javascript(code, line.indented()),
        "Go" => go(code),
        "Java" | "C#" => java(code),
        "C" | "C++" | "Objective-C" => c(code, line.indented(), language),
        _ => other(code),
    }
}

fn rust(code: &str) -> Option<Declared<'_>> {
    // `pub(crate)` is not for others.
    let public = code.starts_with("pub ");
    let mut all = words(code).skip_while(|word| {
        matches!(*word, "pub" | "crate" | "super" | "self" | "in" | "async" | "unsafe" | "extern" | "default")
    });
    match all.next()? {
        "fn" => declared("function", all.next()?, public),
        "struct" | "enum" | "trait" | "union" | "type" => declared("type", all.next()?, public),
        "const" => match all.next()? {
            "fn" => declared("function", all.next()?, public),
            "unsafe" | "async" => all.nth(1).and_then(|name| declared("function", name, public)),
            name if code.contains(':') => declared("constant", name, public),
            _ => None,
        },
        "static" => {
            let name =
                all.next().map(|name| if name == "mut" { all.next().unwrap_or(name) } else { name })?;
            declared("constant", name, public)
        }
        "mod" => declared("module", all.next()?, public),
        "let" => {
            let name =
                all.next().map(|name| if name == "mut" { all.next().unwrap_or(name) } else { name })?;
            // A pattern declares more than one thing.
            let plain = code.trim_start_matches("let ").trim_start_matches("mut ").starts_with(name);
            let lower = name.starts_with(|c: char| c.is_lowercase() || c == '_');
            (plain && lower).then(|| declared("variable", name, false)).flatten()
        }
        _ => None,
    }
}

fn python(code: &str, indented: bool) -> Option<Declared<'_>> {
    let rest = code.strip_prefix("async ").unwrap_or(code);
    if let Some(name) = rest.strip_prefix("def ").and_then(|rest| words(rest).next()) {
        // What Python itself names says nothing.
        let own = !(name.starts_with("__") && name.ends_with("__"));
        return own.then(|| declared("function", name, !name.starts_with('_'))).flatten();
    }
    if let Some(name) = code.strip_prefix("class ").and_then(|rest| words(rest).next()) {
        return declared("type", name, !name.starts_with('_'));
    }
    let (left, right) = code.split_once('=')?;
    let name = left.split(':').next()?.trim();
    let plain = !right.starts_with('=') && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !plain || (name.starts_with("__") && name.ends_with("__")) {
        return None;
    }
    let right = right.trim_start();
    let literal = right
        .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '-' | '(' | '[' | '{'))
        || ["True", "False", "frozenset(", "re.compile("].iter().any(|start| right.starts_with(start));
    match (indented, literal) {
        (false, true) => declared("constant", name, false),
        (true, _) => declared("variable", name, false),
        _ => None,
    }
}

fn javascript(code: &str, indented: bool) -> Option<Declared<'_>> {
    let public = code.starts_with("export ");
    let mut all = words(code).skip_while(|word| {
        matches!(
            *word,
            "export"
                | "default"
                | "async"
                | "declare"
                | "abstract"
                | "public"
                | "private"
                | "protected"
                | "static"
                | "readonly"
                | "override"
        )
    });
    match all.next()? {
        "function" => declared("function", all.next()?, public),
        "class" | "interface" | "enum" => declared("type", all.next()?, public),
        "type" if code.contains('=') => declared("type", all.next()?, public),
        keyword @ ("const" | "let" | "var") => {
            let name = all.next()?;
            if name == "enum" {
                return declared("type", all.next()?, public);
            }
            let rest = code.split_once(keyword).map_or("", |(_, rest)| rest).trim_start();
            if !rest.starts_with(name) {
                return None;
            }
            let value = rest.split_once('=').map_or("", |(_, value)| value).trim_start();
            let function =
                value.starts_with("function") || value.starts_with("async ") || code.contains("=>");
            let literal =
                value.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '`' | '-'));
            if function && value.starts_with(|c: char| c == '(' || c == '<' || c.is_alphabetic()) {
                declared("function", name, public)
            } else if keyword == "const" && !indented && literal {
                declared("constant", name, public)
            } else if indented {
                declared("variable", name, false)
            } else {
                None
            }
        }
        _ => {
            let (name, before) = before_call(code)?;
            let modifiers = words(before).all(|word| {
                matches!(
                    word,
                    "async"
                        | "public"
                        | "private"
                        | "protected"
                        | "static"
                        | "get"
                        | "set"
                        | "override"
                        | "abstract"
                )
            });
            let method = indented
                && code.ends_with('{')
                && modifiers
                && !CONTROL.contains(&name)
                && !before.contains(['.', '=', '(']);
            let called = code.contains("=>") || code.contains("function");
            (method && !called).then(|| declared("function", name, false)).flatten()
        }
    }
}

fn go(code: &str) -> Option<Declared<'_>> {
    let exported = |name: &str| name.starts_with(char::is_uppercase);
    if let Some(rest) = code.strip_prefix("func ") {
        // A method has its receiver first.
        let rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest };
        let name = words(rest).next()?;
        return declared("function", name, exported(name));
    }
    if let Some(name) = code.strip_prefix("type ").and_then(|rest| words(rest).next()) {
        return declared("type", name, exported(name));
    }
    if let Some(name) = code.strip_prefix("const ").and_then(|rest| words(rest).next()) {
        return declared("constant", name, exported(name));
    }
    let (left, _) = code.split_once(":=")?;
    let name = left.split(',').next()?.trim();
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    plain.then(|| declared("variable", name, false)).flatten()
}

fn java(code: &str) -> Option<Declared<'_>> {
    if code.starts_with(['@', '}']) {
        return None;
    }
    const MODIFIERS: &[&str] = &[
        "public",
        "private",
        "protected",
        "static",
        "final",
        "abstract",
        "default",
        "synchronized",
        "native",
        "sealed",
        "internal",
        "virtual",
        "override",
        "async",
        "readonly",
        "partial",
        "unsafe",
        "non",
        "strictfp",
        "const",
    ];
    let public = code.starts_with("public ");
    let all: Vec<&str> = words(code).collect();
    let first = all.iter().position(|word| !MODIFIERS.contains(word))?;
    let (modifiers, rest) = all.split_at(first);
    if let [keyword, name, ..] = rest
        && matches!(*keyword, "class" | "interface" | "enum" | "record" | "struct")
    {
        return declared("type", name, public);
    }
    let constant =
        (modifiers.contains(&"static") && modifiers.contains(&"final")) || modifiers.contains(&"const");
    if constant && !code.split('=').next().unwrap_or_default().contains('(') {
        let name = words(code.split(['=', ';']).next()?).last()?;
        return declared("constant", name, public);
    }
    if let Some((name, before)) = before_call(code)
        && !before.contains(['=', '.', '(', '"'])
        && !CONTROL.contains(&name)
    {
        let typed = words(before).any(|word| !MODIFIERS.contains(&word));
        let control = words(before).any(|word| CONTROL.contains(&word));
        let defines = code.ends_with('{') || !modifiers.is_empty() || code.ends_with("},");
        return (typed && !control && defines).then(|| declared("function", name, public)).flatten();
    }
    let left =
        code.split_once('=').filter(|(_, right)| !right.starts_with('=')).map(|(left, _)| left.trim())?;
    let local = modifiers.is_empty() && !left.contains(['.', '(', '[', '+', '-', '!', '<', '>']);
    match left.split_whitespace().collect::<Vec<_>>().as_slice() {
        [kind, name] if local && !CONTROL.contains(kind) => declared("variable", name, false),
        _ => None,
    }
}

fn c<'l>(code: &'l str, indented: bool, language: &str) -> Option<Declared<'l>> {
    if let Some(rest) = code.strip_prefix("#define ") {
        let (name, value) = rest.split_once([' ', '\t'])?;
        let plain = !name.contains('(') && !value.trim().is_empty();
        return plain.then(|| declared("constant", name, true)).flatten();
    }
    if code.starts_with(['#', '}', ':', '*']) {
        return None;
    }
    let mut all =
        words(code).skip_while(|word| matches!(*word, "typedef" | "static" | "template" | "typename"));
    let first = all.next()?;
    if matches!(first, "struct" | "class" | "enum" | "union")
        && !code.contains(['(', '='])
        && !code.ends_with(';')
    {
        let name = all.next().map(|name| if name == "class" { all.next().unwrap_or(name) } else { name })?;
        return declared("type", name, true);
    }
    if matches!(first, "constexpr" | "const") && !indented && code.contains('=') && !code.contains('(') {
        let name = words(code.split(['=', '[']).next()?).last()?;
        return declared("constant", name, true);
    }
    let (name, before) = before_call(code)?;
    // A type, or in C++ the class that a method belongs to.
    let typed = before.chars().any(char::is_alphabetic) && !before.contains(['=', '(', '.', '"']);
    let defines = code.ends_with('{') || (!indented && !code.ends_with(';') && !code.ends_with(','));
    let control = CONTROL.contains(&name) || words(before).any(|word| CONTROL.contains(&word));
    let constructor = before.ends_with("::") && before.trim_end_matches("::").ends_with(name);
    let nested = indented && language != "C++";
    let shouted = name.chars().all(|c| c.is_uppercase() || c == '_');
    (typed && defines && !control && !constructor && !nested && !shouted && !name.starts_with('~'))
        .then(|| declared("function", name, !code.starts_with("static")))
        .flatten()
}

/// Languages without rules of their own: most say `func`, `def` or `class` in front of a name.
fn other(code: &str) -> Option<Declared<'_>> {
    let mut all = words(code);
    let mut public = true;
    for _ in 0..6 {
        let word = all.next()?;
        match word {
            "private" | "fileprivate" | "defp" | "local" => public = false,
            "fun" | "func" | "function" | "def" | "sub" | "proc" | "defn" => {
                return declared("function", all.next()?, public);
            }
            "class" | "struct" | "interface" | "enum" | "trait" | "protocol" | "object" | "module"
            | "defmodule" | "contract" => {
                let name = all.next()?;
                let name = if name == "class" { all.next().unwrap_or(name) } else { name };
                return declared("type", name, public);
            }
            "const" => {
                let name = words(code.split('=').next()?).last()?;
                return (name != "const").then(|| declared("constant", name, public)).flatten();
            }
            "public" | "open" | "internal" | "abstract" | "final" | "override" | "suspend" | "static"
            | "inline" | "data" | "sealed" | "protected" | "export" | "case" | "implicit" | "lazy"
            | "mutating" | "companion" | "pub" => {}
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::super::language::named;
    use super::super::lex::lex;
    use super::*;

    #[test]
    fn names_by_language() {
        for (language, code, expected) in [
            ("Rust", "pub(crate) async fn run_it(a: u8) {", "function run_it"),
            ("Rust", "pub const fn small() {", "function small"),
            ("Rust", "const MAX_SIZE: usize = 3;", "constant MAX_SIZE"),
            ("Rust", "    let mut a_b = 1;", "variable a_b"),
            ("Rust", "    let Some(x) = y else { return };", ""),
            ("Rust", "impl Foo {", ""),
            ("Python", "    async def do_it(self):", "function do_it"),
            ("Python", "def __init__(self):", ""),
            ("Python", "MAX = 3", "constant MAX"),
            ("Python", "app = Flask(name)", ""),
            ("Python", "if a == b:", ""),
            ("TypeScript", "export const getUser = async (id: string) => {", "function getUser"),
            ("TypeScript", "const MAX = 3;", "constant MAX"),
            ("TypeScript", "  private async loadAll(): Promise<void> {", "function loadAll"),
            ("TypeScript", "  if (a) {", ""),
            ("TypeScript", "  items.forEach((x) => {", ""),
            ("TypeScript", "  describe('a', () => {", ""),
            ("TypeScript", "export interface UserProps {", "type UserProps"),
            ("TypeScript", "  const { a, b } = c;", ""),
            ("Go", "func (s *Server) handleGet(w http.ResponseWriter) {", "function handleGet"),
            ("Go", "\tuserID := 1", "variable userID"),
            ("Java", "  public static final int MAX_SIZE = 3;", "constant MAX_SIZE"),
            ("Java", "  private List<String> findAll(int a) {", "function findAll"),
            ("Java", "  public Foo(int a) {", ""),
            ("Java", "    return find(a);", ""),
            ("Java", "    String userName = find(a);", "variable userName"),
            ("C", "static int parse_line(char *s)", "function parse_line"),
            ("C", "#define MAX_LEN 10", "constant MAX_LEN"),
            ("C", "    foo(bar);", ""),
            ("C", "typedef struct node {", "type node"),
            ("C++", "void Parser::parseLine(int a) {", "function parseLine"),
            ("C++", "Parser::Parser() {", ""),
            ("Kotlin", "private suspend fun loadAll() {", "function loadAll"),
            ("Ruby", "  def find_all", "function find_all"),
            ("Swift", "final class AppModel {", "type AppModel"),
        ] {
            let lexed = lex(named(language).unwrap(), code);
            let found = of(language, &lexed.lines[0]);
            let found = found.map_or(String::new(), |found| format!("{} {}", found.kind, found.name));
            assert_eq!(found, expected, "{language}: {code}");
        }
    }
}
