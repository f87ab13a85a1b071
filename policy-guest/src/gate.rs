//! `is_approval_gated`: the table of the design, row by row. The first row that applies settles the answer.

use std::borrow::Cow;
use std::format;
use std::string::String;

use toolwarden_text::clip;

use crate::cwd::classify_cwd;
use crate::detail;
use crate::model::{
    Admission, Candidacy, CwdJudgement, Effect, Gate, Invocation, Origin, Registration, ToolDefinition, ToolRef, Trust,
};
use crate::rules::{self, Decision};
use crate::settings::{ApprovalMode, CwdPolicy, McpSecurity, Settings};
use crate::tools::Known;
use crate::trail::Trail;

/// What a call comes to.
///
/// ```
/// use toolwarden_policy::*;
///
/// let settings = Settings::from_json(r#"{"system":{"toolApprovalMode":"dangerous"}}"#).unwrap();
/// let call = Invocation {
///     tool: ToolRef {
///         origin: Origin::Core, registration: Registration::Registered, server: "", name: "Delete", public_name: "Delete",
///     },
///     arguments: vec![Argument { name: "path", kind: JsonKind::Text, text: "/repo/build" }],
///     route: Route::Direct,
///     attendance: Attendance::Interactive,
///     workspace: Workspace {
///         flavour: Flavour::Posix, root: "/repo", extra_roots: vec![], skills_roots: vec![], home: "/home/u",
///     },
///     facts: Facts {
///         cwd: CwdFacts::not_attempted(), paths: vec![], trust: Trust::Matching, trust_summary: "", nearest: "",
///     },
///     explain: false,
/// };
/// let gate = is_approval_gated(&settings, &call);
/// assert_eq!((gate.effect, &*gate.kind), (Effect::Gated, "delete"));
/// assert_eq!(gate.detail, "/repo/build (a folder goes with everything in it)");
/// ```
#[must_use]
pub fn is_approval_gated(settings: &Settings, call: &Invocation) -> Gate {
    let mut trail = Trail::new(call.explain);
    let known = Known::of(call);
    let cwd = if known.uses_cwd() {
        classify_cwd(call.argument("cwd"), &call.workspace, &call.facts.cwd, &mut trail)
    } else {
        CwdJudgement::NOT_APPLICABLE
    };
    let verdict = judge(settings, call, known, cwd, &mut trail);
    Gate {
        effect: verdict.effect,
        kind: Cow::Borrowed(verdict.kind),
        reason: verdict.reason,
        detail: verdict.detail,
        cwd,
        trail: trail.into_steps(),
    }
}

/// The gate at registry build: whether every call of a tool would be refused, and whether it counts for deferral.
#[must_use]
pub fn admit_tool(settings: &Settings, definition: &ToolDefinition) -> Admission {
    let tool = &definition.tool;
    let refused = denied(settings, tool).or_else(|| untrusted(settings, tool, definition.trust, ""));
    let candidate = refused.is_none()
        && matches!(tool.origin, Origin::Mcp | Origin::Plugin)
        && !settings.deferral.eager.iter().any(|pattern| rules::selects(pattern, tool, false));
    let verdict = refused.unwrap_or(Verdict::FREE);
    Admission {
        effect: verdict.effect,
        kind: Cow::Borrowed(verdict.kind),
        reason: verdict.reason,
        candidacy: if candidate { Candidacy::Candidate } else { Candidacy::Exempt },
    }
}

/// Whether a deny rule covers a tool.
pub(crate) fn is_denied(settings: &Settings, tool: &ToolRef) -> bool {
    rules::find(&settings.rules, tool, Decision::Deny).is_some()
}

/// The part of a [`Gate`] that the table decides.
struct Verdict {
    effect: Effect,
    kind: &'static str,
    reason: Cow<'static, str>,
    detail: String,
}

impl Verdict {
    const FREE: Self = Self { effect: Effect::Free, kind: "", reason: Cow::Borrowed(""), detail: String::new() };

