//! Errors that a peer answers with.

use std::fmt;

use serde_json::{Map, Value};

/// Code of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RpcCode(pub i64);

impl RpcCode {
    /// The text is no JSON.
    pub const PARSE_ERROR: Self = Self(-32_700);
    /// The message is no request.
    pub const INVALID_REQUEST: Self = Self(-32_600);
    /// There is no such method.
    pub const METHOD_NOT_FOUND: Self = Self(-32_601);
    /// The parameters are wrong; also for an unknown tool.
    pub const INVALID_PARAMS: Self = Self(-32_602);
    /// Something broke.
    pub const INTERNAL_ERROR: Self = Self(-32_603);
    /// Modern era: header and body of a request say different things.
    pub const HEADER_MISMATCH: Self = Self(-32_020);
    /// Modern era: the request needs a capability that the client did not declare.
    pub const MISSING_CLIENT_CAPABILITY: Self = Self(-32_021);
    /// Modern era: another protocol version is needed; `data.supported` names those.
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32_022);

    /// Whether only a server of the modern era answers so.
    #[must_use]
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::HEADER_MISMATCH | Self::MISSING_CLIENT_CAPABILITY | Self::UNSUPPORTED_PROTOCOL_VERSION)
    }
}

impl fmt::Display for RpcCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The `error` member of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// What kind of error.
    pub code: RpcCode,
    /// The peer's own words. Not to be trusted; shown escaped and cut.
    pub message: String,
    /// Whatever the peer added.
    pub data: Option<Value>,
    /// Members that no specification knows.
    pub extra: Map<String, Value>,
}

impl RpcError {
    /// An error without anything added.
    #[must_use]
    pub fn new(code: RpcCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, extra: Map::new() }
    }

    /// The error that a value is; none where it has no whole number as code or no text as message.
    #[must_use]
    pub fn from_value(value: Value) -> Option<Self> {
        let Value::Object(mut members) = value else { return None };
        let code = members.remove("code")?.as_i64()?;
        let Some(Value::String(message)) = members.remove("message") else { return None };
        Some(Self { code: RpcCode(code), message, data: members.remove("data"), extra: members })
    }

    /// The error as a value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut members = Map::new();
        members.insert("code".into(), self.code.0.into());
        members.insert("message".into(), self.message.clone().into());
        members.extend(self.data.clone().map(|data| ("data".to_owned(), data)));
        members.extend(self.extra.clone());
        Value::Object(members)
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}: {}", self.code, toolwarden_text::clip(&self.message, toolwarden_text::DETAIL_CHARS))
    }
}
