//! How long a commit takes, printed with `--ignored --nocapture`; not a test of anything.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod fs_support;

use std::time::{Duration, Instant};

use fs_support::*;
use toolcrib_workspace::Expect;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[test]
#[ignore = "measures, asserts nothing"]
fn commit_latency() {
    for (name, journaled) in [("journal in memory", false), ("journal on disk", true)] {
        let w = World::with(
            Backend::Kernel,
            |builder, temp| if journaled { builder.state(state_in(temp)) } else { builder },
        );
        for files in [1, 10] {
            let mut create = Vec::new();
            let mut modify = Vec::new();
            for round in 0..40 {
                for (pass, times) in [("a", &mut create), ("b", &mut modify)] {
                    let start = Instant::now();
                    let mut change = w.ws.begin(label());
                    for file in 0..files {
                        let path = format!("{files}-{round}-{file}");
                        change.put(&path, pass.repeat(2000).into_bytes(), Expect::Any).unwrap();
                    }
                    change.commit(&|| false).unwrap();
                    times.push(start.elapsed());
                }
            }
            println!("{name}, {files} files: create {:?}, modify {:?}", median(create), median(modify));
        }
        let start = Instant::now();
        for _ in 0..1000 {
            w.ws.read("1-0-0", 10_000).unwrap();
        }
        println!("read: {:?}", start.elapsed() / 1000);
    }
    let mut probe = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut probe, b"x").unwrap();
    let start = Instant::now();
    probe.as_file().sync_all().unwrap();
    println!("one fsync here: {:?}", start.elapsed());
}
