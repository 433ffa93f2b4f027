//! The two ends of a command's streams.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::pty::OpenptFlags;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::process::{Sink, Streams};

/// Two pipes, and a third one or nothing for input.
pub(super) fn pipes(input: bool) -> io::Result<([OwnedFd; 3], Streams)> {
    let (stdout, their_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, their_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
    let (their_stdin, stdin) = if input {
        let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
        (theirs, Some(Box::new(Sender::from_owned_fd(ours)?) as Sink))
    } else {
        (OwnedFd::from(std::fs::File::open("/dev/null")?), None)
    };
    let ours = Streams {
        stdin,
        stdout: Box::new(Receiver::from_owned_fd(stdout)?),
        stderr: Some(Box::new(Receiver::from_owned_fd(stderr)?)),
    };
    Ok(([their_stdin, their_stdout, their_stderr], ours))
}

/// A terminal: one stream for everything.
pub(super) fn terminal() -> io::Result<([OwnedFd; 3], Streams)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    let theirs = rustix::pty::ioctl_tiocgptpeer(&ours, flags)?;
    let size = rustix::termios::Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&theirs, size)?;
    let sink = Terminal::new(ours.try_clone()?)?;
    let ours = Streams { stdin: Some(Box::new(sink)), stdout: Box::new(Terminal::new(ours)?), stderr: None };
    Ok(([theirs.try_clone()?, theirs.try_clone()?, theirs], ours))
}

/// Our side of a terminal, which is neither a pipe nor a socket.
struct Terminal(AsyncFd<OwnedFd>);

impl Terminal {
    #[allow(unsafe_code, reason = "tokio trusts the caller that a type always names the same descriptor")]
    fn new(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        // SAFETY: an `OwnedFd` is one descriptor from its creation until it is dropped.
        Ok(Self(unsafe { AsyncFd::register(fd) }?))
    }
}

impl AsyncRead for Terminal {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(cx))?;
            let read = guard.try_io(|fd| Ok(rustix::io::read(fd.as_fd(), into.initialize_unfilled())?));
            if let Ok(read) = read {
                return Poll::Ready(read.map(|count| into.advance(count)));
            }
        }
    }
}

impl AsyncWrite for Terminal {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_write_ready(cx))?;
            if let Ok(written) = guard.try_io(|fd| Ok(rustix::io::write(fd.as_fd(), bytes)?)) {
                return Poll::Ready(written);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
