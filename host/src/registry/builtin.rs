//! The tools of the agent itself, as far as Toolwarden knows them by name.

use serde_json::{Map, Value, json};

use crate::call::Arguments;

/// Actions of `SSHManager`.
pub(crate) const SSH_ACTIONS: [&str; 19] = [
    "list_hosts",
    "list_sessions",
    "create_session",
    "resize_session",
    "close_session",
    "read_session",
    "send_input",
    "exec",
    "sftp_list",
    "sftp_stat",
    "sftp_read_text",
    "sftp_write_text",
    "sftp_mkdir",
    "sftp_rename",
    "sftp_delete",
    "sftp_upload",
    "sftp_download",
    "sftp_transfer_status",
    "sftp_cancel_transfer",
];

/// Actions of `ManagedProcess`; only the first uses the cwd.
pub(crate) const PROCESS_ACTIONS: [&str; 5] = ["start", "status", "read_log", "wait", "stop"];

/// Whether a call of this built-in tool starts a process, and so uses its `cwd`. An action that nobody knows might.
pub(crate) fn uses_cwd(name: &str, arguments: &Arguments) -> bool {
    let action = arguments.get("action").and_then(Value::as_str);
    match name {
        "Bash" => true,
        "ManagedProcess" => action.is_none_or(|a| a == "start" || !PROCESS_ACTIONS.contains(&a)),
        _ => false,
    }
}

/// Arguments of this built-in tool that name a path on this machine.
pub(crate) fn path_arguments(name: &str) -> &'static [&'static str] {
    match name {
        "Delete" | "List" | "Glob" | "Grep" => &["path"],
        "Read" | "Write" | "Edit" => &["path", "file_path"],
        _ => &[],
    }
}

/// Definitions of the built-in tools.
pub(super) fn definitions() -> Vec<Value> {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let whole = |about: &str| json!({ "type": "integer", "minimum": 0, "description": about });
    let cwd = text("folder to start in; default: the workspace root");
    let path = text("path of a file or folder");
    vec![
        tool(
            "Bash",
            "Runs a shell command.",
            &["command"],
            [
                ("command", text("the command line")),
                ("cwd", cwd.clone()),
                ("timeout_ms", whole("time-out in milliseconds")),
            ],
        ),
        tool(
            "ManagedProcess",
            "Starts a process in the background, and looks after it.",
            &["action"],
            [
                ("action", json!({ "enum": PROCESS_ACTIONS })),
                ("command", text("the command line, for start")),
                ("cwd", cwd),
                ("id", text("the process, for all but start")),
                ("timeout_ms", whole("for wait, in milliseconds")),
            ],
        ),
        tool("Delete", "Deletes a file, or a folder with everything in it.", &["path"], [("path", path.clone())]),
        tool(
            "SSHManager",
            "Works on another machine over SSH and SFTP.",
            &["action"],
            [
                ("action", json!({ "enum": SSH_ACTIONS })),
                ("host", text("the machine")),
                ("session_id", text("the session")),
                ("command", text("for exec")),
                ("data", text("for send_input")),
                ("path", text("path on the other machine")),
                ("from_path", text("for sftp_rename, sftp_upload and sftp_download")),
                ("to_path", text("for sftp_rename, sftp_upload and sftp_download")),
            ],
        ),
        tool(
            "Read",
            "Reads a text file.",
            &["path"],
            [("path", path.clone()), ("offset", whole("first line")), ("limit", whole("number of lines"))],
        ),
        tool(
            "Write",
            "Writes a text file.",
            &["path", "content"],
            [("path", path.clone()), ("content", text("the whole text"))],
        ),
        tool(
            "Edit",
            "Replaces a text in a file.",
            &["path", "old", "new"],
            [("path", path.clone()), ("old", text("what stands there")), ("new", text("what shall stand there"))],
        ),
        tool("List", "Lists a folder.", &["path"], [("path", path.clone())]),
        tool(
            "Glob",
            "Finds files by a pattern.",
            &["pattern"],
            [("pattern", text("as src/**/*.rs")), ("path", path.clone())],
        ),
        tool(
            "Grep",
            "Finds lines by a regular expression.",
            &["pattern"],
            [("pattern", text("the expression")), ("path", path)],
        ),
    ]
}

fn tool<const N: usize>(name: &str, about: &str, required: &[&str], properties: [(&str, Value); N]) -> Value {
    let properties: Map<String, Value> = properties.into_iter().map(|(name, schema)| (name.into(), schema)).collect();
    json!({
        "name": name,
        "description": about,
        "inputSchema": { "type": "object", "properties": properties, "required": required },
    })
}
