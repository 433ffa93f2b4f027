//! What the program and its supervisor say to each other.
//!
//! Two sockets: one to the supervisor, over which each call hands over four descriptors; and one for each call, a
//! stream with the job first (length and JSON), then `STOP`, and back a JSON line an event. Its end is the signal that
//! the program is gone, whatever ended it.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::{Deserialize, Serialize};

use crate::Limits;
use crate::platform::sandbox::Confinement;

/// The byte by which the program asks for an orderly end.
pub(crate) const STOP: u8 = b's';

/// What a supervisor must do for one call.
#[derive(Serialize, Deserialize)]
pub(crate) struct Job {
    pub program: String,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    /// Whether the three streams are a terminal that becomes the controlling one.
    pub terminal: bool,
    pub limits: Limits,
    /// How long a process may take to end by itself once it is told to.
    pub grace_ms: u64,
    pub confinement: Confinement,
}

/// What a supervisor says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// The command runs; this is the supervisor's process.
    Started { supervisor: i32 },
    /// It could not be started.
    Failed { what: String },
    /// It ended, and nothing of it is left.
    Exited { code: Option<i32>, signal: Option<i32>, left_over: usize, put_back: Vec<PathBuf> },
}

/// The descriptors of a call: its stream, and what the command gets as stdin, stdout and stderr.
pub(crate) struct Handover {
    pub control: OwnedFd,
    pub stdio: [OwnedFd; 3],
}

const FDS: usize = 4;

pub(crate) fn send(socket: BorrowedFd<'_>, fds: [BorrowedFd<'_>; FDS]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(b"r")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next call; `None` when the program is gone.
pub(crate) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<Handover>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let got = rustix::net::recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    if got.bytes == 0 {
        return Ok(None);
    }
    let mut fds = Vec::with_capacity(FDS);
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    let mut fds = fds.into_iter();
    match (fds.next(), fds.next(), fds.next(), fds.next()) {
        (Some(control), Some(stdin), Some(stdout), Some(stderr)) => {
            Ok(Some(Handover { control, stdio: [stdin, stdout, stderr] }))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// A job is never larger than what fits into a command's arguments and environment.
const MAX_JOB: usize = 16 << 20;

pub(crate) fn encode(job: &Job) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, job)?;
    let length = u32::try_from(bytes.len().saturating_sub(4)).map_err(|_| io::ErrorKind::InvalidInput)?;
    if length as usize > MAX_JOB {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is too long"));
    }
    for (to, from) in bytes.iter_mut().zip(length.to_le_bytes()) {
        *to = from;
    }
    Ok(bytes)
}

pub(crate) fn read_job(mut from: impl Read) -> io::Result<Job> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_JOB {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Says it, if anybody still listens.
pub(crate) fn tell(control: impl AsFd, event: &Event) {
    let Ok(mut line) = serde_json::to_vec(event) else { return };
    line.push(b'\n');
    let mut stream = Quiet(control);
    let _ = stream.write_all(&line);
}

/// A socket whose closed other end is an error and not a signal.
struct Quiet<F>(F);

impl<F: AsFd> Write for Quiet<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(&self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
