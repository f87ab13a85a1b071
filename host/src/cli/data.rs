//! Where the store lies.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::exit::{Exit, Failure};
use crate::audit::{AuditLog, AuditOptions};
use crate::store::{Store, StoreError, data_folder};

/// The store.
#[derive(Args)]
pub(super) struct DataArguments {
    /// Folder of the store; without it the user's data folder
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl DataArguments {
    /// The folder.
    pub fn folder(&self) -> Result<PathBuf, Failure> {
        self.data.clone().map_or_else(data_folder, Ok).map_err(|error| failed(&error))
    }

    /// The store, which must be there, to look at it only.
    pub fn to_read(&self) -> Result<Store, Failure> {
        Store::open_to_read(&self.folder()?).map_err(|error| failed(&error))
    }

    /// The store; made where it is not there.
    pub fn to_write(&self) -> Result<Store, Failure> {
        Store::open(&self.folder()?).map_err(|error| failed(&error))
    }
}

/// Where an audit trail is kept, if one is.
#[derive(Args)]
pub(super) struct AuditArguments {
    /// Keep an audit trail in the store in this folder; without it none is kept
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl AuditArguments {
    /// Whether one is asked for.
    pub const fn is_asked(&self) -> bool {
        self.data.is_some()
    }

    /// The trail, where one is kept.
    pub fn log(&self) -> Result<Option<Arc<AuditLog>>, Failure> {
        let Some(folder) = &self.data else { return Ok(None) };
        let store = Store::open(folder).map_err(|error| failed(&error))?;
        let log = AuditLog::start(Arc::new(store), AuditOptions::default());
        let log = log.map_err(|error| Failure::text(Exit::BadInput, format!("{error} [{}]", error.code())))?;
        Ok(Some(Arc::new(log)))
    }
}

/// What cannot be read or written for want of a store.
fn failed(error: &StoreError) -> Failure {
    Failure::text(Exit::BadInput, format!("{error} [{}]", error.code()))
}
