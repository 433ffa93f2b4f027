//! The judgement of commands, case by case from `verdicts/*.jsonl`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde::Deserialize;
use std::path::{Path, PathBuf};
use toolcrib_process::shell::{Analysis, Judgement, Surroundings, analyse, analyse_argv};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Expect {
    One(String),
    Any(Vec<String>),
}

fn surroundings() -> Surroundings {
    Surroundings { roots: vec!["/code/ws".into()], home: Some("/home/u".into()), cwd: "/code/ws".into() }
}

fn verdict(analysis: &Analysis) -> &'static str {
    match analysis.judgement() {
        Judgement::Safe => "allow",
        Judgement::Plain => "run",
        Judgement::Risky(_) => "ask",
        Judgement::Forbidden(_) => "deny",
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<String>();
    texts
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn look(case: &Case) -> Analysis {
    let mut at = surroundings();
    if let Some(cwd) = &case.cwd {
        at.cwd.clone_from(cwd);
    }
    match (&case.command, &case.argv) {
        (Some(command), None) => analyse(command, &at),
        (None, Some(argv)) => analyse_argv(argv, &at),
        _ => panic!("{}: a case has a command or an argv", case.id),
    }
}

#[test]
fn every_case_is_judged_as_expected() {
    let cases = cases();
    assert!(cases.len() > 350, "only {} cases", cases.len());
    let mut failures = Vec::new();
    for case in &cases {
        let analysis = look(case);
        let got = verdict(&analysis);
        let expected = match &case.expect {
            Expect::One(one) => vec![one.as_str()],
            Expect::Any(any) => any.iter().map(String::as_str).collect(),
        };
        if !expected.contains(&got) {
            let shown = case.command.clone().unwrap_or_else(|| format!("{:?}", case.argv));
            let bad = analysis.judgement();
            failures.push(format!("{} expected {expected:?}, got {got}: {shown:?}\n      {bad:?}", case.id));
        }
    }
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
