//! Why a list cannot be a snapshot, and why something is not accepted.

use thiserror::Error;

use super::exclusion::ExclusionError;
use super::fingerprint::Fingerprint;
use super::unstable::Unstable;
use crate::store::StoreError;

/// Why a server's list cannot be compared. Half a list is no list.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SnapshotError {
    /// The text has no single meaning.
    #[error("{problem}, at `{}`", toolwarden_text::clip(.place, 200))]
    Text {
        /// Code: `not-json`, `not-utf8`, `duplicate-key`, `number-out-of-range`.
        code: &'static str,
        /// JSON pointer to the place.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// A page is not what `tools/list` answers.
    #[error("`{place}` is {problem}")]
    Shape {
        /// JSON pointer to the place.
        place: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A raw name occurs twice.
    #[error("the tool `{}` is listed twice", toolwarden_text::clip(.0, 100))]
    DuplicateTool(String),
    /// Two tools have one public name.
    #[error("two tools would both be called `{}`", toolwarden_text::clip(.0, 100))]
    SharedPublicName(String),
    /// Two servers have one name.
    #[error("two servers are called `{0}`")]
    DuplicateServer(String),
    /// There is too much of something.
    #[error("`{place}` is larger than {limit} {unit}")]
    TooLarge {
        /// JSON pointer to the place.
        place: String,
        /// What is allowed.
        limit: usize,
        /// Of what.
        unit: &'static str,
    },
    /// A value has no canonical form.
    #[error("a value has no canonical form: {0}")]
    NoCanonicalForm(String),
    /// The server could not be asked.
    #[error("{problem}")]
    Unavailable {
        /// Code of whoever asked.
        code: &'static str,
        /// What went wrong; holds no secrets.
        problem: String,
    },
}

impl SnapshotError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Text { code, .. } | Self::Unavailable { code, .. } => code,
            Self::Shape { .. } => "bad-list",
            Self::DuplicateTool(_) => "duplicate-tools",
            Self::SharedPublicName(_) => "shared-public-name",
            Self::DuplicateServer(_) => "duplicate-server",
            Self::TooLarge { .. } => "list-too-large",
            Self::NoCanonicalForm(_) => "no-canonical-form",
        }
    }

    /// Whether a name stands for two things, so that nobody can say which one was accepted.
    #[must_use]
    pub const fn is_duplicate(&self) -> bool {
        matches!(self, Self::DuplicateTool(_) | Self::SharedPublicName(_) | Self::DuplicateServer(_))
    }
}

/// Why nothing was accepted. What was accepted before stays.
#[derive(Debug, Error)]
pub enum AcceptError {
    /// What there is now is not what the person looked at.
    #[error("what the servers show now is `{now}`, not `{seen}`; look at it again")]
    Changed {
        /// What the person looked at.
        seen: Fingerprint,
        /// What there is.
        now: Fingerprint,
    },
    /// Somebody accepted or withdrew a baseline in the meantime.
    #[error("somebody changed the baseline meanwhile; look at the difference again")]
    Overtaken,
    /// A server's list cannot be had, or is none.
    #[error("server `{server}`: {error}")]
    Unusable {
        /// Which server.
        server: String,
        /// Why.
        error: SnapshotError,
    },
    /// A field changes from one listing to the next.
    #[error("{} changes from one listing to the next; mark it volatile, or do not use the server", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Unstable(Vec<Unstable>),
    /// An exclusion names nothing that is there.
    #[error(transparent)]
    Exclusion(#[from] ExclusionError),
    /// The baseline would be larger than what is read back.
    #[error("the baseline would have {0} bytes, and more than 32 MiB are not kept")]
    TooLarge(usize),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AcceptError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "fingerprint-mismatch",
            Self::Overtaken => "baseline-overtaken",
            Self::Unusable { error, .. } => error.code(),
            Self::Unstable(_) => "unstable-fields",
            Self::Exclusion(error) => error.code(),
            Self::TooLarge(_) => "baseline-too-large",
            Self::Store(_) => "store-unusable",
        }
    }
}

/// Why a text was not imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It is no baseline.
    #[error("this is no baseline: {0}")]
    Malformed(String),
    /// It was changed by hand, or made by something else.
    #[error("its digests do not fit its contents: {0}")]
    FingerprintInvalid(String),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ImportError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "baseline-malformed",
            Self::FingerprintInvalid(_) => "fingerprint-invalid",
            Self::Store(_) => "store-unusable",
        }
    }
}
