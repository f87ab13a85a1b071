//! The rule trail: which rules were looked at, and which one settled the answer.

use std::borrow::Cow;
use std::string::String;
use std::vec::Vec;

use crate::model::{CwdJudgement, Step, StepOutcome};

/// Collects steps when asked to explain, and costs nothing else.
#[derive(Debug)]
pub struct Trail {
    on: bool,
    steps: Vec<Step>,
}

impl Trail {
    /// A trail that keeps nothing.
    #[must_use]
    pub const fn off() -> Self {
        Self { on: false, steps: Vec::new() }
    }

    /// A trail that keeps every step.
    #[must_use]
    pub const fn on() -> Self {
        Self { on: true, steps: Vec::new() }
    }

    /// On or off.
    #[must_use]
    pub const fn new(on: bool) -> Self {
        Self { on, steps: Vec::new() }
    }

    /// The steps, first look first.
    #[must_use]
    pub fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// A rule that did not apply.
    pub fn passed(&mut self, rule: &'static str, note: &str) {
        self.push(Cow::Borrowed(rule), StepOutcome::PassedOver, || note.into());
    }

    /// The rule that settled the answer. Its note is only written where somebody asked to explain.
    pub fn decided(&mut self, rule: &'static str, note: impl FnOnce() -> String) {
        self.push(Cow::Borrowed(rule), StepOutcome::Decided, note);
    }

    /// Where a cwd was found to lie. By itself that settles nothing.
    pub(crate) fn cwd(&mut self, rule: &'static str, judged: CwdJudgement) {
        self.push(Cow::Borrowed(rule), StepOutcome::PassedOver, || match judged.why.word() {
            "none" => std::format!("the cwd is {}", judged.class.word()),
            why => std::format!("the cwd is {}: {why}", judged.class.word()),
        });
    }

    /// A step of a rule whose name is not known before the module runs.
    pub fn push(&mut self, rule: Cow<'static, str>, outcome: StepOutcome, note: impl FnOnce() -> String) {
        if self.on {
            self.steps.push(Step { rule, outcome, note: note() });
        }
    }
}
