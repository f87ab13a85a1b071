//! A module that took settings and can be asked.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use super::answer::{Admission, CwdAnswer, Deferral, Gate};
use super::component::{Component, ModuleInfo};
use super::contract::wit;
use super::engine;
use super::fault::Fault;
use super::instance::Instance;
use super::question::{Definition, Lists, Question, Totals, kind_of, path_fact, tool_definition, tool_ref};
use crate::call::{CwdFacts, Workspace, text_of};

/// One thing that a module finds wrong with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsIssue {
    /// JSON pointer to the place.
    pub pointer: String,
    /// What is wrong, naming the value.
    pub problem: String,
    /// What is allowed there.
    pub allowed: String,
}

impl fmt::Display for SettingsIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}; allowed: {}", self.pointer, self.problem, self.allowed)
    }
}

/// Why a module does not run under these settings.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ConfigureError {
    /// It does not take them.
    #[error("the policy module does not take the settings: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Rejected(Vec<SettingsIssue>),
    /// It failed while it read them.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Whoever decides: a [`PolicyModule`], or the same functions built natively, as tests and benchmarks have them. Whatever it
/// is, the host's floors lie beneath it.
pub trait Policy: fmt::Debug + Send + Sync {
    /// What decides.
    fn info(&self) -> &ModuleInfo;

    /// What a call comes to.
    ///
    /// # Errors
    ///
    /// [`Fault`]; whoever asks turns it into a denial.
    fn is_approval_gated(&self, question: &Question) -> Result<Gate, Fault>;

    /// Where a cwd lies. `given` is none where the call holds no cwd.
    ///
    /// # Errors
    ///
    /// [`Fault`]; whoever asks takes it for `invalid`.
    fn classify_cwd(
        &self,
        given: Option<&serde_json::Value>,
        workspace: &Workspace,
        facts: &CwdFacts,
        explain: bool,
    ) -> Result<CwdAnswer, Fault>;

    /// The gate at registry build. One answer a tool, in order.
    ///
    /// # Errors
    ///
    /// [`Fault`]; then no registry is published.
    fn admit_tools(&self, tools: &[Definition]) -> Result<Vec<Admission>, Fault>;

    /// What the model is shown. One answer a tool, in order.
    ///
    /// # Errors
    ///
    /// [`Fault`]; then no registry is published.
    fn should_defer_all(&self, tools: &[Definition], totals: Totals) -> Result<Vec<Deferral>, Fault>;
}

/// A module under settings: immutable, shared by all threads.
///
/// ```
/// use toolwarden::module::{Component, Limits, PolicyModule};
///
/// let component = Component::embedded(Limits::default()).unwrap();
/// assert_eq!(component.info().name, "toolwarden-default");
/// PolicyModule::new(component.into(), r#"{"system":{"toolApprovalMode":"dangerous"}}"#).unwrap();
/// ```
pub struct PolicyModule {
    component: Arc<Component>,
    settings: String,
    instances: Mutex<Instances>,
    freed: Condvar,
}

/// Configured instances that wait, and how many exist.
struct Instances {
    idle: Vec<Instance>,
    alive: u32,
    /// Threads that wait for one. Waking nobody would still be a system call.
    waiting: u32,
}

impl fmt::Debug for PolicyModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyModule").field("component", &self.component).finish_non_exhaustive()
    }
}

impl PolicyModule {
    /// A module under settings, given as JSON text. A first instance is made and configured at once, so that wrong settings
    /// show here and not at the first call.
    ///
    /// # Errors
    ///
    /// [`ConfigureError`].
    pub fn new(component: Arc<Component>, settings: &str) -> Result<Self, ConfigureError> {
        let first = configured(&component, settings)?;
        let idle = if component.is_pooled() { vec![first] } else { Vec::new() };
        let alive = u32::from(component.is_pooled());
        Ok(Self {
            component,
            settings: settings.into(),
            instances: Mutex::new(Instances { idle, alive, waiting: 0 }),
            freed: Condvar::new(),
        })
    }

    /// How many instances there are.
    #[must_use]
    pub fn instances_alive(&self) -> u32 {
        self.instances().alive
    }

