//! Commands of the threat list (S01 to S65): what the policy says of each, and what each can do without one.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use toolcrib::PolicyMode;
use toolcrib_process::{Level, Program, Request};

use crate::commands_cases::{CASES, Expect, Loose};
use crate::lab::{Lab, TOOLCRIB, folder, has, levels};

/// The modes in which nothing of this may simply happen.
const MODES: [PolicyMode; 2] = [PolicyMode::Ask, PolicyMode::Auto];

fn best() -> Level {
    levels().first().copied().unwrap_or(Level::Policy)
}

#[test]
fn every_command_is_judged_as_the_list_says() {
    let mut wrong = Vec::new();
    for mode in MODES {
        let lab = Lab::with(best(), mode, |_| {});
        for (id, command, expect, _) in CASES {
            let verdict = lab.verdict(command);
            let right = match expect {
                Expect::Deny => verdict.starts_with("deny"),
                Expect::Ask => verdict != "allow",
                Expect::Any => true,
            };
            if !right {
                wrong.push(format!("{id} {mode:?}: {command:?} is {verdict}, not {expect:?}"));
            }
        }
        // The cases mean something only if there are commands that pass.
        for ordinary in ["ls", "git status", "cat x | head -3"] {
            assert_eq!(lab.verdict(ordinary), "allow", "{mode:?}: {ordinary}");
        }
        for ordinary in ["cp sub/x .", "mkdir -p .", "unzip -d . x.zip"] {
            assert!(!lab.verdict(ordinary).starts_with("deny"), "{mode:?}: {ordinary}");
        }
        lab.untouched("judging");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn with_nobody_to_ask_nothing_happens() {
    let lab = Lab::with(best(), PolicyMode::Ask, |_| {});
    let before = listing(&lab);
    for (id, command, expect, _) in CASES.iter().filter(|case| case.2 != Expect::Any) {
        let outcome = lab.call("run_command", json!({"command": command}));
        let code = outcome.error.as_ref().map_or("ok", |error| error.code.as_str());
        assert!(["COMMAND_DENIED", "PERMISSION_DENIED"].contains(&code), "{id} {command:?}: {code}");
        let floor = *expect == Expect::Deny;
        assert!(!floor || code == "COMMAND_DENIED", "{id} {command:?}: {code}");
        assert!(outcome.data["exit_code"].is_null(), "{id} {command:?} was run");
    }
    assert_eq!(listing(&lab), before, "something happened in the workspace");
    lab.untouched("refused");
}

/// Names, sizes and times in the workspace.
fn listing(lab: &Lab) -> Vec<String> {
    let out = Command::new("find").arg(lab.root()).args(["-printf", "%p %s %T@ %m\\n"]).output().unwrap();
    let mut lines: Vec<String> = String::from_utf8_lossy(&out.stdout).lines().map(Into::into).collect();
    lines.sort();
    lines
}

#[test]
fn without_a_policy_the_kernel_contains_them() {
    for level in levels() {
        let lab = Lab::with(*level, PolicyMode::Full, |settings| {
            settings.sandbox.max_memory_bytes = Some(512 << 20);
        });
        proven(&lab);
        let script = "#!/bin/sh\necho x > ../out/canary; touch ../out/pwned; cat\n";
        for (id, command, _, loose) in CASES {
            // What an earlier one did to the workspace is its good right.
            let _ = std::fs::remove_file(lab.root().join("x"));
            std::fs::write(lab.root().join("x"), script).unwrap();
            std::fs::set_permissions(lab.root().join("x"), PermissionsExt::from_mode(0o755)).unwrap();
            let ran = match loose {
                Loose::Same => lab.run(id, command),
                Loose::As(line) => lab.run(id, line),
                Loose::Nested | Loose::Judged(_) => continue,
            };
            assert!(ran.code.is_some(), "{id} {level}: {command:?} did not end: {ran:?}");
            assert!(ran.stdout.len() < 1 << 20, "{id} {level}: {command:?} printed without end");
        }
        let config = std::fs::read_to_string(lab.root().join(".git/config")).unwrap();
        assert!(!config.contains("fsmonitor") && !config.contains("hooksPath"), "{level}: {config}");
    }
}

/// The sandbox holds in this very setup: a harmless command cannot write outside, and can inside.
fn proven(lab: &Lab) {
    let ran =
        lab.engine("echo x > inside && cat inside; echo x > ../out/new; touch ../home/new /etc/new.lab");
    assert_eq!((ran.stdout.as_str(), ran.code), ("x\n", Some(1)), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 3, "{ran:?}");
    lab.untouched("the proof");
    assert!(!std::path::Path::new("/etc/new.lab").exists());
}

#[test]
fn what_aims_at_the_machine_is_contained_in_two_sandboxes() {
    if !levels().contains(&Level::Full) || !has("bwrap") || !has("setpriv") {
        eprintln!("skipped: commands that would destroy the machine are only judged here");
        return;
    }
    let place = folder();
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let exe = std::env::current_exe().unwrap();
    let programs = exe.parent().unwrap().parent().unwrap();
    let root = rustix::process::geteuid().is_root();
    let mut command = Command::new("setpriv");
    // Wall one: nobody. Wall two: a file system without a writable place. Wall three is what is tried.
    if root {
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    }
    command.args(["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]);
    command.arg("--ro-bind").args([programs, programs]).arg("--bind").args([place.path(), place.path()]);
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--"]);
    // At most so many processes of nobody; of a person, who has others, the time alone limits a fork bomb.
    let limit = if root { "ulimit -u 60; " } else { "" };
    let line = format!("{limit}exec \"$0\" commands::inside --exact --ignored --nocapture");
    command.args(["bash", "-c", &line]).arg(&exe);
    command.env("TOOLCRIB_LAB", place.path()).env("HOME", place.path()).current_dir(place.path());
    command.env("TOOLCRIB_LAB_BOMB", if root { "1" } else { "0" });
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed") && said.contains("contained: "), "{said}");
}

#[test]
#[ignore = "only inside the sandbox that the test above makes"]
fn inside() {
    if std::env::var_os("TOOLCRIB_LAB").is_none() {
        eprintln!("skipped: this is not the sandbox for it");
        return;
    }
    // The outer wall stands.
    for place in ["/etc/new.lab", "/var/new.lab", "/usr/new.lab", "/new.lab", "/root/new.lab"] {
        assert!(std::fs::write(place, "x").is_err(), "{place} can be written");
    }
    assert_ne!(rustix::process::geteuid().as_raw(), 0);
    let lab = Lab::at(Level::Full);
    proven(&lab);
    let bomb = std::env::var("TOOLCRIB_LAB_BOMB").is_ok_and(|bomb| bomb == "1");
    let mut count = 0;
    for (id, command, _, loose) in CASES {
        if *loose != Loose::Nested || (*id == "S35" && !bomb) {
            continue;
        }
        // Most walk the whole disk, and are refused at every step of it.
        let timeout = Some(Duration::from_millis(400));
        let request = Request { timeout, ..Request::new(Program::Shell((*command).into()), lab.root()) };
        lab.runtime.block_on(async {
            let process = lab.crib.commands().start(request).await.unwrap();
            process.wait().await;
        });
        lab.untouched(&format!("{id} {command}"));
        count += 1;
    }
    let ran = lab.engine("echo still here");
    assert_eq!(ran.stdout, "still here\n", "{ran:?}");
    eprintln!("contained: {count} commands; the fork bomb was {}", if bomb { "run" } else { "only judged" });
}

#[test]
fn s49_a_hook_that_is_there_runs_confined() {
    for level in levels() {
        let lab = Lab::at(*level);
        let hook = lab.root().join(".git/hooks/pre-commit");
        let script =
            "#!/bin/sh\necho ran > marker; echo x > ../out/canary; touch ../out/pwned; cat ~/.ssh/id_rsa\n";
        std::fs::write(&hook, script).unwrap();
        std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
        let ran = lab.run("S49", "git add x && git -c user.name=n -c user.email=e commit -qm m; cat marker");
        assert!(ran.stdout.contains("ran"), "{level}: the hook did not run: {ran:?}");
        let ran = lab.run(
            "S49",
            "echo 'touch ../out/pwned' > .git/hooks/post-commit; echo x >> .git/hooks/pre-commit",
        );
        assert_ne!(ran.code, Some(0), "{level}: {ran:?}");
        assert_eq!(std::fs::read_to_string(&hook).unwrap(), script, "{level}");
    }
}

#[test]
fn s61_many_commands_are_not_more_than_a_judge_can_read() {
    for mode in MODES {
        let lab = Lab::with(best(), mode, |_| {});
        for last in ["rm -rf /", "rm -rf ../out", "$(x)"] {
            let many = format!("{}{last}", "echo a;".repeat(10_000));
            let started = std::time::Instant::now();
            let verdict = lab.verdict(&many);
            assert_ne!(verdict, "allow", "S61 {mode:?} {last}");
            assert!(started.elapsed() < Duration::from_secs(5), "S61 {mode:?}: {:?}", started.elapsed());
        }
        for deep in
            ["$(".repeat(5_000), "((((".repeat(5_000), "if x; then ".repeat(3_000), "{a,".repeat(5_000)]
        {
            assert_ne!(lab.verdict(&format!("{deep}rm -rf /")), "allow", "S61 {mode:?}");
        }
    }
}

#[test]
fn s65_a_path_is_never_read_by_a_shell() {
    let lab = Lab::at(best());
    for path in ["$(touch pwned)", "`touch pwned`", "x; touch pwned", "x\ntouch pwned", "\"; touch pwned; \""]
    {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": format!("made/{path}"), "content": "x"})),
            ("delete_file", json!({"path": path})),
            ("list_directory", json!({"path": path})),
            ("glob", json!({"pattern": path})),
            ("grep", json!({"pattern": path, "path": path})),
            ("run_command", json!({"argv": ["ls", path]})),
            ("run_command", json!({"argv": [path]})),
            ("run_command", json!({"command": "true", "cwd": path})),
        ] {
            lab.call(tool, arguments);
        }
        for place in ["pwned", "made/pwned"] {
            assert!(!lab.root().join(place).exists(), "S65 {path:?} was run");
        }
    }
    lab.untouched("S65");
}

#[test]
fn the_command_line_judges_alike() {
    let lab = Lab::at(best());
    for (command, expect) in
        [("rm -rf /", "deny"), ("sudo id", "deny"), ("echo x > ../out/f", "ask"), ("ls", "allow")]
    {
        let mut check = Command::new(TOOLCRIB);
        check.arg("--root").arg(lab.root()).args([
            "--policy",
            "auto",
            "--json",
            "permissions",
            "check",
            command,
        ]);
        let output = check.env("XDG_STATE_HOME", lab.top().join("state")).output().unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["decision"], expect, "{command}: {said}");
    }
}
