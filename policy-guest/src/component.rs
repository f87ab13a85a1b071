//! The component face: `wit/policy.wit` on one side, [`crate`] on the other.

#![allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, reason = "generated bindings")]

use std::cell::RefCell;
use std::string::String;
use std::vec::Vec;

use crate as policy;

wit_bindgen::generate!({ path: "../wit", world: "policy", runtime_path: "wit_bindgen::rt" });

use exports::toolwarden::policy::decisions as wit;

/// The one module of this instance.
struct Instance(RefCell<policy::Module>);

// SAFETY: a component instance runs one call at a time, on one thread.
unsafe impl Sync for Instance {}

static INSTANCE: Instance = Instance(RefCell::new(policy::Module::new()));

struct Component;

export!(Component);

impl wit::Guest for Component {
    fn describe() -> wit::Description {
        wit::Description {
            name: policy::NAME.into(),
            version: policy::VERSION.into(),
            contract: policy::CONTRACT.into(),
            summary: policy::SUMMARY.into(),
            settings_schema: policy::SCHEMA.into(),
        }
    }

    fn configure(settings: String) -> wit::Configuration {
        let outcome = INSTANCE.0.borrow_mut().configure(&settings);
        drop(settings);
        match outcome {
            Ok(()) => {
                crate::arena::keep();
                wit::Configuration { outcome: wit::ConfigurationOutcome::Accepted, issues: Vec::new() }
            }
            Err(issues) => wit::Configuration {
                outcome: wit::ConfigurationOutcome::Rejected,
                issues: issues.into_iter().map(issue).collect(),
            },
        }
    }

    fn admit_tools(tools: Vec<wit::ToolDefinition>) -> Vec<wit::Admission> {
        let module = INSTANCE.0.borrow();
        tools.iter().map(|tool| admission(module.admit_tool(&definition(tool)))).collect()
    }

    fn should_defer(tool: wit::ToolDefinition, totals: wit::CatalogueTotals) -> wit::Deferral {
        deferral(INSTANCE.0.borrow().should_defer(&definition(&tool), &sums(&totals)))
    }

    fn should_defer_all(tools: Vec<wit::ToolDefinition>, totals: wit::CatalogueTotals) -> Vec<wit::Deferral> {
        let (module, totals) = (INSTANCE.0.borrow(), sums(&totals));
        tools.iter().map(|tool| deferral(module.should_defer(&definition(tool), &totals))).collect()
    }

    fn is_approval_gated(invocation: wit::Invocation) -> wit::Gate {
        gate(INSTANCE.0.borrow().is_approval_gated(&call(&invocation)))
    }

    fn classify_cwd(
        given: wit::Argument,
        workspace: wit::Workspace,
        facts: wit::CwdFacts,
        explain: bool,
    ) -> wit::CwdAnswer {
        let mut trail = policy::Trail::new(explain);
        let judged = policy::classify_cwd(argument(&given), &place(&workspace), &cwd_facts(&facts), &mut trail);
        wit::CwdAnswer { class: judged.class.into(), why: judged.why.into(), trail: steps(trail.into_steps()) }
    }
}

/// Maps enums of the contract to and from ours; the names are the same on both sides.
macro_rules! same_cases {
    (in: $($wit:ident => $ours:ident { $($case:ident),+ })+) => {$(
        impl From<wit::$wit> for policy::$ours {
            fn from(case: wit::$wit) -> Self {
                match case { $(wit::$wit::$case => Self::$case),+ }
            }
        }
    )+};
    (out: $($wit:ident <= $ours:ident { $($case:ident),+ })+) => {$(
        impl From<policy::$ours> for wit::$wit {
            fn from(case: policy::$ours) -> Self {
                match case { $(policy::$ours::$case => Self::$case),+ }
            }
        }
    )+};
}

same_cases! { in:
    Attendance => Attendance { Scheduled, Delegated, Remote, Interactive }
    Route => Route { Bridge, Direct }
    Origin => Origin { Unknown, Mcp, Plugin, Core, Bridge }
    Registration => Registration { Unregistered, Registered }
    JsonKind => JsonKind { Absent, Null, Boolean, Number, Text, Array, Object }
    PathFlavour => Flavour { Windows, Posix }
    Resolution => Resolution { Failed, NotAttempted, Resolved }
    DefinitionTrust => Trust {
        SnapshotUnavailable, BaselineMissing, BaselineMalformed, FingerprintInvalid, DuplicateTools, DefinitionDrift,
        ProbeFailed, SplitView, Matching
    }
    BridgeState => BridgeState { Incomplete, Complete }
}

