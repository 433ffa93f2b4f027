//! How a file imports: in which order, in which groups, in which form.

use std::collections::HashSet;

use super::Facts;
use super::lex::Line;

/// Where an import comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Standard,
    External,
    Local,
}

impl Origin {
    fn name(self) -> &'static str {
        match self {
            Self::Standard => "std",
            Self::External => "external",
            Self::Local => "local",
        }
    }
}

struct Import<'t> {
    line: usize,
    module: &'t str,
    origin: Origin,
    form: &'static str,
}

const PYTHON: &[&str] = &[
    "__future__",
    "abc",
    "argparse",
    "array",
    "ast",
    "asyncio",
    "base64",
    "bisect",
    "builtins",
    "collections",
    "concurrent",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "errno",
    "fnmatch",
    "fractions",
    "ftplib",
    "functools",
    "gc",
    "getpass",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "http",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "locale",
    "logging",
    "math",
    "mimetypes",
    "multiprocessing",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "platform",
    "pprint",
    "queue",
    "random",
    "re",
    "secrets",
    "select",
    "shlex",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "sqlite3",
    "ssl",
    "stat",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sys",
    "sysconfig",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "unittest",
    "urllib",
    "uuid",
    "venv",
    "warnings",
    "weakref",
    "xml",
    "zipfile",
    "zlib",
    "zoneinfo",
];

const NODE: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "crypto",
    "dns",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "querystring",
    "readline",
    "stream",
    "timers",
    "tls",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
];

fn between(text: &str, open: char, close: char) -> Option<&str> {
    text.split_once(open)?.1.split_once(close).map(|(inner, _)| inner)
}

/// Everything after the quote up to the next one.
fn quoted(text: &str) -> Option<&str> {
    let open = text.find(['"', '\'', '`'])?;
    let quote = text.get(open..)?.chars().next()?;
    text.get(open + 1..)?.split(quote).next()
}

fn rust(raw: &str) -> Option<(&str, Origin, &'static str)> {
    let path = raw.strip_prefix("use ")?.trim_end_matches(';');
    let first = path.trim_start_matches("::").split([':', ';', ' ', '{']).next()?;
    let origin = match first {
        "std" | "core" | "alloc" => Origin::Standard,
        "crate" | "self" | "super" => Origin::Local,
        _ => Origin::External,
    };
    let form = match () {
        () if path.contains('{') => "nested",
        () if path.ends_with('*') => "wildcard",
        () => "single",
    };
    Some((path, origin, form))
}

fn python<'t>(raw: &'t str, local: &HashSet<String>) -> Option<(&'t str, Origin, &'static str)> {
    let (module, form) = match raw.strip_prefix("from ") {
        Some(rest) => {
            let (module, names) = rest.split_once(" import")?;
            let form = if names.trim() == "*" { "wildcard" } else { "from import" };
            (module.trim(), form)
        }
        None => (raw.strip_prefix("import ")?.split([',', ' ', '#']).next()?, "import"),
    };
    let first = module.split('.').next()?;
    let origin = match () {
        () if module.starts_with('.') || local.contains(first) => Origin::Local,
        () if PYTHON.contains(&first) => Origin::Standard,
        () => Origin::External,
    };
    Some((module, origin, form))
}

fn javascript(raw: &str) -> Option<(&str, Origin, &'static str)> {
    let required =
        raw.contains("require(") && ["const ", "let ", "var "].iter().any(|word| raw.starts_with(word));
    let tail = raw.strip_prefix("} from ");
    if !raw.starts_with("import ") && !required && tail.is_none() {
        return None;
    }
    let source = match (tail, raw.rsplit_once(" from ")) {
        (Some(tail), _) => tail,
        (_, Some((_, tail))) => tail,
        _ if required => raw.split_once("require(")?.1,
        _ => raw,
    };
    let module = quoted(source)?;
    let clause = raw.strip_prefix("import ").unwrap_or_default().trim_start_matches("type ");
    let form = match clause.chars().next() {
        _ if required => "require",
        _ if tail.is_some() => "named",
        Some('{') => "named",
        Some('*') => "namespace",
        Some('"' | '\'') => "side effect",
        _ => "default",
    };
    let origin = match () {
        () if module.starts_with(['.', '~', '#'])
            || module.starts_with("@/")
            || module.starts_with("$lib") =>
        {
            Origin::Local
        }
        () if module.starts_with("node:") || NODE.contains(&module.split('/').next().unwrap_or(module)) => {
            Origin::Standard
        }
        () => Origin::External,
    };
    Some((module, origin, form))
}

