//! The place where attacks happen: a workspace, what lies beside it, and the tools.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolcrib::core::executor::Arguments;
use toolcrib::tools::SessionState;
use toolcrib::workspace::Hash;
use toolcrib::{
    ActivityStream, CallRequest, Outcome, PolicyMode, Session, StateDir, Toolcrib, ToolcribBuilder,
};

/// What must never come out.
pub(crate) const SECRET: &str = "hunter2-7f3a91c4-do-not-leak";

/// How long a call may take before it counts as hanging. Generous: the machine may be busy, and a hang is forever.
const HANG: Duration = Duration::from_secs(15);

/// A file outside: its kind, mode, links and content.
type Seen = (u32, u64, Option<PathBuf>, Option<Hash>);

pub(crate) struct World {
    temp: TempDir,
    pub(crate) crib: Toolcrib,
    pub(crate) session: Arc<Session>,
    events: Arc<Mutex<Vec<String>>>,
    canaries: BTreeMap<PathBuf, Seen>,
    runtime: Option<Runtime>,
}

impl World {
    /// Everything is permitted, nothing need be read before it is changed: only the file layer is in the way.
    pub(crate) fn new() -> Self {
        Self::with(|builder, _| builder)
    }

    /// The same with other settings.
    pub(crate) fn with(adjust: impl FnOnce(ToolcribBuilder, &Path) -> ToolcribBuilder) -> Self {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["ws", "ws_evil", "out/sub"] {
            fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        for file in ["out/secret", "out/sub/secret", "out/.envrc", "ws_evil/f"] {
            fs::write(temp.path().join(file), format!("{SECRET}\n")).unwrap();
        }
        fs::write(temp.path().join("ws/source"), "line\n").unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let activity = ActivityStream::new();
        let log = Arc::clone(&events);
        activity.observe(move |event| log.lock().unwrap().push(serde_json::to_string(event).unwrap()));
        let builder = Toolcrib::builder()
            .root(temp.path().join("ws"))
            .state(StateDir::at(temp.path().join("state")).unwrap())
            .policy(PolicyMode::Full)
            .activity(activity);
        let crib = adjust(builder, temp.path()).build().unwrap();
        crib.sessions().insert("attack", SessionState::lenient());
        let session = crib.session("attack");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let mut world =
            Self { temp, crib, session, events, canaries: BTreeMap::new(), runtime: runtime.ok() };
        world.canaries = world.outside();
        world
    }

    /// Nobody is there to ask, and what is not ordinary is asked.
    pub(crate) fn headless() -> Self {
        Self::with(|builder, _| builder.policy(PolicyMode::Auto))
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().unwrap()
    }

    pub(crate) fn top(&self) -> &Path {
        self.temp.path()
    }

    /// A path in the workspace, on the disk.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join("ws").join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }

    pub(crate) fn mkdir(&self, path: &str) {
        fs::create_dir_all(self.path(path)).unwrap();
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.path(path)).unwrap();
    }

