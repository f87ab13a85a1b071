//! Which rules a schema is read by, and what it refers to.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::baseline::grade::Grade;

/// Dialects whose keywords mean the same where none of [`DEPENDENT`] is used; without `http:`, `https:` and `#`.
const DIALECTS: [&str; 5] = [
    "//json-schema.org/draft-06/schema",
    "//json-schema.org/draft-07/schema",
    "//json-schema.org/draft/2019-09/schema",
    "//json-schema.org/draft/2020-12/schema",
    "//json-schema.org/schema",
];

/// Keywords that some dialects do not know, or read in another way.
const DEPENDENT: [&str; 12] = [
    "$anchor",
    "additionalItems",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "minContains",
    "prefixItems",
    "then",
];

/// Keywords by which a reference depends on more than the text around it, or a part on what other parts have looked at.
const OPAQUE: [&str; 8] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// What it means that the dialect became another.
pub(super) fn grade(old: Option<&Value>, new: Option<&Value>, old_root: &Value, new_root: &Value) -> Grade {
    let is_known = |dialect: Option<&Value>| match dialect {
        None => true,
        Some(dialect) => dialect.as_str().is_some_and(is_dialect),
    };
    if !is_known(new) || !is_known(old) {
        return Grade::Text;
    }
    let depends = |root: &Value| any_object(root, &|members| is_dependent(members));
    if depends(old_root) || depends(new_root) { Grade::Breaking } else { Grade::Notation }
}

fn is_dialect(text: &str) -> bool {
    let text = text.strip_prefix("https:").or_else(|| text.strip_prefix("http:")).unwrap_or_default();
    DIALECTS.contains(&text.strip_suffix('#').unwrap_or(text))
}

fn is_dependent(members: &Map<String, Value>) -> bool {
    DEPENDENT.iter().any(|keyword| members.contains_key(*keyword))
        // Older dialects pass over what stands beside a reference, and know lists of schemas for items.
        || (members.contains_key("$ref") && members.len() > 1)
        || members.get("items").is_some_and(Value::is_array)
}

/// Whether the parts of a schema cannot be compared one by one.
pub(super) fn is_opaque(root: &Value) -> bool {
    let inner = |value: &Value| any_object(value, &|members| members.contains_key("$id"));
    let children = root.as_object().into_iter().flatten().map(|(_, child)| child);
    children.into_iter().any(inner) || any_object(root, &|members| OPAQUE.iter().any(|key| members.contains_key(*key)))
}

/// The same, of a reference that is a value.
pub(super) fn target_of<'v>(root: &'v Value, reference: &Value) -> Option<&'v Value> {
    target(root, reference.as_str()?)
}

/// All references, and what only looks like one.
pub(super) fn references(root: &Value) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut rest = vec![root];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                rest.extend(members.values());
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    found
}

fn any_object(value: &Value, is_one: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(members) => is_one(members) || members.values().any(|member| any_object(member, is_one)),
        Value::Array(items) => items.iter().any(|item| any_object(item, is_one)),
        _ => false,
    }
}

/// What a reference within the same schema leads to.
pub(super) fn target<'v>(root: &'v Value, reference: &str) -> Option<&'v Value> {
    let pointer = reference.strip_prefix('#')?;
    // Percent signs would have to be decoded first; nobody writes them.
    if pointer.contains('%') { None } else { root.pointer(pointer) }
}
