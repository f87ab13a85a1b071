//! Where the store lies.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure};
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

/// What cannot be read or written for want of a store.
fn failed(error: &StoreError) -> Failure {
    Failure::text(Exit::BadInput, format!("{error} [{}]", error.code()))
}
