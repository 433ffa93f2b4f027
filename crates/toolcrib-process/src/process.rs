//! A running command, seen from the program: its output as it comes, its input, its end.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant as Clock, sleep_until, timeout};

use crate::Level;
use crate::output::{Capture, Piece, Spill};
use crate::supervisor::tree;
use crate::supervisor::wire::{self, Event};

/// How long output may still come once the command and everything it started are gone.
const DRAIN: Duration = Duration::from_millis(500);
/// How long a supervisor may take beyond the grace that it gives.
const PATIENCE: Duration = Duration::from_millis(1200);
/// How long input may wait for a process that does not read.
const INPUT: Duration = Duration::from_secs(2);

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It ran.
    Exited {
        /// Its exit code; 128 and the signal's number if it was killed by one.
        code: i32,
    },
    /// It never ran; in words.
    Failed(String),
    /// Its supervisor was killed, so nobody knows.
    Lost,
}

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output; also everything that comes from a terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a process has printed.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Standard output.
    pub stdout: Piece,
    /// Standard error.
    pub stderr: Piece,
}

struct State {
    streams: [Capture; 2],
    /// How far the caller has read.
    read: [u64; 2],
    end: Option<End>,
    took: Option<Duration>,
    timed_out: bool,
    left_over: usize,
    put_back: Vec<std::path::PathBuf>,
}

struct Inner {
    state: Mutex<State>,
    /// Counts what happens, so that one can wait for more.
    changes: watch::Sender<u64>,
    stdin: tokio::sync::Mutex<Option<AsyncFd<OwnedFd>>>,
    started: Instant,
    level: Level,
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

/// A command that runs or has run. Cheap to clone; when the last one is dropped, the command ends.
#[derive(Clone)]
pub struct Process {
    inner: Arc<Inner>,
    stop: mpsc::UnboundedSender<()>,
}

/// What a process is made of.
pub(crate) struct Parts {
    pub control: std::os::unix::net::UnixStream,
    /// What is still to be written of the job.
    pub job: Vec<u8>,
    pub stdin: Option<OwnedFd>,
    pub stdout: OwnedFd,
    pub stderr: Option<OwnedFd>,
    pub level: Level,
    pub timeout: Option<Duration>,
    pub grace: Duration,
    pub spill: [Option<Spill>; 2],
}

impl Process {
    /// Takes charge of a call that was handed to the supervisor, and waits until its command runs.
    pub(crate) async fn begin(parts: Parts) -> io::Result<Self> {
        let Parts { control, job, stdin, stdout, stderr, level, timeout, grace, spill } = parts;
        let (reader, writer) = UnixStream::from_std(control)?.into_split();
        let inner = Arc::new(Inner {
            state: Mutex::new(State {
                streams: spill.map(Capture::new),
                read: [0, 0],
                end: None,
                took: None,
                timed_out: false,
                left_over: 0,
                put_back: Vec::new(),
            }),
            changes: watch::Sender::new(0),
            stdin: tokio::sync::Mutex::new(stdin.map(asynchronous).transpose()?),
            started: Instant::now(),
            level,
        });
        let mut readers = vec![tokio::spawn(read(Arc::clone(&inner), 0, asynchronous(stdout)?))];
        match stderr {
            Some(stderr) => readers.push(tokio::spawn(read(Arc::clone(&inner), 1, asynchronous(stderr)?))),
            None => inner.state().streams.iter_mut().skip(1).for_each(Capture::end),
        }
        let (stop, asked) = mpsc::unbounded_channel();
        let deadline = timeout.and_then(|time| Clock::now().checked_add(time));
        let driver =
            Driver { inner: Arc::clone(&inner), writer, asked, deadline, grace, readers, supervisor: None };
        let (started, told) = tokio::sync::oneshot::channel();
        tokio::spawn(driver.run(BufReader::new(reader).lines(), job, started));
        let _ = told.await;
        Ok(Self { inner, stop })
    }

    /// The level at which it is confined.
    pub fn level(&self) -> Level {
        self.inner.level
    }

    /// How it ended; `None` while it runs.
    pub fn end(&self) -> Option<End> {
        self.inner.state().end.clone()
    }

    /// How long it has been running, or ran.
    pub fn duration(&self) -> Duration {
        self.inner.state().took.unwrap_or_else(|| self.inner.started.elapsed())
    }

    /// Whether it was stopped because its time was up.
    pub fn timed_out(&self) -> bool {
        self.inner.state().timed_out
    }

