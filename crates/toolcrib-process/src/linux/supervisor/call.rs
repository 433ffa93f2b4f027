//! The process that watches over one command: starts it, ends it when told, and leaves nothing of it.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::child;
use super::guard::Guard;
use super::tree;
use super::wire::{self, Event, Handover, Job};

pub(super) fn supervise(handover: Handover) {
    let own = rustix::process::getpid();
    let _ = rustix::process::setsid();
    let _ = rustix::process::set_child_subreaper(Some(own));
    let mut control = File::from(handover.control);
    // A program that is gone before it said what to do wants nothing done.
    let Ok(job) = wire::read_job(&mut control) else { return };
    let guard = match Guard::set(&job.confinement) {
        Ok(guard) => guard,
        Err(what) => return wire::tell(&control, &Event::Failed { what }),
    };
    let event = match child::start(&job, handover.stdio) {
        Err(what) => Event::Failed { what },
        Ok(child) => {
            wire::tell(&control, &Event::Started { supervisor: own.as_raw_nonzero().get() });
            let status = Watch { own, control: &mut control, child, job: &job }.until_the_end();
            let killed = tree::kill_all(own);
            // Bubblewrap's own process is still on its way out.
            let left_over = if job.confinement.wrapper_depth() == 0 { killed } else { 0 };
            Event::Exited {
                code: status.and_then(|status| status.code()),
                signal: status.and_then(|status| status.signal()),
                left_over,
                put_back: Vec::new(),
            }
        }
    };
    let changed = guard.restore();
    let event = match event {
        Event::Exited { code, signal, left_over, .. } => {
            Event::Exited { code, signal, left_over, put_back: changed }
        }
        other => other,
    };
    wire::tell(&control, &event);
}

struct Watch<'a> {
    own: Pid,
    control: &'a mut File,
    child: Child,
    job: &'a Job,
}

impl Watch<'_> {
    /// Waits for the command's end, by itself or because it was told to.
    fn until_the_end(mut self) -> Option<ExitStatus> {
        let child = Pid::from_child(&self.child);
        let pidfd = rustix::process::pidfd_open(child, PidfdFlags::empty()).ok();
        let mut kill_at: Option<Instant> = None;
        loop {
            if let Some(status) = self.reap(child) {
                return Some(status);
            }
            let now = Instant::now();
            if kill_at.is_some_and(|at| at <= now) {
                return self.kill(child);
            }
            let told = self.wait(pidfd.as_ref(), kill_at.map(|at| at - now));
            if told {
                match self.listen() {
                    Some(wire::STOP) if kill_at.is_none() => {
                        self.terminate();
                        kill_at = Some(Instant::now() + Duration::from_millis(self.job.grace_ms));
                    }
                    Some(_) => {}
                    // Nobody is there any more.
                    None => return self.kill(child),
                }
            }
        }
    }

    /// Waits for a word from the program, the end of the command, or the time given. Says whether there is a word.
    fn wait(&self, pidfd: Option<&std::os::fd::OwnedFd>, at_most: Option<Duration>) -> bool {
        // Without a pidfd one must look; orphans are reaped now and then in any case.
        let look = Duration::from_millis(if pidfd.is_some() { 1000 } else { 5 });
        let pause = at_most.map_or(look, |time| time.min(look));
        let pause = Timespec {
            tv_sec: i64::try_from(pause.as_secs()).unwrap_or(1),
            tv_nsec: pause.subsec_nanos().into(),
        };
        let control = self.control.as_fd();
        let mut fds = vec![PollFd::new(&control, PollFlags::IN)];
        if let Some(pidfd) = pidfd {
            fds.push(PollFd::new(pidfd, PollFlags::IN));
        }
        let ready = poll(&mut fds, Some(&pause));
        matches!(ready, Ok(count) if count > 0) && fds.first().is_some_and(|fd| !fd.revents().is_empty())
    }

    fn listen(&mut self) -> Option<u8> {
        let mut byte = [0];
        match self.control.read(&mut byte) {
            Ok(1) => byte.first().copied(),
            _ => None,
        }
    }

    /// Reaps what has ended; the command's status if it is among it.
    fn reap(&self, child: Pid) -> Option<ExitStatus> {
        let mut found = None;
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == child {
                found = Some(exit_status(status));
            }
        }
        found
    }

    /// Asks everything to end. Stopped processes are woken, or they would not hear it.
    fn terminate(&self) {
        // Bubblewrap's own two processes would take the command along at once.
        let skip = self.job.confinement.wrapper_depth();
        tree::signal(self.own, skip, Signal::TERM);
        tree::signal(self.own, skip, Signal::CONT);
    }

    fn kill(&mut self, child: Pid) -> Option<ExitStatus> {
        let _ = rustix::process::kill_process(child, Signal::STOP);
        tree::signal(self.own, 0, Signal::STOP);
        let _ = rustix::process::kill_process(child, Signal::KILL);
        self.child.wait().ok()
    }
}

fn exit_status(status: WaitStatus) -> ExitStatus {
    ExitStatus::from_raw(status.as_raw())
}
