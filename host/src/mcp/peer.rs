//! What a server may ask and tell us.

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::message::{Notification, Request};
use super::rpc_error::{RpcCode, RpcError};

/// Answers what a server asks, and hears what it tells. What is not overridden is refused or passed over.
#[async_trait]
pub trait Peer: Send + Sync + 'static {
    /// Answers a request of the server: sampling, elicitation, roots, and what is to come. `ping` is answered before it
    /// gets here. Requests of one connection run at the same time.
    async fn request(&self, request: Request) -> Result<Value, RpcError> {
        let shown = toolwarden_text::clip(&request.method, 80);
        Err(RpcError::new(RpcCode::METHOD_NOT_FOUND, format!("`{shown}` is not supported")))
    }

    /// Hears a notification. Called in the order of arrival, on the task that reads: whatever takes time belongs elsewhere.
    /// Progress of a request that asked for it goes there and not here.
    fn notification(&self, notification: Notification) {
        drop(notification);
    }
}

/// Refuses each request, and hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deaf;

impl Peer for Deaf {}

/// The answer to `ping`.
pub(crate) fn pong() -> Value {
    Value::Object(Map::new())
}
