//! The two things that the kernel offers and no safe library does: `fork`, and closing all descriptors at once.
//!
//! Both happen only in the supervisor, which has one thread and no state worth tearing.
#![allow(unsafe_code, reason = "fork and close_range have no safe form")]

use std::io;

use rustix::process::Pid;

/// Splits the process. `None` in the child.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the supervisor has a single thread, so the child's memory is whole, locks included.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Lets every descriptor from `first` on be closed by the next `exec`.
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: only flags of descriptors change; nothing is closed now.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Closes every descriptor from `first` on.
pub(super) fn close_from(first: u32) {
    // SAFETY: called as the first thing of a process, when nothing in it owns a descriptor but the first three.
    unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
}

/// Runs `prepare` in the new process before it becomes the command.
pub(super) fn before_exec(
    command: &mut std::process::Command,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    use std::os::unix::process::CommandExt;
    // SAFETY: as for `fork`: the supervisor has a single thread, so the closure may allocate and take locks.
    unsafe { command.pre_exec(prepare) };
}
