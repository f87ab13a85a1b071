//! `tool_invoke` itself: judge, ask, judge again, dispatch.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::definition::{DefinitionReport, Definitions, ResultMismatch};
use super::event::{End, Event, EventSink};
use super::executor::{Dispatch, ExecutorError, ToolExecutor};
use super::gather::FactSource;
use super::grant::{self, Admission, Grant};
use super::judge::{Effective, Judge, Judged, unknown};
use super::witness::{KeepArguments, Witness};
use crate::approval::{Approval, Approver, Question};
use crate::audit::{AuditKind, Recorder};
use crate::call::{Arguments, Attendance, Call, CallId, GivenFacts, Origin, RecordError, Route, Workspace};
use crate::registry::{Registry, TOOL_DESCRIBE, TOOL_INVOKE, TOOL_SEARCH};
use crate::verdict::{PolicyId, Verdict};

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvokerOptions {
    /// For a person's answer. Default: 5 minutes. Source: `approval.timeoutMs`.
    pub approval_timeout: Duration,
    /// For the tool. Default: 10 minutes.
    pub execution_timeout: Duration,
}

impl Default for InvokerOptions {
    fn default() -> Self {
        Self { approval_timeout: Duration::from_mins(5), execution_timeout: Duration::from_mins(10) }
    }
}

/// Who calls, and from where. Comes from the host's own knowledge of the connection, never from the call.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// Where the agent works.
    pub workspace: Arc<Workspace>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The tool answered.
    Completed(Value),
    /// The tool failed.
    Failed(ExecutorError),
    /// The tool answered, and not as its accepted definition promises: the result is kept from the model.
    Withheld(ResultMismatch),
    /// It did not run; the verdict says why, in words for the model.
    Denied(Verdict),
    /// The caller took it back.
    Cancelled,
    /// The tool did not answer in time.
    TimedOut,
    /// It was no call: the text cannot be read.
    Unreadable(RecordError),
}

/// What is in force: one judge behind one atomic pointer, swapped as a whole. Readers never wait for a swap.
#[derive(Debug)]
pub struct State(ArcSwap<Judge>);

impl State {
    /// A state with this judge.
    #[must_use]
    pub fn new(judge: Judge) -> Self {
        Self(ArcSwap::from_pointee(judge))
    }

    /// The judge in force. Who holds it keeps one generation for the whole decision.
    #[must_use]
    pub fn current(&self) -> Arc<Judge> {
        self.0.load_full()
    }

    /// Puts another judge in force, for all calls from now on. Calls in flight finish with the one that they began with.
    pub fn replace(&self, judge: Judge) {
        // The old one, its instances and its registry, is taken apart by whoever holds it last.
        drop(self.0.swap(Arc::new(judge)));
    }
}

/// Times a call is judged before it is given up: whatever keeps changing under it is no ground to stand on.
const ROUNDS: usize = 4;

/// Runs calls through their verdicts. Cheap to share; calls run in parallel.
pub struct Invoker {
    state: Arc<State>,
    approver: Arc<dyn Approver>,
    executor: Arc<dyn ToolExecutor>,
    events: Arc<dyn EventSink>,
    options: InvokerOptions,
    definitions: Option<Arc<dyn Definitions>>,
    witness: Witness,
}

