//! The default policy built natively, as a [`Policy`]: the model that the component is measured against.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow};
use serde_json::Value;
use toolwarden::call::{self, Attendance, CwdFacts, DefinitionTrust, Facts, Flavour, Resolution, Route, Workspace};
use toolwarden::module::{
    Admission, Candidacy, CwdAnswer, CwdClass, CwdJudgement, CwdWhy, Deferral, Definition, Digest, Effect, Exposure,
    Fault, Gate, Kind, ModuleInfo, Policy, Question, Step, StepOutcome, Totals,
};
use toolwarden_policy as policy;

/// The default policy, native.
#[derive(Debug)]
pub struct NativePolicy {
    module: Mutex<policy::Module>,
    info: ModuleInfo,
}

impl NativePolicy {
    /// The policy under settings.
    ///
    /// # Errors
    ///
    /// Where the settings are rejected.
    pub fn new(settings: &str) -> Result<Self> {
        let mut module = policy::Module::new();
        module.configure(settings).map_err(|issues| anyhow!("{issues:?}"))?;
        let info = ModuleInfo {
            name: policy::NAME.into(),
            version: policy::VERSION.into(),
            summary: policy::SUMMARY.into(),
            settings_schema: policy::SCHEMA.into(),
            digest: Digest::of(b"native"),
            size: 0,
            imports: Vec::new(),
        };
        Ok(Self { module: Mutex::new(module), info })
    }

    fn with<T>(&self, ask: impl FnOnce(&policy::Module) -> T) -> T {
        ask(&self.module.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Policy for NativePolicy {
    fn info(&self) -> &ModuleInfo {
        &self.info
    }

    fn is_approval_gated(&self, question: &Question) -> Result<Gate, Fault> {
        let texts = texts(question);
        let gate = self.with(|module| module.is_approval_gated(&invocation(question, &texts)));
        Ok(Gate {
            effect: match gate.effect {
                policy::Effect::Refused => Effect::Refused,
                policy::Effect::Gated => Effect::Gated,
                policy::Effect::Free => Effect::Free,
            },
            kind: Kind::new(gate.kind.into_owned()),
            reason: gate.reason.into_owned(),
            detail: gate.detail,
            cwd: (gate.cwd.class != policy::CwdClass::NotApplicable).then(|| judgement(gate.cwd)),
            trail: steps(gate.trail),
        })
    }

    fn classify_cwd(
        &self,
        given: Option<&Value>,
        workspace: &Workspace,
        facts: &CwdFacts,
        explain: bool,
    ) -> Result<CwdAnswer, Fault> {
        let text = given.map(text_of).unwrap_or_default();
        let kind = given.map_or(policy::JsonKind::Absent, kind_of);
        let argument = policy::Argument { name: "cwd", kind, text: &text };
        let mut trail = policy::Trail::new(explain);
        let judged = policy::classify_cwd(argument, &workspace_of(workspace), &cwd_facts(facts), &mut trail);
        Ok(CwdAnswer { judgement: judgement(judged), trail: steps(trail.into_steps()) })
    }

    fn admit_tools(&self, tools: &[Definition]) -> Result<Vec<Admission>, Fault> {
        let admit = |tool: &Definition| {
            let admission = self.with(|module| module.admit_tool(&definition(tool)));
            let refused = Kind::new(admission.kind.into_owned()).map(|kind| (kind, admission.reason.into_owned()));
            let candidacy = match admission.candidacy {
                policy::Candidacy::Candidate => Candidacy::Candidate,
                policy::Candidacy::Exempt => Candidacy::Exempt,
            };
            Admission { refused, candidacy }
        };
        Ok(tools.iter().map(admit).collect())
    }

    fn should_defer_all(&self, tools: &[Definition], totals: Totals) -> Result<Vec<Deferral>, Fault> {
        let bridge =
            if totals.bridge_complete { policy::BridgeState::Complete } else { policy::BridgeState::Incomplete };
        let totals = policy::Totals {
            bridge,
            candidates: totals.candidates,
            candidate_tokens: totals.candidate_tokens,
            context_window: totals.context_window,
        };
        let defer = |tool: &Definition| {
            let deferral = self.with(|module| module.should_defer(&definition(tool), &totals));
            let exposure = match deferral.exposure {
                policy::Exposure::Hidden => Exposure::Hidden,
                policy::Exposure::Deferred => Exposure::Deferred,
                policy::Exposure::Eager => Exposure::Eager,
            };
            let reason = Kind::new(deferral.reason.into_owned())
                .ok_or_else(|| Fault::BadAnswer("a reason code is not one".into()))?;
            Ok(Deferral { exposure, reason })
        };
        tools.iter().map(defer).collect()
    }
}

/// A question as the native functions take it. `texts` holds what is not a string yet.
#[must_use]
pub fn invocation<'q>(
    question: &Question<'q>,
    texts: &'q [(String, policy::JsonKind, Cow<'q, str>)],
) -> policy::Invocation<'q> {
    let argument =
        |(name, kind, text): &'q (String, policy::JsonKind, Cow<'q, str>)| policy::Argument { name, kind: *kind, text };
    policy::Invocation {
        tool: tool(question.tool, question.registered),
        arguments: texts.iter().map(argument).collect(),
        route: match question.route {
            Route::Bridge => policy::Route::Bridge,
            Route::Direct => policy::Route::Direct,
        },
        attendance: match question.attendance {
            Attendance::Scheduled => policy::Attendance::Scheduled,
            Attendance::Delegated => policy::Attendance::Delegated,
            Attendance::Remote => policy::Attendance::Remote,
            Attendance::Interactive => policy::Attendance::Interactive,
        },
        workspace: workspace_of(question.workspace),
        facts: facts(question.facts),
        explain: question.explain,
    }
}

