//! MCP on the wire: raw messages, transports, both eras.
//!
//! The layer between bytes and the rest of the host. It speaks to servers over [stdio or streamable
//! HTTP](config::Transport), in the legacy era (`initialize`) and in the modern one (`server/discover`), and hands on what
//! they say as it was said: values that were parsed once, strictly, with each field that no specification knows. It holds
//! no opinion on tools.
//!
//! | module | does |
//! |---|---|
//! | [`config`] | the `mcpServers` file that other clients use |
//! | [`Connection`] | requests, answers, notifications; opening and end |
//! | [`listing`] | all pages of `tools/list` |
//!
//! ```
//! use toolwarden::mcp::config::{Environment, McpConfig};
//!
//! let file = br#"{"mcpServers": {"notes": {"command": "notes-server", "env": {"KEY": "${KEY}"}}}}"#;
//! let environment: Environment = [("KEY".to_owned(), "s3cret".to_owned())].into_iter().collect();
//! let config = McpConfig::parse(".mcp.json", file, &environment)?;
//!
//! let notes = config.server("notes").ok_or("missing")?;
//! assert_eq!(notes.mask().apply("cannot log in with s3cret"), "cannot log in with [hidden]");
//! // Then: Connection::open(notes, &options, deadline).await, and listing::list_tools(&connection, &limits, deadline).await.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a server may do to us is bounded by [`WireLimits`]; what it did is told by [`Oddities`] and [`WireError`].

pub mod config;
pub mod listing;

mod connection;
mod error;
mod http;
mod id;
mod limits;
mod line;
mod lines;
mod link;
mod message;
mod mirror;
mod opening;
mod oversize;
mod peer;
mod process;
mod profile;
mod request;
mod rpc_error;
mod secret;
mod sse;
mod tail;
mod traffic;
mod version;

pub use connection::{ConnectOptions, Connection};
pub use error::{Ended, EndedWhy, ListFault, Versions, WireError};
pub use http::{Endpoint, EndpointError, header_text};
pub use id::RequestId;
pub use limits::{Ending, WireLimits};
pub use message::{MOST_IN_BATCH, Malformed, MalformedCode, Message, Notification, Request, Response};
pub use mirror::{MirrorError, mirrored};
pub use opening::Opened;
pub use peer::{Deaf, Peer};
pub use process::Program;
pub use profile::{ClientProfile, EraChoice, META_CAPABILITIES, META_CLIENT_INFO, META_SERVER_INFO, META_VERSION};
pub use request::{Ask, Reply};
pub use rpc_error::{RpcCode, RpcError};
pub use secret::{Mask, Secret};
pub use tail::Tail;
pub use traffic::Oddities;
pub use version::{Era, LEGACY_VERSIONS, MODERN_VERSIONS, era_of};
