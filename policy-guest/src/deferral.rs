//! `should_defer`: which tools the model is shown up front. Deferring saves context. It is never protection.

use std::borrow::Cow;

use crate::gate::is_denied;
use crate::model::{BridgeState, Deferral, Exposure, Origin, ToolDefinition, Totals};
use crate::rules::selects;
use crate::settings::{DeferralMode, Settings};
use crate::tools::BRIDGE;

/// What the model is shown of a tool. The first row that applies settles the answer.
#[must_use]
pub fn should_defer(settings: &Settings, definition: &ToolDefinition, totals: &Totals) -> Deferral {
    let tool = &definition.tool;
    let rules = &settings.deferral;
    let shown = |exposure, reason| Deferral { exposure, reason: Cow::Borrowed(reason) };
    let eager = |reason| shown(Exposure::Eager, reason);
    let deferred = |reason| shown(Exposure::Deferred, reason);

    if tool.origin == Origin::Bridge && BRIDGE.contains(&tool.name) {
        eager("bridge")
    } else if is_denied(settings, tool) {
        shown(Exposure::Hidden, "denied")
    } else if rules.mode == DeferralMode::Off || totals.bridge == BridgeState::Incomplete {
        eager("disabled")
    } else if rules.eager.iter().any(|pattern| selects(pattern, tool, false)) {
        eager("pinned")
    } else if !matches!(tool.origin, Origin::Mcp | Origin::Plugin) {
        eager("core")
    } else if rules.defer.iter().any(|pattern| selects(pattern, tool, true)) {
        deferred("listed")
    } else if rules.mode == DeferralMode::Always {
        deferred("always")
    } else if is_over_budget(settings, totals) {
        deferred("over-budget")
    } else {
        eager("under-budget")
    }
}

/// Whether the candidates together take more than they may. All compares are strict.
fn is_over_budget(settings: &Settings, totals: &Totals) -> bool {
    let rules = &settings.deferral;
    let share = u128::from(totals.context_window) * u128::from(rules.max_context_ppm);
    totals.candidate_tokens > rules.max_tokens
        || (totals.context_window > 0 && u128::from(totals.candidate_tokens) * 1_000_000 > share)
        || u64::from(totals.candidates) > rules.max_tools
}