    /// Whatever lies beside the workspace, but for Toolcrib's own state.
    fn outside(&self) -> BTreeMap<PathBuf, Seen> {
        let mut found = BTreeMap::new();
        let mut folders: Vec<PathBuf> = ["out", "ws_evil"].map(|name| self.temp.path().join(name)).to_vec();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = fs::symlink_metadata(&path).unwrap();
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                let content = meta.is_file().then(|| Hash::of(&fs::read(&path).unwrap()));
                let links = if meta.is_file() { meta.nlink() } else { 0 };
                found.insert(path.clone(), (meta.mode(), links, fs::read_link(&path).ok(), content));
            }
        }
        found
    }

    /// Takes what lies outside now as what must stay.
    pub(crate) fn accept_outside(&mut self) {
        self.canaries = self.outside();
    }

    pub(crate) fn assert_outside_untouched(&self, what: &str) {
        assert_eq!(self.outside(), self.canaries, "{what}: something outside the workspace changed");
        let mut names: Vec<String> = fs::read_dir(self.temp.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("state"))
            .collect();
        names.sort();
        assert_eq!(names, ["out", "ws", "ws_evil"], "{what}: something appeared beside the workspace");
    }

    /// Calls a tool and checks what must hold after any call, whatever its outcome.
    pub(crate) fn call(&self, id: &str, tool: &str, arguments: Value) -> Outcome {
        self.call_with(id, tool, Arguments::Json(arguments))
    }

    pub(crate) fn call_with(&self, id: &str, tool: &str, arguments: Arguments) -> Outcome {
        let shown = match &arguments {
            Arguments::Json(value) => value.to_string(),
            Arguments::Text(text) => String::from_utf8_lossy(text).into_owned(),
        };
        let what = format!("{id} {tool} {}", shown.chars().take(300).collect::<String>());
        let request = CallRequest { arguments, ..CallRequest::new(&self.session, tool, Value::Null) };
        let call = async { tokio::time::timeout(HANG, self.crib.executor().call(request)).await };
        let outcome = self.runtime().block_on(call).unwrap_or_else(|_| panic!("{what}: hangs"));
        self.assert_clean(&what, &shown, &outcome);
        outcome
    }

    fn assert_clean(&self, what: &str, given: &str, outcome: &Outcome) {
        self.assert_outside_untouched(what);
        let text = serde_json::to_string(outcome).unwrap();
        let events = self.events.lock().unwrap().split_off(0).concat();
        assert!(!events.is_empty(), "{what}: no events");
        for (place, text) in [("the outcome", &text), ("the events", &events)] {
            if !given.contains(SECRET) {
                assert!(!text.contains(SECRET), "{what}: the secret is in {place}: {text}");
            }
            let host = self.temp.path().to_str().unwrap();
            if !given.contains(host) {
                assert!(!text.contains(host), "{what}: a path of the host is in {place}: {text}");
            }
        }
    }

    /// The code of a call, `ok` if it succeeded.
    pub(crate) fn code(&self, id: &str, tool: &str, arguments: Value) -> &'static str {
        code_of(&self.call(id, tool, arguments))
    }

    /// Cases of one line: id, tool, arguments, expected code or `ok`.
    pub(crate) fn run(&self, cases: &[(&str, &str, Value, &str)]) {
        for (id, tool, arguments, expected) in cases {
            self.expect(id, tool, arguments.clone(), expected);
        }
    }

    pub(crate) fn expect(&self, id: &str, tool: &str, arguments: Value, expected: &str) -> Outcome {
        let outcome = self.call(id, tool, arguments.clone());
        assert_eq!(code_of(&outcome), expected, "{id} {tool} {arguments}: {}", outcome.output);
        outcome
    }

    /// Every tool that takes a path refuses this one with this code.
    pub(crate) fn refused_by_every_tool(&self, id: &str, path: &str, expected: &str) {
        for (tool, arguments) in reading(path).into_iter().chain(writing(path)) {
            self.expect(id, tool, arguments, expected);
        }
        assert_eq!(self.read("source"), b"line\n", "{id} {path}");
    }

    /// Every tool that changes files refuses this path with this code.
    pub(crate) fn unchangeable(&self, id: &str, path: &str, expected: &str) {
        for (tool, arguments) in writing(path) {
            self.expect(id, tool, arguments, expected);
        }
        assert_eq!(self.read("source"), b"line\n", "{id} {path}");
    }

    /// Nothing has been changed through the tools.
    pub(crate) fn assert_no_changes(&self) {
        let outcome = self.call("-", "undo_changes", json!({"action": "list"}));
        assert_eq!(outcome.data["total"], 0, "{}", outcome.output);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A call that hangs must not hold up the report of it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

pub(crate) fn code_of(outcome: &Outcome) -> &'static str {
    assert_eq!(outcome.success, outcome.error.is_none());
    outcome.error.as_ref().map_or("ok", |error| error.code.as_str())
}

/// `*** Begin Patch` with these lines.
pub(crate) fn patch(lines: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{lines}\n*** End Patch\n")})
}

/// Calls that read `path`.
pub(crate) fn reading(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("read_file", json!({"paths": [path, path]})),
        ("read_file", json!({"path": format!("{path}:1-2")})),
        ("list_directory", json!({"path": path})),
        ("list_directory", json!({"path": path, "depth": 3, "sizes": true, "include_ignored": true})),
        ("glob", json!({"pattern": "**/*", "path": path})),
        ("grep", json!({"pattern": ".", "path": path})),
        ("grep", json!({"pattern": ".", "path": path, "mode": "files", "include_ignored": true})),
        ("undo_changes", json!({"action": "list", "path": path})),
        ("undo_changes", json!({"action": "preview", "path": path})),
    ]
}

/// Calls that change `path`.
pub(crate) fn writing(path: &str) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("write_file", json!({"path": path, "content": "evil"})),
        ("edit_file", json!({"path": path, "old_string": "line", "new_string": "evil"})),
        ("edit_file", json!({"path": path, "edits": [{"old_string": "line", "new_string": "evil"}]})),
        ("delete_file", json!({"path": path})),
        ("delete_file", json!({"path": path, "recursive": true})),
        ("undo_changes", json!({"action": "undo", "path": path})),
        ("undo_changes", json!({"action": "redo", "path": path})),
    ];
    // A patch has its paths in lines.
    if !path.contains('\n') {
        calls.extend([
            ("apply_patch", patch(&format!("*** Add File: {path}\n+evil"))),
            ("apply_patch", patch(&format!("*** Update File: {path}\n@@\n-line\n+evil"))),
            ("apply_patch", patch(&format!("*** Delete File: {path}"))),
            (
                "apply_patch",
                patch(&format!("*** Update File: source\n*** Move to: {path}\n@@\n-line\n+evil")),
            ),
            (
                "apply_patch",
                patch(&format!("*** Update File: {path}\n*** Move to: stolen\n@@\n-line\n+evil")),
            ),
            (
                "apply_patch",
                patch(&format!("*** Update File: source\n@@\n-line\n+evil\n*** Delete File: {path}")),
            ),
        ]);
    }
    calls
}

/// Whether this runs as root, whom file modes do not stop. Says so.
pub(crate) fn skipped_as_root(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if root {
        eprintln!("skipped, running as root: {what}");
    }
    root
}
