//! The person's own rules: which tools are denied, asked about or allowed.

use std::vec::Vec;

use crate::glob::{self, Glob};
use crate::model::{Origin, ToolRef};

/// What a rule says, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decision {
    Deny,
    Ask,
    Allow,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Which servers; with it, `tool` means raw names.
    pub server: Option<Glob>,
    /// Which tools.
    pub tool: Glob,
    /// What it says.
    pub decision: Decision,
}

impl Rule {
    /// Whether the rule speaks of this tool.
    fn covers(&self, tool: &ToolRef) -> bool {
        match &self.server {
            Some(server) if tool.server.is_empty() => {
                // Of a tool that is not registered only the public name may be known. What restricts reaches it all the same.
                self.decision != Decision::Allow
                    && tool.origin == Origin::Mcp
                    && glob::matches(&format!("mcp__{}__{}", server.as_str(), self.tool.as_str()), tool.public_name)
            }
            Some(server) => server.matches(tool.server) && self.tool.matches(tool.name),
            None => selects(&self.tool, tool, self.decision != Decision::Allow),
        }
    }
}

/// The strictest rule of the wanted decision, if any covers the tool. A rule for the exact tool does not beat a broader one.
pub(crate) fn find<'a>(rules: &'a [Rule], tool: &ToolRef, decision: Decision) -> Option<&'a Rule> {
    rules.iter().find(|rule| rule.decision == decision && rule.covers(tool))
}

/// Whether a pattern selects a tool.
///
/// A pattern for tools of servers, as `mcp__github__*`, is read as a pair of patterns, one for the server and one for the
/// raw name. Without that, `mcp__safe__*` would also select tool `x` of a server that named itself `safe__evil`. With
/// `broad`, which is right for whatever restricts, a match of the public name counts too: one tool too many is harmless there.
pub(crate) fn selects(pattern: &Glob, tool: &ToolRef, broad: bool) -> bool {
    if tool.origin != Origin::Mcp && !tool.public_name.starts_with("mcp__") {
        return pattern.matches(tool.public_name);
    }
    let exact = pattern.is_literal() && pattern.as_str() == tool.public_name;
    exact || (broad && pattern.matches(tool.public_name)) || selects_pair(pattern.as_str(), tool)
}

/// Every way to cut `mcp__SERVER__NAME` in two is tried against the pair; `mcp__*` and patterns that start with `*` stand for
/// all servers.
fn selects_pair(pattern: &str, tool: &ToolRef) -> bool {
    let Some(pair) = pattern.strip_prefix("mcp__") else {
        return pattern.chars().all(|c| c == '*') && !pattern.is_empty();
    };
    let cuts: Vec<usize> = pair.match_indices("__").map(|(at, _)| at).collect();
    if cuts.is_empty() {
        return pair == "*";
    }
    cuts.iter().any(|&at| {
        let (server, name) = (pair.get(..at).unwrap_or_default(), pair.get(at + 2..).unwrap_or_default());
        glob::matches(server, tool.server) && (glob::matches(name, tool.name) || tool.public_name_ends_with(name))
    })
}

impl ToolRef<'_> {
    /// Whether the part of the public name behind `mcp__<server>__` is what a pattern stands for. That part differs from the
    /// raw name where the raw name had to be rewritten.
    fn public_name_ends_with(&self, pattern: &str) -> bool {
        self.public_name
            .strip_prefix("mcp__")
            .and_then(|rest| rest.strip_prefix(self.server))
            .and_then(|rest| rest.strip_prefix("__"))
            .is_some_and(|name| glob::matches(pattern, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Registration;

    fn tool<'a>(server: &'a str, name: &'a str, public_name: &'a str) -> ToolRef<'a> {
        let origin = if server.is_empty() { Origin::Core } else { Origin::Mcp };
        ToolRef { origin, registration: Registration::Registered, server, name, public_name }
    }

    #[test]
    fn an_allow_rule_reads_the_pair_and_a_deny_rule_the_public_name_too() {
        let github = tool("github", "create_issue", "mcp__github__create_issue");
        let evil = tool("safe__evil", "x", "mcp__safe__evil__x");
        let safe = tool("safe", "evil__x", "mcp__safe__evil__x");
        let rewritten = tool("s", "a b", "mcp__s__a_b_0123456789ab");
        let bash = tool("", "Bash", "Bash");
        // pattern, tool, allow, deny
        let rows = [
            ("mcp__github__*", github, true, true),
            ("mcp__github__create_issue", github, true, true),
            ("mcp__git*__create_*", github, true, true),
            ("mcp__*", github, true, true),
            ("*", github, true, true),
            ("*issue", github, false, true),
            ("create_issue", github, false, false),
            ("mcp__safe__*", evil, false, true),
            ("mcp__safe__*", safe, true, true),
            ("mcp__safe__evil__x", evil, true, true),
            ("mcp__safe__evil__*", evil, true, true),
            ("mcp__s__a b", rewritten, true, true),
            ("mcp__s__a_b_0123456789ab", rewritten, true, true),
            ("mcp__s__a_b*", rewritten, true, true),
            ("Bash", bash, true, true),
            ("B*", bash, true, true),
            ("bash", bash, false, false),
            ("mcp__*", bash, false, false),
        ];
        for (pattern, tool, allow, deny) in rows {
            let pattern = Glob::new(pattern);
            assert_eq!(selects(&pattern, &tool, false), allow, "allow {pattern:?} {tool:?}");
            assert_eq!(selects(&pattern, &tool, true), deny, "deny {pattern:?} {tool:?}");
        }
    }
}
