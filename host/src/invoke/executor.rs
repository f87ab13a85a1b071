//! Whoever runs a tool in the end.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use thiserror::Error;

use crate::call::{Arguments, CallId, ToolRef};

/// A call that may run: exactly the value that was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// The call.
    pub id: CallId,
    /// The tool.
    pub tool: ToolRef,
    /// Its arguments.
    pub arguments: Arc<Arguments>,
}

/// Why a tool gave no result.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ExecutorError(pub String);

/// Runs tools. The future is dropped when the caller takes the call back or its time is up; what was started must end then.
#[async_trait]
pub trait ToolExecutor: Send + Sync {
    /// Runs one call.
    async fn execute(&self, dispatch: Dispatch) -> Result<Value, ExecutorError>;
}
