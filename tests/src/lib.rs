//! The harness of Toolwarden: vectors, a scripted agent host, and the ways to ask for a verdict.
//!
//! A vector is a line of JSON in `tests/vectors/`: an input, and what must come of it. Each is run on three faces: the policy's
//! functions [built natively](native), the embedded [component], and the [command line](cli). Each fault that was
//! ever found is a row with an id of its own.

pub mod agent;
pub mod cli;
pub mod component;
pub mod guests;
pub mod languages;
pub mod native;
#[allow(missing_docs, reason = "a model for tests, documented where it is not self-evident")]
pub mod oracle;
pub mod question;
pub mod vectors;
