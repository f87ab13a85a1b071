//! What changes from one listing to the next.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};
use toolwarden_text::clip;

use super::exclusion::Exclusions;
use super::pointer::leaves;
use super::snapshot::ServerSnapshot;
use super::survey::Survey;

/// A place that was not the same in two listings taken one after the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unstable {
    /// Which server.
    pub server: String,
    /// Raw name of the tool; none: the server itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// JSON pointer to the place; empty: the tool or server was in one of the listings only.
    pub pointer: String,
}

impl fmt::Display for Unstable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.tool, self.pointer.is_empty()) {
            (Some(tool), false) => write!(f, "`{}` of `{}`", clip(&self.pointer, 200), clip(tool, 100))?,
            (Some(tool), true) => write!(f, "whether there is `{}`", clip(tool, 100))?,
            (None, false) => write!(f, "`{}`", clip(&self.pointer, 200))?,
            (None, true) => f.write_str("whether it is there")?,
        }
        write!(f, " of server `{}`", self.server)
    }
}

/// What differs between two listings, as deep down as it goes; what is excluded does not.
#[must_use]
pub fn unstable(one: &Survey, other: &Survey, exclusions: &Exclusions) -> Vec<Unstable> {
    let mut found = Vec::new();
    for (name, first) in one.servers() {
        match (first, other.servers().get(name)) {
            (Ok(first), Some(Ok(second))) => server(first, second, exclusions, &mut found),
            (Err(first), Some(Err(second))) if first == second => {}
            _ => found.push(Unstable { server: name.to_string(), tool: None, pointer: String::new() }),
        }
    }
    let only = other.servers().keys().filter(|name| !one.servers().contains_key(*name));
    found.extend(only.map(|name| Unstable { server: name.to_string(), tool: None, pointer: String::new() }));
    found.sort();
    found
}

fn server(one: &ServerSnapshot, other: &ServerSnapshot, exclusions: &Exclusions, found: &mut Vec<Unstable>) {
    let server = one.name().as_str();
    let at =
        |tool: Option<&str>, pointer: String| Unstable { server: server.into(), tool: tool.map(Into::into), pointer };
    let (before, after) = (facts(one), facts(other));
    found.extend(leaves(&before, &after, "").into_iter().map(|(pointer, _)| at(None, pointer)));
    for tool in one.tools() {
        let Some(again) = other.tool(tool.name()) else {
            found.push(at(Some(tool.name()), String::new()));
            continue;
        };
        if tool.digest() != again.digest() {
            let (before, after) = exclusions.settled(server, tool.name(), tool.definition(), again.definition());
            found.extend(leaves(&before, &after, "").into_iter().map(|(pointer, _)| at(Some(tool.name()), pointer)));
        }
    }
    let only = other.tools().filter(|tool| one.tool(tool.name()).is_none());
    found.extend(only.map(|tool| at(Some(tool.name()), String::new())));
}

/// What a server is and says, beside its tools.
pub(super) fn facts(list: &ServerSnapshot) -> Value {
    let mut facts = json!({ "identity": list.identity().as_value() });
    if let (Some(instructions), Some(facts)) = (list.instructions(), facts.as_object_mut()) {
        facts.insert("instructions".into(), instructions.into());
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::{Exclusion, Identity};
    use crate::call::ServerName;

    fn survey(instructions: &str, tools: Vec<Value>) -> Survey {
        let name = ServerName::new("s").unwrap();
        let list = ServerSnapshot::new(name.clone(), Identity::new(json!({})), Some(instructions.into()), tools);
        Survey::new([(name, list)])
    }

    #[test]
    fn what_changes_from_listing_to_listing_is_found() {
        let one =
            survey("at 12:00", vec![json!({ "name": "a", "x": { "d": "p,q", "e": [1, 2] } }), json!({ "name": "b" })]);
        let two =
            survey("at 12:01", vec![json!({ "name": "a", "x": { "d": "q,p", "e": [2, 1] } }), json!({ "name": "c" })]);
        let shown: Vec<_> = unstable(&one, &two, &Exclusions::default()).iter().map(ToString::to_string).collect();
        let expected = [
            "`/instructions` of server `s`",
            "`/x/d` of `a` of server `s`",
            "`/x/e` of `a` of server `s`",
            "whether there is `b` of server `s`",
            "whether there is `c` of server `s`",
        ];
        assert_eq!(shown, expected);
        let volatile = Exclusion::Volatile { server: "s".into(), tool: "a".into(), pointer: "/x".into() };
        assert_eq!(unstable(&one, &two, &Exclusions::new([volatile]).unwrap()).len(), 3);
        assert_eq!(unstable(&one, &Survey::default(), &Exclusions::default()).len(), 1);
        assert_eq!(unstable(&Survey::default(), &one, &Exclusions::default()).len(), 1);
        assert!(unstable(&one, &one, &Exclusions::default()).is_empty());
    }
}
