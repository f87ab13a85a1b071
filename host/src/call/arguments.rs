//! The arguments of a call: a JSON object, parsed once.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::record::RecordError;

/// The one value that is classified, shown, bound into an approval, dispatched and audited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Arguments from a value; only an object will do.
    ///
    /// # Errors
    ///
    /// [`RecordError`] with code `bad-arguments`.
    pub fn from_value(value: Value) -> Result<Self, RecordError> {
        match value {
            Value::Object(map) => Ok(Self(map)),
            _ => Err(RecordError::new("bad-arguments", "`arguments` is not an object")),
        }
    }

    /// The object itself.
    #[must_use]
    pub const fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The object itself, given away.
    #[must_use]
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// A member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Each member's name, and its text: of a string its characters, of anything else its compact JSON.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &Value, Cow<'_, str>)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value, text_of(value)))
    }
}

/// The characters of a string, the compact JSON of anything else.
pub(crate) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
