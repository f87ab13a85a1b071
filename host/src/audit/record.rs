//! One record.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::Approval;
use crate::call::{Attendance, CallId, ToolRef};
use crate::verdict::{Decision, PolicyId, Verdict};

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditKind {
    /// A person must be asked.
    ApprovalRequired,
    /// The question is settled.
    ApprovalSettled,
    /// A call does not run.
    Denied,
    /// A call ran.
    Executed,
    /// A call failed, timed out or was taken back.
    ErrorOrDenied,
    /// A probe found the accepted definitions.
    ProbeOk,
    /// A probe found others, or none.
    ProbeError,
    /// A person accepted a baseline.
    BaselineAccepted,
    /// An acceptance was refused.
    AcceptRefused,
    /// A result is not as its definition promises.
    ResultSchemaMismatch,
    /// Another policy is in force.
    ModuleSwapped,
    /// A policy was refused.
    ModuleRefused,
    /// Other settings are in force.
    SettingsChanged,
}

impl AuditKind {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::ApprovalRequired,
        Self::ApprovalSettled,
        Self::Denied,
        Self::Executed,
        Self::ErrorOrDenied,
        Self::ProbeOk,
        Self::ProbeError,
        Self::BaselineAccepted,
        Self::AcceptRefused,
        Self::ResultSchemaMismatch,
        Self::ModuleSwapped,
        Self::ModuleRefused,
        Self::SettingsChanged,
    ];

    /// The word as it stands in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApprovalRequired => "approval-required",
            Self::ApprovalSettled => "approval-settled",
            Self::Denied => "denied",
            Self::Executed => "executed",
            Self::ErrorOrDenied => "error-or-denied",
            Self::ProbeOk => "probe-ok",
            Self::ProbeError => "probe-error",
            Self::BaselineAccepted => "baseline-accepted",
            Self::AcceptRefused => "accept-refused",
            Self::ResultSchemaMismatch => "result-schema-mismatch",
            Self::ModuleSwapped => "module-swapped",
            Self::ModuleRefused => "module-refused",
            Self::SettingsChanged => "settings-changed",
        }
    }
}

/// One record. What does not apply is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// What it is about.
    pub kind: AuditKind,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<CallId>,
    /// The tool's server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<String>,
    /// The tool's raw name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<String>,
    /// Whether a person could be asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attendance: Option<Attendance>,
    /// The verdict.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Decision>,
    /// Its reason code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason_kind: Option<String>,
    /// Its reason, or what happened, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The real target.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// What came of the question.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub approval: Option<Approval>,
    /// SHA-256 of the canonical arguments.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arguments_digest: Option<String>,
    /// The arguments, masked; only where settings ask for them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arguments: Option<Value>,
    /// Fingerprint of the result's shape: keys and types, no values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result_shape: Option<String>,
    /// Generation of the registry and policy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generation: Option<u64>,
    /// Digest of the policy module.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub module: Option<String>,
    /// How many records before this one could not be written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<u64>,
    /// What else there is to say, as the kind has it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub more: Option<Value>,
}

impl Record {
    /// A record of this kind that says no more.
    #[must_use]
    pub const fn new(kind: AuditKind) -> Self {
        Self {
            kind,
            call: None,
            server: None,
            tool: None,
            attendance: None,
            verdict: None,
            reason_kind: None,
            reason: None,
            detail: None,
            approval: None,
            arguments_digest: None,
            arguments: None,
            result_shape: None,
            generation: None,
            module: None,
            lost: None,
            more: None,
        }
    }

    /// The same, about this tool.
    #[must_use]
    pub fn about(mut self, tool: &ToolRef) -> Self {
        self.server = tool.server.as_ref().map(ToString::to_string);
        self.tool = Some(tool.name.clone());
        self
    }

    /// The same, with this verdict.
    #[must_use]
    pub fn judged(mut self, verdict: &Verdict, policy: &PolicyId) -> Self {
        self.verdict = Some(verdict.decision);
        self.reason_kind = verdict.kind.as_ref().map(|kind| kind.as_str().to_owned());
        self.reason = Some(verdict.reason.clone());
        self.detail = Some(verdict.detail.clone()).filter(|detail| !detail.is_empty());
        self.generation = Some(policy.generation.0);
        self.module = Some(policy.digest.clone());
        self
    }
}
