//! Which language a file is written in, and which files nobody wrote by hand.

/// How a language marks comments and strings.
#[derive(Debug, PartialEq)]
pub(crate) struct Syntax {
    /// What begins a comment to the end of the line.
    pub(crate) line: &'static [&'static str],
    /// What begins and ends a comment over lines.
    pub(crate) block: Option<(&'static str, &'static str)>,
    /// What strings are quoted by.
    pub(crate) quotes: &'static [char],
    /// Whether `"""` and `'''` quote strings over lines.
    pub(crate) triple: bool,
}

const C: Syntax = Syntax { line: &["//"], block: Some(("/*", "*/")), quotes: &['"', '\''], triple: false };
const TICKS: Syntax =
    Syntax { line: &["//"], block: Some(("/*", "*/")), quotes: &['"', '\'', '`'], triple: false };
const DOUBLE: Syntax = Syntax { line: &["//"], block: Some(("/*", "*/")), quotes: &['"'], triple: true };
const PYTHON: Syntax = Syntax { line: &["#"], block: None, quotes: &['"', '\''], triple: true };
const HASH: Syntax = Syntax { line: &["#"], block: None, quotes: &['"', '\''], triple: false };
const PHP: Syntax =
    Syntax { line: &["//", "#"], block: Some(("/*", "*/")), quotes: &['"', '\''], triple: false };
const DASHES: Syntax =
    Syntax { line: &["--"], block: Some(("/*", "*/")), quotes: &['"', '\''], triple: false };
const PERCENT: Syntax = Syntax { line: &["%"], block: None, quotes: &['"'], triple: false };
const LISP: Syntax = Syntax { line: &[";"], block: None, quotes: &['"'], triple: false };
const MARKUP: Syntax = Syntax { line: &[], block: Some(("<!--", "-->")), quotes: &[], triple: false };
const STYLE: Syntax = Syntax { line: &[], block: Some(("/*", "*/")), quotes: &['"', '\''], triple: false };

/// A language.
#[derive(Debug, PartialEq)]
pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// Endings of file names, or whole names.
    endings: &'static [&'static str],
    pub(crate) syntax: Syntax,
}

const fn language(name: &'static str, endings: &'static [&'static str], syntax: Syntax) -> Language {
    Language { name, endings, syntax }
}

/// Languages that people write programs and pages in. Data (JSON, YAML, TOML) and prose are not counted.
static LANGUAGES: &[Language] = &[
    language("Rust", &["rs"], C),
    language("Python", &["py", "pyi", "pyw"], PYTHON),
    language("TypeScript", &["ts", "tsx", "mts", "cts"], TICKS),
    language("JavaScript", &["js", "jsx", "mjs", "cjs"], TICKS),
    language("Go", &["go"], TICKS),
    language("Java", &["java"], C),
    language("Kotlin", &["kt", "kts"], DOUBLE),
    language("C", &["c", "h"], C),
    language("C++", &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "ipp", "inl"], C),
    language("C#", &["cs"], C),
    language("F#", &["fs", "fsx"], DOUBLE),
    language("Objective-C", &["m", "mm"], C),
    language("Swift", &["swift"], DOUBLE),
    language("Ruby", &["rb", "rake", "gemspec", "Gemfile", "Rakefile"], HASH),
    language("PHP", &["php"], PHP),
    language("Scala", &["scala", "sc", "sbt"], DOUBLE),
    language("Groovy", &["groovy", "gradle", "Jenkinsfile"], C),
    language("Elixir", &["ex", "exs"], PYTHON),
    language("Erlang", &["erl", "hrl"], PERCENT),
    language("Haskell", &["hs"], DASHES),
    language("OCaml", &["ml", "mli"], MARKUP),
    language("Dart", &["dart"], C),
    language("Lua", &["lua"], DASHES),
    language("Perl", &["pl", "pm"], HASH),
    language("R", &["r", "R"], HASH),
    language("Julia", &["jl"], PYTHON),
    language("Zig", &["zig"], C),
    language("Nim", &["nim"], HASH),
    language("Clojure", &["clj", "cljs", "cljc"], LISP),
    language("Emacs Lisp", &["el"], LISP),
    language("Shell", &["sh", "bash", "zsh"], HASH),
    language("PowerShell", &["ps1", "psm1"], HASH),
    language("SQL", &["sql"], DASHES),
    language("HTML", &["html", "htm"], MARKUP),
    language("CSS", &["css"], STYLE),
    language("SCSS", &["scss", "sass"], C),
    language("Less", &["less"], C),
    language("Vue", &["vue"], MARKUP),
    language("Svelte", &["svelte"], MARKUP),
    language("Protocol Buffers", &["proto"], C),
    language("GraphQL", &["graphql", "gql"], HASH),
    language("Terraform", &["tf"], HASH),
    language("Nix", &["nix"], HASH),
    language("Solidity", &["sol"], C),
    language("CMake", &["cmake", "CMakeLists.txt"], HASH),
    language("Makefile", &["mk", "Makefile", "GNUmakefile"], HASH),
    language("Dockerfile", &["dockerfile", "Dockerfile", "Containerfile"], HASH),
    language("Starlark", &["bzl", "BUILD", "BUILD.bazel"], PYTHON),
];

