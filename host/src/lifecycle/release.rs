//! What is, was or may come to be in force: a module under settings, with all that it takes to put it back.

use std::sync::Arc;

use super::candidate::{Budget, Candidate};
use super::refusal::{Check, Refusal};
use crate::invoke::{Judge, PolicyId};
use crate::module::{Component, Digest, Policy, PolicyModule};
use crate::registry::{Catalogue, Generation, Registry};
use crate::settings::Settings;

/// A module under settings, and the judge that it makes over a catalogue.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub settings: Settings,
    component: Arc<Component>,
    module: Arc<PolicyModule>,
    pub policy: Arc<PolicyId>,
}

impl Release {
    /// Makes a candidate's registry and judge.
    pub fn make(
        candidate: Candidate,
        catalogue: &Catalogue,
        context_window: u64,
        generation: Generation,
    ) -> Result<(Self, Judge), Refusal> {
        let Candidate { settings, component, module } = candidate;
        let registry = Registry::build(&*module, catalogue.clone(), context_window, generation).map_err(|error| {
            let message = format!("it gives no registry: {error}");
            Refusal::new(Check::Registry, "registry-failed", message).of(component.info().digest)
        })?;
        let judge = Judge::new(Arc::clone(&module) as Arc<dyn Policy>, Arc::new(registry), settings.floors);
        let policy = Arc::clone(judge.policy());
        Ok((Self { settings, component, module, policy }, judge))
    }

    /// The same module under the same settings once more.
    pub fn candidate(&self) -> Candidate {
        Candidate {
            settings: self.settings.clone(),
            component: Arc::clone(&self.component),
            module: Arc::clone(&self.module),
        }
    }

    /// The same module under other settings; it has to take them.
    pub fn under(&self, settings: Settings, budget: Budget) -> Result<Candidate, Refusal> {
        Candidate::configure(settings, Arc::clone(&self.component), budget)
    }

    /// Makes as many instances as another release has, so that the first calls after a swap are as fast as the last before.
    pub fn prepare_like(&self, other: &Self) {
        self.module.prepare(other.module.instances_alive());
    }

    /// The module's digest.
    pub fn digest(&self) -> Digest {
        self.component.info().digest
    }
}
