//! Strict JSON for arguments that come from outside.
//!
//! `serde_json` alone is too forgiving for arguments that decide what may run: of two equal keys the last one wins, so a
//! check that saw the first is fooled, and an integer past 64 bits silently becomes a rounded float. Both are errors
//! here, with the place and what to do. Nesting is counted in one linear pass before anything recursive starts.

use std::fmt;

use serde::Serialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// `serde_json` itself stops one level later; staying under it keeps the error message ours.
const HARD_DEPTH: usize = 126;

/// How much JSON is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// Longest text, in bytes.
    pub max_bytes: usize,
    /// Deepest nesting of arrays and objects; more than 126 is never accepted.
    pub max_depth: usize,
}

impl Default for JsonLimits {
    fn default() -> Self {
        Self { max_bytes: 16 * 1024 * 1024, max_depth: 64 }
    }
}

/// Why a text is not acceptable JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonError {
    /// What is wrong and what to do, without the position.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// Byte offset, from 0.
    pub offset: usize,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid JSON at line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for JsonError {}

impl JsonError {
    fn at(text: &[u8], offset: usize, message: impl Into<String>) -> Self {
        let offset = offset.min(text.len());
        let before = text.get(..offset).unwrap_or_default();
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        Self { message: message.into(), line, column: offset - line_start + 1, offset }
    }

    fn from_serde(text: &[u8], error: &serde_json::Error) -> Self {
        let full = error.to_string();
        let what = full.rsplit_once(" at line ").map_or(full.as_str(), |(what, _)| what);
        let hint = match error.classify() {
            serde_json::error::Category::Eof => "; the text is cut off: send it whole",
            serde_json::error::Category::Syntax => syntax_hint(what),
            serde_json::error::Category::Data | serde_json::error::Category::Io => "",
        };
        Self::at(text, offset_of(text, error.line(), error.column()), format!("{what}{hint}"))
    }
}

/// The advice that goes with one of `serde_json`'s messages.
fn syntax_hint(what: &str) -> &'static str {
    match what {
        "trailing comma" => "; remove it",
        "trailing characters" => "; send exactly one JSON value",
        "key must be a string" => "; keys stand in double quotes",
        "number out of range" => "; use a number that fits 64 bits",
        _ if what.starts_with("control character") => "; write it escaped (\\n, \\t, \\u0000)",
        _ if what.contains("surrogate") || what.contains("hex escape") => {
            "; \\ud800-\\udfff only come in pairs: send the character itself"
        }
        "invalid escape" => "; a backslash is written \\\\",
        "expected value" => "; a JSON value starts with {, [, a double quote, a digit, true, false or null",
        _ => "",
    }
}

fn offset_of(text: &[u8], line: usize, column: usize) -> usize {
    let line_start = match line.checked_sub(2) {
        None => 0,
        Some(nth) => text.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(nth).map_or(0, |(i, _)| i + 1),
    };
    line_start + column.saturating_sub(1)
}

/// Parses arguments: one JSON value, strictly. Empty text is `{}`, and a byte-order mark is skipped.
///
/// ```
/// use toolcrib_core::json::{JsonLimits, parse_arguments};
///
/// let limits = JsonLimits::default();
/// assert_eq!(parse_arguments(b"{\"a\": 1}", &limits).unwrap()["a"], 1);
/// let error = parse_arguments(b"{\"a\": 1, \"a\": 2}", &limits).unwrap_err();
/// assert!(error.to_string().contains("the key \"a\" appears twice"));
/// ```
pub fn parse_arguments(text: &[u8], limits: &JsonLimits) -> Result<Value, JsonError> {
    if text.len() > limits.max_bytes {
        let message = format!(
            "{} bytes are more than the limit of {} bytes; send less, or put the content in a file",
            text.len(),
            limits.max_bytes
        );
        return Err(JsonError { message, line: 1, column: 1, offset: 0 });
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let checked = std::str::from_utf8(text).map_err(|e| {
        JsonError::at(text, e.valid_up_to(), "the bytes here are not UTF-8; send the text encoded as UTF-8")
    })?;
    if checked.trim_ascii().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    scan(text, limits.max_depth.min(HARD_DEPTH))?;
    let mut deserializer = serde_json::Deserializer::from_str(checked);
    StrictValue
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| JsonError::from_serde(text, &error))
}

