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

#![deny(missing_docs)]

#[cfg(any(target_arch = "wasm32", test))]
mod arena;
#[cfg(all(target_arch = "wasm32", feature = "component"))]
mod component;
#[cfg(all(target_arch = "wasm32", feature = "core-module"))]
mod core_module;
mod cwd;
mod deferral;
mod detail;
mod gate;
mod glob;
pub mod json;
mod model;
mod module;
mod rules;
mod settings;
mod tools;
mod trail;

pub use cwd::classify_cwd;
pub use deferral::should_defer;
pub use gate::{admit_tool, is_approval_gated};
pub use model::*;
pub use module::Module;
pub use settings::{ApprovalMode, CwdPolicy, DeferralMode, Issue, McpSecurity, SCHEMA, Settings};
pub use trail::Trail;

/// Name of this module.
pub const NAME: &str = "toolwarden-default";
/// Version of this module.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Version of the contract in `wit/policy.wit` that this module is built for.
pub const CONTRACT: &str = "0.1.0";
/// What this module is, in one sentence.
pub const SUMMARY: &str = "gates dangerous calls, locks shells into the workspace and defers tools over budget";