/// The imports at the top level of a file.
fn all<'t>(language: &str, lines: &[Line<'t>], local: &HashSet<String>) -> Vec<Import<'t>> {
    let mut found = Vec::new();
    let mut block = false;
    for (line, text) in lines.iter().enumerate().filter(|(_, text)| !text.inside) {
        let raw = text.raw.trim();
        let top = !text.indented();
        let import = match language {
            "Rust" if top => rust(raw),
            "Python" if top => python(raw, local),
            "TypeScript" | "JavaScript" if top => javascript(raw),
            "Go" => {
                if raw == "import (" {
                    block = true;
                    continue;
                }
                block &= !raw.starts_with(')');
                let inside = block.then_some(raw).or_else(|| raw.strip_prefix("import ").filter(|_| top));
                inside.and_then(quoted).map(|module| {
                    let dotted = module.split('/').next().unwrap_or_default().contains('.');
                    (
                        module,
                        if dotted { Origin::External } else { Origin::Standard },
                        if block { "block" } else { "single" },
                    )
                })
            }
            "Java" | "Kotlin" | "Scala" if top => raw.strip_prefix("import ").map(|module| {
                let module = module.trim_start_matches("static ").trim_end_matches(';');
                let standard =
                    ["java.", "javax.", "kotlin.", "scala."].iter().any(|start| module.starts_with(start));
                let form = if module.ends_with(".*") { "wildcard" } else { "single" };
                (module, if standard { Origin::Standard } else { Origin::External }, form)
            }),
            "C" | "C++" if top => raw.strip_prefix("#include").and_then(|rest| match rest.trim_start() {
                rest if rest.starts_with('<') => Some((between(rest, '<', '>')?, Origin::Standard, "<>")),
                rest => Some((quoted(rest)?, Origin::Local, "\"\"")),
            }),
            _ => None,
        };
        found.extend(import.map(|(module, origin, form)| Import { line, module, origin, form }));
    }
    found
}

/// Adds what a file shows.
pub(super) fn measure(
    language: &str,
    path: &str,
    lines: &[Line<'_>],
    local: &HashSet<String>,
    facts: &mut Facts,
) {
    let imports = all(language, lines, local);
    for import in &imports {
        facts.add("imports.form", import.form, import.module);
        if import.origin == Origin::Local && matches!(language, "TypeScript" | "JavaScript" | "Python") {
            let style = if import.module.starts_with('.') { "relative" } else { "absolute" };
            facts.add("imports.paths", style, import.module);
        }
    }
    // Runs of imports with nothing but other imports between them.
    let blank = |from: usize, to: usize| {
        lines.get(from + 1..to).unwrap_or_default().iter().any(|line| line.raw.trim().is_empty())
    };
    let (mut pairs, mut sorted) = (0, CAPITALS.map(|capitals| (capitals, true)));
    for pair in imports.windows(2) {
        let [one, next] = pair else { continue };
        // isort and ruff put `import a` before `from a import b`.
        let comparable = language != "Python" || one.form == next.form;
        if !blank(one.line, next.line) && one.origin == next.origin && comparable {
            pairs += 1;
            for (capitals, holds) in &mut sorted {
                *holds &= key(one.module, *capitals) <= key(next.module, *capitals);
            }
        }
    }
    if pairs > 0 {
        facts.add(
            "imports.order",
            if sorted.iter().any(|(_, holds)| *holds) { "alphabetical" } else { "unordered" },
            path,
        );
    }
    groups(path, &imports, blank, facts);
}

/// What capitals are compared as: like small letters, before them or after them. Every formatter has its own opinion,
/// and a file is in order if it is by one of them.
const CAPITALS: [char; 3] = ['2', '1', '3'];

/// Compared part by part, so that `serde::x` comes before `serde_json`; a list in braces comes last.
fn key(module: &str, capitals: char) -> Vec<String> {
    let rank = |part: &str| match part.chars().next() {
        _ if matches!(part, "self" | "super" | "crate") => '0',
        Some(first) if first.is_uppercase() => capitals,
        Some('{') => '4',
        _ => '2',
    };
    let parts = module.split("::").flat_map(|part| part.split(['/', '.']));
    parts.map(|part| format!("{}{}", rank(part), part.to_ascii_lowercase())).collect()
}

/// The order that most styles ask for.
const USUAL: [Origin; 3] = [Origin::Standard, Origin::External, Origin::Local];

fn groups(path: &str, imports: &[Import<'_>], blank: impl Fn(usize, usize) -> bool, facts: &mut Facts) {
    let mut order: Vec<Origin> = Vec::new();
    let (mut mixed, mut apart) = (false, true);
    for (index, import) in imports.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| imports.get(before));
        if before.is_some_and(|before| before.origin == import.origin) {
            continue;
        }
        mixed |= order.contains(&import.origin);
        apart &= before.is_none_or(|before| blank(before.line, import.line));
        order.push(import.origin);
    }
    if order.len() < 2 {
        return;
    }
    // A file that lacks one of the groups keeps the order all the same.
    let place = |origin: &Origin| USUAL.iter().position(|usual| usual == origin);
    let shown: &[Origin] = if order.is_sorted_by_key(place) { &USUAL } else { &order };
    let names: Vec<&str> = shown.iter().map(|origin| origin.name()).collect();
    let style = match (mixed, apart) {
        (true, _) => "mixed".to_owned(),
        (_, true) => format!("{}, blank lines between", names.join(" → ")),
        _ => format!("{}, no blank lines", names.join(" → ")),
    };
    facts.add("imports.groups", &style, path);
}
