//! The embedded default module, compiled ahead of time by the build script. The one file of the host with unsafe code.

#![allow(unsafe_code)]

use wasmtime::component::Component;

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
