//! A baseline as it is kept: all that was accepted, in full, and the digests beside it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwarden_text::clip;

use super::count::{Counted, ToolCount};
use super::diff::Lists;
use super::error::SnapshotError;
use super::exclusion::{Exclusion, Exclusions};
use super::fingerprint::Fingerprint;
use super::snapshot::{Identity, ServerSnapshot};
use super::strict;
use super::survey::Survey;
use crate::call::ServerName;

/// First word of a kept baseline.
const FORMAT: &str = "toolwarden-baseline-v1";

/// What a person accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    exclusions: Exclusions,
    servers: BTreeMap<ServerName, Arc<ServerSnapshot>>,
    counted: Counted,
}

impl Baseline {
    /// What would be accepted of these findings.
    pub(super) fn of(survey: &Survey, exclusions: &Exclusions) -> Result<Self, SnapshotError> {
        let lists = survey.lists().map_err(|(_, error)| error.clone())?;
        let counted = Counted::new(&lists, exclusions)?;
        let servers = survey.servers().iter().filter_map(|(name, list)| Some((name.clone(), list.clone().ok()?)));
        Ok(Self { exclusions: exclusions.clone(), servers: servers.collect(), counted })
    }

    /// Its fingerprint.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.counted.fingerprint()
    }

    /// What does not count.
    #[must_use]
    pub const fn exclusions(&self) -> &Exclusions {
        &self.exclusions
    }

    /// What was accepted of a server; its tools have the accepted output schemas.
    #[must_use]
    pub fn server(&self, name: &ServerName) -> Option<&ServerSnapshot> {
        self.servers.get(name).map(|list| &**list)
    }

    /// What was accepted of each server.
    #[must_use]
    pub fn lists(&self) -> Lists<'_> {
        self.servers.iter().map(|(name, list)| (name, &**list)).collect()
    }

    /// The digests that count.
    #[must_use]
    pub const fn counted(&self) -> &Counted {
        &self.counted
    }

    /// The text that is kept.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] where a value has no canonical form.
    pub fn to_text(&self) -> Result<String, SnapshotError> {
        let mut servers = Vec::with_capacity(self.servers.len());
        for (name, list) in &self.servers {
            let mut tools = Vec::with_capacity(list.tools().len());
            for tool in list.tools() {
                let count = ToolCount::new(name.as_str(), tool, &self.exclusions)?;
                tools.push(ToolFile {
                    definition: tool.definition().clone(),
                    digest: count.digest.to_string(),
                    fields: count.fields.iter().map(|(at, digest)| (at.clone(), digest.to_string())).collect(),
                });
            }
            servers.push(ServerFile {
                name: name.to_string(),
                identity: list.identity().as_value().clone(),
                instructions: list.instructions().map(str::to_owned),
                digest: self.counted.servers().get(name).map(ToString::to_string).unwrap_or_default(),
                tools,
            });
        }
        let file = File {
            format: FORMAT.into(),
            fingerprint: self.fingerprint().to_string(),
            exclusions: self.exclusions.iter().cloned().collect(),
            servers,
        };
        serde_json::to_string(&file).map_err(|error| SnapshotError::NoCanonicalForm(error.to_string()))
    }
}

/// What is kept where the baseline should be.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// Nothing was ever accepted, or it was withdrawn.
    Missing,
    /// It is no baseline.
    Malformed(String),
    /// It is one, but its digests are those of something else.
    FingerprintInvalid(String),
    /// This.
    Accepted(Arc<Baseline>),
}

