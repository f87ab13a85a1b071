//! The contract as JSON, for runtimes that know no components.
//!
//! A request is `{"call":"<function>","input":{...}}`, with the functions and records of `wit/policy.wit`; fields are
//! written in camel case and enums by their words, all fields are required and unknown ones refused. The answer is
//! `{"ok":...}` or `{"error":{"code":"...","message":"..."}}`. Anything but an `ok` whose `effect` is `free` is no permission.
//!
//! ```
//! use toolwarden_policy::{DefaultModule, Slot, json};
//!
//! let module = Slot::<DefaultModule>::new();
//! let (answer, _) = json::call(&module, br#"{"call":"configure","input":{"settings":{}}}"#);
//! assert!(answer.starts_with(r#"{"ok":"#) && answer.contains(r#""outcome":"accepted""#));
//! ```

mod input;

use serde_json::{Value, json};

use crate::face::Slot;
use crate::kit::PolicyModule;
use crate::model::{Admission, CwdJudgement, Deferral, Gate, Step};
use crate::settings::Issue;
use crate::trail::Trail;
use input::{Fields, Refused};

/// Answers one request. The second part of the answer says whether settings were taken.
#[must_use]
pub fn call<M: PolicyModule>(module: &Slot<M>, request: &[u8]) -> (String, bool) {
    let parsed = match toolwarden_json::parse(request) {
        Ok(value) => value,
        Err(error) => return (failed(error.code.as_str(), &error.message), false),
    };
    match answer(module, &parsed) {
        Ok((value, configured)) => (json!({ "ok": value }).to_string(), configured),
        Err(Refused(message)) => (failed("bad-request", &message), false),
    }
}

fn failed(code: &str, message: &str) -> String {
    json!({ "error": { "code": code, "message": message } }).to_string()
}

fn answer<M: PolicyModule>(module: &Slot<M>, request: &Value) -> Result<(Value, bool), Refused> {
    let request = Fields::of(request, "", &["call", "input"])?;
    let input = |keys| Fields::of(request.get("input")?, "/input", keys);
    let value = match request.text("call")? {
        "describe" => {
            input(&[])?;
            json!({
                "name": M::NAME, "version": M::VERSION, "contract": crate::CONTRACT, "summary": M::SUMMARY,
                "settingsSchema": M::SCHEMA,
            })
        }
        "configure" => {
            let outcome = module.configure(input(&["settings"])?.get("settings")?.to_string());
            let configured = outcome.is_ok();
            let issues: Vec<Value> = outcome.err().unwrap_or_default().iter().map(issue).collect();
            let word = if configured { "accepted" } else { "rejected" };
            return Ok((json!({ "outcome": word, "issues": issues }), configured));
        }
        "admit-tools" => {
            let input = input(&["tools"])?;
            let tools = input.items("tools")?;
            module.ask(|module| {
                tools
                    .map(|tool| Ok(admission(&module.admit_tool(&input::definition(&tool?)?))))
                    .collect::<Result<_, _>>()
            })?
        }
        "should-defer" => {
            let input = input(&["tool", "totals"])?;
            let totals = input::totals(&input.object("totals", input::TOTALS)?)?;
            let tool = input::definition(&input.object("tool", input::DEFINITION)?)?;
            deferral(&module.ask(|module| module.should_defer(&tool, &totals)))
        }
        "should-defer-all" => {
            let input = input(&["tools", "totals"])?;
            let totals = input::totals(&input.object("totals", input::TOTALS)?)?;
            let tools = input.items("tools")?;
            module.ask(|module| {
                tools
                    .map(|tool| Ok(deferral(&module.should_defer(&input::definition(&tool?)?, &totals))))
                    .collect::<Result<_, _>>()
            })?
        }
        "is-approval-gated" => {
            let call = input::invocation(&input(input::INVOCATION)?)?;
            gate(&module.ask(|module| module.is_approval_gated(&call)))
        }
        "classify-cwd" => {
            let input = input(&["given", "workspace", "facts", "explain"])?;
            let mut trail = Trail::new(input.flag("explain")?);
            let given = input::argument(&input.object("given", input::ARGUMENT)?)?;
            let workspace = input::workspace(&input.object("workspace", input::WORKSPACE)?)?;
            let facts = input::cwd_facts(&input.object("facts", input::CWD_FACTS)?)?;
            let judged = module.ask(|module| module.classify_cwd(given, &workspace, &facts, &mut trail));
            let trail: Value = trail.into_steps().iter().map(step).collect();
            json!({ "class": judged.class.word(), "why": judged.why.word(), "trail": trail })
        }
        other => return Err(Refused(format!("there is no function `{}`", toolwarden_text::clip(other, 60)))),
    };
    Ok((value, false))
}

fn gate(gate: &Gate) -> Value {
    json!({
        "effect": gate.effect.word(), "kind": gate.kind, "reason": gate.reason, "detail": gate.detail,
        "cwd": cwd(gate.cwd), "trail": gate.trail.iter().map(step).collect::<Value>(),
    })
}

fn cwd(judged: CwdJudgement) -> Value {
    json!({ "class": judged.class.word(), "why": judged.why.word() })
}

fn admission(admission: &Admission) -> Value {
    json!({
        "effect": admission.effect.word(), "kind": admission.kind, "reason": admission.reason,
        "candidacy": admission.candidacy.word(),
    })
}

fn deferral(deferral: &Deferral) -> Value {
    json!({ "exposure": deferral.exposure.word(), "reason": deferral.reason })
}

fn issue(issue: &Issue) -> Value {
    json!({ "pointer": issue.pointer, "problem": issue.problem, "allowed": issue.allowed })
}

fn step(step: &Step) -> Value {
    json!({ "rule": step.rule, "outcome": step.outcome.word(), "note": step.note })
}
