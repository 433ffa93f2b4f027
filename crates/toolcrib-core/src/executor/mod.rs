//! Runs one call through all stages. The order of the stages stands in [`Executor::stages`]; each is a file.

mod authorise;
mod bound;
mod builder;
mod call;
mod dedup;
mod gate;
mod hooks;
mod prepare;
mod record;
pub mod repair;
mod resolve;
mod run;
pub mod validate;

use std::sync::{Arc, PoisonError};

pub use bound::SpillStore;
pub use builder::{ExecutorBuilder, Limits};
pub use call::{Arguments, CallRequest};
pub use hooks::{After, Before, Hook, HookCall};

use crate::activity::ActivityStream;
use crate::context::InitContext;
use crate::error::ToolError;
use crate::outcome::Outcome;
use crate::permission::PolicyMode;
use crate::profile::BoundProfile;
use crate::registry::Registry;
use crate::stats::Stats;
use crate::tool::ToolOutput;
use builder::Parts;
use call::Call;

/// Runs calls. Cheap to clone; everything that calls a tool goes through [`Executor::call`].
#[derive(Clone)]
pub struct Executor(Arc<Parts>);

impl Executor {
    /// An executor over `registry`.
    pub fn builder(registry: Arc<Registry>) -> ExecutorBuilder {
        ExecutorBuilder::new(registry)
    }

    /// Runs one call, and always returns an outcome: whatever goes wrong, a panic included, is an error in it.
    /// Dropping the future cancels the call.
    pub async fn call(&self, request: CallRequest) -> Outcome {
        let mut call = Call::begin(self, request);
        let result = run::caught(self.stages(&mut call)).await;
        // Rendering is the tool's code too.
        let rendered = match result {
            Ok(output) => run::caught(async { Ok(bound::success(self, &mut call, output)) }).await,
            Err(error) => Err(error),
        };
        let mut outcome = rendered.unwrap_or_else(|error| bound::failure(self, &mut call, &error));
        hooks::after(self, &call, &mut outcome).await;
        record::record(self, &mut call, &outcome);
        outcome
    }

    /// The stages of a call, in their order.
    async fn stages(&self, call: &mut Call) -> Result<ToolOutput, ToolError> {
        resolve::resolve(self, call)?;
        prepare::repair_and_validate(call)?;
        hooks::before(self, call).await?;
        let bound = prepare::bind(call)?;
        authorise::authorise(self, call, bound.as_ref()).await?;
        if call.dry_run {
            return authorise::dry_run(self, call, bound.as_ref()).await;
        }
        dedup::notice_loops(call);
        let _permit = gate::enter(self, call).await?;
        authorise::still_holds(self, call, bound.as_ref())?;
        run::run(self, call, bound).await
    }

    /// The tools that exist.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.0.registry
    }

    /// How they are shown.
    pub fn profile(&self) -> Arc<BoundProfile> {
        Arc::clone(&self.0.profile.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Everything that happens.
    pub fn activity(&self) -> &ActivityStream {
        &self.0.activity
    }

    /// Figures per tool.
    pub fn stats(&self) -> &Stats {
        &self.0.stats
    }

    /// The policy mode in force.
    pub fn policy_mode(&self) -> PolicyMode {
        self.0.policy.mode()
    }

    /// Initializes every tool; returns what failed.
    pub async fn initialize(&self) -> Vec<(String, ToolError)> {
        let cx = InitContext { services: Arc::clone(&self.0.services), settings: serde_json::Value::Null };
        self.0.registry.initialize_all(&cx).await
    }

    /// Cancels running calls and shuts every tool down.
    pub async fn shutdown(&self) {
        self.0.shutdown.cancel();
        self.0.registry.shutdown_all().await;
    }
}
