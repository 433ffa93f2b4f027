//! The `landlock` level: what a process may touch, restricted by itself before it becomes the command.
//!
//! Landlock only ever adds rights below a directory, so it cannot take `.git/hooks` out of a directory that may be
//! written; where the kernel lets us, mounts do that ([`mount`]). It does not cover metadata (modes, times)
//! of files outside, nor Unix sockets, nor UDP; seccomp refuses the sockets.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};

use super::protect::{How, Protected};

/// What a command may touch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rules {
    /// Where it may write.
    pub write: Vec<PathBuf>,
    /// What it may not even read.
    pub hidden: Vec<PathBuf>,
    pub network: bool,
    /// What mounts keep from being written, where they can.
    pub read_only: Vec<Protected>,
    /// Hidden paths inside what may be written, over which something empty is mounted, where it can be.
    pub covered: Vec<PathBuf>,
    /// Something empty to mount.
    pub empty: PathBuf,
    /// What is compared afterwards, where they cannot.
    pub watched: Vec<PathBuf>,
    /// Where changes to them are kept.
    pub aside: Option<PathBuf>,
}

/// Truncation is what makes write confinement whole, so nothing older will do.
const NEEDED: ABI = ABI::V3;

/// All of `/dev` that there is for a command. The terminals of others are not: it could type and listen there; nor
/// are disks, in which root would find what is hidden elsewhere. Its own terminal is open already, and is `/dev/tty`;
/// but it cannot make terminals for others, for they would lie among those.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];

/// Rules that the kernel has accepted, not yet in force.
pub(crate) struct Prepared(Option<RulesetCreated>);

impl Prepared {
    pub(crate) fn restrict(&mut self) -> io::Result<()> {
        let Some(rules) = self.0.take() else { return Err(io::ErrorKind::InvalidInput.into()) };
        rules.restrict_self().map_err(io::Error::other)?;
        Ok(())
    }
}

/// Hands the rules to the kernel.
pub(crate) fn prepare(rules: &Rules) -> Result<Prepared, String> {
    let told = |error: landlock::RulesetError| format!("landlock: {error}");
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))
        .map_err(told)?
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .map_err(told)?;
    if !rules.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4)).map_err(told)?;
    }
    let mut created = ruleset.create().map_err(told)?;
    let read = AccessFs::from_read(NEEDED);
    let hidden: Vec<PathBuf> = rules.hidden.iter().cloned().chain(["/dev".into()]).collect();
    for path in readable(&hidden) {
        created = add(created, &path, read)?;
    }
    // Names may be seen everywhere.
    created = add(created, Path::new("/"), AccessFs::ReadDir.into())?;
    let device = AccessFs::WriteFile | AccessFs::ReadFile | AccessFs::Truncate | AccessFs::ReadDir;
    for path in DEVICES {
        created = add(created, Path::new(path), device)?;
    }
    let special = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock;
    for path in &rules.write {
        created = add(created, path, AccessFs::from_all(NEEDED) & !special)?;
    }
    Ok(Prepared(Some(created)))
}

/// Adds a rule; what is not there cannot be touched either.
fn add(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, String> {
    let Ok(handle) = PathFd::new(path) else { return Ok(rules) };
    // A file takes only the rights that files have.
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEEDED) };
    let rule = PathBeneath::new(handle, access);
    rules.add_rule(rule).map_err(|error| format!("landlock: {}: {error}", path.display()))
}

/// Everything but the hidden paths: `/`, or the entries beside the ways to them.
fn readable(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut open = Vec::new();
    let mut partly = vec![PathBuf::from("/")];
    while let Some(folder) = partly.pop() {
        let below: Vec<&PathBuf> = hidden.iter().filter(|path| path.starts_with(&folder)).collect();
        if below.is_empty() {
            open.push(folder);
        } else if !below.iter().any(|path| **path == folder) {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            partly.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    open
}

/// Makes the protected paths read-only and covers the hidden ones, for this process and what it starts, by mounts in a
/// name space of its own.
pub(crate) fn mount(rules: &Mounts) -> io::Result<()> {
    if rules.read_only.is_empty() && rules.covered.is_empty() {
        return Ok(());
    }
    own_mounts()?;
    rustix::mount::mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    for item in rules.read_only.iter().filter(|item| item.how != How::Compare) {
        rustix::mount::mount_bind(&item.path, &item.path)?;
        if item.how != How::Pin {
            let flags = kept_flags(&item.path)? | MountFlags::BIND | MountFlags::RDONLY;
            rustix::mount::mount_remount(&item.path, flags, "")?;
        }
    }
    for path in &rules.covered {
        let empty = if path.is_dir() { rules.empty.as_path() } else { Path::new("/dev/null") };
        rustix::mount::mount_bind(empty, path)?;
        let flags = kept_flags(path)? | MountFlags::BIND | MountFlags::RDONLY;
        rustix::mount::mount_remount(path, flags, "")?;
    }
    Ok(())
}

/// What is mounted before the rules come into force.
pub(crate) struct Mounts {
    read_only: Vec<Protected>,
    covered: Vec<PathBuf>,
    empty: PathBuf,
}

impl Mounts {
    pub(crate) fn of(rules: &Rules) -> Self {
        Self {
            read_only: rules.read_only.clone(),
            covered: rules.covered.clone(),
            empty: rules.empty.clone(),
        }
    }
}

/// A mount name space: as root directly, else inside a user name space in which we are who we are outside.
fn own_mounts() -> io::Result<()> {
    if unshare(UnshareFlags::NEWNS).is_ok() {
        return Ok(());
    }
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

#[allow(
    unsafe_code,
    reason = "the safe form is deprecated for what it does to other threads, of which there are none"
)]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: called in a process of one thread that is about to become another program.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// The flags of the mount beneath, which a user name space may not take away.
fn kept_flags(path: &Path) -> io::Result<MountFlags> {
    use rustix::fs::StatVfsMountFlags as On;
    let on = rustix::fs::statvfs(path)?.f_flag;
    let pairs = [
        (On::NOSUID, MountFlags::NOSUID),
        (On::NODEV, MountFlags::NODEV),
        (On::NOEXEC, MountFlags::NOEXEC),
        (On::NOATIME, MountFlags::NOATIME),
        (On::NODIRATIME, MountFlags::NODIRATIME),
        (On::RELATIME, MountFlags::RELATIME),
    ];
    Ok(pairs
        .iter()
        .filter(|(on_disk, _)| on.contains(*on_disk))
        .fold(MountFlags::empty(), |all, (_, flag)| all | *flag))
}
