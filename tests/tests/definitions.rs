//! Definitions that are compared at the moment of a call.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwarden::approval::{Approval, Approver, Scripted};
use toolwarden::call::{Attendance, CallId, DefinitionTrust, ToolRef};
use toolwarden::invoke::{
    DefinitionReport, Definitions, Invoker, InvokerOptions, NoEvents, Outcome, ResultMismatch, State,
};
use toolwarden::registry::{Catalogue, Servers};
use toolwarden_harness::agent::Agent;
use toolwarden_harness::component;

/// Finds what a test wrote down, and keeps whom it was asked about.
struct Script {
    trusts: Mutex<VecDeque<DefinitionTrust>>,
    compared: Mutex<Vec<String>>,
    promises: Result<(), ResultMismatch>,
}

#[async_trait]
impl Definitions for Script {
    async fn compare(&self, tool: &ToolRef) -> DefinitionReport {
        self.compared.lock().unwrap().push(tool.public_name.clone());
        let trust = self.trusts.lock().unwrap().pop_front().unwrap_or_default();
        DefinitionReport { trust, summary: format!("found {}", trust.as_str()) }
    }

    fn check(&self, _tool: &ToolRef, _result: &Value) -> Result<(), ResultMismatch> {
        self.promises.clone()
    }
}

struct Found {
    outcome: Outcome,
    asked: usize,
    compared: usize,
}

impl Found {
    fn kind(&self) -> &str {
        match &self.outcome {
            Outcome::Denied(verdict) => verdict.kind.as_ref().unwrap().as_str(),
            Outcome::Completed(_) => "completed",
            Outcome::Withheld(_) => "withheld",
            other => panic!("{other:?}"),
        }
    }
}

/// A call of `mcp__git__push`, where its definition is found to be like this, one time after the other.
async fn call(
    settings: Value,
    attendance: Attendance,
    found: &[DefinitionTrust],
    result: Result<(), ResultMismatch>,
) -> Found {
    let settings = component::settings(&settings).unwrap();
    let policy = component::configured(component::embedded().unwrap(), &settings).unwrap();
    let list = json!({ "server": "git", "tools": [{ "name": "push" }] });
    let servers = Servers::from_json(list.to_string().as_bytes(), None).unwrap();
    let judge = component::judge(policy, Catalogue::with_servers(servers).unwrap(), settings.floors).unwrap();
    let agent = Arc::new(Agent::new().unwrap());
    let approver = Arc::new(Scripted::answering([Approval::AllowedOnce]));
    let script = Arc::new(Script {
        trusts: Mutex::new(found.iter().copied().collect()),
        compared: Mutex::default(),
        promises: result,
    });
    let invoker = Invoker::new(
        Arc::new(State::new(judge)),
        Arc::clone(&approver) as Arc<dyn Approver>,
        Arc::clone(&agent) as _,
        Arc::new(NoEvents),
        InvokerOptions::default(),
    )
    .with_definitions(Arc::clone(&script) as Arc<dyn Definitions>);
    let (caller, cancel) = (agent.caller(attendance), CancellationToken::new());
    let wire = json!({ "name": "mcp__git__push", "arguments": {} }).to_string();
    let outcome = invoker.invoke_wire(CallId("c".into()), wire.as_bytes(), &caller, &cancel).await;
    let compared = script.compared.lock().unwrap().clone();
    assert!(compared.iter().all(|name| name == "mcp__git__push"));
    Found { outcome, asked: approver.asked().len(), compared: compared.len() }
}

fn enforcing() -> Value {
    json!({ "mcpSecurity": { "mode": "enforce" } })
}

use DefinitionTrust::{DefinitionDrift, Matching};

#[tokio::test]
async fn only_the_accepted_definition_leads_to_a_question_and_nobody_is_asked_about_another() {
    let found = call(enforcing(), Attendance::Interactive, &[Matching, Matching], Ok(())).await;
    // Compared before the question and once more after the answer.
    assert_eq!((found.kind(), found.asked, found.compared), ("completed", 1, 2));
    for trust in [
        DefinitionTrust::SnapshotUnavailable,
        DefinitionTrust::BaselineMissing,
        DefinitionTrust::BaselineMalformed,
        DefinitionTrust::FingerprintInvalid,
        DefinitionTrust::DuplicateTools,
        DefinitionTrust::DefinitionDrift,
        DefinitionTrust::ProbeFailed,
        DefinitionTrust::SplitView,
    ] {
        for attendance in [Attendance::Interactive, Attendance::Scheduled] {
            let found = call(enforcing(), attendance, &[trust], Ok(())).await;
            assert_eq!((found.kind(), found.asked, found.compared), (trust.as_str(), 0, 1));
        }
    }
    let unattended = call(enforcing(), Attendance::Scheduled, &[Matching], Ok(())).await;
    assert_eq!((unattended.kind(), unattended.asked), ("mcp-call", 0));
}

#[tokio::test]
async fn a_definition_that_changes_while_the_person_thinks_is_not_run() {
    let found = call(enforcing(), Attendance::Interactive, &[Matching, DefinitionDrift], Ok(())).await;
    assert_eq!((found.kind(), found.asked, found.compared), ("definition-drift", 1, 2));
}

#[tokio::test]
async fn nobody_looks_where_the_call_is_refused_anyway_or_nothing_is_enforced() {
    let mut denying = enforcing();
    denying["rules"] = json!([{ "tool": "mcp__git__*", "decision": "deny" }]);
    let found = call(denying, Attendance::Interactive, &[Matching], Ok(())).await;
    assert_eq!((found.kind(), found.asked, found.compared), ("rule-deny", 0, 0));
    let off = call(json!({}), Attendance::Interactive, &[DefinitionDrift], Ok(())).await;
    assert_eq!((off.kind(), off.asked, off.compared), ("completed", 0, 0));
}

#[tokio::test]
async fn a_result_of_another_shape_is_kept_from_the_model() {
    let mismatch = Err(ResultMismatch("`/total` is no number".into()));
    let found = call(enforcing(), Attendance::Interactive, &[Matching, Matching], mismatch.clone()).await;
    assert_eq!(found.outcome, Outcome::Withheld(mismatch.clone().unwrap_err()));
    // Where nothing is enforced, nothing was promised.
    let off = call(json!({}), Attendance::Interactive, &[], mismatch).await;
    assert_eq!(off.kind(), "completed");
}
