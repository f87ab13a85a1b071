//! What one server shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::error::SnapshotError;
use super::fingerprint;
use super::pointer::below;
use super::strict;
use crate::call::{ServerName, public_name};
use crate::digest::Digest;

/// Bytes of a raw tool name at most. Source: the registry's import.
const LONGEST_NAME: usize = 1024;

/// Tools of one server at most. Source: the registry's import.
const MOST_TOOLS: usize = 100_000;

/// Bytes of one definition at most, as compact JSON. Source: the registry's import.
const LARGEST_DEFINITION: usize = 1 << 20;

/// What a server is known by: transport, command and arguments or the URL's origin, names of variables and headers. It holds no
/// values of either; whoever makes one sees to that.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity(Value);

impl Identity {
    /// An identity.
    #[must_use]
    pub const fn new(value: Value) -> Self {
        Self(value)
    }

    /// The identity as a value.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.0
    }
}

/// One tool: its whole definition as the server sent it, and its digests.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSnapshot {
    name: String,
    public_name: String,
    definition: Value,
    fields: BTreeMap<String, Digest>,
    digest: Digest,
}

impl ToolSnapshot {
    /// A tool of a server; `at` is its place in the list.
    fn new(server: &ServerName, definition: Value, at: &str) -> Result<Self, SnapshotError> {
        strict::check(&definition, at)?;
        let shape = |place: String, problem| SnapshotError::Shape { place, problem };
        let Value::Object(members) = &definition else { return Err(shape(at.into(), "no object")) };
        let name = match members.get("name") {
            Some(Value::String(name)) if !name.is_empty() && name.len() <= LONGEST_NAME => name.clone(),
            Some(Value::String(_)) => return Err(shape(below(at, "name"), "empty or longer than 1024 bytes")),
            _ => return Err(shape(below(at, "name"), "no text")),
        };
        if definition.to_string().len() > LARGEST_DEFINITION {
            return Err(SnapshotError::TooLarge { place: at.into(), limit: LARGEST_DEFINITION, unit: "bytes" });
        }
        let mut fields = BTreeMap::new();
        for (pointer, value) in fields_of(&definition) {
            let digest = fingerprint::field(&pointer, value)?;
            fields.insert(pointer, digest);
        }
        let digest = fingerprint::tool(&name, &fields);
        Ok(Self { public_name: public_name(server, &name), name, definition, fields, digest })
    }

    /// Its raw name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that the model sees.
    #[must_use]
    pub fn public_name(&self) -> &str {
        &self.public_name
    }

    /// Its definition, with every field that the server sent.
    #[must_use]
    pub const fn definition(&self) -> &Value {
        &self.definition
    }

    /// Digests of its fields by their pointers. Each key of `_meta` is a field by itself.
    #[must_use]
    pub const fn fields(&self) -> &BTreeMap<String, Digest> {
        &self.fields
    }

    /// Its digest, where nothing is excluded.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

/// The fields of a definition by their pointers: its members, and the members of `_meta`. An empty `_meta` is a field.
pub(super) fn fields_of(definition: &Value) -> impl Iterator<Item = (String, &Value)> {
    definition.as_object().into_iter().flatten().flat_map(|(name, value)| {
        let at = below("", name);
        match value {
            Value::Object(meta) if name == "_meta" && !meta.is_empty() => {
                meta.iter().map(|(key, value)| (below(&at, key), value)).collect()
            }
            _ => vec![(at, value)],
        }
    })
}

/// What one server shows: who it is, what it says, and its tools.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSnapshot {
    name: ServerName,
    identity: Identity,
    instructions: Option<String>,
    tools: BTreeMap<String, Arc<ToolSnapshot>>,
    digest: Digest,
}

impl ServerSnapshot {
    /// A server's list, all pages of it. The order of tools does not count.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] that names the place.
    pub fn new(
        name: ServerName,
        identity: Identity,
        instructions: Option<String>,
        tools: Vec<Value>,
    ) -> Result<Self, SnapshotError> {
        Self::build(name, identity, instructions, tools, |_| None)
    }

    /// The same server's list, fetched anew. Digests of definitions that are the same are taken over.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] that names the place.
    pub fn renewed(&self, instructions: Option<String>, tools: Vec<Value>) -> Result<Self, SnapshotError> {
        Self::build(self.name.clone(), self.identity.clone(), instructions, tools, |definition| {
            let known = self.tools.get(definition.get("name")?.as_str()?)?;
            (known.definition == *definition).then(|| Arc::clone(known))
        })
    }

