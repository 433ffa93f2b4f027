//! TOML and JSON as one kind of tree in which everything knows its line.
//!
//! Answers name the line they were read from, which `serde_json` cannot tell; and manifests in JSON come with comments
//! and trailing commas, which it refuses. TOML is parsed by `toml`.

use toml::de::{DeTable, DeValue};

/// Nested deeper than this, JSON is refused.
const MAX_DEPTH: usize = 100;

/// A value, and the line it (or its key) stands on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Null, a number, a date: what nothing here looks into.
    Other(String),
    Bool(bool),
    Text(String),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

impl Node {
    /// The value under `key`, or under a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| {
            node.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
        })
    }

    pub(crate) fn entries(&self) -> &[(String, Node)] {
        if let Value::Table(entries) = &self.value { entries } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub(crate) fn text_at(&self, path: &[&str]) -> Option<(String, usize)> {
        let node = self.at(path)?;
        Some((node.text()?.to_owned(), node.line))
    }

    /// The texts of a list, with their lines.
    pub(crate) fn texts_at(&self, path: &[&str]) -> Vec<(String, usize)> {
        let items = self.at(path).map(Node::items).unwrap_or_default();
        items.iter().filter_map(|item| Some((item.text()?.to_owned(), item.line))).collect()
    }
}

/// Where lines begin, to tell the line of a byte.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|newline| *newline < byte) + 1
    }
}

/// Parses TOML. The error is one line.
pub(crate) fn toml(text: &str) -> Result<Node, String> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.at(span.start));
        let message = error.message().lines().next().unwrap_or("not valid TOML").to_owned();
        format!("line {line}: {message}")
    })?;
    Ok(Node { line: 1, value: table_of(table.get_ref(), &lines) })
}

fn table_of(table: &DeTable<'_>, lines: &Lines) -> Value {
    let mut entries: Vec<(usize, String, Node)> = table
        .iter()
        .map(|(key, value)| {
            let start = key.span().start;
            let node = Node { line: lines.at(start), value: value_of(value.get_ref(), lines) };
            (start, key.get_ref().to_string(), node)
        })
        .collect();
    // The map is by name; the order of the file says more.
    entries.sort_by_key(|(start, ..)| *start);
    Value::Table(entries.into_iter().map(|(_, key, node)| (key, node)).collect())
}

fn value_of(value: &DeValue<'_>, lines: &Lines) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Integer(number) => Value::Other(number.to_string()),
        DeValue::Float(number) => Value::Other(number.to_string()),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node {
                    line: lines.at(item.span().start),
                    value: value_of(item.get_ref(), lines),
                })
                .collect(),
        ),
        DeValue::Table(table) => table_of(table, lines),
    }
}

/// Parses JSON with comments and trailing commas. The error is one line.
pub(crate) fn json(text: &str) -> Result<Node, String> {
    let mut parser = Json { bytes: text.as_bytes(), text, at: 0, line: 1 };
    parser.skip();
    let node = parser.value(0)?;
    parser.skip();
    if parser.at < text.len() {
        return Err(parser.wrong("the end"));
    }
    Ok(node)
}

struct Json<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    line: usize,
}

impl Json<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn wrong(&self, expected: &str) -> String {
        format!("line {}: expected {expected}", self.line)
    }

    fn step(&mut self) {
        self.line += usize::from(self.peek() == Some(b'\n'));
        self.at += 1;
    }

    /// White space, a byte order mark and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match rest {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.step(),
                [0xEF, 0xBB, 0xBF, ..] => self.at += 3,
                [b'/', b'/', ..] => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                [b'/', b'*', ..] => {
                    self.at += 2;
                    while self.at < self.bytes.len() && self.bytes.get(self.at..self.at + 2) != Some(b"*/") {
                        self.step();
                    }
                    self.at += 2;
                }
                _ => return,
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("less nesting"));
        }
        let line = self.line;
        let value = match self.peek() {
            Some(b'{') => self.table(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => self.word()?,
            _ => return Err(self.wrong("a value")),
        };
        Ok(Node { line, value })
    }

    fn table(&mut self, depth: usize) -> Result<Value, String> {
        let mut entries = Vec::new();
        self.step();
        loop {
            self.skip();
            if self.peek() == Some(b'}') {
                self.step();
                return Ok(Value::Table(entries));
            }
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes"));
            }
            let line = self.line;
            let key = self.string()?;
            self.skip();
            if self.peek() != Some(b':') {
                return Err(self.wrong("`:`"));
            }
            self.step();
            self.skip();
            let value = self.value(depth + 1)?.value;
            entries.push((key, Node { line, value }));
            self.comma(b'}')?;
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        self.step();
        loop {
            self.skip();
            if self.peek() == Some(b']') {
                self.step();
                return Ok(Value::List(items));
            }
            items.push(self.value(depth + 1)?);
            self.comma(b']')?;
        }
    }

    fn comma(&mut self, end: u8) -> Result<(), String> {
        self.skip();
        match self.peek() {
            Some(b',') => {
                self.step();
                Ok(())
            }
            Some(byte) if byte == end => Ok(()),
            _ => Err(self.wrong("`,`")),
        }
    }

    fn word(&mut self) -> Result<Value, String> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
            self.at += 1;
        }
        match self.text.get(start..self.at).unwrap_or_default() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            word if word == "null" || serde_json::from_str::<serde_json::Number>(word).is_ok() => {
                Ok(Value::Other(word.to_owned()))
            }
            _ => Err(self.wrong("a value")),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(b'\n') | None => return Err(self.wrong("a closing quote")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        // Escapes by the library; a raw tab in a string is let pass.
        serde_json::from_str(quoted)
            .or_else(|_| serde_json::from_str(&quoted.replace('\t', "\\t")))
            .map_err(|_| self.wrong("a string"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_comments_knows_its_lines() {
        let text = "\u{feff}{\n  // note\n  \"a\": [1, \"x\\n\", true,],\n  /* two\n lines */ \"b\": {\"c\": null},\n}\n";
        let node = json(text).unwrap();
        assert_eq!(node.at(&["a"]).unwrap().line, 3);
        assert_eq!(node.texts_at(&["a"]), [("x\n".to_owned(), 3)]);
        assert_eq!(node.at(&["b", "c"]).unwrap().line, 5);
        for (broken, why) in [
            ("{\"a\": }", "line 1: expected a value"),
            ("{\"a\": 1", "line 1: expected `,`"),
            ("{}\nx", "line 2: expected the end"),
            ("", "line 1: expected a value"),
        ] {
            assert_eq!(json(broken).unwrap_err(), why, "{broken}");
        }
        assert!(json(&"[".repeat(100_000)).unwrap_err().contains("nesting"));
    }

    #[test]
    fn toml_keeps_the_order_and_lines() {
        let node = toml("[z]\nk = 'v'\n\n[a]\nlist = [\n  'one',\n  'two',\n]\n").unwrap();
        let keys: Vec<_> = node.entries().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z", "a"]);
        assert_eq!(node.text_at(&["z", "k"]), Some(("v".into(), 2)));
        assert_eq!(node.texts_at(&["a", "list"]), [("one".into(), 6), ("two".into(), 7)]);
        assert!(toml("a = 1\nb = = 2").unwrap_err().starts_with("line 2: "));
    }
}
