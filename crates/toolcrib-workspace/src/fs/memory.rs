//! A file system in memory, with the same behaviour as the disk: links, modes, kinds of error.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::directory::{DirEntry, Directory, EntryKind, EntryStat};
use super::{Attributes, Folder, LockGuard, Meta, Reader, Staged, demand_regular, demand_single};

const ROOT: u64 = 1;

#[derive(Debug)]
enum Body {
    File(Arc<Vec<u8>>),
    Dir(BTreeMap<OsString, u64>),
    Symlink(OsString),
    Other,
}

#[derive(Debug)]
struct Node {
    body: Body,
    mode: u32,
    modified_ns: i128,
}

#[derive(Debug)]
struct Tree {
    nodes: HashMap<u64, Node>,
    next: u64,
    last_time: i128,
    locked: HashSet<(u64, Option<OsString>)>,
}

/// One whole file system.
#[derive(Clone, Debug)]
pub(crate) struct MemoryFs {
    tree: Arc<Mutex<Tree>>,
}

impl MemoryFs {
    pub(crate) fn new() -> Self {
        let tree = Tree { nodes: HashMap::new(), next: ROOT, last_time: 0, locked: HashSet::new() };
        let fs = Self { tree: Arc::new(Mutex::new(tree)) };
        let mut tree = fs.lock();
        tree.add(Body::Dir(BTreeMap::new()), 0o755);
        drop(tree);
        fs
    }

    pub(crate) fn root(&self) -> Arc<dyn Folder> {
        Arc::new(MemoryFolder { fs: self.clone(), node: ROOT })
    }

    fn lock(&self) -> MutexGuard<'_, Tree> {
        // Every change to the tree is whole before its guard is dropped, so a poisoned lock guards a sound tree.
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn device(&self) -> u64 {
        Arc::as_ptr(&self.tree) as usize as u64
    }
}

impl Tree {
    fn now(&mut self) -> i128 {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
        // Never twice the same, so that a change always shows.
        self.last_time = clock.max(self.last_time + 1);
        self.last_time
    }

    fn add(&mut self, body: Body, mode: u32) -> u64 {
        let id = self.next;
        self.next += 1;
        let modified_ns = self.now();
        self.nodes.insert(id, Node { body, mode, modified_ns });
        id
    }

