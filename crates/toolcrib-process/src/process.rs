//! A running command, seen from the program: its output as it comes, its input, its end.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant as Clock, timeout};

use crate::Level;
use crate::output::{Capture, Piece, Spill};

/// How long output may still come once the command and everything it started are gone.
const DRAIN: Duration = Duration::from_millis(500);
/// How long input may wait for a process that does not read.
const INPUT: Duration = Duration::from_secs(2);

/// Where input goes.
pub(crate) type Sink = Box<dyn AsyncWrite + Send + Unpin>;
/// Where output comes from.
pub(crate) type Source = Box<dyn AsyncRead + Send + Unpin>;

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
    put_back: Vec<PathBuf>,
}

struct Inner {
    state: Mutex<State>,
    /// Counts what happens, so that one can wait for more.
    changes: watch::Sender<u64>,
    stdin: tokio::sync::Mutex<Option<Sink>>,
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
pub(crate) struct Streams {
    pub stdin: Option<Sink>,
    pub stdout: Source,
    /// `None` where both streams are one.
    pub stderr: Option<Source>,
}

/// The side of a process that brings about its end and tells of it.
pub(crate) struct Charge {
    inner: Arc<Inner>,
    /// What the caller asks: to stop; or nothing any more, when nobody holds the process.
    pub asked: mpsc::UnboundedReceiver<()>,
    readers: Vec<JoinHandle<()>>,
}

impl Charge {
    /// Notes that the time was up.
    pub(crate) fn time_is_up(&self) {
        self.inner.state().timed_out = true;
    }

    /// Notes what was found after the end.
    pub(crate) fn found(&self, left_over: usize, put_back: Vec<PathBuf>) {
        let mut state = self.inner.state();
        state.left_over = left_over;
        state.put_back = put_back;
    }

    /// Lets the last output come in, then says that it is over.
    pub(crate) async fn finish(mut self, end: End) {
        let until = Clock::now() + DRAIN;
        for mut reader in std::mem::take(&mut self.readers) {
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
    (stdout.total() == 0 && said.starts_with("bwrap: ")).then(|| match said.contains("bwrap: execvp") {
        true => "it may not be executed".to_owned(),
        false => format!("the sandbox failed: {}", said.trim_end()),
    })
}

impl Process {
    /// A process with these streams, and the charge to see it to its end.
    pub(crate) fn new(streams: Streams, level: Level, spill: [Option<Spill>; 2]) -> (Self, Charge) {
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
            stdin: tokio::sync::Mutex::new(streams.stdin),
            started: Instant::now(),
            level,
        });
        let mut readers = vec![tokio::spawn(read(Arc::clone(&inner), 0, streams.stdout))];
        match streams.stderr {
            Some(stderr) => readers.push(tokio::spawn(read(Arc::clone(&inner), 1, stderr))),
            None => inner.state().streams.iter_mut().skip(1).for_each(Capture::end),
        }
        let (stop, asked) = mpsc::unbounded_channel();
        (Self { inner: Arc::clone(&inner), stop }, Charge { inner, asked, readers })
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
    pub fn put_back(&self) -> Vec<PathBuf> {
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
        let Some(open) = stdin.as_mut() else {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "its input is closed"));
        };
        let given = async {
            open.write_all(bytes).await?;
            open.flush().await
        };
        let written = match timeout(INPUT, given).await {
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

async fn read(inner: Arc<Inner>, stream: usize, mut from: Source) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer).await {
            // A terminal whose other side is closed says that with an error.
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
