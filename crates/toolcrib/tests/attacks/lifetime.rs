//! How commands end, what they may use, and what they can say (K16 to K32, O01 to O11).

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::PolicyMode;
use toolcrib_process::Level;

use crate::lab::{Lab, TOOLCRIB, folder, has, levels, python};
use crate::world::SECRET;

/// All levels: what ends, ends without a sandbox too.
fn all_levels() -> Vec<Level> {
    levels().iter().copied().chain([Level::Policy]).collect()
}

/// The processes on this machine that have this among their arguments.
fn alive(marker: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let found = all.filter_map(|entry| {
        let line = String::from_utf8(std::fs::read(entry.path().join("cmdline")).ok()?).ok()?;
        let pid = entry.file_name().to_str()?.parse().ok()?;
        line.split('\0').any(|word| word == marker).then_some(pid)
    });
    found.collect()
}

fn wait_until(what: &str, at_most: Duration, done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < at_most, "{what}: not within {at_most:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An argument of `sleep` that no other process has.
fn marker() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("4{}.{next}1", std::process::id())
}

#[test]
fn k16_k17_nothing_is_left() {
    for level in all_levels() {
        let lab = Lab::at(level);
        for (id, line, stopped) in [
            ("K16", "trap '' TERM; sleep M & wait; sleep M", true),
            ("K16", "trap '' TERM INT HUP QUIT; while :; do sleep M; done", true),
            ("K16", "kill -STOP $$; sleep M", true),
            ("K16", "sleep M & kill -STOP $!; wait", true),
            ("K17", "setsid sleep M &", false),
            ("K17", "(setsid sleep M &) & exit", false),
            ("K17", "nohup sleep M > /dev/null 2>&1 & disown", false),
            ("K17", "nohup setsid sleep M & disown -a; exit 3", false),
            ("K17", "(((sleep M &) &) &)", false),
            ("K17", "setsid -f sh -c 'trap \"\" TERM; sleep M'", false),
            ("K17", "coproc sleep M; exec sleep 0", false),
            ("K17", "exec 1>&- 2>&-; setsid sleep M &", false),
        ] {
            let marker = marker();
            let line = line.replace('M', &marker).replace(&format!("TER{marker}"), "TERM");
            let started = Instant::now();
            let outcome = lab
                .call("run_command", json!({"command": line, "timeout": if stopped { 0.3 } else { 10.0 }}));
            let code = outcome.error.as_ref().map(|error| error.code.as_str());
            assert_eq!(code, stopped.then_some("TIMEOUT"), "{id} {level} {line}: {}", outcome.output);
            assert!(
                started.elapsed() < Duration::from_secs(4),
                "{id} {level} {line}: {:?}",
                started.elapsed()
            );
            assert_eq!(alive(&marker), Vec::<u32>::new(), "{id} {level} {line}");
        }
    }
}

/// `toolcrib call run_command` in a place of its own.
fn call(place: &Path, level: Level, line: &str) -> Command {
    let mut command = Command::new(TOOLCRIB);
    arguments(&mut command, place, level, line);
    command
}

fn arguments(command: &mut Command, place: &Path, level: Level, line: &str) {
    command.arg("--root").arg(place.join("ws")).args([
        "--sandbox",
        level.as_str(),
        "--policy",
        "full",
        "--json",
    ]);
    command.args(["call", "run_command", &json!({"command": line, "timeout": 20}).to_string()]);
    command.env("XDG_STATE_HOME", place.join("state")).env("XDG_CACHE_HOME", place.join("cache"));
    command.env("HOME", place).stdin(Stdio::null());
}

/// A place that anybody may use, with a workspace.
fn open_place() -> tempfile::TempDir {
    let place = folder();
    std::fs::create_dir(place.path().join("ws")).unwrap();
    for path in [place.path().to_owned(), place.path().join("ws")] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    }
    place
}

