//! A `*.tool.toml` file, read and checked as a whole: what loads can run.

use std::time::Duration;

use semver::Version;
use serde_json::{Value, json};
use toml::de::DeTable;
use toolcrib_core::Capabilities;
use toolcrib_core::executor::validate::Validator;
use toolcrib_core::json::{JsonLimits, parse_arguments};
use toolcrib_core::sanitize::visible;
use toolcrib_core::schema::tighten;

use crate::names;
use crate::node::{Node, Problem, Table, line_of};
use crate::template::{Element, Text, is_parameter};

/// How large a file may be.
pub(crate) const MAX_BYTES: usize = 64 << 10;
const MAX_DESCRIPTION: usize = 4000;
const MAX_TIMEOUT: f64 = 600.0;
const DEFAULT_TIMEOUT: f64 = 60.0;
/// Patterns of a schema: each may take a megabyte once it is compiled.
const MAX_PATTERNS: usize = 32;
/// Values of a schema.
const MAX_VALUES: usize = 4000;
/// What the names of variables begin with. What a loader, a shell or an interpreter obeys begins otherwise.
const ENV_PREFIX: &str = "TOOL_";
/// Names with a meaning of their own in languages that read JSON.
const REFUSED_PARAMETERS: &[&str] = &["__proto__", "constructor", "prototype"];

const KEYS: &[&str] = &[
    "name",
    "version",
    "title",
    "description",
    "capabilities",
    "command",
    "stdin",
    "cwd",
    "timeout",
    "env",
    "exit_codes",
    "parameters",
    "result",
    "examples",
];

/// What a program's output is.
#[derive(Clone, Debug)]
pub enum Results {
    /// Text.
    Text,
    /// One JSON value, which fits the schema if there is one.
    Json(Option<Value>),
}

/// A tool as its file describes it.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// A short name for people.
    pub title: String,
    /// What a model reads.
    pub description: String,
    /// What it can do. It always executes a command.
    pub capabilities: Capabilities,
    /// JSON Schema of its parameters, closed.
    pub parameters: Value,
    /// Where it runs, relative to the workspace.
    pub cwd: Option<String>,
    /// When it is stopped.
    pub timeout: Duration,
    /// Whether its arguments are JSON on its standard input.
    pub json_input: bool,
    /// Exit codes that mean that it went well.
    pub exit_codes: Vec<i32>,
    /// What its output is.
    pub results: Results,
    /// Example inputs.
    pub examples: Vec<Value>,
    pub(crate) command: Vec<Element>,
    pub(crate) env: Vec<(String, Text)>,
}

impl Manifest {
    /// Reads a file.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        if bytes.len() > MAX_BYTES {
            return Err(Problem::whole(format!("the file has more than {MAX_BYTES} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| Problem {
            line: Some(bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1),
            message: "the file is not UTF-8 text".into(),
        })?;
        let table = DeTable::parse(text).map_err(|error| Problem {
            line: error.span().map(|span| line_of(text, span.start)),
            message: visible(error.message()).trim_end().replace('\n', ", "),
        })?;
        Self::read(&Table::root(text, &table))
    }

    fn read(root: &Table<'_>) -> Result<Self, Problem> {
        root.only(KEYS)?;
        let name = root.need("name", "what the tool is called")?;
        names::check(name.text()?).map_err(|why| name.wrong(why))?;
        let name = name.text()?.to_owned();
        let description = root.need("description", "what a model reads to know when to use it")?;
        if description.shown(MAX_DESCRIPTION)?.trim().is_empty() {
            return Err(description.wrong("it is empty: say what the tool does and when to use it"));
        }
        let parameters = parameters(root)?;
        let command = command(&root.need("command", "the program and its arguments, a list")?, &parameters)?;
        let manifest = Self {
            version: version(root)?,
            title: title(root, &name)?,
            description: description.text()?.trim().to_owned(),
            capabilities: capabilities(root)?,
            cwd: root.get("cwd").map(|cwd| cwd.shown(1000).map(str::to_owned)).transpose()?,
            timeout: timeout(root)?,
            json_input: json_input(root)?,
            exit_codes: exit_codes(root)?,
            results: results(root)?,
            examples: examples(root, &parameters)?,
            env: env(root, &parameters)?,
            name,
            parameters,
            command,
        };
        Ok(manifest)
    }
}

fn version(root: &Table<'_>) -> Result<Version, Problem> {
    let Some(node) = root.get("version") else { return Ok(Version::new(1, 0, 0)) };
    Version::parse(node.text()?).map_err(|error| node.wrong(format!("{error}: write it like 1.0.0")))
}

