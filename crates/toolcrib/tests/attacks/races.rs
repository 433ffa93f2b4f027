//! Directories that change places with links while tools work on them (P18-P20).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::world::{World, patch};

/// How long a race lasts at least; on a busy machine it goes on until something has happened.
const RACE: Duration = Duration::from_millis(1000);
const MOST: Duration = Duration::from_secs(20);

fn goes_on(start: Instant, happened: bool) -> bool {
    start.elapsed() < RACE || (!happened && start.elapsed() < MOST)
}

/// Exchanges two names as fast as it can.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Swapper {
    fn start(one: PathBuf, other: PathBuf) -> Self {
        let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&swaps));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { stop, swaps, thread: Some(thread) }
    }

    fn stop(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        self.swaps.load(Ordering::Relaxed)
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn world() -> World {
    let w = World::new();
    w.write("d/secret", "line\n");
    w.write("d/sub/secret", "line\n");
    symlink(w.top().join("out"), w.path("l")).unwrap();
    w
}

#[test]
fn p18_reading_while_a_folder_becomes_a_link() {
    let w = world();
    let swapper = Swapper::start(w.path("d"), w.path("l"));
    let start = Instant::now();
    let (mut read, mut refused) = (0, 0);
    while goes_on(start, read > 20 && refused > 20) {
        // Each call asserts that the secret is nowhere in its outcome.
        for (tool, arguments) in [
            ("read_file", json!({"path": "d/secret"})),
            ("read_file", json!({"paths": ["d/sub/secret", "l/secret"]})),
            ("grep", json!({"pattern": ".", "path": "d"})),
            ("grep", json!({"pattern": ".", "path": "d/secret"})),
            ("grep", json!({"pattern": "do-not"})),
        ] {
            w.session.next_turn();
            let outcome = w.call("P18", tool, arguments);
            read += u64::from(outcome.output.contains("line"));
            refused += u64::from(!outcome.success);
        }
    }
    let swaps = swapper.stop();
    assert!(
        read > 20 && refused > 20 && swaps > 100,
        "no race: {read} read, {refused} refused, {swaps} swaps"
    );
}

#[test]
fn p19_writing_while_a_folder_becomes_a_link() {
    let w = world();
    let swapper = Swapper::start(w.path("d"), w.path("l"));
    let start = Instant::now();
    let (mut written, mut refused, mut round) = (0, 0, 0);
    while goes_on(start, written > 10 && refused > 10) {
        round += 1;
        // Each call asserts that nothing outside has changed or appeared.
        for (tool, arguments) in [
            ("write_file", json!({"path": "d/secret", "content": format!("line {round}\n")})),
            ("write_file", json!({"path": "d/sub/made/deep/new", "content": format!("line {round}\n")})),
            ("edit_file", json!({"path": "d/sub/secret", "old_string": "line", "new_string": "line "})),
            ("apply_patch", patch(&format!("*** Add File: l/added\n+{round}"))),
            ("delete_file", json!({"path": "d/sub/made", "recursive": true})),
            ("delete_file", json!({"path": "l/added"})),
            ("undo_changes", json!({"action": "undo"})),
        ] {
            let outcome = w.call("P19", tool, arguments);
            written += u64::from(outcome.success);
            refused += u64::from(!outcome.success);
        }
    }
    let swaps = swapper.stop();
    w.assert_outside_untouched("P19");
    assert!(written > 10 && refused > 10 && swaps > 100, "no race: {written}, {refused}, {swaps} swaps");
}

/// A file and a link to the outside change places.
#[test]
fn p19_a_file_becomes_a_link() {
    let w = World::new();
    w.write("f", "line\n");
    symlink(w.top().join("out/secret"), w.path("l")).unwrap();
    let swapper = Swapper::start(w.path("f"), w.path("l"));
    let start = Instant::now();
    let mut done = 0;
    while goes_on(start, done > 10) {
        w.session.next_turn();
        for (tool, arguments) in [
            ("read_file", json!({"path": "f"})),
            ("edit_file", json!({"path": "f", "old_string": "line", "new_string": "line."})),
            ("write_file", json!({"path": "f", "content": "line\n"})),
        ] {
            done += u64::from(w.call("P19", tool, arguments).success);
        }
    }
    let swaps = swapper.stop();
    assert!(done > 10 && swaps > 100, "no race: {done}, {swaps} swaps");
}

#[test]
fn p20_the_folder_above_the_root_is_exchanged() {
    let mut w = World::with(|builder, top| {
        fs::create_dir_all(top.join("out/above/root")).unwrap();
        fs::create_dir_all(top.join("out/other/root")).unwrap();
        for folder in ["above", "other"] {
            fs::write(top.join("out").join(folder).join("root/f"), folder).unwrap();
        }
        builder.root(top.join("out/above/root"))
    });
    w.accept_outside();
    let inside = w.top().join("out/above/root/f").to_str().unwrap().to_owned();
    let swapper = Swapper::start(w.top().join("out/above"), w.top().join("out/other"));
    let start = Instant::now();
    let mut read = 0;
    while goes_on(start, read > 20) {
        w.session.next_turn();
        let request = toolcrib::CallRequest::new(&w.session, "read_file", json!({"path": inside}));
        let outcome = w.runtime().block_on(w.crib.executor().call(request));
        assert_eq!(outcome.data["files"][0]["content"], "above");
        read += 1;
    }
    assert!(swapper.stop() > 100 && read > 20);
}
