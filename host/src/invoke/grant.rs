//! What a person said yes to, and whether that still covers a call.

use std::sync::Arc;

use crate::approval::Approval;

use super::judge::{Effective, Judge, Judged, unknown};
use crate::verdict::{Decision, PolicyId, Verdict};

/// A judgement that a person agreed to, and who had judged.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    judged: Judged,
    judge: Arc<Judge>,
}

/// What to do with a call that was judged.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It does not run.
    Denied(Verdict),
    /// A person is asked about it, and then it is judged once more.
    Asked(Effective),
    /// It runs.
    Granted(Effective),
}

impl Grant {
    /// A person agreed to this.
    pub(crate) const fn new(judged: Judged, judge: Arc<Judge>) -> Self {
        Self { judged, judge }
    }

    /// What the person is asked.
    pub(crate) const fn judged(&self) -> &Judged {
        &self.judged
    }

    /// Under which policy the person was asked.
    pub(crate) fn policy(&self) -> &PolicyId {
        self.judge.policy()
    }

    /// The denial that it comes to where the person did not agree after all.
    pub(crate) fn declined(&self, approval: Approval) -> Verdict {
        declined(self.judged.verdict.clone(), approval)
    }

    /// Whether the same call comes to the same under the same policy. The facts are gathered anew after the answer, so a link
    /// that was turned meanwhile does not ride on it.
    fn covers(&self, now: &Judged, under: &Judge) -> bool {
        let before = &self.judged;
        self.judge.policy() == under.policy()
            && before.verdict == now.verdict
            && before.effective == now.effective
            && before.facts == now.facts
    }
}

/// What becomes of a call that needed a yes and got none.
pub(crate) fn declined(asked: Verdict, approval: Approval) -> Verdict {
    let (kind, reason) = approval.denial().unwrap_or(("approval-outdated", "the approval is for another call"));
    Verdict { cwd: asked.cwd, ..Verdict::deny(kind, reason, asked.detail) }
}

/// What to do with a call that this judge judged, where a person agreed to this before.
pub(crate) fn admit(judged: &Judged, judge: &Judge, granted: Option<&Grant>) -> Admission {
    let Some(effective) = judged.effective.clone().filter(|_| judged.verdict.decision != Decision::Deny) else {
        return Admission::Denied(judged.verdict.clone());
    };
    if !effective.registered {
        // Nothing speaks against it, but there is nothing to run either.
        let name = &effective.tool.public_name;
        return Admission::Denied(unknown(name, judge.registry().nearest(name)));
    }
    let is_granted = granted.is_some_and(|grant| grant.covers(judged, judge));
    if judged.verdict.decision == Decision::Allow || is_granted {
        Admission::Granted(effective)
    } else {
        Admission::Asked(effective)
    }
}
