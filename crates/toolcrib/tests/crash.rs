//! The command killed, or failed, at its system calls: `strace` injects, later commands look at what is left.
//!
//! `strace` counts the calls of each thread apart, and a fault strikes whichever thread gets to its n-th call first. A
//! dry run therefore finds out what there is to strike, and path filters leave out what the program does to start.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

mod support;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use support::{Bench, Done};

/// A path, its mode, and its bytes if it is a file.
type Tree = BTreeMap<String, (u32, Option<Vec<u8>>)>;

const TEMP: &str = ".toolcrib-tmp-";

fn soak() -> bool {
    std::env::var_os("TOOLCRIB_SOAK").is_some()
}

fn lines(word: &str, count: usize) -> String {
    (0..count).map(|number| format!("{word} {number:06}\n")).collect()
}

fn tree(root: &Path) -> Tree {
    fn walk(root: &Path, at: &Path, tree: &mut Tree) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
            if path.is_dir() {
                walk(root, &path, tree);
                tree.insert(name, (mode, None));
            } else {
                tree.insert(name, (mode, Some(std::fs::read(&path).unwrap())));
            }
        }
    }
    let mut tree = Tree::new();
    walk(root, root, &mut tree);
    tree
}

fn without_temps(mut tree: Tree) -> Tree {
    tree.retain(|name, _| !name.contains(TEMP));
    tree
}

fn temps(bench: &Bench) -> Vec<String> {
    let all = tree(bench.root.path()).into_keys().chain(tree(bench.state.path()).into_keys());
    all.filter(|name| name.contains(TEMP)).collect()
}

/// What differs, without the contents.
fn differences(left: &Tree, right: &Tree) -> String {
    let names: HashSet<&String> = left.keys().chain(right.keys()).collect();
    let brief = |tree: &Tree, name: &str| match tree.get(name) {
        None => "absent".to_owned(),
        Some((mode, None)) => format!("folder {mode:o}"),
        Some((mode, Some(bytes))) => format!("{} bytes {mode:o}", bytes.len()),
    };
    let mut different: Vec<String> = names
        .into_iter()
        .filter(|name| left.get(*name) != right.get(*name))
        .map(|name| format!("{name}: {} / {}", brief(left, name), brief(right, name)))
        .collect();
    different.sort();
    different.join(", ")
}