    /// How many processes it had left behind, which were ended with it.
    pub fn left_over(&self) -> usize {
        self.inner.state().left_over
    }

    /// Protected paths that had changed while it ran and were put back.
    pub fn put_back(&self) -> Vec<std::path::PathBuf> {
        self.inner.state().put_back.clone()
    }

    /// Everything it printed, as far as it is kept.
    pub fn output(&self) -> Output {
        let state = self.inner.state();
        let [stdout, stderr] = &state.streams;
        Output { stdout: stdout.whole(), stderr: stderr.whole() }
    }

    /// What it printed since the last time this was called.
    pub fn new_output(&self) -> Output {
        let mut state = self.inner.state();
        let [out, err] = &state.streams;
        let [from_out, from_err] = state.read;
        let ((stdout, to_out), (stderr, to_err)) = (out.since(from_out), err.since(from_err));
        state.read = [to_out, to_err];
        Output { stdout, stderr }
    }

    /// What came on a stream since `from`, and where the next piece begins: for watching without taking anything
    /// from [`Process::new_output`].
    pub fn since(&self, stream: Stream, from: u64) -> (Piece, u64) {
        let state = self.inner.state();
        let [stdout, stderr] = &state.streams;
        if stream == Stream::Stdout { stdout.since(from) } else { stderr.since(from) }
    }

    /// How many bytes came on a stream.
    pub fn total(&self, stream: Stream) -> u64 {
        let state = self.inner.state();
        let [stdout, stderr] = &state.streams;
        if stream == Stream::Stdout { stdout.total() } else { stderr.total() }
    }

    /// How many bytes came since [`Process::new_output`] was called last.
    pub fn unread(&self) -> u64 {
        let state = self.inner.state();
        state.streams.iter().zip(state.read).map(|(stream, read)| stream.total().saturating_sub(read)).sum()
    }

    /// Where the whole of a stream is kept that was too long for memory, and how many bytes of it.
    pub fn spilled(&self, stream: Stream) -> Option<(String, u64)> {
        let state = self.inner.state();
        let [stdout, stderr] = &state.streams;
        let capture = if stream == Stream::Stdout { stdout } else { stderr };
        capture.spilled().map(|(name, bytes)| (name.to_owned(), bytes))
    }

    /// Waits for the end.
    pub async fn wait(&self) -> End {
        let mut changes = self.inner.changes.subscribe();
        loop {
            if let Some(end) = self.end() {
                return end;
            }
            if changes.changed().await.is_err() {
                return End::Lost;
            }
        }
    }

    /// A count that changes whenever there is more output, or the end.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Whether something can be typed.
    pub async fn has_input(&self) -> bool {
        self.inner.stdin.lock().await.is_some()
    }

    /// Gives it input, and closes its input if `last`.
    pub async fn input(&self, bytes: &[u8], last: bool) -> io::Result<()> {
        let mut stdin = self.inner.stdin.lock().await;
        let Some(open) = stdin.as_ref() else {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "its input is closed"));
        };
        let written = match timeout(INPUT, write_all(open, bytes)).await {
            Ok(result) => result,
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "it does not read its input")),
        };
        let broken = written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        if last || broken {
            *stdin = None;
        }
        written
    }

    /// Tells it to end, and waits until nothing of it is left.
    pub async fn stop(&self) -> End {
        let _ = self.stop.send(());
        self.wait().await
    }
}

#[allow(unsafe_code, reason = "tokio trusts the caller that a type always names the same descriptor")]
fn asynchronous(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    // SAFETY: an `OwnedFd` is one descriptor from its creation until it is dropped.
    Ok(unsafe { AsyncFd::register(fd) }?)
}

async fn write_all(fd: &AsyncFd<OwnedFd>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut ready = fd.writable().await?;
        if let Ok(written) = ready.try_io(|fd| Ok(rustix::io::write(fd.as_fd(), bytes)?)) {
            bytes = bytes.get(written?..).unwrap_or_default();
        }
    }
    Ok(())
}

async fn read(inner: Arc<Inner>, stream: usize, fd: AsyncFd<OwnedFd>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let Ok(mut ready) = fd.readable().await else { break };
        let Ok(read) = ready.try_io(|fd| Ok(rustix::io::read(fd.as_fd(), &mut buffer)?)) else { continue };
        match read {
            // A terminal whose other side is closed says EIO.
            Ok(0) | Err(_) => break,
            Ok(count) => {
                if let Some(capture) = inner.state().streams.get_mut(stream) {
                    capture.push(buffer.get(..count).unwrap_or_default());
                }
                inner.changed();
                // A command that prints without end must not keep the others from their turn.
                tokio::task::yield_now().await;
            }
        }
    }
    if let Some(capture) = inner.state().streams.get_mut(stream) {
        capture.end();
    }
    inner.changed();
}

