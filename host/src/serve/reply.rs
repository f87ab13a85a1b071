//! Replies.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};
use serde_json::json;

use crate::embed::EmbedError;

pub(super) type Reply = Response<Full<Bytes>>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A reply of this type.
pub(super) fn typed(status: StatusCode, content_type: HeaderValue, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    reply
}

/// JSON, and all is well.
pub(super) fn json(body: impl Into<Bytes>) -> Reply {
    typed(StatusCode::OK, JSON, body)
}

/// An error with a code.
pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Reply {
    let mut reply = typed(status, JSON, json!({ "error": { "code": code, "message": message } }).to_string());
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    reply
}

/// A reply with one header more.
pub(super) fn with(mut reply: Reply, name: HeaderName, value: &'static str) -> Reply {
    reply.headers_mut().insert(name, HeaderValue::from_static(value));
    reply
}

/// What the warden answered.
pub(super) fn of(answer: Result<String, EmbedError>) -> Reply {
    match answer {
        Ok(text) => json(text),
        Err(error) => {
            let status = match error.code {
                "unknown-ticket" => StatusCode::NOT_FOUND,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            typed(status, JSON, error.record())
        }
    }
}