    fn refused(kind: &'static str, reason: impl Into<Cow<'static, str>>, detail: String) -> Self {
        Self { effect: Effect::Refused, kind, reason: reason.into(), detail }
    }

    fn gated(kind: &'static str, reason: impl Into<Cow<'static, str>>, detail: String) -> Self {
        Self { effect: Effect::Gated, kind, reason: reason.into(), detail }
    }
}

fn judge(settings: &Settings, call: &Invocation, known: Known, cwd: CwdJudgement, trail: &mut Trail) -> Verdict {
    let tool = &call.tool;

    if let Some(verdict) = denied(settings, tool) {
        trail.decided("rule-deny", || format!("a rule denies {}", detail::shown(tool.public_name)));
        return verdict;
    }
    trail.passed("rule-deny", "no rule denies the tool");

    if tool.origin == Origin::Bridge {
        trail.decided("bridge", || "a bridge tool is never gated; what it carries is, by itself".into());
        return Verdict::FREE;
    }
    trail.passed("bridge", "no bridge tool");

    if settings.cwd_policy == CwdPolicy::WorkspaceOnly && known.uses_cwd() && cwd.escapes() {
        trail.decided("cwd-locked", || "shells are locked into the workspace, and this cwd is not inside".into());
        return Verdict::refused(
            "cwd-locked",
            format!(
                "the settings lock shells into the workspace (bashCwdPolicy = workspace-only), and this cwd is not in it: {}; \
                 the path is no typing error, so stay in the workspace",
                detail::why(cwd)
            ),
            detail::cwd(call, cwd),
        );
    }
    trail.passed("cwd-locked", "no shell, not locked, or the cwd is in the workspace");

    if let Some(verdict) = untrusted(settings, tool, call.facts.trust, call.facts.trust_summary) {
        trail.decided("definition-trust", || format!("the definition is not trusted: {}", call.facts.trust.word()));
        return verdict;
    }
    trail.passed("definition-trust", "not covered by mcpSecurity, or the definition matches its baseline");

    if is_covered(settings, tool) {
        trail.decided("mcp-call", || "covered by mcpSecurity: every call is asked about".into());
        return Verdict::gated(
            "mcp-call",
            "every call of a tool from an MCP server needs a person's word",
            detail::shown(tool.public_name),
        );
    }
    trail.passed("mcp-call", "not covered by mcpSecurity");

    if let Some(rule) = rules::find(&settings.rules, tool, Decision::Ask) {
        // Without this rule the call would be refused below. A rule that restricts must not turn that into a question, nor is
        // a person asked about a tool that does not exist.
        if settings.approval_mode == ApprovalMode::Dangerous && tool.registration == Registration::Unregistered {
            trail.decided("unknown-tool", || {
                "a rule asks about the tool, but the registry holds none of that name".into()
            });
            return unknown(call);
        }
        let pattern = rule.tool.as_str();
        trail.decided("rule-ask", || format!("the rule for `{}` asks", clip(pattern, 100)));
        return Verdict::gated(
            "rule-ask",
            format!("the rule for `{}` wants a person's word", clip(pattern, 100)),
            target(call, known, cwd),
        );
    }
    trail.passed("rule-ask", "no rule asks about the tool");

    if let Some(rule) = rules::find(&settings.rules, tool, Decision::Allow) {
        trail.decided("rule-allow", || format!("the rule for `{}` allows", clip(rule.tool.as_str(), 100)));
        return Verdict::FREE;
    }
    trail.passed("rule-allow", "no rule allows the tool");

    if settings.approval_mode == ApprovalMode::Off {
        trail.decided("mode-off", || "toolApprovalMode is off".into());
        return Verdict::FREE;
    }
    trail.passed("mode-off", "toolApprovalMode is dangerous");

    by_danger(call, known, cwd, trail)
}

