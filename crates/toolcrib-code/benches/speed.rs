//! How much facts cost over plain parsing, as ratios in one run: `cargo bench -p toolcrib-code --bench speed -- DIR`.

use std::path::Path;
use std::time::Instant;

use toolcrib_code::facts::extract;
use toolcrib_code::index::{CodeIndex, Control};
use toolcrib_code::lang::Language;
use toolcrib_code::search::{SymbolQuery, symbols};
use toolcrib_workspace::Workspace;

fn collect(dir: &Path, found: &mut Vec<(Vec<u8>, &'static Language)>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if let Some(language) = path.to_str().and_then(Language::of_path)
            && let Ok(bytes) = std::fs::read(&path)
            && bytes.len() < 1 << 20
        {
            found.push((bytes, language));
        }
    }
}

/// The index of a whole tree: cold, reopened, swept, and after one edit.
#[allow(clippy::print_stdout)]
fn whole(dir: &Path) {
    let Ok(workspace) = Workspace::open(dir) else { return };
    let Ok(cache) = tempfile::tempdir() else { return };
    let open = || CodeIndex::open(workspace.read_only(), Some(cache.path().to_path_buf()));
    let timed = |what: &str, work: &dyn Fn() -> usize| {
        let (started, cpu) = (Instant::now(), cpu());
        let count = work();
        println!(
            "  {what}: {:.0} ms, cpu {:.0} ms, {count}",
            started.elapsed().as_secs_f64() * 1e3,
            self::cpu() - cpu
        );
    };
    println!("{}", dir.display());
    let index = open();
    let control = Control::default();
    timed("cold index (files)", &|| index.refresh(&control).map_or(0, |snapshot| snapshot.report().files));
    timed("sweep (read again)", &|| index.refresh(&control).map_or(0, |snapshot| snapshot.report().reread));
    let stored: u64 = std::fs::read_dir(cache.path())
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|meta| meta.len())
        .sum();
    println!("  stored {:.1} MB", stored as f64 / 1e6);
    let again = open();
    timed("reopen (files)", &|| again.refresh(&control).map_or(0, |snapshot| snapshot.report().files));
    let Ok(snapshot) = again.refresh(&control) else { return };
    let query = SymbolQuery { query: "new".into(), limit: 20, ..SymbolQuery::default() };
    timed("first symbol search (total)", &|| symbols(&snapshot, &query).map_or(0, |hits| hits.total));
    timed("second symbol search (total)", &|| symbols(&snapshot, &query).map_or(0, |hits| hits.total));
    timed("files with a name", &|| snapshot.files_with("new").count());
}

/// Milliseconds of processor time so far, of all threads.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) * 10.0
}

#[allow(clippy::print_stdout)]
fn main() {
    let mut files = Vec::new();
    for dir in std::env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        collect(Path::new(&dir), &mut files);
    }
    for dir in std::env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        whole(Path::new(&dir));
    }
    if files.is_empty() {
        println!("no files: name directories to read");
        return;
    }
    let mut names: Vec<&str> = files.iter().map(|(_, language)| language.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let files: Vec<_> = files.iter().filter(|(_, language)| language.name == name).collect();
        let bytes: usize = files.iter().map(|(bytes, _)| bytes.len()).sum();
        let Some(language) = Language::by_name(name) else { continue };
        let mut best = (f64::MAX, f64::MAX);
        let (mut stored, mut references, mut definitions) = (0, 0, 0);
        for _ in 0..3 {
            let mut parser = tree_sitter::Parser::new();
            if parser.set_language(&language.grammar()).is_err() {
                return;
            }
            let started = Instant::now();
            for (bytes, _) in &files {
                drop(parser.parse(bytes, None));
            }
            best.0 = best.0.min(started.elapsed().as_secs_f64());
            let started = Instant::now();
            let all: Vec<_> =
                files.iter().filter_map(|(bytes, language)| extract(bytes, language).ok()).collect();
            best.1 = best.1.min(started.elapsed().as_secs_f64());
            stored = all.iter().map(|facts| facts.encode().len()).sum();
            references = all.iter().map(|facts| facts.references.len()).sum();
            definitions = all.iter().map(|facts| facts.definitions.len()).sum();
        }
        let megabytes = bytes as f64 / 1e6;
        println!(
            "{name}: {} files, {megabytes:.1} MB; parse {:.2} s ({:.1} MB/s), facts {:.2} s, ratio {:.2}; {definitions} definitions, {references} references; stored {:.2} of the source",
            files.len(),
            best.0,
            megabytes / best.0,
            best.1,
            best.1 / best.0,
            stored as f64 / bytes as f64,
        );
    }
}
