//! Floors: what holds for every policy module, also a wrong or hostile one. A module can only be stricter.

use serde_json::Value;

use super::containment;
use crate::call::{Arguments, Attendance, DefinitionTrust, Facts, Origin, ToolRef, Workspace};
use crate::module::{Fault, Gate};
use crate::registry;
use crate::verdict::{Decision, Verdict};

/// Which floors the settings ask for. Those of a fault and of a gated call that nobody attends hold always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floors {
    /// A shell whose cwd is not clearly inside is denied. Source: `system.bashCwdPolicy = "workspace-only"`.
    pub cwd_locked: bool,
    /// An MCP tool whose definition is not the accepted one is denied. Source: `mcpSecurity.mode = "enforce"`.
    pub mcp_enforced: bool,
}

/// What the floors look at.
pub(super) struct Ground<'c> {
    pub tool: &'c ToolRef,
    pub arguments: &'c Arguments,
    pub workspace: &'c Workspace,
    pub facts: &'c Facts,
    pub attendance: Attendance,
}

impl Floors {
    /// The verdict that a module's answer comes to.
    pub(super) fn verdict(self, answer: Result<Gate, Fault>, ground: &Ground) -> Verdict {
        let gate = match answer {
            Ok(gate) => gate,
            Err(fault) => return Verdict::fault(&fault),
        };
        let verdict = Verdict::of_gate(gate, ground.attendance);
        if verdict.decision == Decision::Deny {
            return verdict;
        }
        match self.lowest(ground) {
            None => verdict,
            Some(denial) => Verdict { cwd: verdict.cwd, ..denial },
        }
    }

    fn lowest(self, ground: &Ground) -> Option<Verdict> {
        let trust = ground.facts.trust;
        if self.mcp_enforced && ground.tool.origin == Origin::Mcp && trust != DefinitionTrust::Matching {
            return Some(Verdict::deny(
                trust.as_str(),
                "the definition of this tool is not the one that was accepted",
                toolwarden_text::clip(&ground.facts.trust_summary, toolwarden_text::DETAIL_CHARS),
            ));
        }
        let cwd = ground.arguments.get("cwd");
        let contained = || containment::is_contained(cwd, ground.workspace, &ground.facts.cwd);
        if self.cwd_locked && uses_cwd(ground.tool, ground.arguments) && !contained() {
            let shown = cwd.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            return Some(Verdict::deny(
                "cwd-locked",
                "the settings lock shells into the workspace (bashCwdPolicy = workspace-only), and this cwd is not clearly in it",
                toolwarden_text::clip(shown.as_deref().unwrap_or("no cwd"), toolwarden_text::DETAIL_CHARS),
            ));
        }
        None
    }
}

/// Whether the call starts a process on this machine, as far as the host knows.
pub(super) fn uses_cwd(tool: &ToolRef, arguments: &Arguments) -> bool {
    is_local(tool) && registry::uses_cwd(&tool.name, arguments)
}

/// The arguments that name paths on this machine, as far as the host knows.
pub(super) fn path_arguments<'c>(
    tool: &ToolRef,
    arguments: &'c Arguments,
) -> impl Iterator<Item = (&'static str, &'c Value)> {
    let names = if is_local(tool) { registry::path_arguments(&tool.name) } else { &[] };
    names.iter().filter_map(|name| Some((*name, arguments.get(name)?)))
}

fn is_local(tool: &ToolRef) -> bool {
    matches!(tool.origin, Origin::Core | Origin::Unknown)
}
