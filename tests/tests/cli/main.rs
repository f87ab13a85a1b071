//! The command line from outside: exit codes, messages, hostile input, and what is left in place when something fails.

mod explain;
mod lifecycle;
mod lines;
mod new;
mod output;
mod policy;
mod registry;
mod settings;
mod shown;
mod usage;
mod verdicts;

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use toolwarden_harness::cli;

/// A folder with files, gone after the test.
pub(crate) struct Files(pub(crate) tempfile::TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and tells its path as an argument.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.argument(name)
    }

    pub(crate) fn argument(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

pub(crate) fn run(arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    cli::run(arguments, input.as_ref()).unwrap()
}

pub(crate) fn exit(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("no exit code: {}", stderr(output)))
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The records of a run, the name of the policy left out.
pub(crate) fn records(output: &Output) -> Vec<Value> {
    let mut records = cli::lines(output).unwrap();
    for record in &mut records {
        if let Some(fields) = record.as_object_mut()
            && let Some(policy) = fields.remove("policy")
        {
            assert_eq!((&policy["name"], &policy["generation"]), (&json!("toolwarden-default"), &json!(1)));
        }
    }
    records
}

/// Nothing but this exit code, nothing on standard output, and one error on standard error that says all of this.
pub(crate) fn fails(arguments: &[&str], input: impl AsRef<[u8]>, code: i32, says: &[&str]) {
    let output = run(arguments, input);
    let text = stderr(&output);
    assert_eq!((exit(&output), stdout(&output).as_str()), (code, ""), "{arguments:?}: {text}");
    assert!(text.starts_with("error: ") && !text.contains("panicked"), "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say {part:?}: {text}");
    }
}

pub(crate) fn call(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({
        "id": id, "tool": tool, "arguments": arguments, "route": "direct", "attendance": "interactive",
        "workspace": { "root": "/repo", "flavour": "posix" },
    })
}

pub(crate) fn delete(id: &str) -> String {
    call(id, "Delete", &json!({ "path": "/repo/x" })).to_string()
}

/// What `--profile dangerous` says of [`delete`].
pub(crate) fn asks(id: &str) -> Value {
    json!({
        "id": id, "verdict": "ask", "kind": "delete", "cwd": null,
        "reason": "this deletes recursively: a file, or a folder and everything in it",
        "detail": "/repo/x (a folder goes with everything in it)",
    })
}

pub(crate) fn free(id: &str, cwd: &Value) -> Value {
    json!({
        "id": id, "verdict": "allow", "kind": null, "cwd": cwd, "reason": "nothing speaks against it", "detail": "",
    })
}

pub(crate) fn refused(line: u64, code: &str, message: &str) -> Value {
    json!({ "line": line, "error": { "code": code, "message": message } })
}

pub(crate) const DECIDE: [&str; 3] = ["decide", "--profile", "dangerous"];

/// Verdict and kind of each record.
pub(crate) fn kinds(output: &Output) -> Vec<(String, String)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    records(output).iter().map(|r| (text(&r["verdict"]), text(&r["kind"]))).collect()
}

/// Whether a text that goes to a terminal could turn or hide what stands around it.
pub(crate) fn deceives(text: &str) -> bool {
    text.chars().any(|c| c != '\n' && toolwarden_text::is_deceptive(c))
}

pub(crate) fn list(server: &str, names: &[&str]) -> Value {
    let tools: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "server": server, "tools": tools })
}
