//! What a policy module made of a catalogue.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::catalogue::{Catalogue, Tool};
use super::fold::fold;
use super::search::{Entry, Index};
use super::{TOOL_DESCRIBE, TOOL_INVOKE, TOOL_SEARCH};
use crate::call::{Origin, ServerName, ToolRef};
use crate::module::{Candidacy, Definition, Exposure, Fault, Kind, Policy, Totals};

/// Bytes of a public name at most, as far as near misses go: those of servers have 64, and so should an agent's own.
const LONGEST_PUBLIC_NAME: usize = 64;

/// Number of a registry; each new one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Generation(pub u64);

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why no registry is published.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BuildError {
    /// The module gave no answer that counts.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Two tools have one public name.
    #[error("two tools are called `{0}`")]
    Ambiguous(String),
}

/// A tool and what the model is shown of it.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The tool.
    pub tool: Tool,
    /// What the model is shown.
    pub exposure: Exposure,
    /// Why.
    pub reason: Kind,
}

/// Sums over a registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RegistryTotals {
    /// Tools, the hidden ones left out.
    pub tools: usize,
    /// Their estimated tokens.
    pub tokens: u64,
    /// Deferred tools.
    pub deferred: usize,
    /// Tokens that deferring keeps out of the context: those of the deferred tools, less those of the bridge tools, which
    /// only then are needed.
    pub tokens_saved: u64,
}

/// An immutable plan.
pub struct Registry {
    generation: Generation,
    tools: Vec<Registered>,
    by_public_name: HashMap<String, usize>,
    by_identity: HashMap<(ServerName, String), usize>,
    /// Positions of the deferred tools, in the index's order.
    deferred: Vec<usize>,
    index: Index,
    totals: RegistryTotals,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("generation", &self.generation)
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

impl Registry {
    /// Asks the module about every tool: first the gate, then, with the sums over what it lets through, the deferral.
    /// `context_window` is the model's, in tokens; 0 when not known.
    ///
    /// # Errors
    ///
    /// [`BuildError`]; then there is no registry, and no tool can be called.
    pub fn build(
        module: &dyn Policy,
        catalogue: Catalogue,
        context_window: u64,
        generation: Generation,
    ) -> Result<Self, BuildError> {
        let tools = catalogue.tools;
        let mut by_public_name = HashMap::with_capacity(tools.len());
        for (position, tool) in tools.iter().enumerate() {
            if by_public_name.insert(tool.tool.public_name.clone(), position).is_some() {
                return Err(BuildError::Ambiguous(tool.tool.public_name.clone()));
            }
        }
        let plan = plan(module, &tools, context_window)?;
        let tools: Vec<Registered> = tools
            .into_iter()
            .zip(plan)
            .map(|(tool, (exposure, reason))| Registered { tool, exposure, reason })
            .collect();

        let by_identity = tools.iter().enumerate().filter_map(|(position, t)| {
            let tool = &t.tool.tool;
            Some(((tool.server.clone()?, tool.name.clone()), position))
        });
        let by_identity = by_identity.collect();
        let is_deferred = |t: &&Registered| t.exposure == Exposure::Deferred;
        let deferred = tools.iter().enumerate().filter(|(_, t)| is_deferred(t)).map(|(position, _)| position).collect();
        let index = Index::build(tools.iter().filter(is_deferred).map(entry));
        let totals = RegistryTotals::of(&tools, bridge_tokens(&tools));
        Ok(Self { generation, tools, by_public_name, by_identity, deferred, index, totals })
    }

    /// The registry's number.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.generation
    }

    /// Sums over the tools.
    #[must_use]
    pub const fn totals(&self) -> RegistryTotals {
        self.totals
    }

    /// Estimated tokens of the bridge tools.
    #[must_use]
    pub fn bridge_tokens(&self) -> u64 {
        bridge_tokens(&self.tools)
    }

    /// All tools, the hidden ones included. For the person who runs this, not for the model.
    #[must_use]
    pub fn tools(&self) -> &[Registered] {
        &self.tools
    }

    /// Definitions that the model is shown up front.
    pub fn listed(&self) -> impl Iterator<Item = &Registered> {
        self.tools.iter().filter(|t| t.exposure == Exposure::Eager)
    }