#[test]
fn k19_when_the_program_is_killed_everything_ends() {
    for level in all_levels() {
        for line in [
            "sleep M",
            "setsid sleep M & sleep M",
            "trap '' TERM HUP; (setsid sleep M &); while :; do sleep M; done",
        ] {
            for who in ["program", "supervisor", "watcher"] {
                let place = open_place();
                let marker = marker();
                let line = line.replace('M', &marker).replace(&format!("TER{marker}"), "TERM");
                let mut program = call(place.path(), level, &line).stdout(Stdio::null()).spawn().unwrap();
                wait_until("it runs", Duration::from_secs(10), || !alive(&marker).is_empty());
                std::thread::sleep(Duration::from_millis(50));
                let supervisor = child_of(program.id());
                match who {
                    "program" => kill(program.id()),
                    // Without it what runs is still watched over, until the program is gone as well.
                    "supervisor" => [supervisor, program.id()].into_iter().for_each(kill),
                    _ => kill(watcher(supervisor, &marker)),
                }
                let what = format!("K19 {level} {who} {line}");
                wait_until(&what, Duration::from_secs(5), || alive(&marker).is_empty());
                let _ = program.kill();
                let _ = program.wait();
            }
        }
    }
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

/// The process below the supervisor that watches over the one with this marker.
fn watcher(supervisor: u32, marker: &str) -> u32 {
    let parent = |pid: u32| -> u32 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let mut at = alive(marker)[0];
    while parent(at) != supervisor {
        at = parent(at);
    }
    at
}

fn child_of(pid: u32) -> u32 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    children.collect::<String>().split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn k20_output_without_end_is_bounded() {
    for level in levels() {
        let lab = Lab::at(*level);
        for line in
            ["yes", "cat /dev/urandom", "yes | tr -d '\\n'", "yes >&2", "while :; do printf '\\033]0;'; done"]
        {
            let started = Instant::now();
            let outcome = lab.call(
                "run_command",
                json!({"command": format!("echo first; echo first >&2; {line}"), "timeout": 0.7}),
            );
            let code = outcome.error.as_ref().map(|error| error.code.as_str());
            assert_eq!(code, Some("TIMEOUT"), "{level} {line}: {}", outcome.title);
            assert!(started.elapsed() < Duration::from_secs(5), "{level} {line}: {:?}", started.elapsed());
            let whole = serde_json::to_string(&outcome).unwrap();
            assert!(whole.len() < 4 << 20, "{level} {line}: {} bytes", whole.len());
            let said = |name: &str| outcome.data[name].as_str().unwrap_or_default().starts_with("first\n");
            assert!(said("stdout") && said("stderr"), "{level} {line}: the beginning is lost");
        }
    }
}

#[test]
fn k22_k23_nobody_is_waited_for() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    for level in all_levels() {
        let lab = Lab::at(level);
        for (id, line) in [
            ("K22", "cat".to_owned()),
            ("K22", "read x; read -s -p 'Password: ' y < /dev/tty; read z".to_owned()),
            ("K22", "/usr/bin/python3 -I; bash; sh -i".to_owned()),
            ("K22", "passwd; ssh-keygen".to_owned()),
            ("K22", "git commit --allow-empty; git rebase -i HEAD; git add -p".to_owned()),
            ("K22", "less x; man ls | head -1; vi -es -c q; top -b -n 1 | head -1".to_owned()),
            ("K23", "git clone https://127.0.0.1:9/x".to_owned()),
            ("K23", "git -c credential.helper= clone http://user@127.0.0.1:9/x".to_owned()),
            ("K23", "git clone ssh://127.0.0.1:9/x; ssh -p 9 127.0.0.1 true".to_owned()),
            ("K23", "git credential fill <<< $'protocol=https\\nhost=h\\n'".to_owned()),
            ("K23", format!("test $TOOLCRIB_SANDBOX = policy || timeout 5 ssh -p {port} 127.0.0.1 true")),
        ] {
            let outcome = lab.call("run_command", json!({"command": line, "timeout": 15}));
            let took = outcome.data["duration_ms"].as_u64().unwrap_or(u64::MAX);
            assert!(outcome.success && took < 5_000, "{id} {level} {line}: {took} ms, {}", outcome.output);
        }
    }
}

