//! Stage 3: arguments against the schema, every violation in one answer.
//!
//! A model mends a call in one go only if it hears about all that is wrong, in words, with the place. The compiled
//! schema answers the common case (all fine) without building anything; phrasing happens only on failure.

mod phrase;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// Violations reported one by one; the rest are counted.
pub const MAX_VIOLATIONS: usize = 20;
/// Violations looked at, so that a list with a million bad items costs no more than one with a thousand.
const MAX_COLLECTED: usize = 1000;
/// A compiled pattern may take this much memory; patterns come from tools of others.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// One thing wrong with the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Violation {
    /// Where: `edits[0].old_string`, empty for the arguments as a whole.
    pub path: String,
    /// What belongs there: `an integer`.
    pub expected: String,
    /// What came, shortened: `"abc"`, or `nothing`.
    pub got: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "arguments" } else { &self.path };
        write!(f, "{path}: expected {}, got {}", self.expected, self.got)
    }
}

/// A schema compiled once, for many calls.
#[derive(Debug, Clone)]
pub struct Validator {
    compiled: jsonschema::Validator,
    schema: Value,
}

impl Validator {
    /// Compiles a schema. References are never fetched, and patterns run on an engine whose time is linear.
    ///
    /// # Errors
    /// Says what is wrong with the schema, including a reference that leads out of it or a pattern with look-around.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let mut schema = schema.clone();
        // A dialect of someone's own would have to be fetched; read it as the default one.
        if let Some(object) = schema.as_object_mut()
            && object
                .get("$schema")
                .and_then(Value::as_str)
                .is_some_and(|uri| !uri.contains("json-schema.org/"))
        {
            object.shift_remove("$schema");
        }
        let patterns = jsonschema::PatternOptions::regex()
            .size_limit(MAX_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_BYTES);
        let compiled = jsonschema::options()
            .offline()
            .with_pattern_options(patterns)
            .build(&schema)
            .map_err(|error| {
                let at = error.instance_path().as_str();
                let at = if at.is_empty() { "the schema".to_owned() } else { format!("the schema at {at}") };
                format!("{at} is not usable: {}", crate::sanitize::visible_field(&error.to_string(), 300))
            })?;
        Ok(Self { compiled, schema })
    }

    /// Whether the arguments are valid.
    #[must_use]
    pub fn is_valid(&self, args: &Value) -> bool {
        self.compiled.is_valid(args)
    }

    /// Everything wrong with the arguments, ordered by place; empty when they are valid.
    ///
    /// At most [`MAX_VIOLATIONS`], followed by one that counts the others.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use toolcrib_core::executor::validate::Validator;
    /// let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
    /// let violations = Validator::new(&schema).unwrap().check(&json!({"limit": "abc"}));
    /// assert_eq!(violations[0].to_string(), "limit: expected an integer, got \"abc\"");
    /// ```
    #[must_use]
    pub fn check(&self, args: &Value) -> Vec<Violation> {
        if self.compiled.is_valid(args) {
            return Vec::new();
        }
        let cx = phrase::Context { schema: &self.schema, args };
        let mut found = Vec::new();
        for error in self.compiled.iter_errors(args).take(MAX_COLLECTED) {
            phrase::phrase(cx, &error, 0, &mut found);
        }
        found.sort();
        found.dedup();
        let more = found.len().saturating_sub(MAX_VIOLATIONS);
        let mut violations: Vec<Violation> =
            found.into_iter().take(MAX_VIOLATIONS).map(phrase::Found::into_violation).collect();
        if violations.is_empty() {
            // The two answers of the library disagree; refusing without a reason is still refusing.
            violations.push(Violation {
                path: String::new(),
                expected: "arguments that fit the schema".into(),
                got: phrase::shown(args),
            });
        }
        if more > 0 {
            violations.push(Violation {
                path: "…".into(),
                expected: "the others to be put right as well".into(),
                got: format!("{more} more violations"),
            });
        }
        violations
    }
}
