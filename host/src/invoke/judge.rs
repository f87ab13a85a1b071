//! From a call and facts to a verdict.

use std::fmt;
use std::sync::Arc;

use super::envelope;
use super::floors::{Floors, Ground};
use super::gather::{self, FactSource};
use crate::call::{Arguments, Attendance, Call, DefinitionTrust, Facts, Origin, Route, ToolRef};
use crate::module::{Effect, Exposure, Fault, Policy, Question, Step, StepOutcome};
use crate::registry::{Registered, Registry, TOOL_INVOKE, fold};
use crate::verdict::{Decision, PolicyId, Verdict};
use toolwarden_text::clip;

/// What the call really calls: the bridge is unwrapped here, once.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// The tool.
    pub tool: ToolRef,
    /// Whether the registry holds it.
    pub registered: bool,
    /// Its own arguments.
    pub arguments: Arc<Arguments>,
    /// How it was addressed.
    pub route: Route,
}

/// A verdict, and what it is on.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// The effective call; none where the call was denied before there was one.
    pub effective: Option<Effective>,
    /// The facts that it was judged by.
    pub facts: Option<Facts>,
    /// The rules that were looked at, when asked to explain.
    pub trail: Vec<Step>,
}

/// Somebody who is shown every decision of a judge, as it was made. It must not block.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A call was judged; `fault` is what went wrong in the module, where something did.
    fn on_judged(&self, call: &Call, judged: &Judged, fault: Option<&Fault>);
}

/// A policy module, a registry, and the floors beneath both. Immutable, so a decision never mixes two generations.
#[derive(Clone, Debug)]
pub struct Judge {
    module: Arc<dyn Policy>,
    registry: Arc<Registry>,
    floors: Floors,
    policy: Arc<PolicyId>,
    observer: Option<Arc<dyn Observer>>,
}

impl Judge {
    /// A judge.
    #[must_use]
    pub fn new(module: Arc<dyn Policy>, registry: Arc<Registry>, floors: Floors) -> Self {
        let policy = Arc::new(PolicyId::new(module.info(), registry.generation()));
        Self { module, registry, floors, policy, observer: None }
    }

