//! What Cedar's answer comes to.

use std::borrow::Cow;

use cedar_policy::{Decision, PolicySet, Response};
use toolwarden_policy::{CwdJudgement, Gate, Invocation, StepOutcome, Trail};

use crate::policies::{Policies, Rule, Verdict};
use crate::request::request;

/// Reason code: no policy permits the call.
const NOTHING_PERMITS: &str = "cedar-default-deny";
/// Reason code: Cedar could not evaluate it.
const ERROR: &str = "cedar-error";

/// What the policies say of a call whose cwd lies there.
pub fn gate(policies: &Policies, call: &Invocation, cwd: CwdJudgement) -> Gate {
    let mut trail = Trail::new(call.explain);
    let gate = match request(policies, call, cwd) {
        Err(error) => failed(&mut trail, &[error.to_string()]),
        Ok((request, entities)) => {
            let ask = |set: &PolicySet| policies.authorizer.is_authorized(&request, set, &entities);
            judge(policies, &mut trail, ask)
        }
    };
    let free = gate.effect == toolwarden_policy::Effect::Free;
    let gate = if free { gate } else { gate.about(target(call)) };
    gate.explained(trail)
}

fn judge(policies: &Policies, trail: &mut Trail, ask: impl Fn(&PolicySet) -> Response) -> Gate {
    let response = ask(&policies.all);
    // Cedar leaves out a policy that it cannot evaluate. A forbid that is left out permits, so here it refuses.
    let mut errors: Vec<String> = response.diagnostics().errors().map(ToString::to_string).collect();
    if !errors.is_empty() {
        errors.sort();
        return failed(trail, &errors);
    }
    let determining = determining(policies, &response);
    if response.decision() == Decision::Allow {
        for rule in determining {
            step(trail, rule, StepOutcome::Decided, "permits the call");
        }
        return Gate::FREE;
    }
    let Some(first) = determining.iter().min_by_key(|rule| (rule.verdict, rule.place)) else {
        return nothing_permits(trail);
    };
    let asks = first.verdict == Some(Verdict::Ask);
    // Cedar stops at a forbid. A forbid that asks must not turn what nothing permits into a question.
    let unpermitted = asks && ask(&policies.permits).decision() == Decision::Deny;
    for rule in &determining {
        let settled = rule.verdict == first.verdict && !unpermitted;
        let outcome = if settled { StepOutcome::Decided } else { StepOutcome::PassedOver };
        let asks = rule.verdict == Some(Verdict::Ask);
        let note = if asks { "forbids the call unless a person agrees" } else { "forbids the call" };
        step(trail, rule, outcome, note);
    }
    if unpermitted {
        return nothing_permits(trail);
    }
    let (kind, reason) = (first.kind.clone(), first.reason.clone());
    if asks { Gate::gated(kind, reason) } else { Gate::refused(kind, reason) }
}

fn nothing_permits(trail: &mut Trail) -> Gate {
    trail.decided(NOTHING_PERMITS, || "no policy permits the call".into());
    Gate::refused(NOTHING_PERMITS, "no Cedar policy permits this call")
}

fn failed(trail: &mut Trail, errors: &[String]) -> Gate {
    let reason = format!("the Cedar policies cannot be evaluated: {}", errors.join("; "));
    trail.decided(ERROR, || reason.clone());
    Gate::refused(ERROR, toolwarden_policy::text::clip(&reason, 500).into_owned())
}

/// The policies that settled Cedar's decision, in the order of their text. Cedar itself gives them in any.
fn determining<'p>(policies: &'p Policies, response: &Response) -> Vec<&'p Rule> {
    let mut rules: Vec<&Rule> = response.diagnostics().reason().filter_map(|id| policies.rules.get(id)).collect();
    rules.sort_by_key(|rule| rule.place);
    rules
}

fn step(trail: &mut Trail, rule: &Rule, outcome: StepOutcome, note: &str) {
    trail.push(Cow::Owned(format!("cedar:{}", rule.name)), outcome, || note.into());
}

/// What the call is about: its command or path, or else the tool.
fn target<'c>(call: &Invocation<'c>) -> &'c str {
    let texts = ["command", "path"].map(|name| call.argument(name).text);
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or(call.tool.public_name)
}