    /// The tool of this public name, spelled exactly so.
    #[must_use]
    pub fn by_public_name(&self, name: &str) -> Option<&Registered> {
        self.tools.get(*self.by_public_name.get(name)?)
    }

    /// The tool of this identity.
    #[must_use]
    pub fn by_identity(&self, server: &ServerName, name: &str) -> Option<&Registered> {
        self.tools.get(*self.by_identity.get(&(server.clone(), name.to_owned()))?)
    }

    /// The tool that a caller means: by identity where it names a server, by public name otherwise. For a tool that the
    /// registry does not hold, the second part is empty; a name that looks as if it started with `mcp__` counts as
    /// one of a server.
    #[must_use]
    pub fn resolve(&self, server: Option<&ServerName>, name: &str) -> (ToolRef, Option<&Registered>) {
        let found = match server {
            Some(server) => self.by_identity(server, name),
            None => self.by_public_name(name),
        };
        if let Some(found) = found {
            return (found.tool.tool.clone(), Some(found));
        }
        let origin = if server.is_some() || fold(name).starts_with("mcp__") { Origin::Mcp } else { Origin::Unknown };
        let public_name = server.map_or_else(|| name.to_owned(), |server| crate::call::public_name(server, name));
        (ToolRef { origin, server: server.cloned(), name: name.into(), public_name }, None)
    }

    /// The tool whose public name a careless reader takes for this one: they differ in letter case, outer blanks, invisible
    /// characters or compatible forms only. A hidden one counts too.
    #[must_use]
    pub fn near_miss(&self, name: &str) -> Option<&Registered> {
        if name.len() > LONGEST_PUBLIC_NAME * 8 {
            return None;
        }
        let wanted = fold(name);
        // Folding may change the length of a name, though not by much.
        let lengths = wanted.len() / 3..=wanted.len().saturating_mul(3);
        self.tools.iter().find(|t| {
            let known = &t.tool.tool.public_name;
            lengths.contains(&known.len()) && known != name && fold(known) == wanted
        })
    }

    /// The visible public name closest to this one, for "did you mean"; none where nothing is close.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        /// Among more tools than this, nobody looks for a slip of the pen: it would take longer than the verdict.
        const MOST: usize = 2_000;
        let near = self.near_miss(name).filter(|t| t.exposure != Exposure::Hidden);
        near.map(|t| t.tool.tool.public_name.as_str()).or_else(|| {
            if name.len() > LONGEST_PUBLIC_NAME || self.tools.len() > MOST {
                return None;
            }
            let most = 1 + name.chars().count() / 5;
            self.visible_names()
                .filter(|known| known.len().abs_diff(name.len()) <= 4 * most)
                .map(|known| (edits(name, known), known))
                .filter(|(edits, _)| *edits <= most)
                .min()
                .map(|(_, known)| known)
        })
    }

    fn visible_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter(|t| t.exposure != Exposure::Hidden).map(|t| t.tool.tool.public_name.as_str())
    }

    /// What `tool_search` answers: name and first line of up to `limit` deferred tools, the best first.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Value {
        let hits = self.index.search(query, limit);
        let found = hits.iter().filter_map(|hit| self.tools.get(*self.deferred.get(hit.entry)?));
        let tools: Vec<Value> = found
            .map(|t| {
                let first_line = t.tool.text_of("description").lines().next().unwrap_or_default();
                json!({ "name": t.tool.tool.public_name, "description": toolwarden_text::clip(first_line, 200) })
            })
            .collect();
        json!({ "tools": tools })
    }

    /// What `tool_describe` answers: the definition of a deferred tool under its public name. None for any other tool.
    #[must_use]
    pub fn describe(&self, name: &str) -> Option<Value> {
        let found = self.by_public_name(name).filter(|t| t.exposure == Exposure::Deferred)?;
        let mut definition = found.tool.definition.clone();
        *definition.get_mut("name")? = Value::from(name);
        Some(definition)
    }
}

