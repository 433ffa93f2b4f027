//! Looking at a command never panics and never takes long, whatever it is.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};
use toolcrib_process::shell::{Judgement, Surroundings, analyse, analyse_argv};

fn surroundings() -> Surroundings {
    Surroundings { roots: vec!["/code/ws".into()], home: Some("/home/u".into()), cwd: "/code/ws".into() }
}

/// Every command of the cases, as raw material.
fn commands() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let case: serde_json::Value = serde_json::from_str(line).unwrap();
                out.extend(case["command"].as_str().map(str::to_owned));
            }
        }
    }
    out
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides.max(1)
    }
}

#[test]
fn mutated_commands_never_panic() {
    let commands = commands();
    let at = surroundings();
    let spice = [
        "'",
        "\"",
        "`",
        "$(",
        ")",
        "${",
        "}",
        "{",
        "((",
        "))",
        "[[",
        "]]",
        "<<EOF\n",
        "\nEOF\n",
        "<<<",
        "|",
        "&",
        ";",
        "\\",
        "\n",
        "\0",
        "é",
        "\u{fffc}",
        "$'\\x",
        "~",
        "*",
        "[",
        "!",
        "#",
        "=",
        " -exec ",
        " xargs ",
        "eval ",
        "sh -c '",
        "..",
        ",",
        "{1..9}",
        "f() {",
        "trap ",
        "-c",
        "s/",
        "${x:-",
        "@P}",
        "if ",
        "then ",
        "do ",
        "done ",
        "case x in ",
        "esac",
        "find ",
        "sed -e ",
        "awk '",
        "git -c ",
        "env -S ",
    ];
    let mut dice = Dice(7);
    for round in 0..4 {
        for command in &commands {
            let mut chars: Vec<char> = command.chars().collect();
            for _ in 0..=round {
                let at = dice.roll(chars.len() + 1);
                match dice.roll(4) {
                    0 if !chars.is_empty() => drop(chars.remove(at.min(chars.len() - 1))),
                    1 => chars.truncate(at),
                    2 => {
                        let other: Vec<char> = commands[dice.roll(commands.len())].chars().collect();
                        let cut = dice.roll(other.len() + 1);
                        chars.splice(at..at, other.into_iter().take(cut));
                    }
                    _ => drop(chars.splice(at..at, spice[dice.roll(spice.len())].chars())),
                }
            }
            let mutated: String = chars.into_iter().collect();
            let found = analyse(&mutated, &at);
            for simple in &found.commands {
                assert!(simple.prefix <= simple.words.len(), "{mutated:?}: {simple:?}");
            }
            analyse_argv(&mutated.split(' ').map(str::to_owned).collect::<Vec<_>>(), &at);
        }
    }
}

#[test]
fn huge_inputs_are_risky_at_once() {
    let cases: Vec<(&str, String)> = vec![
        ("ten thousand commands", "ls;".repeat(10_000)),
        ("ten thousand commands by &&", format!("{}ls", "ls && ".repeat(10_000))),
        ("a long pipe", format!("{}ls", "ls | ".repeat(10_000))),
        ("parentheses", "(".repeat(100_000)),
        ("fewer parentheses", "(".repeat(60_000)),
        ("closed parentheses", format!("{}ls{}", "(".repeat(60), ")".repeat(60))),
        ("substitutions", format!("echo {}ls{}", "$(".repeat(20_000), ")".repeat(20_000))),
        ("quotes in substitutions", format!("echo {}", "\"$(echo ".repeat(7_000))),
        ("a megabyte", "x".repeat(1_000_000)),
        ("a megabyte of commands", "rm -rf a; ".repeat(100_000)),
        ("evals", format!("{}ls", "eval ".repeat(12_000))),
        ("broken evals", format!("{}< <", "eval ".repeat(12_000))),
        ("wrappers", format!("{}ls", "nice ".repeat(12_000))),
        ("braces", format!("echo {}", "{a,b}".repeat(5_000))),
        ("nested braces", format!("echo {}a{}", "{a,".repeat(60), "}".repeat(60))),
        ("nested ifs", format!("{}ls{}", "if ls; then ".repeat(3_000), "; fi".repeat(3_000))),
        (
            "functions",
            format!(
                "{}f0",
                (0..100).map(|n| format!("f{n}() {{ f{m}; f{m}; }}; ", m = n + 1)).collect::<String>()
            ),
        ),
        (
            "doubling functions",
            (0..40).rev().map(|n| format!("f{n}() {{ f{m}; f{m}; }}; ", m = n + 1)).collect::<String>()
                + "f0",
        ),
        (
            "variables",
            (0..3000).map(|n| format!("a{m}=$a{n}$a{n}; ", m = n + 1)).collect::<String>() + "rm -rf $a3000",
        ),
        ("backticks", format!("echo {}ls", "`echo ".repeat(10_000))),
        ("stars", format!("rm -rf {}", "*".repeat(60_000))),
        ("brackets", format!("rm -rf {}", "[".repeat(30_000))),
        ("dots", format!("rm -rf {}x", "../".repeat(20_000))),
        ("wrappers that are tried", format!("{}ls", "setarch ".repeat(100))),
        ("many wrappers that are tried", format!("{}ls", "timeout setarch tsp ".repeat(3_000))),
        ("broken wrappers that are tried", "setarch setarch perf tsp unshare x;".repeat(1_500) + "< <"),
        ("code that is tried", format!("vim {}", "'!ls; system x' ".repeat(3_000))),
        ("one long code that is tried", format!("sed '1e {}'", "else; ".repeat(8_000))),
        ("substitutions the grammar does not see", format!("echo {}", "${x#`a`} ".repeat(5_000))),
        ("here-documents", "cat <<E\nx\nE\n".repeat(5_000)),
    ];
    let at = surroundings();
    for (name, text) in cases {
        let start = Instant::now();
        let found = analyse(&text, &at);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(10), "{name} took {took:?}");
        let closed = matches!(found.judgement(), Judgement::Risky(_) | Judgement::Forbidden(_));
        let fine = matches!(name, "closed parentheses" | "stars" | "nested braces" | "brackets");
        assert!(closed || fine, "{name}: {:?}", found.judgement());
        assert!(found.commands.len() <= 600, "{name}: {} commands", found.commands.len());
    }
}

#[test]
fn a_small_stack_is_enough() {
    let texts = [
        format!("{}ls{}", "(".repeat(64), ")".repeat(64)),
        format!("{}ls", "eval ".repeat(200)),
        format!("echo {}ls{}", "$(echo ".repeat(63), ")".repeat(63)),
        format!("{}ls", "nice ".repeat(500)),
        format!("{}ls{}", "if ls; then ".repeat(200), "; fi".repeat(200)),
        format!("{}ls", "timeout setarch ".repeat(100)),
        format!("echo {}ls{}", "${x#$(echo ".repeat(30), ")}".repeat(30)),
    ];
    let thread = std::thread::Builder::new().stack_size(1024 * 1024).spawn(move || {
        for text in texts {
            analyse(&text, &surroundings());
        }
    });
    thread.unwrap().join().unwrap();
}
