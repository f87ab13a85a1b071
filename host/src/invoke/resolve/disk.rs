//! What the file system knows about one name. A trait, so that tests count the looks and make them fail.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What stands at a path whose folder is free of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Missing,
    Folder,
    /// A file, a socket, a device: nothing can be below it.
    Other,
    /// A link with its target's text.
    Link(PathBuf),
}

/// Looks at one path without following it.
pub(super) trait Look {
    fn look(&self, path: &Path) -> io::Result<Found>;
}

/// The real file system.
pub(super) struct Disk;

impl Look for Disk {
    fn look(&self, path: &Path) -> io::Result<Found> {
        let kind = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
            Err(error) => return Err(error),
        };
        Ok(if kind.is_symlink() {
            // A link that is gone by now is an error, not a missing name: somebody is changing the tree.
            Found::Link(fs::read_link(path)?)
        } else if kind.is_dir() {
            Found::Folder
        } else {
            Found::Other
        })
    }
}
