//! Machines that lack something, and users that are nobody: each level that works is used, and what does not work is
//! named and never replaced in silence.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolcrib_process::{Level, StartError};

use crate::bench::{World, folder};

const NOBODY: u32 = 65534;

/// A machine: what it lacks, and who one is there.
#[derive(Clone, Copy)]
struct Machine {
    lacks: &'static str,
    nobody: bool,
}

struct Place {
    top: tempfile::TempDir,
    machine: Machine,
}

impl Place {
    fn new(machine: Machine) -> Self {
        let top = folder();
        let names =
            ["ws", "ws/.git", "ws/.git/hooks", "out", "config", "config/toolcrib", "state", "cache", "home"];
        for name in names {
            std::fs::create_dir(top.path().join(name)).unwrap();
        }
        std::fs::write(top.path().join("ws/.git/config"), "[core]\n").unwrap();
        std::fs::write(top.path().join("out/canary"), "untouched").unwrap();
        if machine.nobody {
            std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o755)).unwrap();
            for name in names.iter().chain(&["ws/.git/config", "out/canary"]) {
                chown(top.path().join(name), Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        Self { top, machine }
    }

    /// `toolcrib ARGUMENTS` on this machine; the JSON that it prints.
    fn toolcrib(&self, arguments: &[&str]) -> Value {
        let mut line: Vec<String> = Vec::new();
        if !self.machine.lacks.is_empty() {
            let shim = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/without.py");
            line.extend([
                "python3".into(),
                shim.display().to_string(),
                self.machine.lacks.into(),
                "--".into(),
            ]);
        }
        if self.machine.nobody {
            let as_nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
            line.extend(as_nobody.map(String::from));
        }
        line.push(env!("CARGO_BIN_EXE_toolcrib").into());
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).args(arguments).arg("--json").arg("--root").arg(self.top.path().join("ws"));
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
        ] {
            command.env(name, self.top.path().join(folder));
        }
        let output = command.current_dir("/").output().unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{line:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn run(&self, command: &str, options: &[&str]) -> Value {
        let input = json!({"command": command}).to_string();
        let mut arguments = vec!["call", "run_command", &input];
        arguments.extend(options);
        self.toolcrib(&arguments)
    }

    fn level(&self) -> String {
        let report = self.toolcrib(&["doctor"]);
        let check = |name: &str| {
            let all = report["checks"].as_array().unwrap();
            all.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{report}")).clone()
        };
        for name in ["sandbox full", "sandbox landlock"] {
            let level = check(name);
            // What does not work says why, and what would help.
            assert!(
                level["status"] == "ok" || level["fix"].as_str().is_some_and(|fix| fix.len() > 20),
                "{level}"
            );
            assert!(level["detail"].as_str().is_some_and(|why| why.len() > 10), "{level}");
        }
        check("commands")["detail"].as_str().unwrap().rsplit(' ').next().unwrap().to_owned()
    }
}

/// The machines of this test that can be had here.
fn machines(wanted: &[(&'static str, bool)]) -> Vec<Machine> {
    let root = rustix::process::geteuid().is_root();
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    // Nobody must be able to get to the binary.
    let reachable = root
        && has("setpriv")
        && Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "test", "-x"])
            .arg(env!("CARGO_BIN_EXE_toolcrib"))
            .status()
            .is_ok_and(|status| status.success());
    let mut found = Vec::new();
    for (lacks, nobody) in wanted {
        if *nobody && !reachable {
            eprintln!(
                "not tested: an unprivileged user (not root, no setpriv, or the build folder is private)"
            );
        } else if !lacks.is_empty() && !has("python3") {
            eprintln!("not tested: a machine without {lacks} (no python3)");
        } else {
            found.push(Machine { lacks, nobody: *nobody });
        }
    }
    found
}

#[test]
fn each_machine_gets_its_level() {
    let bwrap = Command::new("bwrap").arg("--version").output().is_ok();
    let best = if bwrap { "full" } else { "landlock" };
    if !bwrap {
        eprintln!("not tested: the level full (no bwrap)");
    }
    for machine in machines(&[
        ("", false),
        ("", true),
        ("landlock", false),
        ("landlock", true),
        ("namespaces", false),
        ("namespaces", true),
        ("landlock,namespaces", false),
        ("landlock,namespaces", true),
    ]) {
        let place = Place::new(machine);
        let expected = match machine.lacks {
            "" | "landlock" => best,
            "namespaces" => "landlock",
            _ => "policy",
        };
        let who = if machine.nobody { "nobody" } else { "root" };
        assert_eq!(place.level(), expected, "{who} without {:?}", machine.lacks);
        let confined = expected != "policy";
        // The person's own call, with everything permitted.
        let outcome = place.run("echo x > file; echo x > ../out/canary; cat file", &[]);
        if confined {
            assert_eq!(outcome["data"]["sandbox"], expected, "{outcome}");
            assert_eq!(outcome["data"]["stdout"], "x\n", "{who} {}: {outcome}", machine.lacks);
        } else {
            assert_eq!(outcome["error"]["code"], "COMMAND_DENIED", "{outcome}");
            assert!(!place.top.path().join("ws/file").exists());
        }
        assert_eq!(
            std::fs::read(place.top.path().join("out/canary")).unwrap(),
            b"untouched",
            "{who} {expected}"
        );
        // What is proved to read only needs no sandbox.
        let outcome = place.run("ls", &["--mode", "agent"]);
        assert_eq!(outcome["data"]["sandbox"], expected, "{outcome}");
    }
}

#[test]
fn protected_paths_are_kept_or_put_back() {
    for machine in machines(&[("", false), ("", true), ("namespaces", false), ("namespaces", true)]) {
        let place = Place::new(machine);
        for (line, path) in [
            ("echo bad > .git/hooks/pre-commit", ".git/hooks/pre-commit"),
            ("mkdir -p .toolcrib; echo bad > .toolcrib/toolcrib.toml", ".toolcrib/toolcrib.toml"),
            ("echo bad > .git/config", ".git/config"),
            ("mv .git .old; mkdir .git; echo bad > .git/config", ".git/config"),
        ] {
            let outcome = place.run(line, &[]);
            let now = std::fs::read_to_string(place.top.path().join("ws").join(path)).unwrap_or_default();
            assert!(!now.contains("bad"), "{} {}: {line}: {outcome}", machine.lacks, machine.nobody);
        }
        assert_eq!(std::fs::read_to_string(place.top.path().join("ws/.git/config")).unwrap(), "[core]\n");
    }
}

#[test]
fn nothing_is_ever_weaker_than_it_was_asked_to_be() {
    for machine in machines(&[("landlock,namespaces", false), ("landlock,namespaces", true)]) {
        let place = Place::new(machine);
        for policy in ["ask", "auto", "full"] {
            let outcome = place.run("touch made", &["--mode", "agent", "--policy", policy]);
            assert_eq!(outcome["error"]["code"], "COMMAND_DENIED", "{policy}: {outcome}");
        }
        for level in ["full", "landlock"] {
            let outcome = place.run("touch made", &["--sandbox", level]);
            assert_eq!(outcome["success"], false, "{level}: {outcome}");
        }
        assert!(!place.top.path().join("ws/made").exists());
        // Chosen outright it runs, and says so.
        let outcome = place.run("touch made", &["--sandbox", "policy"]);
        assert_eq!(outcome["data"]["sandbox"], "policy", "{outcome}");
        assert!(outcome["output"].as_str().unwrap().contains("without a sandbox"), "{outcome}");
        // Required, it does not.
        std::fs::write(place.top.path().join("config/toolcrib/toolcrib.toml"), "[sandbox]\nrequire = true\n")
            .unwrap();
        let outcome = place.run("ls", &[]);
        assert_eq!(outcome["error"]["code"], "COMMAND_FAILED", "{outcome}");
        assert!(outcome["error"]["message"].as_str().unwrap().contains("required"), "{outcome}");
    }
}

/// A world whose bubblewrap is looked for only in `search`.
fn only(search: &Path, inside: bool) -> World {
    let search = search.to_owned();
    World::with(move |settings| {
        let folder = if inside { settings.bounds.roots[0].path.join("bin") } else { search };
        settings.bounds.search = vec![folder];
    })
}

#[test]
fn a_bubblewrap_that_cannot_be_trusted_is_named_and_not_used() {
    let elsewhere = folder();
    let world = only(elsewhere.path(), false);
    let report = world.commands.examine();
    assert!(!report.full.works && report.full.reason.contains("not installed"), "{report:?}");
    assert_ne!(report.level, Level::Full);

    let fake = "#!/bin/sh\nexec /bin/sh -c 'touch fake-ran'\n";
    let put = |path: &Path, mode: u32| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, fake).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    put(&elsewhere.path().join("bwrap"), 0o4755);
    let report = only(elsewhere.path(), false).commands.examine();
    assert!(report.full.reason.contains("setuid"), "{report:?}");
    put(&elsewhere.path().join("bwrap"), 0o777);
    let report = only(elsewhere.path(), false).commands.examine();
    assert!(report.full.reason.contains("others can change it"), "{report:?}");

