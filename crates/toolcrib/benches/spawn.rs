//! What starting a command costs: against `posix_spawn` by the standard library, at each level, and in a program that
//! holds much memory. Medians of interleaved runs, and ratios, since machines are noisy.
//!
//! `cargo bench -p toolcrib --bench spawn`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark prints and fails by panicking"
)]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    toolcrib::run_supervisor_if_asked();
    linux::run();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use toolcrib::process::{Bounds, Commands, Level, Program, Request, Root, Settings};

    const ROUNDS: usize = 300;

    /// The way everybody knows: `posix_spawn`, two pipes, wait.
    fn std_spawn(argv: &[&str]) -> Duration {
        let started = Instant::now();
        let (program, rest) = argv.split_first().unwrap();
        let output = Command::new(program).args(rest).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success());
        started.elapsed()
    }

    struct Bench {
        runtime: tokio::runtime::Runtime,
        folder: tempfile::TempDir,
        engines: Vec<(Level, Commands)>,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let engines = [Level::Policy, Level::Landlock, Level::Full].into_iter().filter_map(|level| {
                let root = Root { path: folder.path().canonicalize().unwrap(), writable: true };
                let mut settings = Settings::new(Bounds { roots: vec![root], ..Bounds::default() });
                settings.level = Some(level);
                settings.login_environment = false;
                let engine = Commands::new(settings);
                match engine.level() {
                    Ok(_) => Some((level, engine)),
                    Err(error) => {
                        println!("not measured: {level}: {error}");
                        None
                    }
                }
            });
            let engines = engines.collect();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            Self { runtime, folder, engines }
        }

        fn engine_spawn(&self, engine: &Commands, argv: &[&str]) -> Duration {
            let argv = argv.iter().map(|word| (*word).to_owned()).collect();
            let started = Instant::now();
            self.runtime.block_on(async {
                let request = Request::new(Program::Argv(argv), self.folder.path());
                engine.start(request).await.unwrap().wait().await;
            });
            started.elapsed()
        }

        /// Medians: the standard library's, then each level's. Interleaved, so that noise meets all of them.
        fn measure(&self, argv: &[&str]) -> (Duration, Vec<(Level, Duration)>) {
            let mut std_times = Vec::new();
            let mut times: Vec<Vec<Duration>> = vec![Vec::new(); self.engines.len()];
            for round in 0..ROUNDS + 20 {
                let plain = std_spawn(argv);
                let each: Vec<Duration> =
                    self.engines.iter().map(|(_, engine)| self.engine_spawn(engine, argv)).collect();
                // The first rounds start supervisors and fill caches.
                if round >= 20 {
                    std_times.push(plain);
                    times.iter_mut().zip(each).for_each(|(all, time)| all.push(time));
                }
            }
            let levels = self.engines.iter().map(|(level, _)| *level);
            (median(std_times), levels.zip(times.into_iter().map(median)).collect())
        }
    }

    fn median(mut times: Vec<Duration>) -> Duration {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    fn report(title: &str, measured: &(Duration, Vec<(Level, Duration)>)) {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!("{title}");
        println!("  posix_spawn (std)   {:7.3} ms", ms(measured.0));
        for (level, time) in &measured.1 {
            let ratio = time.as_secs_f64() / measured.0.as_secs_f64();
            let added = ms(*time) - ms(measured.0);
            println!("  engine, {level:<10}  {:7.3} ms   {ratio:5.2} times   {added:+.3} ms", ms(*time));
        }
    }

    pub(super) fn run() {
        let bench = Bench::new();
        report("/bin/true", &bench.measure(&["/bin/true"]));
        report("bash -c true", &bench.measure(&["bash", "-c", "true"]));
        // Touched, so that it is really there.
        let mut heap = vec![0u8; 512 << 20];
        heap.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        report("/bin/true, from a program that holds 512 MB", &bench.measure(&["/bin/true"]));
        std::hint::black_box(&heap);
    }
}
