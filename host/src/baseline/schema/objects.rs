//! Members of objects, and named schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Compare, Direction, OPEN, Pair, is_open};
use crate::baseline::canonical::same;
use crate::baseline::grade::Grade;
use crate::baseline::pointer::below;

impl<'v> Compare<'v, '_> {
    /// `properties` and `required`.
    pub(super) fn properties(&mut self, old: &'v Map<String, Value>, new: &'v Map<String, Value>, at: &str) {
        let place = below(at, "properties");
        let pair = Pair { old: old.get("properties"), new: new.get("properties") };
        let needed = Pair { old: old.get("required"), new: new.get("required") };
        let (Some(before), Some(after)) = (Required::read(needed.old), Required::read(needed.new)) else {
            self.part(below(at, "required"), needed);
            return self.part(place, pair);
        };
        let empty = BTreeMap::new();
        let mut known = empty.clone();
        let mut shown = empty;
        for (value, names) in [(pair.old, &mut known), (pair.new, &mut shown)] {
            match value {
                None => {}
                Some(Value::Object(members)) => names.extend(members),
                Some(_) => return self.part(place, pair),
            }
        }
        if pair.old.is_some() != pair.new.is_some() && known.is_empty() && shown.is_empty() {
            self.push(place.clone(), Grade::Notation, pair.old, pair.new);
        }
        for (name, old) in &known {
            match shown.get(*name) {
                Some(new) => self.schemas(old, new, &below(&place, name), name),
                None => self.push(below(&place, name), Grade::Breaking, Some(*old), None),
            }
        }
        for (name, new) in shown.iter().filter(|(name, _)| !known.contains_key(*name)) {
            let is_needed = after.0.contains(name.as_str()) && self.direction == Direction::Input;
            let grade = if is_needed { Grade::Breaking } else { Grade::Widened };
            self.push(below(&place, name), grade, None, Some(*new));
        }
        self.required(needed, &before, &after, &known, &shown, at);
    }

    /// What became required, or no longer is. What is itself new or gone was told already.
    fn required(
        &mut self,
        pair: Pair<'v>,
        old: &Required<'v>,
        new: &Required<'v>,
        known: &BTreeMap<&'v String, &'v Value>,
        shown: &BTreeMap<&'v String, &'v Value>,
        at: &str,
    ) {
        let has = |members: &BTreeMap<&'v String, &'v Value>, name: &str| members.keys().any(|key| *key == name);
        let tightened = new.0.difference(&old.0).any(|name| has(known, name) || !has(shown, name));
        let loosened = old.0.difference(&new.0).any(|name| has(shown, name) || !has(known, name));
        let is_same = matches!((pair.old, pair.new), (None, None))
            || matches!((pair.old, pair.new), (Some(one), Some(other)) if same(one, other));
        let grade = match (tightened, loosened) {
            (true, _) => Grade::Breaking,
            (false, true) => self.loosened(),
            (false, false) if old.0 == new.0 && !is_same => Grade::Notation,
            (false, false) => return,
        };
        self.push(below(at, "required"), grade, pair.old, pair.new);
    }

    /// A keyword that is not what it should be.
    fn part(&mut self, place: String, pair: Pair<'v>) {
        match (pair.old, pair.new) {
            (None, None) => {}
            (Some(old), Some(new)) => self.plain(old, new, &place),
            (old, new) => self.push(place, Grade::Breaking, old, new),
        }
    }

    /// `additionalProperties`: `true`, `{}` and nothing at all are one.
    pub(super) fn additional(&mut self, pair: Pair<'v>, around: &'v Map<String, Value>, at: &str) {
        let place = below(at, "additionalProperties");
        let (old, new) = (pair.old.unwrap_or(&OPEN), pair.new.unwrap_or(&OPEN));
        let is_closed = |schema: &Value| *schema == Value::Bool(false);
        let grade = match (old, new) {
            (old, new) if is_open(old) && is_open(new) => Grade::Notation,
            (old, new) if is_open(old) && is_closed(new) => self.closed(around, at),
            (old, _) if is_closed(old) => Grade::Widened,
            (old, new) if is_closed(new) || !old.is_object() && !is_open(old) => Grade::Breaking,
            (old, new) if is_open(new) => return self.push(place, self.loosened(), Some(old), pair.new),
            (old, new) if is_open(old) => return self.push(place, Grade::Breaking, pair.old, Some(new)),
            (old, new) => return self.schemas(old, new, &place, ""),
        };
        self.push(place, grade, pair.old, pair.new);
    }

    /// An object that takes no further members any more. Where its members were listed, calls that keep to the list are as good
    /// as before, and the server only says what it does with others; where they were not, nothing is left to send.
    fn closed(&self, around: &Map<String, Value>, at: &str) -> Grade {
        let listed = around.get("properties").and_then(Value::as_object);
        let is_listed = listed.is_some_and(|members| at == self.field || !members.is_empty());
        if is_listed && !around.contains_key("patternProperties") { Grade::Hint } else { Grade::Breaking }
    }

    /// `$defs`, called `definitions` before. What is referred to is compared from where it is referred to, too; what is not may
    /// still be read.
    pub(super) fn definitions(&mut self, old: &'v Map<String, Value>, new: &'v Map<String, Value>, at: &str) {
        let (Some(before), Some(after)) = (named(old), named(new)) else {
            for keyword in KEYWORDS {
                self.part(below(at, keyword), Pair { old: old.get(keyword), new: new.get(keyword) });
            }
            return;
        };
        for keyword in KEYWORDS {
            if old.contains_key(keyword) != new.contains_key(keyword) {
                self.push(below(at, keyword), Grade::Notation, old.get(keyword), new.get(keyword));
            }
        }
        for (name, (was, schema)) in &before {
            match after.get(name) {
                Some((keyword, other)) => self.schemas(schema, other, &below(&below(at, keyword), name), name),
                None => self.push(below(&below(at, was), name), Grade::Notation, Some(*schema), None),
            }
        }
        // A new name is something new to read.
        for (name, (keyword, schema)) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
            self.push(below(&below(at, keyword), name), Grade::Text, None, Some(schema));
        }
    }
}

const KEYWORDS: [&str; 2] = ["$defs", "definitions"];

/// Named schemas; none where a name stands for two, or they are no schemas.
fn named(members: &Map<String, Value>) -> Option<BTreeMap<&str, (&'static str, &Value)>> {
    let mut found = BTreeMap::new();
    for keyword in KEYWORDS {
        let Some(value) = members.get(keyword) else { continue };
        for (name, schema) in value.as_object()? {
            if found.insert(name.as_str(), (keyword, schema)).is_some() {
                return None;
            }
        }
    }
    Some(found)
}

/// Names of members that must be there.
struct Required<'v>(BTreeSet<&'v str>);

impl<'v> Required<'v> {
    fn read(value: Option<&'v Value>) -> Option<Self> {
        match value {
            None => Some(Self(BTreeSet::new())),
            Some(Value::Array(names)) => names.iter().map(Value::as_str).collect::<Option<_>>().map(Self),
            Some(_) => None,
        }
    }
}
