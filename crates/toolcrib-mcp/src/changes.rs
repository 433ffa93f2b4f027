//! Who is told when the list of tools changes.

use std::sync::Arc;

use tokio::sync::watch;
use toolcrib_core::Registry;

/// How often each list has changed. A client that is slow to be told hears once of several changes.
#[derive(Clone)]
pub(crate) struct Changes {
    tools: Arc<watch::Sender<u64>>,
    prompts: Arc<watch::Sender<u64>>,
}

impl Changes {
    /// Follows the registry, as long as somebody listens.
    pub(crate) fn of(registry: &Registry) -> Self {
        let changes =
            Self { tools: Arc::new(watch::Sender::new(0)), prompts: Arc::new(watch::Sender::new(0)) };
        let tools = Arc::downgrade(&changes.tools);
        registry.on_change(move |_| {
            if let Some(tools) = tools.upgrade() {
                tools.send_modify(|count| *count += 1);
            }
        });
        changes
    }

    pub(crate) fn prompts_changed(&self) {
        self.prompts.send_modify(|count| *count += 1);
    }

    /// From now on.
    pub(crate) fn seen(&self) -> Seen {
        Seen { tools: self.tools.subscribe(), prompts: self.prompts.subscribe() }
    }
}

/// How far a client has been told. A clone is as far.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) tools: watch::Receiver<u64>,
    pub(crate) prompts: watch::Receiver<u64>,
}
