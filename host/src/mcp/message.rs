//! JSON-RPC 2.0 messages, raw: nothing that a peer sent is lost, and what has no single meaning is refused.

use std::fmt::{self, Write as _};

use serde_json::{Map, Value};
use thiserror::Error;

use super::id::RequestId;
use super::oversize::IdFinder;
use super::rpc_error::RpcError;

/// Messages in one batch at most. Source: ours; a batch was allowed by one revision (2025-03-26) and is rare.
pub const MOST_IN_BATCH: usize = 1_000;

/// One side asks the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// To be repeated in the answer.
    pub id: RequestId,
    /// What is asked.
    pub method: String,
    /// An object, as a rule. Arrays and null are kept.
    pub params: Option<Value>,
    /// Members that no specification knows.
    pub extra: Map<String, Value>,
}

/// One side tells the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// What is told.
    pub method: String,
    /// An object, as a rule. Arrays and null are kept.
    pub params: Option<Value>,
    /// Members that no specification knows.
    pub extra: Map<String, Value>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The id of the request; none where the peer could not read it.
    pub id: Option<RequestId>,
    /// The result, or why there is none.
    pub outcome: Result<Value, RpcError>,
    /// Members that no specification knows.
    pub extra: Map<String, Value>,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Asks.
    Request(Request),
    /// Tells.
    Notification(Notification),
    /// Answers.
    Response(Response),
}

/// What is wrong with a text that should be a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedCode {
    /// It is no strict JSON.
    Json(toolwarden_json::ErrorCode),
    /// It is JSON, but no object, or a batch that is empty or too long.
    NotAMessage,
    /// `jsonrpc` is not `"2.0"`.
    BadVersion,
    /// `id` is neither a number nor a text.
    BadId,
    /// `method` is no text.
    BadMethod,
    /// `params` is neither an object nor an array.
    BadParams,
    /// An answer has both a result and an error, or neither, or an error without code or message.
    BadAnswer,
}

impl MalformedCode {
    /// The code as it stands in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json(code) => code.as_str(),
            Self::NotAMessage => "not-a-message",
            Self::BadVersion => "bad-jsonrpc-version",
            Self::BadId => "bad-id",
            Self::BadMethod => "bad-method",
            Self::BadParams => "bad-params",
            Self::BadAnswer => "bad-answer",
        }
    }
}

/// Why a text is no message.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{message}")]
pub struct Malformed {
    /// What is wrong.
    pub code: MalformedCode,
    /// JSON pointer to the place, where there is one.
    pub pointer: String,
    /// What is wrong, in words.
    pub message: String,
    /// The request that this was an answer to, as far as that can be told.
    pub answers: Option<RequestId>,
}

impl Malformed {
    fn new(code: MalformedCode, message: &str) -> Self {
        Self { code, pointer: String::new(), message: message.to_owned(), answers: None }
    }

    /// Whether the text was not meant to be a message: a line that a program prints for people.
    #[must_use]
    pub fn is_prose(&self, text: &[u8]) -> bool {
        use toolwarden_json::ErrorCode::{NotJson, NotUtf8};
        let is_json = !matches!(self.code, MalformedCode::Json(NotJson | NotUtf8));
        !is_json && !text.trim_ascii_start().starts_with(b"{")
    }
}

impl Message {
    /// Reads a message, or the messages of a batch.
    ///
    /// # Errors
    ///
    /// [`Malformed`] with the first fault.
    pub fn parse(text: &[u8]) -> Result<Vec<Self>, Malformed> {
        let parsed = toolwarden_json::parse_lenient(text).map_err(|error| json_fault(error, IdFinder::find(text)))?;
        if let Some(fault) = parsed.fault {
            return Err(json_fault(fault, answered(&parsed.value)));
        }
        match parsed.value {
            Value::Array(items) if (1..=MOST_IN_BATCH).contains(&items.len()) => {
                items.into_iter().map(Self::from_value).collect()
            }
            value => Ok(vec![Self::from_value(value)?]),
        }
    }

    /// The message that a value is.
    ///
    /// # Errors
    ///
    /// [`Malformed`] with the first fault.
    pub fn from_value(value: Value) -> Result<Self, Malformed> {
        let answers = answered(&value);
        Self::read(value).map_err(|fault| Malformed { answers, ..fault })
    }

    fn read(value: Value) -> Result<Self, Malformed> {
        use MalformedCode::{BadAnswer, BadId, BadMethod, BadParams, BadVersion, NotAMessage};
        let Value::Object(mut members) = value else {
            return Err(Malformed::new(NotAMessage, "a message is an object"));
        };
        if members.remove("jsonrpc").as_ref().and_then(Value::as_str) != Some("2.0") {
            return Err(Malformed::new(BadVersion, "`jsonrpc` must be \"2.0\""));
        }
        let id = members.remove("id");
        let Some(method) = members.remove("method") else {
            let id = match id {
                None | Some(Value::Null) => None,
                Some(id) => Some(request_id(id)?),
            };
            let outcome = match (members.remove("result"), members.remove("error")) {
                (Some(result), None) => Ok(result),
                (None, Some(error)) => Err(RpcError::from_value(error)
                    .ok_or_else(|| Malformed::new(BadAnswer, "`error` must have a `code` and a `message`"))?),
                _ => return Err(Malformed::new(BadAnswer, "an answer has either a `result` or an `error`")),
            };
            if id.is_none() && outcome.is_ok() {
                return Err(Malformed::new(BadId, "a result must have the `id` of its request"));
            }
            return Ok(Self::Response(Response { id, outcome, extra: members }));
        };
        let Value::String(method) = method else {
            return Err(Malformed::new(BadMethod, "`method` must be a string"));
        };
        let params = members.remove("params");
        if !matches!(params, None | Some(Value::Object(_) | Value::Array(_) | Value::Null)) {
            return Err(Malformed::new(BadParams, "`params` must be an object"));
        }
        Ok(match id {
            None => Self::Notification(Notification { method, params, extra: members }),
            Some(id) => Self::Request(Request { id: request_id(id)?, method, params, extra: members }),
        })
    }

