//! What a person is shown.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolwarden_text::visible;

use super::words::risk;
use super::{Question, Ticket};
use crate::call::Attendance;

/// A question as it is shown: everything that a person needs to answer it, and nothing that is not what would run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// What it is answered by.
    pub ticket: Ticket,
    /// The call.
    pub call: String,
    /// Who called: whether a person is there.
    pub attendance: Attendance,
    /// The tool's server; none for the agent's own tools.
    pub server: Option<String>,
    /// The tool's raw name.
    pub tool: String,
    /// The name that the model used.
    pub public_name: String,
    /// Why the person is asked, as a code.
    pub kind: String,
    /// Why the person is asked.
    pub reason: String,
    /// The real target.
    pub detail: String,
    /// What may happen, in English and in Chinese.
    pub risk: Risk,
    /// The arguments: byte for byte what would be dispatched.
    pub arguments: Value,
    /// The same as lines of text, with control, bidi and invisible characters spelled out.
    pub lines: Vec<String>,
    /// How they differ from those of the last call of this tool that was allowed.
    pub since: Since,
    /// Generation of the registry and policy.
    pub generation: u64,
    /// Digest of the policy module.
    pub module: String,
}

/// What may happen, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Risk {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// How a call differs from the last one of its tool that was allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Since {
    /// None was allowed before.
    First,
    /// The arguments are the same.
    Same,
    /// These arguments are others: JSON pointers of the first level.
    Changed {
        /// Arguments that are there now and were not.
        added: Vec<String>,
        /// Arguments that were there.
        removed: Vec<String>,
        /// Arguments with another value.
        changed: Vec<String>,
    },
}

impl Shown {
    pub(super) fn new(ticket: Ticket, question: &Question, last: Option<&Value>) -> Self {
        let arguments = Value::Object(question.arguments.as_map().clone());
        let pretty = serde_json::to_string_pretty(&arguments).unwrap_or_default();
        let words = risk(&question.kind);
        Self {
            ticket,
            call: question.id.0.clone(),
            attendance: question.attendance,
            server: question.tool.server.as_ref().map(ToString::to_string),
            tool: question.tool.name.clone(),
            public_name: question.tool.public_name.clone(),
            kind: question.kind.as_str().to_owned(),
            reason: visible(&question.reason).into_owned(),
            detail: visible(&question.detail).into_owned(),
            risk: Risk { en: words.en.into(), zh: words.zh.into() },
            lines: pretty.lines().map(|line| visible(line).into_owned()).collect(),
            since: last.map_or(Since::First, |last| Since::of(last, &arguments)),
            arguments,
            generation: question.policy.generation.0,
            module: question.policy.digest.clone(),
        }
    }
}

impl Since {
    fn of(last: &Value, now: &Value) -> Self {
        let empty = Map::new();
        let (last, now) = (last.as_object().unwrap_or(&empty), now.as_object().unwrap_or(&empty));
        let pointer = |name: &String| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let names: BTreeSet<&String> = last.keys().chain(now.keys()).collect();
        let (mut added, mut removed, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            match (last.get(name), now.get(name)) {
                (None, Some(_)) => added.push(pointer(name)),
                (Some(_), None) => removed.push(pointer(name)),
                (before, after) if before != after => changed.push(pointer(name)),
                _ => {}
            }
        }
        if added.is_empty() && removed.is_empty() && changed.is_empty() {
            return Self::Same;
        }
        Self::Changed { added, removed, changed }
    }
}