/// A change to be disturbed.
struct Operation {
    name: &'static str,
    /// The tool and its arguments; none: undoing the second change.
    call: Option<(&'static str, Value)>,
    /// Changes made before.
    before: Vec<(&'static str, Value)>,
}

impl Operation {
    fn all() -> Vec<Self> {
        let call = |name, tool, arguments| Self {
            name,
            call: Some((tool, arguments)),
            before: vec![("write_file", json!({"path": "first.txt", "content": "first\n"}))],
        };
        let patch = json!({"patch": "*** Begin Patch\n*** Add File: new/deep/added.txt\n+added\n\
            *** Update File: src/main.txt\n@@\n-one\n+1\n two\n*** Update File: a.txt\n*** Move to: moved/b.txt\n@@\n\
            -alpha\n+beta\n*** Delete File: gone.txt\n*** End Patch\n"});
        let new = json!({"path": "fresh/new.txt", "content": "new\n"});
        let first = call("", "", Value::Null).before;
        vec![
            Self { before: Vec::new(), ..call("the first change", "write_file", new.clone()) },
            call("write_file new", "write_file", new),
            call(
                "write_file over",
                "write_file",
                json!({"path": "big.txt", "content": lines("new line", 12_000)}),
            ),
            call(
                "edit_file",
                "edit_file",
                json!({"path": "big.txt", "old_string": "old line 000777", "new_string": "edited"}),
            ),
            call("apply_patch", "apply_patch", patch.clone()),
            call("delete_file", "delete_file", json!({"path": "tree", "recursive": true})),
            Self { name: "undo", call: None, before: [first, vec![("apply_patch", patch)]].concat() },
        ]
    }

    fn prepare(&self) -> Bench {
        let bench = Bench::new();
        bench.write("big.txt", lines("old line", 14_000));
        bench.write("a.txt", "alpha\r\nrest");
        bench.write("gone.txt", "\u{feff}gone\n");
        bench.write("src/main.txt", "one\ntwo\n");
        bench.write("tree/one.txt", "one\n");
        bench.write("tree/sub/two.txt", lines("two", 100));
        bench.write("tree/sub/empty.txt", "");
        std::fs::create_dir(bench.path("tree/hollow")).unwrap();
        std::fs::set_permissions(bench.path("src/main.txt"), PermissionsExt::from_mode(0o640)).unwrap();
        for (tool, arguments) in &self.before {
            let done = bench.call(tool, arguments.clone());
            assert_eq!(done.code, 0, "{}", done.stdout);
        }
        if let Some((_, arguments)) = &self.call {
            std::fs::write(bench.state.path().join("arguments.json"), arguments.to_string()).unwrap();
        }
        bench
    }

    fn arguments(&self, bench: &Bench) -> Vec<String> {
        let root = bench.root.path().display().to_string();
        let arguments = format!("@{}", bench.state.path().join("arguments.json").display());
        let own = match &self.call {
            Some((tool, _)) => vec!["call", tool, &arguments, "--json"],
            None => vec!["undo", "c2", "--json"],
        };
        ["--root", &root].into_iter().chain(own).map(str::to_owned).collect()
    }

    fn run(&self, bench: &Bench) -> Done {
        let arguments = self.arguments(bench);
        bench.run_plain(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), b"")
    }
}

/// Runs the command under `strace`; gives the answer and the log.
fn trace(bench: &Bench, only: Only, options: &[String], arguments: &[String]) -> (Done, String) {
    let log = bench.state.path().join("strace.log");
    let mut command = bench.command("strace");
    command.args(["-f", "-qq", "-o"]).arg(&log).args(options);
    for path in only.paths(bench) {
        command.arg("-P").arg(path);
    }
    command.arg(env!("CARGO_BIN_EXE_toolcrib")).args(arguments).stdin(Stdio::null());
    let done = command.output().unwrap().into();
    (done, std::fs::read_to_string(log).unwrap())
}

fn injection(syscall: &str, fault: &str, nth: usize) -> [String; 4] {
    ["-e".into(), format!("trace={syscall}"), "-e".into(), format!("inject={syscall}:{fault}:when={nth}")]
}

fn struck(log: &str) -> bool {
    log.contains("+++ killed by SIGKILL +++") || log.contains("(INJECTED)")
}

/// Which calls count.
#[derive(Clone, Copy, PartialEq)]
enum Only {
    All,
    /// Those on the root and the journal.
    Places,
    /// Those on the folder for long outputs.
    Spill,
}

impl Only {
    const ALL: [Self; 3] = [Self::All, Self::Places, Self::Spill];

    fn syscalls(self) -> &'static [&'static str] {
        match self {
            Self::All => &[
                "write",
                "writev",
                "pwrite64",
                "fsync",
                "fdatasync",
                "rename",
                "renameat",
                "renameat2",
                "link",
                "linkat",
                "unlink",
                "unlinkat",
                "mkdir",
                "mkdirat",
            ],
            Self::Places => &["openat", "openat2"],
            Self::Spill => &["openat", "fsync", "linkat", "renameat"],
        }
    }

