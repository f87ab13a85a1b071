//! Digests of values: arguments by what they are, results by their shape.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::digest::Digest;

/// SHA-256 over the canonical form (RFC 8785) of arguments: the order of keys and white space do not count, all else does.
/// None where a value has no canonical form.
#[must_use]
pub fn arguments_digest(arguments: &impl Serialize) -> Option<Digest> {
    let canonical = serde_json_canonicalizer::to_vec(arguments).ok()?;
    Some(Digest::of_parts(&[b"toolwarden arguments v1\n", &canonical]))
}

/// A fingerprint of a value's shape: keys and types, no values. Items of one shape count once.
#[must_use]
pub fn shape(value: &Value) -> Digest {
    Digest::of_parts(&[b"toolwarden shape v1\n", written(value).as_bytes()])
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "boolean".into(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
        Value::Array(items) => {
            let shapes: BTreeSet<String> = items.iter().map(written).collect();
            format!("[{}]", shapes.into_iter().collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            // Keys are written as JSON strings, so that none passes for two.
            let members: BTreeSet<String> = members
                .iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), written(value)))
                .collect();
            format!("{{{}}}", members.into_iter().collect::<Vec<_>>().join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_shape_has_keys_and_types_and_no_values() {
        let of = |value: Value| shape(&value);
        assert_eq!(of(json!({ "a": 1, "b": ["x", "y"] })), of(json!({ "b": ["z"], "a": 2.5 })));
        for other in [json!({ "a": "1", "b": ["x"] }), json!({ "a": 1 }), json!({ "a": 1, "b": [] }), json!([1, ["x"]])]
        {
            assert_ne!(of(json!({ "a": 1, "b": ["x"] })), of(other.clone()), "{other}");
        }
        assert_ne!(of(json!({ "a\":null,\"b": 1 })), of(json!({ "a": null, "b": 1 })));
    }

    #[test]
    fn arguments_count_by_what_they_are() {
        let of = |text: &str| arguments_digest(&serde_json::from_str::<Value>(text).unwrap()).unwrap();
        assert_eq!(of(r#"{"b":1,"a":[1.0,"\u00e9"]}"#), of("{ \"a\" : [1, \"é\"], \"b\" : 1 }"));
        for other in [r#"{"a":[1,"e"],"b":1}"#, r#"{"a":["é",1],"b":1}"#, r#"{"a":[1,"é"],"b":"1"}"#, "{}"] {
            assert_ne!(of(r#"{"b":1,"a":[1,"é"]}"#), of(other), "{other}");
        }
    }
}
