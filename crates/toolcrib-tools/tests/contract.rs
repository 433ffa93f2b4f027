//! What every built-in tool must have.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::Value;
use toolcrib_core::executor::validate::Validator;
use toolcrib_core::{CallContext, ErrorCode, Permission, PermissionSet, Registry};
use toolcrib_process::{Bounds, Commands, Settings, Table};
use toolcrib_tools::{CodeEngine, SessionStates, register_builtins, services};
use toolcrib_workspace::{ReadWorkspace, Workspace};

fn registry() -> Registry {
    let registry = Registry::new();
    register_builtins(&registry, &Workspace::memory().read_only()).unwrap();
    registry
}

/// Every parameter of a schema, with its path.
fn parameters(schema: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        parameters(&parameter["items"], &path, found);
        found.push((path, parameter.clone()));
    }
}

#[test]
fn every_tool_is_described_exemplified_and_versioned() {
    for tool in registry().tools() {
        let spec = tool.spec();
        let name = &spec.name;
        assert!(
            (20..1000).contains(&spec.description.len()),
            "{name}: a description of {}",
            spec.description.len()
        );
        assert!(!spec.title.is_empty() && spec.version.major >= 1, "{name}");
        assert!(!spec.modes.is_empty() && !spec.examples.is_empty(), "{name}");
        let mut all = Vec::new();
        parameters(&spec.input_schema, name, &mut all);
        for (path, parameter) in all {
            assert!(
                parameter["description"].as_str().is_some_and(|text| text.len() > 5),
                "{path} has no doc"
            );
        }
        let validator = Validator::new(&spec.input_schema).unwrap();
        for example in &spec.examples {
            assert_eq!(validator.check(&example.input), [], "{name}: {}", example.title);
            assert!(
                std::sync::Arc::clone(&tool).bind(example.input.clone()).is_ok(),
                "{name}: {}",
                example.title
            );
        }
    }
}

#[test]
fn effects_stay_within_capabilities() {
    for tool in registry().tools() {
        for example in &tool.spec().examples {
            let call = std::sync::Arc::clone(&tool).bind(example.input.clone()).ok().unwrap();
            let effects = call.effects();
            if !tool.spec().capabilities.writes_files {
                assert!(effects.is_read_only(), "{}: {}", tool.spec().name, example.title);
            }
        }
    }
}

#[test]
fn only_a_tool_that_writes_gets_the_workspace_that_can() {
    let commands = Commands::new(Settings::new(Bounds::default()));
    let code = CodeEngine::new(Workspace::memory().read_only(), None);
    let services = services(&Workspace::memory(), SessionStates::new(), code, commands, Table::new());
    let reader = CallContext::for_test(PermissionSet::of(&[Permission::Read]), services.clone());
    assert!(reader.get::<ReadWorkspace>().is_ok());
    assert_eq!(reader.get::<Commands>().err().unwrap().code, ErrorCode::EngineNotAvailable);
    assert_eq!(reader.get::<Workspace>().err().unwrap().code, ErrorCode::EngineNotAvailable);
    let writer = CallContext::for_test(PermissionSet::of(&[Permission::Read, Permission::Write]), services);
    assert!(writer.get::<Workspace>().is_ok());
}
