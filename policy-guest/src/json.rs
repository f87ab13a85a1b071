//! The contract as JSON, for runtimes that know no components.
//!
//! A request is `{"call":"<function>","input":{...}}`, with the functions and records of `wit/policy.wit`; fields are
//! written in camel case and enums by their words, all fields are required and unknown ones refused. The answer is
//! `{"ok":...}` or `{"error":{"code":"...","message":"..."}}`. Anything but an `ok` whose `effect` is `free` is no permission.
//!
//! ```
//! use toolwarden_policy::{Module, json};
//!
//! let mut module = Module::new();
//! let (answer, _) = json::call(&mut module, br#"{"call":"configure","input":{"settings":{}}}"#);
//! assert_eq!(answer, r#"{"ok":{"outcome":"accepted","issues":[]}}"#);
//! ```

mod input;

use serde_json::{Value, json};

use crate::model::{Admission, CwdJudgement, Deferral, Gate, Step};
use crate::settings::Issue;
use crate::{Module, Trail, classify_cwd};
use input::{Fields, Refused};

/// Answers one request. The second part of the answer says whether settings were taken.
#[must_use]
pub fn call(module: &mut Module, request: &[u8]) -> (String, bool) {
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

fn answer(module: &mut Module, request: &Value) -> Result<(Value, bool), Refused> {
    let request = Fields::of(request, "", &["call", "input"])?;
    let input = |keys| Fields::of(request.get("input")?, "/input", keys);
    let value = match request.text("call")? {
        "describe" => {
            input(&[])?;
            json!({
                "name": crate::NAME, "version": crate::VERSION, "contract": crate::CONTRACT, "summary": crate::SUMMARY,
                "settingsSchema": crate::SCHEMA,
            })
        }
        "configure" => {
            let outcome = module.configure(&input(&["settings"])?.get("settings")?.to_string());
            let configured = outcome.is_ok();
            let issues: Vec<Value> = outcome.err().unwrap_or_default().iter().map(issue).collect();
            let word = if configured { "accepted" } else { "rejected" };
            return Ok((json!({ "outcome": word, "issues": issues }), configured));
        }
        "admit-tools" => {
            let input = input(&["tools"])?;
            input
                .items("tools")?
                .map(|tool| Ok(admission(&module.admit_tool(&input::definition(&tool?)?))))
                .collect::<Result<_, _>>()?
        }
        "should-defer" => {
            let input = input(&["tool", "totals"])?;
            let totals = input::totals(&input.object("totals", input::TOTALS)?)?;
            deferral(module.should_defer(&input::definition(&input.object("tool", input::DEFINITION)?)?, &totals))
        }
        "should-defer-all" => {
            let input = input(&["tools", "totals"])?;
            let totals = input::totals(&input.object("totals", input::TOTALS)?)?;
            input
                .items("tools")?
                .map(|tool| Ok(deferral(module.should_defer(&input::definition(&tool?)?, &totals))))
                .collect::<Result<_, _>>()?
        }
        "is-approval-gated" => gate(&module.is_approval_gated(&input::invocation(&input(input::INVOCATION)?)?)),
        "classify-cwd" => {
            let input = input(&["given", "workspace", "facts", "explain"])?;
            let mut trail = Trail::new(input.flag("explain")?);
            let judged = classify_cwd(
                input::argument(&input.object("given", input::ARGUMENT)?)?,
                &input::workspace(&input.object("workspace", input::WORKSPACE)?)?,
                &input::cwd_facts(&input.object("facts", input::CWD_FACTS)?)?,
                &mut trail,
            );
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

fn deferral(deferral: Deferral) -> Value {
    json!({ "exposure": deferral.exposure.word(), "reason": deferral.reason })
}

fn issue(issue: &Issue) -> Value {
    json!({ "pointer": issue.pointer, "problem": issue.problem, "allowed": issue.allowed })
}

fn step(step: &Step) -> Value {
    json!({ "rule": step.rule, "outcome": step.outcome.word(), "note": step.note })
}
