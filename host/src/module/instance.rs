//! One instance of a policy module: a store with its limits, and typed calls into it.

use wasmtime::{Store, Trap, UpdateDeadline};

use super::LoadError;
use super::contract::{Policy, PolicyPre, wit};
use super::engine::Engine;
use super::fault::{Fault, causes};
use super::limits::{Guard, Limits};

/// An instance. After a fault it is broken and must be dropped.
pub(crate) struct Instance {
    store: Store<Guard>,
    policy: Policy,
    deadline: u64,
}

impl Instance {
    /// Whether every export has the contract's types. The names alone were looked at before.
    pub fn check_types(engine: &Engine, pre: &PolicyPre<Guard>, limits: &Limits) -> Result<(), LoadError> {
        let (mut store, _) = store(engine, limits);
        let instance = pre.instance_pre().instantiate(&mut store);
        let instance = instance.map_err(|error| LoadError::Undescribed(Fault::of_start(&error, store.data())))?;
        Policy::new(&mut store, &instance).map(drop).map_err(|error| LoadError::WrongType(causes(&error)))
    }

    pub fn start(engine: &Engine, pre: &PolicyPre<Guard>, limits: &Limits) -> Result<Self, Fault> {
        let (mut store, deadline) = store(engine, limits);
        let policy = pre.instantiate(&mut store).map_err(|error| Fault::of_start(&error, store.data()))?;
        store.data_mut().made();
        Ok(Self { store, policy, deadline })
    }

    /// Whether it has taken so much memory that the next call gets a better one.
    pub fn is_worn(&self) -> bool {
        self.store.data().is_worn()
    }

    pub fn describe(&mut self) -> Result<wit::Description, Fault> {
        self.call(|decisions, store| decisions.call_describe(store))
    }

    pub fn configure(&mut self, settings: &str) -> Result<wit::Configuration, Fault> {
        self.call(|decisions, store| decisions.call_configure(store, settings))
    }

    pub fn admit_tools(&mut self, tools: &[wit::ToolDefinition]) -> Result<Vec<wit::Admission>, Fault> {
        self.call(|decisions, store| decisions.call_admit_tools(store, tools))
    }

    pub fn should_defer_all(
        &mut self,
        tools: &[wit::ToolDefinition],
        totals: wit::CatalogueTotals,
    ) -> Result<Vec<wit::Deferral>, Fault> {
        self.call(|decisions, store| decisions.call_should_defer_all(store, tools, totals))
    }

    pub fn is_approval_gated(&mut self, invocation: wit::Invocation) -> Result<wit::Gate, Fault> {
        self.call(|decisions, store| decisions.call_is_approval_gated(store, invocation))
    }

    pub fn classify_cwd(
        &mut self,
        given: wit::Argument,
        workspace: wit::Workspace,
        facts: wit::CwdFacts,
        explain: bool,
    ) -> Result<wit::CwdAnswer, Fault> {
        self.call(|decisions, store| decisions.call_classify_cwd(store, given, workspace, facts, explain))
    }

    /// Every call has the whole deadline to itself.
    fn call<T>(&mut self, ask: impl FnOnce(&wit::Guest, &mut Store<Guard>) -> wasmtime::Result<T>) -> Result<T, Fault> {
        self.store.data_mut().begin();
        self.store.set_epoch_deadline(self.deadline);
        ask(self.policy.toolwarden_policy_decisions(), &mut self.store)
            .map_err(|error| Fault::of_call(&error, self.store.data()))
    }
}

/// A store with all its limits, and the deadline of each call in epochs.
fn store(engine: &Engine, limits: &Limits) -> (Store<Guard>, u64) {
    let mut store = Store::new(engine.wasmtime(), Guard::new(limits));
    store.limiter(|guard| guard);
    store.set_hostcall_fuel(limits.answer);
    let deadline = Engine::epochs(limits.deadline);
    store.epoch_deadline_callback(move |mut store| {
        // One tick at a time from here on, so that the end is met closely.
        if store.data_mut().has_time() { Ok(UpdateDeadline::Continue(1)) } else { Err(Trap::Interrupt.into()) }
    });
    store.set_epoch_deadline(deadline);
    (store, deadline)
}
