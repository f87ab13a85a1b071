//! What counts: digests without what was excluded.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::error::SnapshotError;
use super::exclusion::{Exclusions, remove_meta, type_of};
use super::fingerprint::{self, Fingerprint};
use super::pointer::{below, split_first};
use super::snapshot::{ServerSnapshot, ToolSnapshot};
use crate::call::ServerName;
use crate::digest::Digest;

/// The digests that count of a catalogue: of the whole and of each server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    fingerprint: Fingerprint,
    servers: BTreeMap<ServerName, Digest>,
}

impl Counted {
    /// Counts these lists. What is not excluded has been hashed already.
    pub(super) fn new(
        lists: &BTreeMap<&ServerName, &ServerSnapshot>,
        exclusions: &Exclusions,
    ) -> Result<Self, SnapshotError> {
        let mut servers = BTreeMap::new();
        for (name, list) in lists {
            servers.insert((*name).clone(), server_digest(list, exclusions)?);
        }
        let lines = servers.iter().map(|(name, digest)| (name.as_str(), *digest));
        Ok(Self { fingerprint: fingerprint::whole(&exclusions.to_value(), lines), servers })
    }

    /// Of the whole.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Of each server.
    #[must_use]
    pub const fn servers(&self) -> &BTreeMap<ServerName, Digest> {
        &self.servers
    }
}

/// What counts of one server.
pub(super) fn server_digest(list: &ServerSnapshot, exclusions: &Exclusions) -> Result<Digest, SnapshotError> {
    let server = list.name().as_str();
    if exclusions.of_server(server).next().is_none() {
        return Ok(list.digest());
    }
    let mut tools = Vec::with_capacity(list.tools().len());
    let has_keys = exclusions.meta_keys(server).next().is_some();
    for tool in list.tools() {
        let is_whole = !has_keys && exclusions.places(server, tool.name()).next().is_none();
        let digest = if is_whole { tool.digest() } else { ToolCount::new(server, tool, exclusions)?.digest };
        tools.push((tool.name(), digest));
    }
    fingerprint::server(server, list.identity().as_value(), list.instructions(), tools.into_iter())
}

/// What counts of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolCount {
    pub fields: BTreeMap<String, Digest>,
    pub digest: Digest,
}

impl ToolCount {
    pub fn new(server: &str, tool: &ToolSnapshot, exclusions: &Exclusions) -> Result<Self, SnapshotError> {
        let mut fields = tool.fields().clone();
        let mut definition = Cow::Borrowed(tool.definition());
        for key in exclusions.meta_keys(server) {
            fields.remove(&below("/_meta", key));
            remove_meta(definition.to_mut(), key);
        }
        // Where keys of it may come and go, so may the whole.
        fields.retain(|pointer, _| pointer != "/_meta" || definition.get("_meta").is_some());
        let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for pointer in exclusions.places(server, tool.name()) {
            places.entry(field_of(pointer, &fields)).or_default().push(pointer);
        }
        for (field, places) in places {
            let digest = volatile(&field, &places, &definition)?;
            // All of `_meta` stands for its keys.
            fields.retain(|pointer, _| !pointer.strip_prefix(&field).is_some_and(|rest| rest.starts_with('/')));
            fields.insert(field, digest);
        }
        let digest = fingerprint::tool(tool.name(), &fields);
        Ok(Self { fields, digest })
    }
}

/// The field that a place is in.
fn field_of(pointer: &str, fields: &BTreeMap<String, Digest>) -> String {
    let within = |field: &str| pointer.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let known = fields.keys().find(|field| within(field)).cloned();
    known.unwrap_or_else(|| split_first(pointer).map_or_else(String::new, |(first, _)| below("", &first)))
}

