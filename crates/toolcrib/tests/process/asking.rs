//! A person at a terminal is asked, and what they answer holds as far as they were told.

use std::time::Duration;

use toolcrib_process::{Level, Process, Program, Request, Stream};

use crate::bench::World;

/// `toolcrib call run_command` for an agent, with a person at the terminal.
struct Seat {
    world: World,
}

impl Seat {
    fn new() -> Self {
        Self { world: World::at(Level::Policy) }
    }

    /// Calls, answers the question if there is one, and gives everything that was on the screen.
    async fn call(&self, command: &str, answer: Option<&str>) -> String {
        let top = self.world.top.path().display().to_string();
        let line = format!(
            "XDG_STATE_HOME={top}/state XDG_CACHE_HOME={top}/cache XDG_CONFIG_HOME={top}/config {} \
             --mode agent --policy ask --session s call run_command --arg command=\"$1\"",
            env!("CARGO_BIN_EXE_toolcrib")
        );
        let argv = ["bash", "-c", &line, "-", command].map(String::from).to_vec();
        let request = Request {
            terminal: true,
            timeout: Some(Duration::from_secs(20)),
            ..Request::new(Program::Argv(argv), self.world.root())
        };
        let process = self.world.commands.start(request).await.unwrap();
        if let Some(answer) = answer {
            wait_for(&process, "\n> ").await;
            process.input(format!("{answer}\n").as_bytes(), false).await.unwrap();
        }
        process.wait().await;
        assert!(!process.timed_out(), "{}", process.output().stdout.text());
        process.output().stdout.text().replace('\r', "")
    }

    fn made(&self, name: &str) -> bool {
        self.world.root().join(name).exists()
    }
}

async fn wait_for(process: &Process, text: &str) {
    let mut changes = process.changes();
    while !process.since(Stream::Stdout, 0).0.text().replace('\r', "").contains(text) {
        assert!(process.end().is_none(), "{}", process.output().stdout.text());
        changes.changed().await.unwrap();
    }
}

#[tokio::test]
async fn once_is_once() {
    let seat = Seat::new();
    let screen = seat.call("mkdir one", Some("y")).await;
    assert!(screen.contains("  | $ mkdir one") && screen.contains("why asked"), "{screen}");
    assert!(!screen.contains("would run"), "once is enough: {screen}");
    assert!(seat.made("one"), "{screen}");
    let screen = seat.call("mkdir two", Some("n")).await;
    assert!(!seat.made("two") && screen.contains("COMMAND_DENIED"), "{screen}");
}

#[tokio::test]
async fn a_no_takes_its_reason_to_the_model() {
    let seat = Seat::new();
    let screen = seat.call("mkdir one", Some("n use the folder two")).await;
    assert!(!seat.made("one"));
    assert!(screen.contains("the person said no: use the folder two"), "{screen}");
}

#[tokio::test]
async fn a_session_and_a_project_remember_what_was_shown() {
    for (answer, scope) in [("s", "session"), ("p", "project")] {
        let seat = Seat::new();
        let screen = seat.call("cargo --version; make test", Some(answer)).await;
        assert!(screen.contains("`make test` with any arguments after it"), "{scope}: {screen}");
        // The same prefix is not asked for again; another one is.
        let screen = seat.call("make test V=1", None).await;
        assert!(screen.contains("exit code"), "{scope}: {screen}");
        let screen = seat.call("make install", Some("n")).await;
        assert!(screen.contains("COMMAND_DENIED"), "{scope}: {screen}");
    }
}

#[tokio::test]
async fn the_end_of_a_long_command_is_on_the_screen() {
    let seat = Seat::new();
    let command = format!("echo {} &&\n[y] &&\nmkdir the-end", "x".repeat(900));
    let screen = seat.call(&command, Some("n")).await;
    assert!(screen.contains("mkdir the-end") && screen.contains(&"x".repeat(900)), "{screen}");
    assert_eq!(screen.matches("\n[y]").count(), 1, "{screen}");
}

#[tokio::test]
async fn nobody_is_asked_about_what_would_fail_or_only_reads() {
    let seat = Seat::new();
    let screen = seat.call("", None).await;
    assert!(screen.contains("VALIDATION_ERROR"), "{screen}");
    let screen = seat.call("ls", None).await;
    assert!(screen.contains("exit code: 0"), "{screen}");
    let screen = seat.call("rm -rf /", None).await;
    assert!(screen.contains("COMMAND_DENIED") && screen.contains("never run"), "{screen}");
}
