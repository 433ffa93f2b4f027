//! After stop, timeout, cancel or the death of the program itself, nothing of a command is left: randomised trials.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use toolcrib_process::{End, Level, Request};

use crate::bench::{World, levels};

/// Ways to outlive a shell. `M` is an argument that marks the processes of a trial.
const ESCAPES: &[&str] = &[
    "sleep M",
    "setsid -w sleep M",
    "setsid sleep M & wait",
    "(setsid bash -c 'sleep M & exec sleep M' &); sleep M",
    "nohup sleep M >/dev/null 2>&1 & disown; sleep M",
    "trap '' TERM INT HUP; sleep M & while :; do sleep 0.05; done",
    "trap '' TERM; setsid bash -c \"trap '' TERM; sleep M\" & while :; do sleep 0.05; done",
    "sleep M & sleep 0.1; kill -STOP $!; wait",
    "(sleep M &); exec sleep M",
    "while :; do (setsid sleep M &); sleep 0.02; done",
    "while :; do (setsid sleep M &); done",
    "bash -c 'bash -c \"bash -c \\\"(setsid sleep M &)\\\"; sleep M\"; sleep M'",
    "python3 -c 'import os,time\nif os.fork()==0:\n os.setsid()\n if os.fork()==0:\n  os.closerange(0,64); os.execvp(\"sleep\",[\"sleep\",\"M\"])\n os._exit(0)\ntime.sleep(600)'",
    "sleep M & sleep M & sleep M & kill -STOP $$",
];

/// How many living processes carry the mark.
fn marked(mark: &str) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name();
        if !name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // Only what `sleep` itself is told; shells carry their whole script.
        let mut words = line.split(|byte| *byte == 0);
        if words.next() == Some(b"sleep") && words.next() == Some(mark.as_bytes()) {
            count += 1;
        }
    }
    count
}

async fn until(what: &str, at_most: Duration, mut holds: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < at_most, "{what}: not within {at_most:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    started.elapsed()
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Timeout,
    Stop,
    Drop,
    KillProgram,
}

async fn trial(number: u32, level: Level, way: Way, escape: &str) {
    let mark = format!("{}.{number:03}", 40_000 + std::process::id() % 10_000);
    let line = escape.replace('M', &mark);
    let what = format!("trial {number}: {way:?} at {level}: {escape}");
    let world = World::at(level);
    match way {
        Way::Timeout => {
            let time = Duration::from_millis(500);
            let started = Instant::now();
            let process =
                world.commands.start(Request { timeout: Some(time), ..world.request(&line) }).await.unwrap();
            process.wait().await;
            assert!(process.timed_out(), "{what}");
            assert!(started.elapsed() < time + Duration::from_secs(2), "{what}: {:?}", started.elapsed());
        }
        Way::Stop | Way::Drop => {
            let request = Request { timeout: None, ..world.request(&line) };
            let process = world.commands.start(request).await.unwrap();
            until(&what, Duration::from_secs(10), || marked(&mark) > 0).await;
            tokio::time::sleep(Duration::from_millis(u64::from(fastrand(number) % 60))).await;
            if matches!(way, Way::Stop) {
                let started = Instant::now();
                assert!(matches!(process.stop().await, End::Exited { .. }), "{what}");
                assert!(started.elapsed() < Duration::from_secs(2), "{what}: {:?}", started.elapsed());
            } else {
                drop(process);
                until(&what, Duration::from_secs(2), || marked(&mark) == 0).await;
            }
        }
        Way::KillProgram => {
            let mut program = Command::new(env!("CARGO_BIN_EXE_toolcrib"))
                .args(["call", "run_command", "-", "--sandbox", level.as_str(), "--root"])
                .arg(world.root())
                .env("XDG_STATE_HOME", world.top.path().join("state"))
                .env("XDG_CACHE_HOME", world.top.path().join("cache"))
                .env("XDG_CONFIG_HOME", world.top.path().join("config"))
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let call = serde_json::json!({"command": line, "timeout": 600});
            serde_json::to_writer(program.stdin.take().unwrap(), &call).unwrap();
            until(&what, Duration::from_secs(10), || marked(&mark) > 0).await;
            program.kill().unwrap();
            program.wait().unwrap();
            until(&what, Duration::from_secs(3), || marked(&mark) == 0).await;
        }
    }
    // Not at some time later: now.
    assert_eq!(marked(&mark), 0, "{what}");
}

/// Spread over the trials, the same each time.
fn fastrand(number: u32) -> u32 {
    number.wrapping_mul(2_654_435_761).rotate_left(13) >> 7
}

/// Without a sandbox a command can kill the process that watches over it; the one above takes over.
#[tokio::test]
async fn killing_the_watcher_helps_nobody() {
    let mark = format!("{}.999", 40_000 + std::process::id() % 10_000);
    let world = World::at(Level::Policy);
    let line = format!("(setsid sleep {mark} &) ; sleep {mark} & sleep 0.1; kill -9 $PPID; sleep {mark}");
    let process = world.start(&line).await;
    let end = tokio::time::timeout(Duration::from_secs(5), process.wait()).await.unwrap();
    assert_eq!(end, End::Lost);
    until("the watcher is dead", Duration::from_secs(3), || marked(&mark) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives() {
    const TRIALS: u32 = 200;
    let levels = levels();
    let ways = [Way::Timeout, Way::Stop, Way::Drop, Way::KillProgram];
    let mut running = tokio::task::JoinSet::new();
    for number in 0..TRIALS {
        if running.len() >= 6 {
            running.join_next().await.unwrap().unwrap();
        }
        let pick = fastrand(number) as usize;
        let (level, way) = (levels[number as usize % levels.len()], ways[number as usize / 3 % 4]);
        running.spawn(trial(number, level, way, ESCAPES[pick % ESCAPES.len()]));
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}
