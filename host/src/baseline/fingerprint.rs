//! Digests of fields, tools, servers and the whole.
//!
//! Each is SHA-256 over a text that starts with its purpose and version, so that none passes for another. Names are written as
//! canonical JSON strings, one a line, so that no name passes for two lines.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::canonical::{canonical, key};
use super::error::SnapshotError;
use crate::digest::Digest;

/// What one look at a catalogue comes to. Shown as `sha256:<hex>`; this is what a person sends back to accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub(super) Digest);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A field, by its pointer.
pub(super) fn field(pointer: &str, value: &Value) -> Result<Digest, SnapshotError> {
    let name = key(&Value::from(pointer));
    Ok(Digest::of_parts(&[b"toolwarden mcp field v1\n", name.as_bytes(), b"\n", &canonical(value)?]))
}

/// A field with volatile places: what is left of its value, and of which type each place is.
pub(super) fn volatile_field(
    pointer: &str,
    places: &BTreeMap<String, &'static str>,
    rest: &Value,
) -> Result<Digest, SnapshotError> {
    let name = key(&Value::from(pointer));
    let places = key(&serde_json::json!(places));
    let parts = [b"toolwarden mcp field with volatile places v1\n", name.as_bytes(), b"\n", places.as_bytes(), b"\n"];
    Ok(Digest::of_parts(&[&parts.concat(), &canonical(rest)?]))
}

/// A tool, by the digests of its fields.
pub(super) fn tool(name: &str, fields: &BTreeMap<String, Digest>) -> Digest {
    let mut text = format!("toolwarden mcp tool v1\n{}\n", key(&Value::from(name)));
    for (pointer, digest) in fields {
        line(&mut text, &key(&Value::from(pointer.as_str())), digest);
    }
    Digest::of(text.as_bytes())
}

/// A server, by its identity, its instructions and the digests of its tools.
pub(super) fn server<'t>(
    name: &str,
    identity: &Value,
    instructions: Option<&str>,
    tools: impl Iterator<Item = (&'t str, Digest)>,
) -> Result<Digest, SnapshotError> {
    let mut text = format!("toolwarden mcp server v1\n{}\n", key(&Value::from(name)));
    line(&mut text, "identity", &field("/identity", identity)?);
    if let Some(instructions) = instructions {
        line(&mut text, "instructions", &field("/instructions", &Value::from(instructions))?);
    }
    for (name, digest) in tools {
        line(&mut text, &key(&Value::from(name)), &digest);
    }
    Ok(Digest::of(text.as_bytes()))
}

/// The whole, by its servers and by what does not count.
pub(super) fn whole<'s>(exclusions: &Value, servers: impl Iterator<Item = (&'s str, Digest)>) -> Fingerprint {
    let mut text = format!("toolwarden mcp baseline v1\n{}\n", key(exclusions));
    for (name, digest) in servers {
        line(&mut text, &key(&Value::from(name)), &digest);
    }
    Fingerprint(Digest::of(text.as_bytes()))
}

fn line(text: &mut String, name: &str, digest: &Digest) {
    text.push_str(name);
    text.push(' ');
    text.push_str(&digest.to_string());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// These texts are on disk in every store: a digest that changes calls for a new version.
    #[test]
    fn digests_are_the_same_forever() {
        let field = field("/description", &json!("Says it again.")).unwrap();
        let text = b"toolwarden mcp field v1\n\"/description\"\n\"Says it again.\"";
        assert_eq!(field, Digest::of(text));
        let tool = tool("echo", &BTreeMap::from([("/description".to_owned(), field)]));
        let text = format!("toolwarden mcp tool v1\n\"echo\"\n\"/description\" {field}\n");
        assert_eq!(tool, Digest::of(text.as_bytes()));
    }

    #[test]
    fn no_name_passes_for_two() {
        let digest = Digest::of(b"");
        let one = tool("a", &BTreeMap::from([(format!("/x\" {digest}\n\"/y"), digest)]));
        let two = tool("a", &BTreeMap::from([("/x".to_owned(), digest), ("/y".to_owned(), digest)]));
        assert_ne!(one, two);
    }
}
