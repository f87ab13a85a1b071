//! Arguments that a tool wants to see in headers, too (`x-mcp-header`). Source: streamable HTTP of 2026-07-28, custom
//! headers from tool parameters.

use std::collections::HashSet;

use http::{HeaderName, HeaderValue};
use serde_json::Value;
use thiserror::Error;

use super::http::header_text;

/// The keyword in a schema.
const KEYWORD: &str = "x-mcp-header";

/// The largest integer that may be mirrored, and the smallest with a minus sign.
const LARGEST: u64 = (1 << 53) - 1;

/// Why a tool cannot be called over HTTP in the modern era.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{KEYWORD}` at `{pointer}`: {what}")]
pub struct MirrorError {
    /// JSON pointer into the schema.
    pub pointer: String,
    /// What is wrong.
    pub what: &'static str,
}

/// The headers that mirror a call's arguments, as the tool's input schema wants them.
///
/// # Errors
///
/// [`MirrorError`] where the schema asks for what the protocol forbids, or an argument cannot be mirrored.
pub fn mirrored(schema: &Value, arguments: &Value) -> Result<Vec<(HeaderName, HeaderValue)>, MirrorError> {
    let mut mirror = Mirror { names: HashSet::new(), headers: Vec::new() };
    mirror.object(schema, Some(arguments), String::new())?;
    Ok(mirror.headers)
}

struct Mirror {
    names: HashSet<HeaderName>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Mirror {
    /// An object's schema, which only `properties` leads into. Anywhere else the keyword may not stand.
    fn object(&mut self, schema: &Value, value: Option<&Value>, pointer: String) -> Result<(), MirrorError> {
        let Value::Object(members) = schema else { return Ok(()) };
        if members.contains_key(KEYWORD) {
            return Err(MirrorError { pointer, what: "it may stand at a parameter only" });
        }
        for (key, inner) in members {
            let pointer = format!("{pointer}/{}", toolwarden_json::pointer_token(key));
            match (key.as_str(), inner) {
                ("properties", Value::Object(properties)) => {
                    for (name, schema) in properties {
                        let pointer = format!("{pointer}/{}", toolwarden_json::pointer_token(name));
                        self.property(schema, value.and_then(|value| value.get(name)), pointer)?;
                    }
                }
                // Data, not schema.
                ("default" | "const" | "enum" | "examples", _) => {}
                _ => nowhere(inner, pointer)?,
            }
        }
        Ok(())
    }

    fn property(&mut self, schema: &Value, value: Option<&Value>, pointer: String) -> Result<(), MirrorError> {
        let Some(name) = schema.get(KEYWORD) else { return self.object(schema, value, pointer) };
        let wrong = |what| Err(MirrorError { pointer: pointer.clone(), what });
        let header = name.as_str().filter(|name| !name.is_empty());
        let Some(header) = header.and_then(|name| format!("mcp-param-{name}").parse::<HeaderName>().ok()) else {
            return wrong("it is no name of a header");
        };
        if !self.names.insert(header.clone()) {
            return wrong("the name is there twice");
        }
        let text = match (schema.get("type").and_then(Value::as_str), value) {
            (Some("string" | "integer" | "boolean"), None | Some(Value::Null)) => return Ok(()),
            (Some("string"), Some(Value::String(text))) => text.clone(),
            (Some("boolean"), Some(Value::Bool(value))) => value.to_string(),
            (Some("integer"), Some(Value::Number(number)))
                if number.as_i64().is_some_and(|number| number.unsigned_abs() <= LARGEST) =>
            {
                number.to_string()
            }
            (Some("string" | "integer" | "boolean"), _) => return wrong("the argument is not of the parameter's type"),
            _ => return wrong("only strings, integers and booleans are mirrored"),
        };
        self.headers.push((header, header_text(&text)));
        Ok(())
    }
}

/// The keyword may not stand here, nor deeper.
fn nowhere(schema: &Value, pointer: String) -> Result<(), MirrorError> {
    let inner: Vec<(String, &Value)> = match schema {
        Value::Object(members) if members.contains_key(KEYWORD) => {
            return Err(MirrorError { pointer, what: "only `properties` may lead to it" });
        }
        Value::Object(members) => {
            members.iter().map(|(key, inner)| (toolwarden_json::pointer_token(key), inner)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(index, inner)| (index.to_string(), inner)).collect(),
        _ => return Ok(()),
    };
    inner.into_iter().try_for_each(|(key, inner)| nowhere(inner, format!("{pointer}/{key}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, (String, &'static str)> {
        let text = |(name, value): (HeaderName, HeaderValue)| (name.to_string(), value.to_str().unwrap().to_owned());
        let headers = mirrored(schema, arguments).map_err(|error| (error.pointer, error.what))?;
        Ok(headers.into_iter().map(text).collect())
    }

    #[test]
    fn arguments_are_mirrored_where_the_schema_says_so() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "place": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "dry": {"type": "boolean", "x-mcp-header": "Dry", "default": {"x-mcp-header": "data"}},
            "query": {"type": "string"}
        }});
        let pairs =
            |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect());
        let sorted = |arguments| {
            headers(&schema, &arguments).map(|mut headers| {
                headers.sort();
                headers
            })
        };
        assert_eq!(
            sorted(json!({"region": "Zürich", "place": {"n": -7}, "dry": false, "query": "q"})),
            pairs(&[
                ("mcp-param-dry", "false"),
                ("mcp-param-n", "-7"),
                ("mcp-param-region", "=?base64?WsO8cmljaA==?=")
            ])
        );
        assert_eq!(sorted(json!({"region": null})), pairs(&[]));
        let wrong = Err(("/properties/region".to_owned(), "the argument is not of the parameter's type"));
        assert_eq!(sorted(json!({"region": 7})), wrong);
    }

    #[test]
    fn what_the_protocol_forbids_is_refused() {
        let at = |name: &Value| json!({"type": "string", "x-mcp-header": name});
        for (schema, pointer, what) in [
            (json!({"x-mcp-header": "A"}), "", "it may stand at a parameter only"),
            (json!({"properties": {"a": at(&json!(""))}}), "/properties/a", "it is no name of a header"),
            (json!({"properties": {"a": at(&json!("a\r\nb"))}}), "/properties/a", "it is no name of a header"),
            (json!({"properties": {"a": at(&json!(7))}}), "/properties/a", "it is no name of a header"),
            (
                json!({"properties": {"a": at(&json!("A")), "b": at(&json!("a"))}}),
                "/properties/b",
                "the name is there twice",
            ),
            (
                json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
                "/properties/a",
                "only strings, integers and booleans are mirrored",
            ),
            (
                json!({"properties": {"a": {"items": at(&json!("A"))}}}),
                "/properties/a/items",
                "only `properties` may lead to it",
            ),
            (
                json!({"anyOf": [{"properties": {"a": at(&json!("A"))}}]}),
                "/anyOf/0/properties/a",
                "only `properties` may lead to it",
            ),
        ] {
            assert_eq!(headers(&schema, &json!({})), Err((pointer.to_owned(), what)), "{schema}");
        }
    }
}
