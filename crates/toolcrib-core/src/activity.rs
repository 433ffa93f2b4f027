//! The stream of everything that happens: typed events with sequence numbers, for any number of subscribers.
//!
//! A call never waits for a subscriber: one that is slow loses its own events, and is told how many.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::error::ErrorCode;
use crate::permission::ConfirmRequest;

/// The type of an event, to subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventType {
    /// A call begins.
    ToolCallStart,
    /// A piece of output of a running call.
    ToolOutputChunk,
    /// How far a running call is.
    ToolProgress,
    /// A person is asked.
    PermissionRequest,
    /// A call ended well.
    ToolCallEnd,
    /// A call ended badly.
    Error,
    /// Tools came or went.
    RegistryChanged,
}

/// What happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    /// A call begins.
    ToolCallStart {
        /// The arguments, long strings cut.
        arguments: Value,
    },
    /// A piece of output of a running call.
    ToolOutputChunk {
        /// `stdout`, `stderr` or another name.
        stream: String,
        /// The piece.
        chunk: String,
    },
    /// How far a running call is.
    ToolProgress {
        /// In words.
        message: String,
        /// Steps done.
        done: Option<u64>,
        /// Steps in all.
        total: Option<u64>,
    },
    /// A person is asked.
    PermissionRequest {
        /// The question.
        request: Box<ConfirmRequest>,
    },
    /// A call ended well.
    ToolCallEnd {
        /// The outcome's title.
        title: String,
        /// Time in the tool.
        execution_time_ms: f64,
        /// Size of the text.
        tokens: usize,
        /// Whether the text was cut.
        truncated: bool,
        /// How often the tool was run.
        attempts: u32,
    },
    /// A call ended badly.
    Error {
        /// The code from the table.
        code: ErrorCode,
        /// What went wrong.
        message: String,
        /// Time in the tool.
        execution_time_ms: f64,
        /// How often the tool was run.
        attempts: u32,
    },
    /// Tools came or went.
    RegistryChanged {
        /// Names that came.
        added: Vec<String>,
        /// Names that went.
        removed: Vec<String>,
    },
}

impl EventKind {
    /// The type, for subscriptions.
    pub fn event_type(&self) -> EventType {
        match self {
            Self::ToolCallStart { .. } => EventType::ToolCallStart,
            Self::ToolOutputChunk { .. } => EventType::ToolOutputChunk,
            Self::ToolProgress { .. } => EventType::ToolProgress,
            Self::PermissionRequest { .. } => EventType::PermissionRequest,
            Self::ToolCallEnd { .. } => EventType::ToolCallEnd,
            Self::Error { .. } => EventType::Error,
            Self::RegistryChanged { .. } => EventType::RegistryChanged,
        }
    }
}

/// One event.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// Position in the stream, without gaps.
    pub seq: u64,
    /// When, by the clock.
    pub at: jiff::Timestamp,
    /// The session.
    pub session: String,
    /// The call, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

struct Subscriber {
    wanted: Option<EventType>,
    sender: mpsc::Sender<Arc<Event>>,
    lost: Arc<AtomicU64>,
}

type Observer = Box<dyn Fn(&Event) + Send + Sync>;

#[derive(Default)]
struct Inner {
    // Taking the number and delivering happen under one lock, so that every subscriber sees events in order.
    next: Mutex<u64>,
    subscribers: RwLock<Vec<Subscriber>>,
    observers: RwLock<Vec<Observer>>,
}

/// The stream of everything that happens. Cheap to clone.
#[derive(Clone, Default)]
pub struct ActivityStream(Arc<Inner>);

/// How many events wait for a subscriber before it loses some.
const CAPACITY: usize = 1024;

impl ActivityStream {
    /// A stream without subscribers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Subscribes to one type of event.
    pub fn subscribe(&self, wanted: EventType) -> Subscription {
        self.add(Some(wanted), CAPACITY)
    }

    /// Subscribes to everything.
    pub fn subscribe_all(&self) -> Subscription {
        self.add(None, CAPACITY)
    }

    /// Subscribes to everything, with room for `capacity` waiting events.
    pub fn subscribe_with_capacity(&self, wanted: Option<EventType>, capacity: usize) -> Subscription {
        self.add(wanted, capacity.max(1))
    }