/// Talks to the supervisor of one call.
struct Driver {
    inner: Arc<Inner>,
    writer: OwnedWriteHalf,
    asked: mpsc::UnboundedReceiver<()>,
    deadline: Option<Clock>,
    grace: Duration,
    readers: Vec<JoinHandle<()>>,
    supervisor: Option<Pid>,
}

type Events = Lines<BufReader<OwnedReadHalf>>;

impl Driver {
    async fn run(mut self, mut events: Events, job: Vec<u8>, started: tokio::sync::oneshot::Sender<()>) {
        let mut started = Some(started);
        let end = if self.writer.write_all(&job).await.is_err() {
            End::Failed("the supervisor did not take the command".into())
        } else {
            self.follow(&mut events, &mut started).await
        };
        self.finish(end).await;
        drop(started);
    }

    /// Waits for the end; passes on what the caller and the clock say.
    async fn follow(
        &mut self,
        events: &mut Events,
        started: &mut Option<tokio::sync::oneshot::Sender<()>>,
    ) -> End {
        let mut stopping = false;
        loop {
            let deadline = self.deadline;
            let due = async move {
                match deadline {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.next_line() => match self.understand(event, started) {
                    Some(end) => return end,
                    None => continue,
                },
                asked = self.asked.recv(), if !stopping => {
                    if asked.is_none() {
                        // Nobody holds the process any more: closing our side ends it at once.
                        let _ = self.writer.shutdown().await;
                    }
                }
                () = due => {
                    if stopping {
                        return self.force();
                    }
                    self.inner.state().timed_out = true;
                }
            }
            stopping = true;
            let _ = self.writer.write_all(&[wire::STOP]).await;
            self.deadline = Clock::now().checked_add(self.grace + PATIENCE);
        }
    }

    fn understand(
        &mut self,
        event: io::Result<Option<String>>,
        started: &mut Option<tokio::sync::oneshot::Sender<()>>,
    ) -> Option<End> {
        let Ok(Some(line)) = event else {
            return Some(if started.is_some() {
                End::Failed("no process could be started: the machine's limits are reached".into())
            } else {
                End::Lost
            });
        };
        match serde_json::from_str(&line) {
            Ok(Event::Started { supervisor }) => {
                self.supervisor = Pid::from_raw(supervisor);
                drop(started.take());
                None
            }
            Ok(Event::Failed { what }) => Some(End::Failed(what)),
            Ok(Event::Exited { code, signal, left_over, put_back }) => {
                let mut state = self.inner.state();
                state.left_over = left_over;
                state.put_back = put_back;
                Some(End::Exited { code: code.unwrap_or_else(|| 128 + signal.unwrap_or(0)) })
            }
            Err(_) => Some(End::Lost),
        }
    }

    /// Ends what the supervisor could not, or would not.
    fn force(&self) -> End {
        if let Some(supervisor) = self.supervisor {
            let _ = rustix::process::kill_process(supervisor, Signal::STOP);
            tree::kill_all(supervisor);
            let _ = rustix::process::kill_process(supervisor, Signal::KILL);
        }
        End::Exited { code: 128 + Signal::KILL.as_raw() }
    }

    /// Lets the last output come in, then says that it is over.
    async fn finish(mut self, end: End) {
        let readers = std::mem::take(&mut self.readers);
        let until = Clock::now() + DRAIN;
        for mut reader in readers {
            if tokio::time::timeout_at(until, &mut reader).await.is_err() {
                reader.abort();
            }
        }
        let mut state = self.inner.state();
        let failed = match &end {
            End::Exited { code: 1 } if self.inner.level == Level::Full => sandbox_failure(&state),
            _ => None,
        };
        state.streams.iter_mut().for_each(Capture::end);
        state.end = Some(failed.map_or(end, End::Failed));
        state.took = Some(self.inner.started.elapsed());
        drop(state);
        self.inner.changed();
    }
}

/// What bubblewrap said if it was it that failed, and not the command.
fn sandbox_failure(state: &State) -> Option<String> {
    let [stdout, stderr] = &state.streams;
    let said = stderr.whole().text();
    (stdout.total() == 0 && said.starts_with("bwrap: "))
        .then(|| format!("the sandbox failed: {}", said.trim_end()))
}