    /// The message on one line, without the line's end. A member that is not known comes after the others.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut line = Line::new();
        let extra = match self {
            Self::Request(Request { id, method, params, extra }) => {
                line.member("id", &id.to_value());
                line.member("method", &Value::from(method.as_str()));
                if let Some(params) = params {
                    line.member("params", params);
                }
                extra
            }
            Self::Notification(Notification { method, params, extra }) => {
                line.member("method", &Value::from(method.as_str()));
                if let Some(params) = params {
                    line.member("params", params);
                }
                extra
            }
            Self::Response(Response { id, outcome, extra }) => {
                line.member("id", &id.as_ref().map_or(Value::Null, RequestId::to_value));
                match outcome {
                    Ok(result) => line.member("result", result),
                    Err(error) => line.member("error", &error.to_value()),
                }
                extra
            }
        };
        for (name, value) in extra {
            line.member(name, value);
        }
        line.end()
    }
}

/// A message that is being written, without a copy of what it carries.
struct Line(String);

impl Line {
    fn new() -> Self {
        Self("{\"jsonrpc\":\"2.0\"".into())
    }

    fn member(&mut self, name: &str, value: &Value) {
        // A string takes whatever is written to it.
        let _ = write!(self.0, ",{}:{value}", Value::from(name));
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_line())
    }
}

fn request_id(value: Value) -> Result<RequestId, Malformed> {
    RequestId::from_value(value)
        .ok_or_else(|| Malformed::new(MalformedCode::BadId, "`id` must be a string or a number"))
}

/// The request that a value answers, if it looks like an answer at all.
fn answered(value: &Value) -> Option<RequestId> {
    let members = value.as_object()?;
    if members.contains_key("method") {
        return None;
    }
    RequestId::from_value(members.get("id")?.clone())
}

fn json_fault(error: toolwarden_json::Error, answers: Option<RequestId>) -> Malformed {
    Malformed { code: MalformedCode::Json(error.code), pointer: error.pointer, message: error.message, answers }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Result<(), (&'static str, Option<String>)> {
        Message::parse(text.as_bytes()).map(drop).map_err(|e| (e.code.as_str(), e.answers.map(|id| id.to_string())))
    }

    #[test]
    fn what_came_goes_on_as_it_came() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"a","params":{"_meta":{"x":null}}}"#,
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"a","params":[1],"more":{"y":2}}"#,
            r#"{"jsonrpc":"2.0","id":-9007199254740993,"method":"a","params":null}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":9007199254740993,"result":{"content":[],"new":1}}"#,
            r#"{"jsonrpc":"2.0","id":"","result":null}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{"d":[]},"hint":"h"}}"#,
        ] {
            let messages = Message::parse(text.as_bytes()).unwrap();
            let again: Value = serde_json::from_str(&messages[0].to_line()).unwrap();
            assert_eq!(again, serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn a_number_and_a_text_are_two_ids() {
        let id = |text: &str| RequestId::from_value(serde_json::from_str(text).unwrap()).unwrap();
        assert_ne!(id("1"), id("\"1\""));
        assert_ne!(id("9007199254740993"), id("9007199254740992"));
        assert_eq!((id("7").as_u64(), id("\"7\"").as_u64()), (Some(7), None));
    }

    #[test]
    fn what_has_no_single_meaning_is_refused() {
        let bad = |text: &str, code_: &'static str, answers: Option<&str>| {
            assert_eq!(code(text), Err((code_, answers.map(str::to_owned))), "{text}");
        };
        bad("listening on stdio", "not-json", None);
        bad("", "not-json", None);
        bad(r#"{"jsonrpc":"2.0","id":4,"result":{"#, "not-json", Some("4"));
        bad("42", "not-a-message", None);
        bad("[]", "not-a-message", None);
        bad(r#"{"level":"info"}"#, "bad-jsonrpc-version", None);
        bad(r#"{"jsonrpc":2.0,"id":1,"result":{}}"#, "bad-jsonrpc-version", Some("1"));
        bad(r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, "duplicate-key", Some("1"));
        bad(r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a","name":"b"}]}}"#, "duplicate-key", Some("3"));
        bad(r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"a"}"#, "number-out-of-range", None);
        bad(r#"{"jsonrpc":"2.0","id":[1],"method":"a"}"#, "bad-id", None);
        bad(r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, "bad-id", None);
        bad(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "bad-method", None);
        bad(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}"#, "bad-params", None);
        bad(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#, "bad-answer", Some("1"));
        bad(r#"{"jsonrpc":"2.0","id":1}"#, "bad-answer", Some("1"));
        bad(r#"{"jsonrpc":"2.0","id":"x","error":{"code":"1","message":""}}"#, "bad-answer", Some("\"x\""));
        bad(r#"{"jsonrpc":"2.0","result":{}}"#, "bad-id", None);
    }

    #[test]
    fn a_batch_is_its_messages() {
        let text = br#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":1,"result":{}}]"#;
        let kinds: Vec<_> = Message::parse(text).unwrap().iter().map(|m| matches!(m, Message::Response(_))).collect();
        assert_eq!(kinds, [false, true]);
        let long = format!("[{}]", vec![r#"{"jsonrpc":"2.0","method":"a"}"#; MOST_IN_BATCH + 1].join(","));
        assert_eq!(code(&long), Err(("not-a-message", None)));
    }
}
