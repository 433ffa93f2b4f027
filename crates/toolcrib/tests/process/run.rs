//! Starting, input, output, ending.

use std::time::{Duration, Instant};

use toolcrib_process::{End, Program, Request};

use crate::bench::{World, levels};

#[tokio::test]
async fn every_level_runs_a_command() {
    for &level in levels() {
        let world = World::at(level);
        let (code, stdout, stderr) = world.run("echo out; echo err >&2; pwd; exit 3").await;
        let here = world.root().display().to_string();
        assert_eq!((code, stdout, stderr), (3, format!("out\n{here}\n"), "err\n".into()), "{level}");
    }
}

#[tokio::test]
async fn argv_goes_without_a_shell() {
    let world = World::best();
    let argv = ["printf", "%s|", "a b", "$HOME", "`id`", "*"].map(String::from).to_vec();
    let (code, stdout, _) = world.finish(Request::new(Program::Argv(argv), world.root())).await;
    assert_eq!((code, stdout.as_str()), (0, "a b|$HOME|`id`|*|"));
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    for &level in levels() {
        let world = World::at(level);
        let request = Request::new(Program::Argv(vec!["no-such-program".into()]), world.root());
        let process = world.commands.start(request).await.unwrap();
        let End::Failed(why) = process.wait().await else { panic!("{level}: it ran") };
        assert!(why.contains("no such program"), "{why}");
        let request = Request::new(Program::Shell("true".into()), world.root().join("nowhere"));
        let process = world.commands.start(request).await.unwrap();
        assert!(
            matches!(process.wait().await, End::Failed(why) if why.contains("no such directory")),
            "{level}"
        );
    }
}

#[tokio::test]
async fn without_input_there_is_an_end_of_it_at_once() {
    for &level in levels() {
        let world = World::at(level);
        let started = Instant::now();
        let (code, stdout, _) = world.run("cat; read x; echo done").await;
        assert_eq!((code, stdout.as_str()), (0, "done\n"));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn input_is_given_and_closed() {
    for &level in levels() {
        let world = World::at(level);
        let process =
            world.commands.start(Request { input: true, ..world.request("cat; echo end") }).await.unwrap();
        process.input(b"one\n", false).await.unwrap();
        let mut changes = process.changes();
        while process.total(toolcrib_process::Stream::Stdout) == 0 {
            changes.changed().await.unwrap();
        }
        assert_eq!(process.new_output().stdout.text(), "one\n");
        process.input(b"two\n", true).await.unwrap();
        process.wait().await;
        assert_eq!(process.new_output().stdout.text(), "two\nend\n", "{level}");
        assert!(process.input(b"three", false).await.is_err());
    }
}

#[tokio::test]
async fn a_terminal_is_one() {
    for &level in levels() {
        let world = World::at(level);
        let line = "test -t 0 && test -t 1 && echo yes; stty size; read x; echo \"got $x\"";
        let process = world.commands.start(Request { terminal: true, ..world.request(line) }).await.unwrap();
        process.input(b"word\n", false).await.unwrap();
        process.wait().await;
        let said = process.output().stdout.text();
        assert!(
            said.contains("yes") && said.contains("40 120") && said.contains("got word"),
            "{level}: {said:?}"
        );
    }
}

#[tokio::test]
async fn a_timeout_keeps_what_was_said() {
    for &level in levels() {
        let world = World::at(level);
        let request = Request {
            timeout: Some(Duration::from_millis(400)),
            ..world.request("echo before; sleep 60; echo after")
        };
        let started = Instant::now();
        let process = world.commands.start(request).await.unwrap();
        process.wait().await;
        assert!(process.timed_out());
        assert_eq!(process.output().stdout.text(), "before\n", "{level}");
        assert!(started.elapsed() < Duration::from_millis(2400), "{level}: {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_dropped_process_ends() {
    for &level in levels() {
        let world = World::at(level);
        let marker = world.root().join("alive");
        let process = world.start("while :; do date +%s%N > alive; sleep 0.02; done").await;
        while !marker.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(process);
        // Its file stops changing.
        let mut last = std::fs::read(&marker).unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(5), async {
            loop {
                tokio::time::sleep(Duration::from_millis(200)).await;
                let now = std::fs::read(&marker).unwrap();
                if now == last {
                    return;
                }
                last = now;
            }
        });
        assert!(ended.await.is_ok(), "{level}");
    }
}

#[tokio::test]
async fn what_is_left_in_the_background_ends_with_the_command() {
    for &level in levels() {
        let world = World::at(level);
        let started = Instant::now();
        let (code, stdout, _) = world.run("sleep 300 & (setsid sleep 301 &) ; echo done").await;
        assert_eq!((code, stdout.as_str()), (0, "done\n"), "{level}");
        assert!(started.elapsed() < Duration::from_secs(3), "{level}");
    }
}