    let world = only(elsewhere.path(), true);
    put(&world.root().join("bin/bwrap"), 0o755);
    let report = world.commands.examine();
    assert!(report.full.reason.contains("inside the workspace"), "{report:?}");
    assert!(!world.root().join("fake-ran").exists());

    // One that runs whatever it is given confines nothing, and a trial run shows it.
    put(&elsewhere.path().join("bwrap"), 0o755);
    let lax = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n";
    std::fs::write(elsewhere.path().join("bwrap"), lax).unwrap();
    let report = only(elsewhere.path(), false).commands.examine();
    assert!(!report.full.works && report.full.reason.contains("write outside"), "{report:?}");
}

#[tokio::test]
async fn a_level_that_is_demanded_is_not_replaced() {
    let nowhere = folder();
    let search = nowhere.path().to_owned();
    let world = World::with(|settings| {
        settings.bounds.search = vec![search];
        settings.level = Some(Level::Full);
    });
    match world.commands.start(world.request("touch made")).await {
        Err(StartError::NoSandbox(why)) => assert!(why.contains("not installed"), "{why}"),
        _ => panic!("it ran"),
    }
    assert!(!world.root().join("made").exists());
}

/// A repository with a linked worktree, as people who work on several branches have them.
#[test]
fn a_linked_worktree_can_commit_and_nested_repositories_are_protected() {
    for machine in machines(&[("", false), ("", true)]) {
        let place = Place::new(machine);
        let script = "set -e; rm -rf ws; git init -q main; cd main; git config user.email a@b.c; git config user.name n; \
                      git commit -q --allow-empty -m one; git worktree add -q ../ws; cd ../ws; git init -q sub";
        let made = Command::new("bash").args(["-c", script]).current_dir(place.top.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        if machine.nobody {
            let mut own = Command::new("chown");
            own.args(["-R", "65534:65534", "main", "ws"]).current_dir(place.top.path());
            assert!(own.status().unwrap().success());
        }
        let before = std::fs::read(place.top.path().join("main/.git/config")).unwrap();
        for level in ["full", "landlock"] {
            let outcome = place.run(
                "echo x >> f; git add f && git commit -qm two && git log --oneline | wc -l",
                &["--sandbox", level],
            );
            if outcome["error"]["message"].as_str().is_some_and(|why| why.contains("does not work here")) {
                eprintln!("not tested: the sandbox level {level}");
                continue;
            }
            assert_eq!(outcome["data"]["exit_code"], 0, "{level}: {outcome}");
            for path in [
                "sub/.git/config",
                "sub/.git/hooks/pre-commit",
                "../main/.git/config",
                "../main/.git/hooks/x",
            ] {
                // Written by a script, so that nothing but the sandbox sees it.
                std::fs::write(place.top.path().join("ws/attack.sh"), format!("echo evil > {path}")).unwrap();
                place.run("bash attack.sh", &["--sandbox", level]);
                let now = std::fs::read_to_string(place.top.path().join("ws").join(path)).unwrap_or_default();
                assert!(!now.contains("evil"), "{level}: {path}");
            }
            assert_eq!(std::fs::read(place.top.path().join("main/.git/config")).unwrap(), before);
        }
    }
}

/// A `.git` file can point anywhere; only a repository that knows of the worktree is opened for it.
#[test]
fn a_git_file_opens_nothing_by_itself() {
    let place = Place::new(Machine { lacks: "", nobody: false });
    std::fs::remove_dir_all(place.top.path().join("ws/.git")).unwrap();
    for part in ["objects", "refs", "worktrees/ws"] {
        std::fs::create_dir_all(place.top.path().join("out").join(part)).unwrap();
    }
    std::fs::write(place.top.path().join("out/HEAD"), "").unwrap();
    std::fs::write(place.top.path().join("ws/.git"), "gitdir: ../out/worktrees/ws\n").unwrap();
    place.run("echo evil > ../out/canary; echo evil > ../out/objects/x", &[]);
    assert_eq!(std::fs::read(place.top.path().join("out/canary")).unwrap(), b"untouched");
    assert!(!place.top.path().join("out/objects/x").exists());
}

/// Where the home is the workspace, its secrets are still not for commands.
#[test]
fn secrets_in_the_workspace_are_hidden() {
    for machine in machines(&[("", false), ("", true)]) {
        let place = Place::new(machine);
        let ssh = place.top.path().join("ws/.ssh");
        std::fs::create_dir(&ssh).unwrap();
        std::fs::write(ssh.join("id"), "the key").unwrap();
        if machine.nobody {
            chown(&ssh, Some(NOBODY), Some(NOBODY)).unwrap();
            chown(ssh.join("id"), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        std::fs::remove_dir_all(place.top.path().join("home")).unwrap();
        std::os::unix::fs::symlink("ws", place.top.path().join("home")).unwrap();
        for level in ["full", "landlock"] {
            let outcome = place.run("cat .ssh/id; echo done", &["--sandbox", level]);
            assert!(!outcome.to_string().contains("the key"), "{level}: {outcome}");
        }
    }
}
