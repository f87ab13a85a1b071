//! Which tool that came is likely one that went.

use std::collections::BTreeSet;

use serde_json::Value;

use super::canonical::same;
use super::snapshot::ToolSnapshot;

/// How alike two tools must be, in thousandths. Source: ours; tried on lists of real servers.
const ENOUGH: usize = 300;

/// Tools beyond which pairs are not looked for, as their number grows with the square.
const MOST: usize = 200;

/// Pairs of a tool that went and one that came and is likely the same. Each is in one pair at most; the most alike pair first.
pub(super) fn pairs<'t>(
    gone: &[&'t ToolSnapshot],
    come: &[&'t ToolSnapshot],
) -> Vec<(&'t ToolSnapshot, &'t ToolSnapshot)> {
    if gone.len() > MOST || come.len() > MOST {
        return Vec::new();
    }
    let gone: Vec<_> = gone.iter().map(|tool| Portrait::of(tool)).collect();
    let come: Vec<_> = come.iter().map(|tool| Portrait::of(tool)).collect();
    let mut likely: Vec<_> = gone
        .iter()
        .flat_map(|old| come.iter().map(move |new| (old.likeness(new), old.tool, new.tool)))
        .filter(|(likeness, ..)| *likeness >= ENOUGH)
        .collect();
    likely.sort_by_key(|(likeness, old, new)| (std::cmp::Reverse(*likeness), old.name(), new.name()));
    let (mut old_seen, mut new_seen) = (BTreeSet::new(), BTreeSet::new());
    likely.retain(|(_, old, new)| {
        let free = !old_seen.contains(old.name()) && !new_seen.contains(new.name());
        if free {
            old_seen.insert(old.name());
            new_seen.insert(new.name());
        }
        free
    });
    likely.into_iter().map(|(_, old, new)| (old, new)).collect()
}

/// What two tools are compared by.
struct Portrait<'t> {
    tool: &'t ToolSnapshot,
    rest: Value,
    name: BTreeSet<String>,
    description: BTreeSet<String>,
    parameters: BTreeSet<String>,
}

impl<'t> Portrait<'t> {
    fn of(tool: &'t ToolSnapshot) -> Self {
        let definition = tool.definition();
        let text = |member: &str| definition.get(member).and_then(Value::as_str).unwrap_or_default();
        let properties = definition.pointer("/inputSchema/properties").and_then(Value::as_object);
        let mut rest = definition.clone();
        if let Value::Object(members) = &mut rest {
            members.remove("name");
            members.remove("title");
        }
        Self {
            tool,
            rest,
            name: words(tool.name()),
            description: words(text("description")),
            parameters: properties.into_iter().flatten().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// From 0 to 1000.
    fn likeness(&self, other: &Self) -> usize {
        if same(&self.rest, &other.rest) {
            return 1000 + share(&self.name, &other.name, 100).unwrap_or_default();
        }
        // What neither has, says nothing; what is left is weighed by itself.
        let parts = [
            (share(&self.name, &other.name, 1000), 4),
            (share(&self.description, &other.description, 1000), 4),
            (share(&self.parameters, &other.parameters, 1000), 3),
        ];
        let known = || parts.iter().filter_map(|(share, weight)| Some(((*share)?, *weight)));
        let weights: usize = known().map(|(_, weight)| weight).sum();
        known().map(|(share, weight)| share * weight).sum::<usize>().checked_div(weights).unwrap_or_default()
    }
}

/// How much of two sets is in both; nothing where both are empty.
fn share(one: &BTreeSet<String>, other: &BTreeSet<String>, whole: usize) -> Option<usize> {
    (whole * one.intersection(other).count()).checked_div(one.union(other).count())
}

/// The words of a name or sentence: `getTinyImage` is `get-tiny-image`.
fn words(text: &str) -> BTreeSet<String> {
    let (mut words, mut word, mut lower) = (BTreeSet::new(), String::new(), false);
    for c in text.chars() {
        if !c.is_alphanumeric() || (lower && c.is_uppercase()) {
            words.insert(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    words.insert(word);
    words.remove("");
    words
}
