//! What was found at each server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::count::Counted;
use super::error::SnapshotError;
use super::exclusion::Exclusions;
use super::fingerprint::Fingerprint;
use super::snapshot::ServerSnapshot;
use crate::call::{ServerName, ServerNameError};

/// What was found at each server: its list, or why there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    servers: BTreeMap<ServerName, Result<Arc<ServerSnapshot>, SnapshotError>>,
}

impl Survey {
    /// The findings of all servers. Of two tools with one public name, the lists of both servers are refused.
    #[must_use]
    pub fn new(found: impl IntoIterator<Item = (ServerName, Result<ServerSnapshot, SnapshotError>)>) -> Self {
        Self::of(found.into_iter().map(|(name, found)| (name, found.map(Arc::new))))
    }

    /// The same, of lists that are shared.
    #[must_use]
    pub fn of(found: impl IntoIterator<Item = (ServerName, Result<Arc<ServerSnapshot>, SnapshotError>)>) -> Self {
        let mut servers = BTreeMap::new();
        for (name, found) in found {
            // A list of another server under this name is nobody's, and so are two lists under one name.
            let is_other = found.as_ref().is_ok_and(|list| *list.name() != name) || servers.contains_key(&name);
            let found = if is_other { Err(SnapshotError::DuplicateServer(name.to_string())) } else { found };
            servers.insert(name, found);
        }
        for (server, public_name) in shared_names(&servers) {
            servers.insert(server, Err(SnapshotError::SharedPublicName(public_name)));
        }
        Self { servers }
    }

    /// The name of a server, as settings spell it.
    ///
    /// # Errors
    ///
    /// [`ServerNameError`].
    pub fn server_name(text: &str) -> Result<ServerName, ServerNameError> {
        ServerName::new(text)
    }

    /// What was found at each server.
    #[must_use]
    pub const fn servers(&self) -> &BTreeMap<ServerName, Result<Arc<ServerSnapshot>, SnapshotError>> {
        &self.servers
    }

    /// All lists.
    ///
    /// # Errors
    ///
    /// The worst reason why one is missing, and of which server: names that stand for two things before all others.
    pub fn lists(&self) -> Result<BTreeMap<&ServerName, &ServerSnapshot>, (&ServerName, &SnapshotError)> {
        let errors = || self.servers.iter().filter_map(|(name, found)| Some((name, found.as_ref().err()?)));
        if let Some(worst) = errors().find(|(_, error)| error.is_duplicate()).or_else(|| errors().next()) {
            return Err(worst);
        }
        Ok(self.servers.iter().filter_map(|(name, found)| Some((name, &**found.as_ref().ok()?))).collect())
    }

    /// The fingerprint of all lists: what a person sends back to accept them.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] where one is missing.
    pub fn fingerprint(&self, exclusions: &Exclusions) -> Result<Fingerprint, SnapshotError> {
        let lists = self.lists().map_err(|(_, error)| error.clone())?;
        Ok(Counted::new(&lists, exclusions)?.fingerprint())
    }
}

/// Servers with a tool whose public name another tool has, too.
fn shared_names(
    servers: &BTreeMap<ServerName, Result<Arc<ServerSnapshot>, SnapshotError>>,
) -> BTreeSet<(ServerName, String)> {
    let mut owners: BTreeMap<&str, Vec<&ServerName>> = BTreeMap::new();
    for list in servers.values().filter_map(|found| found.as_ref().ok()) {
        for tool in list.tools() {
            owners.entry(tool.public_name()).or_default().push(list.name());
        }
    }
    let shared = owners.into_iter().filter(|(_, owners)| owners.len() > 1);
    shared.flat_map(|(name, owners)| owners.into_iter().map(move |owner| (owner.clone(), name.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::baseline::Identity;

    fn list(server: &str, tools: &[&str]) -> (ServerName, Result<ServerSnapshot, SnapshotError>) {
        let name = ServerName::new(server).unwrap();
        let tools = tools.iter().map(|tool| json!({ "name": tool })).collect();
        (name.clone(), ServerSnapshot::new(name, Identity::new(json!({})), None, tools))
    }

    fn codes(survey: &Survey) -> Vec<(&str, &str)> {
        let code = |found: &Result<_, SnapshotError>| found.as_ref().map_or_else(SnapshotError::code, |_| "good");
        survey.servers().iter().map(|(name, found)| (name.as_str(), code(found))).collect()
    }

    #[test]
    fn one_public_name_is_one_tool() {
        let survey = Survey::new([list("a__b", &["c"]), list("a", &["b__c", "x"]), list("z", &["c"])]);
        assert_eq!(codes(&survey), [("a", "shared-public-name"), ("a__b", "shared-public-name"), ("z", "good")]);
        assert!(survey.lists().unwrap_err().1.is_duplicate());
    }

    #[test]
    fn one_name_is_one_server() {
        let survey = Survey::new([list("a", &["x"]), list("a", &["x"]), list("b", &[])]);
        assert_eq!(codes(&survey), [("a", "duplicate-server"), ("b", "good")]);
        let (name, other) = (ServerName::new("c").unwrap(), list("d", &[]).1);
        assert_eq!(codes(&Survey::new([(name, other)])), [("c", "duplicate-server")]);
        for bad in ["", "a b", "a/b", "ä", &"a".repeat(33)] {
            assert!(Survey::server_name(bad).is_err(), "{bad}");
        }
    }
}
