//! The tool registry: which tools there are, and what the model is shown of them.
//!
//! A [`Catalogue`] is a list of tools, from the agent itself and from `tools/list` answers of MCP servers. A [`Registry`] is
//! what a policy module made of one: an immutable plan with a generation number, and the index behind the bridge tools.

mod bridge;
mod builtin;
mod catalogue;
mod fold;
mod import;
mod plan;
mod record;
mod search;
mod tokens;

pub use bridge::{TOOL_DESCRIBE, TOOL_INVOKE, TOOL_SEARCH};
pub(crate) use builtin::{path_arguments, uses_cwd};
pub use catalogue::{Catalogue, Tool};
pub(crate) use fold::fold;
pub use import::{ImportError, Servers};
pub use plan::{BuildError, Generation, Registered, Registry, RegistryTotals, plan};
pub use record::{Listing, PlanRecord, PlannedTool};
pub use search::{ENTRY_TOKENS, Entry, FIELD_TOKENS, Hit, Index, NAME_BYTES, QUERY_CHARS, QUERY_TOKENS, WORD_CHARS};
pub use tokens::estimate_tokens;
