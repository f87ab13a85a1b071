//! Which values a schema allows: `type`, `enum`, `const`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Compare, Pair};
use crate::baseline::canonical::{key, same};
use crate::baseline::grade::Grade;
use crate::baseline::pointer::below;
use crate::baseline::text::has_sentence;

/// All types. A number may be an integer.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

impl<'v> Compare<'v, '_> {
    pub(super) fn types(&mut self, old: &'v Map<String, Value>, new: &'v Map<String, Value>, at: &str) {
        let pair = Pair { old: old.get("type"), new: new.get("type") };
        let grade = match (pair.old, pair.new) {
            (None, None) => return,
            (Some(one), Some(other)) if same(one, other) => return,
            (one, other) => match (types(one), types(other)) {
                (Some(one), Some(other)) if one == other => Grade::Notation,
                (Some(one), Some(other)) if one.is_subset(&other) => self.loosened(),
                _ => Grade::Breaking,
            },
        };
        self.push(below(at, "type"), grade, pair.old, pair.new);
    }

    pub(super) fn constants(&mut self, old: &'v Map<String, Value>, new: &'v Map<String, Value>, at: &str) {
        let grade = match (constants(old), constants(new)) {
            (Constants::Any, Constants::Any) => return,
            (Constants::These(one), Constants::These(other)) if one == other => Grade::Notation,
            // A value that reads like a sentence is one.
            (Constants::These(one), Constants::These(other)) if one.is_subset(&other) => {
                let is_text = other.difference(&one).any(|value| has_sentence(&Value::from(value.trim_matches('"'))));
                if is_text { Grade::Text } else { self.loosened() }
            }
            (Constants::These(_), Constants::Any) => self.loosened(),
            _ => Grade::Breaking,
        };
        for keyword in ["enum", "const"] {
            match (old.get(keyword), new.get(keyword)) {
                (None, None) => {}
                (Some(one), Some(other)) if same(one, other) => {}
                (one, other) => self.push(below(at, keyword), grade, one, other),
            }
        }
    }
}

fn types(value: Option<&Value>) -> Option<BTreeSet<&str>> {
    let names: Vec<&str> = match value {
        None => TYPES.to_vec(),
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().map(Value::as_str).collect::<Option<_>>()?,
        Some(_) => return None,
    };
    let mut types: BTreeSet<&str> = names.into_iter().collect();
    if types.contains("number") {
        types.insert("integer");
    }
    types.iter().all(|name| TYPES.contains(name)).then_some(types)
}

enum Constants {
    Any,
    These(BTreeSet<String>),
    /// Two keywords at once, or no list.
    Odd,
}

fn constants(members: &Map<String, Value>) -> Constants {
    match (members.get("enum"), members.get("const")) {
        (None, None) => Constants::Any,
        (Some(Value::Array(values)), None) => Constants::These(values.iter().map(key).collect()),
        (None, Some(value)) => Constants::These(BTreeSet::from([key(value)])),
        _ => Constants::Odd,
    }
}