    fn children(&self, dir: u64) -> io::Result<&BTreeMap<OsString, u64>> {
        match self.nodes.get(&dir).map(|node| &node.body) {
            Some(Body::Dir(children)) => Ok(children),
            Some(_) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn children_mut(&mut self, dir: u64) -> io::Result<&mut BTreeMap<OsString, u64>> {
        let now = self.now();
        let node = self.nodes.get_mut(&dir).ok_or(io::ErrorKind::NotFound)?;
        node.modified_ns = now;
        match &mut node.body {
            Body::Dir(children) => Ok(children),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn lookup(&self, dir: u64, name: &OsStr) -> io::Result<(u64, &Node)> {
        demand_single(name)?;
        let id = *self.children(dir)?.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok((id, self.nodes.get(&id).ok_or(io::ErrorKind::NotFound)?))
    }

    fn insert_new(&mut self, dir: u64, name: &OsStr, body: Body, mode: u32) -> io::Result<()> {
        demand_single(name)?;
        if name.len() > 255 {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        if self.children(dir)?.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let id = self.add(body, mode);
        self.children_mut(dir)?.insert(name.to_os_string(), id);
        Ok(())
    }

    fn remove(&mut self, dir: u64, name: &OsStr, want_dir: bool) -> io::Result<()> {
        let (id, node) = self.lookup(dir, name)?;
        match (&node.body, want_dir) {
            (Body::Dir(children), true) if !children.is_empty() => {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            (Body::Dir(_), false) => return Err(io::ErrorKind::IsADirectory.into()),
            (Body::Dir(_), true) | (_, false) => {}
            (_, true) => return Err(io::ErrorKind::NotADirectory.into()),
        }
        self.children_mut(dir)?.remove(name);
        self.nodes.remove(&id);
        Ok(())
    }
}

/// A directory of a [`MemoryFs`].
#[derive(Clone)]
pub(crate) struct MemoryFolder {
    fs: MemoryFs,
    node: u64,
}

impl MemoryFolder {
    fn meta_of(&self, id: u64, node: &Node) -> Meta {
        let (kind, size) = match &node.body {
            Body::File(bytes) => (EntryKind::File, bytes.len() as u64),
            Body::Dir(_) => (EntryKind::Dir, 0),
            Body::Symlink(target) => (EntryKind::Symlink, target.len() as u64),
            Body::Other => (EntryKind::Other, 0),
        };
        let identity = (self.fs.device(), id);
        let modified_ns = node.modified_ns;
        Meta { kind, size, modified_ns, changed_ns: modified_ns, mode: node.mode, links: 1, identity }
    }

    fn child(&self, name: &OsStr) -> io::Result<Self> {
        let tree = self.fs.lock();
        match tree.lookup(self.node, name)? {
            (id, Node { body: Body::Dir(_), .. }) => Ok(Self { fs: self.fs.clone(), node: id }),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn content(&self, name: &OsStr) -> io::Result<(Arc<Vec<u8>>, Meta)> {
        let tree = self.fs.lock();
        let (id, node) = tree.lookup(self.node, name)?;
        let meta = self.meta_of(id, node);
        demand_regular(meta.kind)?;
        match &node.body {
            Body::File(bytes) => Ok((bytes.clone(), meta)),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Adds a thing that is neither file, directory nor link, as a FIFO would be.
    pub(crate) fn add_other(&self, name: &OsStr) -> io::Result<()> {
        self.fs.lock().insert_new(self.node, name, Body::Other, 0o644)
    }
}

/// Shared bytes that can be read.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Directory for MemoryFolder {
    fn entries(&self) -> io::Result<Vec<DirEntry>> {
        let tree = self.fs.lock();
        let children = tree.children(self.node)?.iter();
        let entry = |(name, id): (&OsString, &u64)| {
            let node = tree.nodes.get(id)?;
            Some(DirEntry { name: name.clone(), kind: self.meta_of(*id, node).kind })
        };
        Ok(children.filter_map(entry).collect())
    }

    fn open_dir(&self, name: &OsStr) -> io::Result<Arc<dyn Directory>> {
        Ok(Arc::new(self.child(name)?))
    }

    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(Shared(self.content(name)?.0))))
    }

    fn stat(&self, name: &OsStr) -> io::Result<EntryStat> {
        Ok(self.meta(name)?.entry_stat())
    }
}

impl Folder for MemoryFolder {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn entries_up_to(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        let mut entries = self.entries()?;
        entries.truncate(limit);
        Ok(entries)
    }

    fn own_meta(&self) -> io::Result<Meta> {
        let tree = self.fs.lock();
        let node = tree.nodes.get(&self.node).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.meta_of(self.node, node))
    }

    fn folder(&self, name: &OsStr) -> io::Result<Arc<dyn Folder>> {
        Ok(Arc::new(self.child(name)?))
    }

    fn descend(&self, names: &[OsString]) -> io::Result<Arc<dyn Folder>> {
        let mut at = self.clone();
        for name in names {
            at = at.child(name)?;
        }
        Ok(Arc::new(at))
    }

    fn meta(&self, name: &OsStr) -> io::Result<Meta> {
        let tree = self.fs.lock();
        let (id, node) = tree.lookup(self.node, name)?;
        Ok(self.meta_of(id, node))
    }

    fn read_link(&self, name: &OsStr) -> io::Result<OsString> {
        match &self.fs.lock().lookup(self.node, name)?.1.body {
            Body::Symlink(target) => Ok(target.clone()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn open(&self, name: &OsStr) -> io::Result<(Reader, Meta)> {
        let (bytes, meta) = self.content(name)?;
        Ok((Box::new(Cursor::new(Shared(bytes))), meta))
    }

    fn attributes(&self, name: &OsStr) -> io::Result<Attributes> {
        Ok(Attributes::with_mode(self.content(name)?.1.mode & 0o1777))
    }

    fn stage(&self, bytes: &[u8], attributes: &Attributes, _durable: bool) -> io::Result<Box<dyn Staged>> {
        let mode = attributes.mode.unwrap_or(0o644);
        Ok(Box::new(MemoryStaged { folder: self.clone(), bytes: Arc::new(bytes.to_vec()), mode }))
    }

    fn make_folder(&self, name: &OsStr, mode: Option<u32>) -> io::Result<()> {
        let body = Body::Dir(BTreeMap::new());
        self.fs.lock().insert_new(self.node, name, body, mode.unwrap_or(0o755))
    }

    fn set_folder_mode(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let folder = self.child(name)?;
        let mut tree = self.fs.lock();
        tree.nodes.get_mut(&folder.node).ok_or(io::ErrorKind::NotFound)?.mode = mode;
        Ok(())
    }

    fn make_link(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        self.fs.lock().insert_new(self.node, name, Body::Symlink(target.to_os_string()), 0o777)
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.fs.lock().remove(self.node, name, false)
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.fs.lock().remove(self.node, name, true)
    }

    fn move_to(&self, name: &OsStr, to: &dyn Folder, to_name: &OsStr) -> io::Result<()> {
        demand_single(to_name)?;
        let to = to.as_any().downcast_ref::<Self>().ok_or(io::ErrorKind::CrossesDevices)?;
        if !Arc::ptr_eq(&self.fs.tree, &to.fs.tree) {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        let mut tree = self.fs.lock();
        let (id, _) = tree.lookup(self.node, name)?;
        tree.children(to.node)?;
        tree.children_mut(self.node)?.remove(name);
        if let Some(old) = tree.children_mut(to.node)?.insert(to_name.to_os_string(), id) {
            tree.nodes.remove(&old);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn sync_file(&self, name: &OsStr) -> io::Result<()> {
        self.content(name).map(drop)
    }

    fn try_lock(&self, name: Option<&OsStr>) -> io::Result<Option<LockGuard>> {
        let key = (self.node, name.map(OsStr::to_os_string));
        let free = self.fs.lock().locked.insert(key.clone());
        Ok(free.then(|| Box::new(MemoryLock { fs: self.fs.clone(), key }) as LockGuard))
    }
}

struct MemoryLock {
    fs: MemoryFs,
    key: (u64, Option<OsString>),
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.fs.lock().locked.remove(&self.key);
    }
}

struct MemoryStaged {
    folder: MemoryFolder,
    bytes: Arc<Vec<u8>>,
    mode: u32,
}

impl Staged for MemoryStaged {
    fn publish_new(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        let mut tree = self.folder.fs.lock();
        tree.insert_new(self.folder.node, name, Body::File(self.bytes.clone()), self.mode)
    }

    fn publish_over(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        let mut tree = self.folder.fs.lock();
        let old = match tree.lookup(self.folder.node, name) {
            Ok((_, Node { body: Body::Dir(_), .. })) => return Err(io::ErrorKind::IsADirectory.into()),
            Ok((id, _)) => Some(id),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let id = tree.add(Body::File(self.bytes.clone()), self.mode);
        tree.children_mut(self.folder.node)?.insert(name.to_os_string(), id);
        if let Some(old) = old {
            tree.nodes.remove(&old);
        }
        Ok(())
    }

    fn owner_kept(&self) -> bool {
        true
    }
}
