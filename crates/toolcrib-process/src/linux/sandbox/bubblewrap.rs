//! The `full` level: which bubblewrap, and what it is told.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Bounds;
use super::protect::{How, Protected};

/// Finds a bubblewrap that can be trusted: not where a command could have put it, and not one that others can change.
pub(super) fn find(bounds: &Bounds) -> Result<PathBuf, String> {
    let from_path: Vec<PathBuf>;
    let search = if bounds.search.is_empty() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let usual = ["/usr/bin", "/usr/local/bin", "/bin"].map(PathBuf::from);
        from_path = std::env::split_paths(&path).chain(usual).collect();
        &from_path
    } else {
        &bounds.search
    };
    let mut refused = None;
    for folder in search.iter().filter(|folder| folder.is_absolute()) {
        let Ok(path) = folder.join("bwrap").canonicalize() else { continue };
        match trusted(&path, bounds) {
            Ok(()) => return Ok(path),
            Err(why) => refused = refused.or(Some(format!("{} is not used: {why}", path.display()))),
        }
    }
    Err(refused.unwrap_or_else(|| "bubblewrap (bwrap) is not installed".into()))
}

fn trusted(path: &Path, bounds: &Bounds) -> Result<(), &'static str> {
    let meta = path.metadata().map_err(|_| "it cannot be looked at")?;
    let own = rustix::process::geteuid().as_raw();
    let below = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder));
    if bounds.roots.iter().any(|root| below(&root.path)) {
        Err("it lies inside the workspace")
    } else if bounds.writable.iter().any(below) || below(&bounds.temp) {
        Err("it lies where commands can write")
    } else if !meta.is_file() {
        Err("it is not a file")
    } else if meta.mode() & 0o6000 != 0 {
        Err("it is setuid, which gives it rights that a sandbox should not need")
    } else if meta.mode() & 0o022 != 0 || (meta.uid() != 0 && meta.uid() != own) {
        Err("others can change it")
    } else {
        Ok(())
    }
}

/// A mount: what bubblewrap calls it, and its paths.
struct Mount {
    option: &'static str,
    from: Option<PathBuf>,
    at: PathBuf,
}

/// The command line up to seccomp and the command.
pub(super) fn arguments(
    bounds: &Bounds,
    network: bool,
    cwd: &Path,
    protected: &[Protected],
) -> Result<Vec<String>, String> {
    let mut arguments: Vec<String> = [
        "--die-with-parent",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        // Root without any capability still owns the files in /proc/sys, and one of them names a program that the
        // kernel runs outside.
        "--remount-ro",
        "/proc",
    ]
    .map(String::from)
    .to_vec();
    if !network {
        arguments.push("--unshare-net".into());
    }
    let mut mounts = mounts(bounds, network, protected);
    // Outer ones first: a later mount covers what an earlier one showed.
    mounts.sort_by_key(|mount| mount.at.components().count());
    let mut empty = Vec::new();
    for mount in mounts {
        if mount.option == "--tmpfs" {
            // It stays empty: what is written there would be lost, and takes memory that nothing limits.
            empty.extend(["--remount-ro".into(), text(&mount.at)?]);
        }
        arguments.push(mount.option.into());
        if let Some(from) = &mount.from {
            arguments.push(text(from)?);
        }
        arguments.push(text(&mount.at)?);
    }
    arguments.append(&mut empty);
    arguments.extend(["--chdir".into(), text(cwd)?]);
    Ok(arguments)
}

fn mounts(bounds: &Bounds, network: bool, protected: &[Protected]) -> Vec<Mount> {
    let same = |option, path: &Path| Mount { option, from: Some(path.into()), at: path.into() };
    let temp = |at: &str| Mount { option: "--bind", from: Some(bounds.temp.clone()), at: at.into() };
    let mut mounts = vec![temp("/tmp"), temp("/var/tmp")];
    for root in &bounds.roots {
        mounts.push(same(if root.writable { "--bind" } else { "--ro-bind" }, &root.path));
    }
    mounts.extend(bounds.writable.iter().filter(|path| path.exists()).map(|path| same("--bind", path)));
    for path in bounds.hidden(network) {
        mounts.push(if path.is_dir() {
            Mount { option: "--tmpfs", from: None, at: path }
        } else {
            Mount { option: "--ro-bind", from: Some("/dev/null".into()), at: path }
        });
    }
    for item in protected {
        match item.how {
            How::Pin => mounts.push(same("--bind", &item.path)),
            How::Compare => {}
            How::ReadOnly | How::EmptyDirectory | How::EmptyFile => {
                mounts.push(same("--ro-bind", &item.path))
            }
        }
    }
    mounts
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("{} is not UTF-8", path.display()))
}
