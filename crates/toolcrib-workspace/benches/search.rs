//! grep and glob in this process against the `rg` binary, on a real tree, in one run.
//!
//! `TOOLCRIB_BENCH_TREE` names the tree; without it the sources of Cargo's registry are taken. The two are run in turn,
//! the best of several runs counts, and both must find the same number of matches.
//! `rg` writes into a pipe that is read: writing to the null device would let it stop at the first match.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing
)]

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    unix::main();
}

#[cfg(unix)]
mod unix {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use toolcrib_workspace::Workspace;
    use toolcrib_workspace::search::{GlobOptions, GrepOptions, Mode, WalkRoot, glob, grep};

    const ALL: usize = usize::MAX;

    struct Case {
        name: &'static str,
        options: GrepOptions,
        rg: Vec<&'static str>,
    }

    fn cases() -> Vec<Case> {
        let all = |pattern: &str| GrepOptions { limit: ALL, max_line: ALL, ..GrepOptions::new(pattern) };
        let case = |name, options, rg: &[&'static str]| Case { name, options, rg: rg.to_vec() };
        vec![
            case("rare literal", all("deserialize_ignored_any"), &["-n", "deserialize_ignored_any"]),
            case("no match", all("zqxjkvbw_nowhere"), &["-n", "zqxjkvbw_nowhere"]),
            case("common word", all("return"), &["-n", "return"]),
            case("regex", all(r"fn \w+_\w+\(&self\)"), &["-n", r"fn \w+_\w+\(&self\)"]),
            case("regex, no literal", all(r"\b[A-Z]{4,}_[0-9]+\b"), &["-n", r"\b[A-Z]{4,}_[0-9]+\b"]),
            case(
                "case-insensitive",
                GrepOptions { ignore_case: true, ..all("unsafe impl") },
                &["-n", "-i", "unsafe impl"],
            ),
            case(
                "with context",
                GrepOptions { before: 2, after: 2, ..all("panic!") },
                &["-n", "-C2", "panic!"],
            ),
            case("files", GrepOptions { mode: Mode::Files, ..all("HashMap") }, &["-l", "HashMap"]),
            case("files, common", GrepOptions { mode: Mode::Files, ..all("return") }, &["-l", "return"]),
            case("count", GrepOptions { mode: Mode::Count, ..all("return") }, &["-c", "return"]),
            case("stop at 100", GrepOptions::new("return"), &["-n", "return"]),
            case("stop at 100, rarer", GrepOptions::new("HashMap"), &["-n", "HashMap"]),
        ]
    }

    pub(super) fn main() {
        if std::env::args().any(|arg| arg == "--test") {
            return;
        }
        let Some(tree) = tree() else {
            println!("no tree to search; set TOOLCRIB_BENCH_TREE");
            return;
        };
        if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
            println!("no rg to compare with (Debian: apt-get install ripgrep)");
            return;
        }
        let rounds = std::env::var("TOOLCRIB_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(9);
        let root = WalkRoot::new(Workspace::open(&tree).unwrap().directory(".").unwrap().dir);
        let files = run_glob(&root);
        println!(
            "{files} files; best of {rounds}, in turn; ratio = ours / rg, cpu = the same in processor time"
        );
        println!(
            "{:<20} {:>9} {:>9} {:>7} {:>12} {:>7} {:>7}  matches",
            "", "ours ms", "rg ms", "ratio", "rg sorted ms", "ratio", "cpu"
        );
        let (mut worst, mut least_gain) = (0.0_f64, f64::MAX);
        for case in cases() {
            let (mut ours, mut theirs) = (0, 0);
            let sorted_args = [&["--sort", "path"], &case.rg[..]].concat();
            let times = alternate(
                rounds,
                || ours = run_grep(&root, &case.options),
                || theirs = run_rg(&tree, &case.rg),
                || {
                    run_rg(&tree, &sorted_args);
                },
            );
            let is_cut = case.options.limit != ALL;
            let ratio = report(case.name, times, (ours, theirs), is_cut);
            if is_cut {
                least_gain = least_gain.min(1.0 / ratio);
            } else {
                worst = worst.max(ratio);
            }
        }
        let (mut ours, mut theirs) = (0, 0);
        let times = alternate(
            rounds,
            || ours = run_glob(&root),
            || theirs = run_rg(&tree, &["--files"]),
            || {
                run_rg(&tree, &["--files", "--sort", "path"]);
            },
        );
        report("glob **", times, (ours, theirs), false);
        println!("whole searches: at worst {worst:.2} of rg's time (goal: at most 1)");
        println!("stopping at 100: at least {least_gain:.0} times as fast (goal: 20)");
    }

    fn tree() -> Option<PathBuf> {
        if let Some(tree) = std::env::var_os("TOOLCRIB_BENCH_TREE") {
            return Some(tree.into());
        }
        let home = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")))?;
        let tree = home.join("registry/src");
        tree.is_dir().then_some(tree)
    }

    fn run_grep(root: &WalkRoot, options: &GrepOptions) -> usize {
        let result = grep(root, options).unwrap();
        match options.mode {
            Mode::Files => result.files.len(),
            Mode::Content | Mode::Count => result.files.iter().map(|file| file.count).sum(),
        }
    }

    fn run_glob(root: &WalkRoot) -> usize {
        let options = GlobOptions { patterns: vec!["**".into()], limit: ALL, ..GlobOptions::default() };
        glob(root, &options).unwrap().paths.len()
    }

    /// Runs `rg` with its whole output read, and counts what it found.
    fn run_rg(tree: &Path, args: &[&str]) -> usize {
        let output = Command::new("rg")
            .current_dir(tree)
            .args(["--no-config", "--hidden", "--no-require-git", "-g", "!.git"])
            .args(args)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let lines = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        if args.contains(&"-c") {
            return lines
                .map(|line| {
                    let count = line.rsplit(|&byte| byte == b':').next().unwrap();
                    std::str::from_utf8(count).unwrap().parse::<usize>().unwrap()
                })
                .sum();
        }
        if args.contains(&"-C2") {
            // `path:3:match`, `path-3-context`, `--`: only matches have their number between colons.
            let is_match = |line: &&[u8]| {
                let mut parts = line.split(|&byte| byte == b':');
                parts.next();
                parts.next().is_some_and(|n| !n.is_empty() && n.iter().all(u8::is_ascii_digit))
            };
            return lines.filter(is_match).count();
        }
        lines.count()
    }

    fn alternate(
        rounds: usize,
        mut ours: impl FnMut(),
        mut theirs: impl FnMut(),
        mut sorted: impl FnMut(),
    ) -> [Cost; 3] {
        let mut costs = [Cost { best: Duration::MAX, cpu: 0 }; 3];
        for round in 0..=rounds {
            let runs: [&mut dyn FnMut(); 3] = [&mut ours, &mut theirs, &mut sorted];
            for (cost, run) in costs.iter_mut().zip(runs) {
                let (start, cpu) = (Instant::now(), cpu_ticks());
                run();
                // The first round only warms the caches.
                if round > 0 {
                    cost.best = cost.best.min(start.elapsed());
                    cost.cpu += cpu_ticks() - cpu;
                }
            }
        }
        costs
    }

    /// What several runs took.
    #[derive(Clone, Copy)]
    struct Cost {
        best: Duration,
        /// Processor time of all runs: on a busy machine the fairer measure.
        cpu: u64,
    }

    /// Processor time of this process and the ones it waited for, where `/proc` tells it.
    fn cpu_ticks() -> u64 {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap();
        after_name.split_whitespace().skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
    }

    fn report(name: &str, costs: [Cost; 3], found: (usize, usize), is_cut: bool) -> f64 {
        let cpu = costs[0].cpu as f64 / costs[1].cpu.max(1) as f64;
        let [ours, rg, sorted] = costs.map(|cost| cost.best.as_secs_f64() * 1000.0);
        let (a, b) = found;
        let same = match (a == b, is_cut) {
            (true, _) => format!("{a}"),
            (false, true) => format!("{a} of {b}"),
            (false, false) => format!("{a} BUT RG HAS {b}"),
        };
        println!(
            "{name:<20} {ours:>9.2} {rg:>9.2} {:>7.3} {sorted:>12.2} {:>7.3} {cpu:>7.3}  {same}",
            ours / rg,
            ours / sorted,
        );
        ours / rg
    }
}