/// The language of a file, by its name.
pub(crate) fn of(path: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    LANGUAGES
        .iter()
        // Whole names begin with a capital: `Makefile`, and not a file that is called `rs`.
        .find(|language| name.starts_with(char::is_uppercase) && language.endings.contains(&name))
        .or_else(|| LANGUAGES.iter().find(|language| ending.is_some_and(|e| language.endings.contains(&e))))
}

/// The language by name.
#[cfg(test)]
pub(crate) fn named(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name == name)
}

/// Folders of code that was not written here.
const VENDORED: &[&str] = &[
    "node_modules",
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "bower_components",
    "site-packages",
    ".venv",
    "venv",
    "__pycache__",
    "jspm_packages",
    "Pods",
    "Carthage",
    ".yarn",
    "dist",
    ".next",
    ".nuxt",
    ".tox",
    ".nox",
    ".terraform",
    ".gradle",
    ".dart_tool",
    "deps",
];

/// Whether a path below the start lies in a folder of foreign or built code.
pub(crate) fn is_vendored(path: &str) -> bool {
    let Some((folders, _)) = path.rsplit_once('/') else { return false };
    // `deps` is where Elixir keeps its own; deeper it is as good a name as any.
    folders
        .split('/')
        .enumerate()
        .any(|(depth, name)| VENDORED.contains(&name) && (name != "deps" || depth == 0))
}

/// Folders whose projects are examples or material of tests and not part of what is built here.
pub(crate) fn is_material(path: &str) -> bool {
    const MATERIAL: &[&str] = &[
        "fixtures",
        "fixture",
        "__fixtures__",
        "testdata",
        "test-data",
        "test_data",
        "testcases",
        "examples",
        "example",
        "samples",
        "templates",
        "template",
        "snapshots",
        "__mocks__",
        "resources",
        "corpus",
    ];
    let Some((folders, _)) = path.rsplit_once('/') else { return false };
    folders.split('/').any(|name| MATERIAL.contains(&name))
}

/// Whether the name of a file says that a program wrote it.
pub(crate) fn is_generated_name(path: &str) -> bool {
    const MARKS: &[&str] = &[
        ".min.js",
        ".min.css",
        ".bundle.js",
        ".pb.go",
        ".pb.cc",
        ".pb.h",
        "_pb2.py",
        "_pb2_grpc.py",
        "_pb.js",
        "_pb.d.ts",
        ".g.dart",
        ".freezed.dart",
        ".designer.cs",
        ".Designer.cs",
        ".g.cs",
        "_generated.go",
        "_generated.rs",
        "_gen.go",
        ".pb.swift",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    MARKS.iter().any(|mark| name.ends_with(mark))
        || name.contains(".generated.")
        || name.starts_with("zz_generated")
}

/// Whether the first lines of a file say that a program wrote it.
pub(crate) fn is_generated_text(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default();
    let head = String::from_utf8_lossy(head);
    head.lines().take(12).any(|line| {
        let line = line.trim_start();
        let comment = ["//", "#", "/*", "*", "--", "<!--", ";", "%", "\"\"\""]
            .iter()
            .any(|mark| line.starts_with(mark));
        let lower = line.to_ascii_lowercase();
        comment
            && (lower.contains("@generated")
                || (lower.contains("generated") && lower.contains("do not edit"))
                || (lower.contains("generated by") && lower.contains("edit")))
    })
}

/// How many lines a file has; none if it is binary.
pub(crate) fn lines(bytes: &[u8]) -> Option<usize> {
    let head = bytes.get(..bytes.len().min(8192)).unwrap_or_default();
    if head.contains(&0) {
        return None;
    }
    let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
    Some(newlines + usize::from(bytes.last().is_some_and(|last| *last != b'\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_by_name() {
        let name = |path: &str| of(path).map(|language| language.name);
        assert_eq!(name("a/b.tsx"), Some("TypeScript"));
        assert_eq!(name("Makefile"), Some("Makefile"));
        assert_eq!([name("a.json"), name(".rs"), name("rs"), name("README.md")], [None; 4]);
        let mut endings: Vec<_> = LANGUAGES.iter().flat_map(|language| language.endings).collect();
        endings.sort_unstable();
        let all = endings.len();
        endings.dedup();
        assert_eq!(all, endings.len(), "an ending belongs to one language");
    }

    #[test]
    fn generated_and_vendored() {
        assert!(
            is_vendored("a/node_modules/b.js") && !is_vendored("vendor") && !is_vendored("src/deps/a.rs")
        );
        assert!(is_generated_name("api/x.pb.go") && !is_generated_name("min.js"));
        assert!(is_generated_text(b"// Code generated by protoc. DO NOT EDIT.\n"));
        assert!(!is_generated_text(b"let text = \"@generated\";\n"));
        assert_eq!(
            [lines(b""), lines(b"a"), lines(b"a\n"), lines(b"a\0b")],
            [Some(0), Some(1), Some(1), None]
        );
    }
}
