//! The baseline: what a person accepted of MCP servers, and whether it is still so.
//!
//! A [`Survey`] is what was found at each server. [`check`] compares it with the [`Stored`] baseline and comes to a [`State`];
//! only [`State::Equal`] (and, where settings say so, [`State::CarriedOver`]) lets a call go on to its approval. Nothing here
//! accepts anything by itself: [`accept`] wants the fingerprint of what a person looked at.
//!
//! ```
//! use serde_json::json;
//! use toolwarden::baseline::{Exclusions, Identity, Reach, ServerSnapshot, State, Stored, Survey, Tolerance, check};
//! use toolwarden::call::ServerName;
//!
//! let name = ServerName::new("security_demo").unwrap();
//! let identity = Identity::new(json!({ "transport": "stdio", "command": "node", "args": ["server.js"] }));
//! let tools = vec![json!({ "name": "echo", "description": "Says it again.", "inputSchema": { "type": "object" } })];
//! let survey = Survey::new([(name.clone(), ServerSnapshot::new(name, identity, None, tools))]);
//!
//! let state = check(&survey, &Stored::Missing, Reach::Catalogue, Tolerance::Nothing);
//! assert_eq!(state.code(), "baseline-missing");
//! assert_eq!(state, State::BaselineMissing);
//! let fingerprint = survey.fingerprint(&Exclusions::default()).unwrap();
//! assert!(fingerprint.to_string().starts_with("sha256:"));
//! ```

mod acceptance;
mod canonical;
mod change;
mod count;
mod diff;
mod error;
mod exclusion;
mod fingerprint;
mod grade;
mod history;
mod label;
mod place;
mod pointer;
mod record;
mod rename;
mod schema;
mod snapshot;
mod state;
mod strict;
mod summary;
mod survey;
mod table;
mod text;
mod transfer;
mod unstable;

pub use acceptance::{Acceptance, accept, withdraw};
pub use change::{Change, Drift};
pub use count::Counted;
pub use diff::{Lists, diff, diff_server};
pub use error::{AcceptError, ImportError, SnapshotError};
pub use exclusion::{Exclusion, ExclusionError, Exclusions};
pub use fingerprint::Fingerprint;
pub use grade::Grade;
pub use history::{Entry, EntryKind, accepted_text, history};
pub use record::{Baseline, Stored};
pub use snapshot::{Identity, ServerSnapshot, ToolSnapshot};
pub use state::{Reach, Scope, State, Tolerance, check};
pub use strict::read_pages;
pub use summary::Language;
pub use survey::Survey;
pub use table::{BaselineCache, MIGRATION, Revision, load, revision};
pub use transfer::{export, import, imported};
pub use unstable::{Unstable, unstable};
