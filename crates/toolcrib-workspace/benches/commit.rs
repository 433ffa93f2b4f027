//! How long a commit takes against a plain durable write of the same files:
//! `cargo bench -p toolcrib-workspace --bench commit`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and may fail by panicking")]

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use toolcrib_workspace::{Access, ChangeLabel, Expect, StateDir, Workspace};

const ROUNDS: usize = 40;

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// What one would write by hand: a temporary file, synced, renamed, the directory synced.
fn by_hand(folder: &Path, name: &str, bytes: &[u8]) {
    let temporary = folder.join(format!("{name}.tmp"));
    let mut file = std::fs::File::create(&temporary).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    std::fs::rename(temporary, folder.join(name)).unwrap();
    std::fs::File::open(folder).unwrap().sync_all().unwrap();
}

fn commit(workspace: &Workspace, files: usize, bytes: &[u8]) {
    let mut change = workspace.begin(ChangeLabel::default());
    for file in 0..files {
        change.put(&format!("{file}.txt"), bytes.to_vec(), Expect::Any).unwrap();
    }
    change.commit(&|| false).unwrap();
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let hand = root("hand");
    let memory = Workspace::open(root("memory")).unwrap();
    let state = StateDir::at(folder.path().join("state")).unwrap();
    let disk = Workspace::builder().root(root("disk"), Access::ReadWrite).state(state).build().unwrap();
    println!("milliseconds for overwriting files of 2 kB, median of {ROUNDS}, alternating");
    println!("  files   by hand   journal in memory   journal on disk");
    for files in [1, 10] {
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            let bytes = format!("{round}-").repeat(700).into_bytes();
            let work: [&dyn Fn(); 3] = [
                &|| (0..files).for_each(|file| by_hand(&hand, &format!("{file}.txt"), &bytes)),
                &|| commit(&memory, files, &bytes),
                &|| commit(&disk, files, &bytes),
            ];
            for (work, times) in work.iter().zip(&mut times) {
                let started = Instant::now();
                work();
                times.push(started.elapsed());
            }
        }
        let [by_hand, in_memory, on_disk] = times.each_mut().map(|times| median(times));
        println!(
            "  {files:>5}   {by_hand:>7.2}   {in_memory:>8.2} ({:.1} ×)   {on_disk:>8.2} ({:.1} ×)",
            in_memory / by_hand,
            on_disk / by_hand
        );
    }
}
