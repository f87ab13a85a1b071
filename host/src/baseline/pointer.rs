//! JSON pointers (RFC 6901).

use serde_json::Value;
use toolwarden_json::pointer_token;

/// Whether a text is a JSON pointer.
pub(super) fn is_pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/')) && text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

/// The pointer to a member.
pub(super) fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", pointer_token(key))
}

/// The keys of a pointer, unescaped.
pub(super) fn keys(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"))
}

/// The key of the member that a pointer starts with, and the pointer within it.
pub(super) fn split_first(pointer: &str) -> Option<(String, &str)> {
    let rest = pointer.strip_prefix('/')?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (first, within) = rest.split_at_checked(end)?;
    Some((first.replace("~1", "/").replace("~0", "~"), within))
}

/// A difference between two values, as deep down as it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leaf<'v> {
    /// What was there.
    pub old: Option<&'v Value>,
    /// What is there.
    pub new: Option<&'v Value>,
}

/// All differences between two values. A list that has become longer or shorter, or was put in another order, is one.
pub(super) fn leaves<'v>(old: &'v Value, new: &'v Value, at: &str) -> Vec<(String, Leaf<'v>)> {
    let mut found = Vec::new();
    collect(Some(old), Some(new), at, &mut found);
    found
}

fn collect<'v>(old: Option<&'v Value>, new: Option<&'v Value>, at: &str, found: &mut Vec<(String, Leaf<'v>)>) {
    match (old, new) {
        (Some(old), Some(new)) if super::canonical::same(old, new) => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            for (key, before) in old {
                collect(Some(before), new.get(key), &below(at, key), found);
            }
            for (key, after) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                collect(None, Some(after), &below(at, key), found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after)))
            if before.len() == after.len() && !super::canonical::same_items(before, after) =>
        {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                collect(Some(before), Some(after), &format!("{at}/{index}"), found);
            }
        }
        (None, None) => {}
        (old, new) => found.push((at.to_owned(), Leaf { old, new })),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_told_as_deep_as_they_go() {
        let old = json!({ "a": { "b": 1, "c/d": [1, { "x": 1 }] }, "gone": 1, "order": [1, 2], "long": [1] });
        let new = json!({ "a": { "b": 2, "c/d": [1, { "x": 2 }] }, "come": 1, "order": [2, 1], "long": [1, 2] });
        let mut at: Vec<_> = leaves(&old, &new, "").into_iter().map(|(at, _)| at).collect();
        at.sort();
        assert_eq!(at, ["/a/b", "/a/c~1d/1/x", "/come", "/gone", "/long", "/order"]);
        assert!(leaves(&old, &old, "").is_empty());
    }

    #[test]
    fn pointers_are_taken_apart() {
        assert_eq!(split_first("/a~1b/c/d"), Some(("a/b".into(), "/c/d")));
        assert_eq!(split_first("/a"), Some(("a".into(), "")));
        assert_eq!(split_first(""), None);
        for (text, good) in [("", true), ("/", true), ("/a~0~1", true), ("a", false), ("/~", false), ("/~2", false)] {
            assert_eq!(is_pointer(text), good, "{text}");
        }
    }
}
