//! Answers put together: from what a rule says, and of two answers the stricter.

use std::borrow::Cow;
use std::string::String;
use std::vec::Vec;

use toolwarden_text::{DETAIL_CHARS, clip};

use crate::model::{Admission, Deferral, Exposure};
use crate::model::{Candidacy, CwdJudgement, Effect, Gate, StepOutcome};
use crate::trail::Trail;

/// Reason code of a module that was given no settings.
const NOT_CONFIGURED: &str = "not-configured";

impl Gate {
    /// Nothing speaks against the call.
    pub const FREE: Self = Self {
        effect: Effect::Free,
        kind: Cow::Borrowed(""),
        reason: Cow::Borrowed(""),
        detail: String::new(),
        cwd: CwdJudgement::NOT_APPLICABLE,
        trail: Vec::new(),
    };

    /// The call may not run. The kind is a code as `git-push`; the reason is one sentence for the model and the person.
    #[must_use]
    pub fn refused(kind: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { effect: Effect::Refused, kind: kind.into(), reason: reason.into(), ..Self::FREE }
    }

    /// The call may run only after a person said yes.
    #[must_use]
    pub fn gated(kind: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { effect: Effect::Gated, kind: kind.into(), reason: reason.into(), ..Self::FREE }
    }

    /// The same answer, with what the call is really about: made safe to look at, and cut.
    #[must_use]
    pub fn about(self, target: &str) -> Self {
        Self { detail: clip(target, DETAIL_CHARS).into_owned(), ..self }
    }

    /// The same answer, with the rules that were looked at.
    #[must_use]
    pub fn explained(self, trail: Trail) -> Self {
        Self { trail: trail.into_steps(), ..self }
    }

    /// Of two answers about one call the stricter, and of two equally strict ones the first. The trails are joined, and in the
    /// joined one only the winner's rules settled anything. What the winner does not say, the real target or where the cwd
    /// lies, is taken from the other; of two classes of the cwd the worse stands.
    ///
    /// ```
    /// use toolwarden_policy::{Effect, Gate};
    ///
    /// let ours = Gate::gated("git-push", "this publishes commits").about("git push origin main");
    /// let both = ours.stricter(Gate::refused("cwd-locked", "the cwd is outside"));
    /// assert_eq!((both.effect, &*both.kind), (Effect::Refused, "cwd-locked"));
    /// assert_eq!(both.detail, "git push origin main");
    /// ```
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let first_wins = self.effect <= other.effect;
        let cwd = if other.cwd.class < self.cwd.class { other.cwd } else { self.cwd };
        let (mut first, mut second) = (self, other);
        let loser = if first_wins { &mut second } else { &mut first };
        for step in &mut loser.trail {
            step.outcome = StepOutcome::PassedOver;
        }
        let mut trail = core::mem::take(&mut first.trail);
        trail.append(&mut second.trail);
        let (winner, loser) = if first_wins { (first, second) } else { (second, first) };
        let detail = if winner.detail.is_empty() { loser.detail } else { winner.detail };
        Self { detail, cwd, trail, ..winner }
    }

    /// What a module says before it was given settings.
    pub(crate) fn not_configured() -> Self {
        Self::refused(NOT_CONFIGURED, "the policy module was given no settings")
    }
}

impl Admission {
    /// Every call of the tool would be refused.
    #[must_use]
    pub fn refused(kind: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { effect: Effect::Refused, kind: kind.into(), reason: reason.into(), candidacy: Candidacy::Exempt }
    }

    /// What a module says before it was given settings.
    pub(crate) fn not_configured() -> Self {
        Self::refused(NOT_CONFIGURED, "the policy module was given no settings")
    }
}

impl Deferral {
    /// What a module says before it was given settings.
    pub(crate) const NOT_CONFIGURED: Self = Self { exposure: Exposure::Hidden, reason: Cow::Borrowed(NOT_CONFIGURED) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CwdClass, CwdWhy, Step};

    fn step(rule: &'static str, outcome: StepOutcome) -> Step {
        Step { rule: rule.into(), outcome, note: String::new() }
    }

    fn explained(gate: Gate, rule: &'static str) -> Gate {
        Gate { trail: vec![step("looked", StepOutcome::PassedOver), step(rule, StepOutcome::Decided)], ..gate }
    }

    #[test]
    fn the_stricter_of_two_wins_whichever_way_round() {
        let gates = [Gate::refused("r", "refused"), Gate::gated("g", "gated"), Gate::FREE];
        for (i, a) in gates.iter().enumerate() {
            for (j, b) in gates.iter().enumerate() {
                let expected = &gates[i.min(j)];
                assert_eq!(&a.clone().stricter(b.clone()), expected);
            }
        }
        let tie = Gate::gated("a", "first").stricter(Gate::gated("b", "second"));
        assert_eq!(tie, Gate::gated("a", "first"));
    }

    #[test]
    fn the_trail_of_both_has_what_settled_it_once() {
        let ours = || explained(Gate::gated("g", "gated"), "ours");
        let theirs = || explained(Gate::refused("r", "refused"), "theirs");
        let (passed, decided) = (StepOutcome::PassedOver, StepOutcome::Decided);
        let trail = [step("looked", passed), step("ours", passed), step("looked", passed), step("theirs", decided)];
        assert_eq!(ours().stricter(theirs()).trail, trail);
        let trail = [step("looked", passed), step("theirs", decided), step("looked", passed), step("ours", passed)];
        assert_eq!(theirs().stricter(ours()).trail, trail);
    }

    #[test]
    fn cwd_and_detail_are_not_lost() {
        let outside = CwdJudgement { class: CwdClass::Outside, why: CwdWhy::Absolute };
        let placed = |gate: Gate, cwd| Gate { cwd, ..gate };
        let worse = placed(Gate::FREE, CwdJudgement::INSIDE).stricter(placed(Gate::FREE, outside));
        assert_eq!(worse.cwd, outside);
        let only = Gate::refused("r", "refused").stricter(placed(Gate::FREE, CwdJudgement::INSIDE).about("x\u{202e}y"));
        assert_eq!((only.cwd, only.detail.as_str()), (CwdJudgement::INSIDE, "x\\u{202e}y"));
    }
}
