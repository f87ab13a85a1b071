//! Strict JSON: a text that two parsers could read differently is no text.
//!
//! On top of `serde_json`, which already refuses lone surrogates, invalid UTF-8 and trailing text, [`parse`] refuses
//!
//! - the same key twice in one object, at any depth (one parser takes the first, another the last);
//! - integers that neither 64 bits nor a double hold exactly (what was judged must be what is dispatched);
//! - nesting deeper than [`MAX_DEPTH`], and more values than [`MAX_VALUES`].
//!
//! ```
//! use toolwarden_json::{ErrorCode, parse};
//!
//! assert_eq!(parse(br#"{"path":"a"}"#).unwrap()["path"], "a");
//! let error = parse(br#"{"x":{"path":"a","path":"b"}}"#).unwrap_err();
//! assert_eq!((error.code, error.pointer.as_str()), (ErrorCode::DuplicateKey, "/x/path"));
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

mod strict;

use alloc::string::{String, ToString as _};
use core::fmt;

pub use serde_json::Value;

/// Levels of nesting at most. Source: the recursion limit of `serde_json`.
pub const MAX_DEPTH: usize = 128;

/// Values in one text at most: members, items, and the whole. A value takes about a hundred bytes of memory, so a short text
/// of many small values would cost many times its length. Source: ours; the largest of several hundred real tool definitions
/// has some hundreds.
pub const MAX_VALUES: usize = 1_000_000;

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// It is not UTF-8.
    NotUtf8,
    /// It is not JSON; lone surrogates and too deep nesting count here too.
    NotJson,
    /// A key occurs twice in one object.
    DuplicateKey,
    /// A number that cannot be kept exactly.
    NumberOutOfRange,
}

impl ErrorCode {
    /// The code as it stands in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotUtf8 => "not-utf8",
            Self::NotJson => "not-json",
            Self::DuplicateKey => "duplicate-key",
            Self::NumberOutOfRange => "number-out-of-range",
        }
    }
}

/// Why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub code: ErrorCode,
    /// JSON pointer to the place, where there is one; empty otherwise.
    pub pointer: String,
    /// What is wrong, in words.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Error {}

/// A text that was read to its end, and the first reason not to trust it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The value. Of a key that occurs twice it holds the first.
    pub value: Value,
    /// The first duplicate key or inexact number, if there is any.
    pub fault: Option<Error>,
}

/// Parses a text that has exactly one meaning.
///
/// # Errors
///
/// [`Error`] with the first fault.
pub fn parse(text: &[u8]) -> Result<Value, Error> {
    let Parsed { value, fault } = parse_lenient(text)?;
    fault.map_or(Ok(value), Err)
}

/// Parses a text and reports a duplicate key or inexact number beside the value, for callers that answer such a text with
/// something better than "unreadable".
///
/// # Errors
///
/// [`Error`] where the text is no JSON at all.
pub fn parse_lenient(text: &[u8]) -> Result<Parsed, Error> {
    parse_bounded(text, MAX_VALUES)
}

/// [`parse_lenient`] with a bound of one's own on the number of values, for texts that are long by nature.
///
/// # Errors
///
/// [`Error`] where the text is no JSON at all, or holds more values.
pub fn parse_bounded(text: &[u8], most: usize) -> Result<Parsed, Error> {
    let fail = |code, message: String| Error { code, pointer: String::new(), message };
    let text = core::str::from_utf8(text)
        .map_err(|e| fail(ErrorCode::NotUtf8, alloc::format!("invalid UTF-8 after byte {}", e.valid_up_to())))?;
    if text.starts_with('\u{feff}') {
        return Err(fail(ErrorCode::NotJson, "the text starts with a byte order mark".into()));
    }
    strict::parse(text, most).map_err(|e| fail(ErrorCode::NotJson, e.to_string()))
}

/// A key as a part of a JSON pointer (RFC 6901).
#[must_use]
pub fn pointer_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
