//! Why a module or settings were not put in force.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::module::Digest;

/// What a candidate goes through, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The settings are valid.
    Settings,
    /// The file can be read, whole.
    File,
    /// The digest is the pinned one.
    Digest,
    /// A configured key has signed it.
    Signature,
    /// It fits the contract and imports no more than the module in force.
    Contract,
    /// It takes the settings.
    Configure,
    /// It passes its own vectors.
    Vectors,
    /// It passes the host's safety vectors.
    Safety,
    /// It gives a registry.
    Registry,
}

/// Why a candidate was refused. What was in force still is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Where it failed.
    pub check: Check,
    /// A stable code.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The candidate's digest; none where there was no module to take one of.
    #[serde(serialize_with = "text")]
    pub digest: Option<Digest>,
}

impl Refusal {
    pub(super) fn new(check: Check, code: &'static str, message: impl fmt::Display) -> Self {
        let message = toolwarden_text::visible(&message.to_string()).into_owned();
        Self { check, code, message, digest: None }
    }

    pub(super) fn of(self, digest: Digest) -> Self {
        Self { digest: Some(digest), ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for Refusal {}

#[allow(clippy::ref_option, reason = "the shape that serde asks for")]
fn text<S: Serializer>(digest: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    digest.map(|digest| digest.to_string()).serialize(serializer)
}
