//! The datasets in `tests/datasets`: one case a line, called through the executor over a workspace in memory.
//!
//! A case: `{id, tool, category, input, files, expected, contains?, error_code?}`. `files` maps a path to its text, or to
//! `{"link": target}`, `{"bytes": [...]}` or `{"repeat": [text, times]}`. `expected` is a part of `data`: objects by key,
//! lists by "has one like it", numbers and texts exactly; `{"$exact": list}` is the whole list in its order,
//! `{"$not": list}` none like these, `{"$len": n}` its length.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{CallRequest, Executor, Outcome, PolicyMode, Registry, Session};
use toolcrib_process::{Bounds, Commands, Settings, Table};
use toolcrib_tools::{CodeEngine, SessionStates, WorkspacePaths, register_builtins, services};
use toolcrib_workspace::workspace::testing;
use toolcrib_workspace::{ChangeLabel, Expect, Workspace};

fn workspace(files: &Value) -> Workspace {
    let workspace = Workspace::memory();
    let mut change = workspace.begin(ChangeLabel::default());
    let mut links = Vec::new();
    for (path, content) in files.as_object().into_iter().flatten() {
        let bytes = match content {
            Value::String(text) => text.clone().into_bytes(),
            other if other["link"].is_string() => {
                links.push((path, other["link"].as_str().unwrap()));
                continue;
            }
            other if other["bytes"].is_array() => serde_json::from_value(other["bytes"].clone()).unwrap(),
            other => {
                let times = other["repeat"][1].as_u64().unwrap();
                other["repeat"][0].as_str().unwrap().repeat(usize::try_from(times).unwrap()).into_bytes()
            }
        };
        change.put(path, bytes, Expect::Absent).unwrap();
    }
    if files.as_object().is_some_and(|files| files.len() > links.len()) {
        change.commit(&|| false).unwrap();
    }
    for (path, target) in links {
        testing::symlink(&workspace, target, path).unwrap();
    }
    workspace
}

fn executor(workspace: &Workspace) -> Executor {
    let registry = Registry::new();
    register_builtins(&registry, &workspace.read_only()).unwrap();
    let commands = Commands::new(Settings::new(Bounds::default()));
    let code = CodeEngine::new(workspace.read_only(), None);
    Executor::builder(Arc::new(registry))
        .policy_mode(PolicyMode::Plan)
        .services(services(workspace, SessionStates::new(), code, commands, Table::new()))
        .paths(Arc::new(WorkspacePaths(workspace.read_only())))
        .build()
        .unwrap()
}

/// Where `actual` is not as expected.
fn differences(expected: &Value, actual: &Value, at: &str, found: &mut Vec<String>) {
    match expected {
        Value::Object(fields) => {
            for (key, wanted) in fields {
                match key.as_str() {
                    "$exact" => {
                        let (wanted, list) =
                            (wanted.as_array().unwrap(), actual.as_array().cloned().unwrap_or_default());
                        if wanted.len() != list.len() {
                            found.push(format!("{at}: {} instead of {}: {actual}", list.len(), wanted.len()));
                        }
                        for (index, (wanted, one)) in wanted.iter().zip(&list).enumerate() {
                            differences(wanted, one, &format!("{at}[{index}]"), found);
                        }
                    }
                    "$not" => {
                        for wanted in wanted.as_array().unwrap() {
                            if actual.as_array().into_iter().flatten().any(|one| fits(wanted, one)) {
                                found.push(format!("{at}: has {wanted}"));
                            }
                        }
                    }
                    "$len" => {
                        let length = actual.as_array().map_or(0, Vec::len);
                        if Some(length as u64) != wanted.as_u64() {
                            found.push(format!("{at}: {length} entries: {actual}"));
                        }
                    }
                    _ => differences(wanted, &actual[key], &format!("{at}.{key}"), found),
                }
            }
        }
        Value::Array(items) => {
            for wanted in items {
                if !actual.as_array().into_iter().flatten().any(|one| fits(wanted, one)) {
                    found.push(format!("{at}: nothing like {wanted} in {actual}"));
                }
            }
        }
        _ if expected != actual => found.push(format!("{at}: {actual} instead of {expected}")),
        _ => {}
    }
}

fn fits(expected: &Value, actual: &Value) -> bool {
    let mut found = Vec::new();
    differences(expected, actual, "", &mut found);
    found.is_empty()
}

async fn call(executor: &Executor, session: &Arc<Session>, case: &Value) -> Outcome {
    session.next_turn();
    executor.call(CallRequest::new(session, case["tool"].as_str().unwrap(), case["input"].clone())).await
}

/// What is wrong with the answer to a case.
async fn check(case: &Value) -> Vec<String> {
    let workspace = workspace(&case["files"]);
    let executor = executor(&workspace);
    let session = Arc::new(Session::new("s"));
    let mut outcome = call(&executor, &session, case).await;
    let mut found = Vec::new();
    let code = outcome.error.as_ref().map(|error| error.code.to_string());
    if code.as_deref() != case["error_code"].as_str() {
        found.push(format!("error {code:?}: {}", outcome.output));
    }
    differences(&case["expected"], &outcome.data, "data", &mut found);
    for part in case["contains"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !outcome.output.contains(part) {
            found.push(format!("the text lacks {part:?}:\n{}", outcome.output));
        }
    }
    if let Some(budget) = case["input"]["budget"].as_u64().filter(|_| outcome.success) {
        let tokens = toolcrib_core::tokens::count(&outcome.output);
        if tokens as u64 > budget {
            found.push(format!("{tokens} tokens, more than {budget}"));
        }
    }
    let mut again = call(&executor, &session, case).await;
    // How long it took, and what had to be read again, is another matter.
    for data in [&mut again.data, &mut outcome.data] {
        data.as_object_mut().and_then(|data| data.remove("index"));
    }
    if again.data != outcome.data {
        found.push("another answer the second time".into());
    }
    found
}

async fn run(tool: &str, lines: &str) {
    let mut ids = std::collections::HashSet::new();
    let mut failed = Vec::new();
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap().to_owned();
        assert_eq!(case["tool"], tool, "{id}");
        assert!(case["category"].is_string() && ids.insert(id.clone()), "{id}");
        failed.extend(check(&case).await.into_iter().map(|what| format!("{id}: {what}")));
    }
    assert!(ids.len() >= 15, "{tool} has {} cases", ids.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

macro_rules! datasets {
    ($($tool:ident),*) => {$(
        #[tokio::test]
        async fn $tool() {
            run(stringify!($tool), include_str!(concat!("datasets/", stringify!($tool), ".jsonl"))).await;
        }
    )*};
}

datasets!(
    build_dependency_graph,
    detect_project_type,
    extract_conventions,
    find_references,
    get_codebase_map,
    get_imports_exports,
    get_project_overview,
    get_symbol_info,
    list_projects,
    resolve_symbol,
    search_code
);
