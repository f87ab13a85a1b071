//! What happens to the policy in force, in the audit trail.

use std::sync::Arc;

use serde_json::json;

use super::event::{Cause, LifecycleEvent, LifecycleSink};
use crate::audit::{AuditKind, Record, Recorder};
use crate::verdict::PolicyId;

/// Keeps a record of each swap and refusal, and tells somebody else as well.
pub struct Recorded {
    recorder: Arc<dyn Recorder>,
    next: Arc<dyn LifecycleSink>,
}

impl Recorded {
    /// A sink that keeps records, and tells this one.
    #[must_use]
    pub fn new(recorder: Arc<dyn Recorder>, next: Arc<dyn LifecycleSink>) -> Self {
        Self { recorder, next }
    }
}

impl LifecycleSink for Recorded {
    fn on_event(&self, event: &LifecycleEvent) {
        if let Some(record) = record(event) {
            self.recorder.note(record);
        }
        self.next.on_event(event);
    }
}

/// The record of an event; none of what changes nothing that is in force.
fn record(event: &LifecycleEvent) -> Option<Record> {
    let under = |kind, policy: &PolicyId| Record {
        generation: Some(policy.generation.0),
        module: Some(policy.digest.clone()),
        more: serde_json::to_value(event).ok(),
        ..Record::new(kind)
    };
    match event {
        LifecycleEvent::ModuleSwapped { cause, from, to } => {
            // The same module under other settings.
            let kind = match cause {
                Cause::Reload if from.digest == to.digest => AuditKind::SettingsChanged,
                _ => AuditKind::ModuleSwapped,
            };
            let cause = json!(cause).as_str().unwrap_or_default().to_owned();
            Some(Record { reason_kind: Some(cause), ..under(kind, to) })
        }
        LifecycleEvent::ModuleRefused { refusal, kept } => Some(Record {
            reason_kind: Some(refusal.code.into()),
            reason: Some(refusal.message.clone()),
            ..under(AuditKind::ModuleRefused, kept)
        }),
        LifecycleEvent::ModuleUnhealthy { .. }
        | LifecycleEvent::TrialStarted { .. }
        | LifecycleEvent::TrialRefused { .. }
        | LifecycleEvent::TrialEnded { .. } => None,
    }
}
