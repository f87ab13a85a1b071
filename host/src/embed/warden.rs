//! The handle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::EmbedError;
use super::options::{self, Options};
use super::pending::Pending;
use crate::approval::Approval;
use crate::audit::{AuditKind, AuditLog, Record};
use crate::call::{Arguments, Call, Origin, ServerName, ToolRef};
use crate::invoke::{
    self, Admission, Decision, Effective, FactSource, Grant, Judge, Judged, KeepArguments, Outcome, Verdict, about,
    unrecorded,
};
use crate::lifecycle::{NoLifecycleEvents, Reload, Reloader, ReloaderOptions, Watch, WatchOptions};
use crate::registry::{Listing, Registry};

/// A Toolwarden: a policy in force, a registry, and the questions that wait. All methods may be called from any thread at once.
#[derive(Debug)]
pub struct Warden {
    reloader: Arc<Reloader>,
    facts: FactSource,
    pending: Pending,
    counts: Counts,
    audit: Option<Arc<AuditLog>>,
    #[allow(dead_code, reason = "it watches as long as it lives")]
    watch: Option<Watch>,
}

/// Verdicts so far.
#[derive(Debug, Default)]
struct Counts {
    allow: AtomicU64,
    ask: AtomicU64,
    deny: AtomicU64,
    unreadable: AtomicU64,
}

/// A verdict of `invoke` or `settle`: that of `decide`, and what follows from it.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    record: invoke::Record<'a>,
    /// What to run; none unless allowed, or where the result is here already.
    run: Option<Run<'a>>,
    /// The result, where the call was one of a bridge tool that is answered here.
    result: Option<Value>,
    /// What a person's answer is given with; none unless asked.
    ticket: Option<String>,
}

/// A tool and its arguments: run these, no others.
#[derive(Serialize)]
struct Run<'a> {
    server: Option<&'a str>,
    tool: &'a str,
    arguments: &'a Arguments,
}

impl<'a> Run<'a> {
    fn of(tool: &'a ToolRef, arguments: &'a Arguments) -> Self {
        Self { server: tool.server.as_ref().map(ServerName::as_str), tool: &tool.name, arguments }
    }
}

impl Warden {
    /// Opens a warden. The options are a JSON object, or nothing: everything off.
    ///
    /// | option | what | default |
    /// |---|---|---|
    /// | `settings` | settings, with the keys of `toolwarden.toml` | everything off |
    /// | `settingsFile` | a file of settings, in their place | none |
    /// | `profile` | `dangerous` or `locked`: short for settings | none |
    /// | `module` | a policy module's file | the settings', or the built-in one |
    /// | `tools` | tool lists of MCP servers, as `registry` reads them | none |
    /// | `contextWindow` | the model's, in tokens | 0: not known |
    /// | `resolve` | whether `decide` follows links on this machine | `false` |
    /// | `watch` | whether changed files and SIGHUP bring another policy | `false` |
    ///
    /// # Errors
    ///
    /// `bad-options`, those of a tool list, and those of the gate before a swap.
    pub fn open(options: &[u8]) -> Result<Self, EmbedError> {
        let options = Options::parse(options)?;
        let reloader_options = ReloaderOptions {
            catalogue: options.catalogue()?,
            context_window: options.context_window,
            cache: options::cache(),
        };
        let reloader = Reloader::start(options.origin(), reloader_options, Arc::new(NoLifecycleEvents))?;
        let facts = options.facts();
        let watch = options.watch.then(|| Watch::start(&reloader, WatchOptions::default())).transpose();
        let watch = watch.map_err(|error| EmbedError::new("not-watched", error))?;
        Ok(Self { watch, ..Self::over(reloader, facts) })
    }

    /// A warden over a policy that somebody else keeps in force. `facts` is where those of [`decide`](Self::decide) come from.
    #[must_use]
    pub fn over(reloader: Arc<Reloader>, facts: FactSource) -> Self {
        Self { reloader, facts, pending: Pending::default(), counts: Counts::default(), audit: None, watch: None }
    }

    /// The same, with an audit trail: of each `invoke` and `settle` what is denied, asked and answered. What cannot be recorded
    /// is denied, `audit-unavailable`. What `decide` says is only a word, and is not recorded.
    #[must_use]
    pub fn recording(self, audit: Arc<AuditLog>) -> Self {
        Self { audit: Some(audit), ..self }
    }

    /// The verdict on a call: a `decide` record in, the line that `decide` writes out.
    ///
    /// # Errors
    ///
    /// Those of a record.
    pub fn decide(&self, record: &[u8]) -> Result<String, EmbedError> {
        let call = self.read(record)?;
        let judge = self.judge();
        let judged = judge.judge(&call, self.facts, false);
        self.counts.count(judged.verdict.decision);
        text(&judged.verdict.record(&call.id, judge.policy()))
    }

