//! The tools whose calls the default module can read: what it knows of their arguments, and nothing else about them.

use crate::model::{Argument, Invocation, JsonKind};

/// The names of the bridge tools.
pub(crate) const BRIDGE: [&str; 3] = ["tool_search", "tool_describe", "tool_invoke"];

/// A call of a tool that can do harm, as far as its arguments tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// `Bash`.
    Shell,
    /// `ManagedProcess` that starts something, or whose action is missing or unknown and might.
    Start,
    /// `Delete`.
    Delete,
    /// `SSHManager` with an action that changes something, or one that is missing or unknown and might.
    SshMutation,
    /// Everything else.
    Other,
}

impl Known {
    /// Reads the call. Only a tool that is not from a server or plugin is the one that its name says.
    pub fn of(call: &Invocation) -> Self {
        let tool = &call.tool;
        if !tool.is_built_in(tool.name) {
            return Self::Other;
        }
        let action = call.argument("action");
        match tool.name {
            "Bash" => Self::Shell,
            "ManagedProcess" if !is_one_of(action, &["status", "read_log", "wait", "stop"]) => Self::Start,
            "Delete" => Self::Delete,
            "SSHManager" if !is_one_of(action, &SSH_FREE) => Self::SshMutation,
            _ => Self::Other,
        }
    }

    /// Whether the call uses its `cwd`.
    pub const fn uses_cwd(self) -> bool {
        matches!(self, Self::Shell | Self::Start)
    }
}

/// The actions of `SSHManager` that change nothing on the other side.
const SSH_FREE: [&str; 11] = [
    "list_hosts",
    "list_sessions",
    "read_session",
    "sftp_list",
    "sftp_stat",
    "sftp_read_text",
    "sftp_transfer_status",
    "create_session",
    "resize_session",
    "close_session",
    "sftp_cancel_transfer",
];

fn is_one_of(argument: Argument, words: &[&str]) -> bool {
    argument.kind == JsonKind::Text && words.contains(&argument.text)
}