    /// Calls `observer` for every event, in order, before the call goes on: for logs that must not lose any. It must
    /// be quick, and must not emit or subscribe itself.
    pub fn observe(&self, observer: impl Fn(&Event) + Send + Sync + 'static) {
        self.0.observers.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(observer));
    }

    fn add(&self, wanted: Option<EventType>, capacity: usize) -> Subscription {
        let (sender, receiver) = mpsc::channel(capacity);
        let lost = Arc::new(AtomicU64::new(0));
        let subscriber = Subscriber { wanted, sender, lost: Arc::clone(&lost) };
        self.0.subscribers.write().unwrap_or_else(PoisonError::into_inner).push(subscriber);
        Subscription { receiver, lost }
    }

    /// Emits an event. `kind` is only built if somebody listens; the number is taken in any case.
    pub fn emit(
        &self,
        session: &str,
        call_id: Option<&str>,
        tool: Option<&str>,
        kind: impl FnOnce() -> EventKind,
    ) {
        let mut next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner);
        let seq = *next;
        *next = seq.wrapping_add(1);
        let subscribers = self.0.subscribers.read().unwrap_or_else(PoisonError::into_inner);
        let observers = self.0.observers.read().unwrap_or_else(PoisonError::into_inner);
        if subscribers.is_empty() && observers.is_empty() {
            return;
        }
        let event = Arc::new(Event {
            seq,
            at: jiff::Timestamp::now(),
            session: session.to_owned(),
            call_id: call_id.map(str::to_owned),
            tool: tool.map(str::to_owned),
            kind: kind(),
        });
        for observer in observers.iter() {
            observer(&event);
        }
        let gone = deliver(&subscribers, &event);
        drop(subscribers);
        if gone {
            let mut subscribers = self.0.subscribers.write().unwrap_or_else(PoisonError::into_inner);
            subscribers.retain(|subscriber| !subscriber.sender.is_closed());
        }
    }
}

/// Hands the event to everyone who wants it; says whether somebody has left.
fn deliver(subscribers: &[Subscriber], event: &Arc<Event>) -> bool {
    let mut gone = false;
    for subscriber in subscribers {
        if subscriber.wanted.is_some_and(|wanted| wanted != event.kind.event_type()) {
            continue;
        }
        match subscriber.sender.try_send(Arc::clone(event)) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(_)) => {
                subscriber.lost.fetch_add(1, Ordering::Relaxed);
            }
            Err(mpsc::error::TrySendError::Closed(_)) => gone = true,
        }
    }
    gone
}

/// A subscription. Dropping it ends it.
pub struct Subscription {
    receiver: mpsc::Receiver<Arc<Event>>,
    lost: Arc<AtomicU64>,
}

impl Subscription {
    /// The next event; `None` when the stream is gone.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        self.receiver.recv().await
    }

    /// The next event if one is waiting.
    pub fn try_next(&mut self) -> Option<Arc<Event>> {
        self.receiver.try_recv().ok()
    }

    /// How many events this subscriber lost since it last asked, because it was too slow.
    pub fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(stream: &ActivityStream, message: &str) {
        let message = message.to_owned();
        stream.emit("s", None, None, || EventKind::ToolProgress { message, done: None, total: None });
    }

    #[test]
    fn typed_and_wildcard_subscribers_see_the_same_order() {
        let stream = ActivityStream::new();
        let mut all = stream.subscribe_all();
        let mut typed = stream.subscribe(EventType::RegistryChanged);
        progress(&stream, "a");
        stream.emit("s", None, None, || EventKind::RegistryChanged { added: vec![], removed: vec![] });
        assert_eq!([all.try_next().unwrap().seq, all.try_next().unwrap().seq], [0, 1]);
        assert_eq!(typed.try_next().unwrap().seq, 1);
        assert!(typed.try_next().is_none());
    }

    #[test]
    fn a_slow_subscriber_loses_its_own_events_and_is_told() {
        let stream = ActivityStream::new();
        let mut slow = stream.subscribe_with_capacity(None, 2);
        let mut fast = stream.subscribe_all();
        for _ in 0..5 {
            progress(&stream, "x");
        }
        assert_eq!(slow.take_lost(), 3);
        assert_eq!(slow.take_lost(), 0);
        assert_eq!(std::iter::from_fn(|| slow.try_next()).count(), 2);
        assert_eq!(std::iter::from_fn(|| fast.try_next()).count(), 5);
    }

    #[test]
    fn a_subscriber_that_left_is_forgotten() {
        let stream = ActivityStream::new();
        drop(stream.subscribe_all());
        progress(&stream, "x");
        assert!(stream.0.subscribers.read().unwrap().is_empty());
    }
}