#[test]
fn k25_k26_memory_and_files_have_an_end() {
    let Some(python) = python() else { return };
    for level in levels() {
        let lab = Lab::with(*level, PolicyMode::Full, |settings| {
            settings.sandbox.max_memory_bytes = None;
            settings.sandbox.max_file_bytes = Some(1 << 20);
        });
        let ran = lab.run("K25", &format!("{python} 'bytearray(100 << 30)'"));
        assert!(ran.code == Some(1) && ran.stderr.contains("MemoryError"), "{level}: {ran:?}");
        for (id, line, signal) in [
            ("K26", "head -c 5000000 /dev/zero > big", true),
            ("K26", "trap '' XFSZ; head -c 5000000 /dev/zero > big", false),
            ("K26", "head -c 5000000 /dev/zero > $TMPDIR/big", true),
            ("K25", "head -c 5000000 /dev/zero > /dev/shm/big", *level == Level::Full),
            ("K26", "truncate -s 100G big", false),
            ("K26", "dd if=/dev/zero of=big bs=1 count=1 seek=100G", false),
        ] {
            let ran = lab.run(
                id,
                &format!("({line}); c=$?; stat -c %s big $TMPDIR/big /dev/shm/big 2>/dev/null; exit $c"),
            );
            let code = ran.code.unwrap();
            assert!(code != 0 && (!signal || code == 153), "{id} {level} {line}: {ran:?}");
            assert!(
                ran.stdout.lines().all(|size| size.parse::<u64>().unwrap() <= 1 << 20),
                "{id} {level} {line}: {ran:?}"
            );
        }
        assert_eq!(lab.run("K25", "echo fine").stdout, "fine\n", "{level}");
        let small = Lab::with(*level, PolicyMode::Full, |settings| {
            settings.sandbox.max_memory_bytes = Some(256 << 20);
        });
        let ran = small.run("K25", &format!("{python} 'x = []\nwhile True: x.append(bytearray(1 << 20))'"));
        assert!(ran.code == Some(1) && ran.stderr.contains("MemoryError"), "{level}: {ran:?}");
    }
}

#[test]
fn k28_without_descriptors_it_says_so() {
    let place = open_place();
    let Some(level) = levels().first().copied() else { return };
    let line = json!({"command": "echo ran"}).to_string();
    let mut seen = Vec::new();
    // With fewer than eight the runtime itself cannot begin.
    for limit in 8..40 {
        let script = format!(
            "ulimit -n {limit} && exec \"$0\" --json --sandbox {level} --root ws call run_command \"$1\""
        );
        let mut bash = Command::new("timeout");
        bash.args(["10", "bash", "-c", &script, TOOLCRIB, &line])
            .current_dir(place.path())
            .env("HOME", place.path());
        bash.env("XDG_STATE_HOME", place.path().join("state"))
            .env("XDG_CACHE_HOME", place.path().join("cache"));
        let output = bash.stdin(Stdio::null()).output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_ne!(output.status.code(), Some(124), "K28: hangs with {limit} descriptors");
        if said.contains("error while loading shared libraries") || said.contains("cannot open shared object")
        {
            continue;
        }
        let outcome: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let code = outcome["error"]["code"].as_str().or_else(|| outcome["code"].as_str());
        let ran = outcome["data"]["stdout"] == "ran\n";
        assert!(ran || code.is_some(), "K28: with {limit} descriptors: {said}");
        assert!(!said.contains("panicked"), "K28: with {limit} descriptors: {said}");
        seen.push(ran);
    }
    assert!(seen.contains(&false) && seen.last() == Some(&true), "K28: {seen:?}");
}

#[test]
fn k28_zombies_are_buried() {
    let Some(python) = python() else { return };
    for level in all_levels() {
        let lab = Lab::at(level);
        let code = "import os,time\nfor i in range(300):\n  if os.fork() == 0:\n    if os.fork() == 0: os._exit(0)\n    os._exit(0)\nprint(1)";
        for _ in 0..2 {
            let ran = lab.run("K28", &format!("{python} '{code}'"));
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "1\n"), "{level}: {ran:?}");
        }
        let dead = zombies(std::process::id());
        assert!(dead < 5, "{level}: {dead} zombies below the program");
    }
}

fn zombies(of: u32) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(&format!(" Z {of} "))))
        .count()
}

