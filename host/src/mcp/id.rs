//! Ids of requests.

use std::fmt;

use serde_json::{Number, Value};

/// The id of a request, as it came: `"1"` is not `1`, and an integer beyond 2^53 keeps each digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
}

impl RequestId {
    /// The id that a value is; none where it is neither a number nor a text.
    #[must_use]
    pub fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::Number(number)),
            Value::String(text) => Some(Self::Text(text)),
            _ => None,
        }
    }

    /// The id as a value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String(text.clone()),
        }
    }

    /// The id as a whole number, which all ids of our own are.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            Self::Text(_) => None,
        }
    }
}

impl From<u64> for RequestId {
    fn from(id: u64) -> Self {
        Self::Number(id.into())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "\"{}\"", toolwarden_text::clip(text, 80)),
        }
    }
}
