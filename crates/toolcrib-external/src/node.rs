//! TOML with its lines, so that whatever is wrong can be said with its place.

use std::fmt;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolcrib_core::sanitize::{visible, visible_field};

/// Nesting that a schema may have; far beyond what any model API takes.
const MAX_DEPTH: usize = 32;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, from 1; nothing if it is about the file as a whole.
    pub line: Option<usize>,
    /// What.
    pub message: String,
}

impl Problem {
    /// Something about the file as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// The line at which a byte stands.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// A value of the file, with the way to it.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    text: &'a str,
    path: String,
    value: &'a Spanned<DeValue<'a>>,
}

/// A table of the file.
#[derive(Clone)]
pub(crate) struct Table<'a> {
    text: &'a str,
    path: String,
    table: &'a DeTable<'a>,
    start: usize,
}

impl<'a> Table<'a> {
    pub(crate) fn root(text: &'a str, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self { text, path: String::new(), table: table.get_ref(), start: 0 }
    }

    /// The value under a key.
    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        let value = self.table.get(key)?;
        Some(Node { text: self.text, path: self.under(key), value })
    }

    /// The value under a key that must be there.
    pub(crate) fn need(&self, key: &str, what: &str) -> Result<Node<'a>, Problem> {
        self.get(key).ok_or_else(|| {
            let line = (self.start > 0).then(|| line_of(self.text, self.start));
            Problem { line, message: format!("`{}` is missing: {what}", self.under(key)) }
        })
    }

    /// Refuses keys that mean nothing: a misspelt one would be ignored otherwise.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        for (key, _) in self.ordered() {
            if !known.contains(&key.get_ref().as_ref()) {
                let name = visible_field(key.get_ref(), 60);
                let list = known.join("`, `");
                return Err(Problem {
                    line: Some(line_of(self.text, key.span().start)),
                    message: format!("`{}` means nothing here: use `{list}`", self.under(&name)),
                });
            }
        }
        Ok(())
    }

    /// All entries, in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(String, Node<'a>)> {
        let node = |key: &str, value| Node { text: self.text, path: self.under(key), value };
        self.ordered()
            .into_iter()
            .map(|(key, value)| (key.get_ref().to_string(), node(key.get_ref(), value)))
            .collect()
    }

    fn ordered(&self) -> Vec<(&'a Spanned<std::borrow::Cow<'a, str>>, &'a Spanned<DeValue<'a>>)> {
        let mut all: Vec<_> = self.table.iter().collect();
        all.sort_by_key(|(key, _)| key.span().start);
        all
    }

    fn under(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

impl<'a> Node<'a> {
    /// Something is wrong here.
    pub(crate) fn wrong(&self, message: impl fmt::Display) -> Problem {
        let line = Some(line_of(self.text, self.value.span().start));
        Problem { line, message: format!("`{}`: {message}", self.path) }
    }

    fn expected(&self, what: &str) -> Problem {
        self.wrong(format!("expected {what}, got {}", self.value.get_ref().type_str()))
    }

    pub(crate) fn is_text(&self) -> bool {
        self.value.get_ref().is_str()
    }

    pub(crate) fn is_list(&self) -> bool {
        self.value.get_ref().is_array()
    }

    pub(crate) fn text(&self) -> Result<&'a str, Problem> {
        self.value.get_ref().as_str().ok_or_else(|| self.expected("text"))
    }

    /// Text that a model or a person reads: nothing in it may be invisible.
    pub(crate) fn shown(&self, max_chars: usize) -> Result<&'a str, Problem> {
        let text = self.text()?;
        if visible(text) != text {
            return Err(self.wrong("it has control or invisible characters"));
        }
        if text.chars().nth(max_chars).is_some() {
            return Err(self.wrong(format!("more than {max_chars} characters")));
        }
        Ok(text)
    }

    pub(crate) fn list(&self) -> Result<Vec<Node<'a>>, Problem> {
        let items = self.value.get_ref().as_array().ok_or_else(|| self.expected("a list"))?;
        let node = |(at, value)| Node { text: self.text, path: format!("{}[{at}]", self.path), value };
        Ok(items.iter().enumerate().map(node).collect())
    }

    pub(crate) fn table(&self) -> Result<Table<'a>, Problem> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.expected("a table"))?;
        Ok(Table { text: self.text, path: self.path.clone(), table, start: self.value.span().start })
    }

    pub(crate) fn number(&self) -> Result<f64, Problem> {
        self.json(0)?.as_f64().ok_or_else(|| self.expected("a number"))
    }

    pub(crate) fn integer(&self) -> Result<i64, Problem> {
        self.json(0)?.as_i64().ok_or_else(|| self.expected("an integer"))
    }

    /// The same as JSON.
    pub(crate) fn json(&self, depth: usize) -> Result<Value, Problem> {
        if depth > MAX_DEPTH {
            return Err(self.wrong(format!("nested more than {MAX_DEPTH} deep")));
        }
        Ok(match self.value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(is) => Value::Bool(*is),
            DeValue::Integer(number) => {
                let parsed = i64::from_str_radix(number.as_str(), number.radix());
                Value::Number(parsed.map_err(|_| self.wrong("a number that does not fit 64 bits"))?.into())
            }
            DeValue::Float(number) => {
                let parsed = number.as_str().parse().ok().and_then(Number::from_f64);
                Value::Number(parsed.ok_or_else(|| self.wrong("not a number that JSON knows"))?)
            }
            DeValue::Datetime(_) => return Err(self.wrong("a date means nothing here: write it as text")),
            DeValue::Array(_) => {
                let items = self.list()?;
                Value::Array(items.iter().map(|item| item.json(depth + 1)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(_) => {
                let mut members = Map::new();
                for (key, node) in self.table()?.entries() {
                    members.insert(key, node.json(depth + 1)?);
                }
                Value::Object(members)
            }
        })
    }
}