#[test]
fn k32_o01_o04_what_is_said_is_text() {
    let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
    for level in levels() {
        let lab = Lab::at(*level);
        for (id, line, has) in [
            ("K32", "printf 'a\\xe2\\x82'; sleep 0.1; printf '\\xac b\\n'", "a€ b"),
            ("K32", "printf 'a\\xf0\\x9f'; sleep 0.1; printf '\\x98\\x80b \\xff\\xfe c\\n'", "a😀b"),
            ("K32", "printf 'x%.0s' {1..65535}; printf '€\\n'", "x€"),
            ("O01", "printf 'a\\033[2J\\033[Hb\\033]0;title\\007c\\033]52;c;ZXZpbA==\\007d\\n'", "d"),
            ("O01", "printf '\\033]8;;http://evil\\033\\\\link\\033]8;;\\033\\\\\\n'", "link"),
            ("O02", "printf '\\033Pq\\033\\\\a\\033_apc\\033\\\\b\\033^pm\\033\\\\c\\n'", "c"),
            ("O02", "printf 'a\\xc2\\x9b31mb\\xc2\\x90x\\xc2\\x9cc\\x9b2Jd\\n'", "d"),
            ("O02", "printf '\\007%.0s' {1..2000}; echo bell", "bell"),
            ("O02", "printf 'safe\\rEVIL\\nabc\\b\\b\\bxyz\\x7f\\n'", "EVIL"),
            (
                "O04",
                "printf 'a\\033'; sleep 0.1; printf '[2Jb\\033]0;ti'; sleep 0.1; printf 'tle\\007c\\n'",
                "c",
            ),
            ("O04", "printf 'before\\n\\033]0;'; head -c 3000000 /dev/zero | tr '\\0' x", "before"),
            ("O04", "printf 'before\\n\\033P'; yes | head -c 3000000", "before"),
        ] {
            let outcome = lab.call("run_command", json!({"command": line}));
            assert!(outcome.success, "{id} {level} {line}: {}", outcome.output);
            let texts = [&outcome.output, &outcome.title, &outcome.preview.join("\n")];
            for text in texts {
                assert!(
                    !text.contains(acts),
                    "{id} {level} {line}: {:?}",
                    text.chars().take(200).collect::<String>()
                );
                assert!(text.len() < 200_000, "{id} {level} {line}: {} bytes", text.len());
            }
            assert!(
                outcome.output.contains(has),
                "{id} {level} {line}: {:?}",
                outcome.output.chars().take(200).collect::<String>()
            );
        }
    }
}

/// As which user to be, besides the own one.
fn users() -> Vec<Option<&'static str>> {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped as root: not running as root");
        return vec![None];
    }
    if has("setpriv") { vec![None, Some("65534")] } else { vec![None] }
}

fn as_user(user: Option<&str>, place: &Path, level: Level, line: &str) -> Command {
    let Some(user) = user else { return call(place, level, line) };
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups", "--", TOOLCRIB]);
    arguments(&mut command, place, level, line);
    command
}

#[test]
fn k08_o07_the_environment_of_the_program_stays_its_own() {
    let names = [
        "SECRET_TOKEN",
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "LC_SECRET",
        "CARGO_BUILD_TOKEN",
        "UNHEARD_OF",
        "LD_PRELOAD_X",
        "BASH_ENV_X",
        "LESSOPEN",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "SSH_AUTH_SOCK",
        "GIT_DIR",
    ];
    let line = "env; export -p; cat /proc/self/environ /proc/*/environ /proc/$PPID/environ /proc/*/task/*/environ 2>/dev/null | tr '\\0' '\\n'; \
                grep -a -o 'hunter2[a-z0-9-]*' /proc/*/mem /proc/*/cmdline 2>/dev/null";
    for level in levels() {
        for user in users() {
            let place = open_place();
            let mut command = as_user(user, place.path(), *level, line);
            command.envs(names.map(|name| (name, SECRET)));
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("PATH="), "{level} {user:?}: {said}{output:?}");
            let outcome: Value = serde_json::from_str(&said).unwrap();
            assert!(!said.contains(SECRET), "K08 {level} {user:?}: {outcome:#}");
        }
    }
}

#[test]
fn o11_the_program_itself_cannot_be_looked_into() {
    for user in users() {
        let place = open_place();
        let marker = marker();
        let level = all_levels()[0];
        let mut program = as_user(user, place.path(), level, &format!("sleep {marker}"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("it runs", Duration::from_secs(10), || !alive(&marker).is_empty());
        for pid in [program.id(), child_of(program.id())] {
            inspect(user, pid);
        }
        stop(&mut program);
    }
}

fn inspect(user: Option<&str>, pid: u32) {
    use std::os::unix::fs::MetadataExt;
    let proc = PathBuf::from(format!("/proc/{pid}"));
    if user.is_some() {
        // What may not be dumped belongs to root there, whoever runs it.
        assert_eq!(std::fs::metadata(proc.join("environ")).unwrap().uid(), 0, "O11 {pid}: it can be dumped");
        let status = std::fs::read_to_string(proc.join("status")).unwrap();
        assert!(status.lines().any(|line| line.starts_with("Uid:\t65534")), "{status}");
    }
    let limits = std::fs::read_to_string(proc.join("limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert!(core.split_whitespace().filter(|word| *word == "0").count() == 2, "O11 {pid}: {core}");
}

fn stop(program: &mut Child) {
    let _ = program.kill();
    let _ = program.wait();
}
