//! Bindings to `wit/policy.wit`, made by wasmtime, and the way between them and our own types.

#![allow(missing_docs, clippy::all, clippy::pedantic, unused_qualifications, reason = "generated bindings")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "policy",
    ownership: Borrowing { duplicate_if_necessary: true },
});

pub(crate) use exports::toolwarden::policy::decisions as wit;

/// Name of the interface that a module exports, without its version.
pub(crate) const INTERFACE: &str = "toolwarden:policy/decisions";
/// Version of the contract that this host speaks.
pub(crate) const VERSION: &str = "0.1.0";
/// Functions of the interface.
pub(crate) const FUNCTIONS: [&str; 7] =
    ["describe", "configure", "admit-tools", "should-defer", "should-defer-all", "is-approval-gated", "classify-cwd"];