    fn build(
        name: ServerName,
        identity: Identity,
        instructions: Option<String>,
        definitions: Vec<Value>,
        known: impl Fn(&Value) -> Option<Arc<ToolSnapshot>>,
    ) -> Result<Self, SnapshotError> {
        if definitions.len() > MOST_TOOLS {
            return Err(SnapshotError::TooLarge { place: "/tools".into(), limit: MOST_TOOLS, unit: "tools" });
        }
        strict::check(identity.as_value(), "/identity")?;
        let mut tools = BTreeMap::new();
        for (index, definition) in definitions.into_iter().enumerate() {
            let tool = match known(&definition) {
                Some(tool) => tool,
                None => Arc::new(ToolSnapshot::new(&name, definition, &format!("/tools/{index}"))?),
            };
            if let Some(twice) = tools.insert(tool.name.clone(), tool) {
                return Err(SnapshotError::DuplicateTool(twice.name.clone()));
            }
        }
        let digests = tools.values().map(|tool| (tool.name(), tool.digest));
        let digest = fingerprint::server(name.as_str(), identity.as_value(), instructions.as_deref(), digests)?;
        Ok(Self { name, identity, instructions, tools, digest })
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &ServerName {
        &self.name
    }

    /// What it is known by.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What it tells the model about itself.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Its tools, in the order of their raw names.
    #[must_use]
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolSnapshot> {
        self.tools.values().map(|tool| &**tool)
    }

    /// The tool of a raw name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolSnapshot> {
        self.tools.get(name).map(|tool| &**tool)
    }

    /// Its digest, where nothing is excluded.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn snapshot(tools: Vec<Value>) -> Result<ServerSnapshot, SnapshotError> {
        ServerSnapshot::new(ServerName::new("demo").unwrap(), Identity::new(json!({})), None, tools)
    }

    #[test]
    fn every_field_counts_and_each_key_of_meta_by_itself() {
        let definition = json!({
            "name": "t", "description": "d", "inputSchema": {}, "icons": [], "execution": {}, "of/tomorrow": 1,
            "_meta": { "a/b": 1, "c": 2 },
        });
        let one = snapshot(vec![definition.clone()]).unwrap();
        let tool = one.tool("t").unwrap();
        let fields: Vec<_> = tool.fields().keys().map(String::as_str).collect();
        let expected = [
            "/_meta/a~1b",
            "/_meta/c",
            "/description",
            "/execution",
            "/icons",
            "/inputSchema",
            "/name",
            "/of~1tomorrow",
        ];
        assert_eq!(fields, expected);
        assert_eq!(tool.definition(), &definition);
        for field in expected {
            let mut other = definition.clone();
            *other.pointer_mut(field).unwrap() = json!("another");
            let other = snapshot(vec![other]).unwrap();
            assert_ne!(other.digest(), one.digest(), "{field}");
        }
        let without = |meta: Value| snapshot(vec![json!({ "name": "t", "_meta": meta })]).unwrap().digest();
        let none = snapshot(vec![json!({ "name": "t" })]).unwrap().digest();
        let digests = [none, without(json!({})), without(json!(null)), without(json!({ "": {} }))];
        assert!(digests.iter().enumerate().all(|(i, one)| digests.iter().skip(i + 1).all(|other| one != other)));
    }

    #[test]
    fn a_list_with_a_fault_is_none() {
        let rows = [
            (vec![json!({ "name": "a" }), json!({ "name": "b" }), json!({ "name": "a" })], "duplicate-tools"),
            (vec![json!(1)], "bad-list"),
            (vec![json!({})], "bad-list"),
            (vec![json!({ "name": 1 })], "bad-list"),
            (vec![json!({ "name": "" })], "bad-list"),
            (vec![json!({ "name": "a".repeat(1025) })], "bad-list"),
            (vec![json!({ "name": "a", "d": "x".repeat(1 << 20) })], "list-too-large"),
            (vec![json!({ "name": "a", "d": 1_u64 << 53 })], "number-out-of-range"),
        ];
        for (tools, code) in rows {
            assert_eq!(snapshot(tools).unwrap_err().code(), code);
        }
        assert_eq!(snapshot(Vec::new()).unwrap().tools().len(), 0);
    }

    #[test]
    fn what_is_the_same_is_not_hashed_again() {
        let (a, b) = (json!({ "name": "a", "x": 1 }), json!({ "name": "b" }));
        let one = snapshot(vec![a.clone(), b.clone()]).unwrap();
        let other = one.renewed(None, vec![b, json!({ "x": 2, "name": "a" })]).unwrap();
        assert!(Arc::ptr_eq(&one.tools["b"], &other.tools["b"]));
        assert!(!Arc::ptr_eq(&one.tools["a"], &other.tools["a"]));
        assert_eq!(other.renewed(None, vec![json!({ "name": "b" }), a]).unwrap(), one);
    }
}
