//! Output without end, without lines, without meaning.

use std::time::Duration;

use toolcrib_process::{Request, Stream};

use crate::bench::{World, levels};

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[tokio::test]
async fn output_without_end_is_bounded() {
    let world = World::best();
    let without_end = Duration::from_millis(1500);
    for (line, time) in [
        ("yes", without_end),
        ("cat /dev/urandom", without_end),
        ("yes $'\\xe2\\x82'", without_end),
        ("head -c 1000000000 /dev/zero | tr '\\0' x", Duration::from_secs(60)),
    ] {
        let before = resident();
        let request = Request { timeout: Some(time), ..world.request(line) };
        let process = world.commands.start(request).await.unwrap();
        process.wait().await;
        let grown = resident().saturating_sub(before);
        let output = process.output();
        let least = if time == without_end { 1 << 20 } else { 1_000_000_000 };
        assert!(process.total(Stream::Stdout) >= least, "{line}");
        assert_eq!(process.timed_out(), time == without_end, "{line}");
        assert!(output.stdout.text().len() < 2 << 20, "{line}");
        assert!(grown < 64 << 20, "{line}: {grown} bytes");
    }
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_does_not_hold_the_call() {
    for &level in levels() {
        let world = World::at(level);
        let started = std::time::Instant::now();
        let (code, stdout, _) =
            world.run("(setsid nohup sleep 300 & disown) 2>/dev/null; echo said; exit 7").await;
        assert_eq!((code, stdout.as_str()), (7, "said\n"));
        assert!(started.elapsed() < Duration::from_secs(3), "{level}");
    }
}
