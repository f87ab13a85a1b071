//! Records as events of the Open Cybersecurity Schema Framework, class *API Activity* (6003).

use serde_json::{Map, Value, json};

use super::record::AuditKind;
use super::trail::Entry;
use crate::verdict::Decision;

/// Version of the schema that the events follow.
const SCHEMA: &str = "1.3.0";
/// Category *Application Activity*.
const CATEGORY: u64 = 6;
/// Class *API Activity*.
const CLASS: u64 = 6003;
/// Activity *Other*: a call of a tool is no create, read, update or delete that we know.
const ACTIVITY: u64 = 99;

/// A record as such an event.
///
/// | OCSF | is |
/// |---|---|
/// | `time`, `metadata.sequence`, `metadata.uid` | time, number and hash of the record |
/// | `activity_name` | the record's kind |
/// | `api.operation`, `api.service.name`, `api.request.uid` | tool, server, call |
/// | `status_id` | 1 where the call ran or something was accepted, 2 where not, 0 where it is not over |
/// | `severity_id` | 3 for what was refused or failed, 1 for all else |
/// | `action_id` | 1 allowed, 2 denied, 0 where nothing was decided |
/// | `status_code`, `status_detail`, `message` | reason code, target, reason |
/// | `unmapped` | the rest, under our own names |
#[must_use]
pub fn event(entry: &Entry) -> Value {
    let record = &entry.record;
    let (status, severity) = match record.kind {
        AuditKind::Executed
        | AuditKind::ProbeOk
        | AuditKind::BaselineAccepted
        | AuditKind::ModuleSwapped
        | AuditKind::SettingsChanged => (1, 1),
        AuditKind::ApprovalRequired => (0, 1),
        AuditKind::ApprovalSettled => match record.approval {
            Some(crate::approval::Approval::AllowedOnce) => (1, 1),
            _ => (2, 3),
        },
        AuditKind::Denied
        | AuditKind::ErrorOrDenied
        | AuditKind::ProbeError
        | AuditKind::AcceptRefused
        | AuditKind::ResultSchemaMismatch
        | AuditKind::ModuleRefused => (2, 3),
    };
    let action = match record.verdict {
        Some(Decision::Allow) => 1,
        Some(Decision::Deny) => 2,
        Some(Decision::Ask) | None => 0,
    };
    let mut unmapped = Map::new();
    if let Ok(Value::Object(members)) = serde_json::to_value(record) {
        let mapped = ["kind", "call", "server", "tool", "reasonKind", "reason", "detail"];
        unmapped.extend(members.into_iter().filter(|(name, _)| !mapped.contains(&name.as_str())));
    }
    json!({
        "category_uid": CATEGORY,
        "class_uid": CLASS,
        "activity_id": ACTIVITY,
        "activity_name": record.kind,
        "type_uid": CLASS * 100 + ACTIVITY,
        "time": entry.time_ms,
        "severity_id": severity,
        "status_id": status,
        "status_code": record.reason_kind,
        "status_detail": record.detail,
        "action_id": action,
        "message": record.reason,
        "api": {
            "operation": record.tool.as_deref().unwrap_or(record.kind.as_str()),
            "service": { "name": record.server.as_deref().unwrap_or("toolwarden") },
            "request": { "uid": record.call.as_ref().map(|call| call.0.as_str()).unwrap_or_default() },
        },
        "actor": { "session": { "uid_alt": record.attendance } },
        "src_endpoint": { "name": "localhost" },
        "metadata": {
            "version": SCHEMA,
            "product": { "name": "Toolwarden", "vendor_name": "Toolwarden", "version": env!("CARGO_PKG_VERSION") },
            "uid": entry.hash.to_string(),
            "sequence": entry.seq,
        },
        "unmapped": unmapped,
    })
}
