//! The settings: policies and entities, read once and checked to the last annotation.

use std::collections::HashMap;
use std::str::FromStr as _;

use cedar_policy::{Authorizer, Effect, Entities, EntityTypeName, ParseError, Policy, PolicyId, PolicySet};
use miette::Diagnostic as _;
use toolwarden_policy::Own;

/// Reason code of a `forbid` without `@kind`.
const FORBIDDEN: &str = "cedar-forbid";

/// What a `forbid` comes to, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nobody is asked.
    Refuse,
    /// A person is asked.
    Ask,
}

/// One policy, as far as its annotations tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its place among the others: answers name the first of several first.
    pub place: usize,
    /// Its `@id`, or the name that Cedar gave it.
    pub name: String,
    /// Of a `forbid`, what it comes to; none for a `permit`.
    pub verdict: Option<Verdict>,
    /// The reason code.
    pub kind: String,
    /// The sentence for model and person.
    pub reason: String,
}

/// Policies and entities, ready to be asked.
pub struct Policies {
    /// Cedar's evaluator.
    pub authorizer: Authorizer,
    /// All policies.
    pub all: PolicySet,
    /// Those that permit. Whether a call that is to be asked about would be permitted otherwise is a question of its own.
    pub permits: PolicySet,
    /// What the annotations say.
    pub rules: HashMap<PolicyId, Rule>,
    /// The person's own entities.
    pub entities: Entities,
    /// `Attendance`, the type of principals.
    pub attendance: EntityTypeName,
    /// `Action`.
    pub action: EntityTypeName,
    /// `Tool`, the type of resources.
    pub tool: EntityTypeName,
}

impl Policies {
    /// Reads `module.settings`. Every fault is noted; none is returned only where one was.
    pub fn read(own: &mut Own) -> Option<Self> {
        let entities = match own.value("entities") {
            None => Some(Entities::empty()),
            Some(value) => match Entities::from_json_value(value.clone(), None) {
                Ok(entities) => Some(entities),
                Err(error) => {
                    own.issue("entities", with_causes(&error), "a list of entities in Cedar's JSON format");
                    None
                }
            },
        };
        let Some(text) = own.text("policies") else {
            own.issue("policies", "the text of the policies is missing", "Cedar policies");
            return None;
        };
        let all = match PolicySet::from_str(text) {
            Ok(all) => all,
            Err(errors) => {
                for error in errors.iter() {
                    let (problem, allowed) = located(text, error);
                    own.issue("policies", problem, allowed);
                }
                return None;
            }
        };
        let rules = rules(own, text, &all);
        let permits = all.policies().filter(|policy| policy.effect() == Effect::Permit).cloned();
        Some(Self {
            authorizer: Authorizer::new(),
            permits: PolicySet::from_policies(permits).ok()?,
            all,
            rules,
            entities: entities?,
            attendance: "Attendance".parse().ok()?,
            action: "Action".parse().ok()?,
            tool: "Tool".parse().ok()?,
        })
    }
}

/// Reads the annotations of all policies.
fn rules(own: &mut Own, text: &str, all: &PolicySet) -> HashMap<PolicyId, Rule> {
    for template in all.templates() {
        let problem = format!("{}: a template", named(text, template.to_string().as_str(), template.id().as_ref()));
        own.issue("policies", problem, "policies without `?principal` and `?resource`, since nothing links templates");
    }
    // Cedar counts policies from the top: policy0, policy1, and so on.
    let mut policies: Vec<&Policy> = all.policies().collect();
    policies.sort_by_key(|policy| (policy.id().to_string().len(), policy.id().to_string()));
    let mut rules = HashMap::new();
    for (place, policy) in policies.into_iter().enumerate() {
        let forbids = policy.effect() == Effect::Forbid;
        let id = policy.id().to_string();
        let name = policy.annotation("id").unwrap_or(&id).to_owned();
        let mut fault = |problem: &str, allowed: &str| {
            let place = named(text, &policy.to_string(), &name);
            own.issue("policies", format!("{place}: {problem}"), allowed);
        };
        if !forbids && ["verdict", "kind", "reason"].iter().any(|key| policy.annotation(key).is_some()) {
            fault("`@verdict`, `@kind` and `@reason` on a permit", "these annotations on a forbid only");
        }
        let verdict = match policy.annotation("verdict") {
            None | Some("refuse") => Verdict::Refuse,
            Some("ask") => Verdict::Ask,
            Some(other) => {
                fault(&format!("unknown verdict `{other}`"), "`refuse` or `ask`");
                Verdict::Refuse
            }
        };
        let kind = policy.annotation("kind").unwrap_or(FORBIDDEN);
        if !is_kind(kind) {
            fault(&format!("`{kind}` is no reason code"), "`a` to `z`, then `a` to `z`, digits and `-`, at most 64");
        }
        let reason = match policy.annotation("reason") {
            Some(reason) if !reason.trim().is_empty() => reason.to_owned(),
            _ => format!("the Cedar policy `{name}` forbids this"),
        };
        let verdict = forbids.then_some(verdict);
        rules.insert(policy.id().clone(), Rule { place, name, verdict, kind: kind.into(), reason });
    }
    rules
}

/// `[a-z][a-z0-9-]*`, at most 64 characters: the contract's form of a reason code.
fn is_kind(kind: &str) -> bool {
    (1..=64).contains(&kind.len())
        && kind.starts_with(|c: char| c.is_ascii_lowercase())
        && kind.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// A policy for a message: its name, and the line on which its text starts.
fn named(text: &str, policy: &str, name: &str) -> String {
    match text.find(policy) {
        Some(at) => format!("policy `{name}`, line {}", line_and_column(text, at).0),
        None => format!("policy `{name}`"),
    }
}

/// What Cedar says about an error, with the place that it points at, and what it wants instead.
fn located(text: &str, error: &ParseError) -> (String, String) {
    let label = error.labels().and_then(|mut labels| labels.next());
    let place = label.as_ref().map(|label| line_and_column(text, label.offset()));
    let problem = match place {
        Some((line, column)) => format!("line {line}, column {column}: {error}"),
        None => error.to_string(),
    };
    let wanted = label.as_ref().and_then(|label| label.label().map(str::to_owned));
    let help = error.help().map(|help| help.to_string());
    (problem, wanted.or(help).unwrap_or_else(|| "Cedar policies".into()))
}

/// Counted from 1, in characters.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// An error and what led to it, in one line.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
