//! What every peer can do.

use anyhow::Result;

use crate::call::Verdict;

/// A policy engine with the policy loaded.
pub trait Peer: Sized {
    /// The engine's own form of a call, ready to be decided.
    type Request;

    /// The name in the output.
    const NAME: &'static str;
    /// The crate whose version the output shows.
    const CRATE: &'static str;

    /// Loads the policy.
    fn load() -> Result<Self>;

    /// Builds a request from the JSON text of a call.
    fn parse(&self, text: &str) -> Result<Self::Request>;

    /// Decides a request. Leaves the request usable for the next call.
    fn decide(&mut self, request: &Self::Request) -> Result<Verdict>;
}
