//! How much facts cost over plain parsing, as ratios in one run: `cargo bench -p toolcrib-code --bench speed -- DIR`.

use std::path::Path;
use std::time::Instant;

use toolcrib_code::facts::extract;
use toolcrib_code::lang::Language;

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

#[allow(clippy::print_stdout)]
fn main() {
    let mut files = Vec::new();
    for dir in std::env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        collect(Path::new(&dir), &mut files);
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
