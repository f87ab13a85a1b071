//! The component face: `wit/policy.wit` on one side, a [`PolicyModule`](crate::PolicyModule) on the other. Hidden from the
//! documentation: [`export!`](crate::export) is the way here.

#![allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, reason = "generated bindings")]

use std::string::String;
use std::vec::Vec;

use crate as policy;
use crate::PolicyModule as _;
use crate::face::{self, Exported};

// Public, so that `crate::export!` exports what stands in another crate. That a world has exports is then said where the macro
// is used, and a crate that depends on this one without using it becomes no module by accident.
wit_bindgen::generate!({ path: "../wit", world: "policy", runtime_path: "wit_bindgen::rt", pub_export_macro: true });

use exports::toolwarden::policy::decisions as wit;

impl<E: Exported> wit::Guest for E {
    fn describe() -> wit::Description {
        wit::Description {
            name: E::Module::NAME.into(),
            version: E::Module::VERSION.into(),
            contract: policy::CONTRACT.into(),
            summary: E::Module::SUMMARY.into(),
            settings_schema: E::Module::SCHEMA.into(),
        }
    }

    fn configure(settings: String) -> wit::Configuration {
        match E::slot().configure(settings) {
            Ok(()) => {
                face::keep();
                wit::Configuration { outcome: wit::ConfigurationOutcome::Accepted, issues: Vec::new() }
            }
            Err(issues) => wit::Configuration {
                outcome: wit::ConfigurationOutcome::Rejected,
                issues: issues.into_iter().map(issue).collect(),
            },
        }
    }

    fn admit_tools(tools: Vec<wit::ToolDefinition>) -> Vec<wit::Admission> {
        E::slot().ask(|module| tools.iter().map(|tool| admission(module.admit_tool(&definition(tool)))).collect())
    }

    fn should_defer(tool: wit::ToolDefinition, totals: wit::CatalogueTotals) -> wit::Deferral {
        E::slot().ask(|module| deferral(module.should_defer(&definition(&tool), &sums(&totals))))
    }

    fn should_defer_all(tools: Vec<wit::ToolDefinition>, totals: wit::CatalogueTotals) -> Vec<wit::Deferral> {
        let totals = sums(&totals);
        E::slot()
            .ask(|module| tools.iter().map(|tool| deferral(module.should_defer(&definition(tool), &totals))).collect())
    }

    fn is_approval_gated(invocation: wit::Invocation) -> wit::Gate {
        E::slot().ask(|module| gate(module.is_approval_gated(&call(&invocation))))
    }

    fn classify_cwd(
        given: wit::Argument,
        workspace: wit::Workspace,
        facts: wit::CwdFacts,
        explain: bool,
    ) -> wit::CwdAnswer {
        let mut trail = policy::Trail::new(explain);
        let judged = E::slot()
            .ask(|module| module.classify_cwd(argument(&given), &place(&workspace), &cwd_facts(&facts), &mut trail));
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
        kind: gate.kind.into_owned(),
        reason: gate.reason.into_owned(),
        detail: gate.detail,
        cwd: wit::CwdJudgement { class: gate.cwd.class.into(), why: gate.cwd.why.into() },
        trail: steps(gate.trail),
    }
}

fn admission(admission: policy::Admission) -> wit::Admission {
    wit::Admission {
        effect: admission.effect.into(),
        kind: admission.kind.into_owned(),
        reason: admission.reason.into_owned(),
        candidacy: admission.candidacy.into(),
    }
}

fn deferral(deferral: policy::Deferral) -> wit::Deferral {
    wit::Deferral { exposure: deferral.exposure.into(), reason: deferral.reason.into_owned() }
}

fn issue(issue: policy::Issue) -> wit::Issue {
    wit::Issue { pointer: issue.pointer, problem: issue.problem, allowed: issue.allowed }
}

fn steps(steps: Vec<policy::Step>) -> Vec<wit::Step> {
    let step = |s: policy::Step| wit::Step { rule: s.rule.into_owned(), outcome: s.outcome.into(), note: s.note };
    steps.into_iter().map(step).collect()
}
