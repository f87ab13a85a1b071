//! Questions for approvers.

use std::sync::Arc;

use serde_json::Value;
use toolwarden::approval::Question;
use toolwarden::call::{Arguments, Attendance, CallId, Origin, ServerName, ToolRef};
use toolwarden::invoke::PolicyId;
use toolwarden::module::Kind;
use toolwarden::registry::Generation;

/// A question about a call of `mcp__git__push` with these arguments.
///
/// # Panics
///
/// Where the arguments are no object.
#[must_use]
pub fn of(id: &str, arguments: &Value) -> Question {
    let server = ServerName::new("git").ok();
    let arguments = Arguments::from_value(arguments.clone()).unwrap_or_else(|error| panic!("{error}"));
    let policy =
        PolicyId { name: "p".into(), version: "1".into(), digest: "sha256:00".into(), generation: Generation(1) };
    Question {
        id: CallId(id.into()),
        tool: ToolRef { origin: Origin::Mcp, server, name: "push".into(), public_name: "mcp__git__push".into() },
        arguments: Arc::new(arguments),
        attendance: Attendance::Interactive,
        kind: Kind::new("mcp-call".into()).unwrap_or_else(|| panic!("a kind")),
        reason: "every call is asked about".into(),
        detail: "push".into(),
        policy: Arc::new(policy),
    }
}
