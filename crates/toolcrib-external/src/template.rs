//! Arguments of a program, with `{{parameter}}` in them.
//!
//! An element of the list is one argument, whatever is filled in: there is no shell, nothing is split and nothing
//! that was filled in is looked at again.

use serde_json::{Map, Value};
use toolcrib_core::Violations;
use toolcrib_core::executor::validate::Violation;

/// Text with parameters in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Parameter(String),
}

/// An element of an argument list.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    /// One argument; several where it is a parameter that is a list; none where a parameter is absent.
    Word(Text),
    /// Arguments that are there together, or not at all if a parameter is absent.
    Group(Vec<Text>),
    /// Arguments that are there if a parameter is given and not false.
    If(String, Vec<Text>),
}

/// What a parameter may be called.
pub(crate) fn is_parameter(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(plain)
}

impl Text {
    /// Reads text. Braces around anything that cannot be a parameter are just braces.
    pub(crate) fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            literal.push_str(before);
            match after.split_once("}}").filter(|(name, _)| is_parameter(name.trim())) {
                Some((name, behind)) => {
                    if !literal.is_empty() {
                        pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Parameter(name.trim().to_owned()));
                    rest = behind;
                }
                None => {
                    literal.push_str("{{");
                    rest = after;
                }
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Self(pieces)
    }

    /// The parameters in it.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Parameter(name) => Some(name.as_str()),
            Piece::Literal(_) => None,
        })
    }

    /// The parameter that is all of it.
    pub(crate) fn alone(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Parameter(name)] => Some(name),
            _ => None,
        }
    }

    /// Filled in; nothing if a parameter is absent.
    pub(crate) fn fill(&self, input: &Map<String, Value>) -> Result<Option<String>, Violation> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Parameter(name) => match given(input, name) {
                    None => return Ok(None),
                    Some(Value::Array(_)) => {
                        return Err(wrong(name, "one value: it stands inside other text", "a list"));
                    }
                    Some(value) => out.push_str(&written(name, value)?),
                },
            }
        }
        Ok(Some(out))
    }

    /// As arguments.
    fn words(&self, input: &Map<String, Value>) -> Result<Vec<String>, Violation> {
        match self.alone().and_then(|name| Some((name, given(input, name)?))) {
            Some((name, Value::Array(items))) => items.iter().map(|item| written(name, item)).collect(),
            _ => Ok(self.fill(input)?.into_iter().collect()),
        }
    }
}

/// A value that is there: null is as good as absent, and so is a list without items.
fn given<'a>(input: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    input.get(name).filter(|value| !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty()))
}

/// A value as text.
fn written(name: &str, value: &Value) -> Result<String, Violation> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.contains('\0') {
        return Err(wrong(name, "text without NUL", "NUL in it"));
    }
    Ok(text)
}

fn wrong(name: &str, expected: &str, got: &str) -> Violation {
    Violation { path: name.to_owned(), expected: expected.to_owned(), got: got.to_owned() }
}

/// A whole argument list, filled in once.
pub(crate) fn fill(elements: &[Element], input: &Map<String, Value>) -> Result<Vec<String>, Violations> {
    let mut words = Vec::new();
    let mut violations = Vec::new();
    for element in elements {
        let texts = match element {
            Element::Word(text) => std::slice::from_ref(text),
            Element::Group(texts) => {
                let absent = |text: &Text| text.parameters().any(|name| given(input, name).is_none());
                if texts.iter().any(absent) {
                    continue;
                }
                texts.as_slice()
            }
            Element::If(name, texts) => match given(input, name) {
                None | Some(Value::Bool(false)) => continue,
                Some(_) => texts.as_slice(),
            },
        };
        for text in texts {
            match text.words(input) {
                Ok(filled) => words.extend(filled),
                Err(violation) => violations.push(violation),
            }
        }
    }
    if violations.is_empty() { Ok(words) } else { Err(violations) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(elements: &[Element], input: &Value) -> Vec<String> {
        fill(elements, input.as_object().unwrap()).unwrap()
    }

    #[test]
    fn braces_that_are_no_parameter_stay() {
        for text in ["{{.Names}}", "{{", "}}", "{{}}", "a {{ b", "{{a b}}", "{% include %}", ""] {
            let parsed = Text::parse(text);
            assert_eq!(parsed.parameters().count(), 0, "{text}");
            assert_eq!(parsed.fill(&Map::new()).unwrap().unwrap(), text);
        }
        let names = |text: &str| Text::parse(text).parameters().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(names("a{{ x }}b{{y}}{{{z}}}"), ["x", "y"]);
    }

    #[test]
    fn one_element_is_one_argument() {
        let text = |text: &str| Text::parse(text);
        let elements = [
            Element::Word(text("grep")),
            Element::If("quiet".into(), vec![text("-q")]),
            Element::Group(vec![text("--include"), text("{{glob}}")]),
            Element::Word(text("--max={{max}}")),
            Element::Word(text("{{q}}")),
            Element::Word(text("{{paths}}")),
        ];
        let input =
            json!({"q": "x; rm -rf /", "paths": ["a b", "{{q}}"], "max": 3, "quiet": true, "glob": "*.rs"});
        assert_eq!(
            filled(&elements, &input),
            ["grep", "-q", "--include", "*.rs", "--max=3", "x; rm -rf /", "a b", "{{q}}"]
        );
        let input = json!({"q": "{{max}}", "quiet": false, "glob": null, "paths": []});
        assert_eq!(filled(&elements, &input), ["grep", "{{max}}"]);
        for input in [json!({"q": "a\u{0}b"}), json!({"max": [1, 2]})] {
            assert!(fill(&elements, input.as_object().unwrap()).is_err(), "{input}");
        }
    }
}