impl std::fmt::Debug for Invoker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invoker").field("state", &self.state).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Invoker {
    /// An invoker.
    #[must_use]
    pub fn new(
        state: Arc<State>,
        approver: Arc<dyn Approver>,
        executor: Arc<dyn ToolExecutor>,
        events: Arc<dyn EventSink>,
        options: InvokerOptions,
    ) -> Self {
        Self { state, approver, executor, events, options, definitions: None, witness: Witness::default() }
    }

    /// The same invoker, with somebody who compares definitions at each call of a server's tool. Without, they are as they were
    /// when the registry was built.
    #[must_use]
    pub fn with_definitions(self, definitions: Arc<dyn Definitions>) -> Self {
        Self { definitions: Some(definitions), ..self }
    }

    /// The same invoker, with somebody who keeps records. What cannot be recorded is asked about and run by nobody.
    #[must_use]
    pub fn with_recorder(self, recorder: Arc<dyn Recorder>, keep: KeepArguments) -> Self {
        Self { witness: Witness::new(recorder, keep), ..self }
    }

    /// What is in force.
    #[must_use]
    pub const fn state(&self) -> &Arc<State> {
        &self.state
    }

    /// Runs a call as it came over the wire: `{"name":"...","arguments":{...}}`, parsed here, once and strictly.
    pub async fn invoke_wire(&self, id: CallId, wire: &[u8], caller: &Caller, cancel: &CancellationToken) -> Outcome {
        match from_wire(id, wire, caller) {
            Ok(call) => self.invoke(call, cancel).await,
            Err(error) => Outcome::Unreadable(error),
        }
    }

    /// Runs a call. Facts that came with it are not believed: this machine and this registry are asked.
    pub async fn invoke(&self, mut call: Call, cancel: &CancellationToken) -> Outcome {
        call.facts = GivenFacts::default();
        let outcome = if cancel.is_cancelled() { Outcome::Cancelled } else { self.decide_and_run(&call, cancel).await };
        let end = match &outcome {
            Outcome::Completed(_) => End::Completed,
            Outcome::Failed(_) => End::Failed,
            Outcome::Withheld(_) => End::Withheld,
            Outcome::Denied(_) | Outcome::Unreadable(_) => End::Denied,
            Outcome::Cancelled => End::Cancelled,
            Outcome::TimedOut => End::TimedOut,
        };
        self.events.on_event(&Event::Finished { id: call.id.clone(), end });
        outcome
    }

    async fn decide_and_run(&self, call: &Call, cancel: &CancellationToken) -> Outcome {
        let mut granted: Option<Grant> = None;
        for _ in 0..ROUNDS {
            let judge = self.state.current();
            let judged = self.judged(call, &judge).await;
            self.events.on_event(&Event::Judged {
                id: call.id.clone(),
                verdict: judged.verdict.clone(),
                policy: Arc::clone(judge.policy()),
            });
            let policy = judge.policy();
            let effective = match grant::admit(&judged, &judge, granted.as_ref()) {
                Admission::Denied(verdict) => {
                    // One that cannot be recorded is denied all the same.
                    let _ = self.witness.judged(AuditKind::Denied, call, &judged, &verdict, policy).await;
                    return Outcome::Denied(verdict);
                }
                Admission::Granted(effective) => return self.run(call, effective, &judge, cancel).await,
                Admission::Asked(effective) => effective,
            };
            let required = AuditKind::ApprovalRequired;
            if let Err(unrecorded) = self.witness.judged(required, call, &judged, &judged.verdict, policy).await {
                return Outcome::Denied(unrecorded.0);
            }
            let approval = self.approval(call, &effective, &judged.verdict, policy, cancel).await;
            let recorded = self.witness.settled(call, &effective, &judged.verdict, policy, approval).await;
            match (approval, recorded) {
                (Approval::AllowedOnce, Ok(())) => granted = Some(Grant::new(judged, judge)),
                (Approval::AllowedOnce, Err(unrecorded)) => return Outcome::Denied(unrecorded.0),
                _ if cancel.is_cancelled() => return Outcome::Cancelled,
                (approval, _) => return Outcome::Denied(grant::declined(judged.verdict, approval)),
            }
        }
        Outcome::Denied(Verdict::deny(
            "approval-outdated",
            "tools, settings or files changed each time a person had approved the call, so it did not run",
            "",
        ))
    }

    /// The judgement on a call, by what is found out now about its tool's definition. Nobody looks where the call is refused
    /// anyway: a probe takes its time, and a model could have as many as it likes.
    async fn judged(&self, call: &Call, judge: &Judge) -> Judged {
        let covered = self.definitions.as_ref().and_then(|definitions| Some((definitions, judge.covered(call)?)));
        let Some((definitions, tool)) = covered else { return judge.judge(call, FactSource::ThisMachine, false) };
        if let Some(refused) = judge.refused_anyway(call) {
            return refused;
        }
        let DefinitionReport { trust, summary } = definitions.compare(&tool).await;
        let mut call = call.clone();
        call.facts = GivenFacts { trust: Some(trust), trust_summary: summary, ..GivenFacts::default() };
        judge.judge(&call, FactSource::ThisMachine, false)
    }

    async fn approval(
        &self,
        call: &Call,
        effective: &Effective,
        verdict: &Verdict,
        policy: &Arc<PolicyId>,
        cancel: &CancellationToken,
    ) -> Approval {
        let Some(kind) = verdict.kind.clone() else { return Approval::Unavailable };
        let question = Question {
            id: call.id.clone(),
            tool: effective.tool.clone(),
            arguments: effective.arguments.clone(),
            attendance: call.attendance,
            kind,
            reason: verdict.reason.clone(),
            detail: verdict.detail.clone(),
            policy: Arc::clone(policy),
        };
        self.events.on_event(&Event::Asked { id: call.id.clone() });
        let approval = tokio::select! {
            biased;
            () = cancel.cancelled() => Approval::Cancelled,
            answer = timeout(self.options.approval_timeout, self.approver.ask(&question)) => {
                answer.unwrap_or(Approval::TimedOut)
            }
        };
        self.events.on_event(&Event::Settled { id: call.id.clone(), approval });
        approval
    }

    async fn run(&self, call: &Call, effective: Effective, judge: &Judge, cancel: &CancellationToken) -> Outcome {
        let outcome = self.dispatched(call, &effective, judge, cancel).await;
        match &outcome {
            Outcome::Completed(result) => self.witness.ran(call, &effective, result),
            Outcome::Failed(error) => self.witness.failed(call, &effective, &error.0),
            Outcome::Cancelled => self.witness.failed(call, &effective, "the caller took the call back"),
            Outcome::TimedOut => self.witness.failed(call, &effective, "the tool did not answer in time"),
            // Recorded where it was found out.
            Outcome::Withheld(_) | Outcome::Denied(_) | Outcome::Unreadable(_) => {}
        }
        outcome
    }

    async fn dispatched(
        &self,
        call: &Call,
        effective: &Effective,
        judge: &Judge,
        cancel: &CancellationToken,
    ) -> Outcome {
        let Effective { tool, arguments, .. } = effective;
        self.events.on_event(&Event::Dispatched { id: call.id.clone(), tool: tool.clone() });
        if tool.origin == Origin::Bridge {
            return bridge(&tool.name, arguments, judge.registry());
        }
        let covered = self.definitions.as_ref().filter(|_| judge.covered(call).is_some());
        let dispatch = Dispatch { id: call.id.clone(), tool: tool.clone(), arguments: Arc::clone(arguments) };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Outcome::Cancelled,
            result = timeout(self.options.execution_timeout, self.executor.execute(dispatch)) => match result {
                Ok(Ok(value)) => match covered.map(|definitions| definitions.check(tool, &value)) {
                    Some(Err(mismatch)) => {
                        self.witness.withheld(call, effective, &value, &mismatch.0).await;
                        Outcome::Withheld(mismatch)
                    }
                    Some(Ok(())) | None => Outcome::Completed(value),
                },
                Ok(Err(error)) => Outcome::Failed(error),
                Err(_) => Outcome::TimedOut,
            },
        }
    }
}