    /// Makes instances beforehand, up to so many, so that calls that come at once need not wait for them. With `per-call`
    /// isolation nothing is kept, so nothing is made.
    pub fn prepare(&self, wanted: u32) {
        if !self.component.is_pooled() {
            return;
        }
        let alive = self.instances_alive();
        for _ in alive..wanted.min(engine::INSTANCES) {
            // Who cannot have one now makes one when it is needed, or says why not.
            let Ok(instance) = self.fresh() else { return };
            let mut instances = self.instances();
            if instances.alive >= engine::INSTANCES {
                return;
            }
            instances.alive += 1;
            instances.idle.push(instance);
        }
    }

    /// Lends an instance for one question. One that failed is dropped; with `per-call` isolation every one is.
    fn ask<T>(&self, question: impl FnOnce(&mut Instance) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut lease = self.lease()?;
        let Some(instance) = &mut lease.instance else { return Err(Fault::Unavailable("no instance".into())) };
        let answer = question(instance);
        lease.reusable = answer.is_ok() && self.component.is_pooled() && !instance.is_worn();
        answer
    }

    fn lease(&self) -> Result<Lease<'_>, Fault> {
        let mut instances = self.instances();
        loop {
            if let Some(instance) = instances.idle.pop() {
                return Ok(Lease { module: self, instance: Some(instance), reusable: false });
            }
            if instances.alive < engine::INSTANCES {
                instances.alive += 1;
                drop(instances);
                // From here on the lease counts the instance down again, whatever happens.
                let mut lease = Lease { module: self, instance: None, reusable: false };
                match self.fresh() {
                    Ok(instance) => {
                        lease.instance = Some(instance);
                        return Ok(lease);
                    }
                    // Other modules on this engine may have taken the last slot. Then one of our own has to do, if there is one.
                    Err(fault @ Fault::Unavailable(_)) => {
                        drop(lease);
                        instances = self.instances();
                        if instances.alive == 0 {
                            return Err(fault);
                        }
                        if !instances.idle.is_empty() {
                            continue;
                        }
                    }
                    Err(fault) => return Err(fault),
                }
            }
            instances.waiting += 1;
            instances = self.freed.wait(instances).unwrap_or_else(PoisonError::into_inner);
            instances.waiting -= 1;
        }
    }

    fn fresh(&self) -> Result<Instance, Fault> {
        configured(&self.component, &self.settings).map_err(|error| match error {
            ConfigureError::Fault(fault) => fault,
            ConfigureError::Rejected(_) => Fault::BadAnswer("settings that were taken before are rejected now".into()),
        })
    }

    fn instances(&self) -> MutexGuard<'_, Instances> {
        // Nothing panics while the lock is held; should it, the list is still whole.
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Policy for PolicyModule {
    fn info(&self) -> &ModuleInfo {
        self.component.info()
    }

    fn is_approval_gated(&self, question: &Question) -> Result<Gate, Fault> {
        let texts: Vec<(&str, wit::JsonKind, Cow<str>)> =
            question.call_arguments.texts().map(|(name, value, text)| (name, kind_of(value), text)).collect();
        let arguments: Vec<wit::Argument> =
            texts.iter().map(|(name, kind, text)| wit::Argument { name, kind: *kind, text }).collect();
        let place = Lists::of(question.workspace, &question.facts.cwd);
        let paths: Vec<wit::PathFact> = question.facts.paths.iter().map(path_fact).collect();
        let invocation = wit::Invocation {
            tool: tool_ref(question.tool, question.registered),
            arguments: &arguments,
            route: question.route.into(),
            attendance: question.attendance.into(),
            workspace: place.workspace(question.workspace),
            facts: wit::Facts {
                cwd: place.cwd_facts(question.facts.cwd.resolution),
                paths: &paths,
                definition: wit::DefinitionFacts {
                    trust: question.facts.trust.into(),
                    summary: &question.facts.trust_summary,
                },
                nearest: &question.facts.nearest,
            },
            explain: question.explain,
        };
        self.ask(|instance| instance.is_approval_gated(invocation).and_then(Gate::checked))
    }

    fn classify_cwd(
        &self,
        given: Option<&serde_json::Value>,
        workspace: &Workspace,
        facts: &CwdFacts,
        explain: bool,
    ) -> Result<CwdAnswer, Fault> {
        let text = given.map(text_of).unwrap_or_default();
        let kind = given.map_or(wit::JsonKind::Absent, kind_of);
        let place = Lists::of(workspace, facts);
        let argument = wit::Argument { name: "cwd", kind, text: &text };
        let (workspace, facts) = (place.workspace(workspace), place.cwd_facts(facts.resolution));
        self.ask(|instance| instance.classify_cwd(argument, workspace, facts, explain).and_then(CwdAnswer::checked))
    }

    fn admit_tools(&self, tools: &[Definition]) -> Result<Vec<Admission>, Fault> {
        self.ask(|instance| {
            batches(tools, |batch| {
                let answers = instance.admit_tools(batch)?;
                answers.into_iter().map(Admission::checked).collect()
            })
        })
    }

    fn should_defer_all(&self, tools: &[Definition], totals: Totals) -> Result<Vec<Deferral>, Fault> {
        let totals = wit::CatalogueTotals {
            bridge: if totals.bridge_complete { wit::BridgeState::Complete } else { wit::BridgeState::Incomplete },
            candidates: totals.candidates,
            candidate_tokens: totals.candidate_tokens,
            context_window: totals.context_window,
        };
        self.ask(|instance| {
            batches(tools, |batch| {
                let answers = instance.should_defer_all(batch, totals)?;
                answers.into_iter().map(Deferral::checked).collect()
            })
        })
    }
}