same_cases! { out:
    StepOutcome <= StepOutcome { Decided, PassedOver }
    CwdClass <= CwdClass { Invalid, Outside, Skill, Inside, NotApplicable }
    CwdWhy <= CwdWhy {
        None, NoRoot, NotAString, Nul, UnknownScheme, BadCharacter, Stream, TrailingDotOrSpace, DeviceName, UnnamedSkill,
        SkillEscape, Device, Unc, Home, Expansion, FileUrl, DriveRelative, DriveRoot, ParentEscape, Absolute, Link
    }
    Effect <= Effect { Refused, Gated, Free }
    Candidacy <= Candidacy { Candidate, Exempt }
    Exposure <= Exposure { Hidden, Deferred, Eager }
}

// ---------------------------------------------------------------- what comes in

fn tool(tool: &wit::ToolRef) -> policy::ToolRef<'_> {
    policy::ToolRef {
        origin: tool.origin.into(),
        registration: tool.registration.into(),
        server: &tool.server,
        name: &tool.name,
        public_name: &tool.public_name,
    }
}

fn definition(definition: &wit::ToolDefinition) -> policy::ToolDefinition<'_> {
    policy::ToolDefinition {
        tool: tool(&definition.tool),
        trust: definition.trust.into(),
        tokens: definition.tokens,
        definition: &definition.definition,
    }
}

fn sums(totals: &wit::CatalogueTotals) -> policy::Totals {
    policy::Totals {
        bridge: totals.bridge.into(),
        candidates: totals.candidates,
        candidate_tokens: totals.candidate_tokens,
        context_window: totals.context_window,
    }
}

fn argument(argument: &wit::Argument) -> policy::Argument<'_> {
    policy::Argument { name: &argument.name, kind: argument.kind.into(), text: &argument.text }
}

fn place(workspace: &wit::Workspace) -> policy::Workspace<'_> {
    policy::Workspace {
        flavour: workspace.flavour.into(),
        root: &workspace.root,
        extra_roots: strs(&workspace.extra_roots),
        skills_roots: strs(&workspace.skills_roots),
        home: &workspace.home,
    }
}

fn cwd_facts(facts: &wit::CwdFacts) -> policy::CwdFacts<'_> {
    policy::CwdFacts {
        resolution: facts.resolution.into(),
        paths: strs(&facts.paths),
        roots: strs(&facts.roots),
        skills_roots: strs(&facts.skills_roots),
    }
}

fn call(call: &wit::Invocation) -> policy::Invocation<'_> {
    let facts = &call.facts;
    policy::Invocation {
        tool: tool(&call.tool),
        arguments: call.arguments.iter().map(argument).collect(),
        route: call.route.into(),
        attendance: call.attendance.into(),
        workspace: place(&call.workspace),
        facts: policy::Facts {
            cwd: cwd_facts(&facts.cwd),
            paths: facts.paths.iter().map(path_fact).collect(),
            trust: facts.definition.trust.into(),
            trust_summary: &facts.definition.summary,
            nearest: &facts.nearest,
        },
        explain: call.explain,
    }
}

fn path_fact(fact: &wit::PathFact) -> policy::PathFact<'_> {
    policy::PathFact { argument: &fact.argument, resolution: fact.resolution.into(), path: &fact.path }
}

fn strs(strings: &[String]) -> Vec<&str> {
    strings.iter().map(String::as_str).collect()
}

// ---------------------------------------------------------------- what goes out

fn gate(gate: policy::Gate) -> wit::Gate {
    wit::Gate {
        effect: gate.effect.into(),
        kind: gate.kind.into(),
        reason: gate.reason.into_owned(),
        detail: gate.detail,
        cwd: wit::CwdJudgement { class: gate.cwd.class.into(), why: gate.cwd.why.into() },
        trail: steps(gate.trail),
    }
}

fn admission(admission: policy::Admission) -> wit::Admission {
    wit::Admission {
        effect: admission.effect.into(),
        kind: admission.kind.into(),
        reason: admission.reason.into_owned(),
        candidacy: admission.candidacy.into(),
    }
}

fn deferral(deferral: policy::Deferral) -> wit::Deferral {
    wit::Deferral { exposure: deferral.exposure.into(), reason: deferral.reason.into() }
}

fn issue(issue: policy::Issue) -> wit::Issue {
    wit::Issue { pointer: issue.pointer, problem: issue.problem, allowed: issue.allowed }
}

fn steps(steps: Vec<policy::Step>) -> Vec<wit::Step> {
    let step = |s: policy::Step| wit::Step { rule: s.rule.into(), outcome: s.outcome.into(), note: s.note };
    steps.into_iter().map(step).collect()
}
