//! How many steps a validation takes, counted before it is done.
//!
//! Schemas come from servers. One may refer to itself without an end, or double its work at each level. Each pair of a schema and
//! a value is counted once here, however often the validation would come to it, so the count is cheap where the validation is not.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Steps of one validation at most. Source: ours; a million take a fraction of a second.
const MOST: u64 = 1_000_000;

/// Schemas within schemas, followed references included.
const DEEPEST: usize = 400;

/// Keywords with one schema for the value itself.
const ITSELF: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords with a list of schemas for the value itself.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords with a schema for each member.
const MEMBERS: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

/// Keywords with a schema for each item.
const ITEMS: [&str; 4] = ["items", "additionalItems", "contains", "unevaluatedItems"];

/// Why a validation is not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// It would not end.
    Endless,
    /// It would take too long.
    Steps,
}

/// Whether all references of a schema lead to places in it.
pub(super) fn references(schema: &Value) -> Result<(), &'static str> {
    let children = |value: &Value| value.as_object().into_iter().flatten().any(|(_, child)| has_id(child));
    if children(schema) {
        return Err("it has a part with an `$id` of its own");
    }
    walk(schema, schema, 0)
}

fn has_id(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.contains_key("$id") || members.values().any(has_id),
        Value::Array(items) => items.iter().any(has_id),
        _ => false,
    }
}

fn walk(root: &Value, value: &Value, depth: usize) -> Result<(), &'static str> {
    if depth > DEEPEST {
        return Err("it is nested too deeply");
    }
    match value {
        Value::Object(members) => {
            if members.contains_key("$dynamicRef") || members.contains_key("$recursiveRef") {
                return Err("it has references that depend on where they are used");
            }
            match members.get("$ref") {
                Some(Value::String(reference)) if target(root, reference).is_none() => {
                    return Err("it has a reference that does not lead to a place in it; nothing is fetched");
                }
                _ => {}
            }
            members.values().try_for_each(|member| walk(root, member, depth + 1))
        }
        Value::Array(items) => items.iter().try_for_each(|item| walk(root, item, depth + 1)),
        _ => Ok(()),
    }
}

fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#').filter(|pointer| !pointer.contains('%'))?;
    root.pointer(pointer)
}

/// A count of steps.
pub(super) struct Effort<'s> {
    root: &'s Value,
    /// Steps of each pair by their addresses; none while it is being counted.
    known: HashMap<(*const Value, *const Value), Option<u64>>,
}

impl<'s> Effort<'s> {
    pub fn new(root: &'s Value) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// The steps that validating a value takes.
    pub fn of(mut self, value: &'s Value) -> Result<u64, Excess> {
        self.pair(self.root, value, 0)
    }

    fn pair(&mut self, schema: &'s Value, value: &'s Value, depth: usize) -> Result<u64, Excess> {
        let Value::Object(keywords) = schema else { return Ok(1) };
        let key: (*const Value, *const Value) = (schema, value);
        match self.known.get(&key) {
            Some(Some(steps)) => return Ok(*steps),
            Some(None) => return Err(Excess::Endless),
            None if depth > DEEPEST || self.known.len() as u64 > MOST => return Err(Excess::Steps),
            None => {}
        }
        self.known.insert(key, None);
        let steps = self.keywords(keywords, value, depth + 1)?;
        self.known.insert(key, Some(steps));
        if steps > MOST { Err(Excess::Steps) } else { Ok(steps) }
    }

    fn keywords(&mut self, keywords: &'s Map<String, Value>, value: &'s Value, depth: usize) -> Result<u64, Excess> {
        let mut steps = keywords.len() as u64 + 1;
        let reference = keywords.get("$ref").and_then(Value::as_str).and_then(|reference| target(self.root, reference));
        let itself = ITSELF.iter().filter_map(|keyword| keywords.get(*keyword));
        let lists = LISTS.iter().filter_map(|keyword| keywords.get(*keyword)?.as_array()).flatten();
        let dependent =
            ["dependentSchemas", "dependencies"].into_iter().filter_map(|key| keywords.get(key)?.as_object());
        for schema in reference.into_iter().chain(itself).chain(lists).chain(dependent.flat_map(Map::values)) {
            steps = steps.saturating_add(self.pair(schema, value, depth)?);
        }
        if keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems") {
            // What was evaluated is found by going through it once more.
            steps = steps.saturating_mul(2);
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            steps = steps.saturating_add(values.len() as u64);
        }
        let inner = match value {
            Value::Object(members) => self.members(keywords, members, depth)?,
            Value::Array(items) => self.items(keywords, items, depth)?,
            _ => 0,
        };
        Ok(steps.saturating_add(inner))
    }

    fn members(
        &mut self,
        keywords: &'s Map<String, Value>,
        members: &'s Map<String, Value>,
        depth: usize,
    ) -> Result<u64, Excess> {
        let mut steps = members.len() as u64;
        let properties = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (name, member) in members {
            let own = properties.and_then(|properties| properties.get(name));
            let others = MEMBERS.iter().filter_map(|keyword| keywords.get(*keyword));
            for schema in own.into_iter().chain(others).chain(patterns.into_iter().flat_map(Map::values)) {
                steps = steps.saturating_add(self.pair(schema, member, depth)?);
            }
            if let Some(schema) = keywords.get("propertyNames") {
                // A name is a text, whatever it is the name of.
                steps = steps.saturating_add(self.pair(schema, &Value::Null, depth)?);
            }
        }
        Ok(steps)
    }

    fn items(&mut self, keywords: &'s Map<String, Value>, items: &'s [Value], depth: usize) -> Result<u64, Excess> {
        let mut steps = items.len() as u64;
        let tuples = ["items", "prefixItems"].into_iter().filter_map(|keyword| keywords.get(keyword)?.as_array());
        let tuples: Vec<_> = tuples.collect();
        for (index, item) in items.iter().enumerate() {
            let own = tuples.iter().filter_map(|tuple| tuple.get(index));
            for schema in own.chain(ITEMS.iter().filter_map(|keyword| keywords.get(*keyword))) {
                steps = steps.saturating_add(self.pair(schema, item, depth)?);
            }
        }
        Ok(steps)
    }
}
