//! The program's side of one call: passes on what the caller and the clock say, and hears of the end.

use std::io;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::supervisor::tree;
use super::supervisor::wire::{self, Event};
use crate::process::{Charge, End};

/// How long a supervisor may take beyond the grace that it gives.
const PATIENCE: Duration = Duration::from_millis(1200);

/// Takes charge of a call that was handed to the supervisor, of whose job the rest is still to be written. Returns
/// when its command runs or is known not to.
pub(super) async fn begin(
    charge: Charge,
    control: std::os::unix::net::UnixStream,
    job: Vec<u8>,
    timeout: Option<Duration>,
    grace: Duration,
) -> io::Result<()> {
    let (reader, writer) = UnixStream::from_std(control)?.into_split();
    let deadline = timeout.and_then(|time| Instant::now().checked_add(time));
    let (started, told) = oneshot::channel();
    let driver = Driver { charge, writer, deadline, grace, supervisor: None, started: Some(started) };
    tokio::spawn(driver.run(BufReader::new(reader).lines(), job));
    let _ = told.await;
    Ok(())
}

struct Driver {
    charge: Charge,
    writer: OwnedWriteHalf,
    deadline: Option<Instant>,
    grace: Duration,
    supervisor: Option<Pid>,
    /// Dropped when the command runs or has failed to.
    started: Option<oneshot::Sender<()>>,
}

type Events = Lines<BufReader<OwnedReadHalf>>;

impl Driver {
    async fn run(mut self, mut events: Events, job: Vec<u8>) {
        let end = if self.writer.write_all(&job).await.is_err() {
            End::Failed("the supervisor did not take the command".into())
        } else {
            self.follow(&mut events).await
        };
        let started = self.started.take();
        self.charge.finish(end).await;
        drop(started);
    }

    async fn follow(&mut self, events: &mut Events) -> End {
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
                event = events.next_line() => match self.understand(event) {
                    Some(end) => return end,
                    None => continue,
                },
                asked = self.charge.asked.recv(), if !stopping => {
                    if asked.is_none() {
                        // Nobody holds the process any more: closing our side ends it at once.
                        let _ = self.writer.shutdown().await;
                    }
                }
                () = due => {
                    if stopping {
                        return self.force();
                    }
                    self.charge.time_is_up();
                }
            }
            stopping = true;
            let _ = self.writer.write_all(&[wire::STOP]).await;
            self.deadline = Instant::now().checked_add(self.grace + PATIENCE);
        }
    }

    fn understand(&mut self, event: io::Result<Option<String>>) -> Option<End> {
        let Ok(Some(line)) = event else {
            return Some(if self.started.is_some() {
                End::Failed("no process could be started: the machine's limits are reached".into())
            } else {
                End::Lost
            });
        };
        match serde_json::from_str(&line) {
            Ok(Event::Started { supervisor }) => {
                self.supervisor = Pid::from_raw(supervisor);
                drop(self.started.take());
                None
            }
            Ok(Event::Failed { what }) => Some(End::Failed(what)),
            Ok(Event::Exited { code, signal, left_over, put_back }) => {
                self.charge.found(left_over, put_back);
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
}
