//! What becomes of a call, and why.

use serde::{Deserialize, Serialize, Serializer};
use toolwarden_text::{DETAIL_CHARS, clip, visible};

use crate::call::{Attendance, CallId};
use crate::module::{CwdJudgement, Effect, Fault, Gate, Kind, ModuleInfo};
use crate::registry::Generation;

/// What becomes of a call; the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It does not run.
    Deny,
    /// It runs after a person said yes.
    Ask,
    /// It runs.
    Allow,
}

/// Which policy judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyId {
    /// The module's name.
    pub name: String,
    /// The module's version.
    pub version: String,
    /// The module's digest, `sha256:<hex>`.
    pub digest: String,
    /// The registry's number.
    pub generation: Generation,
}

impl PolicyId {
    /// The policy that this module and registry make.
    #[must_use]
    pub fn new(info: &ModuleInfo, generation: Generation) -> Self {
        Self { name: info.name.clone(), version: info.version.clone(), digest: info.digest.to_string(), generation }
    }
}

/// The verdict on one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What becomes of it.
    pub decision: Decision,
    /// Reason code; none if and only if allowed.
    pub kind: Option<Kind>,
    /// Where the cwd lies; none where the call has none.
    pub cwd: Option<CwdJudgement>,
    /// One sentence, for the model and the person.
    pub reason: String,
    /// The real target, safe to show.
    pub detail: String,
}

impl Verdict {
    /// A denial by the host itself.
    pub(crate) fn deny(kind: &'static str, reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            decision: Decision::Deny,
            kind: Some(Kind::known(kind)),
            cwd: None,
            reason: visible(&reason.into()).into_owned(),
            detail: clip(&detail.into(), DETAIL_CHARS).into_owned(),
        }
    }

    /// The verdict on a call that a person allowed.
    pub(crate) fn allowed(of: &Self) -> Self {
        match of.decision {
            Decision::Ask => {
                Self { decision: Decision::Allow, kind: None, reason: "a person allowed it".into(), ..of.clone() }
            }
            Decision::Allow | Decision::Deny => of.clone(),
        }
    }

    /// The denial that a module's fault comes to.
    pub(crate) fn fault(fault: &Fault) -> Self {
        Self::deny(fault.code(), format!("{fault}, so the call is denied"), "")
    }

    /// What a gate comes to where this is the attendance.
    pub(crate) fn of_gate(gate: Gate, attendance: Attendance) -> Self {
        let (decision, reason) = match (gate.effect, attendance) {
            (Effect::Free, _) => (Decision::Allow, gate.reason),
            (Effect::Gated, Attendance::Interactive) => (Decision::Ask, gate.reason),
            (Effect::Gated, _) => (Decision::Deny, unattended(&gate.reason, attendance)),
            (Effect::Refused, _) => (Decision::Deny, gate.reason),
        };
        let reason =
            if decision == Decision::Allow && reason.is_empty() { "nothing speaks against it".into() } else { reason };
        Self { decision, kind: gate.kind, cwd: gate.cwd, reason, detail: gate.detail }
    }

    /// The record of this verdict.
    #[must_use]
    pub const fn record<'v>(&'v self, id: &'v CallId, policy: &'v PolicyId) -> Record<'v> {
        Record { id, verdict: self, policy }
    }
}

/// What the model is told where nobody can be asked. Trying again would change nothing, so it says so.
fn unattended(reason: &str, attendance: Attendance) -> String {
    let who = match attendance {
        Attendance::Scheduled => "a schedule started this job",
        Attendance::Delegated => "another agent started this one",
        Attendance::Remote => "this session is steered from afar",
        Attendance::Interactive => "no approver is connected",
    };
    format!(
        "{reason}; nobody can approve it here, since {who}; do not try again: go on without it, or leave it for a person to do"
    )
}

/// A verdict as `decide` writes it.
#[derive(Clone, Copy, Debug)]
pub struct Record<'v> {
    id: &'v CallId,
    verdict: &'v Verdict,
    policy: &'v PolicyId,
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'v> {
            id: &'v CallId,
            verdict: Decision,
            kind: Option<&'v Kind>,
            cwd: Option<CwdJudgement>,
            reason: &'v str,
            detail: &'v str,
            policy: &'v PolicyId,
        }
        let Verdict { decision, kind, cwd, reason, detail } = self.verdict;
        let fields = Fields {
            id: self.id,
            verdict: *decision,
            kind: kind.as_ref(),
            cwd: *cwd,
            reason,
            detail,
            policy: self.policy,
        };
        fields.serialize(serializer)
    }
}