/// An instance on loan.
struct Lease<'m> {
    module: &'m PolicyModule,
    instance: Option<Instance>,
    reusable: bool,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // The slot of a broken instance is free only after the instance is gone.
        let instance = self.instance.take().filter(|_| self.reusable);
        let mut instances = self.module.instances();
        match instance {
            Some(instance) => instances.idle.push(instance),
            None => instances.alive -= 1,
        }
        let somebody_waits = instances.waiting > 0;
        drop(instances);
        if somebody_waits {
            self.module.freed.notify_one();
        }
    }
}

fn configured(component: &Component, settings: &str) -> Result<Instance, ConfigureError> {
    let mut instance = Instance::start(&component.engine, &component.pre, &component.limits)?;
    let answer = instance.configure(settings)?;
    let shown = |text: String| toolwarden_text::clip(&text, 400).into_owned();
    let issue = |i: wit::Issue| SettingsIssue {
        pointer: shown(i.pointer),
        problem: shown(i.problem),
        allowed: shown(i.allowed),
    };
    match (answer.outcome, answer.issues.is_empty()) {
        (wit::ConfigurationOutcome::Accepted, true) => Ok(instance),
        (wit::ConfigurationOutcome::Accepted, false) => {
            Err(Fault::BadAnswer("settings are accepted, and yet with issues".into()).into())
        }
        (wit::ConfigurationOutcome::Rejected, _) => {
            Err(ConfigureError::Rejected(answer.issues.into_iter().map(issue).collect()))
        }
    }
}

/// Asks about tools in batches that fit a module's memory, and insists on one answer each.
fn batches<T>(
    tools: &[Definition],
    mut ask: impl FnMut(&[wit::ToolDefinition]) -> Result<Vec<T>, Fault>,
) -> Result<Vec<T>, Fault> {
    /// Bytes of definitions in one batch.
    const BYTES: usize = 1 << 20;
    /// Tools in one batch: a thousand rules for each of them still fit the deadline.
    const TOOLS: usize = 256;
    let mut answers = Vec::with_capacity(tools.len());
    let mut rest = tools;
    while !rest.is_empty() {
        let mut bytes = 0_usize;
        let fits = rest.iter().take(TOOLS).take_while(|tool| {
            bytes = bytes.saturating_add(tool.definition.len());
            bytes <= BYTES
        });
        // A definition that is too large for any batch is asked about by itself.
        let (batch, others) = rest.split_at(fits.count().max(1));
        let batch: Vec<wit::ToolDefinition> = batch.iter().map(tool_definition).collect();
        let answered = ask(&batch)?;
        if answered.len() != batch.len() {
            let text = format!("{} answers for {} tools", answered.len(), batch.len());
            return Err(Fault::BadAnswer(text));
        }
        answers.extend(answered);
        rest = others;
    }
    Ok(answers)
}