    fn paths(self, bench: &Bench) -> Vec<PathBuf> {
        let toolcrib = bench.state.path().join("state/toolcrib");
        let state = std::fs::read_dir(toolcrib).ok().and_then(|mut entries| entries.next());
        let state = state.map(|entry| entry.unwrap().path());
        match self {
            Self::All => Vec::new(),
            Self::Places => {
                let journal = state.map(|state| state.join("journal")).into_iter();
                let inner = ["", "pending", "changes", "blobs", "quarantine"];
                let of = |journal: PathBuf| inner.map(|name| journal.join(name).components().collect());
                [bench.root.path().to_owned()].into_iter().chain(journal.flat_map(of)).collect()
            }
            Self::Spill => vec![state.map_or_else(|| "/nowhere".into(), |state| state.join("spill"))],
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Kill,
    Error(&'static str),
}

/// Where to strike.
struct Point {
    operation: usize,
    only: Only,
    syscall: String,
    nth: usize,
    fault: Fault,
    /// The failure of this call cannot be got over.
    vital: bool,
}

/// What an operation does when nothing disturbs it.
struct Plan {
    old: Tree,
    new: Tree,
    /// How many changes there are before.
    changes: usize,
    points: Vec<Point>,
}

fn plan(index: usize, operation: &Operation) -> Plan {
    let mut points = Vec::new();
    let (mut old, mut new) = (Tree::new(), Tree::new());
    for only in Only::ALL {
        let bench = operation.prepare();
        old = tree(bench.root.path());
        let options = ["-e".to_owned(), format!("trace={}", only.syscalls().join(","))];
        let (done, log) = trace(&bench, only, &options, &operation.arguments(&bench));
        assert_eq!(done.code, 0, "{}: {}{}", operation.name, done.stdout, done.stderr);
        new = tree(bench.root.path());
        assert_ne!(old, new);
        assert_eq!(temps(&bench), [""; 0]);
        let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
        let mut struck = HashSet::new();
        for line in log.lines() {
            let Some((thread, call)) = line.split_once(' ') else { continue };
            let Some((name, rest)) = call.trim_start().split_once('(') else { continue };
            if !only.syscalls().contains(&name) {
                continue;
            }
            let count = counts.entry((thread, name)).or_default();
            *count += 1;
            if !struck.insert((name, *count)) {
                continue;
            }
            // Waking another thread and printing the answer have nothing to do with files.
            let file =
                name != "write" || !(rest.starts_with("1,") || rest.contains(r#""\1\0\0\0\0\0\0\0", 8"#));
            let vital = only == Only::All && file && !operation.before.is_empty() && !rest.contains("EEXIST");
            for fault in [Fault::Kill, Fault::Error("ENOSPC"), Fault::Error("EIO")] {
                if fault == Fault::Kill || file {
                    let syscall = name.to_owned();
                    points.push(Point { operation: index, only, syscall, nth: *count, fault, vital });
                }
            }
        }
    }
    let kind = |point: &Point| match point.fault {
        Fault::Kill => 0,
        Fault::Error(_) => 1,
    };
    points.sort_by(|a, b| (kind(a), &a.syscall).cmp(&(kind(b), &b.syscall)));
    Plan { old, new, changes: operation.before.len(), points }
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn ensure_tree(bench: &Bench, expected: &Tree, when: &str) -> Result<(), String> {
    let found = without_temps(tree(bench.root.path()));
    ensure(found == *expected, || format!("{when}: {}", differences(&found, expected)))
}

/// How many changes there are, and the newest.
fn changes(bench: &Bench) -> Result<(usize, String), String> {
    let done = bench.run(&["undo", "--list", "--json"]);
    let total = done.json["total"].as_u64().filter(|_| done.code == 0 && done.json["changes"].is_array());
    let total = total.ok_or_else(|| format!("undo --list: {} {}{}", done.code, done.stdout, done.stderr))?;
    let newest = done.json["changes"][0]["change_id"].as_str().unwrap_or_default().to_owned();
    Ok((usize::try_from(total).unwrap(), newest))
}

/// Every file is whole, old or new.
fn whole(bench: &Bench, plan: &Plan) -> Result<(), String> {
    let now = without_temps(tree(bench.root.path()));
    let names: HashSet<&String> = plan.old.keys().chain(plan.new.keys()).chain(now.keys()).collect();
    for name in names {
        let file = |tree: &Tree| tree.get(name).filter(|(_, bytes)| bytes.is_some()).cloned();
        let found = file(&now);
        ensure(found == file(&plan.old) || found == file(&plan.new), || format!("torn: {name}"))?;
    }
    Ok(())
}

/// All or nothing once another command has run, and everything works on.
fn recovers(bench: &Bench, operation: &Operation, plan: &Plan) -> Result<bool, String> {
    let (total, newest) = changes(bench)?;
    let made = total > plan.changes;
    ensure(total == plan.changes + usize::from(made), || format!("{total} changes"))?;
    ensure_tree(bench, if made { &plan.new } else { &plan.old }, &format!("recovered, listed: {made}"))?;
    if made {
        let undone = bench.run(&["undo", &newest, "--json"]);
        ensure(undone.code == 0, || format!("undo: {}", undone.stdout))?;
        ensure_tree(bench, &plan.old, "undone")?;
    }
    let again = operation.run(bench);
    ensure(again.code == 0, || format!("again: {}{}", again.stdout, again.stderr))?;
    ensure_tree(bench, &plan.new, "again")?;
    let left = temps(bench);
    ensure(left.is_empty(), || format!("left over: {left:?}"))?;
    Ok(made)
}

/// A failed call says so and has changed nothing; one that got over the failure is complete.
fn answered(bench: &Bench, done: &Done, point: &Point, error: &str, plan: &Plan) -> Result<bool, String> {
    let answer = || format!("exit {}: {}{}", done.code, done.stdout, done.stderr);
    let success = done.json["success"].as_bool().ok_or_else(answer)?;
    if success {
        ensure(done.code == 0 && !point.vital, answer)?;
        ensure_tree(bench, &plan.new, "success")?;
        return Ok(true);
    }
    let code = done.json["error"]["code"].as_str().unwrap_or_default();
    // Without a root to work on there is no call at all.
    let expected = if done.json["tool"].is_null() { 2 } else { 1 };
    ensure(done.code == expected && !code.is_empty(), answer)?;
    let wanted = if error == "ENOSPC" { "NO_SPACE" } else { "IO_ERROR" };
    ensure(!point.vital || code == wanted, answer)?;
    ensure(done.json["error"]["message"].as_str().is_some_and(|text| text.len() > 10), answer)?;
    ensure_tree(bench, &plan.old, "failed")?;
    let left = temps(bench);
    ensure(left.is_empty(), || format!("left over after a failure: {left:?}"))?;
    Ok(false)
}

/// Strikes once. `None`: the call was never reached.
fn strike(operation: &Operation, plan: &Plan, point: &Point) -> Result<Option<bool>, String> {
    let bench = operation.prepare();
    let fault = match point.fault {
        Fault::Kill => "signal=KILL".to_owned(),
        Fault::Error(error) => format!("error={error}"),
    };
    let (syscall, nth) = (&point.syscall, point.nth);
    let options = injection(syscall, &fault, nth);
    let (done, log) = trace(&bench, point.only, &options, &operation.arguments(&bench));
    if !struck(&log) {
        return Ok(None);
    }
    let checked = (|| {
        whole(&bench, plan)?;
        // The answer itself could not be printed: then the exit code is all there is, and the files tell.
        let mute = log.lines().any(|line| line.contains("(INJECTED)") && line.contains(" write(1, "));
        let success = match point.fault {
            Fault::Kill => None,
            Fault::Error(_) if mute => {
                ensure(done.code == 1, || format!("exit {} without an answer", done.code))?;
                None
            }
            Fault::Error(error) => Some(answered(&bench, &done, point, error, plan)?),
        };
        let made = recovers(&bench, operation, plan)?;
        ensure(success.is_none_or(|success| success == made), || "the answer and the journal differ".into())?;
        Ok(made)
    })();
    let hit = || log.lines().rev().find(|line| line.contains(" = ?") || line.contains("(INJECTED)"));
    checked.map(Some).map_err(|why: String| {
        format!("{} {syscall} {fault} {nth}: {why}\n  {}", operation.name, hit().unwrap_or(""))
    })
}

fn works(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// A sample spread evenly over operations and calls; or everything.
fn sample(points: Vec<&Point>, wanted: usize) -> Vec<&Point> {
    let wanted = if soak() { points.len() } else { wanted };
    (0..wanted).filter_map(|n| points.get(n * points.len() / wanted).copied()).collect()
}

#[test]
fn killed_or_failed_at_any_system_call() {
    if !works(Command::new("strace").args(["-qq", "-o", "/dev/null", "true"])) {
        println!("skipped: no strace");
        return;
    }
    let start = Instant::now();
    let operations = Operation::all();
    let plans: Vec<Plan> =
        operations.iter().enumerate().map(|(index, operation)| plan(index, operation)).collect();
    let points: Vec<&Point> = plans.iter().flat_map(|plan| &plan.points).collect();
    let (kills, errors): (Vec<&Point>, Vec<&Point>) =
        points.into_iter().partition(|point| point.fault == Fault::Kill);
    let chosen = [sample(kills, 60), sample(errors, 40)].concat();
    let least = if soak() { 200 } else { 30 };
    let (next, tally, failures) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(point) = chosen.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let operation = &operations[point.operation];
                    let found = strike(operation, &plans[point.operation], point);
                    let kill = point.fault == Fault::Kill;
                    let key = (operation.name, point.syscall.as_str(), kill);
                    match found {
                        Ok(None) => println!("not reached: {} {} {}", key.0, key.1, point.nth),
                        Ok(Some(made)) => {
                            let mut tally = tally.lock().unwrap();
                            let counts: &mut (usize, usize) = tally.entry(key).or_default();
                            counts.0 += 1;
                            counts.1 += usize::from(made);
                        }
                        Err(why) => failures.lock().unwrap().push(why),
                    }
                }
            });
        }
    });
    let (tally, failures) = (tally.into_inner().unwrap(), failures.into_inner().unwrap());
    for ((operation, syscall, kill), (count, made)) in &tally {
        let what = if *kill { "kills" } else { "errors" };
        println!("  {operation:<16} {syscall:<9} {count:>3} {what:<6} ({made} completed)");
    }
    let sum = |kill: bool| -> usize {
        tally.iter().filter(|(key, _)| key.2 == kill).map(|(_, count)| count.0).sum()
    };
    let torn = failures.iter().filter(|why| why.contains("torn")).count();
    let (kills, errors) = (sum(true), sum(false));
    println!("crash: {kills} kills, {errors} errors confirmed; {torn} torn ({:.1?})", start.elapsed());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(kills + errors >= least, "only {kills} kills and {errors} errors");
    assert!(kills >= least / 3 && errors >= least / 3, "{kills} kills, {errors} errors");
}

/// What brings a half-done change to an end may be struck as well.
#[test]
fn recovery_killed_or_failed_at_any_system_call() {
    if !works(Command::new("strace").args(["-qq", "-o", "/dev/null", "true"])) {
        println!("skipped: no strace");
        return;
    }
    let operation = Operation::all().into_iter().find(|operation| operation.name == "apply_patch").unwrap();
    let calls = [
        (Only::Places, "openat"),
        (Only::Places, "openat2"),
        (Only::All, "write"),
        (Only::All, "fsync"),
        (Only::All, "linkat"),
        (Only::All, "renameat"),
        (Only::All, "unlinkat"),
    ];
    let faults = ["signal=KILL", "error=EIO", "error=EMFILE"];
    let (confirmed, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let strike = |only: Only, syscall: &str, fault: &str, nth: usize| -> bool {
        let bench = operation.prepare();
        let old = tree(bench.root.path());
        // At the first removal everything else is done.
        let kill = injection("unlinkat", "signal=KILL", 1);
        let (_, log) = trace(&bench, Only::All, &kill, &operation.arguments(&bench));
        assert!(struck(&log));
        assert_ne!(tree(bench.root.path()), old);
        let list = ["--root", bench.root.path().to_str().unwrap(), "undo", "--list", "--json"];
        let (done, log) = trace(&bench, only, &injection(syscall, fault, nth), &list.map(str::to_owned));
        if !struck(&log) {
            return false;
        }
        confirmed.fetch_add(1, Ordering::SeqCst);
        let checked = changes(&bench).and_then(|(total, _)| {
            ensure(total == 1, || format!("{total} changes"))?;
            ensure_tree(&bench, &old, "recovered")?;
            let again = operation.run(&bench);
            ensure(again.code == 0 && temps(&bench).is_empty(), || again.stdout)
        });
        if let Err(why) = checked {
            let hit = log.lines().find(|line| line.contains("(INJECTED)")).unwrap_or_default();
            let text = format!("{syscall} {fault} {nth}: {why}\n  {hit}\n  {}", done.stdout);
            failures.lock().unwrap().push(text);
        }
        true
    };
    std::thread::scope(|scope| {
        for (turn, (only, syscall)) in calls.into_iter().enumerate() {
            let strike = &strike;
            scope.spawn(move || {
                // Threads wake each other by a `write` that cannot fail, and would wait if it did.
                let faults = if syscall == "write" { &faults[..1] } else { &faults[..] };
                for (number, fault) in faults.iter().enumerate() {
                    let (first, step) = if soak() { (1, 1) } else { (1 + (turn + number) % 3, 6) };
                    let _ = (first..).step_by(step).find(|nth| !strike(only, syscall, fault, *nth));
                }
            });
        }
    });
    let (confirmed, failures) = (confirmed.into_inner(), failures.into_inner().unwrap());
    println!("crash: {confirmed} strikes at recovery confirmed");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(confirmed >= if soak() { 60 } else { 10 }, "{confirmed}");
}

#[test]
fn killed_at_any_time() {
    let write = |bench: &Bench, word: &str| {
        let arguments = json!({"path": "big.txt", "content": lines(word, 60_000)}).to_string();
        let file = bench.state.path().join("arguments.json");
        std::fs::write(&file, arguments).unwrap();
        let mut command = bench.command(env!("CARGO_BIN_EXE_toolcrib"));
        command.arg("--root").arg(bench.root.path()).args(["call", "write_file"]);
        command.arg(format!("@{}", file.display())).arg("--json");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let bench = Bench::new();
    bench.write("big.txt", lines("0", 60_000));
    let start = Instant::now();
    assert!(write(&bench, "warm").wait().unwrap().success());
    let usual = start.elapsed();
    let mut random = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos() | 1;
    let trials = if soak() { 60 } else { 10 };
    let (mut killed, mut replaced) = (0, 0);
    for trial in 0..trials {
        let old = std::fs::read(bench.path("big.txt")).unwrap();
        let known = changes(&bench).unwrap().0;
        let mut child = write(&bench, &format!("trial {trial}"));
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        let delay = usual.mul_f64(f64::from(random % 1_000) / 1_000.0);
        std::thread::sleep(delay);
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        let now = std::fs::read(bench.path("big.txt")).unwrap();
        let is_new = now == lines(&format!("trial {trial}"), 60_000).into_bytes();
        assert!(is_new || now == old, "torn after {delay:?}: {} bytes", now.len());
        replaced += usize::from(is_new);
        assert_eq!(changes(&bench).unwrap().0, known + usize::from(is_new), "after {delay:?}");
        assert!(std::fs::read(bench.path("big.txt")).unwrap() == now, "listing changes nothing here");
        if is_new {
            assert_eq!(bench.run(&["undo"]).code, 0);
            assert!(std::fs::read(bench.path("big.txt")).unwrap() == old, "undone after {delay:?}");
        }
    }
    assert!(write(&bench, "last").wait().unwrap().success());
    assert_eq!(temps(&bench), [""; 0]);
    println!("crash: {trials} trials of kill -9, {killed} in time, {replaced} replaced; 0 torn");
}

/// Runs a script where `folder` is a disk of its own of 1 MB; `None` where that is not allowed.
fn on_small_disk(bench: &Bench, folder: &Path, script: &str) -> Option<Done> {
    let mount = format!("mount -t tmpfs -o size=1m tmpfs '{}'", folder.display());
    if !works(Command::new("unshare").args(["-m", "sh", "-c", &mount])) {
        println!("skipped: no disk of its own can be mounted here");
        return None;
    }
    let toolcrib = format!("'{}' --root '{}'", env!("CARGO_BIN_EXE_toolcrib"), bench.root.path().display());
    let script = format!(
        "set -e; {mount}; cd '{}'; root=$PWD; small='{}'
         toolcrib() {{ {toolcrib} \"$@\" --json; }}
         fill() {{ head -c 2000000 /dev/zero > \"$small/fill\" 2>/dev/null || true; }}
         {script}",
        bench.root.path().display(),
        folder.display(),
    );
    let done = bench.command("unshare").args(["-m", "bash", "-c", &script]).stdin(Stdio::null()).output();
    Some(done.unwrap().into())
}

/// The answers of a script, one on each line.
fn answers(done: &Done) -> Vec<Value> {
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn demand_no_space(answer: &Value) {
    assert_eq!(answer["error"]["code"], "NO_SPACE", "{answer}");
    assert!(answer["output"].as_str().unwrap().contains("nothing was changed"), "{answer}");
}

#[test]
fn a_full_workspace_loses_nothing() {
    let bench = Bench::new();
    let arguments = bench.state.path().join("arguments.json");
    let content = lines("new", 30_000);
    std::fs::write(&arguments, json!({"path": "a.txt", "content": content}).to_string()).unwrap();
    let other = json!({"path": "b/c/d.txt", "content": content}).to_string();
    std::fs::write(bench.state.path().join("other.json"), other).unwrap();
    let state = bench.state.path().display();
    let script = format!(
        "echo old > a.txt; fill; size=$(stat -c %s fill)
         toolcrib call write_file '@{state}/arguments.json' && exit 7 || [ $? = 1 ]
         toolcrib call write_file '@{state}/other.json' && exit 7 || [ $? = 1 ]
         [ \"$(cat a.txt)\" = old ]; [ \"$(ls -A)\" = \"$(printf 'a.txt\\nfill')\" ]; [ \"$(stat -c %s fill)\" = $size ]
         toolcrib undo --list
         rm fill; toolcrib call write_file '@{state}/arguments.json'
         [ $(stat -c %s a.txt) -gt 200000 ]; toolcrib undo; [ \"$(cat a.txt)\" = old ]; [ \"$(ls -A)\" = a.txt ]"
    );
    let Some(done) = on_small_disk(&bench, bench.root.path(), &script) else { return };
    let answers = answers(&done);
    demand_no_space(&answers[0]);
    demand_no_space(&answers[1]);
    assert_eq!(answers[2]["changes"], json!([]));
    assert_eq!((&answers[3]["success"], &answers[4]["success"]), (&json!(true), &json!(true)));
}

#[test]
fn a_full_state_directory_loses_nothing() {
    let bench = Bench::new();
    bench.write("a.txt", "old\n");
    bench.write("big.txt", lines("big", 20_000));
    let short = json!({"path": "a.txt", "content": "new\n"}).to_string();
    let over = json!({"path": "big.txt", "content": "small\n"}).to_string();
    let fresh = json!({"path": "fresh/b.txt", "content": "b\n"}).to_string();
    let script = format!(
        "toolcrib call write_file '{short}'; [ \"$(cat a.txt)\" = new ]; sum=$(cksum big.txt); fill
         toolcrib call write_file '{over}' && exit 7 || [ $? = 1 ]
         toolcrib call write_file '{fresh}' && exit 7 || [ $? = 1 ]
         toolcrib undo && exit 7 || [ $? = 1 ]
         [ \"$(cat a.txt)\" = new ]; [ \"$(cksum big.txt)\" = \"$sum\" ]
         [ \"$(ls -A)\" = \"$(printf 'a.txt\\nbig.txt')\" ]
         [ -z \"$(find \"$small\" . -name '{TEMP}*')\" ]
         toolcrib undo --list; toolcrib call read_file '{{\"path\": \"a.txt\"}}'
         rm \"$small/fill\"; toolcrib undo; [ \"$(cat a.txt)\" = old ]"
    );
    let Some(done) = on_small_disk(&bench, bench.state.path(), &script) else { return };
    let answers = answers(&done);
    for answer in &answers[1..4] {
        demand_no_space(answer);
    }
    assert_eq!(answers[4]["changes"].as_array().unwrap().len(), 1);
    assert_eq!((&answers[5]["success"], &answers[6]["success"]), (&json!(true), &json!(true)));
}

/// An interrupted start leaves nothing that keeps the next one from working.
#[test]
fn a_named_session_survives_a_kill() {
    if !works(Command::new("strace").args(["-qq", "-o", "/dev/null", "true"])) {
        println!("skipped: no strace");
        return;
    }
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let root = bench.root.path().to_str().unwrap();
    let todo = |content: &str| json!({"todos": [{"content": content, "status": "pending"}]}).to_string();
    let call = |content: &str| {
        let write = todo(content);
        bench.run(&["call", "todo_write", &write, "--session", "s", "--json"]).code
    };
    assert_eq!(call("before"), 0);
    let log = bench.state.path().join("strace.log");
    for syscall in ["fsync", "linkat", "renameat"] {
        let mut command = bench.command("strace");
        command.args(["-f", "-qq", "-e", &format!("trace={syscall}"), "-o"]).arg(&log);
        command.args(["-e", &format!("inject={syscall}:signal=KILL:when=1"), env!("CARGO_BIN_EXE_toolcrib")]);
        command.args(["--root", root, "call", "todo_write", &todo("lost"), "--session", "s", "--json"]);
        assert!(!works(&mut command), "{syscall}");
        assert!(std::fs::read_to_string(&log).unwrap().contains("killed by SIGKILL"), "{syscall}");
        let read = bench.run(&["call", "todo_read", "--session", "s", "--json"]);
        assert_eq!(read.json["data"]["todos"][0]["content"], "before", "{syscall}");
    }
    assert_eq!(call("after"), 0);
    assert_eq!(temps(&bench), [""; 0]);
}
