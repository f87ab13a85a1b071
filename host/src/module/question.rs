//! What a module is asked, and how that is lowered into the contract's records without a copy.

use crate::call::{
    Arguments, Attendance, CwdFacts, DefinitionTrust, Facts, Flavour, Origin, PathFact, Resolution, Route, ToolRef,
    Workspace,
};
use serde_json::Value;

use super::contract::wit;

/// A call with all its facts.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The effective tool.
    pub tool: &'q ToolRef,
    /// Whether the registry holds it.
    pub registered: bool,
    /// The arguments.
    pub call_arguments: &'q Arguments,
    /// How the tool was addressed.
    pub route: Route,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// Where the agent works.
    pub workspace: &'q Workspace,
    /// What was found out.
    pub facts: &'q Facts,
    /// Whether to answer with the rule trail.
    pub explain: bool,
}

/// A tool as the registry knows it.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'q> {
    /// Which tool.
    pub tool: &'q ToolRef,
    /// How its definition compares with the baseline.
    pub trust: DefinitionTrust,
    /// Estimated tokens.
    pub tokens: u32,
    /// Compact JSON.
    pub definition: &'q str,
}

/// Sums over the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Whether the three bridge tools are there and permitted.
    pub bridge_complete: bool,
    /// Tools that count towards the budget.
    pub candidates: u32,
    /// Their tokens.
    pub candidate_tokens: u64,
    /// The model's context window in tokens; 0 when not known.
    pub context_window: u64,
}

/// Lists of borrowed strings that the contract's records point to.
pub(super) struct Lists<'q> {
    extra_roots: Vec<&'q str>,
    skills: Vec<&'q str>,
    paths: Vec<&'q str>,
    roots: Vec<&'q str>,
    real_skills: Vec<&'q str>,
}

impl<'q> Lists<'q> {
    pub fn of(workspace: &'q Workspace, facts: &'q CwdFacts) -> Self {
        Self {
            extra_roots: strs(&workspace.extra_roots),
            skills: strs(&workspace.skills),
            paths: strs(&facts.paths),
            roots: strs(&facts.roots),
            real_skills: strs(&facts.skills_roots),
        }
    }

    pub fn workspace<'a>(&'a self, workspace: &'a Workspace) -> wit::Workspace<'a> {
        wit::Workspace {
            flavour: match workspace.flavour {
                Flavour::Windows => wit::PathFlavour::Windows,
                Flavour::Posix => wit::PathFlavour::Posix,
            },
            root: &workspace.root,
            extra_roots: &self.extra_roots,
            skills_roots: &self.skills,
            home: &workspace.home,
        }
    }

    pub fn cwd_facts(&self, resolution: Resolution) -> wit::CwdFacts<'_> {
        wit::CwdFacts {
            resolution: resolution.into(),
            paths: &self.paths,
            roots: &self.roots,
            skills_roots: &self.real_skills,
        }
    }
}

fn strs(strings: &[String]) -> Vec<&str> {
    strings.iter().map(String::as_str).collect()
}

pub(super) fn tool_ref(tool: &ToolRef, registered: bool) -> wit::ToolRef<'_> {
    wit::ToolRef {
        origin: match tool.origin {
            Origin::Unknown => wit::Origin::Unknown,
            Origin::Mcp => wit::Origin::Mcp,
            Origin::Plugin => wit::Origin::Plugin,
            Origin::Core => wit::Origin::Core,
            Origin::Bridge => wit::Origin::Bridge,
        },
        registration: if registered { wit::Registration::Registered } else { wit::Registration::Unregistered },
        server: tool.server.as_ref().map_or("", |s| s.as_str()),
        name: &tool.name,
        public_name: &tool.public_name,
    }
}

pub(super) fn tool_definition<'q>(definition: &Definition<'q>) -> wit::ToolDefinition<'q> {
    wit::ToolDefinition {
        tool: tool_ref(definition.tool, true),
        trust: definition.trust.into(),
        tokens: definition.tokens,
        definition: definition.definition,
    }
}

pub(super) fn path_fact(fact: &PathFact) -> wit::PathFact<'_> {
    wit::PathFact { argument: &fact.argument, resolution: fact.resolution.into(), path: &fact.path }
}

pub(super) const fn kind_of(value: &Value) -> wit::JsonKind {
    match value {
        Value::Null => wit::JsonKind::Null,
        Value::Bool(_) => wit::JsonKind::Boolean,
        Value::Number(_) => wit::JsonKind::Number,
        Value::String(_) => wit::JsonKind::Text,
        Value::Array(_) => wit::JsonKind::Array,
        Value::Object(_) => wit::JsonKind::Object,
    }
}

impl From<Resolution> for wit::Resolution {
    fn from(resolution: Resolution) -> Self {
        match resolution {
            Resolution::Failed => Self::Failed,
            Resolution::NotAttempted => Self::NotAttempted,
            Resolution::Resolved => Self::Resolved,
        }
    }
}

impl From<Attendance> for wit::Attendance {
    fn from(attendance: Attendance) -> Self {
        match attendance {
            Attendance::Scheduled => Self::Scheduled,
            Attendance::Delegated => Self::Delegated,
            Attendance::Remote => Self::Remote,
            Attendance::Interactive => Self::Interactive,
        }
    }
}

impl From<Route> for wit::Route {
    fn from(route: Route) -> Self {
        match route {
            Route::Bridge => Self::Bridge,
            Route::Direct => Self::Direct,
        }
    }
}

impl From<DefinitionTrust> for wit::DefinitionTrust {
    fn from(trust: DefinitionTrust) -> Self {
        match trust {
            DefinitionTrust::SnapshotUnavailable => Self::SnapshotUnavailable,
            DefinitionTrust::BaselineMissing => Self::BaselineMissing,
            DefinitionTrust::BaselineMalformed => Self::BaselineMalformed,
            DefinitionTrust::FingerprintInvalid => Self::FingerprintInvalid,
            DefinitionTrust::DuplicateTools => Self::DuplicateTools,
            DefinitionTrust::DefinitionDrift => Self::DefinitionDrift,
            DefinitionTrust::ProbeFailed => Self::ProbeFailed,
            DefinitionTrust::SplitView => Self::SplitView,
            DefinitionTrust::Matching => Self::Matching,
        }
    }
}
