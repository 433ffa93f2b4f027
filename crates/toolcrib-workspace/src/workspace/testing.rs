//! Reaching into a workspace in memory as another process would reach into a directory: for tests only.

use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;

use super::Workspace;
use crate::fs::memory::MemoryFolder;
use crate::fs::{Attributes, Folder};

fn find<'a>(workspace: &Workspace, path: &'a str) -> io::Result<(Arc<dyn Folder>, &'a OsStr)> {
    let root = workspace.inner().roots.first().ok_or(io::ErrorKind::NotFound)?;
    if !root.folder.as_any().is::<MemoryFolder>() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let above: Vec<OsString> = above.split('/').filter(|name| !name.is_empty()).map(OsString::from).collect();
    Ok((root.folder.descend(&above)?, OsStr::new(name)))
}

/// Writes a file without check or journal.
pub fn write(workspace: &Workspace, path: &str, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = find(workspace, path)?;
    folder.stage(bytes, &Attributes::default(), false)?.publish_over(name)
}

/// Makes a directory.
pub fn make_dir(workspace: &Workspace, path: &str) -> io::Result<()> {
    let (folder, name) = find(workspace, path)?;
    folder.make_folder(name, None)
}

/// Makes a symlink.
pub fn symlink(workspace: &Workspace, target: &str, path: &str) -> io::Result<()> {
    let (folder, name) = find(workspace, path)?;
    folder.make_link(name, OsStr::new(target))
}

/// Adds something that is neither file, directory nor link.
pub fn special(workspace: &Workspace, path: &str) -> io::Result<()> {
    let (folder, name) = find(workspace, path)?;
    let folder = folder.as_any().downcast_ref::<MemoryFolder>().ok_or(io::ErrorKind::Unsupported)?;
    folder.add_other(name)
}

/// Removes a file or link.
pub fn remove(workspace: &Workspace, path: &str) -> io::Result<()> {
    let (folder, name) = find(workspace, path)?;
    folder.remove_file(name)
}

/// Sets the mode of a directory.
pub fn set_dir_mode(workspace: &Workspace, path: &str, mode: u32) -> io::Result<()> {
    let (folder, name) = find(workspace, path)?;
    folder.set_folder_mode(name, mode)
}
