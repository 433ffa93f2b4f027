//! How fast the index and its answers are, as ratios in one run:
//! `cargo bench -p toolcrib-code --bench speed [-- DIR]`.
//!
//! Without a directory it takes the sources of crates that Cargo has unpacked, until there are 500,000 lines.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, reason = "a benchmark")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toolcrib_code::facts::DefId;
use toolcrib_code::index::{CodeIndex, Control};
use toolcrib_code::lang::Language;
use toolcrib_code::query::{ReferenceQuery, Subject, references};
use toolcrib_code::resolve::{Def, Label, Program};
use toolcrib_workspace::Workspace;

const LINES: usize = 500_000;

/// Source files below a directory.
fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.to_str().and_then(Language::of_path).is_some_and(|language| language.full) {
            found.push(path);
        }
    }
}

/// Copies unpacked crates into a directory until there are lines enough.
fn gather(into: &Path) {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    let mut lines = 0;
    let mut crates: Vec<PathBuf> = std::fs::read_dir(home.join("registry/src"))
        .unwrap()
        .flatten()
        .flat_map(|host| std::fs::read_dir(host.path()).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .collect();
    crates.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
    for folder in crates {
        let mut files = Vec::new();
        collect(&folder, &mut files);
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            let long =
                bytes.len() > 1 << 19 || bytes.split(|byte| *byte == b'\n').any(|line| line.len() > 5000);
            if long {
                continue;
            }
            lines += bytes.iter().filter(|byte| **byte == b'\n').count();
            let to = into.join(file.strip_prefix(folder.parent().unwrap()).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(to, bytes).unwrap();
        }
        if let Ok(manifest) = std::fs::read(folder.join("Cargo.toml")) {
            let to = into.join(folder.file_name().unwrap());
            if to.is_dir() {
                std::fs::write(to.join("Cargo.toml"), manifest).unwrap();
            }
        }
        if lines >= LINES {
            return;
        }
    }
    println!("only {lines} lines of unpacked crates are here");
}

/// Milliseconds of processor time so far, of all threads.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) * 10.0
}

/// A line of the status of this process, in MB.
fn memory(what: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(what)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1e3
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration, f64) {
    let (started, before) = (Instant::now(), cpu());
    let done = work();
    (done, started.elapsed(), cpu() - before)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Plain parsing of the same files, by one thread.
fn parse(dir: &Path) -> (f64, usize, usize) {
    let mut files = Vec::new();
    collect(dir, &mut files);
    let sources: Vec<(Vec<u8>, &'static Language)> = files
        .iter()
        .map(|path| (std::fs::read(path).unwrap(), Language::of_path(path.to_str().unwrap()).unwrap()))
        .collect();
    let lines = sources.iter().map(|(text, _)| text.iter().filter(|byte| **byte == b'\n').count()).sum();
    let bytes = sources.iter().map(|(text, _)| text.len()).sum();
    let before = cpu();
    let mut parser = tree_sitter::Parser::new();
    for (source, language) in &sources {
        parser.set_language(&language.grammar()).unwrap();
        drop(parser.parse(source, None));
    }
    (cpu() - before, lines, bytes)
}

/// Definitions spread evenly over all, as `find_references` may be asked for them.
fn some_symbols(program: &Program, count: usize) -> Vec<Def> {
    let mut all = Vec::new();
    for file in 0..program.snapshot().files().len() as u32 {
        let Some(facts) = program.facts(file) else { continue };
        for (index, definition) in facts.definitions.iter().enumerate() {
            if definition.kind.is_callable() || definition.kind.is_type() {
                all.push(Def { file, id: DefId::new(index) });
            }
        }
    }
    let mut state = 1_u64;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            all[(state >> 33) as usize % all.len()]
        })
        .collect()
}

fn find(program: &Program, def: Def) -> usize {
    let query = ReferenceQuery { path: None, min_label: Label::Likely, offset: 0, limit: 100 };
    references(program, Subject::Definition(def), &query, &Control::default()).unwrap().total
}

fn main() {
    let given = std::env::args().skip(1).find(|arg| !arg.starts_with("--")).map(PathBuf::from);
    let made = tempfile::tempdir().unwrap();
    let dir = given.unwrap_or_else(|| {
        gather(made.path());
        made.path().to_owned()
    });
    let cache = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(&dir).unwrap();
    let open = || CodeIndex::open(workspace.read_only(), Some(cache.path().to_path_buf()));
    let control = Control::default();
    let (parsing, lines, bytes) = parse(&dir);
    println!("{lines} lines, {:.1} MB; plain parsing by one thread: cpu {parsing:.0} ms", bytes as f64 / 1e6);
    let index = open();
    let (snapshot, wall, used) = timed(|| index.refresh(&control).unwrap());
    println!(
        "cold index: {} files, {:.0} ms, cpu {used:.0} ms: {:.2} times plain parsing, {:.2} cores busy",
        snapshot.report().files,
        ms(wall),
        used / parsing,
        used / ms(wall)
    );
    let stored: u64 = std::fs::read_dir(cache.path())
        .unwrap()
        .flatten()
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum();
    println!("stored: {:.1} MB, {:.2} of the source", stored as f64 / 1e6, stored as f64 / bytes as f64);
    let (_, wall, _) = timed(|| index.refresh(&control).unwrap());
    println!("nothing changed, looked at again: {:.0} ms", ms(wall));
    drop((index, snapshot));
    let (index, wall, _) = timed(|| {
        let index = open();
        index.refresh(&control).unwrap();
        index
    });
    println!("reopened: {:.0} ms", ms(wall));
    let mut program = Program::new(index.refresh(&control).unwrap());
    let symbols = some_symbols(&program, 500);
    let mut times: Vec<(Duration, Def, usize)> = symbols
        .iter()
        .map(|def| {
            let (found, time, _) = timed(|| find(&program, *def));
            (time, *def, found)
        })
        .collect();
    times.sort();
    let at = |part: f64| ms(times[((times.len() - 1) as f64 * part) as usize].0);
    println!(
        "find_references, 500 symbols: median {:.2} ms, p99 {:.1} ms, worst {:.1} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    for (time, def, found) in times.iter().rev().take(3) {
        let facts = program.facts(def.file).unwrap();
        let name = facts.text(program.definition(*def).unwrap().name);
        println!(
            "  slowest: {name} in {}: {:.1} ms, {found} uses",
            program.file(def.file).unwrap().path,
            ms(*time)
        );
    }
    // One file is edited, and the question is asked again: everything from the sweep to the answer.
    let mut edits = Vec::new();
    for round in 0..20 {
        let def = symbols[round * 7];
        let path = dir.join(&program.file(def.file).unwrap().path);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}\n")).unwrap();
        let (renewed, time, _) = timed(|| {
            let renewed = program.renewed(index.refresh(&control).unwrap());
            find(&renewed, def);
            renewed
        });
        program = renewed;
        edits.push(time);
        std::fs::write(&path, text).unwrap();
    }
    edits.sort();
    println!(
        "one file edited, to a fresh answer: median {:.1} ms, worst {:.1} ms",
        ms(edits[10]),
        ms(edits[19])
    );
    println!("memory: {:.0} MB now, {:.0} MB at most", memory("VmRSS"), memory("VmHWM"));
}
