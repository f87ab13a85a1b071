//! Why the store cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// Why the store cannot be used. Nothing that needs it goes on then.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is none.
    #[error("there is no store in `{}`", .0.display())]
    Missing(PathBuf),
    /// Another writer does not let go.
    #[error("the store in `{}` is in use, and does not get free", .0.display())]
    Locked(PathBuf),
    /// The disk is full.
    #[error("there is no room for the store in `{}`", .0.display())]
    Full(PathBuf),
    /// It may not be written.
    #[error("the store in `{}` cannot be written", .0.display())]
    ReadOnly(PathBuf),
    /// A newer Toolwarden made it.
    #[error("the store in `{}` has schema {found}, and this program knows up to {known}; use a newer one", .folder.display())]
    Newer {
        /// Where.
        folder: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest known one.
        known: i64,
    },
    /// It is no store, or a damaged one.
    #[error("`{}` is no store, or a damaged one: {problem}", .folder.display())]
    Corrupt {
        /// Where.
        folder: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Others could read or write it.
    #[error("`{}` {problem}, so it is not used", .path.display())]
    Exposed {
        /// What.
        path: PathBuf,
        /// Why not.
        problem: &'static str,
    },
    /// The system says no.
    #[error("`{}`: {problem}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it says.
        problem: String,
    },
    /// The environment names no place for data.
    #[error("the environment names neither a data folder nor a home; give --data")]
    NoPlace,
}

impl StoreError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "store-missing",
            Self::Locked(_) => "store-locked",
            Self::Full(_) => "store-full",
            Self::ReadOnly(_) => "store-read-only",
            Self::Newer { .. } => "store-newer",
            Self::Corrupt { .. } => "store-corrupt",
            Self::Exposed { .. } => "store-exposed",
            Self::Io { .. } => "store-unreadable",
            Self::NoPlace => "store-without-place",
        }
    }

    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path.into()),
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path.into()),
            _ => Self::Io { path: path.into(), problem: error.to_string() },
        }
    }

    /// What a database error comes to.
    pub(crate) fn of(place: &Path, error: &rusqlite::Error) -> Self {
        let folder = place.to_owned();
        let problem = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked(folder),
            Some(ErrorCode::DiskFull) => Self::Full(folder),
            Some(ErrorCode::ReadOnly) => Self::ReadOnly(folder),
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::PermissionDenied) => {
                Self::Io { path: folder, problem }
            }
            // A constraint that fails, a value of another type or a missing table: what is stored is not what was written.
            _ => Self::Corrupt { folder, problem },
        }
    }
}
