//! The calls that are decided: the measured one, and those that show that the policy is the right one.

use serde_json::{Value, json};

/// What a peer answers, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Free,
    Ask,
    Refuse,
}

impl Verdict {
    /// Reads the name that the policies use.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "free" => Some(Self::Free),
            "ask" => Some(Self::Ask),
            "refuse" => Some(Self::Refuse),
            _ => None,
        }
    }
}

/// The measured call: a shell inside the workspace, which no rule stops, so that every rule is looked at.
pub fn typical() -> Value {
    call("Bash", "run", "inside")
}

/// One call for each rule and each near miss, with the verdict it must get.
pub fn checks() -> Vec<(Value, Verdict)> {
    let mut rows = vec![
        (typical(), Verdict::Free),
        (call("Bash", "run", "skill"), Verdict::Free),
        (call("Bash", "run", "outside"), Verdict::Refuse),
        (call("Bash", "run", "invalid"), Verdict::Refuse),
        (call("ManagedProcess", "start", "outside"), Verdict::Refuse),
        (call("ManagedProcess", "stop", "outside"), Verdict::Free),
        (call("Delete", "run", "inside"), Verdict::Ask),
        (call("delete", "run", "inside"), Verdict::Free),
        (call("mcp__files__read", "run", "inside"), Verdict::Ask),
        (call("xmcp__files__read", "run", "inside"), Verdict::Free),
        (call("SSHManager", "sftp_list", "inside"), Verdict::Free),
        (call("Read", "exec", "outside"), Verdict::Free),
    ];
    for tool in ["Format", "Shutdown", "Registry", "KernelModule"] {
        rows.push((call(tool, "run", "inside"), Verdict::Refuse));
    }
    for action in [
        "exec",
        "send_input",
        "sftp_write_text",
        "sftp_mkdir",
        "sftp_rename",
        "sftp_delete",
        "sftp_upload",
        "sftp_download",
    ] {
        rows.push((call("SSHManager", action, "inside"), Verdict::Ask));
    }
    rows
}

fn call(tool: &str, action: &str, cwd_class: &str) -> Value {
    json!({
        "tool": tool,
        "action": action,
        "cwd": "packages/web",
        "cwd_class": cwd_class,
        "attendance": "interactive",
        "origin": "built-in",
        "approval_mode": "on",
        "cwd_policy": "workspace-only",
        "command": "cargo test --workspace --locked",
        "timeout_ms": 120_000,
        "bridged": false,
    })
}
