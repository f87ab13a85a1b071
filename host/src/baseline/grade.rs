//! What a change means.

use serde::Serialize;

/// What a change means, from the least to the most. Source: MCP security, drift, graded.
///
/// Where a change could be two of them, it is the one that means more; what means most is told first. Only [`Grade::Notation`]
/// may ever carry over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// The same, written another way.
    Notation,
    /// What a server says of a tool for others to read, and what it does not prove.
    Hint,
    /// More is possible than before.
    Widened,
    /// A tool or server has come.
    Added,
    /// A tool or server is gone.
    Removed,
    /// One tool went and another came that looks like it.
    Renamed,
    /// What was good before may not be good now, or who knows.
    Breaking,
    /// What the model reads of a tool that was accepted: the channel of injection.
    Text,
}

impl Grade {
    /// The word of the specification.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Notation => "notation",
            Self::Hint => "hint",
            Self::Widened => "widened",
            Self::Text => "text",
            Self::Breaking => "breaking",
            Self::Renamed => "renamed",
            Self::Removed => "removed",
            Self::Added => "added",
        }
    }
}