    /// The verdict on a call that is to run now, and what follows from it: links are followed on this machine, what nobody has
    /// registered does not run, and the bridge tools are answered here.
    ///
    /// The answer is that of [`decide`](Self::decide) and three members more. `run` is set where the verdict is `allow`: the
    /// tool (`server`, `tool`) and `arguments` to run. `result` is set in its place for `tool_search` and `tool_describe`.
    /// `ticket` is set where it is `ask`: give it to [`settle`](Self::settle) with the person's answer.
    ///
    /// # Errors
    ///
    /// Those of a record.
    pub fn invoke(&self, record: &[u8]) -> Result<String, EmbedError> {
        self.admitted(&self.read(record)?, None)
    }

    /// What becomes of a call after a person's answer: `allowed-once`, `rejected`, `cancelled`, `timed-out` or `unavailable`.
    /// After a yes it is judged once more, and runs only where everything is as it was; otherwise the person is asked anew, with
    /// another ticket. Each ticket counts once.
    ///
    /// # Errors
    ///
    /// `bad-answer`: it is none of these words; the question waits on. `unknown-ticket`: there is no such question, or it is
    /// answered already.
    pub fn settle(&self, ticket: &str, answer: &str) -> Result<String, EmbedError> {
        let answer: Approval = answer.parse().map_err(|error| EmbedError::new("bad-answer", error))?;
        let question = self.pending.take(ticket);
        let question = question.ok_or_else(|| {
            EmbedError::new("unknown-ticket", "no question waits under this ticket; each is answered once")
        })?;
        let answer = if question.is_late(Instant::now()) { Approval::TimedOut } else { answer };
        let judged = question.grant.judged();
        let settled = || {
            let policy = question.grant.policy();
            let record =
                about(AuditKind::ApprovalSettled, &question.call, judged.effective.as_ref(), &KeepArguments::Digest);
            Record { approval: Some(answer), ..record.judged(&judged.verdict, policy) }
        };
        if let Err(verdict) = self.recorded(settled) {
            return self.refused(&question.call, &verdict, &self.judge());
        }
        if answer == Approval::AllowedOnce {
            return self.admitted(&question.call, Some(&question.grant));
        }
        self.refused(&question.call, &question.grant.declined(answer), &self.judge())
    }

    fn admitted(&self, call: &Call, grant: Option<&Grant>) -> Result<String, EmbedError> {
        let judge = self.judge();
        let judged = judge.judge(call, FactSource::ThisMachine, false);
        let record = |kind, verdict: &Verdict| {
            let record = about(kind, call, judged.effective.as_ref(), &KeepArguments::Digest);
            record.judged(verdict, judge.policy())
        };
        match invoke::admit(&judged, &judge, grant) {
            Admission::Denied(verdict) => {
                // One that cannot be recorded is denied all the same.
                let _ = self.recorded(|| record(AuditKind::Denied, &verdict));
                self.refused(call, &verdict, &judge)
            }
            Admission::Granted(effective) => self.granted(call, &judged, &effective, &judge),
            Admission::Asked(_) => {
                let verdict = judged.verdict.clone();
                if let Err(verdict) = self.recorded(|| record(AuditKind::ApprovalRequired, &verdict)) {
                    return self.refused(call, &verdict, &judge);
                }
                let grant = Grant::new(judged.clone(), Arc::clone(&judge));
                let time = self.reloader.settings().approval_timeout;
                let Some(ticket) = self.pending.keep(call.clone(), grant, time, Instant::now())? else {
                    return self.refused(call, &invoke::declined(verdict, Approval::Unavailable), &judge);
                };
                self.counts.count(Decision::Ask);
                let record = verdict.record(&call.id, judge.policy());
                text(&Answer { record, run: None, result: None, ticket: Some(ticket.to_string()) })
            }
        }
    }

    /// Keeps a record where there is a trail; the denial that it comes to where that cannot be.
    fn recorded(&self, record: impl FnOnce() -> Record) -> Result<(), Verdict> {
        self.audit.as_ref().map_or(Ok(()), |audit| audit.write(record()).map_err(|error| unrecorded(&error)))
    }

    fn granted(
        &self,
        call: &Call,
        judged: &Judged,
        effective: &Effective,
        judge: &Judge,
    ) -> Result<String, EmbedError> {
        let Effective { tool, arguments, .. } = effective;
        if tool.origin == Origin::Bridge {
            return match invoke::bridge(&tool.name, arguments, judge.registry()) {
                Outcome::Completed(result) => {
                    self.counts.count(Decision::Allow);
                    let record = judged.verdict.record(&call.id, judge.policy());
                    text(&Answer { record, run: None, result: Some(result), ticket: None })
                }
                Outcome::Denied(verdict) => self.refused(call, &verdict, judge),
                Outcome::Failed(error) => Err(EmbedError::new("bad-arguments", error.0)),
                other => Err(EmbedError::new("bad-arguments", format!("{other:?}"))),
            };
        }
        self.counts.count(Decision::Allow);
        // After a person's yes the verdict is that the call runs, whatever it took to get there.
        let verdict = Verdict::allowed(&judged.verdict);
        let record = verdict.record(&call.id, judge.policy());
        text(&Answer { record, run: Some(Run::of(tool, arguments)), result: None, ticket: None })
    }

