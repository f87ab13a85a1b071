//! The audit trail: what was decided, asked, run and changed, in a chain that shows cuts and edits.
//!
//! Each record carries the hash of the one before, so whoever changes, removes or reorders one breaks the chain behind it.
//! Whoever may write the file can also write a whole new chain. Against that helps only a head that is kept elsewhere:
//! [`Trail::verify`] tells the head, and is later told to find it again.
//!
//! ```
//! use std::sync::Arc;
//! use toolwarden::audit::{AuditKind, AuditLog, AuditOptions, Record, Trail};
//! use toolwarden::store::Store;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let store = Arc::new(Store::open(&folder.path().join("data")).unwrap());
//! let log = AuditLog::start(Arc::clone(&store), AuditOptions::default()).unwrap();
//! log.write(Record::new(AuditKind::Denied)).unwrap();
//!
//! let report = Trail::new(&store).verify(&[]).unwrap();
//! assert_eq!(report.records, 1);
//! ```

mod chain;
mod error;
mod log;
mod mask;
mod ocsf;
mod record;
mod shape;
mod trail;

pub use chain::{Head, HeadError};
pub use error::AuditError;
pub use log::{AuditLog, AuditOptions, Recorder, Retention};
pub use mask::{Mask, MaskError};
pub use ocsf::event as ocsf_event;
pub use record::{AuditKind, Record};
pub use shape::{arguments_digest, shape};
pub use trail::{Break, Entry, Filter, Report, Trail};
