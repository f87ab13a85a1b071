//! Whose the store is, where the system has no Unix permissions: the user's data folder is nobody else's by its place.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

use super::StoreError;

pub(super) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

#[allow(clippy::unnecessary_wraps, reason = "the other systems have something to say")]
pub(super) fn check_folder(_folder: &Path) -> Result<(), StoreError> {
    Ok(())
}

pub(super) fn make_file(file: &Path) -> Result<(), StoreError> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file);
    opened.map(drop).map_err(|error| StoreError::io(file, &error))
}
