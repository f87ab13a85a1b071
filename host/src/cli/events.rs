//! What happens to the policy in force, told on standard error: a sentence for a person, a line of JSON for everybody else.

use std::io::{self, IsTerminal as _, Write as _};

use crate::invoke::PolicyId;
use crate::lifecycle::{LifecycleEvent, TrialReport};

/// Tells an event. If even that cannot be written, the policy is in force all the same.
pub(super) fn tell(event: &LifecycleEvent) {
    let line =
        if io::stderr().is_terminal() { sentence(event) } else { serde_json::to_string(event).unwrap_or_default() };
    let _ = writeln!(io::stderr().lock(), "{line}");
}

fn sentence(event: &LifecycleEvent) -> String {
    match event {
        LifecycleEvent::ModuleSwapped { to, .. } => format!("in force: {}", shown(to)),
        LifecycleEvent::ModuleRefused { refusal, kept } => {
            format!("refused: {refusal}; still in force: {}", shown(kept))
        }
        LifecycleEvent::ModuleUnhealthy { policy, faults } => {
            format!("failing: {}, {faults} faults; there is no module before it to go back to", shown(policy))
        }
        LifecycleEvent::TrialStarted { candidate } => format!("on trial: {}", shown(candidate)),
        LifecycleEvent::TrialRefused { refusal } => format!("no trial: {refusal}"),
        LifecycleEvent::TrialEnded { candidate, report } => {
            format!("trial ended: {}: {}", shown(candidate), found(report))
        }
    }
}

fn shown(policy: &PolicyId) -> String {
    let PolicyId { name, version, generation, .. } = policy;
    format!("{} {}, generation {generation}", toolwarden_text::visible(name), toolwarden_text::visible(version))
}

fn found(report: &TrialReport) -> String {
    let counts = report.comparison;
    format!(
        "{} calls, {} the same, {} stricter, {} looser, {} for another reason, {} faults",
        counts.calls, counts.same, counts.stricter, counts.looser, counts.other_reason, report.faults
    )
}