    /// A denial.
    fn refused(&self, call: &Call, verdict: &Verdict, judge: &Judge) -> Result<String, EmbedError> {
        self.counts.count(Decision::Deny);
        text(&Answer { record: verdict.record(&call.id, judge.policy()), run: None, result: None, ticket: None })
    }

    /// Whether [`decide`](Self::decide) follows links on this machine.
    #[must_use]
    pub fn follows_links(&self) -> bool {
        self.facts == FactSource::ThisMachine
    }

    /// Whether a question waits under this ticket.
    #[must_use]
    pub fn is_waiting(&self, ticket: &str) -> bool {
        self.pending.is_waiting(ticket, Instant::now())
    }

    /// The questions that wait, the first one first: `{"questions":[{"ticket":"...","tool":"...",...}]}`. Their texts may
    /// come from anywhere: whoever shows them must not let them move a cursor or become markup.
    ///
    /// # Errors
    ///
    /// None that is known.
    pub fn questions(&self) -> Result<String, EmbedError> {
        text(&json!({ "questions": self.pending.shown(Instant::now()) }))
    }

    /// Takes other tool lists into the registry, and gives the plan.
    ///
    /// # Errors
    ///
    /// Those of a tool list, and of a module that gives no registry; the former lists stay.
    pub fn set_tools(&self, lists: &[u8]) -> Result<String, EmbedError> {
        self.reloader.replace_tools(options::catalogue(lists)?)?;
        self.plan()
    }

    /// The plan: what the model is shown of the tools of servers, and why; what `registry` writes.
    ///
    /// # Errors
    ///
    /// None that is known.
    pub fn plan(&self) -> Result<String, EmbedError> {
        text(&self.registry().record(Listing::Servers))
    }

    /// Definitions that the model is shown up front, the bridge tools among them where something is deferred.
    ///
    /// # Errors
    ///
    /// None that is known.
    pub fn listed(&self) -> Result<String, EmbedError> {
        let registry = self.registry();
        let listed: Vec<Value> = registry
            .listed()
            .map(|registered| {
                let mut definition = registered.tool.definition.clone();
                if let Some(name) = definition.get_mut("name") {
                    *name = registered.tool.tool.public_name.clone().into();
                }
                definition
            })
            .collect();
        text(&json!({ "tools": listed }))
    }

    /// Reads settings and module anew, and puts them in force where they pass the gate: `{"swapped":true,"policy":{...}}`.
    ///
    /// # Errors
    ///
    /// Those of the gate; what was in force stays.
    pub fn reload(&self) -> Result<String, EmbedError> {
        match self.reloader.reload()? {
            Reload::Unchanged => text(&json!({ "swapped": false, "policy": self.judge().policy().as_ref() })),
            Reload::Swapped(policy) => text(&json!({ "swapped": true, "policy": policy.as_ref() })),
        }
    }

    /// Goes back to the policy before, under a new generation.
    ///
    /// # Errors
    ///
    /// `nothing-before`, and those of the gate.
    pub fn rollback(&self) -> Result<String, EmbedError> {
        let policy = self.reloader.rollback()?;
        text(&json!({ "swapped": true, "policy": policy.as_ref() }))
    }

    /// What is in force, how many verdicts there were, how many questions wait, why the last reload was refused.
    ///
    /// # Errors
    ///
    /// None that is known.
    pub fn stats(&self) -> Result<String, EmbedError> {
        let judge = self.judge();
        let mut stats = Map::new();
        stats.insert("policy".into(), json!(judge.policy().as_ref()));
        stats.insert("registry".into(), json!(judge.registry().totals()));
        stats.insert("verdicts".into(), self.counts.record());
        stats.insert("pending".into(), self.pending.len(Instant::now()).into());
        stats.insert("refusal".into(), json!(self.reloader.refusal()));
        text(&stats)
    }

    fn read(&self, record: &[u8]) -> Result<Call, EmbedError> {
        Call::from_json(record).map_err(|error| {
            self.counts.unreadable.fetch_add(1, Ordering::Relaxed);
            error.into()
        })
    }

    fn judge(&self) -> Arc<Judge> {
        self.reloader.state().current()
    }

    fn registry(&self) -> Arc<Registry> {
        Arc::clone(self.judge().registry())
    }
}

impl Counts {
    fn count(&self, decision: Decision) {
        let counter = match decision {
            Decision::Allow => &self.allow,
            Decision::Ask => &self.ask,
            Decision::Deny => &self.deny,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn record(&self) -> Value {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        json!({
            "allow": load(&self.allow), "ask": load(&self.ask), "deny": load(&self.deny),
            "unreadable": load(&self.unreadable),
        })
    }
}

fn text(value: &impl Serialize) -> Result<String, EmbedError> {
    serde_json::to_string(value).map_err(|error| EmbedError::new("not-written", error))
}
