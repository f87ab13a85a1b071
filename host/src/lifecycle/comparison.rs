//! How two verdicts on one call differ.

use serde::Serialize;

use crate::invoke::Verdict;

/// How another verdict differs from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The other lets more through.
    Looser,
    /// The other lets less through.
    Stricter,
    /// Both come to the same, for another reason: the kind or the class of the cwd differs.
    OtherReason,
}

/// How another verdict differs from one; none where they are the same but for their wording.
#[must_use]
pub fn compare(one: &Verdict, other: &Verdict) -> Option<Change> {
    match other.decision.cmp(&one.decision) {
        std::cmp::Ordering::Less => Some(Change::Stricter),
        std::cmp::Ordering::Greater => Some(Change::Looser),
        std::cmp::Ordering::Equal => (one.kind != other.kind || one.cwd != other.cwd).then_some(Change::OtherReason),
    }
}

/// Counts of how verdicts differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Calls that both judged.
    pub calls: u64,
    /// Same verdict, same reason.
    pub same: u64,
    /// The other was stricter.
    pub stricter: u64,
    /// The other was looser.
    pub looser: u64,
    /// Same verdict, other reason.
    pub other_reason: u64,
}

impl Comparison {
    /// Counts one call.
    pub const fn count(&mut self, change: Option<Change>) {
        self.calls += 1;
        match change {
            None => self.same += 1,
            Some(Change::Stricter) => self.stricter += 1,
            Some(Change::Looser) => self.looser += 1,
            Some(Change::OtherReason) => self.other_reason += 1,
        }
    }
}
