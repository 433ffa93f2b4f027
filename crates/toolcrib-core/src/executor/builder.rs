//! What an executor is made of.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Executor;
use super::bound::SpillStore;
use super::gate::Gate;
use super::hooks::Hook;
use crate::activity::{ActivityStream, EventKind};
use crate::permission::{Approver, GrantStore, PathResolver, Policy, PolicyMode, RulePolicy};
use crate::profile::{BoundProfile, Profile};
use crate::registry::Registry;
use crate::services::Services;
use crate::stats::Stats;

/// The bounds that hold for every call.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The cap of a call's text in tokens.
    pub max_output_tokens: usize,
    /// The longest time that a caller may allow.
    pub max_timeout: Duration,
    /// How often a call may be run in all.
    pub max_attempts: u32,
    /// The wait before the first retry; it doubles each time.
    pub backoff: Duration,
    /// How long a tool that changes things gets to finish or to stop after a cancel.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_output_tokens: 10_000,
            max_timeout: Duration::from_secs(600),
            max_attempts: 3,
            backoff: Duration::from_millis(100),
            grace: Duration::from_secs(2),
        }
    }
}

pub(super) struct Parts {
    pub registry: Arc<Registry>,
    pub profile: RwLock<Arc<BoundProfile>>,
    pub policy: Arc<dyn Policy>,
    pub approver: Option<Arc<dyn Approver>>,
    pub grants: Option<Arc<dyn GrantStore>>,
    pub paths: Option<Arc<dyn PathResolver>>,
    pub spill: Option<Arc<dyn SpillStore>>,
    pub hooks: Vec<Arc<dyn Hook>>,
    pub services: Arc<Services>,
    pub activity: ActivityStream,
    pub stats: Stats,
    pub gate: Gate,
    pub limits: Limits,
    pub shutdown: CancellationToken,
}

/// Builds an [`Executor`]. Without further words it asks before every change and has nobody to ask: it only reads.
pub struct ExecutorBuilder {
    registry: Arc<Registry>,
    profile: Profile,
    policy: Arc<dyn Policy>,
    approver: Option<Arc<dyn Approver>>,
    grants: Option<Arc<dyn GrantStore>>,
    paths: Option<Arc<dyn PathResolver>>,
    spill: Option<Arc<dyn SpillStore>>,
    hooks: Vec<Arc<dyn Hook>>,
    services: Services,
    activity: ActivityStream,
    limits: Limits,
}

impl ExecutorBuilder {
    pub(super) fn new(registry: Arc<Registry>) -> Self {
        Self {
            registry,
            profile: Profile::everything(),
            policy: Arc::new(RulePolicy::new(PolicyMode::default())),
            approver: None,
            grants: None,
            paths: None,
            spill: None,
            hooks: Vec::new(),
            services: Services::new(),
            activity: ActivityStream::new(),
            limits: Limits::default(),
        }
    }

    /// Shows the tools by this profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Decides by this mode alone.
    #[must_use]
    pub fn policy_mode(self, mode: PolicyMode) -> Self {
        self.policy(Arc::new(RulePolicy::new(mode)))
    }

    /// Decides by this policy.
    #[must_use]
    pub fn policy(mut self, policy: Arc<dyn Policy>) -> Self {
        self.policy = policy;
        self
    }

    /// Asks this person.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Keeps grants for the project here. Without it, a grant reaches no further than the session.
    #[must_use]
    pub fn grants(mut self, grants: Arc<dyn GrantStore>) -> Self {
        self.grants = Some(grants);
        self
    }

    /// Resolves the paths of effects with this.
    #[must_use]
    pub fn paths(mut self, paths: Arc<dyn PathResolver>) -> Self {
        self.paths = Some(paths);
        self
    }

    /// Keeps outputs that are too long with this.
    #[must_use]
    pub fn spill(mut self, spill: Arc<dyn SpillStore>) -> Self {
        self.spill = Some(spill);
        self
    }

    /// Adds a hook; hooks run in the order they were added.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Offers these services to tools.
    #[must_use]
    pub fn services(mut self, services: Services) -> Self {
        self.services = services;
        self
    }

    /// Emits events here.
    #[must_use]
    pub fn activity(mut self, activity: ActivityStream) -> Self {
        self.activity = activity;
        self
    }

    /// Sets the bounds of every call.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Builds it. Fails with all that is wrong if the profile does not fit the registry.
    pub fn build(self) -> Result<Executor, Vec<String>> {
        let bound = Arc::new(self.profile.bind(&self.registry)?);
        let parts = Arc::new(Parts {
            registry: Arc::clone(&self.registry),
            profile: RwLock::new(bound),
            policy: self.policy,
            approver: self.approver,
            grants: self.grants,
            paths: self.paths,
            spill: self.spill,
            hooks: self.hooks,
            services: Arc::new(self.services),
            activity: self.activity,
            stats: Stats::default(),
            gate: Gate::default(),
            limits: self.limits,
            shutdown: CancellationToken::new(),
        });
        follow_registry(&self.registry, self.profile, &parts);
        Ok(Executor(parts))
    }
}

/// Shows new tools as soon as they are registered, and announces the change.
fn follow_registry(registry: &Arc<Registry>, profile: Profile, parts: &Arc<Parts>) {
    let (weak_registry, weak_parts) = (Arc::downgrade(registry), Arc::downgrade(parts));
    registry.on_change(move |change| {
        let (Some(registry), Some(parts)) = (weak_registry.upgrade(), weak_parts.upgrade()) else { return };
        // Bound under the lock: of two changes at once, the later view must win.
        let mut shown = parts.profile.write().unwrap_or_else(PoisonError::into_inner);
        match profile.bind(&registry) {
            Ok(bound) => *shown = Arc::new(bound),
            Err(wrong) => tracing::warn!(?wrong, "the profile no longer fits; the last good one stays"),
        }
        drop(shown);
        parts.activity.emit("", None, None, || EventKind::RegistryChanged {
            added: change.added.clone(),
            removed: change.removed.clone(),
        });
    });
}
