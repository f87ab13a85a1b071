//! The `mcpServers` file that other clients use.
//!
//! | key of a server | means |
//! |---|---|
//! | `type` | `stdio`, `http` (also `streamable-http`, `streamableHttp`); default: by `command` or `url` |
//! | `command`, `args`, `env`, `cwd` | a program, its arguments, what is added to its environment, its folder |
//! | `url`, `headers` | an endpoint, and what is sent along |
//! | `disabled` | `true`: left out |
//!
//! Keys by which other clients steer themselves are passed over ([`FOREIGN_KEYS`]); any other one is an error. Beside
//! `mcpServers` the file may hold what it wants. `${NAME}`, `${NAME:-default}` and `${env:NAME}` stand for variables of our
//! environment, in `command`, `args`, `cwd`, values of `env`, `url` and values of `headers`; one that is not set and has no
//! default is an error. What a variable holds is not looked through again.

mod environment;
mod error;
mod expand;
mod identity;
mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;

use http::HeaderName;

use super::http::Endpoint;
use super::process::Program;
use super::secret::{Mask, Secret};
use crate::call::ServerName;

pub use environment::{Environment, INHERITED};
pub use error::{ConfigCode, ConfigError};
pub use identity::{ServerIdentity, TransportIdentity};

/// Keys of a server that say something to other clients and nothing to us. Approvals that one of them grants are none here.
pub const FOREIGN_KEYS: [&str; 16] = [
    "alwaysAllow",
    "autoApprove",
    "autoStart",
    "cache_tools_list",
    "description",
    "dev",
    "enabled_tools",
    "excludeTools",
    "gallery",
    "icon",
    "includeTools",
    "name",
    "timeout",
    "tools",
    "trust",
    "version",
];

/// The servers of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConfig {
    /// Those that are used.
    pub servers: Vec<ServerConfig>,
    /// Those that the file leaves out.
    pub disabled: Vec<ServerName>,
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name.
    pub name: ServerName,
    /// How it is reached.
    pub transport: Transport,
    /// What it is known by.
    pub identity: ServerIdentity,
    /// What variables held that the file uses, anywhere.
    pub used: Vec<Secret>,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A program of ours.
    Stdio(Stdio),
    /// An endpoint.
    Http(Http),
}

/// A program that speaks on its standard streams.
#[derive(Clone, PartialEq, Eq)]
pub struct Stdio {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What the file adds to its environment.
    pub env: BTreeMap<String, Secret>,
    /// What it inherits.
    pub inherited: BTreeMap<String, String>,
    /// Its folder.
    pub cwd: Option<PathBuf>,
}

impl std::fmt::Debug for Stdio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Arguments may come out of the environment.
        f.debug_struct("Stdio")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl Stdio {
    /// What is started: a clean environment, and what the file adds.
    #[must_use]
    pub fn program(&self) -> Program {
        let inherited = self.inherited.iter().map(|(name, value)| (name.into(), Secret::new(value)));
        let own = self.env.iter().map(|(name, value)| (name.into(), value.clone()));
        Program {
            command: self.command.clone(),
            args: self.args.clone(),
            env: inherited.chain(own).collect(),
            cwd: self.cwd.clone(),
        }
    }
}

/// An endpoint, and what is sent along with each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// Where.
    pub endpoint: Endpoint,
    /// Headers.
    pub headers: Vec<(HeaderName, Secret)>,
}

impl McpConfig {
    /// Reads a file's text. `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] that names file and key.
    pub fn parse(file: &str, text: &[u8], environment: &Environment) -> Result<Self, ConfigError> {
        read::file(file, text, environment)
    }

    /// The server of a name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&ServerConfig> {
        self.servers.iter().find(|server| server.name.as_str() == name)
    }
}

impl ServerConfig {
    /// Takes all secrets of this server out of a text: values of `env` and `headers`, user and query of the URL, and what
    /// variables held that stand anywhere. An argument that is a secret and is written out in the file is part of the
    /// server's identity, and shown.
    #[must_use]
    pub fn mask(&self) -> Mask {
        match &self.transport {
            Transport::Stdio(stdio) => Mask::new(stdio.env.values().chain(&self.used)),
            Transport::Http(http) => {
                let own = http.endpoint.secrets();
                Mask::new(own.iter().chain(http.headers.iter().map(|(_, value)| value)).chain(&self.used))
            }
        }
    }
}
