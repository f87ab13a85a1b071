//! Readers that are as strict as the records: a word is a string and nothing else.

use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Deserializer};

/// One of an enum's words. A derived reader would also take `{"word": null}`.
pub(crate) fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(String::deserialize(deserializer)?.into_deserializer())
}

/// The same for a field that may be left out.
pub(crate) fn optional_word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    word(deserializer).map(Some)
}
