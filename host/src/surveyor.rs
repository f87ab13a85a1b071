//! Asks servers for their tools, and makes a survey of it.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::baseline::{Identity, ServerSnapshot, SnapshotError, Survey};
use crate::call::ServerName;
use crate::mcp::config::{McpConfig, ServerConfig};
use crate::mcp::listing::{ListLimits, Listing, list_once};
use crate::mcp::{ConnectOptions, Ending, WireError};

/// How servers are asked.
#[derive(Clone, Debug)]
pub struct SurveyOptions {
    /// As whom: real servers show other tools to other clients.
    pub connect: ConnectOptions,
    /// Bounds of each list.
    pub limits: ListLimits,
    /// How long each server may take, the start of its process included. Default: a minute; some are fetched from a package
    /// registry first.
    pub timeout: Duration,
}

impl SurveyOptions {
    /// As this client, within the default bounds.
    #[must_use]
    pub fn new(connect: ConnectOptions) -> Self {
        Self { connect, limits: ListLimits::default(), timeout: Duration::from_mins(1) }
    }
}

/// Asks all servers of a configuration, each anew and all at once. One that does not answer is part of the survey.
pub async fn survey(config: &McpConfig, options: &SurveyOptions) -> Survey {
    let mut asked = JoinSet::new();
    for server in &config.servers {
        let (server, options) = (server.clone(), options.clone());
        asked.spawn(async move {
            let found = ask(&server, &options).await;
            (server.name, found)
        });
    }
    let mut found: Vec<(ServerName, Result<ServerSnapshot, SnapshotError>)> = Vec::new();
    while let Some(done) = asked.join_next().await {
        found.extend(done.ok());
    }
    // One whose task came to nothing is missing in the list, and must not be missing in the survey.
    for server in &config.servers {
        if !found.iter().any(|(name, _)| *name == server.name) {
            let problem = "nothing came of asking".into();
            found.push((server.name.clone(), Err(SnapshotError::Unavailable { code: "internal", problem })));
        }
    }
    Survey::new(found)
}

async fn ask(server: &ServerConfig, options: &SurveyOptions) -> Result<ServerSnapshot, SnapshotError> {
    let deadline = Instant::now() + options.timeout;
    let listing = list_once(server, &options.connect, &options.limits, Ending::default(), deadline).await;
    snapshot(server, listing)
}

/// What a listing of a server comes to.
///
/// # Errors
///
/// [`SnapshotError`].
pub fn snapshot(server: &ServerConfig, listing: Result<Listing, WireError>) -> Result<ServerSnapshot, SnapshotError> {
    let listing = listing.map_err(|error| SnapshotError::Unavailable {
        code: error.code(),
        problem: server.mask().apply(&error.to_string()),
    })?;
    let identity = Identity::new(server.identity.to_value());
    ServerSnapshot::new(server.name.clone(), identity, listing.server.instructions, listing.tools)
}
