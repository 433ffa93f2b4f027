//! How often the resolver is right, against what rust-analyzer, pyright and the TypeScript compiler say.
//!
//! `scripts/accuracy` brings sources and truth; then, for one repository in seconds: `cargo bench -p
//! toolcrib-code --bench accuracy -- --repo flask`. What is counted, and how: README.md beside this.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark fails by panicking"
)]

mod args;
mod cases;
mod counts;
mod definitions;
mod imports;
mod overlay;
mod quirks;
mod references;
mod repositories;
mod truth;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use toolcrib_code::index::{CodeIndex, Control};
use toolcrib_code::resolve::Program;
use toolcrib_workspace::Workspace;

use args::Args;
use cases::Cases;
use counts::Counts;
use repositories::Repository;
use truth::Truth;

fn measure(repository: &Repository, args: &Args) -> Counts {
    let started = Instant::now();
    let workspace = Workspace::open(&repository.sources).unwrap();
    let index = CodeIndex::open(workspace.read_only(), None);
    let control = Control { include_ignored: true, ..Control::default() };
    let program = Program::new(Arc::clone(&index.refresh(&control).unwrap()));
    let truth = Truth::load(repository, &program);
    let ready = started.elapsed();
    let mut counts = Counts { documents: truth.files.len(), lines: truth.lines(), ..Counts::default() };
    // Single cases are for tuning, and nothing is tuned on the unseen ones.
    let mut cases = (!repository.unseen).then(|| Cases::new(args)).flatten();
    let started = Instant::now();
    definitions::score(&program, &truth, &mut counts, cases.as_mut());
    references::score(&program, &truth, &mut counts, cases.as_mut());
    counts.answer_ms = started.elapsed().as_millis() as usize;
    imports::score(&program, &truth, &mut counts, cases.as_mut());
    words::score(&truth, &mut counts);
    overlay::score(&program, &truth, &mut counts);
    println!(
        "\n{} {} {}: {} documents, {} lines; index {} ms, answers {} ms",
        repository.set,
        repository.language,
        repository.name,
        counts.documents,
        counts.lines,
        ready.as_millis(),
        counts.answer_ms
    );
    counts.print();
    if let Some(cases) = cases {
        cases.print(&program, &truth);
    }
    counts
}

fn main() {
    let args = Args::read();
    let all = Repository::all(&args.dir());
    let chosen: Vec<_> = all.iter().filter(|repository| args.wants(repository)).collect();
    let (ready, missing): (Vec<_>, Vec<_>) = chosen.into_iter().partition(|repository| repository.is_ready());
    for repository in missing {
        eprintln!("no truth for {}: run scripts/accuracy --prepare {}", repository.name, repository.package);
    }
    let mut sums: BTreeMap<String, Counts> = BTreeMap::new();
    let mut json = serde_json::Map::new();
    for repository in &ready {
        let counts = measure(repository, &args);
        sums.entry(format!("{} {}", repository.set, repository.language)).or_default().add(&counts);
        json.insert(format!("{}/{}/{}", repository.set, repository.language, repository.name), counts.json());
    }
    for (name, counts) in &sums {
        if ready.len() > 1 {
            println!("\n= {name}, all: {} documents, {} lines", counts.documents, counts.lines);
            counts.print();
        }
        json.insert(name.replace(' ', "/"), counts.json());
    }
    if let Some(path) = &args.json {
        std::fs::write(path, serde_json::to_string_pretty(&json).unwrap()).unwrap();
    }
}
