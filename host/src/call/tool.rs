//! Which tool: the pair (server, raw name), and the public name that the model sees.

use std::fmt::{self, Write as _};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// Where a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The host does not know.
    Unknown,
    /// An MCP server.
    Mcp,
    /// A plugin of the agent.
    Plugin,
    /// Built into the agent.
    Core,
    /// One of the three bridge tools.
    Bridge,
}

/// Name of an MCP server or plugin: 1 to 32 characters out of `[A-Za-z0-9_-]`. Source: MCP security, identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ServerName(String);

/// A text that is no server name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no server name: 1 to 32 characters out of A-Z, a-z, 0-9, `_` and `-` are allowed")]
pub struct ServerNameError(String);

impl ServerName {
    /// A server name.
    ///
    /// # Errors
    ///
    /// [`ServerNameError`] that says what is allowed.
    pub fn new(name: &str) -> Result<Self, ServerNameError> {
        if (1..=32).contains(&name.len()) && name.chars().all(is_plain) {
            Ok(Self(name.into()))
        } else {
            Err(ServerNameError(toolwarden_text::clip(name, 60).into_owned()))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which tool a call means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRef {
    /// Where it comes from.
    pub origin: Origin,
    /// Server or plugin; none for core and bridge tools.
    pub server: Option<ServerName>,
    /// Raw name.
    pub name: String,
    /// Name that the model sees.
    pub public_name: String,
}

/// Characters of a public name at most. Source: MCP security, identity; the limit of the model interfaces in use.
const LONGEST_NAME: usize = 64;

/// The public name of a server's tool: `mcp__<server>__<raw>`. A name that has to be changed, for a character or for its
/// length, ends with `_` and 12 hex digits of SHA-256(server NUL raw), so that two raw names never become one.
///
/// ```
/// use toolwarden::call::{ServerName, public_name};
///
/// let server = ServerName::new("github").unwrap();
/// assert_eq!(public_name(&server, "create_issue"), "mcp__github__create_issue");
/// assert_eq!(public_name(&server, "créer"), "mcp__github__cr_er_b1740eacb604");
/// ```
#[must_use]
pub fn public_name(server: &ServerName, raw: &str) -> String {
    let mut name = format!("mcp__{server}__{raw}");
    if name.len() <= LONGEST_NAME && raw.chars().all(is_plain) {
        return name;
    }
    let digest = Sha256::new().chain_update(server.as_str()).chain_update([0]).chain_update(raw).finalize();
    name = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(LONGEST_NAME - 13).collect();
    name.push('_');
    for byte in digest.iter().take(6) {
        // Writing to a String cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}
