//! Whose the store is, on Unix.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::StoreError;

/// Bits that let the group or everybody do anything.
const OTHERS: u32 = 0o077;
/// Bits that let the group or everybody write.
const OTHERS_WRITE: u32 = 0o022;

pub(super) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The folder is the user's own, and nobody else puts files into it.
pub(super) fn check_folder(folder: &Path) -> Result<(), StoreError> {
    let exposed = |problem| StoreError::Exposed { path: folder.into(), problem };
    let metadata = folder.symlink_metadata().map_err(|error| StoreError::io(folder, &error))?;
    if !metadata.is_dir() {
        return Err(exposed("is no plain folder"));
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err(exposed("belongs to somebody else"));
    }
    if metadata.mode() & OTHERS_WRITE != 0 {
        return Err(exposed("can be written by others"));
    }
    Ok(())
}

/// The file is there, and the user's alone. SQLite gives the files beside it the same mode.
pub(super) fn make_file(file: &Path) -> Result<(), StoreError> {
    let exposed = |problem| StoreError::Exposed { path: file.into(), problem };
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags)
        .open(file);
    let metadata = match opened {
        Ok(opened) => opened.metadata().map_err(|error| StoreError::io(file, &error))?,
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(exposed("is a link"));
        }
        // What may not be written is said when it is written.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(StoreError::ReadOnly(file.into())),
        Err(error) => return Err(StoreError::io(file, &error)),
    };
    if !metadata.is_file() || metadata.nlink() != 1 {
        return Err(exposed("is no plain file"));
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err(exposed("belongs to somebody else"));
    }
    if metadata.mode() & OTHERS != 0 {
        return Err(exposed("can be read or written by others; chmod 600 it"));
    }
    Ok(())
}
