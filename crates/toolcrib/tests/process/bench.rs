//! A workspace, and an engine that runs commands in it at a given level.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;
use toolcrib_process::{Bounds, Commands, End, Level, Process, Program, Request, Root, Settings};

pub(crate) struct World {
    pub(crate) top: TempDir,
    pub(crate) commands: Commands,
}

/// Not below `/tmp`, which every command sees as a place of its own.
pub(crate) fn folder() -> TempDir {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tempfile::Builder::new().prefix("w").tempdir_in(base).unwrap()
}

/// The levels that work here, best first. What does not is said by `scripts/test`.
pub(crate) fn levels() -> &'static [Level] {
    static LEVELS: OnceLock<Vec<Level>> = OnceLock::new();
    LEVELS.get_or_init(|| {
        let report = World::with(|_| ()).commands.examine();
        let landlock = report.landlock.is_some_and(|verdict| verdict.works);
        let all = [(Level::Full, report.full.works), (Level::Landlock, landlock), (Level::Policy, true)];
        for (level, _) in all.iter().filter(|(_, works)| !works) {
            eprintln!("not tested: the sandbox level {level}");
        }
        all.into_iter().filter(|(_, works)| *works).map(|(level, _)| level).collect()
    })
}

/// The levels that work here and confine something.
pub(crate) fn confined() -> &'static [Level] {
    levels().split_last().map_or(&[], |(_, confined)| confined)
}

impl World {
    /// At the best level that works here.
    pub(crate) fn best() -> Self {
        Self::at(levels()[0])
    }

    pub(crate) fn at(level: Level) -> Self {
        Self::with(|settings| settings.level = Some(level))
    }

    pub(crate) fn with(adjust: impl FnOnce(&mut Settings)) -> Self {
        let top = folder();
        let root = top.path().join("ws");
        std::fs::create_dir_all(root.join(".git/hooks")).unwrap();
        std::fs::write(root.join(".git/config"), "[core]\n").unwrap();
        std::fs::create_dir(top.path().join("out")).unwrap();
        std::fs::write(top.path().join("out/canary"), "untouched").unwrap();
        let protected = [".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".toolcrib"];
        let mut settings = Settings::new(Bounds {
            protected: protected.iter().map(|name| root.join(name)).collect(),
            roots: vec![Root { path: root, writable: true }],
            aside: Some(top.path().join("aside")),
            ..Bounds::default()
        });
        settings.supervisor = Some(env!("CARGO_BIN_EXE_toolcrib").into());
        settings.login_environment = false;
        adjust(&mut settings);
        Self { top, commands: Commands::new(settings) }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.top.path().join("ws")
    }

    pub(crate) fn request(&self, line: &str) -> Request {
        Request {
            timeout: Some(Duration::from_secs(20)),
            ..Request::new(Program::Shell(line.to_owned()), self.root())
        }
    }

    pub(crate) async fn start(&self, line: &str) -> Process {
        self.commands.start(self.request(line)).await.unwrap()
    }

    /// Runs a line to its end: exit code, stdout, stderr.
    pub(crate) async fn run(&self, line: &str) -> (i32, String, String) {
        self.finish(self.request(line)).await
    }

    pub(crate) async fn finish(&self, request: Request) -> (i32, String, String) {
        let process = self.commands.start(request).await.unwrap();
        let code = match process.wait().await {
            End::Exited { code } => code,
            other => panic!("{other:?}"),
        };
        let output = process.output();
        (code, output.stdout.text(), output.stderr.text())
    }

    pub(crate) fn canary_is_untouched(&self) {
        assert_eq!(std::fs::read_to_string(self.top.path().join("out/canary")).unwrap(), "untouched");
        let names: Vec<_> = std::fs::read_dir(self.top.path().join("out")).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
}