    /// The same judge, observed.
    #[must_use]
    pub fn observed(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Which policy judges.
    #[must_use]
    pub const fn policy(&self) -> &Arc<PolicyId> {
        &self.policy
    }

    /// The registry.
    #[must_use]
    pub const fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The verdict on a call.
    #[must_use]
    pub fn judge(&self, call: &Call, source: FactSource, explain: bool) -> Judged {
        let (judged, fault) = self.judged(call, explain, |effective, registered| {
            gather::facts(source, call, &effective.tool, registered, &effective.arguments, &self.registry)
        });
        if let Some(observer) = &self.observer {
            observer.on_judged(call, &judged, fault.as_ref());
        }
        judged
    }

    /// The verdict on a call by facts that another judge was given, so that two policies can be compared on the same ground.
    /// Without facts those of the record count. No observer is shown it. Gives the module's fault, where it had one.
    #[must_use]
    pub fn judge_again(&self, call: &Call, facts: Option<&Facts>) -> (Judged, Option<Fault>) {
        self.judged(call, false, |effective, registered| {
            let of_record = || {
                let source = FactSource::Record;
                gather::facts(source, call, &effective.tool, registered, &effective.arguments, &self.registry)
            };
            facts.cloned().unwrap_or_else(of_record)
        })
    }

    /// The tool whose definition must be the accepted one for this call to run; none where that is not asked for.
    pub(crate) fn covered(&self, call: &Call) -> Option<ToolRef> {
        let is_covered = |tool: &ToolRef| self.floors.mcp_enforced && tool.origin == Origin::Mcp;
        self.effective(call).ok().map(|(effective, _)| effective.tool).filter(is_covered)
    }

    /// The judgement on a call that is refused even if its definition is the accepted one and somebody is there; none where it
    /// is not. No observer is shown it.
    pub(crate) fn refused_anyway(&self, call: &Call) -> Option<Judged> {
        let call = Call { attendance: Attendance::Interactive, ..call.clone() };
        let (judged, _) = self.judged(&call, false, |effective, registered| {
            let source = FactSource::ThisMachine;
            let facts = gather::facts(source, &call, &effective.tool, registered, &effective.arguments, &self.registry);
            Facts { trust: DefinitionTrust::Matching, ..facts }
        });
        Some(judged).filter(|judged| judged.verdict.decision == Decision::Deny)
    }

    fn judged(
        &self,
        call: &Call,
        explain: bool,
        facts: impl FnOnce(&Effective, Option<&Registered>) -> Facts,
    ) -> (Judged, Option<Fault>) {
        let (effective, registered) = match self.effective(call) {
            Ok(effective) => effective,
            Err(verdict) => return (Judged { verdict, effective: None, facts: None, trail: Vec::new() }, None),
        };
        let facts = facts(&effective, registered);
        let mut answer = self.module.is_approval_gated(&Question {
            tool: &effective.tool,
            registered: effective.registered,
            call_arguments: &effective.arguments,
            route: effective.route,
            attendance: call.attendance,
            workspace: &call.workspace,
            facts: &facts,
            explain,
        });
        let mut trail = answer.as_mut().map(|gate| std::mem::take(&mut gate.trail)).unwrap_or_default();
        let effect = answer.as_ref().map(|gate| gate.effect).ok();
        let fault = answer.as_ref().err().cloned();
        let ground = Ground {
            tool: &effective.tool,
            arguments: &effective.arguments,
            workspace: &call.workspace,
            facts: &facts,
            attendance: call.attendance,
        };
        let verdict = self.floors.verdict(answer, &ground);
        if explain && verdict.decision == Decision::Deny && effect != Some(Effect::Refused) {
            let rule = if effect == Some(Effect::Gated) { "nobody-attends" } else { "floor" };
            for step in &mut trail {
                step.outcome = StepOutcome::PassedOver;
            }
            trail.push(Step { rule: rule.into(), outcome: StepOutcome::Decided, note: verdict.reason.clone() });
        }
        (Judged { verdict, effective: Some(effective), facts: Some(facts), trail }, fault)
    }

    /// Finds the effective tool, or denies the call before any policy is asked.
    fn effective(&self, call: &Call) -> Result<(Effective, Option<&Registered>), Verdict> {
        let is_bridge = call.server.is_none() && call.tool == TOOL_INVOKE;
        if is_bridge {
            return self.bridged(call);
        }
        if call.route == Route::Bridge {
            return Err(Verdict::deny("bad-envelope", "only tool_invoke carries a bridged call", ""));
        }
        let (tool, registered) = self.registry.resolve(call.server.as_ref(), &call.tool);
        // What runs the call in the end may fold or trim a name. A name that comes so close is no other tool.
        if registered.is_none() && self.registry.near_miss(&tool.public_name).is_some() {
            return Err(unknown(&tool.public_name, self.registry.nearest(&tool.public_name)));
        }
        if let Some((given, meant)) = registered.and_then(|registered| misspelt(registered, &call.arguments)) {
            let reason =
                format!("`{}` is read as `{meant}` by some and not by others; spell it `{meant}`", clip(given, 64));
            return Err(Verdict::deny("ambiguous-argument", reason, clip(given, 64)));
        }
        let arguments = Arc::clone(&call.arguments);
        Ok((Effective { tool, registered: registered.is_some(), arguments, route: Route::Direct }, registered))
    }

    fn bridged(&self, call: &Call) -> Result<(Effective, Option<&Registered>), Verdict> {
        if self.registry.by_public_name(TOOL_INVOKE).is_none_or(|r| r.exposure == Exposure::Hidden) {
            return Err(Verdict::deny("rule-deny", "a rule denies `tool_invoke`", TOOL_INVOKE));
        }
        let envelope = envelope::open(call)?;
        let name = &envelope.name;
        // A denied tool does not exist for the model. One that is hidden because nobody has accepted its definition yet goes on
        // to the gate, which says so as it would to a direct call.
        let is_denied = |r: &Registered| r.exposure == Exposure::Hidden && r.reason.as_str() == "denied";
        let found = self.registry.by_public_name(name).filter(|r| !is_denied(r));
        let shown = clip(name, 64);
        match found {
            None => Err(unknown(name, self.registry.nearest(name))),
            Some(found) if found.tool.tool.origin == Origin::Bridge => Err(Verdict::deny(
                "nested-bridge",
                "a bridge tool cannot be called through tool_invoke; call it directly",
                shown,
            )),
            Some(found) if found.exposure == Exposure::Eager => Err(Verdict::deny(
                "call-directly",
                format!("`{shown}` is no deferred tool; call it by its own name"),
                shown,
            )),
            Some(found) => {
                let effective = Effective {
                    tool: found.tool.tool.clone(),
                    registered: true,
                    arguments: Arc::new(envelope.arguments),
                    route: Route::Bridge,
                };
                Ok((effective, Some(found)))
            }
        }
    }
}

/// An argument of the agent's own tool whose name is not one that the tool knows, and yet looks like one: whatever runs the
/// call in the end may fold names that the policy tells apart.
fn misspelt<'c>(registered: &'c Registered, arguments: &'c Arguments) -> Option<(&'c str, &'c str)> {
    if registered.tool.tool.origin != Origin::Core {
        return None;
    }
    let known = registered.tool.definition.pointer("/inputSchema/properties")?.as_object()?;
    let odd = arguments.as_map().keys().filter(|name| !known.contains_key(*name));
    odd.map(String::as_str).find_map(|name| {
        // No name that anybody knows is so long, whatever is hidden in it.
        let folded = fold(name.get(..256).unwrap_or(name));
        known.keys().find(|known| fold(known) == folded).map(|known| (name, known.as_str()))
    })
}

/// The denial of a call of no tool.
pub(super) fn unknown(name: &str, nearest: Option<&str>) -> Verdict {
    let shown = clip(name, 64);
    let reason = match nearest {
        None => format!("there is no tool `{shown}`"),
        Some(nearest) => format!("there is no tool `{shown}`; did you mean `{}`?", clip(nearest, 64)),
    };
    Verdict::deny("unknown-tool", reason, clip(name, toolwarden_text::DETAIL_CHARS))
}
