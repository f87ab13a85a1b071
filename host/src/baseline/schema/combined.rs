//! Schemas made of others.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Compare, Pair, is_open};
use crate::baseline::canonical::{key, same, same_items};
use crate::baseline::grade::Grade;
use crate::baseline::pointer::below;

impl<'v> Compare<'v, '_> {
    /// `items`: nothing at all is a schema that takes everything.
    pub(super) fn items(&mut self, pair: Pair<'v>, place: &str, name: &str) {
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        match (pair.old, pair.new) {
            (Some(old), Some(new)) if is_schema(old) && is_schema(new) => self.schemas(old, new, place, name),
            (old, new) if pair.is_one_absent_and(is_open) => self.push(place.into(), Grade::Notation, old, new),
            (old @ Some(_), None) if old.is_some_and(is_schema) => self.push(place.into(), self.loosened(), old, None),
            (old, new) => self.push(place.into(), Grade::Breaking, old, new),
        }
    }

    /// `allOf`: each part stands for itself.
    pub(super) fn all_of(&mut self, pair: Pair<'v>, place: &str, name: &str) {
        match (pair.old, pair.new) {
            (Some(Value::Array(old)), Some(Value::Array(new))) if same_items(old, new) => {
                self.push(place.into(), Grade::Notation, pair.old, pair.new);
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
                for (index, (old, new)) in old.iter().zip(new).enumerate() {
                    self.schemas(old, new, &format!("{place}/{index}"), name);
                }
            }
            (old, new) => self.push(place.into(), Grade::Breaking, old, new),
        }
    }

    /// `anyOf` and `oneOf`: the order of branches does not matter. One more branch of `oneOf` may take away what fits two.
    pub(super) fn branches(&mut self, keyword: &str, pair: Pair<'v>, place: &str, name: &str) {
        let is_any = keyword == "anyOf";
        let (Some(Value::Array(old)), Some(Value::Array(new))) = (pair.old, pair.new) else {
            let grade = if is_any && pair.new.is_none() { self.loosened() } else { Grade::Breaking };
            return self.push(place.into(), grade, pair.old, pair.new);
        };
        let (gone, come) = unmatched(old, new);
        if gone.is_empty() && come.is_empty() {
            self.push(place.into(), Grade::Notation, pair.old, pair.new);
        } else if gone.len() == come.len() {
            for ((_, old), (index, new)) in gone.into_iter().zip(come) {
                let at = format!("{place}/{index}");
                if is_any {
                    self.schemas(old, new, &at, name);
                } else {
                    self.entangled(|this| this.schemas(old, new, &at, name));
                }
            }
        } else if gone.is_empty() && is_any {
            for (index, new) in come {
                self.push(format!("{place}/{index}"), self.loosened(), None, Some(new));
            }
        } else {
            self.push(place.into(), Grade::Breaking, pair.old, pair.new);
        }
    }

    /// Parts that stand beside each other, and of which nobody says whether more within them is more of the whole.
    pub(super) fn parallel(&mut self, pair: Pair<'v>, place: &str, name: &str) {
        let (Some(old), Some(new)) = (pair.old, pair.new) else {
            return self.push(place.into(), Grade::Breaking, pair.old, pair.new);
        };
        let is_map = place.ends_with("/patternProperties") || place.ends_with("/dependentSchemas");
        match (old, new) {
            (Value::Object(old), Value::Object(new))
                if is_map && old.keys().all(|key| new.contains_key(key)) && old.len() == new.len() =>
            {
                for (key, old) in old {
                    if let Some(new) = new.get(key).filter(|new| !same(old, new)) {
                        self.entangled(|this| this.schemas(old, new, &below(place, key), key));
                    }
                }
            }
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                for (index, (old, new)) in old.iter().zip(new).enumerate() {
                    self.entangled(|this| this.schemas(old, new, &format!("{place}/{index}"), name));
                }
            }
            (old, new) if !is_map && !old.is_array() && !new.is_array() => {
                self.entangled(|this| this.schemas(old, new, place, name));
            }
            (old, new) => self.push(place.into(), Grade::Breaking, Some(old), Some(new)),
        }
    }
}

/// What is left of two lists when what they have in common is taken out, with its places.
type Left<'v> = Vec<(usize, &'v Value)>;

fn unmatched<'v>(old: &'v [Value], new: &'v [Value]) -> (Left<'v>, Left<'v>) {
    let mut known: BTreeMap<String, Left<'v>> = BTreeMap::new();
    for (index, branch) in old.iter().enumerate() {
        known.entry(key(branch)).or_default().push((index, branch));
    }
    let come = new.iter().enumerate().filter(|(_, branch)| known.get_mut(&key(branch)).and_then(Vec::pop).is_none());
    let come: Left<'v> = come.collect();
    let mut gone: Left<'v> = known.into_values().flatten().collect();
    gone.sort_by_key(|(index, _)| *index);
    (gone, come)
}
