//! Stage 1: the name, in the profile.

use std::sync::Arc;

use super::Executor;
use super::call::Call;
use crate::error::{ErrorCode, ToolError};
use crate::profile::BoundProfile;
use crate::spec::Mode;

pub(super) fn resolve(executor: &Executor, call: &mut Call) -> Result<(), ToolError> {
    let profile = executor.profile();
    match profile.get(&call.name) {
        Some(entry) if entry.tool.spec().modes.contains(&call.mode) => {
            call.entry = Some(Arc::clone(entry));
            Ok(())
        }
        Some(_) => Err(unknown(&profile, call, "cannot be used from here")),
        None => Err(unknown(&profile, call, "does not exist")),
    }
}

fn unknown(profile: &BoundProfile, call: &Call, what: &str) -> ToolError {
    let near = nearest(profile, &call.name, call.mode);
    let name: String = call.name.chars().take(64).collect();
    let error = ToolError::new(ErrorCode::ToolNotFound, format!("the tool {name:?} {what}"))
        .details(serde_json::json!({"near": near}));
    if near.is_empty() { error } else { error.suggest(format!("Did you mean {}?", near.join(", "))) }
}

/// The names that are most like `name`, best first: also a tool whose own name it is, under its shown name.
fn nearest(profile: &BoundProfile, name: &str, mode: Mode) -> Vec<String> {
    let wanted: String = normal(&name.chars().take(64).collect::<String>());
    let mut scored: Vec<(f64, &str)> = profile
        .tools
        .iter()
        .filter(|entry| entry.tool.spec().modes.contains(&mode))
        .map(|entry| {
            let own = normal(&entry.tool.spec().name);
            let shown = normal(&entry.shown);
            let score = |candidate: &str| {
                let contained = candidate.contains(&wanted) || wanted.contains(candidate);
                strsim::jaro_winkler(&wanted, candidate) + if contained { 0.2 } else { 0.0 }
            };
            (score(&own).max(score(&shown)), entry.shown.as_str())
        })
        .filter(|(score, _)| *score > 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// `ReadFile`, `read-file` and `read_file` read the same.
fn normal(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
