//! `toolcrib doctor`: does everything work here, and if not, what would help?

use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use toolcrib::process::Level;
use toolcrib::{Access, RuleFiles, Workspace};
use toolcrib_core::tokens;
use toolcrib_workspace::ChangeFilter;

use super::Global;
use super::output::{Failure, Output};
use super::setup;

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warn,
    Fail,
}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

fn check(name: &'static str, status: Status, detail: impl Into<String>) -> Check {
    Check { name, status, detail: detail.into(), fix: None }
}

pub(crate) fn doctor(global: &Global, output: &Output) -> Result<ExitCode, Failure> {
    let checks = checks(global);
    let failed = checks.iter().any(|check| check.status == Status::Fail);
    output.print(&json!({"ok": !failed, "checks": checks}), |output| {
        let line = |check: &Check| {
            let mark = match check.status {
                Status::Ok => output.green("ok  "),
                Status::Warn => output.yellow("warn"),
                Status::Fail => output.red("FAIL"),
            };
            let fix = check.fix.as_ref().map_or_else(String::new, |fix| format!("\n      {fix}"));
            format!("{mark}  {}: {}{fix}", output.bold(check.name), check.detail)
        };
        checks.iter().map(line).collect::<Vec<_>>().join("\n")
    });
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn checks(global: &Global) -> Vec<Check> {
    let mut found = vec![check("version", Status::Ok, env!("CARGO_PKG_VERSION"))];
    found.extend(workspace(global));
    found.push(confinement());
    found.extend(state(global));
    found.extend(rules(global));
    found.extend(tool_files(global));
    found.push(tokenizer());
    found.extend(sandbox(global));
    found
}

/// Each level, tried out with the real flags.
fn sandbox(global: &Global) -> Vec<Check> {
    let crib = match setup::crib(global) {
        Ok((crib, _)) => crib,
        Err(failure) => {
            return vec![Check {
                fix: Some("Commands cannot be run until this is mended.".into()),
                ..check("commands", Status::Fail, failure.message())
            }];
        }
    };
    let report = crib.commands().examine();
    let mut found = Vec::new();
    let named = [("sandbox full", Some(&report.full)), ("sandbox landlock", report.landlock.as_ref())];
    for (name, verdict) in named {
        let Some(verdict) = verdict else { continue };
        found.push(Check {
            fix: verdict.advice.clone(),
            ..check(name, if verdict.works { Status::Ok } else { Status::Warn }, &verdict.reason)
        });
    }
    let chosen = match crib.commands().level() {
        Ok(Level::Policy) => Check {
            fix: Some(
                "Every command that changes something is asked for; with nobody to ask it is denied.".into(),
            ),
            ..check("commands", Status::Warn, "run without a sandbox: level policy")
        },
        Ok(level) => check("commands", Status::Ok, format!("run at the level {level}")),
        Err(error) => Check {
            fix: Some(
                "Commands cannot be run at all: mend the sandbox, or ask for less in toolcrib.toml.".into(),
            ),
            ..check("commands", Status::Fail, error.to_string())
        },
    };
    found.push(chosen);
    found
}

fn workspace(global: &Global) -> Vec<Check> {
    let roots = match setup::roots(global) {
        Ok(roots) => roots,
        Err(_) => {
            return vec![Check {
                fix: Some("Give a directory that exists by --root.".into()),
                ..check("workspace", Status::Fail, "a root cannot be opened")
            }];
        }
    };
    let mut found = Vec::new();
    for (path, access) in roots {
        let shown = path.display().to_string();
        let opened = Workspace::builder().root(&path, access).build();
        found.push(match opened.and_then(|workspace| workspace.list(".")) {
            Err(error) => Check {
                fix: Some("Check that the directory exists and can be read.".into()),
                ..check("workspace", Status::Fail, format!("{shown}: {}", error.message()))
            },
            Ok(_) if access == Access::ReadOnly => {
                check("workspace", Status::Ok, format!("{shown}, read-only"))
            }
            Ok(_) if !is_writable(&path) => Check {
                fix: Some("Tools can read here, but not change anything.".into()),
                ..check("workspace", Status::Warn, format!("{shown} cannot be written"))
            },
            Ok(_) if powerless(&path) => Check {
                fix: Some(
                    "Commands give up root's powers, so they cannot write there: run Toolcrib as the owner."
                        .into(),
                ),
                ..check("workspace", Status::Warn, format!("{shown} belongs to another user"))
            },
            Ok(entries) => check("workspace", Status::Ok, format!("{shown} ({} entries)", entries.len())),
        });
    }
    found
}

/// Whether it is root's powers alone that let one write there.
#[cfg(unix)]
fn powerless(path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(path).map(|meta| meta.uid());
    rustix::process::geteuid().is_root() && owner.is_ok_and(|owner| owner != 0)
}

#[cfg(not(unix))]
fn powerless(_: &std::path::Path) -> bool {
    false
}

#[cfg(unix)]
fn is_writable(path: &std::path::Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(path: &std::path::Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.permissions().readonly())
}

fn confinement() -> Check {
    match toolcrib_workspace::confinement() {
        toolcrib_workspace::Confinement::Kernel => {
            check("confinement", Status::Ok, "by the kernel (openat2, beneath the root)")
        }
        _ => check("confinement", Status::Ok, "by cap-std, component by component"),
    }
}

fn state(global: &Global) -> Vec<Check> {
    let fix = "Set XDG_STATE_HOME to a directory of your own that can be written.";
    let failed = |detail: String| Check { fix: Some(fix.into()), ..check("state", Status::Fail, detail) };
    let Ok(roots) = setup::roots(global) else { return Vec::new() };
    let state = match setup::state_of(&roots) {
        Ok(state) => state,
        Err(_) => return vec![failed("there is no place for it".into())],
    };
    // By writing, since modes and mounts do not tell all.
    if let Err(error) = state.ensure("journal").and_then(|_| state.write("doctor", "probe", b"ok")) {
        return vec![failed(error.to_string())];
    }
    let aside = std::fs::read_dir(state.path().join("journal/quarantine")).map_or(0, Iterator::count);
    let mut found = vec![check("state", Status::Ok, state.path().display().to_string())];
    let mut builder = Workspace::builder().state(state);
    for (path, access) in roots {
        builder = builder.root(path, access);
    }
    let listed = builder.build().and_then(|workspace| {
        let changes = workspace.changes(&ChangeFilter::default())?;
        Ok((changes.len(), workspace.journal_problems()))
    });
    found.push(match listed {
        Ok((count, problems)) if problems.is_empty() && aside > 0 => Check {
            fix: Some("Their files are as they are; only these changes cannot be undone.".into()),
            ..check(
                "journal",
                Status::Warn,
                format!("{count} changes; {aside} records could not be read and are in quarantine"),
            )
        },
        Ok((count, problems)) if problems.is_empty() => {
            check("journal", Status::Ok, format!("{count} changes can be listed and undone"))
        }
        Ok((count, problems)) => {
            check("journal", Status::Warn, format!("{count} changes; {}", problems.join("; ")))
        }
        Err(error) => Check {
            fix: Some(
                "Move the journal folder away; files are not touched by that, only undo is lost.".into(),
            ),
            ..check("journal", Status::Fail, error.to_string())
        },
    });
    found
}

fn rules(global: &Global) -> Option<Check> {
    let roots = setup::roots(global).ok()?;
    let state = setup::state_of(&roots).ok()?;
    let workspace =
        roots.iter().fold(Workspace::builder(), |builder, (path, access)| builder.root(path, *access));
    let book = RuleFiles::of(&workspace.build().ok()?, Some(&state)).load();
    let problems: Vec<&str> = book.files.iter().filter_map(|file| file.problem()).collect();
    let count: usize = book.files.iter().map(|file| file.rules().len()).sum();
    Some(if problems.is_empty() {
        check("rules", Status::Ok, format!("{count} in {} files", book.files.len()))
    } else {
        Check {
            fix: Some("Until it is corrected, nothing but reading is permitted.".into()),
            ..check("rules", Status::Fail, problems.join("; "))
        }
    })
}

/// The files that describe tools.
fn tool_files(global: &Global) -> Vec<Check> {
    let registry = std::sync::Arc::new(toolcrib::Registry::new());
    let nothing = toolcrib::Workspace::memory().read_only();
    let builtin = toolcrib::tools::register_builtins(&registry, &nothing);
    let Some(external) = super::declare::external(global, &registry).filter(|_| builtin.is_ok()) else {
        return Vec::new();
    };
    let files = external.report();
    let plain = Output::new(true);
    let wrong = |file: &&toolcrib::external::FileReport| file.problem.is_some() || !file.trusted;
    let mut found: Vec<Check> = files
        .iter()
        .filter(wrong)
        .filter_map(|file| Some(check("tool file", Status::Warn, super::declare::file_line(file, &plain)?)))
        .collect();
    let count = files.iter().filter(|file| file.tool.is_some()).count();
    if found.is_empty() && count > 0 {
        found.push(check("tool files", Status::Ok, format!("{count} tools from outside")));
    }
    found
}

fn tokenizer() -> Check {
    let started = std::time::Instant::now();
    let count = tokens::count("fn main() {}");
    let took = started.elapsed().as_millis();
    check(
        "tokenizer",
        if count > 0 { Status::Ok } else { Status::Fail },
        format!("o200k, loaded in {took} ms"),
    )
}