/// Answers a bridge tool out of the registry.
pub(crate) fn bridge(name: &str, arguments: &Arguments, registry: &Registry) -> Outcome {
    /// Answers of one search at most.
    const MOST: u64 = 50;
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let failed = |what: &str| Outcome::Failed(ExecutorError(what.into()));
    match name {
        TOOL_SEARCH => {
            let Some(query) = text("query") else { return failed("`query` is not a string") };
            let limit = match arguments.get("limit") {
                None => 10,
                Some(limit) => match limit.as_u64() {
                    Some(limit @ 1..=MOST) => limit,
                    _ => return failed("`limit` is not a whole number from 1 to 50"),
                },
            };
            Outcome::Completed(registry.search(query, usize::try_from(limit).unwrap_or(10)))
        }
        TOOL_DESCRIBE => {
            let Some(name) = text("name") else { return failed("`name` is not a string") };
            match registry.describe(name) {
                Some(definition) => Outcome::Completed(json!({ "tool": definition })),
                None => Outcome::Denied(unknown(name, None)),
            }
        }
        _ => failed("a bridge tool carries no other"),
    }
}

/// Reads a call as it came over the wire.
fn from_wire(id: CallId, wire: &[u8], caller: &Caller) -> Result<Call, RecordError> {
    let parsed = toolwarden_json::parse_lenient(wire)?;
    let Value::Object(mut record) = parsed.value else {
        return Err(RecordError::new("not-a-record", "a call is a JSON object"));
    };
    if let Some(key) = record.keys().find(|key| !matches!(key.as_str(), "name" | "arguments")) {
        return Err(RecordError::new("unknown-field", format!("unknown field `{}`", toolwarden_text::clip(key, 60))));
    }
    let tool = match record.remove("name") {
        Some(Value::String(name)) => name,
        Some(_) => return Err(RecordError::new("wrong-type", "`name` is not a string")),
        None => return Err(RecordError::new("missing-field", "missing field `name`")),
    };
    let is_bridge = tool == TOOL_INVOKE;
    let ambiguous = match parsed.fault {
        Some(fault) if is_bridge && fault.pointer.starts_with("/arguments/") => Some(fault.message),
        Some(fault) => return Err(fault.into()),
        None => None,
    };
    Ok(Call {
        id,
        tool,
        server: None,
        arguments: match record.remove("arguments") {
            None => Arc::default(),
            Some(value) => Arc::new(Arguments::from_value(value)?),
        },
        route: if is_bridge { Route::Bridge } else { Route::Direct },
        attendance: caller.attendance,
        workspace: Arc::clone(&caller.workspace),
        facts: GivenFacts::default(),
        ambiguous,
    })
}
