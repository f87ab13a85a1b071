//! What a server is known by: nothing secret, and all that makes it another server.

use serde_json::{Value, json};

/// What a server is known by. Command and arguments are those of the file, with variables as they are written there: what a
/// variable holds may be a secret, and belongs to the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerIdentity {
    /// How it is reached.
    pub transport: TransportIdentity,
}

/// What a server is known by, for each transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportIdentity {
    /// A program.
    Stdio {
        /// As it is written.
        command: String,
        /// As they are written.
        args: Vec<String>,
        /// Names of variables, sorted.
        env: Vec<String>,
        /// As it is written.
        cwd: Option<String>,
    },
    /// An endpoint.
    Http {
        /// Scheme, host and port.
        origin: String,
        /// Names of headers in lower case, sorted.
        headers: Vec<String>,
    },
}

impl ServerIdentity {
    /// The identity as a value, for a snapshot.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match &self.transport {
            TransportIdentity::Stdio { command, args, env, cwd } => {
                json!({"transport": "stdio", "command": command, "args": args, "env": env, "cwd": cwd})
            }
            TransportIdentity::Http { origin, headers } => {
                json!({"transport": "streamable-http", "origin": origin, "headers": headers})
            }
        }
    }
}
