//! What of a call is kept in the audit trail, and when: a denial and a grant before the call goes on, a result after.

use std::sync::Arc;

use serde_json::Value;

use super::judge::{Effective, Judged};
use crate::approval::Approval;
use crate::audit::{AuditError, AuditKind, Mask, Record, Recorder, arguments_digest, shape};
use crate::call::Call;
use crate::verdict::{PolicyId, Verdict};

/// Whether arguments themselves are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeepArguments {
    /// Their digest only. The default.
    #[default]
    Digest,
    /// All of them but what the mask names.
    Masked(Mask),
}

/// Writes records about calls, where somebody keeps them.
#[derive(Clone, Default)]
pub(super) struct Witness {
    recorder: Option<Arc<dyn Recorder>>,
    keep: KeepArguments,
}

/// It could not be recorded, so it must not go on.
pub(super) struct Unrecorded(pub Verdict);

impl Witness {
    pub fn new(recorder: Arc<dyn Recorder>, keep: KeepArguments) -> Self {
        Self { recorder: Some(recorder), keep }
    }

    /// A verdict that ends the call, or that a person must be asked about. On disk when this returns.
    pub async fn judged(
        &self,
        kind: AuditKind,
        call: &Call,
        judged: &Judged,
        verdict: &Verdict,
        policy: &PolicyId,
    ) -> Result<(), Unrecorded> {
        self.now(|| self.about(kind, call, judged.effective.as_ref()).judged(verdict, policy)).await
    }

    /// What came of the question. On disk when this returns.
    pub async fn settled(
        &self,
        call: &Call,
        effective: &Effective,
        verdict: &Verdict,
        policy: &PolicyId,
        approval: Approval,
    ) -> Result<(), Unrecorded> {
        self.now(|| Record {
            approval: Some(approval),
            ..self.about(AuditKind::ApprovalSettled, call, Some(effective)).judged(verdict, policy)
        })
        .await
    }

    /// The tool answered.
    pub fn ran(&self, call: &Call, effective: &Effective, result: &Value) {
        self.soon(|| Record {
            result_shape: Some(shape(result).to_string()),
            ..self.about(AuditKind::Executed, call, Some(effective))
        });
    }

    /// The tool gave no result.
    pub fn failed(&self, call: &Call, effective: &Effective, why: &str) {
        self.soon(|| Record {
            reason: Some(toolwarden_text::clip(why, toolwarden_text::DETAIL_CHARS).into_owned()),
            ..self.about(AuditKind::ErrorOrDenied, call, Some(effective))
        });
    }

    /// The result is kept from the model. What ran has run, so nothing depends on whether this can be written.
    pub async fn withheld(&self, call: &Call, effective: &Effective, result: &Value, why: &str) {
        let record = || Record {
            reason: Some(toolwarden_text::clip(why, toolwarden_text::DETAIL_CHARS).into_owned()),
            result_shape: Some(shape(result).to_string()),
            ..self.about(AuditKind::ResultSchemaMismatch, call, Some(effective))
        };
        let _ = self.now(record).await;
    }

    fn about(&self, kind: AuditKind, call: &Call, effective: Option<&Effective>) -> Record {
        about(kind, call, effective, &self.keep)
    }

    async fn now(&self, record: impl FnOnce() -> Record) -> Result<(), Unrecorded> {
        let Some(recorder) = &self.recorder else { return Ok(()) };
        recorder.record(record()).await.map_err(|error| Unrecorded(unrecorded(&error)))
    }

    fn soon(&self, record: impl FnOnce() -> Record) {
        if let Some(recorder) = &self.recorder {
            recorder.note(record());
        }
    }
}

/// A record about a call: which one, by whom, on what.
pub(crate) fn about(kind: AuditKind, call: &Call, effective: Option<&Effective>, keep: &KeepArguments) -> Record {
    let mut record = effective.map_or_else(
        || Record { tool: Some(toolwarden_text::clip(&call.tool, 200).into_owned()), ..Record::new(kind) },
        |effective| Record::new(kind).about(&effective.tool),
    );
    let arguments = effective.map_or(&call.arguments, |effective| &effective.arguments);
    record.call = Some(call.id.clone());
    record.attendance = Some(call.attendance);
    record.arguments_digest = arguments_digest(&**arguments).map(|digest| digest.to_string());
    if let KeepArguments::Masked(mask) = keep {
        record.arguments = Some(mask.apply(Value::Object(arguments.as_map().clone())));
    }
    record
}

/// What becomes of a call that cannot be recorded.
pub(crate) fn unrecorded(error: &AuditError) -> Verdict {
    let reason = format!("this cannot be recorded, so the call does not run: {error}");
    Verdict::deny("audit-unavailable", reason, error.code())
}