fn title(root: &Table<'_>, name: &str) -> Result<String, Problem> {
    match root.get("title") {
        Some(node) => node.shown(80).map(str::to_owned),
        None => Ok(name.replace(['_', '-'], " ")),
    }
}

fn capabilities(root: &Table<'_>) -> Result<Capabilities, Problem> {
    let mut found = Capabilities { writes_files: false, ..Capabilities::executes() };
    for word in root.get("capabilities").map(|node| node.list()).transpose()?.unwrap_or_default() {
        match word.text()? {
            // Whatever it does, it reads and it is a program.
            "read" | "execute" => {}
            "write" => found.writes_files = true,
            "network" => found.accesses_network = true,
            "idempotent" => found.idempotent = true,
            "retryable" => found.retryable = true,
            _ => return Err(word.wrong("use read, write, execute, network, idempotent or retryable")),
        }
    }
    Ok(found)
}

fn timeout(root: &Table<'_>) -> Result<Duration, Problem> {
    let Some(node) = root.get("timeout") else { return Ok(Duration::from_secs_f64(DEFAULT_TIMEOUT)) };
    let seconds = node.number()?;
    if !(0.001..=MAX_TIMEOUT).contains(&seconds) {
        return Err(node.wrong(format!("expected seconds, at most {MAX_TIMEOUT}")));
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn json_input(root: &Table<'_>) -> Result<bool, Problem> {
    let Some(node) = root.get("stdin") else { return Ok(false) };
    match node.text()? {
        "json" => Ok(true),
        "none" => Ok(false),
        _ => Err(node.wrong("use \"json\" to get the arguments as one JSON object, or leave it out")),
    }
}

fn exit_codes(root: &Table<'_>) -> Result<Vec<i32>, Problem> {
    let Some(node) = root.get("exit_codes") else { return Ok(vec![0]) };
    let code = |node: &Node<'_>| {
        let code = i32::try_from(node.integer()?).ok().filter(|code| (0..256).contains(code));
        code.ok_or_else(|| node.wrong("an exit code is from 0 to 255"))
    };
    node.list()?.iter().map(code).collect()
}

fn results(root: &Table<'_>) -> Result<Results, Problem> {
    let Some(node) = root.get("result") else { return Ok(Results::Text) };
    let table = node.table()?;
    table.only(&["format", "schema"])?;
    let format = table.need("format", "text or json")?;
    let schema = table.get("schema");
    match (format.text()?, schema) {
        ("text", None) => Ok(Results::Text),
        ("text", Some(node)) => Err(node.wrong("text has no schema: use format = \"json\"")),
        ("json", None) => Ok(Results::Json(None)),
        ("json", Some(node)) => Ok(Results::Json(Some(schema_at(&node)?))),
        _ => Err(format.wrong("use \"text\" or \"json\"")),
    }
}

/// A JSON Schema, as a table or as a text in JSON: what cannot be compiled is refused here and not when called.
fn schema_at(node: &Node<'_>) -> Result<Value, Problem> {
    let schema = if node.is_text() {
        let limits = JsonLimits { max_bytes: MAX_BYTES, max_depth: 32 };
        parse_arguments(node.text()?.as_bytes(), &limits).map_err(|error| node.wrong(error))?
    } else {
        node.json(0)?
    };
    if !schema.is_object() {
        return Err(node.wrong("a schema is a table"));
    }
    let mut seen = Seen::default();
    seen.look(&schema);
    if seen.invisible {
        return Err(node.wrong("it has control or invisible characters"));
    }
    if seen.values > MAX_VALUES || seen.patterns > MAX_PATTERNS {
        let most = format!("at most {MAX_VALUES} values and {MAX_PATTERNS} patterns");
        return Err(node.wrong(format!("the schema is too large: {most}")));
    }
    Validator::new(&schema).map_err(|why| node.wrong(why))?;
    Ok(schema)
}

/// What a schema is made of.
#[derive(Default)]
struct Seen {
    values: usize,
    patterns: usize,
    invisible: bool,
}

impl Seen {
    fn look(&mut self, value: &Value) {
        self.values += 1;
        match value {
            Value::String(text) => self.invisible |= visible(text) != *text,
            Value::Array(items) => items.iter().for_each(|item| self.look(item)),
            Value::Object(members) => {
                for (key, member) in members {
                    self.invisible |= visible(key) != *key;
                    match (key.as_str(), member) {
                        ("pattern", Value::String(_)) => self.patterns += 1,
                        ("patternProperties", Value::Object(named)) => self.patterns += named.len(),
                        _ => {}
                    }
                    self.look(member);
                }
            }
            _ => {}
        }
    }
}

fn parameters(root: &Table<'_>) -> Result<Value, Problem> {
    let Some(node) = root.get("parameters") else {
        return Ok(json!({"type": "object", "properties": {}, "additionalProperties": false}));
    };
    let mut schema = schema_at(&node)?;
    if let Some(whole) = schema.as_object_mut() {
        match whole.get("type").and_then(Value::as_str) {
            Some("object") => {}
            None if whole.contains_key("properties") => drop(whole.insert("type".into(), json!("object"))),
            _ => {
                return Err(
                    node.wrong("it is the JSON Schema of an object: type = \"object\", and properties")
                );
            }
        }
    }
    for name in properties(&schema).map(|all| all.keys()).into_iter().flatten() {
        if !is_parameter(name) || REFUSED_PARAMETERS.contains(&name.as_str()) {
            let shown: String = name.chars().take(60).flat_map(char::escape_default).collect();
            return Err(node.wrong(format!("\"{shown}\" is no name for a parameter")));
        }
    }
    tighten(&mut schema);
    Validator::new(&schema).map_err(|why| node.wrong(why))?;
    Ok(schema)
}

fn properties(schema: &Value) -> Option<&serde_json::Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn command(node: &Node<'_>, parameters: &Value) -> Result<Vec<Element>, Problem> {
    let nodes = node.list()?;
    let Some(program) = nodes.first() else { return Err(node.wrong("it is empty: the program comes first")) };
    let fixed = program.is_text() && Text::parse(program.text()?).parameters().next().is_none();
    if !fixed || program.text()?.is_empty() {
        return Err(program.wrong("the program is fixed text: a call fills in its arguments only"));
    }
    nodes.iter().map(|node| element(node, parameters)).collect()
}

fn element(node: &Node<'_>, parameters: &Value) -> Result<Element, Problem> {
    let texts = |node: &Node<'_>| -> Result<Vec<Text>, Problem> {
        node.list()?.iter().map(|item| text(item, parameters)).collect()
    };
    if node.is_text() {
        return Ok(Element::Word(text(node, parameters)?));
    }
    if node.is_list() {
        return Ok(Element::Group(texts(node)?));
    }
    let table = node.table().map_err(|_| {
        node.wrong("expected text, a list of texts, or { if = \"parameter\", then = [texts] }")
    })?;
    table.only(&["if", "then"])?;
    let condition = table.need("if", "the parameter that must be given")?;
    let name = condition.text()?;
    if properties(parameters).is_none_or(|all| !all.contains_key(name)) {
        return Err(condition.wrong(format!("there is no parameter {name:?}")));
    }
    Ok(Element::If(name.to_owned(), texts(&table.need("then", "the arguments that are added")?)?))
}

