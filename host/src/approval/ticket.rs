//! What a question is answered by.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

/// 128 random bits, so that nobody answers a question that he was not shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(String);

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Ticket {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl Ticket {
    /// A new one.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bits.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let mut text = String::with_capacity(32);
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
