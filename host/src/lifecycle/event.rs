//! What happens to the policy in force.

use serde::Serialize;

use super::refusal::Refusal;
use super::trial::TrialReport;
use crate::invoke::PolicyId;

/// Why another policy came into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The module or the settings changed.
    Reload,
    /// The list of tools changed.
    Tools,
    /// Somebody called for the one before.
    Rollback,
    /// The module failed too often.
    Faults,
    /// A trial ended well, or somebody ended it.
    Promotion,
}

/// One thing that happened to the policy in force.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LifecycleEvent {
    /// Another policy is in force.
    ModuleSwapped {
        /// Why.
        cause: Cause,
        /// The one before.
        from: PolicyId,
        /// The one in force.
        to: PolicyId,
    },
    /// A candidate was refused; the one in force stays.
    ModuleRefused {
        /// Why.
        refusal: Refusal,
        /// The one in force.
        kept: PolicyId,
    },
    /// The module in force fails too often, and there is none before it to go back to. Its faults are denials.
    ModuleUnhealthy {
        /// The one in force.
        policy: PolicyId,
        /// Faults among the last hundred decisions at most.
        faults: u32,
    },
    /// A candidate judges beside the module in force from now on.
    TrialStarted {
        /// The candidate.
        candidate: PolicyId,
    },
    /// A candidate for trial was refused.
    TrialRefused {
        /// Why.
        refusal: Refusal,
    },
    /// A trial is over.
    TrialEnded {
        /// The candidate.
        candidate: PolicyId,
        /// What was found.
        report: TrialReport,
    },
}

/// Somebody who is told. It must not block.
pub trait LifecycleSink: Send + Sync {
    /// Something happened.
    fn on_event(&self, event: &LifecycleEvent);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLifecycleEvents;

impl LifecycleSink for NoLifecycleEvents {
    fn on_event(&self, _event: &LifecycleEvent) {}
}

impl<F: Fn(&LifecycleEvent) + Send + Sync> LifecycleSink for F {
    fn on_event(&self, event: &LifecycleEvent) {
        self(event);
    }
}
