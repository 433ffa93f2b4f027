//! `toolcrib call read_file` from process start: `cargo bench -p toolcrib --bench start`.
//!
//! Compared in the same run with `cat` and, where it is installed, `rg` on the same file.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may fail by panicking")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 100;

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let source: String = (0..200).map(|n| format!("let line_{n} = {n};\n")).collect();
    std::fs::write(folder.path().join("a.rs"), source).unwrap();
    let root = folder.path().to_str().unwrap().to_owned();
    let toolcrib = env!("CARGO_BIN_EXE_toolcrib");
    let call = |tool: &str, arguments: &str| -> Vec<String> {
        [toolcrib, "--root", &root, "call", tool, arguments, "--json"].map(str::to_owned).to_vec()
    };
    let file = folder.path().join("a.rs").display().to_string();
    let commands: Vec<(&str, Vec<String>)> = vec![
        ("cat", vec!["cat".into(), file.clone()]),
        ("rg", vec!["rg".into(), "line_7".into(), file]),
        ("toolcrib read_file", call("read_file", "{\"path\": \"a.rs\"}")),
        ("toolcrib grep", call("grep", "{\"pattern\": \"line_7\"}")),
        ("toolcrib list_directory", call("list_directory", "{}")),
    ];
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); commands.len()];
    for _ in 0..RUNS {
        for ((_, command), times) in commands.iter().zip(&mut times) {
            let Some((program, arguments)) = command.split_first() else { continue };
            let started = Instant::now();
            let done = Command::new(program)
                .args(arguments)
                .env("XDG_STATE_HOME", folder.path().join(".state"))
                .stdin(Stdio::null())
                .output();
            if done.is_ok_and(|done| done.status.success()) {
                times.push(started.elapsed());
            }
        }
    }
    println!("from process start, {RUNS} runs each, alternating (goal for read_file: under 15 ms)");
    let base = times.first_mut().map_or(1.0, |times| median(times));
    for ((name, _), times) in commands.iter().zip(&mut times) {
        if times.is_empty() {
            println!("  {name:<26} not installed");
            continue;
        }
        let median = median(times);
        println!("  {name:<26} p50 {median:>7.2} ms   {:>5.1} × cat", median / base);
    }
}