fn volatile(field: &str, places: &[&str], definition: &Value) -> Result<Digest, SnapshotError> {
    let mut rest = definition.clone();
    let mut types = BTreeMap::new();
    for pointer in places {
        let found = rest.pointer_mut(pointer);
        types.insert((*pointer).to_owned(), found.as_ref().map_or("absent", |value| type_of(value)));
        if let Some(value) = found {
            *value = Value::Null;
        }
    }
    // A field that is not there differs from one that is null by the types of its places.
    fingerprint::volatile_field(field, &types, rest.pointer(field).unwrap_or(&Value::Null))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::baseline::{Exclusion, Identity, Survey};

    fn fingerprint(definition: &Value, exclusions: &[Exclusion]) -> Fingerprint {
        let name = ServerName::new("s").unwrap();
        let list = ServerSnapshot::new(name.clone(), Identity::new(json!({})), None, vec![definition.clone()]);
        Survey::new([(name, list)]).fingerprint(&Exclusions::new(exclusions.iter().cloned()).unwrap()).unwrap()
    }

    #[test]
    fn what_is_excluded_does_not_count_and_all_else_does() {
        let volatile =
            |pointer: &str| Exclusion::Volatile { server: "s".into(), tool: "t".into(), pointer: pointer.into() };
        let meta = |key: &str| Exclusion::MetaKey { server: "s".into(), key: key.into() };
        let of = |x: Value, meta: Value| json!({ "name": "t", "inputSchema": { "d": x, "e": 1 }, "_meta": meta });
        let base = of(json!("a"), json!({ "k": 1 }));
        let place = [volatile("/inputSchema/d")];
        assert_eq!(fingerprint(&base, &place), fingerprint(&of(json!("b"), json!({ "k": 1 })), &place));
        assert_ne!(
            fingerprint(&base, &place),
            fingerprint(&of(json!(["a"]), json!({ "k": 1 })), &place),
            "another type"
        );
        assert_ne!(
            fingerprint(&base, &place),
            fingerprint(&of(json!("b"), json!({ "k": 2 })), &place),
            "another field"
        );
        let gone = json!({ "name": "t", "inputSchema": { "e": 1 }, "_meta": { "k": 1 } });
        assert_ne!(fingerprint(&base, &place), fingerprint(&gone, &place), "gone");
        assert_ne!(fingerprint(&base, &place), fingerprint(&base, &[]), "the exclusion itself counts");
        assert_ne!(fingerprint(&base, &place), fingerprint(&base, &[volatile("/inputSchema/e")]));

        let key = [meta("k")];
        for other in [json!({ "k": 2 }), json!({})] {
            assert_eq!(fingerprint(&base, &key), fingerprint(&of(json!("a"), other.clone()), &key), "{other}");
        }
        for other in [json!({ "k": 1, "l": 1 }), json!("k"), json!(null)] {
            assert_ne!(fingerprint(&base, &key), fingerprint(&of(json!("a"), other.clone()), &key), "{other}");
        }
        let inner = [volatile("/_meta/k")];
        assert_eq!(fingerprint(&base, &inner), fingerprint(&of(json!("a"), json!({ "k": 7 })), &inner));
        assert_ne!(fingerprint(&base, &inner), fingerprint(&of(json!("a"), json!({ "k": "7" })), &inner));
    }

    #[test]
    fn a_whole_field_may_be_volatile() {
        let exclusions = [Exclusion::Volatile { server: "s".into(), tool: "t".into(), pointer: "/description".into() }];
        let of = |definition: Value| fingerprint(&definition, &exclusions);
        assert_eq!(of(json!({ "name": "t", "description": "a" })), of(json!({ "name": "t", "description": "b" })));
        assert_ne!(of(json!({ "name": "t", "description": "a" })), of(json!({ "name": "t" })));
        assert_ne!(of(json!({ "name": "t", "description": null })), of(json!({ "name": "t" })));

        let exclusions = [Exclusion::Volatile { server: "s".into(), tool: "t".into(), pointer: "/_meta".into() }];
        let of = |definition: Value| fingerprint(&definition, &exclusions);
        assert_eq!(of(json!({ "name": "t", "_meta": { "k": 1 } })), of(json!({ "name": "t", "_meta": { "l": 2 } })));
    }

    #[test]
    fn names_are_never_volatile() {
        for pointer in ["", "/name", "name", "/a~"] {
            let exclusion = Exclusion::Volatile { server: "s".into(), tool: "t".into(), pointer: pointer.into() };
            assert_eq!(Exclusions::new([exclusion]).unwrap_err().code(), "bad-exclusion", "{pointer}");
        }
    }
}
