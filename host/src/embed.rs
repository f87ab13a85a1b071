//! A Toolwarden as a host in another language holds it: JSON in, JSON out, one handle for all threads.
//!
//! The texts are those of the command line: a call is a `decide` record, a verdict the same bytes that `decide` writes, a plan
//! what `registry` writes. Every binding is a thin shell over [`Warden`], so all of them answer alike.
//!
//! ```
//! use toolwarden::embed::Warden;
//!
//! let warden = Warden::open(br#"{"profile":"dangerous"}"#).unwrap();
//! let call = br#"{"id":"c1","tool":"Delete","arguments":{"path":"build","recursive":true},"route":"direct",
//!                 "attendance":"interactive","workspace":{"root":"/repo","flavour":"posix"}}"#;
//! let answer: serde_json::Value = serde_json::from_str(&warden.invoke(call).unwrap()).unwrap();
//! assert_eq!(answer["verdict"], "ask");
//!
//! let answer = warden.settle(answer["ticket"].as_str().unwrap(), "allowed-once").unwrap();
//! let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
//! assert_eq!((&answer["verdict"], &answer["run"]["arguments"]["path"]), (&"allow".into(), &"build".into()));
//! ```
//!
//! # What a host must do itself
//!
//! It runs the tool, exactly with the arguments that came back, and only where [`Warden::invoke`] or [`Warden::settle`] said
//! `allow`. It asks the person. An error, or no answer, is no permission.

mod options;
mod pending;
mod warden;

use std::fmt::Display;

use serde_json::json;
use thiserror::Error;

use crate::call::RecordError;
use crate::lifecycle::Refusal;

pub use warden::Warden;

/// Why there is no answer. No answer is no permission.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message} [{code}]")]
pub struct EmbedError {
    /// A stable code; all stand in `docs/codes.md`.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl EmbedError {
    pub(crate) fn new(code: &'static str, message: impl Display) -> Self {
        Self { code, message: toolwarden_text::visible(&message.to_string()).into_owned() }
    }

    /// The error as a record: `{"error":{"code":"...","message":"..."}}`.
    #[must_use]
    pub fn record(&self) -> String {
        json!({ "error": { "code": self.code, "message": self.message } }).to_string()
    }
}

impl From<RecordError> for EmbedError {
    fn from(error: RecordError) -> Self {
        Self::new(error.code, error.message)
    }
}

impl From<Refusal> for EmbedError {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code, refusal.message)
    }
}
