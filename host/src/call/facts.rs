//! What a host found out about a call.

use serde::{Deserialize, Serialize};

/// What became of resolving a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    /// It could not be resolved.
    Failed,
    /// Nobody tried.
    NotAttempted,
    /// Every link was followed.
    Resolved,
}

/// What was found out about the cwd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CwdFacts {
    /// What became of resolving it.
    pub resolution: Resolution,
    /// Real paths, one for each way to read the cwd.
    pub paths: Vec<String>,
    /// Real paths of the workspace's roots.
    pub roots: Vec<String>,
    /// Real paths of the skills roots.
    pub skills_roots: Vec<String>,
}

impl CwdFacts {
    /// Nobody tried.
    pub const NOT_ATTEMPTED: Self =
        Self { resolution: Resolution::NotAttempted, paths: Vec::new(), roots: Vec::new(), skills_roots: Vec::new() };
    /// It could not be resolved.
    pub const FAILED: Self =
        Self { resolution: Resolution::Failed, paths: Vec::new(), roots: Vec::new(), skills_roots: Vec::new() };
}

/// What was found out about an argument that names a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFact {
    /// JSON pointer into the arguments.
    pub argument: String,
    /// What became of resolving it.
    pub resolution: Resolution,
    /// The real path; empty unless resolved.
    pub path: String,
}

/// How a definition compares with its baseline. Without a word about it, a definition has no snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefinitionTrust {
    /// There is no snapshot to compare.
    #[default]
    SnapshotUnavailable,
    /// No baseline was ever accepted.
    BaselineMissing,
    /// What is stored is not a baseline.
    BaselineMalformed,
    /// The stored fingerprint does not recompute.
    FingerprintInvalid,
    /// A name occurs twice.
    DuplicateTools,
    /// Something changed.
    DefinitionDrift,
    /// The probe got no answer.
    ProbeFailed,
    /// Two ways of looking disagree.
    SplitView,
    /// Equal to the baseline.
    Matching,
}

impl DefinitionTrust {
    /// The word of the contract, which is the reason code of a denial as well.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SnapshotUnavailable => "snapshot-unavailable",
            Self::BaselineMissing => "baseline-missing",
            Self::BaselineMalformed => "baseline-malformed",
            Self::FingerprintInvalid => "fingerprint-invalid",
            Self::DuplicateTools => "duplicate-tools",
            Self::DefinitionDrift => "definition-drift",
            Self::ProbeFailed => "probe-failed",
            Self::SplitView => "split-view",
            Self::Matching => "matching",
        }
    }
}

/// All that was found out about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// About its cwd.
    pub cwd: CwdFacts,
    /// About arguments that name paths.
    pub paths: Vec<PathFact>,
    /// How the definition compares with its baseline.
    pub trust: DefinitionTrust,
    /// What differs, in one line.
    pub trust_summary: String,
    /// The registered name closest to one that is not registered; empty when there is none.
    pub nearest: String,
}