impl Stored {
    /// Reads what is kept; every digest is computed anew.
    #[must_use]
    pub fn read(text: &[u8]) -> Self {
        let malformed = |problem: &dyn Display| Self::Malformed(clip(&problem.to_string(), 300).into_owned());
        let file: File = match strict::parse(text, "").map(serde_json::from_value) {
            Ok(Ok(file)) => file,
            Ok(Err(error)) => return malformed(&error),
            Err(error) => return malformed(&error),
        };
        if file.format != FORMAT {
            return malformed(&format!("its format is `{}`, not `{FORMAT}`", file.format));
        }
        match file.to_baseline() {
            Ok(baseline) => match file.mismatch(&baseline) {
                Ok(None) => Self::Accepted(Arc::new(baseline)),
                Ok(Some(place)) => Self::FingerprintInvalid(clip(&place, 300).into_owned()),
                Err(error) => malformed(&error),
            },
            Err(problem) => malformed(&problem),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    fingerprint: String,
    exclusions: Vec<Exclusion>,
    servers: Vec<ServerFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerFile {
    name: String,
    identity: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    digest: String,
    tools: Vec<ToolFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    definition: Value,
    digest: String,
    fields: BTreeMap<String, String>,
}

impl File {
    fn to_baseline(&self) -> Result<Baseline, String> {
        let exclusions = Exclusions::new(self.exclusions.iter().cloned()).map_err(|error| error.to_string())?;
        let mut found = Vec::with_capacity(self.servers.len());
        for server in &self.servers {
            let name = ServerName::new(&server.name).map_err(|error| error.to_string())?;
            let identity = Identity::new(server.identity.clone());
            let tools = server.tools.iter().map(|tool| tool.definition.clone()).collect();
            let list = ServerSnapshot::new(name.clone(), identity, server.instructions.clone(), tools);
            found.push((name, list));
        }
        Baseline::of(&Survey::new(found), &exclusions).map_err(|error| error.to_string())
    }

    /// The first digest that is another one.
    fn mismatch(&self, baseline: &Baseline) -> Result<Option<String>, SnapshotError> {
        let differs = |kept: &str, found: &dyn Display| kept != found.to_string();
        for server in &self.servers {
            let Some((name, list)) = baseline.servers.iter().find(|(name, _)| name.as_str() == server.name) else {
                return Ok(Some(format!("server `{}`", server.name)));
            };
            for kept in &server.tools {
                let named = kept.definition.get("name").and_then(Value::as_str).unwrap_or_default();
                let Some(tool) = list.tool(named) else { return Ok(Some(format!("tool `{named}`"))) };
                let count = ToolCount::new(name.as_str(), tool, &baseline.exclusions)?;
                let fields: BTreeMap<_, _> =
                    count.fields.iter().map(|(at, digest)| (at.clone(), digest.to_string())).collect();
                if kept.fields != fields || differs(&kept.digest, &count.digest) {
                    return Ok(Some(format!("tool `{named}` of server `{name}`")));
                }
            }
            if baseline.counted.servers().get(name).is_none_or(|digest| differs(&server.digest, digest)) {
                return Ok(Some(format!("server `{name}`")));
            }
        }
        Ok(differs(&self.fingerprint, &baseline.fingerprint()).then(|| "the whole".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn survey() -> Survey {
        let name = ServerName::new("demo").unwrap();
        let tools = vec![
            json!({ "name": "echo", "description": "Says it.\n\u{1f600}", "of_tomorrow": { "x": [1.5, null] }, "_meta": { "k": 1 } }),
            json!({ "name": "now", "inputSchema": { "type": "object", "default": "12:00" } }),
        ];
        let identity = Identity::new(json!({ "transport": "stdio", "command": "demo" }));
        Survey::new([(name.clone(), ServerSnapshot::new(name, identity, Some("Use echo.".into()), tools))])
    }

    fn text() -> String {
        let exclusions = [
            Exclusion::MetaKey { server: "demo".into(), key: "k".into() },
            Exclusion::Volatile { server: "demo".into(), tool: "now".into(), pointer: "/inputSchema/default".into() },
        ];
        Baseline::of(&survey(), &Exclusions::new(exclusions).unwrap()).unwrap().to_text().unwrap()
    }

    #[test]
    fn what_is_kept_comes_back_whole() {
        let Stored::Accepted(baseline) = Stored::read(text().as_bytes()) else { panic!("not accepted") };
        assert_eq!(baseline.lists(), survey().lists().unwrap());
        assert_eq!(baseline.to_text().unwrap(), text());
        let empty = Baseline::of(&Survey::default(), &Exclusions::default()).unwrap().to_text().unwrap();
        assert!(matches!(Stored::read(empty.as_bytes()), Stored::Accepted(baseline) if baseline.lists().is_empty()));
    }

    #[test]
    fn every_change_by_hand_is_found() {
        let value: Value = serde_json::from_str(&text()).unwrap();
        let invalid = [
            ("/fingerprint", json!("sha256:0")),
            ("/exclusions", json!([])),
            ("/servers", json!([])),
            ("/servers/0/identity/command", json!("other")),
            ("/servers/0/instructions", json!("Use other.")),
            ("/servers/0/digest", json!("")),
            ("/servers/0/tools/0/definition/description", json!("other")),
            ("/servers/0/tools/0/definition/of_tomorrow/x/0", json!(2)),
            ("/servers/0/tools/0/digest", json!("sha256:1")),
            ("/servers/0/tools/0/fields", json!({})),
            ("/servers/0/tools/1/fields/~1name", json!("sha256:1")),
        ];
        for (place, other) in invalid {
            let mut value = value.clone();
            *value.pointer_mut(place).unwrap() = other;
            assert!(matches!(Stored::read(value.to_string().as_bytes()), Stored::FingerprintInvalid(_)), "{place}");
        }
        let malformed = [
            ("/format", json!("toolwarden-baseline-v2")),
            ("/servers", json!({})),
            ("/servers/0/name", json!("de mo")),
            ("/servers/0/tools/1/definition/name", json!("echo")),
            ("/exclusions/0", json!({ "server": "demo", "metaKey": "k", "tool": "x" })),
            ("/exclusions/0", json!({ "server": "demo", "tool": "x", "pointer": "name" })),
        ];
        for (place, other) in malformed {
            let mut value = value.clone();
            *value.pointer_mut(place).unwrap() = other;
            let stored = Stored::read(value.to_string().as_bytes());
            assert!(matches!(stored, Stored::Malformed(_)), "{place}: {stored:?}");
        }
        let text = text();
        let doubled = text.replacen("{\"format\"", "{\"format\":\"toolwarden-baseline-v1\",\"format\"", 1);
        let more = text.replacen("{\"format\"", "{\"more\":1,\"format\"", 1);
        for text in ["", "null", "{}", &text[..text.len() - 1], &doubled, &more] {
            assert!(matches!(Stored::read(text.as_bytes()), Stored::Malformed(_)), "{text:.60}");
        }
        assert!(matches!(Stored::read(b"\xff"), Stored::Malformed(_)));
    }
}
