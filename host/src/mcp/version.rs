//! Protocol versions, and the two eras they belong to.

/// How a connection is spoken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// A connection begins with `initialize` and has a state.
    Legacy,
    /// Each request carries version, client information and capabilities itself.
    Modern,
}

impl Era {
    /// The word as it stands in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

/// Versions of the legacy era, oldest first.
pub const LEGACY_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Versions of the modern era, oldest first.
pub const MODERN_VERSIONS: [&str; 1] = ["2026-07-28"];

/// From this version on an HTTP request names the version in a header.
pub(crate) const FIRST_WITH_HEADER: &str = "2025-06-18";

/// The era of a version; none for one that is not known.
#[must_use]
pub fn era_of(version: &str) -> Option<Era> {
    if MODERN_VERSIONS.contains(&version) {
        Some(Era::Modern)
    } else if LEGACY_VERSIONS.contains(&version) {
        Some(Era::Legacy)
    } else {
        None
    }
}
