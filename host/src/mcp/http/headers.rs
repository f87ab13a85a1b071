//! Headers of the protocol.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Response};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Whether a header is ours or the connection's, so that a configuration cannot set it.
#[must_use]
pub fn is_reserved(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "host" | "content-length" | "transfer-encoding" | "connection" | "upgrade" | "te" | "trailer" | "keep-alive"
    ) || name.as_str().starts_with("mcp-")
        || *name == LAST_EVENT_ID
}

/// A text as the value of `Mcp-Name` or `Mcp-Param-...`: as it is where that is safe, else in base64 with a mark. Source:
/// streamable HTTP of 2026-07-28, value encoding.
#[must_use]
pub fn header_text(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|b| matches!(b, b'\t' | b' '..=b'~'))
        && text.trim_matches([' ', '\t']) == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let encoded = || format!("=?base64?{}?=", BASE64_STANDARD.encode(text));
    let value = if plain { HeaderValue::from_str(text) } else { HeaderValue::from_str(&encoded()) };
    // Both forms hold nothing but what a header may hold.
    value.unwrap_or(HeaderValue::from_static(""))
}

/// How a response carries messages.
pub(super) enum Kind {
    Json,
    Events,
}

pub(super) fn kind<B>(response: &Response<B>) -> Option<Kind> {
    let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "application/json" => Some(Kind::Json),
        "text/event-stream" => Some(Kind::Events),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_as_it_is_or_marked() {
        for (text, value) in [
            ("us-west1", "us-west1"),
            ("", ""),
            ("a b", "a b"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(header_text(text), value, "{text}");
        }
    }
}
