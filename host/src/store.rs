//! What must outlive a process: one SQLite file for baselines, approvals and the audit trail.
//!
//! Several processes use it at once: a gateway, a sidecar, the command line. Each write is one immediate transaction, so what a
//! writer read in it is still so when it writes; whoever finds the store busy waits. What was committed is on disk.
//!
//! ```
//! use toolwarden::store::Store;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let store = Store::open(&folder.path().join("data")).unwrap();
//! let tables: i64 = store.read(|c| c.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))).unwrap();
//! assert!(tables > 0);
//! ```

mod error;
#[cfg_attr(unix, path = "store/owner_unix.rs")]
#[cfg_attr(not(unix), path = "store/owner_other.rs")]
mod owner;
mod place;
mod schema;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use error::StoreError;
pub use place::data_folder;

/// Name of the file in its folder.
const FILE: &str = "toolwarden.db";

/// How long a writer waits for another. Source: ours; a write takes milliseconds, so that somebody who holds the store for so
/// long will not let go.
const PATIENCE: Duration = Duration::from_secs(5);

/// An open store. It may be shared by all threads.
pub struct Store {
    folder: PathBuf,
    connection: Mutex<Connection>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in a folder; makes both where they are not there, for this user alone.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with(folder, PATIENCE)
    }

    /// The same, with another time to wait for other writers.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn open_with(folder: &Path, patience: Duration) -> Result<Self, StoreError> {
        owner::make(folder).map_err(|error| StoreError::io(folder, &error))?;
        owner::check_folder(folder)?;
        let file = folder.join(FILE);
        owner::make_file(&file)?;
        let flags =
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = connected(&file, flags, patience)?;
        // Readers do not wait for writers, and what was committed survives a power cut.
        connection.pragma_update(None, "journal_mode", "wal").map_err(|error| StoreError::of(&file, &error))?;
        connection.pragma_update(None, "synchronous", "full").map_err(|error| StoreError::of(&file, &error))?;
        schema::bring_up(&mut connection, &file)?;
        Ok(Self { folder: folder.into(), connection: Mutex::new(connection) })
    }

    /// Opens a store that is there already, to look at it only.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn open_to_read(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join(FILE);
        if !file.is_file() {
            return Err(StoreError::Missing(folder.into()));
        }
        owner::check_folder(folder)?;
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = connected(&file, flags, PATIENCE)?;
        schema::check(&connection, &file)?;
        Ok(Self { folder: folder.into(), connection: Mutex::new(connection) })
    }

    /// The folder it lies in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes in one immediate transaction: all of it is on disk when this returns, or nothing.
    ///
    /// # Errors
    ///
    /// What the closure returns, and [`StoreError`].
    pub fn write<T, E: From<StoreError>>(
        &self,
        write: impl FnOnce(&Transaction) -> Result<T, StoreFault<E>>,
    ) -> Result<T, E> {
        let of = |error: &rusqlite::Error| E::from(StoreError::of(&self.folder, error));
        let mut connection = self.lock();
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|error| of(&error))?;
        let written = write(&transaction).map_err(|fault| match fault {
            StoreFault::Database(error) => of(&error),
            StoreFault::Own(error) => error,
        })?;
        transaction.commit().map_err(|error| of(&error))?;
        Ok(written)
    }

    /// Reads.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let connection = self.lock();
        read(&connection).map_err(|error| StoreError::of(&self.folder, &error))
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // Whatever panicked while it held the lock left no transaction open: it was rolled back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What goes wrong while something is written: the database, or the writer's own reasons.
#[derive(Debug)]
pub enum StoreFault<E> {
    /// The database.
    Database(rusqlite::Error),
    /// The writer's own; nothing is written then.
    Own(E),
}

impl<E> From<rusqlite::Error> for StoreFault<E> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

fn connected(file: &Path, flags: OpenFlags, patience: Duration) -> Result<Connection, StoreError> {
    let opened = Connection::open_with_flags(file, flags).and_then(|connection| {
        connection.busy_timeout(patience)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // A file that somebody else made must not run functions or change the schema by its contents.
        connection.pragma_update(None, "trusted_schema", false)?;
        Ok(connection)
    });
    opened.map_err(|error| StoreError::of(file, &error))
}
