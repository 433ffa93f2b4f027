//! The supervisor: the own binary, run again as a small process of one thread from which all commands descend.
//!
//! A program that holds an index and a thread pool must not fork: it would copy its page tables and tear its locks.
//! So it starts its own binary once more, as `toolcrib-supervisor`, which waits for calls and forks for each a process
//! ([`call`]) that starts the command, watches over it and ends with it. The supervisor and each of these are
//! subreapers: nothing below them can get away by `setsid` or by forking twice. When the program ends, by whatever
//! cause, the sockets close, and everything below ends.

mod call;
mod child;
mod fork;
mod guard;
pub(crate) mod tree;
pub(crate) mod wire;

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{DumpableBehavior, Pid, WaitOptions};

/// The name under which the own binary is started.
pub(crate) const NAME: &str = "toolcrib-supervisor";

/// Whether `main` would become the supervisor if this binary were started again.
static ANSWERS: AtomicBool = AtomicBool::new(false);

/// Becomes the supervisor if this process was started as one, and then never returns. The first thing that `main` of
/// a program does that runs commands: before threads, before arguments are looked at.
pub fn run_if_asked() {
    ANSWERS.store(true, Ordering::Relaxed);
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        wait_for_calls();
        // The temp directory is removed by whoever lives longest.
        if let Some(temp) = std::env::args_os().nth(1) {
            let _ = std::fs::remove_dir_all(temp);
        }
        std::process::exit(0);
    }
}

/// Keeps others of the same user, commands among them, from looking into this process, and its memory from being
/// written to disk when it crashes. For programs, not for libraries, to decide.
pub fn harden() {
    use rustix::process::{Resource, Rlimit, set_dumpable_behavior, setrlimit};
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

pub(crate) fn own_binary_answers() -> bool {
    ANSWERS.load(Ordering::Relaxed)
}

fn wait_for_calls() {
    // What the program had open is none of the commands' business.
    fork::close_from(3);
    let own = rustix::process::getpid();
    // A signal from the terminal is for the program; what is below it ends in its own way.
    let _ = rustix::process::setsid();
    let _ = rustix::process::set_child_subreaper(Some(own));
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let stdin = std::io::stdin();
    let mut calls: HashSet<Pid> = HashSet::new();
    let mut open = true;
    while open || !calls.is_empty() {
        let ready = wait(stdin.as_fd(), open, !calls.is_empty());
        bury(own, &mut calls);
        if !ready || !open {
            continue;
        }
        match wire::receive(stdin.as_fd()) {
            Ok(Some(handover)) => match fork::fork() {
                Ok(None) => {
                    detach();
                    call::supervise(handover);
                    std::process::exit(0);
                }
                Ok(Some(pid)) => {
                    calls.insert(pid);
                }
                // The stream of the call closes without a word: the program says so.
                Err(_) => drop(handover),
            },
            Ok(None) | Err(_) => open = false,
        }
    }
}

/// In the process of a call: the socket to the supervisor is not its own.
fn detach() {
    if let Ok(null) = std::fs::File::open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
    }
}

/// Waits for a call, or for a moment if there are processes to bury meanwhile.
fn wait(socket: std::os::fd::BorrowedFd<'_>, open: bool, busy: bool) -> bool {
    let moment = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    let mut fds = [PollFd::new(&socket, PollFlags::IN)];
    let watched = if open { fds.as_mut_slice() } else { &mut [] };
    matches!(poll(watched, busy.then_some(&moment)), Ok(ready) if ready > 0)
}

/// Reaps the dead. Where the process of a call was killed, what it watched over has come to us, and ends here.
fn bury(own: Pid, calls: &mut HashSet<Pid>) {
    let mut lost = false;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        lost |= calls.remove(&pid) && status.exit_status() != Some(0);
    }
    if lost {
        end_orphans(own, calls);
    }
}

/// Ends every child that is not the process of a call. Ending one can bring us its children, so it takes several looks.
fn end_orphans(own: Pid, calls: &HashSet<Pid>) {
    let started = Instant::now();
    let mut empty_looks = 0;
    while empty_looks < 2 && started.elapsed() < tree::KILLING {
        let mut orphans = tree::children(own);
        orphans.retain(|child| !calls.contains(child));
        empty_looks = if orphans.is_empty() { empty_looks + 1 } else { 0 };
        for orphan in orphans {
            let _ = rustix::process::kill_process(orphan, rustix::process::Signal::STOP);
            tree::kill_all(orphan);
            let _ = rustix::process::kill_process(orphan, rustix::process::Signal::KILL);
            let _ = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_micros(300));
    }
}
