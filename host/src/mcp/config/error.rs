//! What is wrong with a configuration.

use std::fmt;

use thiserror::Error;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigCode {
    /// The text is no strict JSON.
    Json(toolwarden_json::ErrorCode),
    /// There is no `mcpServers`.
    NoServers,
    /// A value has another type than it should.
    WrongType,
    /// A name that a server cannot have.
    BadServerName,
    /// A key that nobody knows.
    UnknownKey,
    /// A key is missing.
    MissingKey,
    /// Keys of two transports.
    TwoTransports,
    /// A transport that is not spoken here.
    UnsupportedTransport,
    /// A text that cannot be what it should be.
    BadValue,
    /// A header that a configuration cannot set.
    ReservedHeader,
    /// A variable that is not set.
    UnsetVariable,
    /// A variable of a kind that is not known here.
    UnknownVariable,
}

impl ConfigCode {
    /// The code as it stands in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json(code) => code.as_str(),
            Self::NoServers => "no-servers",
            Self::WrongType => "wrong-type",
            Self::BadServerName => "bad-server-name",
            Self::UnknownKey => "unknown-key",
            Self::MissingKey => "missing-key",
            Self::TwoTransports => "two-transports",
            Self::UnsupportedTransport => "unsupported-transport",
            Self::BadValue => "bad-value",
            Self::ReservedHeader => "reserved-header",
            Self::UnsetVariable => "unset-variable",
            Self::UnknownVariable => "unknown-variable",
        }
    }
}

/// What is wrong with a configuration, and where. Says nothing secret.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// JSON pointer to the key; empty for the whole.
    pub key: String,
    /// What is wrong.
    pub code: ConfigCode,
    /// What is wrong, in words.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", toolwarden_text::clip(&self.file, 200))?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", toolwarden_text::clip(&self.key, 200))?;
        }
        f.write_str(&self.message)
    }
}