/// The arguments of a question, each with its text.
#[must_use]
pub fn texts<'q>(question: &Question<'q>) -> Vec<(String, policy::JsonKind, Cow<'q, str>)> {
    let text = |(name, value): (&String, &'q Value)| (name.clone(), kind_of(value), text_of(value));
    question.call_arguments.as_map().iter().map(text).collect()
}

fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

const fn kind_of(value: &Value) -> policy::JsonKind {
    match value {
        Value::Null => policy::JsonKind::Null,
        Value::Bool(_) => policy::JsonKind::Boolean,
        Value::Number(_) => policy::JsonKind::Number,
        Value::String(_) => policy::JsonKind::Text,
        Value::Array(_) => policy::JsonKind::Array,
        Value::Object(_) => policy::JsonKind::Object,
    }
}

fn tool(tool: &call::ToolRef, registered: bool) -> policy::ToolRef<'_> {
    policy::ToolRef {
        origin: match tool.origin {
            call::Origin::Unknown => policy::Origin::Unknown,
            call::Origin::Mcp => policy::Origin::Mcp,
            call::Origin::Plugin => policy::Origin::Plugin,
            call::Origin::Core => policy::Origin::Core,
            call::Origin::Bridge => policy::Origin::Bridge,
        },
        registration: if registered { policy::Registration::Registered } else { policy::Registration::Unregistered },
        server: tool.server.as_ref().map_or("", |s| s.as_str()),
        name: &tool.name,
        public_name: &tool.public_name,
    }
}

fn definition<'q>(tool_definition: &Definition<'q>) -> policy::ToolDefinition<'q> {
    policy::ToolDefinition {
        tool: tool(tool_definition.tool, true),
        trust: trust(tool_definition.trust),
        tokens: tool_definition.tokens,
        definition: tool_definition.definition,
    }
}

fn trust(trust: DefinitionTrust) -> policy::Trust {
    // Both sides spell the contract's words.
    policy::Trust::from_word(trust.as_str()).unwrap_or(policy::Trust::SnapshotUnavailable)
}

fn workspace_of(workspace: &Workspace) -> policy::Workspace<'_> {
    policy::Workspace {
        flavour: match workspace.flavour {
            Flavour::Windows => policy::Flavour::Windows,
            Flavour::Posix => policy::Flavour::Posix,
        },
        root: &workspace.root,
        extra_roots: strs(&workspace.extra_roots),
        skills_roots: strs(&workspace.skills),
        home: &workspace.home,
    }
}

fn facts(facts: &Facts) -> policy::Facts<'_> {
    policy::Facts {
        cwd: cwd_facts(&facts.cwd),
        paths: facts.paths.iter().map(path_fact).collect(),
        trust: trust(facts.trust),
        trust_summary: &facts.trust_summary,
        nearest: &facts.nearest,
    }
}

fn path_fact(fact: &call::PathFact) -> policy::PathFact<'_> {
    policy::PathFact { argument: &fact.argument, resolution: resolution(fact.resolution), path: &fact.path }
}

fn cwd_facts(facts: &CwdFacts) -> policy::CwdFacts<'_> {
    policy::CwdFacts {
        resolution: resolution(facts.resolution),
        paths: strs(&facts.paths),
        roots: strs(&facts.roots),
        skills_roots: strs(&facts.skills_roots),
    }
}

const fn resolution(resolution: Resolution) -> policy::Resolution {
    match resolution {
        Resolution::Failed => policy::Resolution::Failed,
        Resolution::NotAttempted => policy::Resolution::NotAttempted,
        Resolution::Resolved => policy::Resolution::Resolved,
    }
}

fn strs(strings: &[String]) -> Vec<&str> {
    strings.iter().map(String::as_str).collect()
}

/// Maps cases of the same name.
macro_rules! same {
    ($value:expr, $from:ident => $to:ident { $($case:ident),+ }) => {
        match $value { $(policy::$from::$case => $to::$case),+ }
    };
}

fn judgement(judged: policy::CwdJudgement) -> CwdJudgement {
    let class = same!(judged.class, CwdClass => CwdClass { Invalid, Outside, Skill, Inside, NotApplicable });
    let why = same!(judged.why, CwdWhy => CwdWhy {
        None, NoRoot, NotAString, Nul, UnknownScheme, BadCharacter, Stream, TrailingDotOrSpace, DeviceName, UnnamedSkill,
        SkillEscape, Device, Unc, Home, Expansion, FileUrl, DriveRelative, DriveRoot, ParentEscape, Absolute, Link
    });
    CwdJudgement { class, why }
}

fn steps(steps: Vec<policy::Step>) -> Vec<Step> {
    let outcome = |outcome| same!(outcome, StepOutcome => StepOutcome { Decided, PassedOver });
    steps.into_iter().map(|s| Step { rule: s.rule.into(), outcome: outcome(s.outcome), note: s.note }).collect()
}
