//! Stages 2 and 3: arguments parsed, repaired, validated and decoded; all that is wrong with them in one error.

use serde_json::{Value, json};

use super::call::Call;
use super::repair::repair;
use super::validate::{Validator, Violation};
use crate::error::{ErrorCode, ToolError};
use crate::json::{JsonLimits, parse_arguments};
use crate::profile::ProfileTool;
use crate::tool::BoundCall;

/// Parses, repairs and validates in the profile's names, then translates to the tool's own.
pub(super) fn repair_and_validate(call: &mut Call) -> Result<(), ToolError> {
    let entry = call.entry()?.clone();
    if let Some(text) = call.text.take() {
        call.arguments = parse_arguments(&text, &JsonLimits::default()).map_err(|error| {
            let error = ToolError::new(ErrorCode::ValidationError, format!("the arguments: {error}"));
            with_example(error, &entry)
        })?;
    }
    let arguments = std::mem::take(&mut call.arguments);
    let arguments = if arguments.is_null() { json!({}) } else { arguments };
    let validator = entry.validator().map_err(ToolError::internal)?;
    // Also what is valid may need it: to a schema 2.0 is an integer, to a decoder it is not.
    let (arguments, warnings) = repair(entry.schema(), arguments);
    let violations = validator.check(&arguments);
    if !violations.is_empty() {
        return Err(invalid(&entry, &violations));
    }
    call.record.warnings.extend(warnings);
    call.arguments = entry.to_native(arguments);
    Ok(())
}

/// Validates arguments in the tool's own names, after a hook has changed them.
pub(super) fn validate_native(call: &Call) -> Result<(), ToolError> {
    let entry = call.entry()?;
    let validator = Validator::new(&entry.tool.spec().input_schema).map_err(ToolError::internal)?;
    let violations = validator.check(&call.arguments);
    if violations.is_empty() { Ok(()) } else { Err(invalid(entry, &violations)) }
}

/// Decodes the arguments and makes the tool's own checks.
pub(super) fn bind(call: &mut Call) -> Result<Box<dyn BoundCall>, ToolError> {
    let entry = call.entry()?.clone();
    std::sync::Arc::clone(&entry.tool).bind(call.arguments.clone()).map_err(|found| invalid(&entry, &found))
}

fn invalid(entry: &ProfileTool, violations: &[Violation]) -> ToolError {
    let listed: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let message = match listed.as_slice() {
        [one] => format!("{}: {one}", entry.shown),
        many => format!("{}: {} things are wrong:\n- {}", entry.shown, many.len(), many.join("\n- ")),
    };
    let details = json!({"violations": violations, "example": entry.example()});
    with_example(ToolError::new(ErrorCode::ValidationError, message).details(details), entry)
}

fn with_example(error: ToolError, entry: &ProfileTool) -> ToolError {
    match entry.example() {
        Some(Value::Object(fields)) if fields.is_empty() => error.suggest("Call it without arguments: {}"),
        Some(example) => error.suggest(format!("Correct that and call again, for example with {example}")),
        None => error,
    }
}
