//! Toolwarden decides, for every tool call of an AI agent, whether it may run, must be approved by a person first, or is
//! refused.
//!
//! The decisions live in a [policy module](module): a WebAssembly component without any import. This crate is the host around
//! it: it gathers the facts, asks the module, and enforces the answer, failing closed.
//!
//! ```
//! use std::sync::Arc;
//! use toolwarden::call::Call;
//! use toolwarden::invoke::{Decision, FactSource, Judge};
//! use toolwarden::module::{Component, PolicyModule};
//! use toolwarden::registry::{Catalogue, Generation, Registry};
//! use toolwarden::settings::Settings;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut settings = Settings::default();
//! settings.make_dangerous();
//!
//! let component = Arc::new(Component::embedded(settings.limits)?);
//! let module = Arc::new(PolicyModule::new(component, &settings.policy_json())?);
//! let registry = Arc::new(Registry::build(&*module, Catalogue::builtin(), 0, Generation(1))?);
//! let judge = Judge::new(module, registry, settings.floors);
//!
//! let call = Call::from_json(
//!     br#"{"id":"c1","tool":"Bash","arguments":{"command":"ls","cwd":"/etc"},"route":"direct","attendance":"interactive",
//!          "workspace":{"root":"/repo","flavour":"posix"}}"#,
//! )?;
//! let verdict = judge.judge(&call, FactSource::Record, false).verdict;
//! assert_eq!(verdict.decision, Decision::Ask);
//! assert_eq!(verdict.kind.unwrap().as_str(), "external-cwd");
//! # Ok(())
//! # }
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`call`] | a call and the facts about it, parsed once |
//! | [`module`] | a policy module's life: load, check, compile, configure, ask |
//! | [`registry`] | which tools there are, and what the model is shown of them |
//! | [`invoke`] | `tool_invoke`: facts, verdict, floors, approval, dispatch |
//! | [`approval`] | a person's word |
//! | [`lifecycle`] | a module in service: gate, swap, watch, trial, rollback |
//! | [`vectors`] | rows that say what a policy must answer |
//! | [`signature`] | detached signatures of modules |
//! | [`settings`] | `toolwarden.toml` |
//! | [`mcp`] | MCP on the wire: messages, transports, listings, both eras |
//! | [`probe`] | a server's list, fetched anew |
//! | [`audit`] | what was decided, asked, run and changed |
//! | [`guard`] | definitions compared at the moment of a call |
//! | [`surveyor`] | asks servers for their tools |
//! | [`baseline`] | what a person accepted of MCP servers, and whether it is still so |
//! | [`output`] | results against the schema that was accepted |
//! | [`store`] | what outlives a process |
//! | [`embed`] | all of it as JSON in and JSON out, for hosts in other languages |
//! | [`serve`] | the same over HTTP, beside a host |
//! | [`authoring`] | building a policy module from a crate |
//! | [`cli`] | the command line, a thin shell over all of it |

#![deny(missing_docs)]

pub mod approval;
pub mod audit;
pub mod authoring;
pub mod baseline;
pub mod call;
pub mod cli;
mod digest;
pub mod embed;
pub mod guard;
pub mod invoke;
pub mod lifecycle;
pub mod mcp;
pub mod module;
pub mod output;
pub mod probe;
pub mod registry;
pub mod serve;
pub mod settings;
pub mod signature;
pub mod store;
pub mod surveyor;
pub mod vectors;
mod verdict;