/// Rows 8 to 12: what `toolApprovalMode = "dangerous"` asks about.
fn by_danger(call: &Invocation, known: Known, cwd: CwdJudgement, trail: &mut Trail) -> Verdict {
    if known == Known::Delete {
        trail.decided("delete", || "deletes a file or folder".into());
        return Verdict::gated(
            "delete",
            "this deletes recursively: a file, or a folder and everything in it",
            detail::delete(call),
        );
    }
    trail.passed("delete", "not Delete");

    if known == Known::SshMutation {
        trail.decided("ssh-mutation", || "an SSH action that changes something, or might".into());
        return Verdict::gated("ssh-mutation", "this acts on another machine over SSH", detail::ssh(call));
    }
    trail.passed("ssh-mutation", "not SSHManager, or an action that changes nothing");

    if known.uses_cwd() && cwd.escapes() {
        trail.decided("external-cwd", || "the shell would start outside the workspace".into());
        let reason = format!("the shell would start outside the workspace: {}", detail::why(cwd));
        return Verdict::gated("external-cwd", reason, detail::cwd(call, cwd));
    }
    trail.passed("external-cwd", "no shell, or its cwd is in the workspace");

    if call.tool.registration == Registration::Unregistered {
        trail.decided("unknown-tool", || "the registry holds no tool of that name".into());
        return unknown(call);
    }
    trail.passed("unknown-tool", "the registry holds the tool");

    trail.decided("otherwise", || "nothing speaks against the call".into());
    Verdict::FREE
}

/// The refusal of a call of no tool.
fn unknown(call: &Invocation) -> Verdict {
    let shown = clip(call.tool.public_name, 64);
    let reason = match call.facts.nearest {
        "" => format!("there is no tool `{shown}`"),
        nearest => format!("there is no tool `{shown}`; did you mean `{}`?", clip(nearest, 64)),
    };
    Verdict::refused("unknown-tool", reason, detail::shown(call.tool.public_name))
}

fn denied(settings: &Settings, tool: &ToolRef) -> Option<Verdict> {
    let rule = rules::find(&settings.rules, tool, Decision::Deny)?;
    let reason = format!("the rule for `{}` denies this tool", clip(rule.tool.as_str(), 100));
    Some(Verdict::refused("rule-deny", reason, detail::shown(tool.public_name)))
}

/// A covered tool whose definition is not the accepted one.
fn untrusted(settings: &Settings, tool: &ToolRef, trust: Trust, summary: &str) -> Option<Verdict> {
    if !is_covered(settings, tool) || trust == Trust::Matching {
        return None;
    }
    let reason = match trust {
        Trust::SnapshotUnavailable => {
            "the tools of the MCP servers cannot be listed, so nothing shows that this one is unchanged"
        }
        Trust::BaselineMissing => "no baseline was accepted, so nobody has looked at this tool yet",
        Trust::BaselineMalformed => "the stored baseline cannot be read",
        Trust::FingerprintInvalid => "the stored baseline was altered: its fingerprint does not recompute",
        Trust::DuplicateTools => "the server lists one name twice",
        Trust::DefinitionDrift => "the definition changed since it was accepted",
        Trust::ProbeFailed => "the server did not answer when its definitions were to be checked",
        Trust::SplitView => "the server shows different definitions to different connections",
        Trust::Matching => return None,
    };
    Some(Verdict::refused(trust.word(), reason, detail::shown(summary)))
}

fn is_covered(settings: &Settings, tool: &ToolRef) -> bool {
    settings.mcp_security == McpSecurity::Enforce && tool.origin == Origin::Mcp
}

/// The most telling detail of a call that a rule asks about.
fn target(call: &Invocation, known: Known, cwd: CwdJudgement) -> String {
    match known {
        Known::Delete => detail::delete(call),
        Known::SshMutation => detail::ssh(call),
        Known::Shell | Known::Start if cwd.escapes() => detail::cwd(call, cwd),
        Known::Shell | Known::Start => detail::shown(call.argument("command").text),
        Known::Other => detail::shown(call.tool.public_name),
    }
}
