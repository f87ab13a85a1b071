//! Machine code: the embedded default module's, compiled ahead of time by the build script, and the cache's. The one file of
//! the host with unsafe code.

#![allow(unsafe_code)]

use wasmtime::component::Component;

use super::cache::Verified;

/// The embedded component, as it stands in the repository.
pub(crate) static COMPONENT: &[u8] = include_bytes!("../../../policy-guest/dist/toolwarden-policy.wasm");

/// SHA-256 of the embedded component, taken by the build script.
pub(crate) static DIGEST: &[u8; 32] = include_bytes!(concat!(env!("OUT_DIR"), "/policy.sha256"));

static COMPILED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/policy.cwasm"));

/// Loads the compiled form. None where this engine would compile otherwise, as on a processor that lacks what the code
/// needs; then the component is compiled here.
pub(crate) fn load(engine: &wasmtime::Engine) -> Option<Component> {
    // SAFETY: the bytes were made by wasmtime in this crate's own build script and are part of this very program.
    unsafe { Component::deserialize(engine, COMPILED) }.ok()
}

/// Loads code out of the cache. None where this engine would compile otherwise; then the module is compiled anew.
pub(super) fn from_cache(engine: &wasmtime::Engine, code: &Verified) -> Option<Component> {
    // SAFETY: only the cache makes a `Verified`, out of a file that wasmtime's own `serialize` filled: one that belongs to this
    // user, that nobody else can write, in a folder of the same kind, whose digest over code and key was recomputed from the
    // very bytes that are handed over here. Wasmtime checks that they fit this version, processor and configuration.
    unsafe { Component::deserialize(engine, code.bytes()) }.ok()
}