/// What the model is shown of each tool, and why. One answer a tool, in order.
///
/// # Errors
///
/// [`Fault`] where the module gives no answer that counts.
pub fn plan(module: &dyn Policy, tools: &[Tool], context_window: u64) -> Result<Vec<(Exposure, Kind)>, Fault> {
    let definitions: Vec<Definition> = tools
        .iter()
        .map(|t| Definition { tool: &t.tool, trust: t.trust, tokens: t.tokens, definition: &t.text })
        .collect();
    let admissions = module.admit_tools(&definitions)?;

    let mut totals = Totals { bridge_complete: false, candidates: 0, candidate_tokens: 0, context_window };
    let mut bridge_tools = 0;
    for (tool, admission) in tools.iter().zip(&admissions) {
        if admission.refused.is_some() {
            continue;
        }
        if tool.tool.origin == Origin::Bridge && [TOOL_SEARCH, TOOL_DESCRIBE, TOOL_INVOKE].contains(&&*tool.tool.name) {
            bridge_tools += 1;
        }
        if admission.candidacy == Candidacy::Candidate {
            totals.candidates = totals.candidates.saturating_add(1);
            totals.candidate_tokens += u64::from(tool.tokens);
        }
    }
    totals.bridge_complete = bridge_tools == 3;

    let deferrals = module.should_defer_all(&definitions, totals)?;
    let shown = admissions.into_iter().zip(deferrals).zip(tools).map(|((admission, deferral), tool)| {
        match admission.refused {
            // Words that the deferral speaks of, where the gate has its own: a rule's denial is `denied` in a plan.
            Some((kind, _)) if kind.as_str() == "rule-deny" => (Exposure::Hidden, Kind::known("denied")),
            Some((kind, _)) => (Exposure::Hidden, kind),
            // Without a bridge nobody would find it. And only tools of servers and plugins are ever deferred.
            None if deferral.exposure == Exposure::Deferred
                && !(totals.bridge_complete && matches!(tool.tool.origin, Origin::Mcp | Origin::Plugin)) =>
            {
                (Exposure::Eager, Kind::known("disabled"))
            }
            None => (deferral.exposure, deferral.reason),
        }
    });
    Ok(shown.collect())
}

fn bridge_tokens(tools: &[Registered]) -> u64 {
    tools.iter().filter(|t| t.tool.tool.origin == Origin::Bridge).map(|t| u64::from(t.tool.tokens)).sum()
}

impl RegistryTotals {
    /// Sums over some tools of a registry.
    pub fn of<'r>(tools: impl IntoIterator<Item = &'r Registered>, bridge_tokens: u64) -> Self {
        let mut totals = Self::default();
        for tool in tools.into_iter().filter(|t| t.exposure != Exposure::Hidden) {
            totals.tools += 1;
            totals.tokens += u64::from(tool.tool.tokens);
            if tool.exposure == Exposure::Deferred {
                totals.deferred += 1;
                totals.tokens_saved += u64::from(tool.tool.tokens);
            }
        }
        totals.tokens_saved = totals.tokens_saved.saturating_sub(bridge_tokens);
        totals
    }
}

fn entry(registered: &Registered) -> Entry<'_> {
    let tool = &registered.tool;
    let properties = tool.definition.pointer("/inputSchema/properties").and_then(Value::as_object);
    let parameters = properties.into_iter().flatten();
    Entry {
        public_name: &tool.tool.public_name,
        server: tool.tool.server.as_ref().map_or("", |s| s.as_str()),
        name: &tool.tool.name,
        title: tool.text_of("title"),
        description: tool.text_of("description"),
        parameters: parameters.clone().map(|(name, _)| name.as_str()).collect(),
        parameter_texts: parameters
            .filter_map(|(_, schema)| schema.get("description").and_then(Value::as_str))
            .collect(),
    }
}

/// Levenshtein distance, letter case aside.
fn edits(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, above) in b.chars().zip(row.iter_mut().skip(1)) {
            let cell = (diagonal + usize::from(x != y)).min(left + 1).min(*above + 1);
            diagonal = *above;
            *above = cell;
            left = cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_counts_characters() {
        let rows = [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("bash", "Bash", 0),
            ("Bsah", "Bash", 2),
            ("Deletee", "Delete", 1),
        ];
        for (a, b, expected) in rows {
            assert_eq!((edits(a, b), edits(b, a)), (expected, expected), "{a:?} {b:?}");
        }
    }
}