/// Text of a template, all of whose parameters exist.
fn text(node: &Node<'_>, parameters: &Value) -> Result<Text, Problem> {
    let raw = node.text()?;
    if raw.contains('\0') {
        return Err(node.wrong("an argument cannot hold NUL"));
    }
    let text = Text::parse(raw);
    for name in text.parameters() {
        let Some(property) = properties(parameters).and_then(|all| all.get(name)) else {
            let known: Vec<&str> =
                properties(parameters).into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
            return Err(node.wrong(format!("there is no parameter {name:?}: {known}")));
        };
        let is_list = property.get("type").and_then(Value::as_str) == Some("array");
        if is_list && text.alone().is_none() {
            return Err(node.wrong(format!("{name:?} is a list, so it must be an argument of its own")));
        }
    }
    Ok(text)
}

fn env(root: &Table<'_>, parameters: &Value) -> Result<Vec<(String, Text)>, Problem> {
    let Some(node) = root.get("env") else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (name, value) in node.table()?.entries() {
        let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let rest = name.strip_prefix(ENV_PREFIX);
        if rest.is_none_or(|rest| rest.is_empty() || rest.len() > 60 || !rest.chars().all(plain)) {
            let why = format!(
                "a variable of a tool is called {ENV_PREFIX}… in capital letters; no other can be set"
            );
            return Err(value.wrong(why));
        }
        let text = text(&value, parameters)?;
        found.push((name, text));
    }
    Ok(found)
}

fn examples(root: &Table<'_>, parameters: &Value) -> Result<Vec<Value>, Problem> {
    let Some(node) = root.get("examples") else { return Ok(Vec::new()) };
    let validator = Validator::new(parameters).map_err(|why| node.wrong(why))?;
    let mut found = Vec::new();
    for item in node.list()?.iter().take(20) {
        let input = item.json(0)?;
        if let Some(violation) = validator.check(&input).first() {
            return Err(item.wrong(format!("the example does not fit the parameters: {violation}")));
        }
        found.push(input);
    }
    Ok(found)
}
