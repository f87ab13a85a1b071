//! What differs between what was accepted and what there is.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::grade::Grade;

/// One difference. Names and values are the server's: show them escaped.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What it means.
    pub grade: Grade,
    /// Which server.
    pub server: String,
    /// Raw name of the tool, as it is now; of the one that is gone, as it was. None: the server itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The name that the model sees; none for a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_name: Option<String>,
    /// JSON pointer into the definition, or into `{"identity": ..., "instructions": ...}` of the server; empty: all of it.
    pub pointer: String,
    /// What was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// What there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
}

/// All differences, those that mean most first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Drift(Vec<Change>);

impl Drift {
    /// These differences; none where there are none.
    pub(super) fn of(mut changes: Vec<Change>) -> Option<Self> {
        let place = |c: &Change| (c.server.clone(), c.tool.clone(), c.pointer.clone());
        changes.sort_by_cached_key(|change| (std::cmp::Reverse(change.grade), place(change)));
        (!changes.is_empty()).then_some(Self(changes))
    }

    /// The differences.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.0
    }

    /// Whether all of it is only written another way.
    #[must_use]
    pub fn is_notation(&self) -> bool {
        self.0.iter().all(|change| change.grade == Grade::Notation)
    }

    /// How many there are of each grade, those that mean most first.
    #[must_use]
    pub fn counts(&self) -> Vec<(Grade, usize)> {
        let mut counts = BTreeMap::new();
        for change in &self.0 {
            *counts.entry(change.grade).or_insert(0) += 1;
        }
        counts.into_iter().rev().collect()
    }
}
