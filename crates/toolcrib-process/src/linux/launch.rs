//! The program's side of the supervisor: starting it, and handing it calls.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::supervisor::{self, wire};

/// Starts commands by way of the supervisor, which it starts with the first one.
pub(crate) struct Launcher {
    binary: Option<PathBuf>,
    temp: PathBuf,
    running: Mutex<Option<Running>>,
}

struct Running {
    socket: OwnedFd,
    child: Option<Child>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It ends once the socket is closed and its calls are over: somebody must reap it, but nobody wait for it.
        if let Some(mut child) = self.child.take() {
            let _ = std::thread::Builder::new().spawn(move || child.wait());
        }
    }
}

impl Launcher {
    /// `binary`: a program whose `main` begins with [`supervisor::run_if_asked`]; the own one if `None`.
    pub(crate) fn new(binary: Option<PathBuf>, temp: PathBuf) -> Self {
        Self { binary, temp, running: Mutex::new(None) }
    }

    /// Makes the temp directory, for nobody else to look into. The supervisor removes it.
    pub(crate) fn prepare_temp(&self) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        match std::fs::DirBuilder::new().mode(0o700).create(&self.temp) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn temp(&self) -> &Path {
        &self.temp
    }

    /// Hands over a call with its three streams, and as much of the job as its stream holds: it is then there when
    /// somebody looks. Gives the stream and how much was written.
    pub(crate) fn launch(&self, stdio: [OwnedFd; 3], job: &[u8]) -> io::Result<(UnixStream, usize)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let written = match (&ours).write(job) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            other => other.unwrap_or(0),
        };
        let [stdin, stdout, stderr] = &stdio;
        let fds = [theirs.as_fd(), stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(supervisor) = running.as_ref()
            && wire::send(supervisor.socket.as_fd(), fds).is_ok()
        {
            return Ok((ours, written));
        }
        // There is none yet, or it is gone.
        let fresh = self.start()?;
        wire::send(fresh.socket.as_fd(), fds)?;
        *running = Some(fresh);
        Ok((ours, written))
    }

    fn start(&self) -> io::Result<Running> {
        let binary = match &self.binary {
            Some(binary) => binary.clone(),
            None if supervisor::own_binary_answers() => own_binary()?,
            None => {
                return Err(io::Error::other(
                    "this program cannot run commands: its main must begin with `toolcrib_process::run_supervisor_if_asked()`",
                ));
            }
        };
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // By `posix_spawn`: nothing here may make it fork. The environment stays empty, for commands can read it.
        let child = Command::new(binary)
            .arg0(supervisor::NAME)
            .arg(&self.temp)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Running { socket: ours, child: Some(child) })
    }
}

/// By its link in `/proc`, so that it is this very program even when another has taken its path since.
fn own_binary() -> io::Result<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() { Ok(link) } else { std::env::current_exe() }
}
