//! Whose a file is, where the system has no Unix permissions: the user's cache folder is nobody else's by its place.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use super::{CacheError, plain_file};

pub(super) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

#[allow(clippy::unnecessary_wraps, reason = "the other systems have something to say")]
pub(super) fn check(_path: &Path, _metadata: &Metadata) -> Result<(), CacheError> {
    Ok(())
}

pub(super) fn open(path: &Path) -> Result<File, CacheError> {
    plain_file(path, OpenOptions::new().read(true))
}
