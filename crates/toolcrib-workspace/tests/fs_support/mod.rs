//! Workspaces on every backend, and a way to reach into them as another process would.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::workspace::testing;
use toolcrib_workspace::{
    Access, ChangeFilter, ChangeLabel, Committed, Error, ErrorKind, Expect, StateDir, Workspace,
    WorkspaceBuilder,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Kernel,
    Portable,
    Memory,
}

pub const BACKENDS: [Backend; 3] = [Backend::Kernel, Backend::Portable, Backend::Memory];

/// A workspace `ws` beside a directory `out` that nothing may touch.
pub struct World {
    pub backend: Backend,
    pub ws: Workspace,
    pub temp: TempDir,
}

pub fn builder(backend: Backend, temp: &Path) -> WorkspaceBuilder {
    match backend {
        Backend::Memory => Workspace::builder().memory_root(),
        disk => {
            Workspace::builder().root(temp.join("ws"), Access::ReadWrite).portable(disk == Backend::Portable)
        }
    }
}

impl World {
    pub fn new(backend: Backend) -> Self {
        Self::with(backend, |builder, _| builder)
    }

    pub fn with(backend: Backend, configure: impl Fn(WorkspaceBuilder, &Path) -> WorkspaceBuilder) -> Self {
        // Memory has no mask; the disk gets the usual one, whatever the tests were started with.
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("ws")).unwrap();
        std::fs::create_dir(temp.path().join("out")).unwrap();
        std::fs::write(temp.path().join("out/secret"), SECRET).unwrap();
        let ws = configure(builder(backend, temp.path()), temp.path()).build().unwrap();
        Self { backend, ws, temp }
    }

    pub fn root(&self) -> PathBuf {
        self.temp.path().join("ws")
    }

    pub fn outside(&self) -> PathBuf {
        self.temp.path().join("out")
    }

    fn memory(&self) -> bool {
        self.backend == Backend::Memory
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        if self.memory() {
            testing::write(&self.ws, path, bytes.as_ref()).unwrap();
        } else {
            std::fs::write(self.root().join(path), bytes).unwrap();
        }
    }

    pub fn mkdir(&self, path: &str) {
        if self.memory() {
            testing::make_dir(&self.ws, path).unwrap();
        } else {
            std::fs::create_dir(self.root().join(path)).unwrap();
        }
    }

    pub fn symlink(&self, target: &str, path: &str) {
        if self.memory() {
            testing::symlink(&self.ws, target, path).unwrap();
        } else {
            std::os::unix::fs::symlink(target, self.root().join(path)).unwrap();
        }
    }

    pub fn fifo(&self, path: &str) {
        if self.memory() {
            testing::special(&self.ws, path).unwrap();
        } else {
            make_fifo(&self.root().join(path));
        }
    }

    pub fn chmod_dir(&self, path: &str, mode: u32) {
        if self.memory() {
            testing::set_dir_mode(&self.ws, path, mode).unwrap();
        } else {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(self.root().join(path), mode).unwrap();
        }
    }

    pub fn tree(&self) -> BTreeMap<String, Node> {
        tree(&self.ws)
    }

    /// Canaries are as they were.
    pub fn assert_outside_untouched(&self) {
        let names: Vec<_> =
            std::fs::read_dir(self.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["secret"]);
        assert_eq!(std::fs::read(self.outside().join("secret")).unwrap(), SECRET);
    }
}

pub const SECRET: &[u8] = b"canary 7f3a";

pub fn make_fifo(path: &Path) {
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::from_raw_mode(0o644), 0).unwrap();
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    File(Vec<u8>, u32),
    Dir(u32),
    Link,
    Other,
}

/// The whole tree by the public reading methods.
pub fn tree(ws: &Workspace) -> BTreeMap<String, Node> {
    fn add(ws: &Workspace, dir: &str, into: &mut BTreeMap<String, Node>) {
        for (entry, _) in ws.list(dir).unwrap() {
            let name = entry.name.to_str().unwrap();
            let path = if dir == "." { name.to_owned() } else { format!("{dir}/{name}") };
            let node = match entry.kind {
                EntryKind::File => {
                    let data = ws.read(&path, u64::MAX).unwrap();
                    Node::File(data.bytes, data.mode)
                }
                EntryKind::Dir => {
                    add(ws, &path, into);
                    Node::Dir(ws.stat(&path).unwrap().mode)
                }
                EntryKind::Symlink => Node::Link,
                EntryKind::Other => Node::Other,
            };
            into.insert(path, node);
        }
    }
    let mut into = BTreeMap::new();
    add(ws, ".", &mut into);
    into
}

pub fn label() -> ChangeLabel {
    ChangeLabel { tool: "test".into(), call_id: "call".into(), session: "s".into(), turn: Some(1) }
}

pub fn put(ws: &Workspace, path: &str, bytes: impl AsRef<[u8]>) -> Result<Committed, Error> {
    let mut change = ws.begin(label());
    change.put(path, bytes.as_ref().to_vec(), Expect::Any)?;
    change.commit(&|| false)
}

pub fn delete(ws: &Workspace, path: &str) -> Result<Committed, Error> {
    let mut change = ws.begin(label());
    change.delete(path, Expect::Any)?;
    change.commit(&|| false)
}

pub fn delete_tree(ws: &Workspace, path: &str) -> Result<Committed, Error> {
    let mut change = ws.begin(label());
    change.delete_tree(path)?;
    change.commit(&|| false)
}

pub fn rename(ws: &Workspace, from: &str, to: &str) -> Result<Committed, Error> {
    let mut change = ws.begin(label());
    change.rename(from, to, None, Expect::Any, Expect::Absent)?;
    change.commit(&|| false)
}

pub fn undo(ws: &Workspace, id: &str) -> Result<String, Error> {
    ws.undo(&[id.to_owned()], label(), false).map(|undone| undone.change_id)
}

pub fn redo(ws: &Workspace, id: &str) -> Result<String, Error> {
    ws.redo(&[id.to_owned()], label(), false).map(|undone| undone.change_id)
}

pub fn read(ws: &Workspace, path: &str) -> Result<Vec<u8>, Error> {
    ws.read(path, 1 << 20).map(|data| data.bytes)
}

pub fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

pub fn all_changes(ws: &Workspace) -> Vec<toolcrib_workspace::ChangeInfo> {
    ws.changes(&ChangeFilter::default()).unwrap()
}

pub fn state_in(temp: &Path) -> StateDir {
    StateDir::at(temp.join("state")).unwrap()
}

/// Runs `work` on a thread and fails if it hangs.
pub fn bounded<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(work()));
    receive.recv_timeout(std::time::Duration::from_secs(20)).expect("it hangs")
}