/// Counts nesting and looks at integers. Knows only strings, brackets and digits; the grammar is the parser's business.
fn scan(text: &[u8], max_depth: usize) -> Result<(), JsonError> {
    let mut depth = 0_usize;
    let mut bytes = text.iter().copied().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                while let Some((_, inside)) = bytes.next() {
                    match inside {
                        b'\\' => drop(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            b'[' | b'{' => {
                depth += 1;
                if depth > max_depth {
                    let message = format!("nested deeper than {max_depth} levels; flatten the value");
                    return Err(JsonError::at(text, at, message));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'-' | b'0'..=b'9' => {
                let mut end = at + 1;
                while let Some((i, _)) =
                    bytes.next_if(|(_, b)| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
                {
                    end = i + 1;
                }
                if !fits(text.get(at..end).unwrap_or_default()) {
                    let message =
                        "this integer needs more than 64 bits; send it as a string, or a smaller one";
                    return Err(JsonError::at(text, at, message));
                }
            }
            b'N' if text.get(at..at + 3) == Some(b"NaN") => {
                return Err(JsonError::at(text, at, "NaN is not JSON; leave the value out"));
            }
            b'I' if text.get(at..at + 8) == Some(b"Infinity") => {
                return Err(JsonError::at(text, at, "Infinity is not JSON; leave the value out"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether an integer literal keeps its exact value; floats round by nature and are left to the parser.
fn fits(literal: &[u8]) -> bool {
    // 18 digits and a sign always fit; longer ones are rare enough to parse twice.
    if literal.len() <= 18 {
        return true;
    }
    let Ok(literal) = std::str::from_utf8(literal) else { return true };
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    literal.parse::<i64>().is_ok() || literal.parse::<u64>().is_ok()
}

/// Builds a [`Value`] and refuses equal keys in one object.
struct StrictValue;

impl<'de> DeserializeSeed<'de> for StrictValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::from(v))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::from(v))
    }

    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Value, E> {
        Number::from_f64(v).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }

    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(StrictValue)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                let shown = crate::sanitize::visible_field(&key, 60);
                return Err(de::Error::custom(format_args!(
                    "the key {shown:?} appears twice in one object; send each key once"
                )));
            }
            let value = map.next_value_seed(StrictValue)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// A text is worth decoding as JSON only if it looks like a container; used where a model wraps JSON in a string.
pub(crate) fn looks_like_container(text: &str) -> bool {
    matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> Result<Value, JsonError> {
        parse_arguments(text.as_bytes(), &JsonLimits::default())
    }

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn plain_values_parse_as_serde_json_does() {
        for text in [
            "{}",
            "[]",
            "null",
            "true",
            "1",
            "-1.5e3",
            "\"x\"",
            r#"{"a":[1,{"b":"\u00e9\n"}]}"#,
            " [1 , 2]\n",
        ] {
            assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn empty_text_is_no_arguments() {
        for text in ["", "  \n\t", "\u{feff}", "\u{feff} "] {
            assert_eq!(parse(text).unwrap(), json!({}));
        }
        assert_eq!(parse("\u{feff}{\"a\":1}").unwrap(), json!({"a": 1}));
    }

    #[test]
    fn equal_keys_are_refused_at_every_level() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"x":{"a":1,"b":2,"a":3}}]"#, r#"{"a":1,"\u0061":2}"#] {
            assert!(error(text).contains("the key \"a\" appears twice"), "{}", error(text));
        }
        assert!(parse(r#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
    }

    #[test]
    fn errors_say_where() {
        let e = parse("{\n  \"a\": 1,\n  \"b\": }").unwrap_err();
        assert_eq!((e.line, e.column, e.offset), (3, 8, 19));
        let e = parse("{\"é\": 1, oops}").unwrap_err();
        assert_eq!((e.line, e.column), (1, 11));
        assert!(e.message.contains("double quotes"), "{e}");
        let e = parse(r#"{"a":1,"a":2}"#).unwrap_err();
        assert_eq!(e.line, 1);
        assert!(e.offset >= 9 && e.offset <= 11, "{e:?}");
    }

    #[test]
    fn deep_nesting_is_an_error_at_any_depth() {
        for depth in [65, 200, 10_000, 10_000_000] {
            let e = parse(&"[".repeat(depth)).unwrap_err();
            assert!(e.message.contains("deeper than 64"), "{e}");
            assert_eq!(e.offset, 64);
        }
        let limits = JsonLimits { max_depth: usize::MAX, ..JsonLimits::default() };
        assert!(
            parse_arguments("[".repeat(200).as_bytes(), &limits).unwrap_err().message.contains("126 levels")
        );
        let deepest = format!("{}{}", "[".repeat(126), "]".repeat(126));
        assert!(parse_arguments(deepest.as_bytes(), &limits).is_ok());
        assert!(parse(&format!("{}{}", "[".repeat(64), "]".repeat(64))).is_ok());
        assert!(parse(&format!("\"{}\"", "[".repeat(500))).is_ok(), "brackets in a string are text");
    }

    #[test]
    fn numbers_keep_their_value_or_are_refused() {
        assert_eq!(parse("9223372036854775808").unwrap(), json!(9_223_372_036_854_775_808_u64));
        assert_eq!(parse("18446744073709551615").unwrap(), json!(u64::MAX));
        assert_eq!(parse("-9223372036854775808").unwrap(), json!(i64::MIN));
        assert_eq!(parse("18446744073709551616.0").unwrap(), json!(18_446_744_073_709_551_616.0_f64));
        assert!(error("18446744073709551616").contains("64 bits"));
        assert!(error("[1, -9223372036854775809]").contains("64 bits"));
        assert!(error("{\"a\":1e999}").contains("out of range"));
        assert!(error("{\"a\":NaN}").contains("NaN"));
        assert!(error("{\"a\":-Infinity}").contains("Infinity"));
        assert_eq!(parse("-0").unwrap().as_f64(), Some(0.0));
    }

    #[test]
    fn broken_text_is_refused_with_advice() {
        assert!(error(r#"{"a":"\ud800"}"#).contains("pairs"));
        assert!(error(r#"{"a":"\ud800\u0041"}"#).contains("pairs"));
        assert!(error("{\"a\":1} x").contains("exactly one"));
        assert!(error("{\"a\":1}{}").contains("exactly one"));
        assert!(error("{\"a\":1,}").contains("remove it"));
        assert!(error("{\"a\":\"x").contains("cut off"));
        assert!(error("{\"a\":\"x\ny\"}").contains("escaped"));
        let e = parse_arguments(b"{\"a\":\"\xff\"}", &JsonLimits::default()).unwrap_err();
        assert!(e.message.contains("UTF-8"));
        assert_eq!(e.offset, 6);
        let e = parse_arguments(&[b' '; 100], &JsonLimits { max_bytes: 99, max_depth: 9 }).unwrap_err();
        assert!(e.message.contains("limit of 99 bytes"));
    }
}
