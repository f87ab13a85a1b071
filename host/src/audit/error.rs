//! Why nothing can be recorded.

use std::sync::Arc;

use thiserror::Error;

use crate::store::StoreError;

/// Why a record is not on disk. A call that must be recorded does not go on then.
#[derive(Debug, Error)]
pub enum AuditError {
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The same, told to all that waited for one write.
    #[error(transparent)]
    Shared(Arc<AuditError>),
    /// So much waits to be written that more is not taken.
    #[error("the audit trail is behind: {0} records wait to be written")]
    Behind(usize),
    /// The writer has ended.
    #[error("the audit trail is closed")]
    Closed,
    /// What stands there is no record.
    #[error("record {seq} cannot be read: {problem}")]
    Unreadable {
        /// Its number.
        seq: u64,
        /// What is wrong.
        problem: String,
    },
}

impl AuditError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Shared(error) => error.code(),
            Self::Behind(_) => "audit-behind",
            Self::Closed => "audit-closed",
            Self::Unreadable { .. } => "audit-unreadable",
        }
    }
}
