//! Texts that nobody may see, and the mask that keeps them out of what is shown.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// What is shown in the place of a secret.
const HIDDEN: &str = "[hidden]";

/// Parts of a secret shorter than this are not masked by themselves: `1` or `true` would black out everything.
const SHORTEST: usize = 4;

/// A text that is shown nowhere: the value of an environment variable or of a header, or part of a URL.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that needs it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Takes secrets out of texts that come from outside: what a server wrote to its standard error, the words of an error.
#[derive(Clone, Default)]
pub struct Mask {
    /// The longest first, so that no part of one is left where another begins.
    parts: Arc<[String]>,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("parts", &self.parts.len()).finish()
    }
}

impl Mask {
    /// A mask for these secrets, each line and each word of them.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s Secret>) -> Self {
        let mut parts: Vec<String> = Vec::new();
        for secret in secrets {
            let text = secret.reveal();
            parts.push(text.trim().to_owned());
            parts.extend(text.split_whitespace().map(str::to_owned));
        }
        parts.retain(|part| part.len() >= SHORTEST && !is_scheme(part));
        parts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        parts.dedup();
        Self { parts: parts.into() }
    }

    /// The value, without secrets in its strings.
    #[must_use]
    pub(crate) fn apply_to_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.apply(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.apply_to_value(item)).collect(),
            Value::Object(members) => {
                members.into_iter().map(|(key, value)| (self.apply(&key), self.apply_to_value(value))).collect()
            }
            other => other,
        }
    }

    /// The text without secrets.
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for part in self.parts.iter() {
            if text.contains(part.as_str()) {
                text = text.replace(part.as_str(), HIDDEN);
            }
        }
        text
    }
}

/// Words before a secret that are none.
fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token", "digest"].contains(&word.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_seen() {
        let secret = Secret::new("hunter22");
        assert_eq!((format!("{secret}"), format!("{secret:?}")), (HIDDEN.into(), HIDDEN.into()));
        let secrets =
            [secret, Secret::new("Bearer abcd1234"), Secret::new("1"), Secret::new("-----BEGIN\nkey line\n-----END")];
        let mask = Mask::new(&secrets);
        assert_eq!(mask.apply("login hunter22 ok 1"), "login [hidden] ok 1");
        assert_eq!(mask.apply("got Bearer abcd1234, and abcd1234 again"), "got [hidden], and [hidden] again");
        assert_eq!(mask.apply("Bearer of bad news"), "Bearer of bad news");
        assert_eq!(mask.apply("-----BEGIN"), HIDDEN);
        assert!(!format!("{mask:?}").contains("hunter22"));
    }
}
