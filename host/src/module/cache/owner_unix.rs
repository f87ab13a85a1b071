//! Whose a file is, on Unix.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::{CacheError, plain_file};

/// Bits that let the group or everybody write.
const OTHERS_WRITE: u32 = 0o022;

/// Makes the folder and what it lies in, for the user alone.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Whether it is the user's own, and nobody else's to write.
pub(super) fn check(path: &Path, metadata: &Metadata) -> Result<(), CacheError> {
    // The effective user is the one that makes files here, and so the one they must belong to.
    if metadata.uid() != geteuid().as_raw() {
        return Err(CacheError::Foreign(path.to_owned()));
    }
    if metadata.mode() & OTHERS_WRITE != 0 {
        return Err(CacheError::Writable(path.to_owned()));
    }
    Ok(())
}

/// Opens a file of the cache. What is looked at is the file that was opened, not whatever has its name by then.
pub(super) fn open(path: &Path) -> Result<File, CacheError> {
    let nofollow = OFlags::NOFOLLOW.bits().cast_signed();
    let file = plain_file(path, OpenOptions::new().read(true).custom_flags(nofollow))?;
    let metadata = file.metadata().map_err(|problem| CacheError::Io { path: path.to_owned(), problem })?;
    // A second name would let somebody put a file of the user's here that was meant for something else.
    if !metadata.is_file() || metadata.nlink() != 1 {
        return Err(CacheError::Misshapen { path: path.to_owned(), wanted: "file" });
    }
    check(path, &metadata)?;
    Ok(file)
}
