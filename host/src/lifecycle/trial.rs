//! A trial: a candidate judges the same calls beside the module in force, and counts where they differ.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde::Serialize;

use super::comparison::{Change, Comparison, compare};
use super::release::Release;
use crate::call::{Call, CallId, Facts};
use crate::invoke::{Decision, Judge, Judged, PolicyId, Verdict};
use crate::module::Kind;

/// Calls that wait for the candidate at most. When it is slower than the calls come, some are left out and counted.
const QUEUE: usize = 256;

/// Examples that a report keeps of each kind of change.
const EXAMPLES: usize = 20;

/// One call on which the candidate differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disagreement {
    /// How it differs.
    pub change: Change,
    /// The call.
    pub id: CallId,
    /// The tool as the model wrote it.
    pub tool: String,
    /// What it came to.
    pub verdict: Decision,
    /// Why.
    pub kind: Option<Kind>,
    /// What the candidate says.
    pub candidate_verdict: Decision,
    /// Why.
    pub candidate_kind: Option<Kind>,
}

impl Disagreement {
    /// The difference between two verdicts on a call; none where there is none.
    #[must_use]
    pub fn between(call: &Call, verdict: &Verdict, candidate: &Verdict) -> Option<Self> {
        Some(Self {
            change: compare(verdict, candidate)?,
            id: call.id.clone(),
            tool: toolwarden_text::clip(&call.tool, 80).into_owned(),
            verdict: verdict.decision,
            kind: verdict.kind.clone(),
            candidate_verdict: candidate.decision,
            candidate_kind: candidate.kind.clone(),
        })
    }
}

/// What a trial has found so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialReport {
    /// Calls that both judged, and how they differ.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Calls that the candidate failed on. They count as denied, so as stricter where they were not denied anyway.
    pub faults: u64,
    /// Calls left out because the candidate did not keep up.
    pub left_out: u64,
    /// The first differences of each kind.
    pub disagreements: Vec<Disagreement>,
}

/// A call, and how it was judged.
struct Sample {
    call: Call,
    facts: Option<Facts>,
    verdict: Verdict,
}

/// A candidate on trial. Calls are only handed to it; it judges them on a thread of its own.
#[derive(Debug)]
pub struct Trial {
    release: Release,
    samples: SyncSender<Sample>,
    report: Arc<Mutex<TrialReport>>,
    rate: f64,
    seen: AtomicU64,
}

impl Trial {
    /// Starts a trial. `promote` is called once, when so many calls were judged without a looser verdict or a fault.
    pub(super) fn start(
        release: Release,
        judge: Judge,
        rate: f64,
        promote_after: Option<u64>,
        promote: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (samples, queue) = sync_channel(QUEUE);
        let report = Arc::new(Mutex::new(TrialReport::default()));
        let kept = Arc::clone(&report);
        thread::Builder::new()
            .name("toolwarden-trial".into())
            .spawn(move || run(&judge, &queue, &kept, promote_after, promote))?;
        Ok(Self { release, samples, report, rate, seen: AtomicU64::new(0) })
    }

    /// Who is on trial.
    #[must_use]
    pub const fn policy(&self) -> &Arc<PolicyId> {
        &self.release.policy
    }

    /// What was found so far.
    #[must_use]
    pub fn report(&self) -> TrialReport {
        lock(&self.report).clone()
    }

    pub(super) const fn release(&self) -> &Release {
        &self.release
    }

    /// Hands a call over, if it is this one's turn. Never waits.
    pub(super) fn sample(&self, call: &Call, judged: &Judged) {
        let number = self.seen.fetch_add(1, Ordering::Relaxed);
        if !is_sampled(number, self.rate) {
            return;
        }
        let sample = Sample { call: call.clone(), facts: judged.facts.clone(), verdict: judged.verdict.clone() };
        if let Err(TrySendError::Full(_)) = self.samples.try_send(sample) {
            lock(&self.report).left_out += 1;
        }
    }
}

/// Spreads the sampled calls evenly: those at which the sum of the rate reaches the next whole number.
#[allow(clippy::cast_precision_loss, reason = "calls that nobody will ever count")]
fn is_sampled(number: u64, rate: f64) -> bool {
    ((number + 1) as f64 * rate).floor() > (number as f64 * rate).floor()
}

fn run(
    judge: &Judge,
    queue: &Receiver<Sample>,
    report: &Mutex<TrialReport>,
    promote_after: Option<u64>,
    promote: impl FnOnce(),
) {
    let mut promote = Some(promote);
    // The queue ends with the trial.
    while let Ok(Sample { call, facts, verdict }) = queue.recv() {
        let (candidate, fault) = judge.judge_again(&call, facts.as_ref());
        let disagreement = Disagreement::between(&call, &verdict, &candidate.verdict);
        let mut report = lock(report);
        report.comparison.count(disagreement.as_ref().map(|d| d.change));
        report.faults += u64::from(fault.is_some());
        if let Some(disagreement) = disagreement {
            let known = report.disagreements.iter().filter(|d| d.change == disagreement.change).count();
            if known < EXAMPLES {
                report.disagreements.push(disagreement);
            }
        }
        let clean = report.comparison.looser == 0 && report.faults == 0;
        let enough = promote_after.is_some_and(|calls| report.comparison.calls >= calls);
        drop(report);
        if clean
            && enough
            && let Some(promote) = promote.take()
        {
            promote();
        }
    }
}

fn lock(report: &Mutex<TrialReport>) -> MutexGuard<'_, TrialReport> {
    report.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_evenly() {
        let sampled = |rate| (0..1000).filter(|&number| is_sampled(number, rate)).count();
        assert_eq!((sampled(1.0), sampled(0.5), sampled(0.1), sampled(0.001)), (1000, 500, 100, 1));
        let first: Vec<u64> = (0..10).filter(|&number| is_sampled(number, 0.25)).collect();
        assert_eq!(first, [3, 7]);
    }
}
