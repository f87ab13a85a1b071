//! The default policy module of Toolwarden.
//!
//! Three decisions, each a pure function of [`Settings`] and facts:
//!
//! - [`is_approval_gated`]: may a tool call run, must a person be asked, or is it refused;
//! - [`classify_cwd`]: does a working directory leave the workspace;
//! - [`should_defer`]: is a tool's definition shown to the model up front or on demand.
//!
//! They touch no clock, file, network or environment. Two thin faces export them: a WebAssembly component behind
//! `wit/policy.wit` (feature `component`, the default), and a core module that speaks JSON through its memory (feature
//! `core-module`) for runtimes that know no components.
//!
//! It is also the kit for modules of one's own: a [`PolicyModule`] takes these decisions, changes what it wants, and becomes a
//! component with [`export!`]. Such a crate depends on this one with `default-features = false`. With the feature `arena` it
//! gets the default module's allocator, which makes a fresh instance for each call cheap as long as a decision needs a few
//! kilobytes; without, the standard one, or one of its own choice.

#![deny(missing_docs)]

mod answer;
#[cfg(any(all(target_arch = "wasm32", feature = "arena"), test))]
mod arena;
// Where only the core module is built, a component's type has no place in it.
#[cfg(all(target_arch = "wasm32", any(feature = "component", not(feature = "core-module"))))]
#[doc(hidden)]
pub mod component;
#[cfg(all(target_arch = "wasm32", feature = "core-module"))]
mod core_module;
mod cwd;
mod deferral;
mod detail;
#[doc(hidden)]
pub mod face;
mod gate;
mod glob;
pub mod json;
mod kit;
mod model;
mod module;
mod rules;
mod settings;
mod tools;
mod trail;

pub use cwd::classify_cwd;
pub use deferral::should_defer;
pub use face::Slot;
pub use gate::{admit_tool, is_approval_gated};
pub use kit::PolicyModule;
pub use model::*;
pub use module::{DefaultModule, Instance, Module};
pub use settings::{ApprovalMode, CwdPolicy, DeferralMode, Issue, McpSecurity, Own, SCHEMA, Settings};
/// Text that is safe to show, as the default module shows it.
pub use toolwarden_text as text;
pub use trail::Trail;

#[cfg(feature = "component")]
#[allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, reason = "generated bindings")]
mod exported {
    crate::export!(crate::DefaultModule);
}

/// Name of this module.
pub const NAME: &str = "toolwarden-default";
/// Version of this module.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Version of the contract in `wit/policy.wit` that this module is built for.
pub const CONTRACT: &str = "0.1.0";
/// What this module is, in one sentence.
pub const SUMMARY: &str = "gates dangerous calls, locks shells into the workspace and defers tools over budget";
