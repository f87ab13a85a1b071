//! How the definition of a tool compares with the accepted one, at the moment of a call.

use async_trait::async_trait;
use serde_json::Value;
use thiserror::Error;

use crate::call::{DefinitionTrust, ToolRef};

/// What was found when a definition was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionReport {
    /// How it compares. Default: there is no snapshot.
    pub trust: DefinitionTrust,
    /// What differs, in one line; empty where nothing does.
    pub summary: String,
}

/// Why a result is kept from the model.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ResultMismatch(pub String);

/// Somebody who knows the accepted definitions. Asked about tools of servers only, and only under `mcpSecurity`.
#[async_trait]
pub trait Definitions: Send + Sync {
    /// Compares the definition, as it is now, with the accepted one. It must answer in bounded time: a call waits for it.
    async fn compare(&self, tool: &ToolRef) -> DefinitionReport;

    /// Looks at a result before the model is shown it.
    ///
    /// # Errors
    ///
    /// [`ResultMismatch`] where it is not of the shape that the accepted definition promises.
    fn check(&self, tool: &ToolRef, result: &Value) -> Result<(), ResultMismatch>;
}
