//! The disk. This is the one place where platforms part.
//!
//! Linux works on `openat2` and friends directly. Where that call is missing (an old kernel, a seccomp filter), and
//! on every other platform, `cap-std` gives the same confinement with more system calls.

#[cfg(unix)]
mod attributes;
#[cfg(target_os = "linux")]
mod linux;
mod portable;

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::Folder;

/// Opens a directory of the host as a root of its own. `path` is trusted and its symlinks are followed.
pub(crate) fn open_root(path: &Path, force_portable: bool) -> io::Result<Arc<dyn Folder>> {
    #[cfg(target_os = "linux")]
    if !force_portable && let Some(root) = linux::LinuxFolder::open_root(path)? {
        return Ok(Arc::new(root));
    }
    let _ = force_portable;
    Ok(Arc::new(portable::PortableFolder::open_root(path)?))
}

/// What keeps paths inside a root on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// The kernel: `openat2` beneath the root.
    Kernel,
    /// `cap-std`, component by component.
    Portable,
}

/// What keeps paths inside a root here, found by trying.
pub fn confinement() -> Confinement {
    #[cfg(target_os = "linux")]
    if matches!(linux::LinuxFolder::open_root(Path::new("/")), Ok(Some(_))) {
        return Confinement::Kernel;
    }
    Confinement::Portable
}
