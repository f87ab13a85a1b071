//! Digests of values: arguments by what they are, results by their shape.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use crate::digest::Digest;

/// Integers beyond this are not all of them doubles. Source: RFC 8785 takes every number for a double.
const EXACT: u64 = (1 << 53) - 1;

/// SHA-256 over the canonical form (RFC 8785) of arguments: the order of keys and white space do not count, all else does.
/// None where a value has no canonical form.
///
/// The canonical form writes every number as a double, and so two large integers alike. They stand behind it once more, each
/// with its place and to the digit.
#[must_use]
pub fn arguments_digest(arguments: &impl Serialize) -> Option<Digest> {
    let value = serde_json::to_value(arguments).ok()?;
    let canonical = serde_json_canonicalizer::to_vec(&value).ok()?;
    let mut large = BTreeSet::new();
    collect_large(&value, "", &mut large);
    let large = if large.is_empty() { String::new() } else { json!(large).to_string() };
    Some(Digest::of_parts(&[b"toolwarden arguments v1\n", &canonical, b"\n", large.as_bytes()]))
}

fn collect_large(value: &Value, place: &str, found: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Number(number) if number.as_i64().map_or(number.is_u64(), |i| i.unsigned_abs() > EXACT) => {
            found.insert((place.into(), number.to_string()));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| collect_large(item, &format!("{place}/{at}"), found));
        }
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            collect_large(member, &format!("{place}/{name}"), found);
        }),
        _ => {}
    }
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
    fn large_integers_count_to_the_digit() {
        let of = |number: &str| {
            arguments_digest(&serde_json::from_str::<Value>(&format!(r#"{{"a":[{number}],"b":1}}"#)).unwrap()).unwrap()
        };
        let numbers = [
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "-9007199254740992",
            "-9007199254740993",
            "18446744073709551614",
            "18446744073709551615",
        ];
        let digests: std::collections::HashSet<Digest> = numbers.iter().map(|number| of(number)).collect();
        assert_eq!(digests.len(), numbers.len());
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
