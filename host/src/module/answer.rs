//! What a module answers, checked: an answer that the contract does not allow is a [`Fault`], and so a denial.

use std::fmt;

use serde::Serialize;
use toolwarden_text::visible;

use super::contract::wit;
use super::fault::Fault;

/// A reason code: `[a-z][a-z0-9-]*`, at most 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Kind(std::borrow::Cow<'static, str>);

impl Kind {
    /// A code of the host's own.
    pub(crate) const fn known(code: &'static str) -> Self {
        Self(std::borrow::Cow::Borrowed(code))
    }

    /// A code, if it is one.
    #[must_use]
    pub fn new(code: String) -> Option<Self> {
        let fits = (1..=64).contains(&code.len())
            && code.starts_with(|c: char| c.is_ascii_lowercase())
            && code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        fits.then(|| Self(code.into()))
    }

    fn answered(code: String) -> Result<Self, Fault> {
        Self::new(code).ok_or_else(|| Fault::BadAnswer("a reason code is not one".into()))
    }

    /// The code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Declares an answer's enum and how it comes from the contract's.
macro_rules! answers {
    ($($(#[$doc:meta])* $name:ident { $($case:ident: $case_doc:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $(#[doc = $case_doc] $case),+ }

        impl From<wit::$name> for $name {
            fn from(case: wit::$name) -> Self {
                match case { $(wit::$name::$case => Self::$case),+ }
            }
        }
    )+};
}

answers! {
    /// What a call comes to before floors and a person's word; the strictest first.
    Effect { Refused: "It may not run.", Gated: "It may run after a person said yes.", Free: "It may run." }
    /// What the model is shown of a tool; the least first.
    Exposure { Hidden: "Nothing.", Deferred: "Found by search.", Eager: "Everything, up front." }
    /// Whether a tool counts towards the deferral budget.
    Candidacy { Candidate: "It does.", Exempt: "It does not." }
    /// What a rule did.
    StepOutcome { Decided: "It settled the answer.", PassedOver: "It did not apply." }
    /// Where a cwd lies; the worst first.
    CwdClass {
        Invalid: "It is no path.", Outside: "Outside every root.", Skill: "In a skill's folder.", Inside: "In the workspace.",
        NotApplicable: "The call has no cwd.",
    }
    /// Why a cwd is invalid or outside.
    CwdWhy {
        None: "It is neither.", NoRoot: "Relative, without a root.", NotAString: "Not a string.", Nul: "Holds NUL.",
        UnknownScheme: "A scheme that nobody knows.", BadCharacter: "A character that Windows refuses.",
        Stream: "An alternate data stream.", TrailingDotOrSpace: "A name that Windows shortens.",
        DeviceName: "A device's name.", UnnamedSkill: "A skill without a name.", SkillEscape: "A way out of a skill.",
        Device: "The device namespace.", Unc: "A network path.", Home: "`~`.", Expansion: "A variable or command.",
        FileUrl: "A `file:` URL.", DriveRelative: "Relative to a drive's folder.", DriveRoot: "Relative to a drive.",
        ParentEscape: "A `..` segment.", Absolute: "Absolute, below no root.", Link: "A link leads out.",
    }
}

/// Where a cwd lies, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CwdJudgement {
    /// The class.
    pub class: CwdClass,
    /// Why; left out of records where there is no reason.
    #[serde(skip_serializing_if = "CwdWhy::is_none")]
    pub why: CwdWhy,
}

impl CwdWhy {
    /// Whether there is no reason.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// One rule that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its name.
    pub rule: String,
    /// What it did.
    pub outcome: StepOutcome,
    /// Why, in words.
    pub note: String,
}

/// What a call comes to. `kind` is none if and only if the effect is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The effect.
    pub effect: Effect,
    /// The reason code.
    pub kind: Option<Kind>,
    /// One sentence.
    pub reason: String,
    /// The real target.
    pub detail: String,
    /// Where the cwd lies; none where the call has none.
    pub cwd: Option<CwdJudgement>,
    /// The rules looked at, when asked to explain.
    pub trail: Vec<Step>,
}

/// Where a cwd lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CwdAnswer {
    /// The judgement.
    pub judgement: CwdJudgement,
    /// The rules looked at, when asked to explain.
    pub trail: Vec<Step>,
}

/// The gate at registry build, for one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Why every call would be refused; none where the tool is admitted.
    pub refused: Option<(Kind, String)>,
    /// Whether the tool counts towards the budget.
    pub candidacy: Candidacy,
}

/// What the model is shown of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferral {
    /// What it is shown.
    pub exposure: Exposure,
    /// The reason code.
    pub reason: Kind,
}

impl Gate {
    pub(super) fn checked(gate: wit::Gate) -> Result<Self, Fault> {
        let effect = Effect::from(gate.effect);
        let kind = match (effect, gate.kind.is_empty()) {
            (Effect::Free, true) => None,
            (Effect::Free, false) => return Err(Fault::BadAnswer("free, and yet with a reason code".into())),
            (_, true) => return Err(Fault::BadAnswer("not free, and no reason code".into())),
            (_, false) => Some(Kind::answered(gate.kind)?),
        };
        let cwd = CwdJudgement { class: gate.cwd.class.into(), why: gate.cwd.why.into() };
        Ok(Self {
            effect,
            kind,
            reason: shown(gate.reason),
            detail: shown(gate.detail),
            cwd: (cwd.class != CwdClass::NotApplicable).then_some(cwd),
            trail: steps(gate.trail),
        })
    }
}

impl CwdAnswer {
    pub(super) fn checked(answer: wit::CwdAnswer) -> Result<Self, Fault> {
        let judgement = CwdJudgement { class: answer.class.into(), why: answer.why.into() };
        if judgement.class == CwdClass::NotApplicable {
            return Err(Fault::BadAnswer("a cwd was asked about, and the answer is that there is none".into()));
        }
        Ok(Self { judgement, trail: steps(answer.trail) })
    }
}

impl Admission {
    pub(super) fn checked(admission: wit::Admission) -> Result<Self, Fault> {
        let refused = match (Effect::from(admission.effect), admission.kind.is_empty()) {
            (Effect::Refused, _) => Some((Kind::answered(admission.kind)?, shown(admission.reason))),
            (_, true) => None,
            (_, false) => return Err(Fault::BadAnswer("a tool is admitted, and yet with a reason code".into())),
        };
        Ok(Self { refused, candidacy: admission.candidacy.into() })
    }
}

impl Deferral {
    pub(super) fn checked(deferral: wit::Deferral) -> Result<Self, Fault> {
        Ok(Self { exposure: deferral.exposure.into(), reason: Kind::answered(deferral.reason)? })
    }
}

fn steps(steps: Vec<wit::Step>) -> Vec<Step> {
    let step = |s: wit::Step| Step { rule: shown(s.rule), outcome: s.outcome.into(), note: shown(s.note) };
    steps.into_iter().map(step).collect()
}

/// A module's text is shown to people and models; whatever the module did, it deceives neither.
fn shown(text: String) -> String {
    match visible(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(escaped) => escaped,
    }
}
