//! Stage 7: which calls may run at the same time.
//!
//! First come, first served: a call waits for exactly those earlier calls whose effects conflict with its own. So
//! reads run in parallel, writes to one path never do, and calls that don't overlap never wait for each other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Executor;
use super::call::Call;
use crate::effects::Effects;
use crate::error::ToolError;

#[derive(Default)]
pub(super) struct Gate(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    next: u64,
    // In order of arrival; a ticket stays until its call is over.
    tickets: Vec<Ticket>,
}

struct Ticket {
    id: u64,
    effects: Effects,
    running: bool,
    wake: Arc<Notify>,
}

/// Leaves the gate when it is dropped.
pub(super) struct Permit {
    queue: Arc<Mutex<Queue>>,
    id: u64,
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) async fn enter(executor: &Executor, call: &Call) -> Result<Permit, ToolError> {
    let (permit, wait) = executor.0.gate.arrive(call.effects.clone());
    if let Some(wake) = wait {
        tokio::select! {
            () = wake.notified() => {}
            () = call.cancel.cancelled() => return Err(super::run::cancelled()),
            () = executor.0.shutdown.cancelled() => return Err(super::run::cancelled()),
        }
    }
    Ok(permit)
}

impl Gate {
    /// Takes a place in the queue; the second part is what to wait for, if anything.
    fn arrive(&self, effects: Effects) -> (Permit, Option<Arc<Notify>>) {
        let mut queue = locked(&self.0);
        let id = queue.next;
        queue.next += 1;
        let running = !queue.tickets.iter().any(|earlier| earlier.effects.conflicts(&effects));
        let wake = Arc::new(Notify::new());
        queue.tickets.push(Ticket { id, effects, running, wake: Arc::clone(&wake) });
        (Permit { queue: Arc::clone(&self.0), id }, (!running).then_some(wake))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut queue = locked(&self.queue);
        queue.tickets.retain(|ticket| ticket.id != self.id);
        let mut free = Vec::new();
        for (index, ticket) in queue.tickets.iter().enumerate() {
            let mut earlier = queue.tickets.iter().take(index);
            if !ticket.running && !earlier.any(|earlier| earlier.effects.conflicts(&ticket.effects)) {
                free.push(ticket.id);
            }
        }
        for ticket in queue.tickets.iter_mut().filter(|ticket| free.contains(&ticket.id)) {
            ticket.running = true;
            ticket.wake.notify_one();
        }
    }
}
