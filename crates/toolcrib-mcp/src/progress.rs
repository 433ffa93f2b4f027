//! From the activity of a call to the progress that its caller asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::mpsc;
use toolcrib_core::{ActivityStream, Event, EventKind};

/// How many steps wait to be sent; more are skipped.
const WAITING: usize = 64;
/// How often output of a running command is passed on.
const OUTPUT_EVERY: Duration = Duration::from_millis(100);
/// How much of a line of it.
const LINE_CHARS: usize = 200;

/// One step.
pub(crate) struct Step {
    message: String,
    done: Option<u64>,
    total: Option<u64>,
    output: bool,
}

/// The calls whose progress somebody wants, by call id.
#[derive(Clone, Default)]
pub(crate) struct Routes(Arc<Mutex<HashMap<String, mpsc::Sender<Step>>>>);

impl Routes {
    /// Listens to the activity. An observer, because a step must be on its way before the call's answer is.
    pub(crate) fn observe(&self, activity: &ActivityStream) {
        let routes = Arc::downgrade(&self.0);
        activity.observe(move |event| {
            if let Some(routes) = routes.upgrade() {
                pass_on(&routes, event);
            }
        });
    }

    /// Begins to listen for a call.
    pub(crate) fn open(&self, call_id: &str) -> Route {
        let (sender, steps) = mpsc::channel(WAITING);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call_id.to_owned(), sender);
        Route { routes: self.clone(), call_id: call_id.to_owned(), steps }
    }
}

fn pass_on(routes: &Mutex<HashMap<String, mpsc::Sender<Step>>>, event: &Event) {
    let step = match &event.kind {
        EventKind::ToolProgress { message, done, total } => {
            Step { message: message.clone(), done: *done, total: *total, output: false }
        }
        EventKind::ToolOutputChunk { chunk, .. } => {
            let line = chunk.lines().rev().find(|line| !line.trim().is_empty());
            let Some(line) = line else { return };
            let message = line.chars().take(LINE_CHARS).collect();
            Step { message, done: None, total: None, output: true }
        }
        _ => return,
    };
    let routes = routes.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = event.call_id.as_deref().and_then(|id| routes.get(id)) {
        let _ = sender.try_send(step);
    }
}

/// The steps of one call. Dropping it ends the listening.
pub(crate) struct Route {
    routes: Routes,
    call_id: String,
    pub(crate) steps: mpsc::Receiver<Step>,
}

impl Drop for Route {
    fn drop(&mut self) {
        self.routes.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.call_id);
    }
}

/// Tells the caller of steps, each further than the one before.
pub(crate) struct Reporter {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    last: f64,
    last_output: Option<Instant>,
}

impl Reporter {
    pub(crate) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> Self {
        Self { peer, token, last: -1.0, last_output: None }
    }

    pub(crate) async fn tell(&mut self, step: Step) {
        if step.output {
            if self.last_output.is_some_and(|at| at.elapsed() < OUTPUT_EVERY) {
                return;
            }
            self.last_output = Some(Instant::now());
        }
        // Counts of steps are far below the integers that a float holds exactly.
        #[allow(clippy::cast_precision_loss, reason = "see above")]
        let number = |count: u64| count as f64;
        let at = step.done.map_or(self.last + 1.0, number);
        // The protocol wants every report to be further than the last.
        if at <= self.last {
            return;
        }
        self.last = at;
        let mut report = ProgressNotificationParam::new(self.token.clone(), at).with_message(step.message);
        if let Some(total) = step.total {
            report = report.with_total(number(total));
        }
        let _ = self.peer.notify_progress(report).await;
    }
}
